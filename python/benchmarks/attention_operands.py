# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention whose queries, keys or values are computed of what is in memory.

Cases of attention.py with one of KINDS behind the type: rotary embedding, and
keys and values that are stored in 8 bits, with scales. Peers are what
torch.compile makes of the same, and PyTorch's attention of operands of 16 bits
that are there already, which does less and, of 8 bits, reads twice as much.
"""

import math

from attention import Case

ROPE = ("rope", "ropecausal", "ropequery")
CACHES = {"f8": "f8E4M3FN", "i8": "i8"}
KINDS = (*ROPE, *CACHES)

CASES = [f"{shape}_{kind}" for shape in (
    "4x16x1024x64_f16", "4x16x1024x64_bf16", "4x16x4096x128_bf16",
    "1x32x512x128_bf16") for kind in ("rope", "ropecausal")]
CASES += [f"{shape}_f16_{kind}" for shape in (
    "1x32.8x1.8192x128", "1x32.8x1.131072x128", "8x32.8x1.16384x128",
    "32x32.8x1.8192x128", "8x32.4x1.32768x64", "8x32.8x8.16384x128",
    "2x32.8x256.8192x128") for kind in CACHES]
CASES += ["8x32.8x1.16384x128_f16_ropequery"]


class ComputedCase(Case):
    """One attention with computed operands."""

    def __init__(self, name):
        plain, _, self.kind = name.rpartition("_")
        super().__init__(plain)
        self.name = name
        self.causal = self.kind == "ropecausal"

    def program(self):
        """The program of queries, keys and values, then tables or scales."""
        query, key = (self.tensor(shape, self.type)
                      for shape in (self.shape, self.keys))
        if self.kind in CACHES:
            arguments, lines = self.dequantised(key)
        else:
            arguments, lines = self.rotated(query, key)
        mask = " causal(top_left)" if self.causal else ""
        return (f"func.func @main(%q: {query}, {arguments}) -> {query} {{\n"
                f"{lines}  %o = fusion.attention %qa, %ka, %va{mask} : "
                f"({query}, {key}, {key}) -> {query}\n"
                f"  return %o : {query}\n}}\n".replace("%qa", self.names[0])
                .replace("%ka", self.names[1]).replace("%va", self.names[2]))

    @staticmethod
    def tensor(shape, element):
        return f"tensor<{'x'.join(map(str, (*shape, element)))}>"

    def rotated(self, query, key):
        """Arguments, and the lines that rotate queries, and keys."""
        self.names = ["%qr", "%k" if self.kind == "ropequery" else "%kr", "%v"]
        half = self.shape[-1] // 2
        arguments, lines = [f"%k: {key}", f"%v: {key}"], ""
        for name, of, length in (("q", query, self.shape[2]),
                                 ("k", key, self.keys[2])):
            if name == "k" and self.kind == "ropequery":
                continue
            table = self.tensor((length, half), "f32")
            arguments += [f"%cos_{name}: {table}", f"%sin_{name}: {table}"]
            lines += (f"  %{name}r = fusion.rope %{name}, %cos_{name}, "
                      f"%sin_{name} seq_axis(2) : {of}, {table}, {table}\n")
        return ", ".join(arguments), lines

    def scale_shape(self):
        """Of f8 a scale for each head of keys, of i8 for each of its rows."""
        return self.keys[1:2] if self.kind == "f8" else self.keys[:3]

    def dequantised(self, key):
        """Arguments, and the lines that make 16 bits of 8."""
        self.names = ["%q", "%kr", "%vr"]
        stored = CACHES[self.kind]
        cache = self.tensor(self.keys, stored)
        scales = self.tensor(self.scale_shape(), "f32")
        place = "(h)" if self.kind == "f8" else "(b, h, n)"
        widen = "arith.sitofp" if stored == "i8" else "arith.extf"
        lines = ""
        for name in "kv":
            lines += (
                f"  %{name}e = tensor.empty() : {key}\n"
                f"  %{name}r = linalg.generic {{indexing_maps = ["
                "affine_map<(b, h, n, d) -> (b, h, n, d)>, "
                f"affine_map<(b, h, n, d) -> {place}>, "
                "affine_map<(b, h, n, d) -> (b, h, n, d)>], "
                "iterator_types = [\"parallel\", \"parallel\", "
                f"\"parallel\", \"parallel\"]}} ins(%{name}, %{name}s : "
                f"{cache}, {scales}) outs(%{name}e : {key}) {{\n"
                f"  ^bb0(%x: {stored}, %s: f32, %o: {self.type}):\n"
                f"    %w = {widen} %x : {stored} to f32\n"
                "    %y = arith.mulf %w, %s : f32\n"
                f"    %z = arith.truncf %y : f32 to {self.type}\n"
                f"    linalg.yield %z : {self.type}\n  }} -> {key}\n")
        return (f"%k: {cache}, %v: {cache}, %ks: {scales}, %vs: {scales}",
                lines)

    def draw(self):
        import torch
        if self.kind in ROPE:
            inputs = super().draw()
            lengths = [self.shape[2], self.keys[2]]
            for length in lengths[:1 if self.kind == "ropequery" else 2]:
                inputs += self.tables(length)
            return inputs
        query = torch.randn(self.shape, device="cuda").to(self.torch_type())
        if self.kind == "f8":
            stored = [torch.randn(self.keys, device="cuda").to(
                torch.float8_e4m3fn) for _ in range(2)]
        else:
            stored = [torch.randint(-127, 128, self.keys, device="cuda",
                                    dtype=torch.int8) for _ in range(2)]
        most = 1.5 if self.kind == "f8" else 1.5 / 64
        scales = [(torch.rand(self.scale_shape(), device="cuda") + 0.5) *
                  (most / 1.5) for _ in range(2)]
        return [query, *stored, *scales]

    def tables(self, length):
        """Cosines and sines [length, width / 2] in f32."""
        import torch
        width = self.shape[-1]
        rates = 10000.0 ** (-torch.arange(0, width, 2, device="cuda") / width)
        angles = torch.arange(length, device="cuda")[:, None] * rates
        return [angles.cos().float(), angles.sin().float()]

    def operands(self, *inputs):
        """Queries, keys and values in 16 bits, as the program makes them."""
        if self.kind in CACHES:
            query, key, value, *scales = inputs
            shape = (1, -1, 1, 1) if self.kind == "f8" else (*self.keys[:3], 1)
            wide = [(x.float() * scale.reshape(shape)).to(query.dtype)
                    for x, scale in zip((key, value), scales)]
            return query, *wide
        query, key, value, *tables = inputs
        query = rotate(query, *tables[:2])
        if self.kind != "ropequery":
            key = rotate(key, *tables[2:])
        return query, key, value

    def wanted(self, inputs):
        return super().wanted(self.operands(*inputs))

    def peers(self, inputs):
        import torch
        import torch.nn.functional as functional
        from torch.nn.attention import SDPBackend

        def whole(*inputs):
            return functional.scaled_dot_product_attention(
                *self.operands(*inputs), is_causal=self.causal,
                enable_gqa=self.keys[1] != self.shape[1])

        torch._dynamo.reset()
        compiled = torch.compile(whole, dynamic=False)
        made = self.operands(*inputs)
        return {"torch.compile": lambda: compiled(*inputs),
                "cuDNN, 16 bits": lambda: self.attend(
                    SDPBackend.CUDNN_ATTENTION, made)}

    def bytes(self):
        """Read and written once."""
        if self.kind not in CACHES:
            return super().bytes()
        scales = 8 * math.prod(self.scale_shape())
        return 4 * math.prod(self.shape) + 2 * math.prod(self.keys) + scales


def rotate(x, cos, sin):
    """`x` [..., length, width] rotated in f32, rounded once."""
    import torch
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin,
                      second * cos + first * sin), dim=-1).to(x.dtype)
