#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times the gradients of attention beside PyTorch's kernels.

    attention_backward.py build FOLDER [CASE ...]   any machine with the compiler
    attention_backward.py run FOLDER [--library=libfusion-rt.so]
    attention_backward.py check FOLDER [CASE ...]   ptxas: no spills, no remarks

each with [--only=REGEX] for the names of cases.

A case is BATCHxHEADSxLENGTHxWIDTH_TYPE, with _bias behind it for a bias of the
scores, of every head, whose gradient is a result as well, and _causal for a causal
mask; heads of queries may have those of keys behind them, 2x32.8x4096x128_bf16,
whose gradients are then sums over the heads that share them. Its program has the queries, keys, values, results, gradients of results
and logarithms of sums that PyTorch's kernels save, and makes the gradients of
queries, keys and values by plain operations (Dao, FlashAttention-2, 2023,
algorithm 2, without its loops):

    D = sum(dO * O);  P = exp(scale Q K' - L);  dS = P (dO V' - D) scale
    dQ = dS K;  dK = dS' Q;  dV = P' dO

With a bias P = exp(scale Q K' + B - L), dB = dS is not scaled, but dQ and dK are.

Each package runs twice, which must agree bit by bit, and the first head's
gradients are compared with float64, as those of the peers are; then all take
turns, median of graph replays with the L2 cache flushed. The exit status is 1
when a result was wrong, a case did not compile, spilled, or has products that
ptxas serialises (C75xx).
"""

import pathlib
import re
import sys

from cases import find_packages, make_timer, run_named

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

CASES = [shape + mask for shape in (
    "4x16x4096x128_bf16", "16x16x1024x128_f16", "1x16x16384x128_bf16",
    "4x16x4096x64_bf16", "16x16x1024x64_f16", "2x16x4096x96_f16",
    "3x7x777x64_f16", "2x32.8x4096x128_bf16", "4x16.4x2048x64_f16",
    "4x16x1024x64_f16_bias", "4x16x2048x128_bf16_bias")
    for mask in ("", "_causal")]

MASK = """\
    %i = linalg.index ROW : index
    %j = linalg.index COLUMN : index
    %after = arith.cmpi sgt, %j, %i : index
    %x = arith.select %after, %lowest, %shifted : f32
"""


class Case:
    """The gradients of one attention, queries and keys of one shape."""

    def __init__(self, name):
        match = re.fullmatch(
            r"(\d+)x(\d+)(?:\.(\d+))?x(\d+)x(\d+)_(f16|bf16)(_bias)?(_causal)?",
            name)
        if not match:
            raise SystemExit(f"{name}: not a case, such as {CASES[0]}")
        self.name, self.type = name, match[6]
        batch, heads, keys, length, width = (
            int(size) if size else None for size in match.groups()[:5])
        self.shape = [batch, heads, length, width]
        self.keys = [batch, keys or heads, length, width]
        self.bias, self.causal = bool(match[7]), bool(match[8])

    def program(self):
        batch, heads, length, width = self.shape
        shared = heads // self.keys[1]
        # Queries have a dimension for those that share keys.
        of_keys, query = f"{batch}x{self.keys[1]}x", "b, h, "
        of_queries, loops = of_keys, 4
        if shared > 1:
            of_queries, query, loops = f"{of_keys}{shared}x", "b, h, g, ", 5
        types = {
            "in": f"{of_queries}{length}x{width}x{self.type}",
            "keys": f"{of_keys}{length}x{width}x{self.type}",
            "sums": f"{of_queries}{length}x{width}xf32",
            "key_sums": f"{of_keys}{length}x{width}xf32",
            "scores": f"{of_queries}{length}x{length}xf32",
            "weights": f"{of_queries}{length}x{length}x{self.type}",
            "rows": f"{of_queries}{length}xf32"}
        of = {name: f"tensor<{text}>" for name, text in types.items()}
        maps = {name: f"affine_map<({query}i, j) -> ({query}i{end})>"
                for name, end in (("in", ", j"), ("sums", ", j"),
                                  ("scores", ", j"), ("weights", ", j"),
                                  ("rows", ""))}
        for name in ("keys", "key_sums"):
            maps[name] = "affine_map<(b, h, i, j) -> (b, h, i, j)>"
        lines = []

        def generic(name, inputs, kind, element, body, initial="",
                    last="parallel"):
            """%name of `inputs`: [(tensor, kind)], whose elements are %a, %b ..."""
            own = ["\"parallel\""] * (3 if "key" in kind else loops - 1) + [f"\"{last}\""]
            names = ", ".join(f"%{tensor}" for tensor, _ in inputs)
            arguments = "".join(
                f"%{letter}: {of[own].rstrip('>').rsplit('x', 1)[1]}, "
                for letter, (_, own) in zip("abcdg", inputs))
            lines.append(
                f"  %{name}_e = tensor.empty() : {of[kind]}\n"
                f"{initial}"
                f"  %{name} = linalg.generic {{indexing_maps = ["
                f"{', '.join(maps[own] for _, own in (*inputs, ('', kind)))}], "
                f"iterator_types = [{', '.join(own)}]}} ins({names} : "
                f"{', '.join(of[own] for _, own in inputs)}) outs("
                f"%{name}_{'0' if initial else 'e'} : {of[kind]}) {{\n"
                f"  ^bb0({arguments}%old: {element}):\n{body}  }} -> {of[kind]}\n")

        def product(name, left, right, kind, places):
            kinds = (left[1], right[1], kind)
            loops = ", ".join(
                f"affine_map<({query}m, n, k) -> "
                f"({'b, h, ' if 'key' in own else query}{place})>"
                for own, place in zip(kinds, places))
            (left, left_kind), (right, right_kind) = left, right
            lines.append(
                f"  %{name}_e = tensor.empty() : {of[kind]}\n"
                f"  %{name}_0 = linalg.fill ins(%zero : f32) outs(%{name}_e : "
                f"{of[kind]}) -> {of[kind]}\n"
                f"  %{name} = linalg.contract indexing_maps = [{loops}] ins("
                f"%{left}, %{right} : {of[left_kind]}, {of[right_kind]}) outs("
                f"%{name}_0 : {of[kind]}) -> {of[kind]}\n")

        def weigh(bias):
            """The weight of an element, whose bias is `bias`."""
            added = (f"    %of_bias = arith.extf %{bias} : {self.type} to f32\n"
                     "    %score = arith.addf %y, %of_bias : f32\n")
            return (
                "    %y = arith.mulf %a, %scale : f32\n" +
                (added if self.bias else "") +
                f"    %shifted = arith.subf %{'score' if self.bias else 'y'}, "
                "%b : f32\n" +
                (MASK.replace("ROW", str(loops - 2)).replace(
                    "COLUMN", str(loops - 1)) if self.causal else "") +
                f"    %w = math.exp %{'x' if self.causal else 'shifted'} : f32\n")

        bias = [("bias", "weights")] if self.bias else []
        # The gradient of a bias is not scaled: those of queries and keys are.
        scaled = "" if self.bias else "    %h = arith.mulf %f, %scale : f32\n"
        generic("delta", [("do", "in"), ("o", "in")], "rows", "f32",
                f"    %af = arith.extf %a : {self.type} to f32\n"
                f"    %bf = arith.extf %b : {self.type} to f32\n"
                "    %y = arith.mulf %af, %bf : f32\n"
                "    %t = arith.addf %old, %y : f32\n"
                "    linalg.yield %t : f32\n",
                initial=(f"  %delta_0 = linalg.fill ins(%zero : f32) outs(%delta_e : "
                         f"{of['rows']}) -> {of['rows']}\n"), last="reduction")
        rows = ("m, k", "n, k", "m, n")
        product("s", ("q", "in"), ("k", "keys"), "scores", rows)
        product("dp", ("do", "in"), ("v", "keys"), "scores", rows)
        generic("p", [("s", "scores"), ("l", "rows")] + bias, "weights",
                self.type, weigh("c") +
                f"    %t = arith.truncf %w : f32 to {self.type}\n"
                f"    linalg.yield %t : {self.type}\n")
        generic("ds", [("s", "scores"), ("l", "rows"), ("dp", "scores"),
                       ("delta", "rows")] + bias, "weights", self.type,
                weigh("g") +
                "    %e = arith.subf %c, %d : f32\n"
                "    %f = arith.mulf %w, %e : f32\n" + scaled +
                f"    %t = arith.truncf %{'h' if scaled else 'f'} : f32 to "
                f"{self.type}\n"
                f"    linalg.yield %t : {self.type}\n")
        for name, left, right, sums, places in (
                ("dq", "ds", ("k", "keys"), "sums", ("m, k", "k, n", "m, n")),
                ("dk", "ds", ("q", "in"), "key_sums", ("k, m", "k, n", "m, n")),
                ("dv", "p", ("do", "in"), "key_sums", ("k, m", "k, n", "m, n"))):
            product(f"{name}_f", (left, "weights"), right, sums, places)
            generic(name, [(f"{name}_f", sums)],
                    "in" if sums == "sums" else "keys", self.type,
                    ("" if scaled or name == "dv" else
                     "    %y = arith.mulf %a, %scale : f32\n") +
                    f"    %t = arith.truncf "
                    f"%{'a' if scaled or name == 'dv' else 'y'} : f32 to "
                    f"{self.type}\n"
                    f"    linalg.yield %t : {self.type}\n")
        arguments = ", ".join(
            f"%{name}: {of['keys' if name in 'kv' else 'in']}"
            for name in ("q", "k", "v", "o", "do"))
        lowest = ("  %lowest = arith.constant 0xFF800000 : f32\n"
                  if self.causal else "")
        results = f"{of['in']}, {of['keys']}, {of['keys']}"
        returned = "%dq, %dk, %dv"
        arguments += f", %l: {of['rows']}"
        if self.bias:
            arguments += f", %bias: {of['weights']}"
            results, returned = f"{results}, {of['weights']}", f"{returned}, %ds"
        return (f"func.func @main({arguments}) -> "
                f"({results}) {{\n"
                f"  %zero = arith.constant 0.0 : f32\n{lowest}"
                f"  %scale = arith.constant {width ** -0.5:.9e} : f32\n"
                f"{''.join(lines)}  return {returned} : {results}\n}}\n")

    def flops(self):
        """Of five products, which the gradients need at least."""
        batch, heads, length, width = self.shape
        pairs = length * (length + 1) / 2 if self.causal else length * length
        return 10.0 * batch * heads * width * pairs

    def peers(self):
        """PyTorch's kernels that make these gradients."""
        return ("efficient",) if self.bias else ("cuDNN", "FlashAttention")

    def backward(self, backend, query, key, value, gradient, bias=None):
        """(results, logarithms of sums, a call that makes the gradients) by
        PyTorch's kernels: one of `peers`."""
        import torch
        aten, causal = torch.ops.aten, self.causal
        if backend == "efficient":
            out, sums, *state = aten._scaled_dot_product_efficient_attention(
                query, key, value, bias, True, 0.0, causal)
            return out, sums[..., :query.shape[2]], lambda: (
                aten._scaled_dot_product_efficient_attention_backward(
                    gradient, query, key, value, bias, out, sums, *state, 0.0,
                    [True, True, True, True], causal))
        if backend == "cuDNN":
            out, sums, *rest = aten._scaled_dot_product_cudnn_attention(
                query, key, value, None, True, 0.0, causal, False)
            starts, lengths, seed = rest[:2], rest[2:4], rest[4:6]
            return out, sums, lambda: (
                aten._scaled_dot_product_cudnn_attention_backward(
                    gradient, query, key, value, out, sums, *seed, None,
                    *starts, *lengths, 0.0, causal))
        out, sums, *rest = aten._scaled_dot_product_flash_attention(
            query, key, value, 0.0, causal, False)
        return out, sums, lambda: (
            aten._scaled_dot_product_flash_attention_backward(
                gradient, query, key, value, out, sums, *rest[:4], 0.0, causal,
                *rest[4:6]))

    def reference(self, inputs):
        """The gradients of the first head of queries, and of the first one of
        keys, in float64."""
        import torch
        shared = self.shape[1] // self.keys[1]
        query, gradient, *bias = (
            inputs[which][0, :shared].double()
            for which in (0, 3, *range(4, len(inputs))))
        key, value = (each[0, 0].double() for each in inputs[1:3])
        sources = (query, key, value, *bias)
        for each in sources:
            each.requires_grad_()
        scores = query @ key.T / query.shape[-1] ** 0.5
        if bias:
            scores = scores + bias[0]
        if self.causal:
            scores = scores.masked_fill(
                torch.ones_like(scores, dtype=torch.bool).triu(1),
                float("-inf"))
        result = torch.softmax(scores, -1) @ value
        of_query, of_key, of_value, *of_bias = torch.autograd.grad(
            result, sources, gradient)
        return of_query[0], of_key, of_value, *(each[0] for each in of_bias)

    def call(self, package, inputs, out, sums):
        """A call of the package, whose queries have a dimension for those that
        share keys."""
        batch, heads, length, width = self.shape
        groups = [batch, self.keys[1], heads // self.keys[1]]
        if heads == self.keys[1]:
            groups = groups[:2]
        query, key, value, gradient, *bias = inputs
        query, gradient, out = (
            each.reshape(*groups, length, width).contiguous()
            for each in (query, gradient, out))
        rows = sums.reshape(*groups, length).contiguous()
        bias = [each.reshape(*groups, length, length) for each in bias]

        def run_package():
            of_query, *others = package(
                query, key, value, out, gradient, rows, *bias)
            return of_query.view(self.shape), *others

        return run_package


def run(folder, only):
    import fusion_compiler as fusion
    import torch

    timer = make_timer()
    types = {"f16": torch.float16, "bf16": torch.bfloat16}
    failed = 0
    for name, paths in find_packages(folder, only).items():
        case = Case(name)
        inputs = [torch.randn(shape, device="cuda").to(types[case.type])
                  for shape in (case.shape, case.keys, case.keys, case.shape)]
        if case.bias:
            inputs.append(torch.randn([*case.shape[:3], case.shape[2]],
                                      device="cuda").to(types[case.type]))
        wanted = case.reference(inputs)
        calls, peers = {}, case.peers()
        for peer in peers:
            try:
                own_out, own_sums, call = case.backward(peer, *inputs)
                call()
                out, sums, calls[peer] = own_out, own_sums, call
            except RuntimeError as error:
                print(f"{name:32} {peer:16} {str(error)[:80]}")
        for path in paths:
            calls[path.stem.split("@")[1]] = case.call(
                fusion.load(path), inputs, out, sums)
        errors = {}
        for label, call in calls.items():
            result, again = (call()[:len(wanted)] for _ in range(2))
            errors[label] = [
                ((mine[0, 0].double() - true).abs().max() /
                 true.abs().max()).item()
                for mine, true in zip(result, wanted)]
            if label in peers:
                continue
            same = all(map(torch.equal, result, again))
            right = same and all(
                mine <= 2 * max(errors[peer][which] for peer in errors
                                if peer in peers)
                for which, mine in enumerate(errors[label]))
            failed += not right
            if not right:
                print(f"{name:32} {label:16} WRONG, equal twice: {same}")
        times = timer.medians_us(calls)
        best = min(times[label] for label in times if label in peers)
        for label, time in times.items():
            print(f"{name:32} {label:16} {time:9.1f} us "
                  f"{case.flops() / time / 1e6:6.0f} TFLOP/s "
                  f"{best / time:6.2f} x  errors "
                  f"{' '.join(f'{error:.1e}' for error in errors[label])}",
                  flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(run_named(__doc__, Case, CASES, run))
