#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures the release preset and builds the given targets (all of them by
# default) with as many jobs as cores and memory allow.
#
# Usage: tools/dev/build.sh [TARGET...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

options=()
if command -v ccache >/dev/null; then
  # A precompiled header defeats ccache unless it may ignore its time stamp.
  export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
  options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache
            -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

# A file with MLIR's heavy headers can take 1.5 GiB to compile.
jobs=$(nproc)
memory_kib=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null || true)
if [[ -n $memory_kib ]]; then
  by_memory=$((memory_kib / (1536 * 1024)))
  ((by_memory >= 1)) || by_memory=1
  ((by_memory < jobs)) && jobs=$by_memory
fi

cmake --preset release "${options[@]}"
targets=()
(($#)) && targets=(--target "$@")
cmake --build build --parallel "$jobs" "${targets[@]}"
