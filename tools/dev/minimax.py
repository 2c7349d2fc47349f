#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derives the polynomial coefficients of the math expansion.

Each polynomial is the minimax fit of a function over an interval, found by the
Remez exchange in multi-precision arithmetic. Coefficients are rounded to the
working format one at a time, from the one that matters most, and the rest is
fitted again, so that the rounding of one is repaired by the others.

  tools/dev/minimax.py > lib/Conversion/MathExpansion/Coefficients.h

Needs mpmath. Prints each fit's error to standard error.
"""

import sys

from mpmath import mp, mpf
import mpmath

mp.prec = 160


def round_to(value, bits):
    """`value` in the nearest float of `bits` (32 or 64)."""
    if bits == 64:
        with mpmath.workprec(53):
            return +mpf(value)
    with mpmath.workprec(24):
        return +mpf(value)


def chebyshev_points(a, b, count):
    mid, half = (a + b) / 2, (b - a) / 2
    return [mid + half * mpmath.cos(mp.pi * (2 * i + 1) / (2 * count))
            for i in reversed(range(count))]


def evaluate(coefficients, powers, x):
    return sum((c * x ** p for c, p in zip(coefficients, powers)), mpf(0))


def remez(target, weight, powers, a, b, iterations=12):
    """Minimax coefficients of x^p for p in `powers`, and the weighted error."""
    count = len(powers)
    # Off centre: a weight that vanishes in the middle must not see a start there.
    points = chebyshev_points(a, b - (b - a) / 29, count + 1)
    grid = chebyshev_points(a, b, 40 * (count + 1))
    values = [(x, target(x), weight(x)) for x in grid]
    best = None
    for _ in range(iterations):
        rows, right = [], []
        for i, x in enumerate(points):
            rows.append([x ** p for p in powers] + [(-1) ** i / weight(x)])
            right.append(target(x))
        solution = mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix(right))
        coefficients = [solution[i] for i in range(count)]
        errors = [w * (f - evaluate(coefficients, powers, x))
                  for x, f, w in values]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = (coefficients, worst)
        if worst < abs(solution[count]) * mpf("1.02"):
            break
        # One extremum from each run of equal sign.
        runs = []
        for (x, _, _), e in zip(values, errors):
            if runs and (runs[-1][1] > 0) == (e > 0):
                if abs(e) > abs(runs[-1][1]):
                    runs[-1] = (x, e)
            else:
                runs.append((x, e))
        while len(runs) > count + 1:
            runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
        if len(runs) < count + 1:
            break
        points = [x for x, _ in runs]
    return best


def fit(target, weight, powers, a, b, bits, fixed=None, refit=True):
    """Rounded coefficients, lowest power first, and their weighted error.

    `refit=False` rounds all at once: for an interval around 0 whose weight does
    not vanish there, a fixed lowest coefficient would leave nothing to fit.
    """
    a, b = mpf(a), mpf(b)
    result = dict(fixed or {})
    remaining = [p for p in powers if p not in result]
    while remaining:
        known = list(result.items())

        def rest(x):
            return target(x) - sum((c * x ** p for p, c in known), mpf(0))

        coefficients, _ = remez(rest, weight, remaining, a, b)
        fixed_now = 1 if refit else len(remaining)
        for power, c in list(zip(remaining, coefficients))[:fixed_now]:
            result[power] = round_to(c, bits)
        remaining = remaining[fixed_now:]
    ordered = [result[p] for p in powers]
    error = max(abs(weight(x) * (target(x) - evaluate(ordered, powers, x)))
                for x in chebyshev_points(a, b, 500))
    return ordered, error


def emit(name, coefficients, error, bits, comment):
    kind = "double" if bits == 64 else "float"
    print(f"/// {comment}")
    print(f"/// Weighted error 2^{float(mpmath.log(error, 2)):.1f}.")
    print(f"inline constexpr {kind} {name}[] = {{")
    for c in coefficients:
        text = float(c).hex() if c != 0 else "0x0p+0"
        print(f"    {text}{'f' if bits == 32 else ''},")
    print("};\n")
    print(f"{name}: 2^{float(mpmath.log(error, 2)):.2f}", file=sys.stderr)


def one(_):
    return mpf(1)


def quotient(numerator, order, near_zero):
    """numerator(x) / x^order, by `near_zero` (its limit) close to 0."""

    def function(x):
        if abs(x) < mpf(10) ** -12:
            return mpf(near_zero)
        return numerator(x) / x ** order

    return function


def main():
    ln2 = mpmath.log(2)
    sqrt = mpmath.sqrt
    print(HEADER)

    # exp(r) - 1 = r + r^2 Q(r); the weight makes the error relative.
    for bits, degree, name in ((32, 6, "expm1F32"), (64, 12, "expm1F64")):
        half = ln2 / 2 * mpf("1.01")
        c, e = fit(quotient(lambda r: mpmath.expm1(r) - r, 2, 0.5),
                   lambda r: abs(r) / abs(mpmath.expm1(r) / r) if r else mpf(0),
                   range(degree), -half, half, bits, {0: mpf(0.5)})
        emit(name, c, e, bits,
             "exp(r) = 1 + r + r^2 Q(r) for |r| <= ln(2)/2.")

    # log(1 + f) = f + f^2 Q(f) over [2/3, 4/3].
    c, e = fit(quotient(lambda f: mpmath.log1p(f) - f, 2, -0.5),
               lambda f: abs(f) / abs(mpmath.log1p(f) / f) if f else mpf(0),
               range(10), mpf(-1) / 3, mpf(1) / 3, 32, {0: mpf(-0.5)})
    emit("logF32", c, e, 32,
         "log(1 + f) = f + f^2 Q(f) for |f| <= 1/3.")

    # log(1 + f) = f (1 + f Q(f)) over [1, 2], for f32 and for its fast mode.
    for terms, name in ((9, "log1pOfFractionF32"), (7, "log1pOfFractionFast")):
        c, e = fit(quotient(lambda f: mpmath.log1p(f) - f, 2, -0.5),
                   lambda f: abs(f) / abs(mpmath.log1p(f) / f) if f else mpf(0),
                   range(terms), 0, 1, 32)
        emit(name, c, e, 32,
             "log(1 + f) = f (1 + f Q(f)) for 0 <= f <= 1.")

    # log(m) = 2s + s^3 Q(s^2), s = (m - 1) / (m + 1), m in [1/sqrt 2, sqrt 2].
    limit = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.02")

    def log_tail(z):
        if z < mpf(10) ** -12:
            return mpf(2) / 3
        s = sqrt(z)
        return (2 * mpmath.atanh(s) - 2 * s) / s ** 3

    c, e = fit(log_tail, lambda z: z / 2, range(8), 0, limit, 64)
    emit("logF64", c, e, 64,
         "log(m) = 2 s + s^3 Q(s^2), s = (m - 1) / (m + 1), |s| <= 0.1733.")

    # tanh(x) = x + x^3 Q(x^2), |x| <= 0.6.
    def odd_tail(function, first):
        def tail(z):
            if z < mpf(10) ** -10:
                return mpf(first)
            x = sqrt(z)
            return (function(x) - x) / (x * z)

        return tail

    for name, terms in (("tanhF32", 5), ("tanhHalf", 3)):
        c, e = fit(odd_tail(mpmath.tanh, mpf(-1) / 3), lambda z: z,
                   range(terms), 0, mpf("0.6") ** 2, 32)
        emit(name, c, e, 32, "tanh(x) = x + x^3 Q(x^2) for |x| <= 0.6.")

    # sin(r) = r + r^3 Q(r^2) on a half turn, for results of 16 bits.
    def relative_to(function):
        """The weight that makes the error of a tail relative to `function`."""
        return lambda z: z * sqrt(z) / function(sqrt(z)) if z else mpf(0)

    c, e = fit(odd_tail(mpmath.sin, mpf(-1) / 6), relative_to(mpmath.sin), range(3),
               0, mpf("1.58") ** 2, 32)
    emit("sinHalf", c, e, 32, "sin(r) = r + r^3 Q(r^2) for |r| <= 1.58.")

    # sin(r) = r + r^3 Q(r^2), cos(r) = 1 + r^2 Q(r^2).
    for bits, reach, sin_degree, cos_degree in ((32, "0.80", 3, 4), (64, "0.80", 6, 7)):
        z = mpf(reach) ** 2
        c, e = fit(odd_tail(mpmath.sin, mpf(-1) / 6), lambda z: z,
                   range(sin_degree), 0, z, bits)
        emit(f"sinF{bits}", c, e, bits,
             f"sin(r) = r + r^3 Q(r^2) for |r| <= {reach}.")

        def cos_tail(z):
            if z < mpf(10) ** -10:
                return mpf(-0.5)
            return (mpmath.cos(sqrt(z)) - 1) / z

        c, e = fit(cos_tail, lambda z: z, range(cos_degree), 0, z, bits,
                   {0: mpf(-0.5)})
        emit(f"cosF{bits}", c, e, bits,
             f"cos(r) = 1 + r^2 Q(r^2) for |r| <= {reach}.")

    # erf(x) = x + x Q(x^2).
    def erf_tail(z):
        if z < mpf(10) ** -10:
            return 2 / sqrt(mp.pi) - 1
        x = sqrt(z)
        return mpmath.erf(x) / x - 1

    for name, terms in (("erfSmallF32", 6), ("erfSmallHalf", 5)):
        c, e = fit(erf_tail, one, range(terms), 0, mpf("0.93") ** 2, 32)
        emit(name, c, e, 32, "erf(x) = x + x Q(x^2) for |x| <= 0.93.")
    c, e = fit(erf_tail, one, range(14), 0, mpf("1.02") ** 2, 64)
    emit("erfSmallF64", c, e, 64, "erf(x) = x + x Q(x^2) for |x| <= 1.02.")

    # 1 - erf(t) = 2^(t Q(t)) over [0.92, 4]; the error counts as that of erf.
    for name, terms in (("erfLargeF32", 6), ("erfLargeHalf", 4)):
        c, e = fit(lambda t: mpmath.log(mpmath.erfc(t), 2) / t,
                   lambda t: t * ln2 * mpmath.erfc(t) / mpmath.erf(t),
                   range(terms), mpf("0.92"), mpf("4.0"), 32)
        emit(name, c, e, 32,
             "1 - erf(t) = 2^(t Q(t)) for 0.92 <= t <= 4.")

    # erfc(t) = exp(-t^2) Q(q) / (1 + 2 t), q = (t - 4) / (t + 4).
    def erfc_scaled(q):
        t = 4 * (1 + q) / (1 - q)
        return mpmath.erfc(t) * mpmath.exp(t * t) * (1 + 2 * t)

    c, e = fit(erfc_scaled, lambda q: 1 / erfc_scaled(q), range(26),
               mpf("-0.8"), mpf("0.755"), 64, refit=False)
    emit("erfcF64", c, e, 64,
         "erfc(t) = exp(-t^2) Q(q) / (1 + 2 t), q = (t - 4) / (t + 4), "
         "for 0.45 <= t <= 28.")

    # atan(x) = x + x^3 Q(x^2), |x| <= tan(pi / 8).
    z = (mpf("0.4143")) ** 2
    c, e = fit(odd_tail(mpmath.atan, mpf(-1) / 3), lambda z: z, range(12), 0, z,
               64)
    emit("atanF64", c, e, 64, "atan(x) = x + x^3 Q(x^2) for |x| <= tan(pi/8).")

    # The same up to 1, the error relative to atan itself.
    for name, terms in (("atanF32", 8), ("atanHalf", 6)):
        c, e = fit(odd_tail(mpmath.atan, mpf(-1) / 3), relative_to(mpmath.atan),
                   range(terms), 0, 1, 32)
        emit(name, c, e, 32, "atan(x) = x + x^3 Q(x^2) for |x| <= 1.")

    # asin(x) = x + x^3 Q(x^2), |x| <= 1/2.
    c, e = fit(odd_tail(mpmath.asin, mpf(1) / 6), lambda z: z, range(13), 0,
               mpf("0.2501"), 64)
    emit("asinF64", c, e, 64, "asin(x) = x + x^3 Q(x^2) for |x| <= 1/2.")

    # 2 / pi, most significant word first, for the reduction of huge angles.
    words = 20
    value = int(mpmath.floor(2 / mp.pi * mpf(2) ** (64 * words))) \
        if mp.prec > 64 * words + 10 else two_over_pi(words)
    print("/// 2/pi = 0.w0 w1 w2 ..., words of 64 bits, first word first.")
    print("inline constexpr uint64_t twoOverPi[] = {")
    for i in range(words):
        word = (value >> (64 * (words - 1 - i))) & (2 ** 64 - 1)
        print(f"    0x{word:016x},")
    print("};\n")
    print("} // namespace mlir::fusion::coefficients\n")
    print("#endif // FUSION_LIB_CONVERSION_MATHEXPANSION_COEFFICIENTS_H")


def two_over_pi(words):
    with mpmath.workprec(64 * words + 64):
        return int(mpmath.floor(2 / mp.pi * mpf(2) ** (64 * words)))


HEADER = """//===- Coefficients.h - Polynomials of the math expansion -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the polynomials of the math expansion, lowest power first.
// Generated by tools/dev/minimax.py; do not edit.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_CONVERSION_MATHEXPANSION_COEFFICIENTS_H
#define FUSION_LIB_CONVERSION_MATHEXPANSION_COEFFICIENTS_H

#include <cstdint>

// clang-format off
namespace mlir::fusion::coefficients {
"""

if __name__ == "__main__":
    main()
