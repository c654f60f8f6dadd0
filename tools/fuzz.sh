#!/bin/bash
# fuzz.sh test|run BINARY CORPUS.zip DICTIONARY|- MAX_LEN [libFuzzer flag...]: what cc_fuzz (fuzz.bzl) makes targets of.
#   test  replays the corpus and then tries -runs=N mutations from a fixed seed; fails on a finding.
#   run   fuzzes until a finding, a flag such as -max_total_time=3600, or an interrupt ends it. New inputs and findings go to
#         $AOT_FUZZ_DIR (default: /tmp/aot-fuzz) and are kept for the next run; the last lines say how much code was covered.
#         With --pack it doesn't fuzz but writes what these runs found, findings included, into the checked-in corpus.
set -uo pipefail
mode=$1 binary=$2 archive=$3 dictionary=$4 max_len=$5
shift 5
name=$(basename "$binary" _binary)
# Leak checks cost a pause for each input; poisoning by libraries' allocators is off because only our half of them is instrumented.
export ASAN_OPTIONS=detect_leaks=0:allow_user_poisoning=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}
[ -x /usr/bin/llvm-symbolizer-22 ] && export ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-22

if [ "$mode" = test ]; then work=$TEST_TMPDIR; else work=${AOT_FUZZ_DIR:-/tmp/aot-fuzz}/$name; fi
seeds=$work/seeds corpus=$work/corpus
rm -rf "$seeds"
mkdir -p "$seeds" "$corpus" "$work/findings"
/usr/bin/python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' "$archive" "$seeds" || exit 1

flags=(-max_len="$max_len" -timeout=30 -rss_limit_mb=3000 -artifact_prefix="$work/findings/" -print_final_stats=1)
[ "$dictionary" != - ] && flags+=(-dict="$dictionary")

if [ "$mode" = test ]; then
  echo "replaying $(ls "$seeds" | wc -l) inputs"
  "$binary" "${flags[@]}" "$seeds"/* >"$work/log" 2>&1 || { tail -60 "$work/log"; exit 1; }
  "$binary" "${flags[@]}" -seed=1 "$@" "$corpus" "$seeds" 2>&1 | grep -v NEW_FUNC | tail -60
  exit "${PIPESTATUS[0]}"
fi
if [ "${1:-}" = --pack ]; then
  # Everything that adds coverage, and every finding, into the archive of the source tree.
  rm -rf "$work/packed" && mkdir "$work/packed"
  "$binary" "${flags[@]}" -merge=1 "$work/packed" "$seeds" "$corpus" || exit 1
  find "$work/findings" -type f -exec cp {} "$work/packed" \;
  exec /usr/bin/python3 - "$work/packed" "$BUILD_WORKSPACE_DIRECTORY/$archive" <<'PACK'
import os, sys, zipfile
folder, archive = sys.argv[1:]
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
    for name in sorted(os.listdir(folder)):  # a fixed order and date: the same inputs give the same archive
        out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), open(os.path.join(folder, name), "rb").read(), zipfile.ZIP_DEFLATED)
print(archive, os.path.getsize(archive), "bytes")
PACK
fi
log=$work/log
"$binary" "${flags[@]}" "$@" "$corpus" "$seeds" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
edges=$(grep -oE '\([0-9]+ inline 8-bit counters' "$log" | grep -oE '[0-9]+' | head -1)
covered=$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | grep -oE '[0-9]+')
echo "$name: ${covered:-0} of ${edges:-?} edges covered, $(ls "$work/findings" | wc -l) findings in $work/findings"
exit "$status"
