# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models on the emulator; needs the packages onnx and torch-mlir."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import numpy as np

import fusion_compiler as fusion
from fusion_compiler.importing import onnx_files

HERE = pathlib.Path(__file__).resolve().parent
MISSING = [name for name in ("onnx", "torch_mlir")
           if importlib.util.find_spec(name) is None]
if not MISSING:
    from onnx import TensorProto, helper, numpy_helper
    from onnx.reference import ReferenceEvaluator

    import fusion_compiler.onnx as fusion_onnx
    from fusion_compiler.onnx import backend
    from onnx_compare import arrays, difference

needs_onnx = unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(
        shape).astype(np.float32)


def value(name, *dims, kind=None):
    return helper.make_tensor_value_info(name, kind or TensorProto.FLOAT, dims)


def make(nodes, inputs, outputs, tensors=(), opset=21, domains=()):
    """A model; `tensors` is {name: array}."""
    graph = helper.make_graph(
        nodes, "test", inputs, outputs,
        [numpy_helper.from_array(array, name)
         for name, array in dict(tensors).items()])
    return helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", opset),
        *(helper.make_opsetid(name, 1) for name in domains)])


def mlp():
    return make(
        [helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="first"),
         helper.make_node("Relu", ["h"], ["r"]),
         helper.make_node("MatMul", ["r", "w2"], ["y"], name="second")],
        [value("x", "batch", 8)], [value("y", "batch", 4)],
        {"w1": draw(8, 32), "b1": draw(32), "w2": draw(32, 4)})


def compiled(model, **options):
    return fusion_onnx.compile(model, device="emulator", **options)


