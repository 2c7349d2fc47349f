# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws programs of random families and shapes, each a function of its name.

A program's name is SEED/FAMILY/NUMBER; the name and the limits of its size
alone decide what is drawn.
"""

import dataclasses
import math
import random

from .builder import BYTES, Builder, byte_count
from .families import (attention, conv, filter, layout, norm, pointwise, pool,
                       product, reduce, scan, softmax)

FAMILIES = {"reduce": reduce, "norm": norm, "softmax": softmax, "pool": pool,
            "scan": scan, "pointwise": pointwise, "layout": layout,
            "product": product, "conv": conv, "filter": filter,
            "attention": attention}
SECTOR = 32  # Bytes that memory delivers at least.


class Redraw(Exception):
    """What was drawn cannot be a program, or is beyond the limits."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """Bytes of all arguments and results together, and floating point
    operations of products."""
    min_bytes: int
    max_bytes: int
    max_flops: float


@dataclasses.dataclass
class Drawn:
    """A program and what is known of it without running it.

    `inputs` are (shape, type, draw, scale), `outputs` (shape, type). `again`
    lists (bytes, bytes of one group) of what a reduction has to see twice:
    it is read once where the chip holds a group of rows that are reduced
    together, in whole sectors. `terms` is the length of the longest sum, `unit`
    how large a result is that is the sum of so many random numbers: it may be
    0 by chance, its error is not.
    """
    name: str
    description: str
    mlir: str
    torch: str
    inputs: list
    outputs: list
    read_bytes: int
    write_bytes: int
    again: list
    flops: float
    flop_type: str
    terms: int
    unit: float

    def to_json(self):
        return dataclasses.asdict(self)

    @property
    def bytes(self):
        return self.read_bytes + self.write_bytes

    def floor_bytes(self, chip_bytes):
        """Bytes that have to move, on a chip that holds so many."""
        return self.bytes + sum(size for size, group in self.again
                                if group > chip_bytes)


class Draft(Builder):
    """A program while it is drawn: the builder, the random numbers, and notes
    for Drawn."""

    def __init__(self, rng, limits):
        super().__init__()
        self.rng, self.limits = rng, limits
        self.words, self.again = [], []
        self.flops, self.flop_type = 0.0, "f32"
        self.terms, self.unit = 1, 0.0

    def chance(self, share):
        return self.rng.random() < share

    def log_uniform(self, low, high):
        """An integer of [low, high], its logarithm evenly distributed."""
        if high <= low:
            return low
        number = math.exp(self.rng.uniform(math.log(low), math.log(high + 1)))
        return min(max(int(number), low), high)

    def dtype(self):
        return self.rng.choice(("f32", "bf16", "f16"))

    def size(self, number):
        """`number`, or a rounder one: half of the sizes are as they come."""
        way = self.rng.random()
        if way < 0.25 and number > 1:
            return 1 << round(math.log2(number))
        if way < 0.5 and number > 8:
            return number // 8 * 8
        return number

    def elements(self, dtype, tensors=2):
        """How many elements each of `tensors` large tensors has."""
        low = max(self.limits.min_bytes // (tensors * BYTES[dtype]), 1)
        high = max(self.limits.max_bytes // (tensors * BYTES[dtype]), 1)
        return self.log_uniform(low, high)

    def shape(self, rank, count):
        """`rank` sizes of a product of about `count`: the logarithm is cut at
        random places."""
        cuts = sorted(self.rng.random() for _ in range(rank - 1))
        shares = [b - a for a, b in zip([0.0, *cuts], [*cuts, 1.0])]
        return [self.size(max(round(count ** share), 1)) for share in shares]

    def drawn_shape(self, dtype, ranks=(1, 5), tensors=2):
        return self.shape(self.rng.randint(*ranks),
                          self.elements(dtype, tensors))

    def require(self, condition):
        if not condition:
            raise Redraw

    def note(self, *words):
        self.words += map(str, words)

    def seen_twice(self, x, dims):
        """A reduction of `x` along `dims` whose result is combined with every
        element of x again."""
        inner = 1
        for axis in reversed(range(len(x.shape))):
            if axis in dims and x.shape[axis] > 1:
                break
            inner *= 1 if axis in dims else x.shape[axis]
        width = max(min(SECTOR, inner * BYTES[x.dtype]), BYTES[x.dtype])
        group = math.prod(x.shape[axis] for axis in dims) * width
        self.again.append((byte_count(x.shape, x.dtype), group))

    def finish(self, name):
        return Drawn(
            name, " ".join(self.words), self.text(), self.source(),
            [dataclasses.astuple(spec) for spec in self.inputs],
            [(v.shape, v.dtype) for v in self.results], self.read_bytes(),
            self.write_bytes(), self.again, self.flops, self.flop_type,
            self.terms, self.unit)


def parse_name(name):
    """(seed, family, number) of a program's name; ValueError says what is
    wrong with it."""
    seed, _, rest = name.partition("/")
    family, _, number = rest.partition("/")
    if not seed or family not in FAMILIES or not number.isdecimal():
        raise ValueError(f"{name!r} is no SEED/FAMILY/NUMBER")
    return seed, family, int(number)


def draw(name, limits):
    """The program of a name; RuntimeError if nothing fits the limits."""
    seed, family, number = parse_name(name)
    rng = random.Random(f"{seed}/{family}/{number}")
    for _ in range(2000):
        draft = Draft(rng, limits)
        try:
            FAMILIES[family].draw(draft)
        except Redraw:
            continue
        drawn = draft.finish(f"{seed}/{family}/{number}")
        moved = sum(byte_count(s, t) for s, t, *_ in drawn.inputs)
        moved += drawn.write_bytes
        if (limits.min_bytes <= moved <= limits.max_bytes and
                drawn.flops <= limits.max_flops):
            return drawn
    raise RuntimeError(f"{name}: nothing that was drawn has between "
                       f"{limits.min_bytes} and {limits.max_bytes} bytes")
