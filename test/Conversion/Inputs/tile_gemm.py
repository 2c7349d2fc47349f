#!/usr/bin/env python3
#===- tile_gemm.py - A matrix product written as a tile program ------------===#
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
#
# Writes a tile program with rings, roles and products in flight, lowers it to
# PTX, and runs it on the emulator with integers in place of floats (payload
# mode), so that the result is compared exactly with a product computed here.
# Both extremes of asynchrony are run. ptxas, where there is one, must assemble
# the kernel without spills and without a remark about wgmma.
#
# The layouts are written here bit by bit, from the PTX manual, and not taken
# from the compiler.
#
#===------------------------------------------------------------------------===#

import argparse
import os
import re
import shutil
import subprocess
import sys

KINDS = {
    # kind: element, accumulator, bytes
    "bf16": ("bf16", "f32", 2),
    "f16": ("f16", "f32", 2),
    "tf32": ("f32", "f32", 4),
    "s8": ("i8", "i32", 1),
    "e4m3": ("f8E4M3FN", "f32", 1),
    "e5m2": ("f8E5M2", "f32", 1),
}


def log2(number):
    return number.bit_length() - 1


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", default="bf16", choices=KINDS)
    parser.add_argument("--tile", default="128x128x64")
    parser.add_argument("--depth", type=int, default=256)
    parser.add_argument("--grid", default="1x1", help="blocks along M and N")
    parser.add_argument("--warps", type=int, default=8)
    parser.add_argument("--stages", type=int, default=4)
    parser.add_argument("--a", default="k", choices=["k", "m", "registers", "stored"])
    parser.add_argument("--b", default="k", choices=["k", "n", "registers"])
    parser.add_argument("--span", type=int, default=128,
                        help="bytes of the swizzle")
    parser.add_argument("--swapped", action="store_true")
    parser.add_argument("--pending", type=int, default=0, choices=[0, 1])
    parser.add_argument("--store", default="plain", choices=["plain", "async"])
    parser.add_argument("--box-rows", type=int, default=64,
                        help="rows of one copy of the result")
    parser.add_argument("--columns", type=int, default=0,
                        help="columns of the accumulator stored at once")
    parser.add_argument("--out", default="acc", choices=["acc", "bf16"],
                        help="element type of the result")
    parser.add_argument("--cluster", type=int, default=1,
                        help="blocks that share the depth")
    parser.add_argument("--share", type=int, default=1, choices=[0, 1],
                        help="dimension along which they share the result")
    parser.add_argument("--dots", type=int, default=1, choices=[1, 2],
                        help="accumulators in flight, which are added up")
    parser.add_argument("--index-bits", type=int, default=32)
    parser.add_argument("--registers", action="store_true",
                        help="move registers between the roles")
    parser.add_argument("--emit", action="store_true",
                        help="print the program and stop")
    parser.add_argument("--keep", help="folder for the files")
    parser.add_argument("--no-run", action="store_true")
    return parser.parse_args()


