# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data and tensor parallelism: two processes under torchrun, by gloo and, where
there are two GPUs, by NCCL."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from test_torch_compile import REASON

try:
    import torch
    GPUS = torch.cuda.device_count()
except ImportError:
    GPUS = 0

HERE = pathlib.Path(__file__).resolve().parent


@unittest.skipIf(REASON, REASON)
class DistributedTest(unittest.TestCase):

    def check(self, kind, device):
        with tempfile.TemporaryDirectory() as folder:
            path = os.pathsep.join([str(HERE.parent),
                                    os.environ.get("PYTHONPATH", "")])
            done = subprocess.run(
                [sys.executable, "-m", "torch.distributed.run", "--standalone",
                 "--nproc-per-node=2", str(HERE / "distributed_steps.py"), kind,
                 device],
                env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1",
                     "FUSION_CACHE_DIR": folder},
                capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        for rank in range(2):
            self.assertIn(f"process {rank} is done", done.stdout)

    def test_data_parallel(self):
        self.check("data", "cpu")

    def test_tensor_parallel(self):
        self.check("tensor", "cpu")

    @unittest.skipIf(GPUS < 2, "needs two GPUs")
    def test_data_parallel_on_gpus(self):
        self.check("data", "cuda")

    @unittest.skipIf(GPUS < 2, "needs two GPUs")
    def test_tensor_parallel_on_gpus(self):
        self.check("tensor", "cuda")


if __name__ == "__main__":
    unittest.main()
