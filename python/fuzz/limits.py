# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The valid programs that may be refused, and why: the one table of them.

Each row is a code, a regular expression for the message, one for the text of
the program (both may be empty), and the reason. A refusal that no row names is
a finding. A row is removed when its limit falls.
"""

import re

LIMITS = [
    ("FUS-3308", "", r"fusion\.max_kernels",
     "a promise of the user's that planning cannot keep is an error"),
    ("FUS-6009", "", "",
     "sizes that differ where the program needs equal ones are refused before "
     "the launch"),
]


def find_limit(code, message, program):
    """The reason why a program may be refused so, or None."""
    for limit, message_part, program_part, reason in LIMITS:
        if (limit == code and re.search(message_part, message) and
                re.search(program_part, program)):
            return reason
    return None
