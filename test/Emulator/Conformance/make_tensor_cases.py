#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes tensor.cases beside this file: boxes of all ranks, swizzles, element
types, element strides and corners, some chosen and some drawn at random."""

import pathlib
import random

SIZES = {"u8": 1, "u16": 2, "u32": 4, "s32": 4, "u64": 8, "s64": 8, "f16": 2,
         "f32": 4, "f64": 8, "bf16": 2, "f32.ftz": 4, "tf32": 4,
         "tf32.ftz": 4}
FLOATS = ["f16", "bf16", "f32", "f64", "f32.ftz", "tf32", "tf32.ftz"]
SPANS = {"none": 512, "32": 32, "64": 64, "128": 128}
LINES = ["# Written by make_tensor_cases.py.", "ptx tensor.ptx"]
RANDOM = random.Random(2026)


class Tensor:
    """A tensor and the map over it, without a box."""

    def __init__(self, type, dims, swizzle="none", pads=None, steps=None,
                 fill="zero"):
        self.type, self.dims, self.swizzle = type, dims, swizzle
        self.size = SIZES[type]
        self.steps = steps or [1] * len(dims)
        self.fill = fill
        self.strides, stride = [], dims[0] * self.size
        for i in range(1, len(dims)):
            stride = (stride + 15) // 16 * 16
            stride += 16 * (pads[i - 1] if pads else 0)
            self.strides.append(stride)
            stride *= dims[i]
        # A store fills up the last 16 bytes of a row.
        self.bytes = (dims[0] * self.size + 15) // 16 * 16 + sum(
            (d - 1) * s for d, s in zip(dims[1:], self.strides))

    def text(self, box):
        options = ""
        if self.strides:
            options += ":strides=" + ",".join(map(str, self.strides))
        if any(s != 1 for s in self.steps):
            options += ":element-strides=" + ",".join(map(str, self.steps))
        if self.swizzle != "none":
            options += ":swizzle=" + self.swizzle
        if self.fill != "zero":
            options += ":fill=" + self.fill
        dims = ",".join(map(str, self.dims))
        return f"{self.type}:{dims}:{box}{options}"


def begin(kernel, shared, map, data):
    LINES.extend([f"kernel {kernel}", "  block 128", f"  shared {shared}",
                  f"  arg map tmap data {map}", f"  arg data {data}"])


def coordinates(at):
    for i in range(5):
        LINES.append(f"  arg c{i} s32 {at[i] if i < len(at) else 0}")


def values(**values):
    for name, value in values.items():
        kind = "u16" if name.startswith("o") and name != "offset" else "u32"
        LINES.append(f"  arg {name} {kind} {value}")


def words_for(data, offset):
    """All that the box could reach, and some more."""
    return ((data + 1023) // 1024 * 1024 + offset + 128) // 4


def box_bytes(tensor, box):
    count = box[0]
    for b, s in list(zip(box, tensor.steps))[1:]:
        count *= (b + s - 1) // s
    return count * tensor.size


def extent(tensor, row, bytes):
    """The shared memory of a box with `row` elements in a row: narrow rows of
    a swizzled one leave gaps."""
    span = 0 if tensor.swizzle == "none" else int(tensor.swizzle)
    width = row * tensor.size
    return bytes // width * max(width, span)


def start(tensor, at):
    """Boxes start at a multiple of 16 bytes in dimension 0."""
    step = 16 // tensor.size
    return [at[0] // step * step] + list(at[1:])


def raw(tensor):
    return f"u32[{(tensor.bytes + 3) // 4}] random"


def load(tensor, box, at, offset=0, data=None):
    size = box_bytes(tensor, box)
    at = start(tensor, at)
    words = words_for(extent(tensor, box[0], size), offset)
    begin(f"load_{len(box)}d", 4 * words,
          tensor.text(",".join(map(str, box))), data or raw(tensor))
    LINES.append(f"  arg out u32[{words + 1}]")
    coordinates(at)
    values(bytes=size, offset=offset, words=words)


def im2col(tensor, lower, upper, channels, pixels, at, offsets, offset=0):
    size = channels * pixels * tensor.size
    at = start(tensor, at)
    words = words_for(extent(tensor, channels, size), offset)
    text = tensor.text("im2col") + f":channels={channels}:pixels={pixels}"
    text += ":lower=" + ",".join(map(str, lower))
    text += ":upper=" + ",".join(map(str, upper))
    begin(f"im2col_{len(at)}d", 4 * words, text, raw(tensor))
    LINES.append(f"  arg out u32[{words + 1}]")
    coordinates(at)
    o = (list(offsets) + [0, 0])[:3]
    values(o0=o[0], o1=o[1], o2=o[2], bytes=size, offset=offset, words=words)


def store(tensor, box, at, offset=0, kernel="store", data=None, source=None):
    at = start(tensor, at)
    words = words_for(extent(tensor, box[0], box_bytes(tensor, box)), offset)
    begin(f"{kernel}_{len(box)}d", 4 * words,
          tensor.text(",".join(map(str, box))), data or raw(tensor))
    LINES.append("  arg source " + (source or f"u32[{words}] random"))
    coordinates(at)
    values(offset=offset, words=words)


def store_im2col(tensor, lower, upper, channels, pixels, at):
    size = channels * pixels * tensor.size
    at = start(tensor, at)
    words = words_for(extent(tensor, channels, size), 0)
    text = tensor.text("im2col") + f":channels={channels}:pixels={pixels}"
    text += ":lower=" + ",".join(map(str, lower))
    text += ":upper=" + ",".join(map(str, upper))
    begin(f"store_im2col_{len(at)}d", 4 * words, text, raw(tensor))
    LINES.append(f"  arg source u32[{words}] random")
    coordinates(at)
    values(offset=0, words=words)


def note(text):
    LINES.append(f"\n# {text}")


def chosen():
    note("Every swizzle on every 128-byte line that a box can start at.")
    for swizzle in ["32", "64", "128"]:
        width = int(swizzle) // 2
        for offset in [0, 128, 256, 384, 512, 640, 768, 896]:
            load(Tensor("bf16", [width * 2, 40], swizzle), [width, 32], [8, 3],
                 offset)
    note("Rows that are narrower than the swizzle.")
    for swizzle, width in [("32", 4), ("64", 4), ("64", 8), ("64", 12),
                           ("128", 4), ("128", 8), ("128", 16), ("128", 20),
                           ("128", 28)]:
        load(Tensor("f32", [64, 24], swizzle), [width, 9], [4, 2])
    note("Coordinates before, across and beyond each edge.")
    for at in [[-3, 0], [0, -2], [-16, 0], [0, -8], [61, 0], [63, 9], [64, 0],
               [0, 10], [-3, -5], [62, 8], [-2147483648, 0],
               [2147483647, 2147483647]]:
        load(Tensor("f32", [64, 10]), [16, 8], at)
        load(Tensor("f32", [64, 10], "64"), [16, 8], at)
    note("Fill in each type, and what a copy does to the bits of a float.")
    for type in FLOATS:
        element = type.split(".")[0].replace("tf32", "f32")
        for fill in ["zero", "nan"]:
            count = 64 * 4
            load(Tensor(type, [60, 4], fill=fill, pads=[2]), [64, 6], [-2, -1],
                 data=f"{element}[{count * 2}] bits")
    note("Steps over elements; that of dimension 0 has no effect.")
    for steps in [[1, 2], [1, 3], [1, 8], [2, 1], [8, 5]]:
        load(Tensor("u16", [64, 40], steps=steps), [32, 20], [3, 1])
        load(Tensor("u16", [64, 40], "64", steps=steps), [32, 20], [0, 25])
    load(Tensor("u8", [32, 9, 9, 9], steps=[1, 2, 3, 4]), [16, 7, 7, 7],
         [3, -2, 1, 0])
    note("The largest boxes.")
    load(Tensor("u8", [300]), [256], [20])
    load(Tensor("u64", [256, 200]), [256, 100], [0, 50])
    load(Tensor("bf16", [64, 300], "128"), [64, 256], [0, 10])

    note("Images of 7 x 9, as for filters of 3 x 3 with and without padding.")
    for type, swizzle in [("f32", "none"), ("bf16", "64"), ("u8", "32")]:
        image = lambda steps=None: Tensor(type, [64, 9, 7, 4], swizzle,
                                          steps=steps)
        width = min(32, SPANS[swizzle] // SIZES[type])
        for offsets in [(0, 0), (1, 2), (2, 1)]:
            im2col(image(), [-1, -1], [-1, -1], width, 64, [0, -1, -1, 0],
                   offsets)
            im2col(image(), [0, 0], [-2, -2], width, 50, [16, 3, 2, 1], offsets)
            im2col(image([1, 2, 2, 1]), [-1, -1], [-1, -1], width, 40,
                   [0, 3, 1, 1], offsets)
    im2col(Tensor("f32", [64, 9, 7, 4]), [-1, -2], [1, 0], 16, 200,
           [-4, 5, -2, 2], (0, 3))
    im2col(Tensor("f32", [64, 9, 7, 4], fill="nan"), [-1, -1], [-1, -1], 32,
           256, [48, 0, 0, 3], (1, 1))
    im2col(Tensor("u16", [32, 30, 3]), [-2], [-2], 16, 50, [0, 5, 1], (3,))
    im2col(Tensor("u16", [32, 5, 6, 7, 3]), [-1, 0, -2], [-1, -2, 1], 16, 100,
           [0, 2, 3, 1, 0], (2, 0, 1))

    note("Reductions of every type that an operation has.")
    for op, types in [("add", ["u32", "s32", "u64", "f16", "bf16", "f32"]),
                      ("min", ["u32", "s32", "u64", "s64", "f16", "bf16"]),
                      ("max", ["u32", "s32", "u64", "s64", "f16", "bf16"]),
                      ("inc", ["u32"]), ("dec", ["u32"]),
                      ("and", ["u32", "u64"]), ("or", ["u32", "u64"]),
                      ("xor", ["u32", "u64"])]:
        for type in types:
            t = Tensor(type, [48, 12])
            count = words_for(box_bytes(t, [32, 8]), 0) * 4 // t.size
            fill = "uniform -100 100" if type in FLOATS else "bits"
            store(t, [32, 8], [20, 6], kernel=f"reduce_{op}",
                  data=f"{type}[{48 * 12}] {fill}",
                  source=f"{type}[{count}] {fill}")


def draw_tensor(rank):
    type = RANDOM.choice([t for t in SIZES if t not in ("tf32", "tf32.ftz")])
    swizzle = RANDOM.choice(list(SPANS))
    inner = RANDOM.randint(1, SPANS[swizzle] // 16) * 16 // SIZES[type]
    inner = min(inner, 256)
    dims = [RANDOM.randint(1, 2 * inner)]
    dims += [RANDOM.randint(1, 9) for _ in range(rank - 1)]
    pads = [RANDOM.choice([0, 0, 1, 3]) for _ in range(rank - 1)]
    steps = [1] + [RANDOM.choice([1, 1, 1, 2, 3, 5]) for _ in range(rank - 1)]
    fill = RANDOM.choice(["zero", "nan"]) if type in FLOATS else "zero"
    return Tensor(type, dims, swizzle, pads, steps, fill), inner


def drawn():
    note("Boxes drawn at random.")
    for rank in range(1, 6):
        for _ in range(14):
            tensor, inner = draw_tensor(rank)
            box = [inner] + [RANDOM.randint(1, 8 if rank < 5 else 5)
                             for _ in range(rank - 1)]
            at = [RANDOM.choice([0, RANDOM.randint(-b, d)])
                  for b, d in zip(box, tensor.dims)]
            load(tensor, box, at, RANDOM.randrange(8) * 128)
        for _ in range(6):
            tensor, inner = draw_tensor(rank)
            tensor.fill = "zero"
            box = [inner] + [RANDOM.randint(1, 8 if rank < 5 else 5)
                             for _ in range(rank - 1)]
            at = [RANDOM.choice([0, RANDOM.randint(0, d)])
                  for d in tensor.dims]
            store(tensor, box, at, RANDOM.randrange(8) * 128)
    note("Columns drawn at random.")
    for rank in range(3, 6):
        for n in range(14):
            tensor, inner = draw_tensor(rank)
            tensor.steps[-1] = 1
            spatial = range(rank - 2)
            is_store = n >= 10
            lower = [0 if is_store else RANDOM.randint(-3, 2) for _ in spatial]
            upper = [RANDOM.randint(lower[i] + 1 - tensor.dims[i + 1],
                                    0 if is_store else
                                    max(1, lower[i] + 1 - tensor.dims[i + 1]))
                     for i in spatial]
            at = [RANDOM.choice([0, RANDOM.randint(0, tensor.dims[0])])]
            for i in spatial:
                places = tensor.dims[i + 1] + upper[i] - lower[i]
                step = tensor.steps[i + 1]
                at.append(lower[i] +
                          RANDOM.randint(0, (places - 1) // step) * step)
            at.append(RANDOM.randint(0, tensor.dims[-1]))
            offsets = [RANDOM.randint(0, 3) for _ in spatial]
            pixels = RANDOM.randint(1, 60)
            if is_store:
                tensor.fill = "zero"
                store_im2col(tensor, lower, upper, inner, pixels, at)
            else:
                im2col(tensor, lower, upper, inner, pixels, at, offsets,
                       RANDOM.randrange(8) * 128)


chosen()
drawn()
out = pathlib.Path(__file__).with_name("tensor.cases")
out.write_text("\n".join(LINES) + "\n")
