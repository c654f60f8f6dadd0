#!/bin/bash
# test.sh [bazel test argument...]: installs what is missing, checks the formatting, builds and runs all tests. Closes with
# "N passed, N failed" (", N skipped" may follow); the exit code is 0 only if nothing failed.
set -uo pipefail
cd "$(dirname "$0")"
tools/setup.sh || exit 1
[ $# -gt 0 ] || set -- //...

format=0
tools/format.sh --check || format=1

events=$(mktemp)
trap 'rm -f "$events"' EXIT
# Cached results count as not executed: every test runs.
tools/bazel.sh test --keep_going --nocache_test_results --noshow_progress --build_event_json_file="$events" "$@"
rc=$?
/usr/bin/python3 tools/test_summary.py "$events" "$rc" "$format"
[ "$rc" = 0 ] && [ "$format" = 0 ]
