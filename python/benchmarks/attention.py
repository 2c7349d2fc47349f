#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times attention beside PyTorch's fused kernels.

    attention.py build FOLDER [CASE ...]     any machine with the compiler
    attention.py run FOLDER [--library=libfusion-rt.so]
    attention.py check FOLDER [CASE ...]     ptxas: no spills, no remarks

each with [--only=REGEX] for the names of cases.

A case is BATCHxHEADSxLENGTHxWIDTH_TYPE, where heads and length of queries may
have those of the keys behind them, 8x32.8x1.16384x128_f16, with _causal behind
it for a causal mask: 4x16x4096x128_f16_causal, or with a change of the scores,
which is written as plain operations and has FlexAttention as a peer: _alibi
(and causal), _distance (ALiBi without a mask), _window (512 keys, causal),
_softcap, _softcapcausal, _bias (a number for each score, in memory), with keys
that data hide: _lengths (each sequence of the batch has a length of its own, drawn
between one and that of the keys) and _packed (sequences of 1,024 tokens on average,
one behind the other, whose first and last key each row is told), or with
operands that are computed (attention_operands.py): _rope (rotary embedding of
queries and keys, and _ropecausal), _ropequery (of queries alone), _f8 and _i8
(keys and values in 8 bits, with a scale for each head or row). Packages are
named CASE@VARIANT.fpk; `build`
writes CASE@own.fpk, and others that lie in the folder are run as well. Each is
run twice, which must agree bit by bit, and its first head is compared with
float64; then package and peers take turns, median of graph replays with the L2
cache flushed. `check` assembles the cases' PTX instead. The exit status is 1 when
a result was wrong, a case did not compile, spilled, or has products that ptxas
serialises (C75xx).
"""

import math
import pathlib
import re
import sys

from cases import find_packages, make_timer, run_named

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

CASES = [shape + mask for shape in (
    "4x16x4096x128_f16", "16x16x1024x128_f16", "8x16x2048x128_bf16",
    "1x16x16384x128_bf16", "8x16x4096x64_f16", "32x16x1024x64_bf16",
    "2x16x16384x64_bf16", "2x16x4096x96_f16", "4x16x2048x256_f16",
    "8x16x4096x32_f16", "2x8x1000x128_f16", "3x7x777x64_f16",
    "4x16x2000x64_bf16", "2x12x3111x128_f16")
    for mask in ("", "_causal")]

# One query, or a few: batch, heads of queries and keys, and of keys length.
DECODING = [f"{case}_{kind}" for case in (
    "1x32.8x1.8192x128", "1x32.8x1.32768x128", "1x32.8x1.131072x128",
    "4x32.8x1.16384x128", "8x32.8x1.16384x128", "16x64.8x1.8192x128",
    "32x32.8x1.8192x128", "64x32.8x1.8192x128", "20x32.8x1.10000x128",
    "4x16.1x1.32768x128", "8x32.4x1.32768x64", "2x40.8x4.32768x128",
    "4x32.32x1.16384x128") for kind in ("f16",)]

CHANGES = ("alibi", "distance", "window", "softcap", "softcapcausal", "bias")
HIDDEN = ("lengths", "packed")
HIDING = [f"{case}_bf16_lengths" for case in (
    "16x16x2048x128", "8x32.8x512.4096x128", "64x32.8x1.16384x128",
    "16x64.8x1.32768x128")] + [f"{case}_bf16_packed" for case in (
    "1x16x16384x128", "1x32.8x8192x128", "1x16x16384x64", "1x16x32768x64")]
CHANGED = [f"{shape}_{change}"
           for shape in ("4x16x4096x128_bf16", "4x16x4096x64_bf16",
                         "2x16x8192x128_f16", "16x16x1024x64_f16")
           for change in CHANGES]
WINDOW, CAP = 512, 50.0

# What a change computes of the score %y, at row %i and column %j.
SCALED = "    %z = arith.mulf %y, %scale : f32\n"
AFTER = "    %after = arith.cmpi sgt, %j, %i : index\n"
DISTANCE = """\
    %row = arith.index_cast %i : index to i32
    %column = arith.index_cast %j : index to i32
    %steps = arith.subi %row, %column : i32
    %absolute = math.absi %steps : i32
    %distance = arith.sitofp %absolute : i32 to f32
    %penalty = arith.mulf %distance, %slope : f32
    %biased = arith.subf %z, %penalty : f32
"""
CAPPED = f"""\
    %cap = arith.constant {CAP} : f32
    %quotient = arith.divf %z, %cap : f32
    %tanh = math.tanh %quotient : f32
    %capped = arith.mulf %tanh, %cap : f32
