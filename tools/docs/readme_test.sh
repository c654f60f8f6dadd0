#!/bin/sh
# readme_test.sh PROGRAM ARTIFACT: runs README.md's example on a small artifact, and on a file that is none.
if ! "$1" "$2" | grep -q '^AOT_OK, [0-9]* bytes of arena$'; then
  echo "README.md's example doesn't run $2"
  exit 1
fi
if "$1" "$0" 2>/dev/null; then
  echo "README.md's example takes a shell script for a model"
  exit 1
fi
