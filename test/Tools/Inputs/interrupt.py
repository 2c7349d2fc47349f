# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Interrupts a tool as soon as it has begun to write a file.

    interrupt.py FOLDER COMMAND...

Runs the command several times, each with another signal, which is sent when a
file whose name holds ".tmp" appears in the folder. Fails if such a file is left
there in the end; prints how often the signal came while one was there.
"""

import os
import signal
import subprocess
import sys

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def has_temporary(folder):
    return any(".tmp" in name for name in os.listdir(folder))


def interrupt(folder, command, number):
    """True if the process ended by the signal."""
    process = subprocess.Popen(command)
    while process.poll() is None:
        if has_temporary(folder):
            process.send_signal(number)
            return process.wait() == -number
    return False


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    hits = sum(interrupt(folder, command, SIGNALS[i % len(SIGNALS)])
               for i in range(9))
    left = [name for name in os.listdir(folder) if ".tmp" in name]
    print(f"{'some' if hits else 'no'} interruptions, left: {left}")


if __name__ == "__main__":
    main()
