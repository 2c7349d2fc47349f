#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks of `architectures` under torch.compile(backend="fusion"), beside
eager PyTorch and torch.compile's own backend, on a CUDA device.

    torch_models.py [NAME ...] [--training] [--peers=eager,default]
                    [--dtype=bf16] [--kernels] [--no-graph] [--json=FILE]
    torch_models.py [NAME ...] [--training] [--peers=default] --cold

A row for each network and backend: `us`, the least of three means of a call,
by CUDA events, calls back to back; `graph`, the same of a CUDA graph of the
call, so that nothing of the host is in it; the seconds of the first call; the
greatest memory beyond what was there; the error, as the greatest root mean
square, over results (and gradients), of the difference to float32's, relative.
A training step is the forward pass, the loss (of a block the mean square of
its results), and the backward pass. Without NAME all blocks are measured;
"models" stands for all models.

With --cold only the first call is timed, in a process of its own for each
network and backend: what a program waits for once. The compilers' caches are
empty then, but Python finds the bytecode of the modules, as an installation
leaves it: in the folder PYTHONPYCACHEPREFIX, where runs of before have left it,
or in one that processes which are not measured, one for each backend, fill by
the same calls.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import fusion_compiler.torch as fusion_torch  # noqa: E402
from architectures.blocks import BLOCKS  # noqa: E402
from architectures.models import MODELS  # noqa: E402
from timing import capture  # noqa: E402

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
COMPILERS = {
    "eager": lambda model: model,
    "default": torch.compile,
    "max-autotune": lambda model: torch.compile(model, mode="max-autotune"),
    "fusion": lambda model: torch.compile(model, backend="fusion"),
}


@dataclasses.dataclass
class Row:
    network: str
    backend: str
    us: float
    graph_us: float
    first_s: float
    memory_mb: float
    error: float
    kernels: int = 0
    fallbacks: tuple = ()

    def __str__(self):
        graph = f"{self.graph_us:9.0f}" if self.graph_us else "        -"
        return (f"{self.network:12} {self.backend:12} {self.us:9.0f} {graph} "
                f"{self.first_s:6.1f} {self.memory_mb:8.0f} {self.error:8.1e} "
                f"{self.kernels or '':>4} {' '.join(self.fallbacks)}")


def flat(results):
    return list(results) if isinstance(results, tuple) else [results]


class Network:
    """A network on the GPU and its inputs, and how a call of it is made."""

    def __init__(self, name, dtype, training):
        torch.manual_seed(1)
        with torch.device("cuda"):
            if name in BLOCKS:
                model, inputs = BLOCKS[name].make("real")
            elif training:
                model, inputs = MODELS[name].make_step("real")
            else:
                model, inputs = MODELS[name].make("real")
        self.name, self.training = name, training
        self.gives_loss = training and name in MODELS
        self.model = model.to(dtype).train(training)
        self.inputs = [one.to(dtype) if one.is_floating_point() else one
                       for one in inputs]

    def call(self, function, inputs=None):
        """A function of no arguments that runs `function` once."""
        inputs = self.inputs if inputs is None else inputs

        def forward():
            with torch.no_grad():
                return flat(function(*inputs))

        def step():
            self.model.zero_grad(set_to_none=True)
            results = flat(function(*inputs))
            loss = (results[0] if self.gives_loss else sum(
                one.float().square().mean() for one in results))
            loss.backward()
            return results + [one.grad for one in self.model.parameters()]
        return step if self.training else forward

    def expected(self):
        """Results, and gradients, in float32; the model is float32 then."""
        torch.backends.cuda.matmul.allow_tf32 = False
        self.model.float()
        wide = [one.float() if one.is_floating_point() else one
                for one in self.inputs]
        return self.call(self.model, wide)()


def error(results, expected):
    def of(one, other):
        difference = (one.float() - other).square().mean().sqrt()
        return (difference / (other.square().mean().sqrt() + 1e-9)).item()
    return max(of(one, other) for one, other in zip(results, expected)
               if other is not None)


