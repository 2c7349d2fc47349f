# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_kernel.py A.ptx B.ptx: both are one kernel, but for its name.

Prints the first line that differs; the exit status is then 1.
"""

import itertools
import pathlib
import re
import sys


def read(path):
    text = re.sub(r"//.*", "", pathlib.Path(path).read_text())
    name = re.search(r"\.entry (\w+)", text)[1]
    return text.replace(name, "kernel").splitlines()


for one, other in itertools.zip_longest(*map(read, sys.argv[1:3])):
    if one != other:
        sys.exit(f"{one}\n{other}")
