# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The valid programs that may be refused, and why: the one table of them.

Each row of LIMITS is a code, a regular expression for the message, one for the
text of the program (all may be empty), and the reason. A refusal that no row
names is a finding. A row is removed when its limit falls.
"""

import re

LIMITS = [
    ("", "must be fused into its users", r"fusion\.must",
     "fusion.must is a demand: what planning cannot fuse is an error"),
    ("", "kernels, the limit is", r"fusion\.max_kernels",
     "fusion.max_kernels is a demand: what needs more kernels is an error"),
]

# Defects that are known and wait to be mended: as above, with a regular
# expression for the message. A row goes when its defect does.
PENDING = [
    ("FUS-1101", "memref.global", "a constant of a dynamic size in the "
     "reference"),
    ("FUS-1007", r"elements of i(16|4)\b", "integers of 16 and of 4 bits"),
    ("FUS-1012", "cf.assert|affine.apply", "what importers write"),
    ("FUS-1007", "elements of index", "tensor.reshape and its shape"),
    ("FUS-1012", "tensor.reshape|tensor.gather", "tensor.reshape"),
    ("FUS-1101", "tosa.const_shape", "the reference has no TOSA shapes"),
    ("FUS-1101", "number of dynamic sizes", "tf32 of dynamic sizes"),
    ("FUS-1101", "arith.extf", "8-bit floats in the body of linalg.map"),
    ("FUS-1101", "not bufferized", "linalg.pack in the reference"),
    ("", "__truncdfbf2", "f64 to bf16 in the reference"),
    ("FUS-3401", "", "f64 products of dynamic sizes in shared memory"),
]


def find_limit(code, message, program):
    """The reason why a program may be refused so, or None."""
    for limit, message_part, program_part, reason in LIMITS:
        if (limit in ("", code) and re.search(message_part, message) and
                re.search(program_part, program)):
            return reason
    return None


def find_pending(code, message):
    """The known defect behind an outcome, or None."""
    for pending, message_part, reason in PENDING:
        if pending in ("", code) and re.search(message_part, message):
            return reason
    return None
