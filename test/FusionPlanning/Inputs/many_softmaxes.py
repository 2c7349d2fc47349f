#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a function of COUNT softmaxes of long rows, each of an argument."""

import sys

TYPE = "tensor<16x4194304xf32>"
numbers = range(int(sys.argv[1]))
arguments = ", ".join(f"%x{i}: {TYPE}" for i in numbers)
types = ", ".join(TYPE for _ in numbers)
print(f"func.func @main({arguments}) -> ({types}) {{")
for i in numbers:
    print(f"  %y{i} = fusion.softmax %x{i} axis(1) : {TYPE}")
print(f"  return {', '.join(f'%y{i}' for i in numbers)} : {types}\n}}")
