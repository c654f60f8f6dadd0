#!/bin/bash
# format.sh [--check]: formats the C and C++ sources with clang-format, or lists those that aren't formatted (exit code 1).
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(git ls-files '*.cc' '*.h' '*.c' '*.hpp' | grep -v '/testdata/')
if [ "${1:-}" = --check ]; then
  if ! complaints=$(printf '%s\0' "${files[@]}" | xargs -0 -n 40 -P "$(nproc)" clang-format --dry-run --Werror 2>&1); then
    sed -nE 's/^([^: ]+):[0-9]+:[0-9]+: error: .*/not formatted: \1/p' <<<"$complaints" | sort -u >&2
    echo "format.sh: run tools/format.sh" >&2
    exit 1
  fi
else
  printf '%s\0' "${files[@]}" | xargs -0 -n 40 -P "$(nproc)" clang-format -i
fi
