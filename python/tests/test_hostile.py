# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile arguments end in an exception, never with the process."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class HostileTest(unittest.TestCase):

    def test_no_call_kills_the_process(self):
        # In a process of its own: a crash is a failed test then, with a number.
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            result = subprocess.run(
                [sys.executable, HERE / "hostile.py", "--count=600",
                 f"--log={log}"],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
                capture_output=True, text=True, timeout=300, check=False)
            last = log.read_text() if log.exists() else "none"
        self.assertEqual(result.returncode, 0,
                         f"the last call was {last}\n{result.stderr}")
        self.assertIn("returned", result.stdout)
        self.assertIn("FusionError", result.stdout)


if __name__ == "__main__":
    unittest.main()
