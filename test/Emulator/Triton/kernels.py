"""Compiles a few kernels with Triton, to PTX for the emulator's tests.

Run with a Triton of your own (it is no dependency of this project):
    python3 kernels.py
Every kernel becomes NAME.ptx for sm_80, and NAME-sm90.ptx where the code for
sm_90 takes other instructions. No GPU is needed. Behind the arguments of the
kernel Triton passes two pointers to scratch memory, which may be null.
"""

import pathlib
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    v = tl.load(x + row + at, at < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row + at, e / tl.sum(e, 0), at < columns)


@triton.jit
def layer_norm(x, scale, bias, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0) * columns
    v = tl.load(x + row + at, inside, other=0.0)
    mean = tl.sum(v, 0) / columns
    centred = tl.where(inside, v - mean, 0.0)
    variance = tl.sum(centred * centred, 0) / columns
    y = centred / tl.sqrt(variance + 1e-5)
    y = y * tl.load(scale + at, inside) + tl.load(bias + at, inside)
    tl.store(out + row + at, y, inside)


@triton.jit
def row_sum(x, out, columns, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    row = tl.program_id(0) * columns
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row + at, at < columns, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def transpose(x, out, rows, columns, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (r[:, None] < rows) & (c[None, :] < columns)
    v = tl.load(x + r[:, None] * columns + c[None, :], inside)
    tl.store(out + c[:, None] * rows + r[None, :], tl.trans(v),
             (c[:, None] < columns) & (r[None, :] < rows))


@triton.jit
def cumulative_sum(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, at < n, other=0)
    tl.store(out + at, tl.cumsum(v, 0), at < n)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bins = tl.load(x + at, at < n, other=0) & 15
    tl.atomic_add(out + bins, 1, at < n)


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    v = tl.load(x + at, at < n, other=0.0)
    tl.store(out + at, tl.where(keep, v / (1 - p), 0.0), at < n)


@triton.jit
def matmul(a, b, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
           BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + start + k[None, :])
        right = tl.load(b + (start + k)[:, None] * N + n[None, :])
        total = tl.dot(left, right, total)
    tl.store(out + m[:, None] * N + n[None, :], total.to(tl.float16))


ELEMENTWISE = {"n": "i32", "BLOCK": "constexpr"}
KERNELS = [
    (vector_add, {"x": "*fp32", "y": "*fp32", "out": "*fp32", **ELEMENTWISE},
     {"BLOCK": 512}),
    (softmax, {"x": "*fp32", "out": "*fp32", "columns": "i32",
               "BLOCK": "constexpr"}, {"BLOCK": 256}),
    (layer_norm, {"x": "*fp32", "scale": "*fp32", "bias": "*fp32",
                  "out": "*fp32", "columns": "i32", "BLOCK": "constexpr"},
     {"BLOCK": 256}),
    (row_sum, {"x": "*fp32", "out": "*fp32", "columns": "i32",
               "BLOCK": "constexpr"}, {"BLOCK": 256}),
    (transpose, {"x": "*fp16", "out": "*fp16", "rows": "i32",
                 "columns": "i32", "BLOCK": "constexpr"}, {"BLOCK": 32}),
    (cumulative_sum, {"x": "*i32", "out": "*i32", **ELEMENTWISE},
     {"BLOCK": 512}),
    (histogram, {"x": "*i32", "out": "*i32", **ELEMENTWISE}, {"BLOCK": 256}),
    (dropout, {"x": "*fp32", "out": "*fp32", "n": "i32", "p": "fp32",
               "seed": "i32", "BLOCK": "constexpr"}, {"BLOCK": 256}),
    (matmul, {"a": "*fp16", "b": "*fp16", "out": "*fp16", "M": "i32",
              "N": "i32", "K": "i32", "BM": "constexpr", "BN": "constexpr",
              "BK": "constexpr"}, {"BM": 64, "BN": 64, "BK": 32}),
]


def strip(text):
    """Drops debug information and comments, which make files large."""
    text = re.sub(r"\n\s*\.section.*?\n\s*}", "", text, flags=re.S)
    lines = []
    for line in text.split("\n"):
        line = re.sub(r"//.*", "", line).strip()
        if line and not re.match(r"\.loc\b|\.file\b|\$L__(tmp|func)", line):
            lines.append(line)
    return "\n".join(lines) + "\n"


def main():
    here = pathlib.Path(__file__).parent
    for function, signature, constants in KERNELS:
        for chip in (80, 90):
            if chip == 90 and function is not matmul:
                continue
            # Pointers and sizes are multiples of 16, as in most programs.
            aligned = {(i,): [["tt.divisibility", 16]]
                       for i, (name, kind) in enumerate(signature.items())
                       if kind.startswith("*") or name in ("K", "N")}
            source = ASTSource(function, signature, constexprs=constants,
                               attrs=aligned)
            compiled = triton.compile(
                source, target=GPUTarget("cuda", chip, 32),
                options={"num_warps": 4, "num_stages": 3})
            name = function.__name__ + ("-sm90" if chip == 90 else "")
            (here / (name + ".ptx")).write_text(strip(compiled.asm["ptx"]))
            print(name, "shared", compiled.metadata.shared)


if __name__ == "__main__":
    main()
