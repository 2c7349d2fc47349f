# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators of docs/generated/TorchOperators.md, by PyTorch's samples."""

import importlib.util
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MISSING = [name for name in ("torch", "torch_mlir", "expecttest")
           if importlib.util.find_spec(name) is None]


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
class OperatorsTest(unittest.TestCase):

    tool = ROOT / "tools" / "dev" / "gen_torch_table.py"

    def run_tool(self, *arguments):
        done = subprocess.run([sys.executable, self.tool, *arguments],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_table_is_of_the_cases(self):
        self.run_tool("--check")

    def test_cases(self):
        """One sample of each operator in
        docs/generated/TorchOperators.md; tools/dev/gen_torch_table.py runs
        them all."""
        self.run_tool(f"--cases={ROOT / 'python/tests/torch_cases.txt'}")


if __name__ == "__main__":
    unittest.main()