@needs_onnx
class ModelTest(unittest.TestCase):

    def check(self, model, *inputs, rtol=1e-5, atol=1e-5):
        results = compiled(model)(*inputs)
        names = [one.name for one in model.graph.input]
        wanted = ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))
        if not isinstance(results, tuple):
            results = (results,)
        self.assertEqual(len(results), len(wanted))
        for one, other in zip(results, wanted):
            self.assertEqual((one.shape, one.dtype),
                             (other.shape, other.dtype))
            np.testing.assert_allclose(one, other, rtol, atol)

    def test_weights_are_arguments_and_sizes_stay_open(self):
        model = compiled(mlp())
        package = model.package
        self.assertEqual([one.name for one in model.inputs], ["x"])
        self.assertEqual(model.inputs[0].dims, ("batch", 8))
        self.assertEqual(list(model.program.weights), ["w1", "b1", "w2"])
        self.assertLess(len(model.program.text), 8000)
        reference = ReferenceEvaluator(mlp())
        for rows in (1, 5, 33):
            x = draw(rows, 8)
            wanted, = reference.run(None, {"x": x})
            np.testing.assert_allclose(model(x), wanted, 1e-5, 1e-5)
            np.testing.assert_array_equal(model(x=x), model(x))
        self.assertIs(model.package, package)

    def test_convolutions(self):
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
            helper.make_node("BatchNormalization",
                             ["c", "s", "b", "m", "v"], ["n"]),
            helper.make_node("Relu", ["n"], ["r"]),
            helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2],
                             strides=[2, 2]),
            helper.make_node("GlobalAveragePool", ["p"], ["g"]),
            helper.make_node("Flatten", ["g"], ["y"])]
        self.check(make(nodes, [value("x", 2, 3, 8, 8)], [value("y", 2, 4)], {
            "w": draw(4, 3, 3, 3), "s": draw(4), "b": draw(4, seed=1),
            "m": draw(4, seed=2), "v": abs(draw(4, seed=3)) + 0.5}),
            draw(2, 3, 8, 8))

    def test_shapes_computed_in_the_graph(self):
        # The usual way to flatten: Shape, Gather, Concat, Reshape.
        nodes = [
            helper.make_node("Shape", ["x"], ["s"]),
            helper.make_node("Gather", ["s", "zero"], ["n"]),
            helper.make_node("Unsqueeze", ["n", "axis"], ["n1"]),
            helper.make_node("Concat", ["n1", "rest"], ["to"], axis=0),
            helper.make_node("Reshape", ["x", "to"], ["y"])]
        constants = {"zero": np.array(0), "axis": np.array([0]),
                     "rest": np.array([-1])}
        self.check(make(nodes, [value("x", 3, 4, 5)], [value("y", 3, 20)],
                        constants), draw(3, 4, 5))

    def test_block_of_open_sizes(self):
        """A block of a transformer: heads are split by Reshape."""
        node = helper.make_node
        nodes = [node("LayerNormalization", ["x", "g", "b"], ["n"]),
                 node("MatMul", ["n", "w"], ["qkv"]),
                 node("Split", ["qkv"], ["q", "k", "v"], axis=-1,
                      num_outputs=3)]
        for name in "qkv":
            nodes += [node("Reshape", [name, "heads"], [name + "r"]),
                      node("Transpose", [name + "r"], [name + "t"],
                           perm=[0, 2, 3, 1] if name == "k" else
                           [0, 2, 1, 3])]
        nodes += [node("MatMul", ["qt", "kt"], ["s"]),
                  node("Add", ["s", "mask"], ["m"]),
                  node("Softmax", ["m"], ["p"]),
                  node("MatMul", ["p", "vt"], ["o"]),
                  node("Transpose", ["o"], ["t"], perm=[0, 2, 1, 3]),
                  node("Reshape", ["t", "joined"], ["c"]),
                  node("Add", ["x", "c"], ["y"])]
        model = make(
            nodes, [value("x", "batch", "length", 32),
                    value("mask", "batch", 1, 1, "length")],
            [value("y", "batch", "length", 32)],
            {"g": draw(32), "b": draw(32, seed=1), "w": draw(32, 96) / 5,
             "heads": np.array([0, 0, 4, 8]),
             "joined": np.array([0, -1, 32])})
        block, reference = compiled(model), ReferenceEvaluator(model)
        self.assertIn('fusion.dims = ["batch", "length", "_"]',
                      block.program.text)
        for batch, length in ((2, 16), (1, 7), (3, 33), (1, 1)):
            inputs = {"x": draw(batch, length, 32),
                      "mask": draw(batch, 1, 1, length)}
            wanted, = reference.run(None, inputs)
            np.testing.assert_allclose(block(**inputs), wanted, 1e-4, 1e-5)

    def test_attention_of_open_sizes(self):
        """The definition of Attention computes shapes in tensors."""
        model = make(
            [helper.make_node("Attention", ["q", "k", "v"], ["y"],
                              is_causal=1)],
            [value("q", "batch", 4, "queries", 8),
             *(value(name, "batch", 4, "keys", 8) for name in "kv")],
            [value("y", "batch", 4, "queries", 8)], opset=23)
        block, reference = compiled(model), ReferenceEvaluator(model)
        for batch, queries, keys in ((2, 5, 9), (1, 1, 4), (1, 16, 16)):
            inputs = {"q": draw(batch, 4, queries, 8),
                      "k": draw(batch, 4, keys, 8, seed=1),
                      "v": draw(batch, 4, keys, 8, seed=2)}
            wanted, = reference.run(None, inputs)
            np.testing.assert_allclose(block(**inputs), wanted, 1e-4, 1e-5)

    def test_old_operator_sets(self):
        nodes = [helper.make_node("Unsqueeze", ["x"], ["u"], axes=[0]),
                 helper.make_node("ReduceSum", ["u"], ["r"], axes=[1]),
                 helper.make_node("Softmax", ["r"], ["y"])]
        self.check(make(nodes, [value("x", 4, 6)], [value("y", None, None,
                                                          None)], opset=11),
                   draw(4, 6))

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            fusion_onnx.compile(mlp(), device="emulator", report=page)
            self.assertIn("model.onnx.mlir", page.read_text())

    def test_static_inputs(self):
        model = compiled(make(
            [helper.make_node("Reshape", ["x", "to"], ["y"])],
            [value("x", 2, 6), value("to", 2, kind=TensorProto.INT64)],
            [value("y", None, None)]))
        self.assertEqual(model.static_inputs, ("to",))
        for shape in ((3, 4), (12, 1), (3, 4)):
            result = model(draw(2, 6), np.array(shape))
            np.testing.assert_array_equal(result, draw(2, 6).reshape(shape))
        self.assertEqual(len(model._compiled), 2)

    def test_padding_that_cuts(self):
        x = draw(3, 5)
        for pads, axes, expected in (
                ([0, 1, 0, -1], None, np.pad(x[:, :-1], ((0, 0), (1, 0)))),
                ([-2, 1], [1], np.pad(x[:, 2:], ((0, 0), (0, 1))))):
            names = ["x", "pads"] + ([] if axes is None else ["", "axes"])
            constants = {"pads": np.array(pads)} | (
                {} if axes is None else {"axes": np.array(axes)})
            model = make([helper.make_node("Pad", names, ["y"])],
                         [value("x", 3, 5)], [value("y", *expected.shape)],
                         constants)
            np.testing.assert_array_equal(compiled(model)(x), expected)

    def test_control_flow(self):
        body = helper.make_graph(
            [helper.make_node("Identity", ["go"], ["goes"]),
             helper.make_node("Mul", ["v", "x"], ["w"])], "body",
            [value("i", kind=TensorProto.INT64),
             value("go", kind=TensorProto.BOOL), value("v", 4)],
            [value("goes", kind=TensorProto.BOOL), value("w", 4)])
        loop = make([helper.make_node("Loop", ["count", "", "x"], ["y"],
                                      body=body)],
                    [value("x", 4)], [value("y", 4)],
                    {"count": np.array(3)})
        x = draw(4)
        np.testing.assert_allclose(compiled(loop)(x), x ** 4, 1e-5)
        branches = [helper.make_graph(
            [helper.make_node(kind, ["x", "x"], [out])], kind, [],
            [value(out, 4)]) for kind, out in (("Add", "a"), ("Mul", "b"))]
        model = compiled(make(
            [helper.make_node("If", ["which"], ["y"], then_branch=branches[0],
                              else_branch=branches[1])],
            [value("which", kind=TensorProto.BOOL), value("x", 4)],
            [value("y", 4)]))
        np.testing.assert_array_equal(model(np.array(True), x), x + x)
        np.testing.assert_array_equal(model(np.array(False), x), x * x)

    def test_scans(self):
        x = np.array([1, np.inf, 2, 3], np.float32)
        model = compiled(make(
            [helper.make_node("CumSum", ["x", "axis"], ["y"], exclusive=1)],
            [value("x", 4)], [value("y", 4)], {"axis": np.array(0)}))
        np.testing.assert_array_equal(model(x), [0, 1, np.inf, np.inf])

    def test_local_functions(self):
        function = helper.make_function(
            "own", "Twice", ["a"], ["b"],
            [helper.make_node("Add", ["a", "a"], ["b"])],
            [helper.make_opsetid("", 21)])
        model = make([helper.make_node("Twice", ["x"], ["y"], domain="own")],
                     [value("x", 4)], [value("y", 4)], domains=["own"])
        model.functions.append(function)
        self.check(model, draw(4))

    def test_types(self):
        for kind in (TensorProto.UINT8, TensorProto.INT8, TensorProto.UINT32,
                     TensorProto.INT64, TensorProto.FLOAT16,
                     TensorProto.DOUBLE, TensorProto.BFLOAT16):
            dtype = helper.tensor_dtype_to_np_dtype(kind)
            x = np.array([0, 1, 5, 100, 120]).astype(dtype)
            model = compiled(make([helper.make_node("Add", ["x", "x"], ["y"])],
                                  [value("x", 5, kind=kind)],
                                  [value("y", 5, kind=kind)]))
            result = model(x)
            self.assertEqual(result.dtype, dtype)
            np.testing.assert_array_equal(result, x + x)

    def test_wrong_arguments(self):
        model = compiled(make(
            [helper.make_node("Add", ["a", "b"], ["y"])],
            [value("a", "n", 4), value("b", "n", 4)], [value("y", "n", 4)]))
        for args, reason in (
                ((draw(2, 4), draw(3, 4)), r"input b is .*'n': 2"),
                ((draw(2, 4), draw(2, 5)), "input b is"),
                ((draw(2, 4), draw(2)), "input b is"),
                ((draw(2, 4), np.ones((2, 4))), "input b has .*float32")):
            with self.assertRaisesRegex(fusion.FusionError,
                                        f"FUS-1309.*{reason}"):
                model(*args)
        for args, named in (((draw(2, 4),), {}), ((), {"c": 1}),
                            ((1, 2, 3), {}), ((1, 2), {"a": 1})):
            with self.assertRaises(TypeError):
                model(*args, **named)


