# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module of what torch-mlir and JAX import, with ops of other dialects in
between, through fusion-to-host and upstream's lowering and runner, on the
emulator; needs torch, torch-mlir, jax and MLIR's tools."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import unittest

import numpy as np

MISSING = [name for name in ("torch", "torch_mlir", "jax", "jaxlib")
           if importlib.util.find_spec(name) is None]
LLVM = pathlib.Path("/usr/lib/llvm-22")
if not (LLVM / "bin/mlir-runner").exists():
    MISSING.append("mlir-runner")
if not MISSING:
    import jax
    import torch
    import torch_mlir.fx
    from jax import export

    from fusion_compiler.importing import stablehlo

BUILD = pathlib.Path(os.environ.get("FUSION_BUILD_DIR", "build")).resolve()
ROWS, COLUMNS = 6, 16

# Loops over memory, vectors and a counter: nothing of it is the compiler's.
DRIVER = """
func.func private @printMemrefF32(memref<*xf32>) attributes {
  llvm.emit_c_interface}
memref.global "private" @calls : memref<1xindex> = dense<0>

func.func private @negate(%x: tensor<ROWSxCOLUMNSxf32>)
    -> tensor<ROWSxCOLUMNSxf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant ROWS : index
  %from = bufferization.to_buffer %x read_only
      : tensor<ROWSxCOLUMNSxf32> to memref<ROWSxCOLUMNSxf32>
  %to = memref.alloc() : memref<ROWSxCOLUMNSxf32>
  scf.for %i = %c0 to %rows step %c1 {
    %v = vector.load %from[%i, %c0]
        : memref<ROWSxCOLUMNSxf32>, vector<COLUMNSxf32>
    %n = arith.negf %v : vector<COLUMNSxf32>
    vector.store %n, %to[%i, %c0]
        : memref<ROWSxCOLUMNSxf32>, vector<COLUMNSxf32>
  }
  %calls = memref.get_global @calls : memref<1xindex>
  %before = memref.load %calls[%c0] : memref<1xindex>
  %after = arith.addi %before, %c1 : index
  memref.store %after, %calls[%c0] : memref<1xindex>
  %result = bufferization.to_tensor %to restrict
      : memref<ROWSxCOLUMNSxf32> to tensor<ROWSxCOLUMNSxf32>
  return %result : tensor<ROWSxCOLUMNSxf32>
}

func.func @main() {
  %x = arith.constant dense<INPUT> : tensor<ROWSxCOLUMNSxf32>
  %first = call @torch_net(%x)
      : (tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxCOLUMNSxf32>
  %between = call @negate(%first)
      : (tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxCOLUMNSxf32>
  %last = call @jax_net(%between)
      : (tensor<ROWSxCOLUMNSxf32>) -> tensor<ROWSxCOLUMNSxf32>
  %memory = bufferization.to_buffer %last
      : tensor<ROWSxCOLUMNSxf32> to memref<ROWSxCOLUMNSxf32>
  %any = memref.cast %memory : memref<ROWSxCOLUMNSxf32> to memref<*xf32>
  call @printMemrefF32(%any) : (memref<*xf32>) -> ()
  return
}
"""

TO_LLVM = """--convert-vector-to-scf --convert-linalg-to-loops --lower-affine
--convert-scf-to-cf --expand-strided-metadata --convert-vector-to-llvm
--finalize-memref-to-llvm --convert-func-to-llvm --convert-arith-to-llvm
--convert-cf-to-llvm --reconcile-unrealized-casts""".split()


def run(tool, *options, text):
    done = subprocess.run([str(tool), *options], input=text, text=True,
                          capture_output=True, timeout=300,
                          env={**os.environ, "FUSION_DEVICE": "emulator"})
    if done.returncode:
        raise AssertionError(f"{tool}: {done.stderr[:2000]}")
    return done.stdout


