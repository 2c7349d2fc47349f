#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the fuzzers of every surface and gathers them with their corpus in a
# folder that runs on any machine of the same architecture: nothing but the C
# library is needed, and Python with NumPy for the Python package.
#
# Usage: test/Fuzz/build.sh FOLDER
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if (($# != 1)); then
  sed -n '7,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)

options=()
command -v ccache >/dev/null && options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache
                                          -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fuzzers=(fusion-ptx-parser-fuzzer fusion-ptx-exec-fuzzer fusion-package-fuzzer
         fusion-npy-fuzzer fusion-emulate-fuzzer fusion-compiler-fuzzer)
cmake --preset fuzz "${options[@]}" >/dev/null
cmake --build --preset fuzz --target "${fuzzers[@]}" RuntimeFuzzTests fusion-rt
cmake --preset fuzz-fast "${options[@]}" >/dev/null
cmake --build --preset fuzz-fast --target fusion-ptx-exec-fuzzer

# Names are kept, so that reports say where; line tables stay in the build.
for fuzzer in "${fuzzers[@]}"; do
  strip --strip-debug -o "$folder/$fuzzer" "build-fuzz/bin/$fuzzer"
done
strip --strip-debug -o "$folder/fusion-ptx-exec-fuzzer-fast" \
  build-fuzz-fast/bin/fusion-ptx-exec-fuzzer
# One program for two targets, which its name chooses.
strip --strip-all -o "$folder/fusion-compiler-fuzzer" \
  build-fuzz/bin/fusion-compiler-fuzzer
ln -sf fusion-compiler-fuzzer "$folder/fusion-program-fuzzer"
ln -sf fusion-compiler-fuzzer "$folder/fusion-command-line-fuzzer"

# The Python package on the sanitized runtime, which needs the sanitizer's
# library in the process, and packages in place of the compiler.
mkdir -p "$folder/python/packages"
cp -r python/fusion_compiler python/tests/hostile.py "$folder/python/"
strip --strip-debug -o "$folder/python/libfusion-rt.so" \
  build-fuzz/lib/libfusion-rt.so
cp "$(clang-22 -print-file-name=libclang_rt.asan-x86_64.so)" "$folder/python/"
cp test/Fuzz/corpus/package/{dynamic-rows,scalar,softmax,sum} \
  "$folder/python/packages/"

cp -r test/Fuzz/corpus test/Fuzz/*.dict test/Fuzz/run.sh "$folder/"
echo "fuzzers, corpus and run.sh are in $folder"
