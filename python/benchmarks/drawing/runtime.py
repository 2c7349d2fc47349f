# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the PyTorch text of a drawn program: as peer, and as reference.

The text names element types and a few functions; what they stand for makes it

    peer       what a user of PyTorch writes
    compiled   the same for torch.compile, with its own scan
    exact      as the peer, dropping what the program drops
    reference  as exact, every float a float64
"""

import math
import zlib

import torch
import torch.nn.functional as F

from outputs import poison

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16,
         "i1": torch.bool, "i32": torch.int32, "i64": torch.int64}
CHUNK = 1 << 26  # Elements that are compared at a time.


def load(path, kind):
    """The function of a file, of one of the kinds above."""
    names = {"torch": torch, "F": F, "recurrence": recurrence,
             "dropout": dropout if kind in ("exact", "reference") else
             lambda x, seed, chance, number: F.dropout(x, chance),
             **{name: TYPES[name] for name in ("f32", "bf16", "f16")}}
    if kind == "compiled":
        names["recurrence"] = fused_recurrence
    if kind == "reference":
        names.update({name: torch.float64 for name in ("f32", "bf16", "f16")})
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["program"]


def draw_inputs(row, device):
    """Random arguments, a function of the program's name."""
    torch.manual_seed(zlib.crc32(row["name"].encode()))
    return [_draw(*spec, device) for spec in row["inputs"]]


def _draw(shape, dtype, draw, scale, device):
    if draw == "seed":
        return int(torch.randint(1 << 40, ()))
    if draw == "labels":
        return torch.randint(int(scale), shape, device=device,
                             dtype=TYPES[dtype])
    if draw == "mask":
        return torch.rand(shape, device=device) < 0.8
    values = torch.randn(shape, device=device, dtype=torch.float32)
    if scale != 1.0:
        values *= scale
    return values.to(TYPES[dtype])


def widened(inputs):
    return [x.double() if torch.is_tensor(x) and x.is_floating_point() else x
            for x in inputs]


def poisoned(row, device):
    """Tensors for the results, filled with what no right result contains."""
    results = []
    for shape, dtype in row["outputs"]:
        out = torch.empty(shape, dtype=TYPES[dtype], device=device)
        poison(out)
        results.append(out)
    return results


def same_bits(x, y):
    return torch.equal(x.reshape(-1).view(torch.uint8),
                       y.reshape(-1).view(torch.uint8))


def compare(row, outputs, exact, references):
    """(whether every element is right, a note).

    The bound of an output is twice PyTorch's own largest error, four roundings
    of the output's type at the reference's scale, and as many of f32 as the
    root of the longest sum has terms.
    """
    worst = 0.0
    for out, other, reference in zip(outputs, exact, references, strict=True):
        if out.shape != reference.shape:
            return False, f"shape {tuple(out.shape)}"
        if not out.is_floating_point():
            wrong = int((out != reference).sum())
            if wrong:
                return False, f"{wrong} of {out.numel()} integers differ"
            continue
        error, theirs, square = _differences(out, other, reference)
        scale = max(math.sqrt(square / max(out.numel(), 1)), row["unit"])
        bound = (2 * theirs + 4 * torch.finfo(out.dtype).eps * scale +
                 4 * math.sqrt(row["terms"]) * torch.finfo(torch.float32).eps *
                 scale)
        if not error <= bound:  # NaN is not.
            return False, f"error {error:.3g}, allowed {bound:.3g}"
        worst = max(worst, error / bound if bound else 0.0)
    return True, f"error at {worst:.2f} of its bound"


def _differences(out, other, reference):
    """Largest errors of both, and the sum of the squares of the reference."""
    flat = [t.reshape(-1) for t in (out, other, reference)]
    errors, theirs, square = [0.0], [0.0], 0.0
    for at in range(0, flat[0].numel(), CHUNK):
        mine, eager, right = (t[at:at + CHUNK].double() for t in flat)
        errors.append((mine - right).abs().max().item())
        theirs.append((eager - right).abs().max().item())
        square += right.square().sum().item()
    # max() of a list loses NaN unless it comes first.
    return tuple(math.nan if any(map(math.isnan, each)) else max(each)
                 for each in (errors, theirs)) + (square,)


# What PyTorch has no function for.


def recurrence(a, b, dim, reverse):
    """h = a h + b along a dimension, from 0: two elements at a time."""
    if reverse:
        return recurrence(a.flip(dim), b.flip(dim), dim, False).flip(dim)
    return _combined(a.movedim(dim, 0), b.movedim(dim, 0))[1].movedim(0, dim)


def _combined(a, b):
    if len(a) < 2:
        return a, b
    even_a, odd_a = a[:-1:2], a[1::2]
    even_b, odd_b = b[:-1:2], b[1::2]
    pair_a, pair_b = _combined(even_a * odd_a, odd_a * even_b + odd_b)
    out_a, out_b = torch.empty_like(a), torch.empty_like(b)
    out_a[1::2], out_b[1::2] = pair_a, pair_b
    out_a[0], out_b[0] = a[0], b[0]
    rest = (len(a) - 1) // 2
    out_a[2::2] = pair_a[:rest] * a[2::2]
    out_b[2::2] = a[2::2] * pair_b[:rest] + b[2::2]
    return out_a, out_b


def fused_recurrence(a, b, dim, reverse):
    """The same by the scan of torch.compile."""
    from torch._higher_order_ops.associative_scan import associative_scan
    return associative_scan(
        lambda x, y: (x[0] * y[0], y[0] * x[1] + y[1]), (a, b), dim,
        reverse=reverse, combine_mode="pointwise")[1]


def dropout(x, seed, chance, number):
    """fusion.dropout: Philox4x32-7 by the element's index."""
    mask = (1 << 32) - 1
    draws = torch.arange((x.numel() + 7) // 8, device=x.device)
    words = [draws & mask, draws >> 32, torch.full_like(draws, number & mask),
             torch.full_like(draws, number >> 32 & mask)]
    key = [seed & mask, seed >> 32 & mask]
    for _ in range(7):
        high, low = _product(0xD2511F53, words[0])
        other, least = _product(0xCD9E8D57, words[2])
        words = [other ^ words[1] ^ key[0], least, high ^ words[3] ^ key[1],
                 low]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    halves = torch.stack([part for word in words
                          for part in (word >> 16, word & 0xFFFF)], 1)
    drawn = halves << 8 | halves.roll(-1, 1) >> 8
    drawn = drawn.reshape(-1)[:x.numel()].reshape(x.shape)
    kept = drawn >= math.ceil(chance * (1 << 24))
    return torch.where(kept, x / (1 - chance), 0)


def _product(factor, words):
    """High and low halves of products of 32-bit numbers."""
    low = (words & 0xFFFF) * factor
    high = (words >> 16) * factor + (low >> 16)
    return high >> 16, (high & 0xFFFF) << 16 | low & 0xFFFF
