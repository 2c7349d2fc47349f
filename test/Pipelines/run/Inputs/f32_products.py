# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of f32 on the emulator beside float64: f32_products.py DIR TARGET KIND.

KIND is what the schedule says makes them, mma_sync or fma.
"""

import pathlib
import re
import subprocess
import sys

import numpy as np

directory, target, kind = pathlib.Path(sys.argv[1]), *sys.argv[2:]
directory.mkdir(parents=True, exist_ok=True)
M, N, K = 72, 40, 330


def run(*command):
    result = subprocess.run([str(word) for word in command],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)
    assert result.returncode == 0, result.stdout
    return result.stdout


def program(kn):
    b = f"{K}x{N}" if kn else f"{N}x{K}"
    maps = ("" if kn else
            " indexing_maps = [affine_map<(i, j, k) -> (i, k)>, "
            "affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>]")
    return f"""func.func @main(%a: tensor<{M}x{K}xf32>, %b: tensor<{b}xf32>)
    -> tensor<{M}x{N}xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{M}x{N}xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{M}x{N}xf32>)
      -> tensor<{M}x{N}xf32>
  %m = linalg.matmul{maps}
      ins(%a, %b : tensor<{M}x{K}xf32>, tensor<{b}xf32>)
      outs(%f : tensor<{M}x{N}xf32>) -> tensor<{M}x{N}xf32>
  return %m : tensor<{M}x{N}xf32>
}}
"""


def multiply(name, kn, a, b):
    source = directory / f"{name}.mlir"
    source.write_text(program(kn))
    plan = run("fusion-compile", source, f"--target={target}",
               "--compile-to=schedule", "-o", "-")
    kinds = set(re.findall(r"#fusion.mma<(\w+)", plan)) or {"fma"}
    assert kinds == {kind}, f"{kinds}, expected {kind}"
    np.save(directory / "a.npy", a)
    np.save(directory / "b.npy", b if kn else np.ascontiguousarray(b.T))
    run("fusion-run", source, f"--target={target}", "--device=emulator",
        f"--input={directory / 'a.npy'}", f"--input={directory / 'b.npy'}",
        f"--output={directory}")
    (result,) = directory.glob("*0.npy")
    values = np.load(result)
    result.unlink()
    return values


rng = np.random.default_rng()
for kn in (False, True):
    a = rng.standard_normal((M, K)).astype(np.float32)
    b = rng.standard_normal((K, N)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    size = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    error = np.max(np.abs(multiply("plain", kn, a, b) - exact) / size)
    # 2^-20 of each product, and f32's roundings of K / 8 sums.
    bound = 2.0 ** -20 + (K / 8 + 1) * 2.0 ** -24
    assert error <= bound, f"error {error:.2e}, bound {bound:.2e}"
    # Factors of 11 bits would be off by 2^-11 each.
    print(f"error {error:.2e} of the products' sizes")

    # Numbers that only one row or column has: others must not change.
    a[3, 5], a[10, 7], a[20, 9], a[30, 11] = np.inf, -np.inf, np.nan, 3.4e38
    b[13, 4], b[17, 8], b[19, 12] = np.inf, np.nan, 1e-38
    b[5, :] = np.where(b[5, :] == 0, 1, b[5, :])
    a[40, :], b[:, 20] = 2.0 ** 100, 2.0 ** -110
    # Exact in the first 11 bits, so that the rest is zero, beside infinities.
    a[50, :] = 1.0
    with np.errstate(all="ignore"):
        exact = (a.astype(np.float64) @ b.astype(np.float64))
        exact = np.where(np.abs(exact) > 3.4028235e38,
                         np.copysign(np.inf, exact), exact)
        size = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
        result = multiply("special", kn, a, b)
        known = np.isfinite(exact) & (size < 1e38)
        # Where sums overflow, what comes of it depends on their order.
        unknown, infinite = ~known, np.isinf(exact) & (size == np.inf)
        unknown[30], infinite[30] = False, False
        assert np.array_equal(np.isnan(result[unknown]),
                              np.isnan(exact[unknown]))
        assert np.array_equal(result[infinite], exact[infinite])
        error = np.max((np.abs(result - exact) / size)[known])
    assert error <= bound, f"special: error {error:.2e}, bound {bound:.2e}"