def time_of(call, at_least=0.1):
    """Microseconds."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    count, least = 5, float("inf")
    for _ in range(4):  # The first tells how many calls make a mean.
        torch.cuda.synchronize()
        start.record()
        for _ in range(count):
            call()
        end.record()
        torch.cuda.synchronize()
        mean = start.elapsed_time(end) / count * 1e3
        least = min(least, mean)
        count = max(5, min(200, int(at_least * 1e6 / mean)))
    return least


def graph_time_of(call):
    """Microseconds of a replay; 0 where the call cannot be captured."""
    try:
        return time_of(capture(call).replay)
    except Exception as problem:
        print(f"  no graph: {str(problem).splitlines()[0]}", file=sys.stderr)
        return 0


def measure(network, backend, options):
    """(a Row without its error, the results)"""
    torch._dynamo.reset()
    fusion_torch.reset_report()
    compiled = COMPILERS[backend](network.model)
    call = network.call(compiled)
    torch.cuda.synchronize()
    start = time.time()
    results = [one if one is None else one.clone() for one in call()]
    torch.cuda.synchronize()
    first = time.time() - start
    base = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    memory = (torch.cuda.max_memory_allocated() - base) / 2**20
    graph = options.graph and backend != "max-autotune"
    row = Row(network.name, backend, time_of(call),
              graph_time_of(call) if graph else 0, first, memory, 0)
    if backend == "fusion":
        graphs = fusion_torch.report()
        row.kernels = sum(part.kernels for one in graphs for part in one.parts)
        row.fallbacks = tuple(f"{left.operator}: {left.reason}"
                              for one in graphs for left in one.fallbacks)
    if options.kernels:
        print_kernels(call)
    return row, results


def first_call(network, backend):
    """Seconds of the first call."""
    call = network.call(COMPILERS[backend](network.model))
    torch.cuda.synchronize()
    start = time.time()
    call()
    torch.cuda.synchronize()
    return time.time() - start


def cold_calls(names, backend, options, bytecode):
    """Seconds of `first_call` of each network, one after the other in one new
    process with empty caches of the compilers; `bytecode` is the folder where
    Python keeps that of modules."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, __file__, *names, f"--dtype={options.dtype}",
               f"--first={backend}"]
    if options.training:
        command.append("--training")
    with tempfile.TemporaryDirectory() as folder:
        caches = {variable: f"{folder}/{variable}" for variable in (
            "FUSION_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR",
            "CUDA_CACHE_PATH")}
        done = subprocess.run(command, env={**environment, **caches},
                              capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-400:])
    return [float(line) for line in done.stdout.split()]


def print_kernels(call, rows=25):
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        for _ in range(5):
            call()
        torch.cuda.synchronize()
    events = sorted(profile.key_averages(),
                    key=lambda event: -event.device_time_total)
    total = sum(event.device_time_total for event in events) / 5
    print(f"    {total:9.1f} us in all")
    for event in events[:rows]:
        print(f"    {event.device_time_total / 5:9.1f} us {event.count / 5:5.1f}"
              f" x {event.key[:100]}")


def compare_first_calls(names, backends, options):
    with tempfile.TemporaryDirectory() as folder:
        bytecode = os.environ.get("PYTHONPYCACHEPREFIX", folder)
        if bytecode == folder:
            for backend in backends:
                cold_calls(names, backend, options, bytecode)
        for name in names:
            found = [(backend, cold_calls([name], backend, options, bytecode))
                     for backend in backends]
            print(name, *(f"{backend} {seconds:.2f} s"
                          for backend, (seconds,) in found), flush=True)


def compare(names, backends, options):
    """The rows of all networks, which it prints too."""
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}\n"
          f"{'network':12} {'backend':12} {'us':>9} {'graph':>9} {'first':>6} "
          f"{'MB':>8} {'error':>8}")
    rows = []
    for name in names:
        try:
            network = Network(name, TYPES[options.dtype], options.training)
            found = [measure(network, one, options)
                     for one in backends]
            expected = network.expected()
        except Exception as problem:
            print(f"{name:12} {type(problem).__name__}: {str(problem)[:400]}")
            continue
        for row, results in found:
            row.error = error(results, expected)
            print(row, flush=True)
            rows.append(row)
        del network, found, expected
        torch.cuda.empty_cache()
    return rows


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--training", action="store_true")
    parser.add_argument("--peers", default="eager,default")
    parser.add_argument("--dtype", choices=TYPES, default="bf16")
    parser.add_argument("--kernels", action="store_true",
                        help="print the kernels of each call and their times")
    # A capture that fails leaves PyTorch's generator unusable.
    parser.add_argument("--no-graph", dest="graph", action="store_false",
                        help="replay no CUDA graphs")
    parser.add_argument("--json")
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--first", choices=COMPILERS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    backends = [*filter(None, options.peers.split(",")), "fusion"]
    names = options.names or list(BLOCKS)
    if "models" in names:
        names = list(MODELS)
    if options.first:
        for name in names:
            print(first_call(Network(name, TYPES[options.dtype],
                                     options.training), options.first))
            torch._dynamo.reset()  # It refuses a function's ninth compilation.
    elif options.cold:
        compare_first_calls(names, backends, options)
    else:
        rows = compare(names, backends, options)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump([dataclasses.asdict(row) for row in rows], file,
                          indent=1)


if __name__ == "__main__":
    main()
