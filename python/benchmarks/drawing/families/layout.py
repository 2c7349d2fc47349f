# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Transposes, reshapes, slices, concatenations and pads, with arithmetic."""

import math

from ..builder import word
from . import common


def draw(b):
    dtype = b.dtype()
    shape = b.drawn_shape(dtype)
    value = b.tensor(shape, dtype)
    b.note(value.type[6:])
    moved = 0
    for _ in range(b.rng.randint(1, 4)):
        step = b.rng.choice(STEPS)
        value, counts = step(b, value)
        moved += counts
    # Something has to be moved: a reshape alone is the same bytes.
    b.require(moved)
    b.give(b.say(value, f"{word(value)}.clone("
                        "memory_format=torch.contiguous_format)",
                 b.span(value)))


def _transpose(b, x):
    order = list(range(len(x.shape)))
    b.rng.shuffle(order)
    large = [i for i in order if x.shape[i] > 1]
    b.note(f"permute {order}")
    value = b.say(b.transpose(x, order), f"{word(x)}.permute({order})",
                  b.span(x))
    return value, large != sorted(large)


def _reshape(b, x):
    """Joins two neighbouring dimensions, or splits one."""
    rank = len(x.shape)
    if rank > 1 and (rank > 4 or b.chance(0.5)):
        at = b.rng.randrange(rank - 1)
        groups = [[i] for i in range(at)] + [[at, at + 1]]
        groups += [[i] for i in range(at + 2, rank)]
        shape = (*x.shape[:at], x.shape[at] * x.shape[at + 1],
                 *x.shape[at + 2:])
        out = f"tensor<{'x'.join(map(str, (*shape, x.dtype)))}>"
        value = b._op(f"tensor.collapse_shape {x.name} {groups} : {x.type} "
                      f"into {out}", shape, x.dtype)
    else:
        at = b.rng.randrange(rank)
        size = x.shape[at]
        factors = [f for f in range(2, min(size, 512)) if size % f == 0]
        b.require(factors and rank < 6)
        inner = b.rng.choice(factors)
        groups = [[i] for i in range(at)] + [[at, at + 1]]
        groups += [[i + 1] for i in range(at + 1, rank)]
        shape = (*x.shape[:at], size // inner, inner, *x.shape[at + 1:])
        value = b.expand(x, groups, shape)
    b.note(f"reshape {list(shape)}")
    return b.say(value, f"{word(x)}.reshape({list(shape)})", b.span(x)), False


def _slice(b, x):
    """A part of one or two dimensions, now and then with a step."""
    rank = len(x.shape)
    offsets, sizes, steps = [0] * rank, list(x.shape), [1] * rank
    for at in b.rng.sample(range(rank), b.rng.randint(1, min(rank, 2))):
        step = b.rng.choice((1, 1, 1, 2, 3))
        offsets[at] = b.rng.randint(0, x.shape[at] // 2)
        room = (x.shape[at] - offsets[at] + step - 1) // step
        b.require(room)
        sizes[at], steps[at] = b.rng.randint((room + 1) // 2, room), step
    out = f"tensor<{'x'.join(map(str, (*sizes, x.dtype)))}>"
    index = ", ".join(f"{o}:{o + (n - 1) * s + 1}:{s}"
                      for o, n, s in zip(offsets, sizes, steps))
    b.note(f"slice [{index}]")
    b.slice_bytes(x, sizes, steps)
    value = b.both(f"tensor.extract_slice {x.name}{offsets} {sizes} {steps} : "
                   f"{x.type} to {out}", sizes, x.dtype, f"{word(x)}[{index}]",
                   b.span(x))
    return value, math.prod(sizes) < math.prod(x.shape)


def _concat(b, x):
    """With another argument, in either order."""
    at = b.rng.randrange(len(x.shape))
    shape = list(x.shape)
    shape[at] = b.log_uniform(1, 2 * shape[at])
    y = b.tensor(shape, x.dtype)
    parts = [x, y] if b.chance(0.5) else [y, x]
    shape[at] += x.shape[at]
    out = f"tensor<{'x'.join(map(str, (*shape, x.dtype)))}>"
    b.note(f"concat {at} {list(y.shape)}")
    return b.both(
        f"tensor.concat dim({at}) {', '.join(p.name for p in parts)} : "
        f"({', '.join(p.type for p in parts)}) -> {out}", shape, x.dtype,
        f"torch.cat(({', '.join(map(word, parts))}), {at})", b.span(x)), True


def _pad(b, x):
    rank = len(x.shape)
    low, high = [0] * rank, [0] * rank
    for at in b.rng.sample(range(rank), b.rng.randint(1, min(rank, 2))):
        low[at], high[at] = b.rng.randint(0, 3), b.rng.randint(0, 5)
    b.require(any(low) or any(high))
    b.note(f"pad {low} {high}")
    pairs = [n for i in reversed(range(rank)) for n in (low[i], high[i])]
    return b.say(b.pad(x, low, high), f"F.pad({word(x)}, {pairs})",
                 b.span(x)), True


def _arithmetic(b, x):
    return common.before(b, common.activation(b, x)), True


STEPS = (_transpose, _transpose, _transpose, _reshape, _slice, _concat, _pad,
         _arithmetic)