def imported(module, name):
    """[the aliases, functions and resources of an importer's module], the
    entry by another name."""
    text = run(BUILD / "bin/fusion-opt", text=module)
    parts = re.fullmatch(r"(.*?)^module[^\n]*\{\n(.*?)^\}\n(.*)", text,
                         re.DOTALL | re.MULTILINE).groups()
    return [re.sub(r"#map", f"#{name}", re.sub(
        r"func\.func (public )?@main\b", f"func.func private @{name}", part))
        for part in parts]


@unittest.skipIf(MISSING, f"without {', '.join(MISSING)}")
class ImportedTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        torch.manual_seed(0)
        random = np.random.default_rng(5)
        cls.input, weights = (
            random.standard_normal(shape).astype(np.float32)
            for shape in ((ROWS, COLUMNS), (COLUMNS, COLUMNS)))
        first = torch.nn.Sequential(
            torch.nn.LayerNorm(COLUMNS), torch.nn.Linear(COLUMNS, COLUMNS),
            torch.nn.GELU()).eval()

        def last(x):
            return jax.nn.softmax(jax.numpy.tanh(x @ weights), axis=-1)
        x = torch.from_numpy(cls.input)
        aliases, functions, resources = map("".join, zip(
            imported(str(torch_mlir.fx.export_and_import(
                first, x, output_type="linalg-on-tensors", func_name="main")),
                "torch_net"),
            imported(stablehlo.lower(export.export(jax.jit(last))(
                jax.ShapeDtypeStruct(x.shape, np.float32)).mlir_module()),
                "jax_net")))
        driver = DRIVER
        for word, value in (("ROWS", ROWS), ("COLUMNS", COLUMNS),
                            ("INPUT", cls.input.tolist())):
            driver = driver.replace(word, str(value))
        cls.module = (f"{aliases}\nmodule {{\n{functions}{driver}}}\n"
                      f"{resources}")
        with torch.no_grad():
            middle = -first.double()(x.double()).numpy()
        scores = np.exp(np.tanh(middle @ weights.astype(np.float64)))
        cls.expected = scores / scores.sum(-1, keepdims=True)

    def result(self, lowered, library):
        bufferized = run(
            LLVM / "bin/mlir-opt",
            "--one-shot-bufferize=bufferize-function-boundaries "
            "function-boundary-type-conversion=identity-layout-map",
            *(["--convert-scf-to-cf", "--gpu-to-llvm"]
              if library == "libfusion-mgpu.so"
              else ["--buffer-deallocation-pipeline"]),
            *TO_LLVM, text=lowered)
        libraries = [LLVM / "lib" / f"libmlir_{name}.so"
                     for name in ("runner_utils", "c_runner_utils")]
        printed = run(
            LLVM / "bin/mlir-runner", "-e", "main",
            "--entry-point-result=void", "--shared-libs=" + ",".join(
                map(str, (*libraries, BUILD / "lib" / library))),
            text=bufferized)
        self.assertIn(f"sizes = [{ROWS}, {COLUMNS}]", printed)
        data = printed[printed.index("data =") + len("data ="):]
        return np.array(json.loads(data), np.float64)

    def check(self, form, library):
        # All becomes one function, in which ops of others are in the middle.
        lowered = run(BUILD / "bin/fusion-opt", "--inline", "--symbol-dce",
                      f"--fusion-to-host=find-all form={form}",
                      text=self.module)
        for left in ("vector.load", "memref.global", "scf.for"):
            self.assertIn(left, lowered)
        for compiled in ("linalg.generic", "linalg.matmul", "math."):
            self.assertNotIn(compiled, lowered)
        np.testing.assert_allclose(self.result(lowered, library),
                                   self.expected, rtol=0, atol=2e-6)

    def test_by_calls_of_the_runtime(self):
        self.check("runtime", "libfusion-rt.so")

    def test_by_launches(self):
        self.check("gpu", "libfusion-mgpu.so")


if __name__ == "__main__":
    unittest.main()
