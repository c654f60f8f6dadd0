#!/bin/bash
# lint.sh [FILE...]: runs clang-tidy with the checks of .clang-tidy; exit code 1 if it has something to say. Without arguments: the sources, not
# the tests, of what needs neither MLIR nor generated headers (runtime, registry, target descriptions): the code that meets untrusted bytes.
set -uo pipefail
cd "$(dirname "$0")/.."
files=("$@")
if [ ${#files[@]} -eq 0 ]; then
  mapfile -t files < <(git ls-files 'runtime/*.c' 'runtime/*.cc' 'registry/*.cc' 'compiler/target/*.cc' |
    grep -v -e _test.cc -e _benchmark.cc -e _fuzz.cc -e /testing/ -e /testdata/)
fi

# One file a process: a few large headers take most of the time.
check() {
  case $1 in
    *.c) language=(-x c -std=gnu11) ;;
    *) language=(-x c++ -std=c++17) ;;
  esac
  clang-tidy --quiet "$1" -- "${language[@]}" -I. -Iruntime/include 2>/dev/null
}
export -f check

if printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'check "$1"' check; then
  echo "lint.sh: ${#files[@]} files, nothing to say"
else
  echo "lint.sh: see above; the checks are listed in .clang-tidy" >&2
  exit 1
fi
