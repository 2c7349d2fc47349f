# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A process that checks and times programs of a folder, one at a time.

It is asked and answers through tensorcore/workers.py: a wild kernel takes this
process with it and not the run.
"""

import functools
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:1] = [str(HERE.parent), str(HERE.parent.parent)]

import torch  # noqa: E402

import fusion_compiler as fusion  # noqa: E402
from drawing import runtime  # noqa: E402
from timing import Timer  # noqa: E402

# Of an SM's registers and shared memory, what can hold data while a kernel
# computes with the rest: about 50 MB of an H100.
HELD_SHARE = 0.75


class Bench:
    """Runs programs on the GPU; `settings` as drawn.py's options."""

    def __init__(self, settings):
        self.folder = pathlib.Path(settings["folder"])
        self.settings = settings
        # A product of f32 is one of f32: peers may not round its factors.
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        self.timer = Timer(settings["repeat"])
        self.rates = {"bf16": self.timer.matmul_rate,
                      "f16": self.timer.matmul_rate, "f32": self.f32_rate()}

    def f32_rate(self):
        a, b = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
        time = self.timer.graph_us(lambda: a @ b)
        return 2.0 * 4096 ** 3 / time * 1e6

    def machine(self):
        chip = torch.cuda.get_device_properties(0)
        # PyTorch before 2.6 does not tell: as on an H100.
        registers = getattr(chip, "regs_per_multiprocessor", 64 << 10)
        shared = getattr(chip, "shared_memory_per_multiprocessor", 228 << 10)
        held = HELD_SHARE * chip.multi_processor_count * (
            4 * registers + shared)
        few = torch.zeros(8, device="cuda")
        launch = self.timer.bounded_us({"launch": lambda: few.add_(1)}, 0.1)
        return {"device": chip.name, "torch": torch.__version__,
                "launch_us": launch["launch"],
                "copy_tb_per_s": self.timer.copy_rate / 1e12,
                "bf16_tflop_per_s": self.rates["bf16"] / 1e12,
                "f32_tflop_per_s": self.rates["f32"] / 1e12,
                "chip_mb": held / 1e6}

    def row(self, row):
        """What came of a program: `right`, `note` and times."""
        found = {"name": row["name"], "right": False}
        row = {"sweep": [], **row}
        try:
            inputs = runtime.draw_inputs(row, "cuda")
            calls = self.check(row, inputs, found)
            torch.cuda.empty_cache()
            if found["right"]:
                self.time(row, inputs, calls, found)
        except Exception as error:  # The next program may still run.
            found["right"] = False
            found["note"] = f"{type(error).__name__}: {error}"[:600]
            found["broken"] = not alive()
        torch.cuda.empty_cache()
        return found

    def check(self, row, inputs, found):
        source = self.folder / f"{row['stem']}.py"
        try:
            exact = runtime.load(source, "exact")(*inputs)
            reference = runtime.load(source, "reference")(
                *runtime.widened(inputs))
        except RuntimeError as error:
            raise RuntimeError("PyTorch, which is compared with, fails: "
                               f"{error}") from error
        calls = {}
        for stem in (row["stem"], *(one["stem"] for one in row["sweep"])):
            package = fusion.load(self.folder / f"{stem}.fpk")
            outputs, again = (runtime.poisoned(row, "cuda") for _ in range(2))
            for out in (outputs, again):
                package(*inputs, out=tuple(out))
            torch.cuda.synchronize()
            found.setdefault("launches", package.figures(*inputs)["launches"])
            stable = all(map(runtime.same_bits, outputs, again))
            again.clear()
            right, note = runtime.compare(row, outputs, exact, reference)
            if right and not stable:
                right, note = False, "two runs differ"
            found.update(right=right, note=note)
            if not right:
                found["note"] += f" ({stem})"
                return {}
            # All may write the same results: they are compared already.
            kept = found.setdefault("outputs", outputs)
            calls[stem] = functools.partial(package, *inputs, out=tuple(kept))
        del found["outputs"]
        return calls

    def time(self, row, inputs, calls, found):
        """Times the packages, and with them each peer that runs."""
        calls["fusion"] = calls.pop(row["stem"])
        for peer in self.settings["peers"]:
            try:
                calls[peer] = self.peer(row, inputs, peer)
            except Exception as error:  # It must not end the run.
                found[f"{peer}_error"] = f"{type(error).__name__}: {error}"[
                    :300]
        times = self.timer.bounded_us(calls, self.settings["seconds_to_time"])
        found["sweep"] = [{**one, "us": times.pop(one["stem"])}
                          for one in row["sweep"]]
        found.update({f"{name}_us": us for name, us in times.items()})

    def peer(self, row, inputs, peer):
        function = prepare(self.folder / f"{row['stem']}.py", peer, inputs)
        return lambda: function(*inputs)


def prepare(path, peer, inputs):
    """The function of a peer, warm."""
    if peer == "eager":
        return runtime.load(path, "peer")
    first = "compiled" if "recurrence(" in path.read_text() else "peer"
    for kind in dict.fromkeys((first, "peer")):
        torch._dynamo.reset()
        function = torch.compile(runtime.load(path, kind), dynamic=False)
        try:
            function(*inputs)
            return function
        except Exception:
            if kind == "peer":
                raise


def alive():
    try:
        torch.cuda.synchronize()
        torch.zeros(1, device="cuda").item()
    except RuntimeError:
        return False
    return True


def warm(folder, rows):
    """Compiles peers into Inductor's cache and packages into the driver's, of
    the programs that no other process has taken."""
    for row in rows:
        try:
            os.close(os.open(folder / f"{row['stem']}.warm",
                             os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        try:
            fusion.load(folder / f"{row['stem']}.fpk").on("cuda")
            prepare(folder / f"{row['stem']}.py", "compile",
                    runtime.draw_inputs(row, "cuda"))
        except Exception as error:
            print(f"{row['name']}: {type(error).__name__}: {error}"[:300],
                  file=sys.stderr)
            if not alive():
                return
        torch.cuda.empty_cache()


def serve(answers):
    def answer(message):
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    settings = json.loads(sys.stdin.readline())
    if not torch.cuda.is_available():
        answer({"error": "PyTorch sees no GPU on this machine; remedy: run on "
                         "one with an NVIDIA GPU, or check small programs "
                         "with --device=emulator"})
        return
    bench = Bench(settings)
    answer(bench.machine())
    rows = {row["name"]: row for row in read_rows(bench.folder)}
    for line in sys.stdin:
        answer(bench.row(rows[json.loads(line)["name"]]))
        answer({"end": True})


def read_rows(folder):
    return json.loads((folder / "manifest.json").read_text())["rows"]


if __name__ == "__main__":
    if sys.argv[1] == "warm":
        place = pathlib.Path(sys.argv[2])
        warm(place, [r for r in read_rows(place) if "error" not in r])
    else:
        serve(os.fdopen(int(sys.argv[1]), "w"))
