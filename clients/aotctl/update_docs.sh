#!/bin/sh
# update_docs.sh GENERATED: writes docs/cli.md anew. Run by `bazel run //clients/aotctl:update_docs`.
set -e
cp "$1" "$BUILD_WORKSPACE_DIRECTORY/docs/cli.md"
chmod 644 "$BUILD_WORKSPACE_DIRECTORY/docs/cli.md"
