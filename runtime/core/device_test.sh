#!/bin/bash
# The runtime on the host and on 64-bit Arm in the emulator: right artifacts run, others are refused before any code is mapped.
# Arguments: device_check for the host, for aarch64, then the artifacts' folder.
set -eu
host=$1 arm=$2 artifacts=$3
a53="qemu-aarch64 -cpu cortex-a53"
a76="qemu-aarch64 -cpu cortex-a76"

"$host" "$artifacts/affine.x86-64-v2.so"
"$host" "$artifacts/affine.cortex-a53.so" AOT_WRONG_TARGET
$a53 "$arm" "$artifacts/affine.cortex-a53.so"
$a76 "$arm" "$artifacts/affine.cortex-a53.so"
$a76 "$arm" "$artifacts/affine.cortex-a75.so"
# The Cortex-A53 has neither half precision nor dot product.
$a53 "$arm" "$artifacts/affine.cortex-a75.so" AOT_MISSING_CPU_FEATURE | tee "$TEST_TMPDIR/refused"
grep -q "lacks atomics, asimdrdm, fp16, lrcpc, asimddp" "$TEST_TMPDIR/refused"
$a53 "$arm" "$artifacts/affine.x86-64-v2.so" AOT_WRONG_TARGET
