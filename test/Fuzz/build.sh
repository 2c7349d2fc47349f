#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the fuzzers and gathers them with their corpus in a folder that runs on
# any machine of the same architecture: nothing but the C library is needed.
#
# Usage: test/Fuzz/build.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if (($# != 1)); then
  sed -n '7,10s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)

options=()
command -v ccache >/dev/null && options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
for preset in fuzz fuzz-fast; do
  cmake --preset $preset "${options[@]}" >/dev/null
  cmake --build --preset $preset --target fusion-ptx-parser-fuzzer \
    fusion-ptx-exec-fuzzer
done
cp build-fuzz/bin/fusion-ptx-{parser,exec}-fuzzer "$folder/"
cp build-fuzz-fast/bin/fusion-ptx-exec-fuzzer \
  "$folder/fusion-ptx-exec-fuzzer-fast"
cp -r test/Fuzz/corpus test/Fuzz/ptx.dict test/Fuzz/run.sh "$folder/"
echo "fuzzers, corpus and run.sh are in $folder"