"""
BODIES = {
    "alibi": (SCALED + DISTANCE + AFTER +
              "    %x = arith.select %after, %lowest, %biased : f32\n"),
    "distance": SCALED + DISTANCE.replace("%biased", "%x"),
    "window": (SCALED + AFTER + f"""\
    %window = arith.constant {WINDOW} : index
    %steps = arith.subi %i, %j : index
    %far = arith.cmpi sge, %steps, %window : index
    %hidden = arith.ori %after, %far : i1
    %x = arith.select %hidden, %lowest, %z : f32
"""),
    "softcap": SCALED + CAPPED.replace("%capped", "%x"),
    "softcapcausal": (
        SCALED + CAPPED + AFTER +
        "    %x = arith.select %after, %lowest, %capped : f32\n"),
    "bias": SCALED + """\
    %wide = arith.extf %added : TYPE to f32
    %x = arith.addf %z, %wide : f32
""",
}


class Case:
    """One attention: queries, keys and values of one shape."""

    def __init__(self, name):
        match = re.fullmatch(
            r"(\d+)x(\d+)(?:\.(\d+))?x(\d+)(?:\.(\d+))?x(\d+)_(f16|bf16)"
            r"(?:_(\w+))?", name)
        if not match or match[8] not in (None, "causal", *CHANGES, *HIDDEN):
            raise SystemExit(f"{name}: not a case, such as {CASES[0]}")
        batch, heads, key_heads, length, key_length, width = (
            int(size) if size else None for size in match.groups()[:6])
        self.name, self.type = name, match[7]
        self.shape = [batch, heads, length, width]
        self.keys = [batch, key_heads or heads, key_length or length, width]
        self.change = match[8] if match[8] in CHANGES else None
        self.hidden = match[8] if match[8] in HIDDEN else None
        self.causal = match[8] in ("causal", "alibi", "window",
                                   "softcapcausal")
        self.has_slopes = self.change in ("alibi", "distance")
        self.has_bias = self.change == "bias"

    def program(self):
        if self.change:
            return self.plain_program()
        query, key = (f"tensor<{'x'.join(map(str, shape))}x{self.type}>"
                      for shape in (self.shape, self.keys))
        if self.hidden:
            return self.hiding_program(query, key)
        mask = " causal(top_left)" if self.causal else ""
        return (f"func.func @main(%q: {query}, %k: {key}, %v: {key})"
                f" -> {query} {{\n"
                f"  %o = fusion.attention %q, %k, %v{mask} :"
                f" ({query}, {key}, {key}) -> {query}\n"
                f"  return %o : {query}\n}}\n")

    def hiding_program(self, query, key):
        """Data say which keys count."""
        size, place = ((self.shape[0], "%b") if self.hidden == "lengths" else
                       (self.shape[2], "%i"))
        data = f"tensor<{size}xi32>"
        body = (f"    %end = tensor.extract %ends[{place}] : {data}\n"
                "    %key = arith.index_cast %j : index to i32\n"
                "    %before = arith.cmpi slt, %key, %end : i32\n")
        counts, more = "%before", ""
        if self.hidden == "packed":
            more = f", %begins: {data}"
            body += (f"    %begin = tensor.extract %begins[{place}] : {data}\n"
                     "    %after = arith.cmpi sge, %key, %begin : i32\n"
                     "    %both = arith.andi %before, %after : i1\n")
            counts = "%both"
        return (f"func.func @main(%q: {query}, %k: {key}, %v: {key}, %ends: "
                f"{data}{more}) -> {query} {{\n"
                "  %lowest = arith.constant 0xFF800000 : f32\n"
                f"  %o = fusion.attention %q, %k, %v : ({query}, {key}, {key})"
                f" -> {query} {{\n"
                "  ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):\n"
                f"{body}    %y = arith.select {counts}, %x, %lowest : f32\n"
                "    fusion.yield %y : f32\n  }\n"
                f"  return %o : {query}\n}}\n")

    def draw_hidden(self):
        """The ends, and for sequences side by side the begins, in i32; counts
        the pairs of queries and keys that are left of all batches."""
        import torch
        keys = self.keys[2]
        if self.hidden == "lengths":
            ends = torch.randint(1, keys + 1, (self.shape[0],), device="cuda")
            self.pairs = self.shape[2] * ends.sum().item()
            return [ends.int()]
        cuts = torch.randperm(keys - 1, device="cuda")[:keys // 1024 - 1] + 1
        cuts = torch.cat([cuts.new_tensor([0]), cuts.sort().values,
                          cuts.new_tensor([keys])])
        number = torch.searchsorted(
            cuts, torch.arange(self.shape[2], device="cuda"), right=True)
        ends, begins = cuts[number], cuts[number - 1]
        self.pairs = self.shape[0] * (ends - begins).sum().item()
        return [ends.int(), begins.int()]

    def is_seen(self, data, b, i, j):
        """Of indices of the batch, of queries and keys: tensors that broadcast."""
        if self.hidden == "lengths":
            return j < data[0][b]
        return (j < data[0][i]) & (j >= data[1][i])

    def plain_program(self):
        """The change between two products and a softmax, in linalg."""
        batch, heads, length, width = self.shape
        tensors = {
            "in": f"{batch}x{heads}x{length}x{width}x{self.type}",
            "weights": f"{batch}x{heads}x{length}x{length}x{self.type}",
            "scores": f"{batch}x{heads}x{length}x{length}xf32",
            "rows": f"{batch}x{heads}x{length}xf32",
            "sums": f"{batch}x{heads}x{length}x{width}xf32",
            "heads": f"{heads}xf32"}
        of = {name: f"tensor<{text}>" for name, text in tensors.items()}
        maps = {name: f"affine_map<(b, h, i, j) -> ({text})>"
                for name, text in (("scores", "b, h, i, j"),
                                   ("rows", "b, h, i"), ("heads", "h"))}
        lines = []

        def start(name, kind, number):
            lines.append(f"  %{name}_e = tensor.empty() : {of[kind]}\n"
                         f"  %{name}_0 = linalg.fill ins({number} : f32) outs("
                         f"%{name}_e : {of[kind]}) -> {of[kind]}\n")

        def pointwise(name, inputs, kind, body, element="f32"):
            names = ", ".join(f"%{tensor}" for tensor, *_ in inputs)
            types = ", ".join(of[own] for _, own, *_ in inputs)
            places = ", ".join(maps.get(own, maps["scores"])
                               for _, own, *_ in (*inputs, (0, kind)))
            arguments = ", ".join(
                f"%{own}: {self.type if own == 'added' else 'f32'}"
                for *_, own in inputs)
            lines.append(
                f"  %{name}_e = tensor.empty() : {of[kind]}\n"
                f"  %{name} = linalg.generic {{indexing_maps = [{places}], "
                "iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
                f"\"parallel\"]}} ins({names} : {types}) outs(%{name}_e : "
                f"{of[kind]}) {{\n  ^bb0({arguments}, %o: {element}):\n{body}"
                f"    linalg.yield %x : {element}\n  }} -> {of[kind]}\n")

        def product(name, left, left_kind, right, kind, places):
            start(name, kind, "%zero")
            loops = ", ".join(f"affine_map<(b, h, m, n, k) -> (b, h, {place})>"
                              for place in places)
            lines.append(
                f"  %{name} = linalg.generic {{indexing_maps = [{loops}], "
                "iterator_types = [\"parallel\", \"parallel\", \"parallel\", "
                f"\"parallel\", \"reduction\"]}} ins(%{left}, %{right} : "
                f"{of[left_kind]}, {of['in']}) outs(%{name}_0 : {of[kind]}) {{\n"
                f"  ^bb0(%left: {self.type}, %right: {self.type}, %o: f32):\n"
                f"    %left_f = arith.extf %left : {self.type} to f32\n"
                f"    %right_f = arith.extf %right : {self.type} to f32\n"
                "    %p = arith.mulf %left_f, %right_f : f32\n"
                "    %x = arith.addf %o, %p : f32\n"
                f"    linalg.yield %x : f32\n  }} -> {of[kind]}\n")

        def reduce(name, source, op, number):
            start(name, "rows", number)
            lines.append(f"  %{name} = linalg.reduce {{ {op} }} ins(%{source} : "
                         f"{of['scores']}) outs(%{name}_0 : {of['rows']}) "
                         "dimensions = [3]\n")

        product("s", "q", "in", "k", "scores", ("m, k", "n, k", "m, n"))
        places = ("    %i = linalg.index 2 : index\n"
                  "    %j = linalg.index 3 : index\n")
        slopes = [("slopes", "heads", "slope")] if self.has_slopes else []
        bias = [("bias", "weights", "added")] if self.has_bias else []
        pointwise("c", [("s", "scores", "y"), *slopes, *bias], "scores",
                  places + BODIES[self.change].replace("TYPE", self.type))
        reduce("m", "c", "arith.maximumf", "%lowest")
        pointwise("e", [("c", "scores", "y"), ("m", "rows", "z")], "scores",
                  "    %d = arith.subf %y, %z : f32\n"
                  "    %x = math.exp %d : f32\n")
        reduce("l", "e", "arith.addf", "%zero")
        pointwise("w", [("e", "scores", "y"), ("l", "rows", "z")], "weights",
                  "    %d = arith.divf %y, %z : f32\n"
                  f"    %x = arith.truncf %d : f32 to {self.type}\n", self.type)
        product("a", "w", "weights", "v", "sums", ("m, k", "k, n", "m, n"))
        pointwise("r", [("a", "sums", "y")], "in",
                  f"    %x = arith.truncf %y : f32 to {self.type}\n", self.type)
        more = f", %slopes: {of['heads']}" if self.has_slopes else ""
        if self.has_bias:
            more = f", %bias: {of['weights']}"
        return (f"func.func @main(%q: {of['in']}, %k: {of['in']}, %v: {of['in']}"
                f"{more}) -> {of['in']} {{\n"
                "  %zero = arith.constant 0.0 : f32\n"
                "  %lowest = arith.constant 0xFF800000 : f32\n"
                f"  %scale = arith.constant {width ** -0.5:.9e} : f32\n"
                f"{''.join(lines)}  return %r : {of['in']}\n}}\n")

    def slopes(self):
        """Of ALiBi (Press et al., 2022): 2^(-8 (h + 1) / heads)."""
        import torch
        heads = self.shape[1]
        return torch.exp2(-8.0 * torch.arange(1, heads + 1, device="cuda") /
                          heads).float()

    def bias(self):
        import torch
        return torch.randn([*self.shape[:3], self.keys[2]], device="cuda",
                           dtype={"f16": torch.float16,
                                  "bf16": torch.bfloat16}[self.type])

    def changed(self, scores, more):
        """`scores` of one head, in float64, as the change makes them of what
        the first head has `more`, its slope or its bias."""
        import torch
        length = self.shape[2]
        if self.has_bias:
            return scores + more
        if self.hidden:
            i, j = (torch.arange(size, device="cuda") for size in scores.shape)
            seen = self.is_seen(more, 0, i[:, None], j[None, :])
            return scores.masked_fill(~seen, float("-inf"))
        places = torch.arange(length, device="cuda")
        steps = places[:, None] - places[None, :]
        if self.has_slopes:
            scores = scores - more * steps.abs()
        if self.change in ("softcap", "softcapcausal"):
            scores = CAP * torch.tanh(scores / CAP)
        hidden = torch.zeros_like(scores, dtype=torch.bool)
        if self.causal:
            hidden |= steps < 0
        if self.change == "window":
            hidden |= steps >= WINDOW
        return scores.masked_fill(hidden, float("-inf"))

    def flex(self, inputs):
        """A call of FlexAttention, compiled."""
        import torch
        from torch.nn.attention.flex_attention import (create_block_mask,
                                                       flex_attention)
        slopes = bias = inputs[-1]

        def score(value, b, h, i, j):
            if self.has_slopes:
                return value - slopes[h] * (i - j).abs()
            if self.has_bias:
                return value + bias[b, h, i, j]
            if self.change in ("softcap", "softcapcausal"):
                return CAP * torch.tanh(value / CAP)
            return value

        def visible(b, h, i, j):
            if self.hidden:
                return self.is_seen(inputs[3:], b, i, j)
            if self.change == "window":
                return (i >= j) & (i - j < WINDOW)
            return i >= j

        torch._dynamo.reset()
        length = self.shape[2]
        mask = None
        if self.causal or self.hidden:
            batch = self.shape[0] if self.hidden == "lengths" else None
            mask = create_block_mask(visible, batch, None, length, self.keys[2])
        compiled = torch.compile(flex_attention, dynamic=False)
        return lambda: compiled(*inputs[:3],
                                score_mod=score if self.change else None,
                                block_mask=mask,
                                enable_gqa=self.keys[1] != self.shape[1])

    def draw(self):
        """What the package takes: queries, keys, values of `type`, and the
        change's slopes or bias."""
        import torch
        inputs = [torch.randn(shape, device="cuda").to(self.torch_type())
                  for shape in (self.shape, self.keys, self.keys)]
        if self.has_slopes:
            inputs.append(self.slopes())
        elif self.has_bias:
            inputs.append(self.bias())
        elif self.hidden:
            inputs += self.draw_hidden()
        return inputs

    def torch_type(self):
        import torch
        return {"f16": torch.float16, "bf16": torch.bfloat16}[self.type]

    def wanted(self, inputs):
        """The first head's result [length, width] in float64."""
        more = None
        if self.has_slopes:
            more = inputs[3][0].double()
        elif self.has_bias:
            more = inputs[3][0, 0].double()
        elif self.hidden:
            more = inputs[3:]
        return reference(self, *(x[0, 0].double() for x in inputs[:3]), more)

    def attend(self, backend, inputs, mask=()):
        """PyTorch's attention by `backend`; `mask` is added to scores."""
        import torch.nn.functional as functional
        from torch.nn.attention import sdpa_kernel
        with sdpa_kernel(backend):
            return functional.scaled_dot_product_attention(
                *inputs[:3], *mask, is_causal=self.causal,
                enable_gqa=self.keys[1] != self.shape[1])

    def peers(self, inputs):
        """{label: a call} of what others make of `inputs`."""
        import torch
        from torch.nn.attention import SDPBackend
        if self.change and not self.has_bias:
            return {"FlexAttention": self.flex(inputs)}
        mask = inputs[3:] if self.has_bias else ()
        if self.hidden:
            b, i, j = (torch.arange(size, device="cuda") for size in (
                self.shape[0], self.shape[2], self.keys[2]))
            mask = [self.is_seen(inputs[3:], b[:, None, None, None],
                                 i[:, None], j)]
            if self.hidden == "packed":
                mask[0] = mask[0].expand(1, 1, -1, -1)
        calls = {"cuDNN": lambda: self.attend(SDPBackend.CUDNN_ATTENTION,
                                              inputs, mask)}
        if not self.has_bias and not self.hidden:
            calls["FlashAttention"] = lambda: self.attend(
                SDPBackend.FLASH_ATTENTION, inputs)
        if self.has_bias or self.hidden or self.keys != self.shape:
            calls["FlexAttention"] = self.flex(inputs)
        return calls

    def flops(self):
        batch, heads, length, width = self.shape
        keys = self.keys[2]
        pairs = length * (length + 1) / 2 if self.causal else length * keys
        if self.hidden:
            return 4.0 * heads * width * self.pairs
        if self.change == "window" and length > WINDOW:
            pairs -= (length - WINDOW) * (length - WINDOW + 1) / 2
        return 4.0 * batch * heads * width * pairs


    def bytes(self):
        """Read and written once."""
        bias = math.prod(self.shape[:3]) * self.keys[2] * self.has_bias
        return 4 * (math.prod(self.shape) + math.prod(self.keys)) + 2 * bias


