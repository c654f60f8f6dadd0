#!/bin/sh
# update.sh GENERATED...: writes pages of docs/ anew. Run by `bazel run //tools/docs:update`.
set -e
for page in "$@"; do
  cp "$page" "$BUILD_WORKSPACE_DIRECTORY/docs/"
  chmod 644 "$BUILD_WORKSPACE_DIRECTORY/docs/$(basename "$page")"
done
