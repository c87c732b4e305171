#!/usr/bin/env bash
# Installs missing Debian packages: install_packages.sh build | tools
set -euo pipefail

case "${1:-}" in
  build)
    wanted=(g++ make cmake ninja-build ccache llvm-22-dev lld-22 libzstd-dev zlib1g-dev libsqlite3-dev libgtest-dev)
    ;;
  tools) wanted=(clang-format-22 clang-tidy-22 llvm-22-tools binutils libeigen3-dev) ;;
  *) echo "usage: $0 build | tools" >&2; exit 2 ;;
esac

if [ "$(uname -s)" != Linux ] || [ "$(uname -m)" != x86_64 ]; then
  echo "Tulle builds on Linux x86-64 only; this is $(uname -s) $(uname -m)." >&2
  exit 1
fi

# The first Python in PATH may be a system Python without venv or headers.
if ! python3 -c 'import ensurepip, venv' 2> /dev/null; then wanted+=(python3 python3-venv); fi
if ! python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2> /dev/null; then
  wanted+=(python3-dev)
fi

if ! command -v dpkg-query > /dev/null; then
  echo "This is not a Debian system. Install the equivalents of these packages: ${wanted[*]}" >&2
  exit 0
fi

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo > /dev/null || { echo "Install these packages as root: apt-get install ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "    installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq || true  # an unrelated package source may be unreachable
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
