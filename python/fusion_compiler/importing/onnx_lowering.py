# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models to MLIR text, with what the text's function takes and gives.

Operators that torch-mlir refuses and that ONNX defines by others are replaced
by that definition, one after another, until it takes all or one has none.
"""

import dataclasses
import re

import numpy as np

from fusion_compiler.errors import FusionError
from fusion_compiler.importing import (onnx_bodies, onnx_files, onnx_graph,
                                       onnx_worker, tm_tensor, torch_mlir)

# Element types of ONNX that the compiler has; unsigned integers are passed as
# signed ones of their bits.
ELEMENT_TYPES = frozenset((
    "FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2",
    "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64",
    "BOOL", "INT4", "UINT4"))
ENTRY = "main"
# Axes are operands of all reductions since then.
OLDEST_OPSET = 18


@dataclasses.dataclass(frozen=True)
class Value:
    """An input or output of a model: `dtype` is NumPy's, by name; `dims` has
    an int for a fixed size, a string for a named one, None for another."""
    name: str
    dtype: str
    dims: tuple


@dataclasses.dataclass(frozen=True)
class Program:
    """MLIR text of one function, `main`. Its arguments are the inputs of the
    model by name, then the weights; `operators` are those that it came from,
    after `expanded` ones were replaced by their definitions."""
    text: str
    inputs: tuple
    weights: dict
    outputs: tuple
    operators: tuple = ()
    expanded: tuple = ()


class _Refused(Exception):
    """What torch-mlir did not take: a reason, and the node if one is named."""

    def __init__(self, reason, node=None):
        super().__init__(reason)
        self.node = node


def _failed(reason, node=None):
    place = ""
    if node is not None:
        domain = f"{node.domain}." if node.domain else ""
        place = f"node {node.name} ({domain}{node.op_type}): "
    return FusionError.of("FUS-1307", place + reason,
                          "replace that operator in the model, or leave the "
                          "model to its own runtime")


def _describe(onnx, value):
    """The Value of an input or output; refuses what is no tensor."""
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        raise _failed(f"{value.name} is a {(kind or 'value').split('_')[0]}, "
                      "only tensors are taken")
    tensor = value.type.tensor_type
    name = onnx.TensorProto.DataType.Name(tensor.elem_type)
    if name not in ELEMENT_TYPES:
        raise _failed(f"{value.name} has elements of {name}")
    dims = tuple(dim.dim_value if dim.HasField("dim_value")
                 else dim.dim_param or None for dim in tensor.shape.dim)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    return Value(value.name, np.dtype(dtype).name, dims)


def _initializer(onnx, name, array):
    """A constant in the graph; not by its bytes where that can be, since
    torch-mlir looks into such constants."""
    array = np.asarray(array)
    tensor = onnx.numpy_helper.from_array(array, name)
    kinds = (np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
             np.uint8, np.uint32, np.uint64, np.bool_)
    if array.dtype.type not in kinds:
        return tensor
    return onnx.helper.make_tensor(name, tensor.data_type, array.shape,
                                   array.reshape(-1))


class Importer:
    """One model, from a path, bytes or a ModelProto.

    `inputs` and `outputs` are those of the model; `static_inputs` the names of
    the inputs whose values a program is compiled for. Raises FUS-1305 to
    FUS-1308.
    """

    def __init__(self, source):
        self._onnx = onnx = onnx_files.require()
        torch_mlir.folder()
        model, folder = onnx_files.read(source)
        onnx_files.check_places(model)
        self._arrays = onnx_files.tensors(model, folder)
        if model.graph.sparse_initializer:
            raise _failed("the model has sparse tensors")
        self.inputs = tuple(_describe(onnx, value)
                            for value in model.graph.input
                            if value.name not in self._arrays)
        self._own_inputs = [value for value in model.graph.input
                            if value.name not in self._arrays]
        self._hold_arrays(model)
        onnx_files.check(model)
        if model.functions:
            from onnx import inliner
            model = inliner.inline_local_functions(model)
        for node in model.graph.node:
            if node.domain not in ("", "ai.onnx"):
                raise _failed("the domain of the operator is not ONNX's own",
                              node)
        model, self._opset = self._newer(model)
        self._model = onnx_graph.infer(model)
        self.outputs = tuple(_describe(onnx, value)
                             for value in self._model.graph.output)
        values = onnx_graph.Values(self._model, self._arrays)
        self.static_inputs = tuple(
            one.name for one in self.inputs
            if one.name in values.needed and len(one.dims) <= 1)

    def _newer(self, model):
        """(the model of an operator set whose forms torch-mlir has, where ONNX
        can convert it; its version)"""
        opset = max((one.version for one in model.opset_import
                     if one.domain in ("", "ai.onnx")), default=1)
        if opset >= OLDEST_OPSET:
            return model, opset
        try:
            return (self._onnx.version_converter.convert_version(
                model, OLDEST_OPSET), OLDEST_OPSET)
        except Exception:  # torch-mlir may have the old form.
            return model, opset

    def _hold_arrays(self, model):
        """Declares the initializers as inputs: their elements are ours."""
        self._weights = {}
        for name, array in self._arrays.items():
            kind = self._onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            self._weights[name] = self._onnx.helper.make_tensor_value_info(
                name, kind, array.shape)
        del model.graph.initializer[:], model.graph.input[:]
        model.graph.input.extend((*self._own_inputs,
                                  *self._weights.values()))

    def lower(self, static=None, expand_all=False):
        """The Program for values of the static inputs, by name.

        With `expand_all` every operator that ONNX defines by others is
        replaced by that definition. Raises FUS-1307 with the node's name.
        """
        static = {name: np.asarray(static[name])
                  for name in self.static_inputs}
        expanded = set(onnx_bodies.BY_DEFINITION)
        if expand_all:
            expanded |= self._expandable(self._model)
        while True:
            model, weights = None, None
            try:
                model, weights, outputs, made = self._prepare(static, expanded)
                nodes = onnx_graph.name_nodes(model.graph)
                self._check_values(model)
                text = _lower(model, nodes)
            except _Refused as error:
                more = self._more(error, model, expanded)
                if not more:
                    raise _failed(str(error), error.node) from None
                expanded |= more
                continue
            inputs = tuple(one for one in self.inputs
                           if one.name not in static)
            return Program(
                _name_sizes(text, inputs), inputs, weights, outputs,
                tuple(sorted({node.op_type for node in model.graph.node})),
                tuple(sorted(made)))

    def _expandable(self, model):
        """The operators of a graph that ONNX defines by others."""
        return {node.op_type for node in onnx_graph.every_node(model.graph)
                if onnx_graph.has_body(node.op_type, self._opset)}

    def _more(self, refusal, model, expanded):
        """The operators to expand after a refusal: that of the node, or,
        where none is named, all."""
        if refusal.node is not None:
            name = refusal.node.op_type
            if onnx_graph.has_body(name, self._opset):
                return {name} - expanded
            return set()
        return self._expandable(model or self._model) - expanded

    def _prepare(self, static, expanded):
        """(model for torch-mlir, {name: weight}, outputs, the operators that
        became their definitions)"""
        model = type(self._model)()
        model.CopyFrom(self._model)
        constants = {**self._arrays, **static}
        copies = onnx_graph.Copies(constants, self._opset)
        for _ in range(64):  # Every round takes a level of control flow off.
            self._state_types(model, static, constants)
            model = onnx_graph.infer(model)
            values = onnx_graph.Values(model, constants)
            changed = values.fold()
            copies.constants = values.constants
            changed |= onnx_graph.flatten(model, values, copies)
            if not changed:  # Definitions may depend on types.
                changed = onnx_graph.expand(model, expanded, copies)
            constants = values.constants
            if not changed:
                break
        weights = self._place_constants(model, values)
        return model, weights, tuple(_describe(self._onnx, value)
                                     for value in model.graph.output), (
                                         copies.expanded)

    def _state_types(self, model, static, constants):
        """Declares inputs, and small constants with their values, which
        inference looks into."""
        del model.graph.input[:], model.graph.initializer[:]
        model.graph.input.extend(value for value in self._own_inputs
                                 if value.name not in static)
        for name, array in constants.items():
            if name in self._weights and name not in static:
                if array.nbytes > 1024:
                    model.graph.input.append(self._weights[name])
                    continue
            if array.nbytes <= 1024:
                model.graph.initializer.append(
                    _initializer(self._onnx, name, array))
            else:
                model.graph.input.append(self._declare(name, array))

    def _declare(self, name, array):
        helper = self._onnx.helper
        return helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    def _place_constants(self, model, values):
        """Makes the constants that are used initializers, or, large ones,
        arguments; returns these."""
        graph = model.graph
        used = {value.name for value in graph.output}
        for node in onnx_graph.every_node(graph):
            used.update(node.input)
        onnx_graph.replace_nodes(graph, [
            node for node in graph.node if node.op_type != "Constant"
            or node.output[0] not in values.constants])
        own = {value.name for value in self._own_inputs}
        inputs = [value for value in graph.input if value.name in own]
        del graph.input[:], graph.initializer[:]
        graph.input.extend(inputs)
        weights = {}
        for name, array in values.constants.items():
            if name not in used:
                continue
            if (name in values.needed
                    or array.nbytes <= onnx_graph.MOST_INLINE_BYTES):
                graph.initializer.append(
                    _initializer(self._onnx, name, array))
            else:
                graph.input.append(self._declare(name, array))
                weights[name] = array
        return weights

    def _check_values(self, model):
        """Refuses values of no known rank, which torch-mlir's importer takes
        for scalars, and element types that the compiler has not."""
        graph = model.graph
        constants = {tensor.name: self._onnx.numpy_helper.to_array(tensor)
                     for tensor in graph.initializer}
        known, kinds = set(constants), {}
        dims = {name: array.shape for name, array in constants.items()}
        for value in (*graph.input, *graph.value_info, *graph.output):
            if value.type.HasField("tensor_type"):
                kind = value.type.tensor_type
                name = self._onnx.TensorProto.DataType.Name(kind.elem_type)
                if kind.HasField("shape") and name in ELEMENT_TYPES:
                    known.add(value.name)
                    kinds[value.name] = name
                    dims[value.name] = tuple(
                        one.dim_value if one.HasField("dim_value") else None
                        for one in kind.shape.dim)
        for node in graph.node:
            reason = onnx_bodies.refusal(node, dims, constants, kinds)
            if reason:
                raise _Refused(reason, node)
            for name in node.output:
                if name and name not in known:
                    raise _Refused(f"the rank of {name} is not known when the "
                                   "model is compiled, or its elements are of "
                                   "a type that kernels have not", node)


def _lower(model, nodes):
    """MLIR text of a model; raises _Refused."""
    model.graph.name = ENTRY
    try:
        taken, text = onnx_worker.convert(model.SerializeToString())
    except onnx_worker.Died as error:
        raise _Refused("torch-mlir's importer ended with "
                       f"{error.args[0]}") from error
    if not taken:
        raise _Refused(f"torch-mlir's importer: {text}",
                       _named(f"error: {text}", nodes))
    code, text, log = torch_mlir.run(text, torch_mlir.FROM_ONNX)
    if code:
        raise _Refused(_reason(code, log), _named(log, nodes))
    text = tm_tensor.map_scans(text)
    left = torch_mlir.left(text, ("tm_tensor", "scf", "torch", "torch_c"))
    if left:
        op, place = left[0]
        raise _Refused(f"{op} of torch-mlir has no lowering to linalg",
                       nodes.get(place))
    return text


def _name_sizes(text, inputs):
    """Tells the compiler the names of sizes: those of one name are equal."""
    for i, one in enumerate(inputs):
        names = [dim if isinstance(dim, str)
                 and re.fullmatch(r"[A-Za-z]\w*", dim) else "_"
                 for dim in one.dims]
        if any(name != "_" for name in names):
            listed = ", ".join(f'"{name}"' for name in names)
            text = re.sub(rf"%arg{i}: tensor<[^>]*>",
                          rf"\g<0> {{fusion.dims = [{listed}]}}", text,
                          count=1)
    return text


def _reason(code, log):
    if code < 0:
        return f"torch-mlir ended with signal {-code}"
    match = re.search(r"error: (?:loc\(.*?\): )?(.*)", log)
    text = re.sub(r"\s*(?:that was explicitly marked illegal)?: %.*", "",
                  match.group(1) if match else log).strip()
    if re.fullmatch(r"failed to legalize operation 'torch\.[\w.]*'", text):
        return "torch-mlir has no lowering for it, or not for such operands"
    return f"torch-mlir: {text[:300]}"


# What a log names: the place of an error; operators that conversions left.
_PLACES = (re.compile(r'error: loc\("([^"]*)"'),
           re.compile(r'= torch\.(?:operator "|aten\.)[^\n]* '
                      r'loc\("([^"]*)"\)$', re.MULTILINE))


def _named(log, nodes):
    """The first node that a log names."""
    for pattern in _PLACES:
        for name in pattern.findall(log):
            if name in nodes:
                return nodes[name]
    return None
