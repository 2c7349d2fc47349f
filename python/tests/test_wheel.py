# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wheels made from the libraries of a build install and run elsewhere."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import unittest
import zipfile

import numpy as np

import fusion_compiler as fusion
from fusion_compiler import libraries, native
from test_package import SCALE_ADD, compiled

PYTHON = pathlib.Path(__file__).resolve().parent.parent
MISSING = [name for name in ("pip", "scikit_build_core")
           if importlib.util.find_spec(name) is None]

RUN = """
import importlib.metadata, pathlib, sys
import numpy as np
import fusion_compiler as fusion
assert sys.prefix in fusion.__file__, fusion.__file__
assert fusion.__version__ == importlib.metadata.version(sys.argv[1])
assert fusion.native_calls(), fusion.native_calls().reason
x = np.arange(24, dtype=np.float32).reshape(3, 8)
package = fusion.load(sys.argv[2], device="emulator")
np.testing.assert_array_equal(package(x, x), 2 * x * x)
try:
    made = fusion.compile(pathlib.Path(sys.argv[3]).read_text(),
                          target="sm_90a", device="emulator")
    np.testing.assert_array_equal(made(x, x), 2 * x * x)
    print("compiled")
except fusion.FusionError as error:
    print(error.code)
"""


def run(*command, **keywords):
    """The output of a command, which has to succeed."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("FUSION_", "PYTHON", "LD_"))}
    result = subprocess.run(list(map(str, command)), env=environment,
                            text=True, capture_output=True, timeout=300,
                            check=False, **keywords)
    if result.returncode:
        raise AssertionError(f"{command} failed:\n{result.stdout[-3000:]}\n"
                             f"{result.stderr[-3000:]}")
    return result.stdout


# Where torch.compile looks for backends.
BACKENDS = """
import importlib.metadata
for distribution in importlib.metadata.distributions():
    if distribution.metadata["Name"] == "fusion-compiler":
        print(*(point.value for point in distribution.entry_points
                if point.group == "torch_dynamo_backends"
                and point.name == "fusion"))
"""


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
@unittest.skipIf(native.module() is None, "the extension was not built")
class WheelTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, project, **definitions):
        """The wheel of a project from this build's libraries."""
        build = pathlib.Path(libraries.path("runtime")).resolve().parents[1]
        definitions = {"FUSION_PREBUILT": build, **definitions}
        run(sys.executable, "-m", "pip", "wheel", "--no-deps",
            "--no-build-isolation", "--disable-pip-version-check",
            "--wheel-dir", self.folder, project,
            *(f"--config-settings=cmake.define.{name}={value}"
              for name, value in definitions.items()))
        wheel, = self.folder.glob("*.whl")
        return wheel

    def install(self, wheel):
        """The interpreter of a fresh environment with the wheel and NumPy."""
        place = self.folder / "environment"
        run(sys.executable, "-m", "venv", "--without-pip", place)
        python = place / "bin" / "python"
        run(sys.executable, "-m", "pip", "--python", python, "install",
            "--no-deps", "--no-index", "--disable-pip-version-check", wheel)
        site = run(python, "-c", "import sysconfig\n"
                   "print(sysconfig.get_path('purelib'))").strip()
        pathlib.Path(site, "numpy.pth").write_text(
            f"{pathlib.Path(np.__file__).parent.parent}\n")
        return python

    def run_installed(self, python, name):
        package, program = self.folder / "p.fpk", self.folder / "p.mlir"
        compiled(SCALE_ADD).save(package)
        program.write_text(SCALE_ADD)
        return run(python, "-c", RUN, name, package, program,
                   cwd=self.folder).strip()

    def check_names(self, wheel, libraries_inside):
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        self.assertTrue(wheel.name.endswith(
            f"-{fusion.__version__}-cp39-abi3-{platform}.whl"), wheel.name)
        names = zipfile.ZipFile(wheel).namelist()
        self.assertEqual(sorted(name for name in names if ".so" in name),
                         [f"fusion_compiler/lib/{name}"
                          for name in libraries_inside])
        sources = {str(path.relative_to(PYTHON))
                   for path in (PYTHON / "fusion_compiler").rglob("*.py")}
        self.assertEqual(sources - set(names), set())
        self.assertIn("fusion_compiler/py.typed", names)

    def test_compiler_and_runtime(self):
        wheel = self.build(PYTHON,
                           FUSION_PREBUILT_COMPILER="lib/libfusion-c.so")
        self.check_names(wheel, ["fusion_native.abi3.so", "libfusion-c.so",
                                 "libfusion-rt.so"])
        python = self.install(wheel)
        self.assertEqual(self.run_installed(python, "fusion-compiler"),
                         "compiled")
        self.assertEqual(run(python, "-c", BACKENDS).strip(),
                         "fusion_compiler.torch.backend:backend")

    def test_runtime_alone(self):
        wheel = self.build(PYTHON / "runtime")
        self.check_names(wheel, ["fusion_native.abi3.so", "libfusion-rt.so"])
        self.assertEqual(self.run_installed(
            self.install(wheel), "fusion-compiler-runtime"), "FUS-1301")

    def test_says_what_a_build_lacks(self):
        for folder, text in ((self.folder, "is missing; build it"),
                             ("build", "absolute path")):
            with self.assertRaisesRegex(AssertionError, text):
                self.build(PYTHON, FUSION_PREBUILT=folder)


if __name__ == "__main__":
    unittest.main()
