# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark of drawn programs, without a GPU."""

import argparse
import json
import math
import os
import pathlib
import random
import sys
import tempfile
import unittest

import numpy as np

import fusion_compiler as fusion

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / "benchmarks"))

from drawing import build, draws, measure, report  # noqa: E402
from drawing.builder import word  # noqa: E402

try:
    import torch
    from drawing import runtime
    REASON = ""
except ImportError:
    torch, REASON = None, "PyTorch is not installed"

SMALL = draws.Limits(0, 30000, 1e5)
BINARIES = pathlib.Path(os.environ.get("FUSION_BUILD_DIR",
                                       build.default_bin().parent)) / "bin"


def draft():
    return draws.Draft(random.Random(1), SMALL)


class DrawTest(unittest.TestCase):

    def test_limits(self):
        limits = draws.Limits(16 << 20, 64 << 20, 1e11)
        for family in draws.FAMILIES:
            for number in range(20):
                drawn = draws.draw(f"limits/{family}/{number}", limits)
                self.assertLessEqual(drawn.bytes, limits.max_bytes)
                self.assertLessEqual(drawn.flops, limits.max_flops)

    def test_sizes_are_of_every_magnitude_and_odd(self):
        sizes = set()
        for number in range(300):
            drawn = draws.draw(f"sizes/reduce/{number}",
                               draws.Limits(0, 1 << 30, 0))
            sizes.update(drawn.inputs[0][0])
        for low in range(0, 27, 3):
            self.assertTrue(any(1 << low <= n < 1 << (low + 3)
                                for n in sizes), low)
        large = [n for n in sizes if n > 64]
        self.assertGreater(sum(n % 2 for n in large), len(large) / 5)

    def test_what_is_read(self):
        b = draft()
        x, y = b.tensor((64, 100), "f32"), b.tensor((64, 100), "f32")
        part = b.both(f"tensor.extract_slice {x.name}[0, 0] [8, 50] [1, 2] : "
                      f"{x.type} to tensor<8x50xf32>", (8, 50), "f32", "x0")
        b.slice_bytes(x, [8, 50], [1, 2])
        b.give(part, b.apply("relu", y))
        # Every second element of eight rows, and the whole of the other.
        self.assertEqual(b.read_bytes(), 8 * 50 * 2 * 4 + 64 * 100 * 4)
        self.assertEqual(b.write_bytes(), 8 * 50 * 4 + 64 * 100 * 4)

    def test_a_second_read_where_the_chip_holds_no_group(self):
        b = draft()
        x = b.tensor((1000, 500, 7), "bf16")
        b.seen_twice(x, [2])  # rows of 14 bytes
        b.seen_twice(x, [0])  # columns, a sector of which is 16 elements
        b.seen_twice(x, [0, 1])  # the sector has seven elements
        groups = [group for _, group in b.again]
        self.assertEqual(groups, [14, 1000 * 32, 1000 * 500 * 14])
        b.give(x)
        drawn = b.finish("a/norm/1")
        self.assertEqual(drawn.floor_bytes(1e5), drawn.bytes + 7000000)
        self.assertEqual(drawn.floor_bytes(1e8), drawn.bytes)

    def test_variables_end_with_their_last_use(self):
        b = draft()
        x = b.tensor((4,), "f32")
        y = b.apply("relu", x)
        z = b.join("add", y, b.apply("abs", y))
        b.give(z)
        self.assertIn(f"    del {word(y)}", b.source())
        self.assertNotIn(f"del {word(z)}", b.source())