@needs_onnx
class RefusalTest(unittest.TestCase):

    def refuses(self, model, reason):
        with self.assertRaisesRegex(fusion.FusionError, reason):
            compiled(model)

    def test_node_is_named(self):
        x, y = [value("x", 4)], [value("y", None)]
        for node, inputs, outputs, reason in (
                (helper.make_node("NonZero", ["x"], ["y"], name="where"), x,
                 [value("y", None, None, kind=TensorProto.INT64)],
                 r"node where \(NonZero\): the size of its result"),
                (helper.make_node("Unique", ["x"], ["y"], name="once"), x, y,
                 r"node once \(Unique\)"),
                (helper.make_node("RandomNormalLike", ["x"], ["y"],
                                  name="noise"), x, [value("y", 4)],
                 r"node noise \(RandomNormalLike\)"),
                (helper.make_node("Det", ["m"], ["y"], name="det"),
                 [value("m", 2, 2)], [value("y")],
                 r"node det \(Det\): torch-mlir eliminates")):
            with self.subTest(node.name):
                self.refuses(make([node], inputs, outputs),
                             f"FUS-1307.*{reason}")

    def test_domains_sequences_strings(self):
        self.refuses(make([helper.make_node("Own", ["x"], ["y"], name="mine",
                                            domain="own")],
                          [value("x", 4)], [value("y", 4)], domains=["own"]),
                     r"FUS-1307.*node mine \(own.Own\).*domain")
        sequence = helper.make_tensor_sequence_value_info(
            "s", TensorProto.FLOAT, None)
        self.refuses(make([helper.make_node("SequenceConstruct", ["x"],
                                            ["s"])], [value("x", 4)],
                          [sequence]), "FUS-1307.*s is a sequence")
        self.refuses(make([helper.make_node("StringConcat", ["a", "a"],
                                            ["y"])],
                          [value("a", 1, kind=TensorProto.STRING)],
                          [value("y", 1, kind=TensorProto.STRING)]),
                     "FUS-1307.*a has elements of STRING")
        self.refuses(make([helper.make_node("Identity", ["x"], ["y"])],
                          [value("x", 4, kind=TensorProto.COMPLEX64)],
                          [value("y", 4, kind=TensorProto.COMPLEX64)]),
                     "FUS-1307.*x has elements of COMPLEX64")

    def test_invalid_models(self):
        relu = helper.make_node("Relu", ["x"], ["y"])
        self.refuses(make([helper.make_node("Relu", ["absent"], ["y"])],
                          [value("x", 4)], [value("y", 4)]), "FUS-1308")
        self.refuses(make([helper.make_node("Relu", ["x", "x"], ["y"])],
                          [value("x", 4)], [value("y", 4)]), "FUS-1308")
        self.refuses(make([helper.make_node("NoSuch", ["x"], ["y"])],
                          [value("x", 4)], [value("y", 4)]), "FUS-1308")
        self.refuses(make([relu], [value("x", 4)],
                          [value("y", 5)]), "FUS-130[78]")

    def test_missing_packages(self):
        self.addCleanup(onnx_files.require.cache_clear)
        onnx_files.require.cache_clear()
        with unittest.mock.patch.object(onnx_files.importlib.util,
                                        "find_spec", return_value=None):
            self.refuses(mlp(), "FUS-1305.*pip install onnx==")
        for version, reason in (("1.5.0", "FUS-1306.*onnx is of release"),):
            with unittest.mock.patch.object(
                    onnx_files.importlib.metadata, "version",
                    return_value=version):
                self.refuses(mlp(), reason)


