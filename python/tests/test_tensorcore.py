# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark of products and convolutions, without a GPU."""

import json
import pathlib
import sys
import tempfile
import types
import unittest

import fusion_compiler as fusion

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / "benchmarks"))

from tensorcore import cases, schedules, suites, tables  # noqa: E402
from tensorcore.workers import Worker  # noqa: E402

try:
    import torch
    REASON = ""
except ImportError:
    torch, REASON = None, "PyTorch is not installed"

SCHEDULED = (
    "#fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, "
    "#fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64, vector = "
    "8>], warps = 12, mma = #fusion.mma<wgmma, stages = 4, group = 8>>")


class CaseTest(unittest.TestCase):

    def test_names_tell_cases_apart_and_json_keeps_them(self):
        for suite in suites.SUITES.values():
            self.assertEqual(len({case.name for case in suite}), len(suite))
            for case in suite:
                values = json.loads(json.dumps(case.to_json()))
                self.assertEqual(cases.Case.from_json(values), case)

    def test_counts(self):
        case = cases.Case.make("gemm", 3, 5, 7, epilogue="bias")
        self.assertEqual(case.flops, 2 * 3 * 5 * 7)
        self.assertEqual(case.program.bytes(),
                         2 * (3 * 7 + 7 * 5 + 5 + 3 * 5))
        case = cases.Case.make("conv", 2, 9, 16, 24, 3, 2)
        self.assertEqual(case.program.results[0].shape, (2, 5, 5, 24))
        self.assertEqual(case.flops, 2 * 2 * 5 * 5 * 24 * 9 * 16)

    def test_enough_shapes(self):
        self.assertGreaterEqual(len(suites.SUITES["gemm"]), 40)


class ScheduleTest(unittest.TestCase):

    def test_round_trip(self):
        (schedule,) = schedules.find(f"x {SCHEDULED} y")
        self.assertEqual(schedule.text(), SCHEDULED)
        self.assertEqual(schedule.tiles(), (128, 256, 64))
        other = schedule.with_((64, 128, 32), warps=8, stages=6)
        text = schedules.replace(f"x {SCHEDULED} y", [other])
        self.assertEqual(schedules.find(text), [other])
        self.assertEqual(other.tag(), "wgmma-64x128x32-w8-s6-g8")
        shared = other.with_(warps=16, parts=4)
        self.assertEqual(schedules.find(shared.text()), [shared])
        self.assertEqual(shared.tag(), "wgmma-64x128x32-w16-p4-s6-g8")

    def test_neighbours(self):
        (schedule,) = schedules.find(SCHEDULED)
        tried = schedules.neighbours(schedule, 2)
        self.assertEqual(tried[0], schedule)
        self.assertEqual(len({s.tag() for s in tried}), len(tried))
        for other in tried:
            rows, columns, inner = other.tiles()
            stages = dict(other.mma)["stages"]
            self.assertLessEqual(stages * (rows + columns) * inner * 2, 232448)

    def test_compiler_keeps_a_schedule(self):
        program = cases.Case.make("gemm", 64, 64, 64).program.text()
        text = fusion.compile_to("schedule", program)
        (own,) = schedules.find(text)
        for other in schedules.neighbours(own, 2)[:3]:
            kept = fusion.compile_to("schedule",
                                     schedules.replace(text, [other]))
            self.assertEqual(schedules.find(kept), [other])


