# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""launch_thrice.py P.fpk: two launches, and one with a wrong shape."""

import sys

import numpy as np

import fusion_compiler as fusion

package = fusion.load(sys.argv[1], device="emulator")
x = np.zeros((64, 96), np.float32)
package(x)
package(x)
try:
    package(x[1:])
except fusion.FusionError as error:
    assert error.code == "FUS-6004", error
else:
    raise AssertionError("a wrong shape was taken")