@needs_onnx
class FileTest(unittest.TestCase):

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory()))
        self.inner = self.folder / "model"
        self.inner.mkdir()

    def refuses(self, path, reason):
        with self.assertRaisesRegex(fusion.FusionError, reason):
            compiled(path)

    def save(self, location="weights.bin", offset=0, length=None, size=256):
        """A model whose weight of 256 bytes is said to be in a file."""
        model = make([helper.make_node("MatMul", ["x", "w"], ["y"])],
                     [value("x", 2, 8)], [value("y", 2, 8)],
                     {"w": draw(8, 8)})
        tensor = model.graph.initializer[0]
        (self.inner / "weights.bin").write_bytes(
            (b"\0" * 64 + tensor.raw_data)[:64 + size])
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        entries = {"location": location, "offset": 64 + offset}
        if length is not None:
            entries["length"] = length
        for key, text in entries.items():
            tensor.external_data.add(key=key, value=str(text))
        path = self.inner / "model.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    def test_data_beside_the_model(self):
        model = compiled(self.save())
        self.assertIsInstance(model.program.weights["w"], np.memmap)
        np.testing.assert_allclose(model(draw(2, 8)), draw(2, 8) @ draw(8, 8),
                                   1e-5, 1e-5)

    def test_data_elsewhere(self):
        self.save()
        (self.folder / "secret").write_bytes(b"\0" * 4096)
        os.symlink(self.folder / "secret", self.inner / "link")
        for location in ("../secret", str(self.folder / "secret"), "link",
                         "sub/../../secret", "..\\secret", "C:\\secret", "",
                         "."):
            with self.subTest(location):
                self.refuses(self.save(location),
                             "FUS-1308.*tensor w.*(outside|no file)")
        self.refuses(self.save("absent"), "FUS-1308.*no file")

    def test_data_of_another_size(self):
        self.refuses(self.save(size=128), "FUS-1308.*bytes 64 to 320")
        self.refuses(self.save(offset=-128), "FUS-1308.*bytes")
        self.refuses(self.save(length=9), "FUS-1308.*9 bytes")
        path = self.save()
        with self.assertRaisesRegex(fusion.FusionError, "FUS-1308.*path"):
            compiled(path.read_bytes())

    def test_data_of_nodes_elsewhere(self):
        (self.folder / "secret").write_bytes(b"\0" * 16)
        tensor = numpy_helper.from_array(draw(4), "c")
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location",
                                 value=str(self.folder / "secret"))
        constant = helper.make_node("Constant", [], ["c"], value=tensor,
                                    name="hidden")
        add = helper.make_node("Add", ["x", "c"], ["y"])
        branch = helper.make_graph([constant, helper.make_node(
            "Add", ["x", "c"], ["z"])], "branch", [], [value("z", 4)])
        choice = helper.make_node("If", ["which"], ["y"], name="choice",
                                  then_branch=branch, else_branch=branch)
        for nodes, name in (([constant, add], "hidden"), ([choice], "choice")):
            model = make(nodes, [value("x", 4)], [value("y", 4)],
                         {"which": np.array(True)})
            self.refuses(model, f"FUS-1308.*node {name}.*file of its own")

    def test_damaged(self):
        path = self.folder / "bad.onnx"
        good = mlp().SerializeToString()
        for text in (b"", b"\0" * 100, os.urandom(1000), good[:-100],
                     good[100:], b"module {}"):
            path.write_bytes(text)
            self.refuses(path, "FUS-1308")
        self.refuses(self.folder / "absent.onnx", "FUS-1308.*No such file")
        self.refuses(self.folder, "FUS-1308")

    def test_three_gigabytes(self):
        path = self.folder / "large.onnx"
        path.write_bytes(mlp().SerializeToString())
        os.truncate(path, 3 << 30)
        self.refuses(path, "FUS-1308.*3221225472 bytes.*save_as_external_data")

    def test_converter(self):
        """python -m fusion_compiler.importing FILE.onnx"""
        def convert(path, *options):
            return subprocess.run(
                [sys.executable, "-m", "fusion_compiler.importing", path,
                 "-o", self.folder / "out.mlir", *options],
                capture_output=True, text=True, cwd=HERE.parent)

        path = self.folder / "mlp.onnx"
        path.write_bytes(mlp().SerializeToString())
        done = convert(path, f"--weights={self.folder / 'weights'}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        package = fusion.compile((self.folder / "out.mlir").read_text(),
                                 device="emulator")
        weights = [np.load(self.folder / "weights" / f"{i}.npy")
                   for i in (1, 2, 3)]
        np.testing.assert_array_equal(package(draw(3, 8), *weights),
                                      compiled(path)(draw(3, 8)))
        (self.folder / "out.mlir").unlink()
        path.write_bytes(b"damaged")
        done = convert(path)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^error: .*FUS-1308")
        self.assertFalse((self.folder / "out.mlir").exists())


