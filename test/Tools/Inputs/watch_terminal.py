# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""watch_terminal.py COMMAND...: prints what the command writes to its standard
error, a terminal, with \\r and \\033 spelled out; ends with its status."""

import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
with subprocess.Popen(sys.argv[1:], stderr=theirs,
                      stdout=subprocess.DEVNULL) as child:
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # The terminal is gone, with who wrote to it.
            break
        if not part:
            break
        text += part
print(text.replace(b"\r\n", b"\n").replace(b"\r", b"<return>").replace(
    b"\033[K", b"<erase>\n").decode(errors="replace"), end="")
sys.exit(child.returncode)
