#!/bin/bash
# suite_test.sh RUNNER EXPECTED: runs ONNX's own cases at both ends of the optimisation levels and compares what became of each with the checked-in list, in
# which every case that doesn't pass has its reason. A case that starts to pass, or to fail, fails this test.
#
# The cases aren't part of the project: AOT_TESTDATA names the folder that holds onnx-conformance/, by default ../shared/testdata beside the workspace.
set -u
runner=$1 expected=$2
here=$(dirname "$(readlink -f "$0")")
suite=${AOT_TESTDATA:-$here/../../../shared/testdata}/onnx-conformance
if [ ! -d "$suite" ]; then
  echo "1639 cases were left out: no $suite; set AOT_TESTDATA to the folder that holds onnx-conformance/"
  exit 0
fi
for level in 0 3; do
  results=$TEST_TMPDIR/results.$level.json
  "$runner" --suite "$suite" --opt "$level" --json "$results" >"$TEST_TMPDIR/log" 2>&1
  tail -n 1 "$TEST_TMPDIR/log"
  [ -s "$results" ] || { cat "$TEST_TMPDIR/log"; exit 1; }
  /usr/bin/python3 - "$results" "$expected" "$level" <<'PYTHON' || exit 1
import json
import sys

results = {case["name"]: case for case in json.load(open(sys.argv[1]))["cases"]}
expected = json.load(open(sys.argv[2]))["not_passing"]
wrong = 0
for name, case in results.items():
    want = "unsupported" if name in expected else "pass"
    if case["outcome"] != want:
        wrong += 1
        print("-O%s %s: %s, expected %s: %s" % (sys.argv[3], name, case["outcome"], want, case.get("message", "")))
for name in expected:
    if name not in results:
        wrong += 1
        print("expected.json names %s, which is not in the suite" % name)
sys.exit(1 if wrong else 0)
PYTHON
done
