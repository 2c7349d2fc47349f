# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What README and docs/ show: every program and command in them runs, and every
link leads somewhere.

Blocks of one page run in order, in one folder and one Python namespace. What a
page takes for granted (a model, arrays) is made by PRELUDES. Blocks of other
languages belong to tests of their own: C, C++ and CMake are the sources of
test/Install, which docs/Embedding.md includes.
"""

import dataclasses
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HAS_FRAMEWORKS = all(importlib.util.find_spec(name)
                     for name in ("torch", "torch_mlir", "onnx", "jax"))
HAS_SPHINX = all(importlib.util.find_spec(name)
                 for name in ("furo", "myst_parser", "sphinx"))

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("FUSION_BUILD_DIR", ROOT / "build"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")),
         *sorted(ROOT.glob("[A-Z]*.md"))]
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^ *```", re.S | re.M)

# Pages that are generated from the definition of a dialect.
DIALECTS = {"FusionDialect.md": "fusion", "TileDialect.md": "fusion_tile"}
# And those of a few ops, each a section of its page.
OPERATIONS = {"FusionBufferOps.md": 1, "TransformOps.md": 4}

# Commands that a test of commands cannot run, and why.
LEFT_OUT = (
    (r"quickstart\.sh|check\.sh|build\.sh", "it builds, or is what runs this"),
    (r"^(pip|apt|apt-get|ninja|cmake) ", "it installs or builds"),
    (r"--bench|calibrate\.py run|chip\.json", "it needs a GPU"),
    (r"calibrate\.py build", "it takes minutes"),
    (r"MathAccuracy|FUSION_MATH_STRIDE", "a unit test, which lit runs"),
)
# Pages whose commands are for those who measure, test and install: on a GPU, or
# for minutes.
FOR_DEVELOPERS = {"TestingGuide.md", "performance.md", "Embedding.md"}

PROGRAM = """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fusion.gelu %x : tensor<4x8xf32>
  %1 = arith.addf %0, %x : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
"""
# Of Python: what a page's blocks find.
PRELUDES = {
    "GettingStarted.md": """
import numpy as np, pathlib
np.save("x.npy", np.random.randn(1000, 96).astype(np.float32))
np.save("s.npy", np.random.randn(96).astype(np.float32))
text = "func.func @f(%x: tensor<4xf32>) {\\n  return %y : tensor<4xf32>\\n}\\n"
x_cuda, s_cuda = np.load("x.npy"), np.load("s.npy")
""",
    "Explain.md": f"""
import pathlib
pathlib.Path("prog.mlir").write_text({PROGRAM!r})
""",
    "Remarks.md": f"""
import pathlib
pathlib.Path("in.mlir").write_text({PROGRAM!r})
""",
    "HostCode.md": """
import pathlib
pathlib.Path("in.mlir").write_text('''
func.func @twice(%x: tensor<8xf32>) -> tensor<8xf32> attributes {fusion.offload} {
  %0 = arith.addf %x, %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @main() {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  %y = call @twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return
}
''')
""",
    "Python.md": """
import torch
import fusion_compiler as fusion
package = fusion.compile('''
func.func @main(%x: tensor<1x2x3x4xf32>, %w: tensor<2xf32>, %b: tensor<2xf32>)
    -> (tensor<1x2x3x4xf32>, tensor<2xf32>) {
  %0 = fusion.relu %x : tensor<1x2x3x4xf32>
  %1 = arith.addf %w, %b : tensor<2xf32>
  return %0, %1 : tensor<1x2x3x4xf32>, tensor<2xf32>
}
''')
x, weight, batch = torch.ones(1, 2, 3, 4), torch.ones(2), torch.ones(2)
""",
    "PyTorch.md": """
import torch
import fusion_compiler as fusion
model = torch.nn.Sequential(torch.nn.Linear(16, 8), torch.nn.GELU())
x, weight = torch.randn(4, 16), torch.randn(16)
torch.export.save  # Part of every release that is supported.
norm_module = torch.nn.LayerNorm(16)
class Norm(torch.nn.Module):
    def forward(self, x, weight):
        return torch.nn.functional.layer_norm(x, (16,), weight)
fusion.torch.export(torch.export.export(Norm(), (x, weight)), "norm.fpk")
""",
    "FrontDoors-ONNX-JAX.md": """
import jax, jax.numpy as jnp, numpy, onnx, pathlib
from onnx import TensorProto, helper
one = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3])
       for n in ("image", "y")]
graph = helper.make_graph([helper.make_node("Relu", ["image"], ["y"])], "g",
                          one[:1], one[1:])
onnx.save(helper.make_model(
    graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9),
    "model.onnx")
