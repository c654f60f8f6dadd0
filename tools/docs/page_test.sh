#!/bin/sh
# page_test.sh GENERATED KEPT: fails when a page of docs/ is not what the code says now.
if ! diff -u "$2" "$1"; then
  echo "$2 is stale: run \`bazel run //tools/docs:update\`"
  exit 1
fi
