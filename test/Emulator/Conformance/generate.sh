#!/bin/bash
# Makes the PTX of the conformance kernels again: with nvcc, every NAME.cu of
# this folder (or those named) becomes NAME.ptx; ptxas then has to accept it.
set -euo pipefail
cd "$(dirname "$0")"
arch=sm_90
for source in "${@:-*.cu}"; do
  for file in $source; do
    ptx="${file%.cu}.ptx"
    nvcc -ptx -arch=$arch "$file" -o "$ptx"
    # What says nothing to a machine only makes the files larger.
    sed -i -E -e '/^[[:space:]]*(\/\/.*)?$/d' -e 's/^[[:space:]]+//' "$ptx"
    ptxas -arch=$arch "$ptx" -o /dev/null
    echo "$ptx: $(grep -c '^\.visible \.entry' "$ptx") kernels"
  done
done
