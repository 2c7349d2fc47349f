#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls the package with arguments that no sane caller passes.

    hostile.py [--seed=N] [--count=N | --seconds=S] [--packages=FOLDER]

Wrong types, shapes, strides, sizes, None, objects that are closed or lie about
themselves, several threads. Every call returns, and its result is right, or it
raises an exception of Python; the process lives. The last line says how many
calls there were and how they ended. With --packages, what runs are the packages
of that folder, and the compiler is not needed.

A call that kills the process leaves its number in --log, so that
`--seed=N --first=NUMBER --count=1` makes it again.
"""

import argparse
import collections
import ctypes
import pathlib
import random
import sys
import threading
import time

import numpy as np

import fusion_compiler as fusion
from fusion_compiler import abi, devices

try:
    import torch
except ImportError:
    torch = None

PROGRAM = """
func.func @scale(%x: tensor<?x8xf32> {fusion.dims = ["rows", "_"]},
                 %y: tensor<?x8xf32> {fusion.dims = ["rows", "_"]})
    -> tensor<?x8xf32> {
  %sum = arith.addf %x, %y : tensor<?x8xf32>
  return %sum : tensor<?x8xf32>
}
"""

# What is allowed to come out of a call. MemoryError is numpy's own answer to
# arrays that nobody can hold.
EXPECTED = (fusion.FusionError, TypeError, ValueError, KeyError, OverflowError,
            MemoryError, AttributeError, IndexError, UnicodeError,
            FileNotFoundError, IsADirectoryError, PermissionError, OSError,
            ZeroDivisionError, NotImplementedError, ctypes.ArgumentError)


class Liar:
    """Says that it is an array, and is none."""

    def __init__(self, draw):
        self.draw = draw

    shape = property(lambda self: self.draw.choice(
        [(3, 8), (-1, 8), (1 << 62, 8), None, ("a", 8), (3.5, 8)]))
    dtype = np.dtype(np.float32)
    nbytes = 96

    def __array__(self, dtype=None, copy=None):
        return self.draw.choice([np.zeros((3, 8), np.float32), None, 7])[:]

    def __len__(self):
        return self.draw.choice([-1, 3, 1 << 40])


class Angry:
    """Raises whatever it is asked."""

    def __getattr__(self, name):
        raise ZeroDivisionError(name)

    def __array__(self, dtype=None, copy=None):
        raise ZeroDivisionError("__array__")


def draw_array(draw):
    """Something that is or looks like an array."""
    shape = draw.choice([(3, 8), (3, 8), (3, 8), (0, 8), (8,), (), (3, 9),
                         (1, 1, 8), (3,) * 20, (7, 8)])
    if len(shape) > 8:
        return np.zeros((1,) * len(shape), np.float32)
    kind = draw.randrange(16)
    base = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    if kind < 4:
        return base.astype(np.float32)
    if kind == 4:
        return base.astype(draw.choice(
            ["f2", "f8", "i1", "i4", "i8", "u2", "?", "c8", "O", "U3", "M8[s]",
             ">f4", "S4", "V4"]))
    if kind == 5:  # no memory of its own, each element the same
        return np.broadcast_to(np.float32(1), (draw.choice([3, 1 << 20]), 8))
    if kind == 6:  # strides that go back, skip, or are zero
        big = np.ones((40, 40), np.float32)
        return big[draw.choice([slice(3), slice(6, 0, -2), slice(0, 30, 10)]),
                   draw.choice([slice(8), slice(8, 0, -1), slice(0, 16, 2)])]
    if kind == 7:  # not aligned
        return np.frombuffer(bytes(97), np.uint8)[1:].view(np.float32).reshape(
            3, 8)
    if kind == 8:
        array = np.ones((3, 8), np.float32)
        array.flags.writeable = False
        return array
    if kind == 9:
        return np.lib.stride_tricks.as_strided(
            np.ones(8, np.float32), (draw.choice([3, 100000]), 8), (0, 4))
    if kind == 10:
        return draw.choice([None, 3, 3.5, "text", b"bytes", [], {}, object(),
                            float("nan"), 1 << 80, [[1.0] * 8] * 3, range(8),
                            fusion, lambda: 0, memoryview(bytes(96)), ...])
    if kind == 11:
        return draw.choice([Liar(draw), Angry()])
    if kind == 12:
        return np.ma.masked_array(base.astype(np.float32))
    if kind == 13:
        return np.empty((3, 8), np.float32)[:, :]
    if kind == 14:
        return [[float(i) for i in range(8)] for _ in range(3)]
    return np.full(shape, draw.choice([np.nan, np.inf, 1e38]), np.float32)


def draw_tensor(draw):
    """A tensor of PyTorch, or something that stands beside one."""
    x = torch.ones(draw.choice([(3, 8), (3, 8), (3, 8), (0, 8), (8,), (),
                                (3, 9), (7, 8)]))
    kind = draw.randrange(12)
    if kind == 0:
        return x.to(draw.choice([torch.float64, torch.bfloat16, torch.int32,
                                 torch.complex64, torch.bool]))
    if kind == 1:
        return x.to(draw.choice(["meta", "cpu"]))
    if kind == 2:
        return draw.choice([x.to_sparse(), x.t(), torch._neg_view(x),
                            x.requires_grad_(), torch.nn.Parameter(x)])
    if kind == 3:
        return torch.ones(1).expand(draw.choice([3, 1 << 20]), 8)
    if kind == 4:
        return torch.ones(40)[draw.choice([1, 4]):][:24].view(3, 8)
    if kind == 5:
        return draw_array(draw)
    if kind == 6:
        return x.as_subclass(type("Own", (torch.Tensor,), {}))
    return x


def draw_text(draw):
    """Something that is or looks like a program."""
    text = PROGRAM
    kind = draw.randrange(8)
    if kind == 0:
        return draw.choice([None, "", b"", 5, "\0", "\ud800", "func.func",
                            b"\xff\xfe", PROGRAM.encode(), [PROGRAM],
                            "module {}", "x" * 100000, "(" * 100000])
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(text))
        text = draw.choice([text[:at], text[:at] + chr(draw.randrange(256)) +
                            text[at + 1:], text[:at] + text[at + 5:],
                            text[:at] + text[at - 9:at] + text[at:]]) or "{"
    return text


def alter(draw, data):
    """Bytes of a package, some of them altered."""
    data = bytearray(data)
    for _ in range(draw.randrange(1, 5)):
        data[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(data[:draw.choice([len(data), len(data), 10, 64, 100])])


class Driver:
    """Draws calls; what they share."""

    def __init__(self, packages):
        self.packages = packages
        self.can_compile = not packages
        if not packages:
            self.packages = [fusion.compile(PROGRAM, target="sm_90a",
                                            device="emulator")]
        self.calls = [self.run, self.run, self.run, self.figures, self.out,
                      self.load, self.lookup, self.device, self.memory,
                      self.scalars, self.threads, self.kernels]
        if self.can_compile:
            self.calls += [self.compile, self.compile_options]
        if torch:
            self.calls += [self.tensors, self.tensors, self.launcher]

    def any_package(self, draw):
        return draw.choice(self.packages)

    def arguments(self, draw):
        return [draw_array(draw) for _ in range(draw.choice([2, 2, 2, 0, 1, 5]))]

    def run(self, draw):
        arguments = self.arguments(draw)
        package = self.any_package(draw)
        result = package(*arguments)
        if self.can_compile and isinstance(arguments[0], np.ndarray):
            expected = np.asarray(arguments[0]) + np.asarray(arguments[1])
            np.testing.assert_array_equal(result, expected)

    def check_tensors(self, arguments, result):
        if self.can_compile and all(isinstance(a, torch.Tensor)
                                    for a in arguments):
            assert torch.equal(result, arguments[0] + arguments[1])

    def tensors(self, draw):
        arguments = [draw_tensor(draw)
                     for _ in range(draw.choice([2, 2, 2, 2, 1]))]
        out = draw.choice([None, None, None, draw_tensor(draw),
                           [draw_tensor(draw)]])
        result = self.any_package(draw)(*arguments, out=out)
        self.check_tensors(arguments, result)

    def launcher(self, draw):
        entry = next(iter(self.any_package(draw).on().entries.values()))
        launch = entry.launcher(*draw.choice([
            (), (), (None, [draw.choice([(0, 1), (1, 0), (0, 0), 5, None])]),
            ([(1, 0), None], None), (3,), ([None], None)]), **draw.choice([
                {}, {}, {"released": (True, True)}, {"released": [1, 0]},
                {"released": (True, True), "least_gain": 1 << 40},
                {"released": (True,)}, {"released": 5},
                {"released": (True, True), "least_gain": "x"}]))
        arguments = [draw_tensor(draw) for _ in range(2)]
        held = list(arguments)
        given = draw.choice([arguments, arguments, tuple(arguments), 5, [],
                             iter(arguments)])
        results = launch(given)
        if given is arguments and results[0].shape == held[0].shape:
            self.check_tensors(held, results[0])

    def figures(self, draw):
        self.any_package(draw).figures(*self.arguments(draw))

    def out(self, draw):
        out = draw.choice([draw_array(draw), (draw_array(draw),), [], (None,),
                           [draw_array(draw)] * 3])
        self.any_package(draw)(*self.arguments(draw), out=out)

    def load(self, draw):
        data = self.any_package(draw).data
        made = draw.choice([alter(draw, data), b"", data[:64], bytearray(data),
                            5, None, "text", [1, 2]])
        package = fusion.Package(made, draw.choice(["emulator", "abacus", 7]))
        x = np.ones((3, 8), np.float32)
        package(x, x)

    def lookup(self, draw):
        entry = self.any_package(draw)[draw.choice(
            ["scale", "", None, 3, "x" * 5000, "\0", ("scale",), "main"])]
        entry(*self.arguments(draw))

    def device(self, draw):
        fusion.Device.open(draw.choice(
            ["emulator", "cuda:99999", "cuda:-1", "cuda:", "", "\0", "é",
             "emulator\0x", "cuda:4294967296"]))

    def memory(self, draw):
        device = fusion.Device.open("emulator")
        size = draw.choice([0, 1, 256, 1 << 20, 1 << 62, (1 << 64) - 1, -1,
                            1 << 70, "x"])
        memory = devices.Memory(device, size, draw.choice(["m", None, "é"]))
        array = np.zeros(draw.choice([0, 1, 64, 1 << 16]), np.float32)
        draw.choice([memory.copy_from, memory.copy_to])(array)
        memory.free()
        draw.choice([memory.free, lambda: memory.copy_from(array)])()

    def scalars(self, draw):
        from fusion_compiler.entry import TensorSpec, _scalar
        spec = TensorSpec("s", draw.choice(abi.DTYPES), (), True)
        _scalar(draw.choice([1, -1, 1 << 63, 1 << 200, 1.5, float("nan"), None,
                             "x", True, np.float16(2), np.zeros(3), 1j,
                             np.uint64(1 << 63), b"x"]), spec, "s")

    def threads(self, draw):
        package, seeds = self.any_package(draw), [draw.random() for _ in "abcd"]

        def work(seed):
            own = random.Random(seed)
            for _ in range(3):
                try:
                    package(*self.arguments(own))
                except EXPECTED:
                    pass

        workers = [threading.Thread(target=work, args=(s,)) for s in seeds]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def kernels(self, draw):
        package = self.any_package(draw)
        return draw.choice([lambda: package.kernels, lambda: package.ledger,
                            lambda: repr(package), lambda: package.target,
                            lambda: package.on(draw.choice([None, "abacus"]))])()

    def compile(self, draw):
        fusion.compile(draw_text(draw), target="sm_90a", device="emulator")

    def compile_options(self, draw):
        fusion.compile(
            PROGRAM,
            target=draw.choice(["sm_90a", "sm_1", "", None, "\0", "é", 5]),
            device=draw.choice(["emulator", "abacus", None]),
            file_name=draw.choice([None, "", "x" * 5000, "\n", 5, "é\0"]),
            fast_numerics=draw.choice([True, False, None, 7]))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--packages", type=pathlib.Path)
    parser.add_argument("--log", type=pathlib.Path)
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse_arguments(arguments)
    packages = [fusion.Package(path.read_bytes(), "emulator")
                for path in sorted(options.packages.iterdir())
                ] if options.packages else []
    driver = Driver(packages)
    if options.count is None and options.seconds is None:
        options.count = 1000
    ends = collections.Counter()
    end = time.monotonic() + (options.seconds or float("inf"))
    number = options.first
    while time.monotonic() < end and (
            options.count is None or number < options.first + options.count):
        draw = random.Random(f"{options.seed}/{number}")
        call = draw.choice(driver.calls)
        if options.log:
            options.log.write_text(f"{number} {call.__name__}\n")
        try:
            call(draw)
            ends["returned"] += 1
        except EXPECTED as error:
            ends[type(error).__name__] += 1
        except BaseException:
            print(f"call {number} ({call.__name__}) of seed {options.seed}:",
                  file=sys.stderr)
            raise
        number += 1
    print(f"{number - options.first} calls:",
          ", ".join(f"{count} {name}" for name, count in ends.most_common()))


if __name__ == "__main__":
    main()
