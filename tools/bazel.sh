#!/bin/bash
# bazel.sh COMMAND [ARGUMENT...]: Bazel as the scripts of this repository run it: a cache that outlives the checkout, a fast place for the
# sandboxes where there is one, and the versions of the system's libraries in every action's key.
#
# AOT_CACHE (default ~/.cache/aot): the disk cache and Bazel's output.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cache=${AOT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/aot}
mkdir -p "$cache"
command=$1
shift

options=(--disk_cache="$cache/bazel-disk")
# Headers under /usr/include are no inputs of Bazel's: a new version of a package must rebuild what used the old one.
packages=$(grep -v '^#' "$root/tools/packages.txt" | xargs dpkg-query -W 2>/dev/null | sha256sum | cut -c1-16)
options+=(--action_env=DEBIAN_PACKAGES="$packages")

# Sandboxes make and delete thousands of links: memory is several times faster than a disk, if there is room.
room=$(df --output=avail -k /dev/shm 2>/dev/null | tail -1 || echo 0)
if [ "${room:-0}" -gt $((2 * 1024 * 1024)) ] && [ -w /dev/shm ]; then
  options+=(--sandbox_base=/dev/shm)
elif [ -z "${AOT_QUIET:-}" ]; then
  echo "bazel.sh: /dev/shm has less than 2 GB free: build sandboxes go to the disk, which is slower" >&2
fi
if [ -z "${AOT_QUIET:-}" ] && ! unshare -Ur true 2>/dev/null; then
  echo "bazel.sh: user namespaces are off: Bazel runs its actions without the Linux sandbox" >&2
fi

cd "$root"
case $command in
  build | test | run) exec bazel --host_jvm_args=-Xmx1g "$command" "${options[@]}" "$@" ;;
  *) exec bazel --host_jvm_args=-Xmx1g "$command" "$@" ;;
esac