class Gemm:
    def __init__(self, options):
        self.o = options
        self.element, self.acc, self.bytes = KINDS[options.kind]
        self.out, self.out_bytes = (self.acc, 4)
        if options.out != "acc":
            self.out, self.out_bytes = options.out, 2
        self.bm, self.bn, self.bk = map(int, options.tile.split("x"))
        self.gm, self.gn = map(int, options.grid.split("x"))
        self.m, self.n, self.k = (self.bm * self.gm, self.bn * self.gn,
                                  options.depth)
        self.steps = self.k // self.bk // options.cluster

    # Layouts.

    def swizzle(self, offset, span):
        mask = span // 16 - 1
        return offset ^ ((offset >> 3) & (mask << 4))

    def panels(self, rows, columns, span, size):
        """Byte offsets of the bits of (row, column) of a tile in panels of one
        span, as the copy engine writes them."""
        columns_in_span = log2(span // size)
        column_bits = [size << i if i < columns_in_span
                       else span * rows << (i - columns_in_span)
                       for i in range(log2(columns))]
        row_bits = [span << i for i in range(log2(rows))]
        return ([self.swizzle(b, span) for b in row_bits],
                [self.swizzle(b, span) for b in column_bits])

    def buffer(self, rows, columns, transposed=False, size=None, element=None):
        """Type of a buffer [rows, columns]; `transposed`: rows contiguous."""
        size = size or self.bytes
        span = self.o.span
        if transposed:
            column_bits, row_bits = self.panels(columns, rows, span, size)
        else:
            row_bits, column_bits = self.panels(rows, columns, span, size)
        bits = ", ".join("[" + ",".join(map(str, b)) + "]"
                         for b in (row_bits, column_bits))
        return (f'!fusion_tile.buffer<{rows}x{columns}x{element or self.element}, '
                f'#fusion_tile.shared_layout<"{{bytes={size}, align={8 * span}, '
                f'offsets=[{bits}]}}">>')

    def layout(self, regs, lanes, warps, shape):
        text = lambda bits: "[" + ",".join(f"[{a},{b}]" for a, b in bits) + "]"
        return (f'#fusion_tile.layout<"{{reg={text(regs)}, lane={text(lanes)}, '
                f'warp={text(warps)}, shape=[{shape[0]},{shape[1]}]}}">')

    def groups(self, rows):
        return min(self.o.warps // 4, rows // 64)

    def accumulator(self, columns=None):
        """Layout of the accumulator, or of `columns` columns of it."""
        rows, cols = (self.bn, self.bm) if self.o.swapped else (self.bm,
                                                                 self.bn)
        along = self.groups(rows)
        others = self.o.warps // 4 // along
        own = cols // others
        regs = [(0, 1), (8, 0)]
        regs += [(0, 1 << i) for i in range(3, log2(min(own, 256)))]
        warps = [(16, 0), (32, 0)]
        warps += [(64 << i, 0) for i in range(log2(along))]
        warps += [(0, own << i) for i in range(log2(others))]
        regs += [(64 * along << i, 0) for i in range(log2(rows // 64 // along))]
        regs += [(0, 256 << i) for i in range(log2(max(own // 256, 1)))]
        lanes = [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
        shape = [rows, cols]
        if self.o.swapped:
            flip = lambda bits: [(b, a) for a, b in bits]
            regs, lanes, warps, shape = (flip(regs), flip(lanes), flip(warps),
                                         shape[::-1])
        if columns:
            regs = [bit for bit in regs if bit[1] < columns]
            shape[1] = columns
        return self.layout(regs, lanes, warps, shape)

    def operand(self, rows, depth):
        """Layout of an operand in registers."""
        packed = 4 // self.bytes
        along = self.groups(rows)
        regs = [(0, 1 << i) for i in range(log2(packed))]
        regs += [(8, 0), (0, 4 * packed)]
        regs += [(0, 8 * packed << i) for i in range(log2(depth) -
                                                     log2(8 * packed))]
        regs += [(64 * along << i, 0) for i in range(log2(rows // 64 // along))]
        lanes = [(0, packed), (0, 2 * packed), (1, 0), (2, 0), (4, 0)]
        warps = [(16, 0), (32, 0)]
        warps += [(64 << i, 0) for i in range(log2(along))]
        warps += [(0, 0)] * (log2(self.o.warps) - len(warps))
        return self.layout(regs, lanes, warps, [rows, depth])

    def by_vectors(self, rows, columns, size):
        """Layout with 16 bytes of a row for each thread."""
        chunk = log2(16 // size)
        regs = [(0, 1 << i) for i in range(chunk)]
        threads = [(0, 1 << i) for i in range(chunk, log2(columns))]
        threads += [(1 << i, 0) for i in range(log2(rows))]
        many = 5 + log2(self.o.warps)
        return self.layout(regs + threads[many:], threads[:5], threads[5:many],
                           [rows, columns])

    # The program.

    def operand_text(self, name, rows, count):
        """View, map, buffer and copies of an operand [rows, k]."""
        major = getattr(self.o, name)
        span = self.o.span // self.bytes
        if major not in ("m", "n"):
            view, box, dims = (count, self.k), (min(rows, 256), span), "0, 1"
            at = f"[%{name}0, %kk]"
        else:
            view, box, dims = (self.k, count), (self.bk, span), "1, 0"
            at = f"[%kk, %{name}0]"
        sizes = "x".join(map(str, view))
        self.views.append(
            f"%v{name} = fusion_tile.view %{name}[] {{shape = affine_map<() -> "
            f"{view}>}} : !llvm.ptr<1> to !fusion_tile.view<{sizes}x{self.element}>")
        if major in ("registers", "stored"):
            layout = (self.operand(rows, self.bk) if major == "registers"
                      else self.by_vectors(rows, self.bk, self.bytes))
            tile = f"tensor<{rows}x{self.bk}x{self.element}, {layout}>"
            self.operands[name] = (f"%t{name}", tile)
            self.loads.append(
                f"%t{name} = fusion_tile.load %v{name}[affine_map<(i, j)[s, t] -> "
                f"(i + s, j + t)>] (%{name}0, %kk) checked [false, false] : "
                f"!fusion_tile.view<{sizes}x{self.element}> -> {tile}")
            if major == "stored":
                buffer = self.buffer(rows, self.bk)
                self.allocs.append(f"%s{name} = fusion_tile.alloc : {buffer}")
                self.loads.append(f"fusion_tile.local_store %t{name}, %s{name} : "
                                  f"{tile}, {buffer}")
                self.operands[name] = (f"%s{name}", buffer)
            return
        buffer = self.buffer(rows, self.bk, major not in ("k", "registers"))
        kind = (f"!fusion_tile.tensor_map<{box[0]}x{box[1]}x{self.element}, "
                f"b{self.o.span}>")
        self.views.append(f"%m{name} = fusion_tile.tensor_map %v{name} : "
                          f"!fusion_tile.view<{sizes}x{self.element}> -> {kind}")
        number = len(self.buffers)
        self.buffers.append(buffer)
        self.operands[name] = (f"%bufs#{number}", buffer)
        self.copies.append(
            f"fusion_tile.async_load %m{name}{at} into %slots#{number} signals "
            f"%ring[%k] dims [{dims}] : {kind}, {buffer}, RING")
        # The emulator takes maps with the fastest dimension first.
        self.maps.append((name, view[::-1], box[::-1]))

    def text(self):
        o = self.o
        self.views, self.buffers, self.copies, self.loads, self.maps = (
            [], [], [], [], [])
        self.operands, self.allocs = {}, []
        self.operand_text("a", self.bm, self.m)
        self.operand_text("b", self.bn, self.n)
        ring = f"!fusion_tile.ring<{o.stages}, [{', '.join(self.buffers)}]>"
        count = len(self.buffers)
        many = f":{count}"
        out = f"tensor<{self.bm}x{self.bn}x{self.acc}, {self.accumulator()}>"
        kinds = ", ".join(self.buffers)
        result = f"!fusion_tile.view<{self.m}x{self.n}x{self.out}>"
        self.views.append(
            f"%vc = fusion_tile.view %c[] {{shape = affine_map<() -> ({self.m}, "
            f"{self.n})>}} : !llvm.ptr<1> to {result}")
        (a, a_type), (b, b_type) = self.operands["a"], self.operands["b"]
        swapped = " swapped" if o.swapped else ""
        kept = [(v, t) for v, t in (self.operands["a"], self.operands["b"])
                if t.startswith("tensor")]
        keeping = ""
        if kept:
            keeping = (" keeping " + ", ".join(v for v, _ in kept) + " : "
                       + ", ".join(t for _, t in kept))
        store, allocs = [], self.allocs
        total, columns, attributes = "%sum", o.columns or self.bn, ""
        layout = self.accumulator(columns)
        rows, first = self.bm, ("%a0", "%col")
        if o.cluster > 1:
            if o.share:
                columns = self.bn // o.cluster
            else:
                rows, first = self.bm // o.cluster, ("%row", "%b0")
            layout = self.by_vectors(rows, columns, 4)
            shared = self.buffer(self.bm, self.bn, size=4, element=self.acc)
            allocs.append(f"%all = fusion_tile.alloc : {shared}")
            store.append(f"%share = fusion_tile.cluster_reduce %sum through %all along"
                         f" {o.share} : {out}, {shared} -> tensor<{rows}x{columns}x"
                         f"{self.acc}, {layout}>")
            attributes = f", cluster = {o.cluster} : i64"
            total = "%share"
        part = f"tensor<{rows}x{columns}x{self.acc}, {layout}>"
        size = self.out_bytes
        narrow = part.replace(f"x{self.acc},", f"x{self.out},")
        chunks = 1 if o.cluster > 1 else self.bn // columns
        for chunk in range(chunks):
            value = total
            if chunks > 1:
                value = f"%part{chunk}"
                store.append(f"{value} = fusion_tile.slice %sum [0, {chunk * columns}]"
                             f" : {out} -> {part}")
            if self.out != self.acc:
                store.append(f"%narrow{chunk} = arith.truncf {value} : {part} "
                             f"to {narrow}")
                value = f"%narrow{chunk}"
            if o.store == "plain":
                store.append(
                    f"fusion_tile.store {value}, %vc[affine_map<(i, j)[s, t] -> (i + "
                    f"s, j + t + {chunk * columns})>] ({first[0]}, {first[1]}) checked "
                    f"[false, false] : {narrow}, {result}")
                continue
            buffer = self.buffer(self.bm, columns, size=size, element=self.out)
            box = (min(o.box_rows, self.bm), o.span // size)
            kind = f"!fusion_tile.tensor_map<{box[0]}x{box[1]}x{self.out}, b{o.span}>"
            if chunk < 2:
                allocs.append(f"%out{chunk} = fusion_tile.alloc : {buffer}")
            if chunk == 0:
                self.views.append(
                    f"%mc = fusion_tile.tensor_map %vc : {result} -> {kind}")
                self.maps.append(("c", (self.n, self.m), box[::-1]))
            store.append(f"%by{chunk} = arith.constant {chunk * columns} : index")
            store.append(f"%col{chunk} = arith.addi %b0, %by{chunk} : index")
            store.append(
                f"fusion_tile.async_store {value}, %mc[%a0, %col{chunk}] through "
                f"%out{chunk % 2} dims [0, 1] : {narrow}, {kind}, {buffer}")
        if o.store == "async":
            store.append("fusion_tile.async_store_wait")
        zero = "0.0" if self.acc == "f32" else "0"
        registers = "{registers = array<i64: 40, 232>} " if o.registers else ""
        nl = "\n      "
        numbers = range(o.dots)
        outs = ", ".join([out] * o.dots)
        sofar = ", ".join(f"%sofar{i} = %start" for i in numbers)
        flights = ", ".join(f"%flight{i}" for i in numbers)
        starts = [f"%flight{i} = fusion_tile.mma_async {a}, {b}, %sofar{i}{swapped} : "
                  f"{a_type}, {b_type} -> {out}" for i in numbers]
        many_sums, nexts = "", "%next"
        if o.dots > 1:
            many_sums = f":{o.dots}"
            nexts = ", ".join(f"%next#{i}" for i in numbers)
        results = ", ".join(f"%r#{i}" for i in numbers) if o.dots > 1 else "%r"
        if o.pending:
            release = f"""%some = arith.cmpi sgt, %k, %c0 : index
        scf.if %some {{
          %before = arith.subi %k, %c1 : index
          fusion_tile.release %ring[%before] : RING
        }}"""
            after = f"""%done{many_sums} = fusion_tile.mma_wait {results} : {outs} -> {outs}
      %last = arith.constant {self.steps - 1} : index
      fusion_tile.release %ring[%last] : RING"""
            name = "%r"
        else:
            release = "fusion_tile.release %ring[%k] : RING"
            after, name = "", "%done"
        if o.dots > 1:
            after += f"""
      %sum = arith.add{self.acc[0]} %done#0, %done#1 : {out}"""
        else:
            store = [line.replace("%sum", "%done") for line in store]
        pending = f" {{pending = {o.pending} : i64}}" if o.pending else ""
        extra = 4 if o.registers else 1
        text = f"""fusion_tile.program @gemm(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>)
    attributes {{num_warps = {o.warps} : i64, extra_warps = {extra} : i64, index_bits = {o.index_bits} : i64{attributes}}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant {self.steps} : index
  %bk = arith.constant {self.bk} : index
  %bm = arith.constant {self.bm} : index
  %bn = arith.constant {self.bn} : index
  %gm = arith.constant {self.gm} : index
  %id = gpu.block_id x
  %blocks = arith.constant {o.cluster} : index
  %block = arith.divui %id, %blocks : index
  %rank = fusion_tile.cluster_rank
  %rows = arith.constant {self.bm // o.cluster} : index
  %firstrow = arith.muli %rank, %rows : index
  %columns = arith.constant {self.bn // o.cluster} : index
  %firstcolumn = arith.muli %rank, %columns : index
  %k0 = arith.muli %rank, %steps : index
  %im = arith.remui %block, %gm : index
  %in = arith.divui %block, %gm : index
  %a0 = arith.muli %im, %bm : index
  %b0 = arith.muli %in, %bn : index
  %row = arith.addi %a0, %firstrow : index
  %col = arith.addi %b0, %firstcolumn : index
  {(chr(10) + "  ").join(self.views)}
  %ring = fusion_tile.make_ring : RING
  fusion_tile.specialize {registers}consumer {{
      {nl.join(allocs)}
      %zero = arith.constant {zero} : {self.acc}
      %start = fusion_tile.splat %zero : {self.acc} -> {out}
      {name}{many_sums} = scf.for %k = %c0 to %steps step %c1 iter_args({sofar}) -> ({outs}) {{
        %step = arith.addi %k, %k0 : index
        %kk = arith.muli %step, %bk : index
        {(nl + "  ").join(self.loads)}
        %bufs{many} = fusion_tile.wait %ring[%k] : RING -> {kinds}
        {(nl + "  ").join(starts)}
        %next{many_sums} = fusion_tile.mma_wait {flights}{pending} : {outs}{keeping} -> {outs}
        {release}
        scf.yield {nexts} : {outs}
      }}
      {after}
      {nl.join(store)}
  }} producer {{
      scf.for %k = %c0 to %steps step %c1 {{
        %step = arith.addi %k, %k0 : index
        %kk = arith.muli %step, %bk : index
        %slots{many} = fusion_tile.acquire %ring[%k] : RING -> {kinds}
        {(nl + "  ").join(self.copies)}
      }}
  }}
  fusion_tile.return
}}
"""
        return text.replace("RING", ring).replace("%bufs:1", "%bufs").replace(
            "%slots:1", "%slots") if count > 1 else text.replace(
                "RING", ring).replace("%bufs:1", "%bufs").replace(
                    "%slots:1", "%slots").replace("%bufs#0", "%bufs").replace(
                        "%slots#0", "%slots")

    # Reference: integers, sign-extended, modulo 2^32.

    def element_at(self, number):
        bits = 8 * self.bytes
        value = number % (1 << bits)
        return value - (1 << bits) if value >> (bits - 1) else value

    def reference(self):
        def at(name, count):
            major = getattr(self.o, name)
            if major not in ("m", "n"):
                return [[self.element_at(r * self.k + k)
                         for k in range(self.k)] for r in range(count)]
            return [[self.element_at(k * count + r) for k in range(self.k)]
                    for r in range(count)]
        a, b = at("a", self.m), at("b", self.n)
        try:
            import numpy
            product = (numpy.array(a, dtype=numpy.int64)
                       @ numpy.array(b, dtype=numpy.int64).T)
            return (product % (1 << 32)).reshape(-1).tolist()
        except ImportError:
            return [sum(x * y for x, y in zip(row, column)) % (1 << 32)
                    for row in a for column in b]


PIPELINE = ("builtin.module(fusion_tile.program(fusion-tile-allocate-shared-memory,"
            "fusion-tile-place-barriers),fusion-convert-tile-to-nvvm,"
            "fusion-gpu-check-limits{target=sm_90a},"
            "fusion-ptx{target=sm_90a})")


def fail(text):
    print(text)
    sys.exit(1)


def main():
    options = parse()
    gemm = Gemm(options)
    text = gemm.text()
    if options.emit:
        print(text)
        return
    folder = options.keep or "."
    os.makedirs(folder, exist_ok=True)
    source = os.path.join(folder, "gemm.mlir")
    with open(source, "w") as file:
        file.write(text)
    lowered = subprocess.run(
        ["fusion-opt", source,
         "--pass-pipeline=builtin.module(fusion_tile.program("
         "fusion-tile-allocate-shared-memory,fusion-tile-place-barriers),"
         "fusion-convert-tile-to-nvvm)", "-o", os.path.join(folder, "nvvm.mlir")])
    if lowered.returncode:
        fail("the program was not lowered")
    with open(os.path.join(folder, "nvvm.mlir")) as file:
        shared = re.search(r"fusion_tile.shared_bytes = (\d+)", file.read()).group(1)
    ptx = subprocess.run(
        ["fusion-opt", os.path.join(folder, "nvvm.mlir"), "-o", "/dev/null",
         "--pass-pipeline=builtin.module(gpu.module(fusion-expand-math,"
         "llvm.func(cse),convert-scf-to-cf,fusion-ptx-lower-to-llvm,"
         "fusion-target-emit-ptx{print line-info=false}))"],
        stdout=subprocess.PIPE)
    if ptx.returncode:
        fail("no PTX was written")
    path = os.path.join(folder, "gemm.ptx")
    with open(path, "wb") as file:
        file.write(ptx.stdout)
    if shutil.which("ptxas"):
        done = subprocess.run(["ptxas", "-arch=sm_90a", "-v", "-o", "/dev/null",
                               path], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode or re.search(r"C75\d\d|[1-9]\d* bytes spill",
                                        done.stdout):
            fail(done.stdout)
        print(re.search(r"Used \d+ registers", done.stdout).group(0))
    if options.no_run:
        return

    unit = {1: "i8", 2: "i16", 4: "i32"}[gemm.bytes]
    element = {"i8": "u8", "f8E4M3FN": "u8", "f8E5M2": "u8"}.get(
        gemm.element, gemm.element)
    fields = lambda sizes: ",".join(map(str, sizes))
    arguments = []
    for name, count in (("a", gemm.m), ("b", gemm.n)):
        arguments.append(f"--arg=buf:{name}:{count * gemm.k * gemm.bytes}:"
                         f"{unit}=iota")
    arguments.append(f"--arg=out:c:u{8 * gemm.out_bytes}:{gemm.m * gemm.n}")
    for name, sizes, box in gemm.maps:
        kind = gemm.out if name == "c" else element
        kind = {"i32": "s32"}.get(kind, kind)
        arguments.append(f"--arg=tmap:{name}:{kind}:{fields(sizes)}:"
                         f"{fields(box)}:swizzle={options.span}")
    threads = 32 * (options.warps + (4 if options.registers else 1))
    expected = [options.dots * x % (1 << 8 * gemm.out_bytes)
                for x in gemm.reference()]
    for asynchrony in ("late", "early"):
        run = subprocess.run(
            ["fusion-emulate", path, "--kernel=gemm", "--payload",
             f"--grid={gemm.gm * gemm.gn * options.cluster}", f"--block={threads}",
             f"--shared={shared}", f"--asynchrony={asynchrony}"] + arguments,
            stdout=subprocess.PIPE, text=True)
        if run.returncode:
            fail(f"the emulator failed ({asynchrony}): " + " ".join(run.args))
        found = [int(x) for x in run.stdout.split()[1:]]
        if len(found) != len(expected):
            fail(f"{len(found)} results instead of {len(expected)}")
        wrong = [i for i, (x, y) in enumerate(zip(found, expected)) if x != y]
        if wrong:
            row, column = divmod(wrong[0], gemm.n)
            fail(f"{len(wrong)} of {len(found)} results are wrong "
                 f"({asynchrony}), first ({row}, {column}): {found[wrong[0]]} "
                 f"instead of {expected[wrong[0]]}")
    print("equal")


main()
