# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small problems for the schedules of large ones.

A schedule that was chosen for a large problem is run on one of a few tiles and
a few steps, each with a rest, so that an emulator can do it.
"""

import dataclasses

from .cases import Case

# Blocks of a grid that walks tiles: few enough that each walks several. Those
# that share what is no whole round of them: so many that there is such.
_BLOCKS = 2
_STREAM_BLOCKS = {1: 4, 2: 10}  # by the blocks that load together


def _rest(size, largest):
    """A part of a tile, aligned as `size` is: copies want 16 bytes."""
    if size % 16:
        return size % 16
    return min(largest // 2, 48) // 16 * 16 or 16


def _beyond(size, tile, tiles):
    """So many tiles and a rest, at most `size`."""
    return min(size, tiles * tile + _rest(size, tile))


def shrink(case, schedule, times=1):
    """A case of the same kind with a few tiles of `schedule` in each
    direction, and `times` as many of them."""
    numbers = dict(case.numbers)
    rows, columns, depth = schedule.tiles()
    steps = 2 * dict(schedule.mma)["split"] + 1
    if "window" in numbers:
        return _shrink_convolution(case.family, numbers, rows, columns, depth,
                                   times)
    numbers["m"] = _beyond(numbers["m"], rows, 2 * times)
    if schedule.holds_rows() and numbers["n"] > columns:
        # Rows that the blocks of a grid have parts of are whole.
        numbers["n"] = _BLOCKS * columns
    else:
        numbers["n"] = _beyond(numbers["n"], columns, times)
    head = numbers.get("head", 1)
    numbers["n"] = -(-numbers["n"] // head) * head
    group = numbers.get("group", 1)
    grown = 1 if times == 1 else 2 * times
    k = min(numbers["k"],
            -(-steps * grown * depth // group) * group)
    if k < numbers["k"] and group == 1:
        k += _rest(numbers["k"], depth)
    numbers["k"] = k
    if "batch" in numbers:
        numbers["batch"] = min(numbers["batch"], 2)
    return Case.make(case.family, **numbers)


def _shrink_convolution(family, numbers, rows, columns, depth, times):
    stride, window = numbers.get("stride", 1), numbers["window"]
    size = max(window + 2, 7 * stride)
    places = ((min(numbers["size"], size) - 1) // stride + 1) ** 2
    numbers["size"] = min(numbers["size"], size * times)
    numbers["batch"] = min(numbers["batch"], -(-(2 * rows + 7) // places))
    if "filters" in numbers:
        numbers["filters"] = _beyond(numbers["filters"], columns, 1)
        numbers["channels"] = _beyond(
            numbers["channels"], depth, 1 if window > 1 else 3)
    return Case.make(family, **numbers)


def walk(schedule):
    """The schedule with a grid that is small, where it walks tiles."""
    fields = dict(schedule.mma or ())
    if fields.get("stream"):
        return schedule.with_(blocks=_STREAM_BLOCKS[fields["multicast"]])
    if fields.get("blocks"):
        return schedule.with_(blocks=_BLOCKS)
    return schedule


def kind(case, schedules):
    """What makes two cases the same apart from sizes."""
    words = [v for k, v in case.numbers if isinstance(v, str)]
    sizes = [v for k, v in case.numbers
             if k in ("window", "stride", "dilation", "groups", "group")]
    aligned = tuple(v % 16 == 0 for k, v in case.numbers
                    if k in ("m", "n", "k", "channels", "filters"))
    few = case["m"] if dict(case.numbers).get("m", 64) < 64 else None
    return (case.family, *words, *sizes, aligned, few,
            *(walk(s).text() for s in schedules))


@dataclasses.dataclass
class Kind:
    """`large` is the first case of its kind, `schedules` are what its kernels
    have and small cases get."""
    large: Case
    schedules: list

    def smalls(self):
        """Small cases, the smallest first: of some, which the compiler lays
        out anew, those too small are made in another way."""
        product = next((s for s in self.schedules if s.mma), None)
        if product is None:
            return [Case.make(self.large.family,
                              **{**dict(self.large.numbers), "batch": 1})]
        return [shrink(self.large, product, times) for times in (1, 2, 4, 8, 16)]
