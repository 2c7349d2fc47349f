#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of several GPUs: eager, torch.compile, and its backend fusion.

    torchrun --standalone --nproc-per-node=N torch_distributed.py

Layers of a gated MLP behind an RMS norm, in bfloat16: with tensor parallelism
(sums over processes after each layer), and with DistributedDataParallel. A row
for each, by the first process: milliseconds of a step, host included, the least
of three means; the error of the result against eager's in float32, relative.
"""

import copy
import os
import time

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel, RowwiseParallel, parallelize_module)
from torch.nn.parallel import DistributedDataParallel

import fusion_compiler.torch as fusion_torch

LAYERS, TOKENS, FEATURES, HIDDEN = 4, 4096, 4096, 11008
COMPILERS = {"eager": lambda model: model, "default": torch.compile,
             "fusion": lambda model: torch.compile(model, backend="fusion")}


class Layer(torch.nn.Module):

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.RMSNorm(FEATURES)
        self.gate = torch.nn.Linear(FEATURES, HIDDEN, bias=False)
        self.up = torch.nn.Linear(FEATURES, HIDDEN, bias=False)
        self.down = torch.nn.Linear(HIDDEN, FEATURES, bias=False)

    def forward(self, x):
        y = self.norm(x)
        return x + self.down(torch.nn.functional.silu(self.gate(y)) *
                             self.up(y))


def tensor_parallel(model, size):
    return parallelize_module(model, init_device_mesh("cuda", (size,)), {
        "*.gate": ColwiseParallel(), "*.up": ColwiseParallel(),
        "*.down": RowwiseParallel()})


def data_parallel(model, size):
    return DistributedDataParallel(model)


def step(model, x):
    model.zero_grad(set_to_none=True)
    result = model(x)
    result.float().square().mean().backward()
    return result


def milliseconds(model, x, calls=10):
    means = []
    for _ in range(3):
        torch.cuda.synchronize()
        dist.barrier()
        start = time.perf_counter()
        for _ in range(calls):
            step(model, x)
        torch.cuda.synchronize()
        means.append((time.perf_counter() - start) / calls * 1e3)
    return min(means)


def main():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    torch.manual_seed(3)
    with torch.device("cuda"):
        plain = torch.nn.Sequential(*(Layer() for _ in range(LAYERS)))
        x = torch.randn(TOKENS, FEATURES)
    with torch.no_grad():
        expected = plain(x)
    for kind, parallel in (("tensor", tensor_parallel),
                           ("data", data_parallel)):
        for name, compiler in COMPILERS.items():
            torch._dynamo.reset()
            fusion_torch.reset_report()
            model = compiler(parallel(copy.deepcopy(plain).bfloat16(),
                                      dist.get_world_size()))
            start = time.perf_counter()
            result = step(model, x.bfloat16())
            torch.cuda.synchronize()
            first = time.perf_counter() - start
            error = ((result.float() - expected).square().mean() /
                     expected.square().mean()).sqrt().item()
            took = milliseconds(model, x.bfloat16())
            if rank == 0:
                left = {one.operator for one in fusion_torch.report().fallbacks}
                print(f"{kind:7} {name:8} {took:8.3f} ms  first {first:5.1f} s"
                      f"  error {error:.1e} {' '.join(sorted(left))}",
                      flush=True)
            del model, result
            torch.cuda.empty_cache()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
