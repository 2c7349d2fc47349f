#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times Fusion against PyTorch on the GPU of this machine, in one run.

    build_packages.py --output=DIR          (any machine with the compiler)
    bench.py --packages=DIR [--only=REGEX] [--peers=compile,eager,max]
             [--library=libfusion-rt.so] [--json=FILE]

For each workload: load the package, draw fresh random inputs, fill the
outputs with NaN, run, compare with the same function in float64, then time one
call replayed from a CUDA graph with the L2 cache flushed, and the peers
likewise. The floor is the larger of (inputs read once + outputs written once)
at the measured streaming rate and the flops at the measured rate of cuBLAS.
A result that does not compare is printed as WRONG and its time is withheld.
The exit status is 0 only when every result was right.
"""

import argparse
import datetime
import json
import math
import pathlib
import re
import sys
import time
import traceback
from statistics import geometric_mean

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import torch  # noqa: E402

import fusion_compiler as fusion  # noqa: E402
import workloads  # noqa: E402
from outputs import poison  # noqa: E402
from timing import Timer  # noqa: E402


def as_tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def compare(outputs, references, eager, length=1):
    """Whether each output is as close to the reference as eager PyTorch is.

    Twice eager's own largest error, plus four roundings of the output type at
    the scale of the reference, bounds what a different instruction may cost;
    a sum of `length` terms in f32, in whatever order, may add the square root
    of that many roundings.
    """
    fine, worst = True, 0.0
    for out, reference, other in zip(outputs, references, eager, strict=True):
        if out.shape != reference.shape:
            return False, f"shape {tuple(out.shape)} != {tuple(reference.shape)}"
        scale = reference.square().mean().sqrt().item()
        bound = (2 * (other.double() - reference).abs().max().item()
                 + 4 * torch.finfo(out.dtype).eps * scale
                 + math.sqrt(length - 1) * torch.finfo(torch.float32).eps
                 * scale)
        # NaN, left over or computed, must not pass: hence "not <=".
        error = (out.double() - reference).abs().max().item()
        fine = fine and error <= bound
        worst = max(worst, error / bound if bound else math.inf)
    return fine, f"error at {worst:.2f} of its bound"


def check(workload, package, inputs):
    """Runs the package on poisoned outputs: (right, note, call, bytes)."""
    eager = as_tuple(workload.peer(*inputs))
    outputs = tuple(torch.empty(e.shape, dtype=e.dtype, device=e.device)
                    for e in eager)
    for out in outputs:
        poison(out)

    def call():
        package(*inputs, out=outputs)

    call()
    torch.cuda.synchronize()
    if workload.compare:
        right, note = workload.compare(inputs, outputs, eager)
    else:
        make = workload.reference or workloads.as_reference(workload.peer)
        right, note = compare(outputs, as_tuple(make(*inputs)), eager,
                              workload.length)
    moved = sum(t.numel() * t.element_size() for t in (*inputs, *outputs))
    return right, note, call, moved


def time_peers(workload, inputs, timer, peers, row):
    # Peers may use TF32; the eager run of the check, which bounds the error
    # of the f32 result, may not.
    torch.backends.cuda.matmul.allow_tf32 = True
    for peer in peers:
        torch._dynamo.reset()
        if peer == "eager":
            function = workload.peer
        elif peer == "max":
            function = torch.compile(workload.peer, dynamic=False,
                                     mode="max-autotune-no-cudagraphs")
        else:
            function = torch.compile(workload.peer, dynamic=False)
        try:
            # The better of two: a peer gets the benefit of the noise.
            row[f"{peer}_us"] = min(
                timer.graph_us(lambda: function(*inputs)) for _ in range(2))
        except Exception as error:  # A peer that fails must not end the run.
            row[f"{peer}_error"] = f"{type(error).__name__}: {error}"[:300]
    torch.backends.cuda.matmul.allow_tf32 = False


def host_us(call):
    """Host time to enqueue one call from Python, in microseconds."""
    for _ in range(10):
        call()
    torch.cuda.synchronize()
    count, start = 100, time.perf_counter()
    for _ in range(count):
        call()
    elapsed = time.perf_counter() - start
    torch.cuda.synchronize()
    return elapsed / count * 1e6


def run(workload, options, timer):
    """One row of the table as a dictionary."""
    row = {"name": workload.name}
    inputs = workload.draw()
    path = options.packages / f"{workload.name}.fpk"
    try:
        if not path.exists():
            raise FileNotFoundError(f"no {path.name} in --packages")
        package = fusion.load(path)
        row["kernels"] = package.figures(*inputs)["launches"]
        right, note, call, moved = check(workload, package, inputs)
        row.update(right=right, note=note, bytes=moved)
        torch.cuda.empty_cache()
        if right:
            # The better of two, as for the peers: the first after the
            # reference still sees the clock that float64 work left behind.
            times = [timer.graph_us(call) for _ in range(2)]
            row["fusion_us"], row["fusion_worse_us"] = min(times), max(times)
            row["host_us"] = host_us(call)
    except Exception as error:  # One failing workload must not end the run.
        row.update(right=False, note=f"{type(error).__name__}: {error}"[:600])
        if options.trace:
            traceback.print_exc()
    if "bytes" in row:
        row["floor_us"] = 1e6 * max(row["bytes"] / timer.copy_rate,
                                    workload.flops / timer.matmul_rate)
    time_peers(workload, inputs, timer, options.peers, row)
    return row


def table_head(peers):
    cells = ["workload", "kernels", "floor us", "fusion us", "x floor"]
    for peer in peers:
        cells += [f"{peer} us", "speed-up"]
    return cells + ["check"]


def table_row(row, peers):
    def number(value, digits=1):
        return "-" if value is None else f"{value:.{digits}f}"

    mine, floor = row.get("fusion_us"), row.get("floor_us")
    cells = [row["name"], str(row.get("kernels", "-")), number(floor),
             number(mine), number(mine / floor if mine and floor else None, 2)]
    for peer in peers:
        theirs = row.get(f"{peer}_us")
        cells += [number(theirs),
                  number(theirs / mine if mine and theirs else None, 2)]
    return cells + [row["note"] if row["right"] else f"WRONG: {row['note']}"]


def print_cells(cells):
    widths = [48, 7] + [9] * (len(cells) - 3)
    print(" ".join(f"{c:<{w}}" if i == 0 else f"{c:>{w}}"
                   for i, (c, w) in enumerate(zip(cells, widths)))
          + "  " + cells[-1], flush=True)


def summarize(rows, peers):
    right = sum(row["right"] for row in rows)
    print(f"\n{right} of {len(rows)} results right")
    for peer in peers:
        ratios = [row[f"{peer}_us"] / row["fusion_us"] for row in rows
                  if row.get("fusion_us") and row.get(f"{peer}_us")]
        if ratios:
            mean = geometric_mean(ratios)
            print(f"geometric mean speed-up over {peer}: {mean:.2f} "
                  f"({len(ratios)} workloads, {sum(r < 1 for r in ratios)} "
                  "slower)")


def pointwise_us(timer, count):
    """Time of the simplest kernel on `count` floats."""
    x = torch.randn(count, device="cuda")
    out = torch.empty_like(x)
    return min(timer.graph_us(lambda: torch.mul(x, 2.0, out=out))
               for _ in range(2))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path,
                        help="libfusion-rt.so, when not found by itself")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--skip", default="^$", metavar="REGEX")
    parser.add_argument("--peers", default="compile",
                        type=lambda s: [p for p in s.split(",") if p],
                        help="any of compile, eager, max; '' for none")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--trace", action="store_true",
                        help="print the Python trace of a failing workload")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if not torch.cuda.is_available():
        print("bench.py: error: PyTorch sees no GPU on this machine\n"
              "  remedy: run it on a machine with an NVIDIA GPU; without one, "
              "fusion-run --device=emulator runs the same kernels",
              file=sys.stderr)
        return 1
    if options.library:
        fusion.set_runtime_library(options.library)
    seed = options.seed if options.seed is not None else int(time.time())
    torch.manual_seed(seed)

    timer = Timer(options.repeat)
    report = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(),
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__, "seed": seed, "argv": sys.argv[1:],
        "copy_tb_per_s": timer.copy_rate / 1e12,
        "matmul_tflop_per_s": timer.matmul_rate / 1e12, "rows": []}
    print(f"{report['device']}, PyTorch {report['torch']}, "
          f"{report['date'][:10]}, seed {seed}: streams at "
          f"{report['copy_tb_per_s']:.2f} TB/s, cuBLAS bf16 at "
          f"{report['matmul_tflop_per_s']:.0f} TFLOP/s")
    # What no kernel can beat here: launch, and ramp-up at a given size.
    small = {count: pointwise_us(timer, count) for count in (8, 4096 * 1024)}
    report["multiply_us"] = small
    print("x * 2 by PyTorch: " + ", ".join(
        f"{us:.1f} us for {count} floats" for count, us in small.items())
        + "\n")
    print_cells(table_head(options.peers))
    for workload in workloads.ALL:
        if (not re.search(options.only, workload.name)
                or re.search(options.skip, workload.name)):
            continue
        row = run(workload, options, timer)
        report["rows"].append(row)
        print_cells(table_row(row, options.peers))
        if options.json:  # After each row, so that a cut run leaves its rows.
            options.json.write_text(json.dumps(report, indent=1) + "\n")
        torch.cuda.empty_cache()
    summarize(report["rows"], options.peers)
    return 0 if all(row["right"] for row in report["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
