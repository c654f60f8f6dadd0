#!/bin/sh
# docs_test.sh GENERATED KEPT: fails when docs/cli.md is not what aotctl says about itself.
if ! diff -u "$2" "$1"; then
  echo "docs/cli.md is stale: run \`bazel run //clients/aotctl:update_docs\`"
  exit 1
fi
