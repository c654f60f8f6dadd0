#!/bin/sh
# packages_test.sh PACKAGES PAGE: fails when the page of dependencies lacks a package that the build installs, or names one that it doesn't.
status=0
for package in $(grep -v '^#' "$1"); do
  if ! grep -qF "\`$package\`" "$2"; then
    echo "$2 doesn't name $package, which $1 installs"
    status=1
  fi
done
# The table's last column holds the packages, each in backquotes.
for package in $(sed -n 's/^|.*|\([^|]*\)|$/\1/p' "$2" | grep -o '`[^`]*`' | tr -d '`'); do
  if ! grep -qxF "$package" "$1"; then
    echo "$2 names $package, which $1 doesn't install"
    status=1
  fi
done
exit $status
