#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the Debian 12 packages that building and testing Fusion needs, and
# only those that are missing: with everything present it touches neither the
# network nor the package lists and needs no root.
#
# Usage: tools/dev/install_deps.sh [--list]
#   --list   print the missing packages and install nothing
set -euo pipefail

packages=(
  # The compiler: MLIR and LLVM 22 as libraries, their test tools, and the
  # compiler and linker that the build is tuned for.
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools
  clang-22 lld-22 clang-format-22
  # The sanitizers' and libFuzzer's runtime, for the presets asan and fuzz.
  libclang-rt-22-dev
  # The build.
  cmake ninja-build ccache
  # Libraries of the package format and the runtime.
  libflatbuffers-dev flatbuffers-compiler libxxhash-dev
  zlib1g-dev libzstd-dev
  # Python.h, for the extension module of the Python package.
  python3-dev
  # Tests, of what is installed and packed too.
  libgtest-dev python3 python3-numpy python3-venv pkg-config dpkg-dev
  # The page of --report, as a browser shows it.
  chromium fonts-dejavu-core
)

fail() {
  echo "install_deps.sh: error: $1" >&2
  echo "  remedy: $2" >&2
  exit 1
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  fail "this system has no dpkg or apt-get" \
       "use Debian 12, or install the equivalents of: ${packages[*]}"
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  [[ $state == ii* ]] || missing+=("$package")
done

if [[ ${1:-} == --list ]]; then
  ((${#missing[@]})) && printf '%s\n' "${missing[@]}"
  exit 0
fi
if ((${#missing[@]} == 0)); then
  echo "All ${#packages[@]} packages are installed."
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo)
  elif command -v sudo >/dev/null && [[ -t 0 ]]; then
    as_root=(sudo)
  else
    fail "installing packages needs root, and sudo is not usable here" \
         "run as root: apt-get install ${missing[*]}"
  fi
fi

# Waiting for a lock that another installation holds beats failing on it.
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive
     apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)

echo "Installing ${#missing[@]} packages: ${missing[*]}"
"${apt[@]}" update </dev/null ||
  echo "install_deps.sh: warning: apt-get update failed; using the lists at hand" >&2

unknown=()
for package in "${missing[@]}"; do
  candidate=$(apt-cache policy "$package" 2>/dev/null |
              sed -n 's/^ *Candidate: //p')
  [[ -n $candidate && $candidate != "(none)" ]] || unknown+=("$package")
done
if ((${#unknown[@]})); then
  fail "apt knows no candidate for: ${unknown[*]}" \
       "enable the suites bookworm and bookworm-security (Debian 12 carries \
LLVM 22 in the latter), then run this script again"
fi

"${apt[@]}" install -y --no-install-recommends "${missing[@]}" \
    </dev/null >/dev/null ||
  fail "apt-get could not install the packages" \
       "read apt's message above; run: apt-get install ${missing[*]}"
echo "Installed."