def cuda():
    """PyTorch, where it sees a GPU."""
    if importlib.util.find_spec("torch"):
        import torch
        return torch if torch.cuda.is_available() else None
    return None


@needs_onnx
@unittest.skipUnless(cuda(), "PyTorch sees no GPU")
class TorchTest(unittest.TestCase):

    def test_tensors(self):
        torch, x = cuda(), draw(5, 8)
        model = fusion_onnx.compile(mlp())
        wanted, = ReferenceEvaluator(mlp()).run(None, {"x": x})
        for _ in range(2):
            result = model(torch.from_numpy(x).cuda())
            np.testing.assert_allclose(result.cpu().numpy(), wanted, 1e-3,
                                       1e-3)
        small = torch.arange(8, dtype=torch.uint8, device="cuda")
        add = fusion_onnx.compile(make(
            [helper.make_node("Add", ["x", "x"], ["y"])],
            [value("x", 8, kind=TensorProto.UINT8)],
            [value("y", 8, kind=TensorProto.UINT8)]))
        self.assertTrue(torch.equal(add(small), small + small))


@needs_onnx
class BackendTest(unittest.TestCase):

    def test_interface(self):
        x = draw(3, 8)
        wanted, = ReferenceEvaluator(mlp()).run(None, {"x": x})
        prepared = backend.prepare(mlp(), "CPU")
        for inputs in ([x], {"x": x}, [numpy_helper.from_array(x)]):
            result, = prepared.run(inputs)
            np.testing.assert_allclose(result, wanted, 1e-5, 1e-5)
        result, = backend.run_model(mlp(), [x])
        np.testing.assert_allclose(result, wanted, 1e-5, 1e-5)
        result, = backend.run_node(helper.make_node("Neg", ["a"], ["b"]), [x])
        np.testing.assert_array_equal(result, -x)
        self.assertTrue(backend.supports_device("CPU"))
        self.assertFalse(backend.supports_device("TPU"))
        self.assertTrue(backend.is_compatible(mlp()))
        self.assertFalse(backend.is_compatible(make(
            [helper.make_node("NonZero", ["x"], ["y"])], [value("x", 4)],
            [value("y", 1, None, kind=TensorProto.INT64)])))

    def test_cases(self):
        """The first case of each operator in docs/generated/OnnxOperators.md;
        tools/dev/gen_onnx_table.py runs them all."""
        from onnx.backend.test import loader
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cases = {case.name: case
                     for case in loader.load_model_tests(kind="node")}
        for name in (HERE / "onnx_cases.txt").read_text().split():
            with self.subTest(name):
                case = cases[name]
                prepared = backend.prepare(case.model)
                for inputs, expected in case.data_sets:
                    self.assertEqual("", difference(
                        prepared.run(arrays(inputs)), arrays(expected), case))


if __name__ == "__main__":
    unittest.main()
