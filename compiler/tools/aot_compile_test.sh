#!/bin/bash
# Exit status and messages of aot-compile on models made here: aot_compile_test.sh TOOL PROTOC ONNX_PROTO
set -u
tool=$1 protoc=$2 proto=$3
dir=$TEST_TMPDIR
failed=0

model() {  # model FILE OPERATOR: y = OPERATOR(x) on 2x3 floats
  "$protoc" --encode=aot.onnx.ModelProto "$proto" >"$1" <<TEXT
ir_version: 8
opset_import { version: 17 }
graph {
  name: "unary"
  node { name: "n" op_type: "$2" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } dim { dim_value: 3 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } dim { dim_value: 3 } } } } }
}
TEXT
}

expect() {  # expect STATUS TEXT ARGUMENT...: the tool's exit status, and a text in what it says
  local status=$1 text=$2 said
  shift 2
  said=$("$tool" "$@" 2>&1)
  local got=$?
  if [[ $got != "$status" || $said != *"$text"* ]]; then
    echo "FAILED: aot-compile $* exited with $got (expected $status) and said:"
    echo "$said"
    failed=1
  fi
}

model "$dir/relu.onnx" Relu
model "$dir/odd.onnx" NoSuchOperator
yes "no model" | head -c 1000 >"$dir/random.onnx"

expect 2 "--target is required" "$dir/relu.onnx" -o "$dir/out.so"
expect 2 "x86-64-v3" "$dir/relu.onnx" --target z80 -o "$dir/out.so"
expect 2 "isn't NAME=VALUE" "$dir/relu.onnx" --target x86-64-v3 -o "$dir/out.so" --dim N
expect 2 "--output is missing" "$dir/relu.onnx" --target x86-64-v3 --dim N=2
expect 1 "missing.onnx" "$dir/missing.onnx" --target x86-64-v3 -o "$dir/out.so"
expect 1 "" "$dir/random.onnx" --target x86-64-v3 -o "$dir/out.so"
expect 1 "--dim" "$dir/relu.onnx" --target x86-64-v3 -o "$dir/out.so"
expect 3 "NoSuchOperator" "$dir/odd.onnx" --target x86-64-v3 --dim N=2 -o "$dir/out.so"
expect 0 "input x: float32 2x3" "$dir/relu.onnx" --target x86-64-v3 --dim N=2 --check
[[ ! -e $dir/out.so ]] || { echo "FAILED: a failed compile left a file"; failed=1; }

expect 0 "out.so" "$dir/relu.onnx" --target x86-64-v3 --dim N=2 -o "$dir/out.so"
expect 0 "again.so" "$dir/relu.onnx" --target x86-64-v3 --input-shape x=2x3 --threads 1 -o "$dir/again.so"
[[ $(head -c 4 "$dir/out.so") == $'\x7fELF' ]] || { echo "FAILED: not an ELF file"; failed=1; }
exit $failed