class WorkerTest(unittest.TestCase):
    """Workers that hang, die or report a lost context, and one that works."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.main = pathlib.Path(directory.name) / "main.py"

    def worker(self, body):
        self.main.write_text(
            "import json, os, sys, time\n"
            "out = os.fdopen(int(sys.argv[1]), 'w')\n"
            "def say(x): out.write(json.dumps(x) + '\\n'); out.flush()\n"
            "input(); say({'device': 'none'})\n"
            "for line in sys.stdin:\n" + body)
        worker = Worker({}, self.main)
        self.addCleanup(worker.stop)
        self.assertEqual(worker.start(), {"device": "none"})
        return worker

    def test_works(self):
        worker = self.worker("  print('noise'); say({'right': True});"
                             "say({'index': 0, 'partial': {'us': 1.5}});"
                             "say({'end': True})\n")
        for _ in range(2):
            self.assertEqual(worker.ask({}, 10),
                             {"rows": [{"right": True, "us": 1.5}]})

    def test_hangs(self):
        worker = self.worker("  say({'right': True}); time.sleep(60)\n")
        for _ in range(2):
            self.assertEqual(worker.ask({}, 0.5), {
                "rows": [{"right": True}], "failure": "no answer within 0 s"})

    def test_dies(self):
        worker = self.worker("  os._exit(7)\n")
        for _ in range(2):
            self.assertEqual(worker.ask({}, 10), {
                "rows": [], "failure": "the process ended with status 7"})

    def test_loses_its_context(self):
        worker = self.worker("  say({'right': False, 'broken': True})\n")
        for _ in range(2):
            self.assertEqual(worker.ask({}, 10), {
                "rows": [{"right": False, "broken": True}]})


class TableTest(unittest.TestCase):

    def test_markdown(self):
        case = cases.Case.make("gemm", 1024, 1024, 1024)
        row = {"case": case.to_json(), "right": True, "us": 10.0,
               "floor_us": 8.0, "flops": case.flops, "note": "",
               "peers_us": {"bare": 20.0}}
        options = types.SimpleNamespace(check_only=False,
                                        peers=["bare", "fused"])
        table = tables.Table(options, {"device": "none"})
        table.add(case, [row])
        self.assertEqual(
            table.markdown().splitlines()[-1],
            "| gemm_1024x1024x1024_bf16_kn_none | 10.0 | 215 | 1.25 | 20.0 | "
            "- | 0.50 | - |")


@unittest.skipIf(REASON, REASON)
class MeasureTest(unittest.TestCase):
    """References, comparison and the order of a measurement on the CPU."""

    def test_a_wrong_element_is_found(self):
        from tensorcore import semantics
        for case in suites.SUITES["smoke"]:
            tensors = semantics.draw(case, "cpu")
            wanted = semantics.reference(case, tensors)
            outs = semantics.empty_results(case, "cpu")
            right, note, norm = semantics.compare(case, outs, wanted)
            self.assertFalse(right, case)
            self.assertRegex(note, f"{outs[0].numel()} NaN, never written"
                             if outs[0].is_floating_point() else "wrong")
            for out, values in zip(outs, wanted):
                out.copy_(values if out.is_floating_point()
                          else values.round())
            self.assertTrue(semantics.compare(case, outs, wanted)[0], case)
            for out in outs:
                element = out.view(-1)[out.numel() // 2]
                kept = element.clone()
                element.add_(2 if not out.is_floating_point() else
                             0.1 * out.double().square().mean().sqrt())
                right, note, _ = semantics.compare(case, outs, wanted)
                self.assertFalse(right, case)
                self.assertIn(f"1 of {out.numel()} elements wrong", note)
                element.copy_(kept)

    def test_peers_compute_the_case(self):
        from tensorcore import peers, semantics
        for case in suites.SUITES["smoke"]:
            tensors = semantics.draw(case, "cpu")
            wanted = semantics.reference(case, tensors)[0]
            made = peers.make(case, tensors, ["eager"])
            if case.family not in ("conv", "depthwise") and (
                    case["dtype"] != "tf32"):
                made.update(peers.make(case, tensors, ["fused"]))
            for name, call in made.items():
                result = call()
                result = result[0] if isinstance(result, tuple) else result
                if case.family in ("conv", "depthwise"):
                    result = result.permute(0, 2, 3, 1)
                error = (result.double() - wanted).norm() / wanted.norm()
                self.assertLess(error.item(), 1e-2, (case, name))

    def test_times_are_attached_to_rows(self):
        from tensorcore import measure
        case = cases.Case.make("gemm", 16, 16, 16, epilogue="bias")
        bench = measure.Bench({"device": "emulator", "timed": False,
                               "peers": ["eager"], "second_timer": False})
        bench._timer = types.SimpleNamespace(
            copy_rate=1e12, matmul_rate=1e12,
            compared_us=lambda calls: {name: [1.0, 2.0, 4.0]
                                       for name in calls})
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "case.fpk"
            fusion.compile(case.program.text()).save(path)
            torch.manual_seed(20261121)
            row, times = bench.rows(case, [path])
        self.assertTrue(row["right"], row)
        self.assertEqual(times["index"], 0)
        self.assertEqual(times["partial"]["us"], 2.0)
        self.assertEqual(times["partial"]["fastest_us"], 1.0)


if __name__ == "__main__":
    unittest.main()
