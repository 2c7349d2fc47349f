# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans of logarithms of sums on the emulator beside float64: log_of_sums.py DIR.

Rows of f32, whose results are f32 or rounded to f16: numbers alike, growing,
falling, one beside others that do not count, sums that cancel the largest
element; one infinity, two of them, negative ones before numbers, NaN.
"""

import pathlib
import subprocess
import sys

import numpy as np

directory = pathlib.Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)
N = 3000


def rows():
    random = np.random.default_rng(7)
    place = np.arange(N)
    x = np.stack([random.normal(size=N), random.normal(size=N) * 40,
                  place * 0.05, place * -0.05, np.full(N, -100.0),
                  random.normal(size=N) - 8.0, random.normal(size=N),
                  random.normal(size=N), random.normal(size=N),
                  random.normal(size=N)]).astype(np.float32)
    x[4, 1] = 0.0009765625
    x[6, 1234] = np.inf
    x[7, [300, 301, 2000]] = np.inf
    x[8, [5, 700]] = -np.inf
    x[9, 40] = np.nan
    return x


def program(shape, reverse, narrow):
    wide, result = f"tensor<{shape}xf32>", f"tensor<{shape}xf{16 if narrow else 32}>"
    rounding = f"%z = arith.truncf %y : {wide} to {result}" if narrow else ""
    return f"""func.func @main(%x: {wide}) -> {result} {{
  %lowest = arith.constant -1.0e+30 : f32
  %y = fusion.scan {reverse} ins(%x : {wide}) inits(%lowest : f32) axis(1) -> {wide} {{
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    %d = arith.subf %a, %b : f32
    %p = math.absf %d : f32
    %q = arith.negf %p : f32
    %e = math.exp %q : f32
    %l = math.log1p %e : f32
    %s = arith.addf %m, %l : f32
    fusion.yield %s : f32
  }}
  {rounding}
  return {"%z" if narrow else "%y"} : {result}
}}
"""


def expected(x):
    """In float64, element by element."""
    state, results = np.full(len(x), -1e30), []
    with np.errstate(invalid="ignore"):
        for element in x.astype(np.float64).T:
            term = np.log1p(np.exp(-np.abs(state - element)))
            state = np.maximum(state, element) + term
            results.append(state)
    return np.stack(results, 1)


def run(x, reverse, narrow):
    source = directory / "scan.mlir"
    source.write_text(program("x".join(map(str, x.shape)), reverse, narrow))
    np.save(directory / "x.npy", x)
    command = ["fusion-run", str(source), "--target=sm_90a",
               "--device=emulator", f"--input={directory / 'x.npy'}",
               f"--output={directory}"]
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout
    (result,) = directory.glob("*0.npy")
    return np.load(result)


def check(x, got, wanted, narrow):
    special = ~np.isfinite(wanted)
    assert np.array_equal(got[special], wanted[special].astype(got.dtype),
                          equal_nan=True), "infinities or NaN"
    got, wanted = got[~special].astype(np.float64), wanted[~special]
    # States of f32 round relative to themselves; where they are the larger, to
    # the elements that they cancel.
    largest = np.broadcast_to(np.nanmax(np.abs(np.where(np.isfinite(x), x, 0)),
                                        axis=1, keepdims=True),
                              special.shape)[~special]
    size = np.maximum(np.abs(wanted), np.minimum(largest, 16))
    allowed = size * 2.0 ** -20
    if narrow:
        allowed += np.maximum(np.spacing(np.abs(wanted).astype(np.float16))
                              .astype(np.float64) / 2, 0)
    worst = np.max(np.abs(got - wanted) / allowed)
    assert worst <= 1, f"{worst} of what is allowed"
    return worst


x = rows()
for reverse in ("", "reverse"):
    ordered = x[:, ::-1] if reverse else x
    wanted = expected(ordered)
    wanted = wanted[:, ::-1] if reverse else wanted
    for narrow in (False, True):
        worst = check(x, run(x, reverse, narrow), wanted, narrow)
        print(reverse or "forward", "f16" if narrow else "f32",
              f"within what is allowed, {worst:.2f} of it")