def run(folder, only):
    import fusion_compiler as fusion
    import torch

    timer = make_timer()
    failed = 0
    for name, paths in find_packages(folder, only).items():
        case = make_case(name)
        inputs = case.draw()
        wanted = case.wanted(inputs)
        calls = case.peers(inputs)
        peers = set(calls)
        for path in paths:
            package = fusion.load(path)
            calls[path.stem.split("@")[1]] = (
                lambda package=package: package(*inputs))
        errors = {}
        for label, call in list(calls.items()):
            try:
                result, again = call(), call()
            except RuntimeError as error:
                print(f"{name:32} {label:16} {str(error)[:80]}")
                failed += label not in peers
                del calls[label]
                continue
            errors[label] = (result[0, 0].double() - wanted).abs().max().item()
            if label not in peers:
                right = torch.equal(result, again) and errors[label] <= 2 * max(
                    *(errors.get(peer, 0) for peer in peers), 1e-4)
                failed += not right
                if not right:
                    print(f"{name:32} {label:16} WRONG {errors[label]:.1e}")
        times = timer.medians_us(calls)
        best = min(times[label] for label in times
                   if label in peers)
        for label, time in times.items():
            print(f"{name:32} {label:16} {time:9.1f} us "
                  f"{case.flops() / time / 1e6:6.0f} TFLOP/s "
                  f"{case.bytes() / time / 1e6:6.2f} TB/s "
                  f"{best / time:6.2f} x  error {errors[label]:.1e}",
                  flush=True)
    return failed


def reference(case, query, key, value, more):
    import torch
    scores = case.changed(query @ key.T / case.shape[-1] ** 0.5, more)
    return torch.softmax(scores, -1) @ value


def make_case(name):
    from attention_operands import KINDS, ComputedCase
    kind = name.rpartition("_")[2]
    return ComputedCase(name) if kind in KINDS else Case(name)


if __name__ == "__main__":
    from attention_operands import CASES as COMPUTED
    sys.exit(run_named(__doc__, make_case,
                       CASES + CHANGED + HIDING + DECODING + COMPUTED, run))
