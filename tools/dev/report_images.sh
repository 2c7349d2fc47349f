#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Takes the pictures of docs/Explain.md: pages of --report as a browser shows
# them. The tools are those on PATH, or of build/bin.
#
# Usage: tools/dev/report_images.sh [FOLDER]
#   FOLDER   where the pictures go; docs/images unless it is given
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PATH=$PATH:$root/build/bin
folder=${1:-$root/docs/images}
inputs=$root/test/Tools/Inputs

mkdir -p "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

take() { # NAME PROGRAM FRAGMENT
  fusion-compile "$2" -o "$scratch/$1.fpk" --ptxas=false \
    --report="$scratch/$1.html"
  python3 "$inputs/browse.py" --screenshot="$folder/$1.png" --size=1180,930 \
    "$scratch/$1.html" "$3" >/dev/null
}

take report-block "$root/docs/examples/transformer-block.mlir" \
  '#kernel=4&tab=roofline&theme=light'
python3 "$inputs/make_graph.py" 1000 >"$scratch/thousand.mlir"
take report-thousand "$scratch/thousand.mlir" \
  '#op=40&view=before&tab=memory&theme=dark'
ls -l "$folder"/report-*.png
