#!/bin/sh
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes format-1.fpk and format-2.fpk beside this file, by the package library
# of the first release of each format, which it takes out of the history of git.
# They are kept as they were written: this is how, not what to run again.
#
# Usage: make_packages.sh [FOLDER]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(git -C "$here" rev-parse --show-toplevel)
out=${1:-$here}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# make FORMAT COMMIT [FLAG]
make() {
  mkdir "$work/$1"
  git -C "$root" archive "$2" lib/Executable include | tar -x -C "$work/$1"
  flatc --cpp -o "$work/$1" "$work/$1/lib/Executable/Package.fbs"
  c++ -std=c++17 -O1 ${3:-} -I"$work/$1/include" -I"$work/$1" \
    -I"$work/$1/lib/Executable" "$here/make_package.cpp" \
    "$work/$1"/lib/Executable/*.cpp -lxxhash -o "$work/$1/make"
  "$work/$1/make" "$out/format-$1.fpk"
}
make 1 d7719384bfa7
make 2 cf6d6b4cd6de -DCLUSTERS