x = numpy.ones((2, 3), "float32")
weights, y = numpy.ones((3,), "float32"), numpy.ones((2,), "float32")
def loss(weights, x, y):
    return (((x @ weights)[:, None] - y) ** 2).mean()
def function(x):
    return jnp.tanh(x) * 2
pathlib.Path("model.stablehlo.mlir").write_text(
    jax.export.export(jax.jit(function))(x).mlir_module())
""",
}


def blocks(page):
    """(language, text) of each block of a page, without its indentation."""
    return fenced(page.read_text())


def fenced(text):
    """(language, text) of each block of a text, without its indentation."""
    for match in BLOCK.finditer(text):
        indent, language, text = match.groups()
        yield language, re.sub(f"^{indent}", "", text, flags=re.M)


def left_out(command):
    """Why `command` is not run; None if it is."""
    for pattern, why in LEFT_OUT:
        if re.search(pattern, command.split("#")[0].strip()):
            return why
    return None


def commands(text):
    """The lines of a block of commands that run here, each complete."""
    lines, result, document = text.splitlines(), [], None
    pending = []
    for line in lines:
        pending.append(line)
        here = re.search(r"<<'?(\w+)'?$", line)
        if document is None and here:
            document = here.group(1)
            continue
        if document is not None:
            if line != document:
                continue
            document = None
        if line.rstrip().endswith(("\\", "|")):
            continue
        whole = "\n".join(pending)
        pending = []
        if left_out(whole) is None:
            result.append(whole)
    return result + pending


class Page:
    """A folder in which a page's blocks run."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ("python", "tools", "docs"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "build").symlink_to(BUILD)
        paths = [BUILD / "bin", pathlib.Path(sys.executable).parent]
        for tool in ("mlir-opt",):
            if (found := shutil.which(tool, path="/usr/lib/llvm-22/bin")):
                paths.append(pathlib.Path(found).parent)
        self.environment = {
            **os.environ, "FUSION_BUILD_DIR": str(BUILD),
            "FUSION_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONPATH": str(ROOT / "python"), "FUSION_DEVICE": "emulator",
            "LD_LIBRARY_PATH": str(BUILD / "lib"),
            "PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]])}

    def run(self, command, text):
        return subprocess.run(command, input=text, cwd=self.folder, text=True,
                              env=self.environment, capture_output=True,
                              timeout=600)


class DocsTest(unittest.TestCase):

    def run_page(self, page):
        found = list(blocks(page))
        programs = [text for language, text in found if language == "mlir"]
        script = [PRELUDES.get(page.name, "")]
        with tempfile.TemporaryDirectory() as folder:
            place = Page(folder)
            if programs:
                (place.folder / "prog.mlir").write_text(programs[0])
            # Python runs first to the page's end: it makes what commands read.
            script += [text for language, text in found if language == "python"]
            shell = [line for language, text in found if language == "sh"
                     for line in commands(text)]
            if page.name == "README.md":
                # Here the commands come first.
                self.check(place.run(["bash", "-eo", "pipefail"], "\n".join(shell)), page)
                shell = []
            if any(text.strip() for text in script):
                self.check(place.run([sys.executable, "-"], "\n".join(script)),
                           page)
            if shell and page.name not in FOR_DEVELOPERS:
                self.check(place.run(["bash", "-eo", "pipefail"], "\n".join(shell)), page)

    def check(self, done, page):
        self.assertEqual(done.returncode, 0,
                         f"{page.name}:\n{done.stdout[-1500:]}\n"
                         f"{done.stderr[-3000:]}")

    def test_pages(self):
        for page in PAGES:
            languages = {language for language, _ in blocks(page)}
            needs = page.name in ("PyTorch.md", "Python.md",
                                   "FrontDoors-ONNX-JAX.md")
            if not languages & {"sh", "python"} or (
                    needs and not HAS_FRAMEWORKS):
                continue
            with self.subTest(page=page.name):
                self.run_page(page)

    def test_programs(self):
        # Blocks of MLIR are modules, or what stands in a function.
        tool = str(BUILD / "bin" / "fusion-opt")
        for page in PAGES:
            for language, text in blocks(page):
                # Those of passes show what changes, from ==> to.
                if language != "mlir" or page.name.startswith("Passes-"):
                    continue
                with self.subTest(page=page.name):
                    done = subprocess.run(
                        [tool, "-", "--allow-unregistered-dialect"],
                        input=text, capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, text + done.stderr)

    def test_dialects(self):
        # Everything that a dialect defines has an example, and what tensor
        # programs hold compiles. That examples are valid test_programs says.
        for name, dialect in DIALECTS.items():
            found = list(entries(ROOT / "docs" / "generated" / name))
            self.assertEqual({entry.kind for entry in found},
                             {"Operations", "Attributes", "Types"}
                             - ({"Types"} if dialect == "fusion" else set()))
            for entry in found:
                with self.subTest(entry=f"{dialect}: {entry.name}"):
                    self.check_entry(entry, dialect)

    def test_other_operations(self):
        for name, least in OPERATIONS.items():
            text = (ROOT / "docs" / "generated" / name).read_text()
            found = re.split(r"^## `", text, flags=re.M)[1:]
            self.assertGreaterEqual(len(found), least)
            for section in found:
                entry = Entry("", section.partition("`")[0], section)
                with self.subTest(entry=entry.name):
                    self.check_entry(entry, "")

    def check_entry(self, entry, dialect):
        examples = [text for language, text in fenced(entry.text)
                    if language == "mlir"]
        spelled = re.compile(re.escape(entry.name) + r"(?![\w.])")
        self.assertTrue(any(map(spelled.search, examples)),
                        "it has no example")
        prose = re.sub(r"```.*?```", "", entry.text.split("\nTraits:")[0],
                       flags=re.S).partition("\n_")[2].partition("_\n")[2]
        self.assertGreater(len(prose.replace("Example:", "").split()), 4,
                           "it says nothing but its summary")
        if dialect != "fusion" or entry.kind != "Operations":
            return
        for text in examples:
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [str(BUILD / "bin" / "fusion-compile"), "-",
                     "--ptxas=false", "-o", f"{folder}/example.fpk"],
                    input=text, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, text + done.stderr)

    def test_links(self):
        link = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
        for page in PAGES:
            text = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.S)
            for target in link.findall(text):
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                file = (page.parent / path) if path else page
                with self.subTest(page=page.name, link=target):
                    self.assertTrue(file.exists())
                    if anchor and file.suffix == ".md":
                        self.assertIn(anchor, anchors(file))


