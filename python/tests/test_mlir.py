# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of MLIR's Python bindings, compiled without text between."""

import importlib.util
import re
import subprocess
import sys
import unittest

import numpy as np

import fusion_compiler as fusion

if importlib.util.find_spec("mlir") is None:
    raise unittest.SkipTest("there are no Python bindings of MLIR")

import fusion_compiler.mlir as fusion_mlir
from fusion_compiler.mlir import attributes
from fusion_compiler.mlir.dialects import fusion as fusion_ops
from fusion_compiler.mlir.dialects import fusion_tile
from mlir import ir
from mlir.dialects import arith, func
from mlir.passmanager import PassManager

SIZES = [64, 96]


def gate():
    """silu(x) * y, built op by op, in the current context."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        tensor = ir.RankedTensorType.get(SIZES, ir.F32Type.get())

        @func.FuncOp.from_py_func(tensor, tensor, name="gate")
        def body(x, y):
            return arith.mulf(fusion_ops.silu(x), y)
    return module


class ModuleTest(unittest.TestCase):
    def setUp(self):
        self.context = fusion_mlir.context()
        self.context.__enter__()
        self.location = ir.Location.unknown()
        self.location.__enter__()
        self.addCleanup(self.context.__exit__, None, None, None)
        self.addCleanup(self.location.__exit__, None, None, None)

    def test_compiles_and_runs(self):
        module = gate()
        before = str(module)
        package = fusion_mlir.compile(module, "sm_90a", "emulator")
        self.assertEqual(str(module), before)
        self.assertIn("silu_mul", package.explanation)
        x, y = np.random.default_rng().standard_normal(
            (2, *SIZES), dtype=np.float32)
        wide = x.astype(np.float64)
        wanted = wide / (1 + np.exp(-wide)) * y
        np.testing.assert_allclose(package["gate"](x, y), wanted, rtol=2e-6,
                                   atol=1e-6)

    def test_decisions_as_from_text(self):
        module = gate()
        text = fusion.compile(str(module), "sm_90a", "emulator").explanation
        # The module has no lines.
        self.assertEqual(
            fusion_mlir.compile(module, "sm_90a", "emulator").explanation,
            re.sub(r" \(line \d+\)", "", text))

    def test_phases(self):
        planned = fusion_mlir.compile_to("plan", gate(), "sm_90a")
        kernels = []

        def visit(op):
            if op.name == "fusion.kernel":
                kernels.append(op.opview)
            return ir.WalkResult.ADVANCE

        planned.operation.walk(visit)
        self.assertEqual(len(kernels), 1)
        self.assertIsInstance(kernels[0], fusion_ops.KernelOp)
        estimate = attributes.fields(kernels[0].attributes["estimate"])
        self.assertEqual(estimate["dram_bytes"], 3 * 4 * 64 * 96)
        self.assertGreater(estimate["time_us"], 0)

    def test_plans_alone(self):
        module = fusion_mlir.run_pipeline("builtin.module(fusion-input)",
                                          gate())
        before = str(module)
        for op in module, module.body.operations[0]:
            plan = fusion_mlir.plan(op, "sm_90a")
            [function] = plan.ledger["functions"]
            self.assertEqual(len(function["kernels"]), 1)
            self.assertIn("into-consumer", plan.explanation)
        self.assertEqual(str(module), before)

    def test_passes_by_name(self):
        module = gate()
        PassManager.parse(
            "builtin.module(fusion-to-plan{target=sm_90a})").run(
                module.operation)
        self.assertIn("fusion.kernel @silu_mul", str(module))

    def test_errors(self):
        with self.assertRaises(fusion.FusionError) as caught:
            fusion_mlir.compile(gate(), "sm_1")
        self.assertEqual(caught.exception.code, "FUS-2001")
        with self.assertRaises(fusion.FusionError) as caught:
            fusion_mlir.run_pipeline("builtin.module(no-pass)", gate())
        self.assertEqual(caught.exception.code, "FUS-1001")
        with self.assertRaisesRegex(TypeError, "expected an mlir.ir.Module"):
            fusion_mlir.compile("module {}")
        with self.assertRaisesRegex(TypeError, "expected an mlir.ir.Module"):
            fusion_mlir.compile(gate().operation)

    def test_objects_outlive_compilations(self):
        module = gate()
        body = module.body.operations[0].regions[0].blocks[0].operations
        names = [op.operation.name for op in body]
        fusion_mlir.compile_to("ptx", module)
        self.assertEqual([op.operation.name for op in body], names)

    def test_target(self):
        constants = ir.Attribute.parse("{chip = {numSMs = 114 : i64}}")
        target = attributes.target("sm_90a", constants)
        self.assertEqual(attributes.fields(target),
                         {"chip": "sm_90a", "constants": constants})
        module = gate()
        module.operation.attributes["fusion.target"] = target
        self.assertIn("for sm_90a", fusion_mlir.compile(
            module, device="emulator").explanation)
        with self.assertRaisesRegex(fusion.FusionError,
                                    "FUS-1003: unknown chip 'sm_1'"):
            attributes.target("sm_1")

    def test_schedule(self):
        axes = [attributes.axis("grid", tile=1),
                attributes.axis("full", tile=4096, warps=4, vector=8)]
        schedule = attributes.schedule("reduction", axes, 4)
        self.assertEqual(schedule, ir.Attribute.parse(
            "#fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>,"
            " #fusion.axis<full, tile = 4096, warps = 4, vector = 8>],"
            " warps = 4>"))
        fields = attributes.fields(schedule)
        self.assertEqual(fields["axes"], axes)
        self.assertIsNone(fields["mma"])
        self.assertEqual(attributes.fields(axes[1])["vector"], 8)
        mma = attributes.mma("wgmma", stages=4, blocks=132)
        self.assertEqual(attributes.fields(mma)["kind"], "wgmma")
        self.assertEqual(str(mma),
                         "#fusion.mma<wgmma, stages = 4, blocks = 132>")
        for wrong in {"tile": 3}, {"kind": "half", "tile": 4}:
            with self.assertRaises(fusion.FusionError):
                attributes.axis(**{"kind": "full", **wrong})
        with self.assertRaises(TypeError):
            attributes.axis("full", size=3)
        with self.assertRaises(TypeError):
            attributes.fields(ir.UnitAttr.get())
        estimate = attributes.estimate(2.5, flops=8)
        self.assertEqual(attributes.fields(estimate)["flops"], 8)

    def test_tile_programs(self):
        tiles = fusion_mlir.compile_to("tile", gate(), "sm_90a")
        found = set()

        def visit(op):
            found.add(type(op.opview))
            return ir.WalkResult.ADVANCE

        tiles.operation.walk(visit)
        self.assertIn(fusion_tile.LoadOp, found)


class OrderTest(unittest.TestCase):
    """Each in a process of its own: what is loaded first stays."""

    def run_python(self, program):
        return subprocess.run([sys.executable, "-c", program], text=True,
                              capture_output=True, timeout=120, check=False)

    def test_one_mlir(self):
        done = self.run_python(
            "import fusion_compiler.mlir\n"
            "maps = open('/proc/self/maps').read().split()\n"
            "print(len({p for p in maps if 'libMLIR.so' in p}),\n"
            "      len({p for p in maps if 'MLIRPythonCAPI' in p}))")
        self.assertEqual(done.stdout.split(), ["1", "1"], done.stderr)

    def test_bindings_first_are_refused(self):
        # Bindings that have an MLIR of their own.
        done = self.run_python(
            "import sys, types\n"
            "sys.modules['mlir._mlir_libs._mlir'] = types.ModuleType('_mlir')\n"
            "import fusion_compiler.mlir")
        self.assertIn("FUS-1302: mlir was imported before", done.stderr)

    def test_no_bindings(self):
        done = self.run_python(
            "import sys\nsys.modules['mlir'] = None\n"
            "import fusion_compiler.mlir")
        self.assertIn("FUS-1305: there are no Python bindings", done.stderr)


if __name__ == "__main__":
    unittest.main()
