# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""read_formats.py P.fpk...: runs y = 2 x from each, or prints its error."""

import os
import sys

import numpy as np

import fusion_compiler as fusion

for path in sys.argv[1:]:
    name = os.path.basename(path)
    x = np.random.randn(517).astype(np.float32)
    try:
        y = fusion.load(path, device="emulator")(x)
    except fusion.FusionError as error:
        print(f"{name}: {error.code}")
        continue
    np.testing.assert_array_equal(y, x + x)
    print(f"{name}: twice")
