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
PENDING = []


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
