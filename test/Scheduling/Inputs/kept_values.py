# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a plan of COUNT kernels that each lay out a matrix of 8 MiB anew, and
of as many that read one each, one after the other.

    kept_values.py COUNT
"""

import sys

COUNT = int(sys.argv[1])
MATRIX, VECTOR = "tensor<1024x2048xf32>", "tensor<1024xf32>"

print(f"func.func @kept(%v: {VECTOR}, "
      + ", ".join(f"%w{i}: {MATRIX}" for i in range(COUNT))
      + f") -> {VECTOR} {{\n  %init = tensor.empty() : {VECTOR}")
for i in range(COUNT):
    print(f"""\
  %t{i} = fusion.kernel @lay_out ins(%w{i} : {MATRIX}) -> ({MATRIX}) {{
  ^bb0(%x: {MATRIX}):
    %e = tensor.empty() : {MATRIX}
    %y = linalg.exp ins(%x : {MATRIX}) outs(%e : {MATRIX}) -> {MATRIX}
    fusion.yield %y : {MATRIX}
  }}""")
for i in range(COUNT):
    before = f"%r{i - 1}" if i else "%v"
    print(f"""\
  %r{i} = fusion.kernel @read ins(%t{i}, {before} : {MATRIX}, {VECTOR}) -> ({VECTOR}) {{
  ^bb0(%x: {MATRIX}, %o: {VECTOR}):
    %y = linalg.reduce {{ arith.addf }} ins(%x : {MATRIX}) outs(%o : {VECTOR}) dimensions = [1]
    fusion.yield %y : {VECTOR}
  }}""")
print(f"  return %r{COUNT - 1} : {VECTOR}\n}}")
