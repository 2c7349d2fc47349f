# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times the packages of a case in this process."""

import math
import statistics

import torch

import fusion_compiler as fusion

from . import peers, semantics

_BATCH = 8  # Packages of a sweep that are timed in turns.


class Bench:
    """Runs packages on the GPU, or on the emulator with tensors of the CPU."""

    def __init__(self, settings):
        self._settings = settings
        self._on_gpu = settings["device"] == "cuda"
        self._place = "cuda" if self._on_gpu else "cpu"
        self._timer, self._rates = None, {}
        if settings["timed"]:
            from timing import Timer
            self._timer = Timer(settings["repeat"])
        torch.backends.cudnn.benchmark = True

    def machine(self):
        """What is known of the machine, for the report."""
        facts = {"torch": torch.__version__, "device": "emulator"}
        if self._on_gpu:
            facts["device"] = torch.cuda.get_device_name()
            facts.update(_state())
        if self._timer:
            facts["copy_tb_per_s"] = self._timer.copy_rate / 1e12
            facts["bf16_tflop_per_s"] = self._timer.matmul_rate / 1e12
        return facts

    def rows(self, case, paths):
        """Yields a row for each package when it is checked, and when all of
        the case are, times as {"partial": …, "index": row}."""
        tensors = semantics.draw(case, self._place)
        references = semantics.reference(case, tensors)
        calls, moved = {}, case.program.bytes()
        for index, path in enumerate(paths):
            row = {"package": path.name, "case": case.to_json(),
                   "flops": case.flops, "bytes": moved}
            try:
                call = self._check(case, path, tensors, references, row)
                if row["right"]:
                    calls[index] = call
            except Exception as error:  # The next package may still run.
                row.update(right=False,
                           note=f"{type(error).__name__}: {error}"[:600])
                row["broken"] = not self._alive()
            yield row
            if row.get("broken"):
                return
        del references
        if self._timer and calls:
            try:
                yield from self._time(case, tensors, calls)
            except Exception as error:
                yield {"failure": f"while it was timed, {error}"[:600]}
        if self._on_gpu:
            torch.cuda.empty_cache()

    def _check(self, case, path, tensors, references, row):
        package = fusion.load(path, None if self._on_gpu else "emulator")
        first, second = (semantics.empty_results(case, self._place)
                         for _ in range(2))
        for out in (first, second):
            self._run(package, tensors, out)
        if self._on_gpu:
            torch.cuda.synchronize()
        row["launches"] = package.figures(*self._arguments(tensors))["launches"]
        right, note, norm = semantics.compare(case, first, references)
        row.update(right=right, note=note,
                   norm=norm if math.isfinite(norm) else None)
        if right and not all(_same_bits(x, y) for x, y in zip(first, second)):
            row.update(right=False, note="two runs differ: a race, or memory "
                                         "that nothing wrote")
        out = second

        def call():
            package(*tensors, out=out)
        return call

    def _arguments(self, tensors):
        """Tensors as the package takes them: in place, or as NumPy arrays."""
        return tensors if self._on_gpu else tuple(map(_array, tensors))

    def _run(self, package, tensors, outs):
        if self._on_gpu:
            package(*tensors, out=outs)
            return
        results = package(*self._arguments(tensors))
        results = results if isinstance(results, tuple) else (results,)
        for out, result in zip(outs, results, strict=True):
            # bf16 results come widened to f32, exactly.
            out.copy_(torch.from_numpy(result))

    def _alive(self):
        try:
            if self._on_gpu:
                torch.cuda.synchronize()
                torch.zeros(1, device="cuda").item()
        except RuntimeError:
            return False
        return True

    def _time(self, case, tensors, calls):
        """Times the packages, several at a time with the peers among them."""
        torch.backends.cuda.matmul.allow_tf32 = case.dtype == "tf32"
        torch.backends.cudnn.allow_tf32 = case.dtype == "tf32"
        others, errors = self._peers(case, tensors)
        floor = 1e6 * max(case.program.bytes() / self._timer.copy_rate,
                          case.flops / self._rate(case.dtype))
        items = list(calls.items())
        for start in range(0, len(items), _BATCH):
            part = items[start:start + _BATCH]
            before = _state()
            times = self._timer.compared_us({
                **{str(index): call for index, call in part}, **others})
            after = _state()
            theirs = {name: statistics.median(times[name]) for name in others}
            for index, call in part:
                mine = times[str(index)]
                result = {"us": statistics.median(mine), "fastest_us": mine[0],
                          "slowest_us": mine[-1], "floor_us": floor,
                          "peers_us": theirs, "peer_errors": errors,
                          "before": before, "after": after}
                if self._settings["second_timer"]:
                    result["back_to_back_us"] = self._timer.back_to_back_us(
                        call)
                    result["peers_back_to_back_us"] = {
                        name: self._timer.back_to_back_us(other)
                        for name, other in others.items()}
                yield {"partial": result, "index": index}

    def _peers(self, case, tensors):
        """The peers that run here, and why others do not."""
        found, errors = {}, {}
        for name in self._settings["peers"]:
            try:
                made = peers.make(case, tensors, [name])
                for call in made.values():
                    call()
                torch.cuda.synchronize()
                found.update(made)
            except Exception as error:  # It must not end the run.
                errors[name] = f"{type(error).__name__}: {error}"[:300]
        return found, errors

    def _rate(self, dtype):
        """The library's rate for a large product of this type, flop/s."""
        if dtype in ("bf16", "f16"):
            return self._timer.matmul_rate
        if dtype not in self._rates:
            from .cases import Case
            size = 4096 if dtype == "f32" else 8192
            large = Case.make("gemm", size, size, size, dtype, "nk")
            tensors = semantics.draw(large, self._place)
            call = peers.make(large, tensors, ["bare"])["bare"]
            self._rates[dtype] = 1e6 * large.flops / self._timer.graph_us(call)
        return self._rates[dtype]


def _same_bits(x, y):
    return torch.equal(x.view(torch.uint8), y.view(torch.uint8))


def _array(tensor):
    """A tensor of the CPU as the NumPy array that a package takes."""
    raw = {torch.bfloat16: torch.uint16, torch.float8_e4m3fn: torch.uint8}
    return tensor.view(raw.get(tensor.dtype, tensor.dtype)).numpy()


def _state():
    """Clock, power and temperature, where the driver's library tells them."""
    try:
        return {"mhz": torch.cuda.clock_rate(),
                "watts": torch.cuda.power_draw() / 1e3,
                "celsius": torch.cuda.temperature()}
    except Exception:  # No pynvml: only the notes are poorer.
        return {}