@unittest.skipUnless(HAS_SPHINX, "Sphinx is not installed")
class SiteTest(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *command):
        return subprocess.run(
            command, env={**os.environ, "PYTHON": sys.executable}, text=True,
            capture_output=True, timeout=300)

    def test_site(self):
        # Without warnings, and with links that lead somewhere.
        site = self.folder / "site"
        done = self.run_tool(ROOT / "tools/dev/site.sh", site)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for page in PAGES:
            self.assertTrue((site / page.relative_to(ROOT)).with_suffix(
                ".html").is_file(), page)
        # What is searched.
        self.assertIn("linear_cross_entropy",
                      (site / "searchindex.js").read_text())

    def test_checks_links(self):
        (self.folder / "there.html").write_text("<p id='here'>")
        (self.folder / "page.html").write_text("""
            <a href="there.html#here"></a> <a href="https://llvm.org"></a>
            <a href="gone.html"></a> <a href="there.html#gone"></a>
            <script src="https://example.com/a.js"></script>
            <img src="gone.png">""")
        done = self.run_tool(ROOT / "tools/dev/check_site.py", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout.splitlines(), [
            "page.html: loads https://example.com/a.js from elsewhere",
            "page.html: gone.html leads nowhere",
            "page.html: there.html#gone: there is no such anchor",
            "page.html: gone.png leads nowhere"])


@dataclasses.dataclass
class Entry:
    """What a dialect's reference says of one definition."""
    kind: str  # The heading that it stands under: Operations, for example.
    name: str  # As programs spell it: fusion.relu, #fusion.axis.
    text: str


def entries(page):
    """The operations, attributes and types of a dialect's reference."""
    sections = re.split(r"^## (.*)\n", page.read_text(), flags=re.M)
    for kind, section in zip(sections[1::2], sections[2::2]):
        if kind not in ("Operations", "Attributes", "Types"):
            continue
        for text in re.split(r"^### ", section, flags=re.M)[1:]:
            heading = text.partition("\n")[0]
            # Of attributes and types the heading is the class.
            name = (re.match(r"`([^`]+)`", heading) or
                    re.search(r"(?:^|= )([#!]\w+\.\w+)<", text, re.M))
            yield Entry(kind, name.group(1) if name else heading, text)


def anchors(page):
    """The anchors of a page's headings, as hosts of Markdown make them."""
    result = set()
    for heading in re.findall(r"^#+ (.*)$", page.read_text(), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        plain = re.sub(r"[^\w\- ]", "", plain.replace("`", ""))
        result.add(plain.strip().replace(" ", "-"))
    return result


if __name__ == "__main__":
    unittest.main()
