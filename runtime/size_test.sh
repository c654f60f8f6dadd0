#!/bin/bash
# size_test.sh KILOBYTES SIZES: the code and data of a configuration of the runtime (the output of `size -t` for all of its
# libraries) take at most so many kilobytes. A linker leaves out what an application doesn't use: this is an upper bound.
set -euo pipefail
bytes=$(awk '/\(TOTALS\)/ { print $1 + $2 + $3 }' "$2")
cat "$2"
echo "$bytes bytes of code and data, at most $(($1 * 1000)) are allowed"
[ "$bytes" -le $(($1 * 1000)) ]
