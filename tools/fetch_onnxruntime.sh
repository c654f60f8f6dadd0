#!/bin/sh
# fetch_onnxruntime.sh: puts ONNX Runtime's shared library (npm package onnxruntime-node) into a cache directory and prints the library's path.
# Only comparisons in tests/ use it; nothing of the product does. Installs nothing outside that directory and runs no
# script of the package. A second call finds what the first one fetched.
set -eu
cache="${XDG_CACHE_HOME:-$HOME/.cache}/aot/onnxruntime-node"
case "$(uname -m)" in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) echo "fetch_onnxruntime.sh: no library for $(uname -m); x86_64 and aarch64 exist" >&2; exit 1 ;;
esac
find_library() { find "$cache" -path "*/linux/$arch/libonnxruntime.so*" -type f 2>/dev/null | sort | head -n 1; }
library="$(find_library)"
if [ -z "$library" ]; then
  command -v npm >/dev/null || { echo "fetch_onnxruntime.sh: npm is missing; apt-get install npm" >&2; exit 1; }
  mkdir -p "$cache"
  npm install --prefix "$cache" --ignore-scripts --no-audit --no-fund --no-save onnxruntime-node >&2
  library="$(find_library)"
fi
[ -n "$library" ] || { echo "fetch_onnxruntime.sh: the package has no library for linux/$arch" >&2; exit 1; }
echo "$library"