class ReportTest(unittest.TestCase):

    def rows(self):
        return [{"name": f"s/reduce/{n}", "right": n != 3, "note": "wrong",
                 "description": "", "bytes": 1 << 25,
                 **({} if n == 3 else {
                     "fusion_us": 2.0, "floor_us": 1.0, "over_floor": 2.0 + n,
                     "over_launch": 1.0 + n,
                     "speed": 1.0, "prediction": 0.5, "predicted_us": 1.0,
                     "schedules": [{"kernel": "k", "schedule": "s"}]})}
                for n in range(4)]

    def test_failures_are_the_worst(self):
        figures = report.summarise(self.rows())
        self.assertEqual((figures["programs"], figures["right"]), (4, 3))
        self.assertAlmostEqual(figures["over_floor"]["mean"], 24 ** (1 / 3))
        self.assertEqual(figures["over_floor"]["worst"], math.inf)
        self.assertAlmostEqual(figures["over_launch"]["mean"], 6 ** (1 / 3))
        self.assertEqual(figures["speed"]["worst"], 0.0)
        self.assertEqual(figures["prediction"]["median_error"], 0.5)
        text = report.text(self.rows())
        self.assertIn("s/reduce/3: : wrong", text)
        self.assertIn("4.00  s/reduce/2", text)

    def test_choices(self):
        rows = self.rows()[:2]
        self.assertEqual(report.choices(rows, 1), [])
        for row, best in zip(rows, (1.0, 4.0)):
            row["sweep"] = [{"us": best, "predicted_us": 1.0,
                             "schedule": "other"}]
            row["over_best"] = 2.0 / min(best, 2.0)
        lines = report.choices(rows, 1)
        self.assertIn("2 choices against 2 other schedules: 1.414", lines[0])
        self.assertIn("2.00  s/reduce/0", lines[1])
        self.assertEqual(lines[-1].count("other"), 1)

    def test_different_schedules_are_chosen(self):
        schedules = [{"schedule": name} for name in "aabcdef"]
        self.assertEqual(build.choose(schedules, 2), [0, 6])
        self.assertEqual(build.choose(schedules, 9), [0, 2, 3, 4, 5, 6])

    def test_floor(self):
        drawn = draws.draw("floor/product/1", draws.Limits(0, 1 << 20, 1e9))
        machine = {"chip_mb": 50.0, "copy_tb_per_s": 4.0,
                   "f32_tflop_per_s": 50.0, "bf16_tflop_per_s": 1e-3,
                   "launch_us": 5.0}
        row = measure.complete({**drawn.to_json(), "predicted_us": 3.0},
                               {"right": True, "fusion_us": 2.0,
                                "eager_us": 5.0, "compile_us": 4.0}, machine)
        rate = 50e12 if drawn.flop_type == "f32" else 1e9
        self.assertAlmostEqual(row["floor_us"], 1e6 * max(
            drawn.bytes / 4e12, drawn.flops / rate))
        self.assertAlmostEqual(row["over_launch"], 2 / (row["floor_us"] + 5))
        self.assertEqual((row["speed"], row["prediction"]), (2.0, 1.5))

    def test_schedules_are_found(self):
        text = ("  fusion.kernel @k ins(%a : tensor<4xf32>) attributes {e = "
                "#fusion.e<a = 1>, schedule = #fusion.schedule<reduction, axes "
                "= [#fusion.axis<grid, tile = 1>], warps = 8>} {")
        self.assertEqual(build.find_schedules(text), [
            {"kernel": "k", "schedule":
             "reduction, axes = [axis<grid, tile = 1>], warps = 8"}])


@unittest.skipIf(torch is None, REASON)
class TorchTest(unittest.TestCase):
    """The PyTorch text computes what the package does on the emulator."""

    def test_every_family(self):
        with tempfile.TemporaryDirectory() as folder:
            options = argparse.Namespace(
                folder=pathlib.Path(folder), bin=BINARIES, target="sm_90a",
                seconds_to_compile=60, jobs=2, sweep=0,
                target_file=None)
            programs = [draws.draw(f"torch/{family}/{number}", SMALL)
                        for family in draws.FAMILIES for number in range(3)]
            rows = json.loads(json.dumps(build.build(programs, options)))
            for row in rows:
                with self.subTest(row["name"], what=row["description"]):
                    self.assertNotIn("error", row)
                    right, note = self.check(row, options.folder)
                    self.assertTrue(right, note)

    def check(self, row, folder):
        path = folder / f"{row['stem']}.py"
        inputs = runtime.draw_inputs(row, "cpu")
        results = fusion.load(path.with_suffix(".fpk"), "emulator")(
            *map(self.array, inputs))
        results = results if isinstance(results, tuple) else (results,)
        outputs = [torch.from_numpy(np.array(result)).reshape(shape).to(
            runtime.TYPES[dtype])
            for result, (shape, dtype) in zip(results, row["outputs"])]
        reference = runtime.load(path, "reference")(*runtime.widened(inputs))
        try:
            exact = runtime.load(path, "exact")(*inputs)
        except NotImplementedError:  # Some have no half on the CPU.
            exact = [r.to(o.dtype) for r, o in zip(reference, outputs)]
        for one, (shape, dtype) in zip(exact, row["outputs"]):
            self.assertEqual((list(one.shape), one.dtype),
                             (shape, runtime.TYPES[dtype]))
        return runtime.compare(row, outputs, exact, reference)

    @staticmethod
    def array(value):
        if not torch.is_tensor(value):
            return value
        bits = {torch.bfloat16: torch.uint16}
        return value.view(bits.get(value.dtype, value.dtype)).numpy()

    def test_wrong_results_are_found(self):
        row = {"terms": 100, "unit": 0.0}
        right = torch.randn(1000, dtype=torch.float64)
        out = right.float()
        self.assertTrue(runtime.compare(row, [out], [out], [right])[0])
        for wrong in (1.001 * out, out + math.nan, out.flip(0)):
            self.assertFalse(runtime.compare(row, [wrong], [out], [right])[0])
        places = torch.arange(5)
        self.assertTrue(runtime.compare(row, [places], [places], [places])[0])
        self.assertFalse(runtime.compare(row, [places + 1], [places],
                                         [places])[0])

    def test_recurrence(self):
        a, b = torch.rand(3, 37, 2), torch.randn(3, 37, 2)
        for reverse in (False, True):
            h, wanted = torch.zeros(3, 2), torch.empty_like(b)
            order = range(36, -1, -1) if reverse else range(37)
            for t in order:
                h = wanted[:, t] = a[:, t] * h + b[:, t]
            torch.testing.assert_close(
                runtime.recurrence(a, b, 1, reverse), wanted)


if __name__ == "__main__":
    unittest.main()
