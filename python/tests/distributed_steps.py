# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One process of those that test_torch_distributed.py starts with torchrun.

    distributed_steps.py data|tensor cpu|cuda

Trains one step of a model with data or with tensor parallelism, compiled, and
checks results and gradients against one process in float64. Processes talk by
gloo, or by NCCL with a GPU each.
"""

import copy
import os
import sys
import unittest

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)
from torch.nn.parallel import DistributedDataParallel

import fusion_compiler.torch as fusion_torch

CHECK = unittest.TestCase()


class Block(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(16, 32)
        self.norm = torch.nn.LayerNorm(16)
        self.down = torch.nn.Linear(32, 16)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Model(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def _model(device):
    """(the same model in each process, a batch for all of them together)"""
    torch.manual_seed(7)
    return Model().to(device), torch.randn(8, 16).to(device)


def _exact(model, x):
    """(result, {name: gradient}) of one process in float64."""
    model = copy.deepcopy(model).double()
    result = model(x.double())
    result.square().mean().backward()
    return result, {name: p.grad for name, p in model.named_parameters()}


def _whole(tensor):
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def _check(result, expected, model, gradients):
    torch.testing.assert_close(result.double(), expected, rtol=0, atol=2e-6)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(_whole(parameter.grad).double(),
                                   gradients[name], rtol=0, atol=2e-6)


def train_data_parallel(rank, size, device):
    """DistributedDataParallel, whose buckets TorchDynamo splits graphs at."""
    model, x = _model(device)
    expected, gradients = _exact(model, x)
    dist._DEFAULT_FIRST_BUCKET_BYTES = 2048  # More buckets than one.
    compiled = torch.compile(
        DistributedDataParallel(model, bucket_cap_mb=0.002), backend="fusion")
    rows = slice(rank * len(x) // size, (rank + 1) * len(x) // size)
    result = compiled(x[rows])
    result.square().mean().backward()
    _check(result, expected[rows], model, gradients)
    report = fusion_torch.report()
    CHECK.assertGreater(len(report), 2, str(report))
    CHECK.assertEqual(report.fallbacks, ())


def train_tensor_parallel(rank, size, device):
    """Sums over processes are PyTorch's; what is between them is not."""
    model, x = _model(device)
    expected, gradients = _exact(model, x)
    mesh = init_device_mesh(device, (size,))
    parallelize_module(model, mesh, {
        "blocks.*.up": ColwiseParallel(), "blocks.*.down": RowwiseParallel()})
    result = torch.compile(model, backend="fusion")(x)
    result.square().mean().backward()
    _check(_whole(result), expected, model, gradients)
    report = fusion_torch.report()
    CHECK.assertEqual([graph.kind for graph in report],
                      ["forward", "backward"])
    for one in report.fallbacks:
        CHECK.assertTrue(one.operator.startswith("_c10d_functional."),
                         str(report))


def main():
    torch.set_num_threads(1)
    kind, device = sys.argv[1:]
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if device == "cuda" else "gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    {"data": train_data_parallel,
     "tensor": train_tensor_parallel}[kind](rank, size, device)
    dist.barrier()
    dist.destroy_process_group()
    print(f"process {os.environ['RANK']} is done", flush=True)


if __name__ == "__main__":
    main()
