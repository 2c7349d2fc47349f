# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_diff.py DIFF OLD NEW: the hunks in DIFF turn OLD into NEW, and keep as
many lines as Python's difflib finds common, or more."""

import difflib
import re
import sys

diff, old, new = (open(path, encoding="utf-8").read().splitlines()
                  for path in sys.argv[1:])
begin = max(i for i, line in enumerate(diff) if line.startswith("+++ "))
result, at, kept = [], 0, 0
for line in diff[begin + 1:]:
    head = re.match(r"@@ -(\d+),\d+ \+\d+,\d+ @@", line)
    if head:
        result += old[at:int(head[1]) - 1]
        kept += int(head[1]) - 1 - at
        at = int(head[1]) - 1
    elif line[0] == "+":
        result.append(line[1:])
    else:
        assert old[at] == line[1:], (at, line)
        at += 1
        if line[0] == " ":
            result.append(line[1:])
            kept += 1
result += old[at:]
kept += len(old) - at
assert result == new
matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
assert kept >= sum(block.size for block in matcher.get_matching_blocks())
