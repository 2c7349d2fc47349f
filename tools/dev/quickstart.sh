#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From a bare Debian 12 machine to a verified transformer block: installs what
# is missing, builds the tools, then compiles and runs one decoder block. With
# a GPU the kernels run on it; without one, on the built-in PTX emulator.
#
# Usage: tools/dev/quickstart.sh [fusion-run options...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

step() { printf '\n== %s\n' "$1"; }

step "1/3 Install what is missing"
tools/dev/install_deps.sh
step "2/3 Build"
tools/dev/build.sh fusion-opt fusion-compile fusion-run fusion-doctor
step "3/3 Compile, run and verify docs/examples/transformer-block.mlir"
exec build/bin/fusion-run docs/examples/transformer-block.mlir \
  --random --verify "$@"
