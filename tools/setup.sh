#!/bin/bash
# setup.sh [EXTRA_PACKAGE...]: installs what is missing of tools/packages.txt (and of the arguments) with apt-get, as root or through sudo.
# Does nothing, and needs no rights, if everything is there. Safe to run any number of times.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# A package may be there for several architectures: what counts is the one that is asked for, or this machine's.
have=$(dpkg-query -W -f='${Package}:${Architecture} ${db:Status-Abbrev}\n')
native=$(dpkg --print-architecture)
installed() {
  local name=${1%:*} architecture=$native
  [ "$name" = "$1" ] || architecture=${1#*:}
  grep -qx -e "$name:$architecture ii " -e "$name:all ii " <<<"$have"
}

missing=()
for package in $(grep -v '^#' "$here/packages.txt") "$@"; do
  installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo)
elif command -v sudo >/dev/null && [ -t 0 ]; then
  as_root=(sudo)
else
  echo "setup: these Debian packages are missing, and this user is neither root nor may use sudo:" >&2
  printf '  %s\n' "${missing[@]}" >&2
  echo "setup: install them (apt-get install --no-install-recommends ...; 'dpkg --add-architecture arm64' first) and run again" >&2
  exit 1
fi

echo "setup: installing ${#missing[@]} Debian packages" >&2
if printf '%s\n' "${missing[@]}" | grep -q ':arm64$' && ! dpkg --print-foreign-architectures | grep -qx arm64; then
  "${as_root[@]}" dpkg --add-architecture arm64
fi
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
