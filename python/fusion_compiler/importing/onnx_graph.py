# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites of ONNX graphs, up to what torch-mlir takes.

What decides sizes and control flow must be a constant for torch-mlir. The
operands of which that holds are `STATIC_OPERANDS`; what they are computed from
is evaluated here (with ONNX's own reference), and inputs of the model among
that are its static inputs: their values come with the call, and a program is
compiled for each. `If` with a known condition becomes its branch, `Loop` and
`Scan` of a known number of turns become that many copies of their bodies.
"""

import re
import warnings

import numpy as np

from fusion_compiler.importing import onnx_bodies, onnx_files
from fusion_compiler.importing.onnx_files import attribute

# The operands of operators that must be known to compile, by number.
STATIC_OPERANDS = {
    "AffineGrid": (1,), "BlackmanWindow": (0,), "CenterCropPad": (1,),
    "Col2Im": (1, 2), "ConstantOfShape": (0,), "CumProd": (1,),
    "CumSum": (1,), "DFT": (1, 2), "Dropout": (1, 2), "Expand": (1,),
    "HammingWindow": (0,), "HannWindow": (0,), "If": (0,), "Loop": (0, 1),
    "MaxUnpool": (2,), "MelWeightMatrix": (0, 1, 2, 3, 4), "OneHot": (1,),
    "Pad": (1, 3), "Range": (0, 1, 2), "ReduceL1": (1,), "ReduceL2": (1,),
    "ReduceLogSum": (1,), "ReduceLogSumExp": (1,), "ReduceMax": (1,),
    "ReduceMean": (1,), "ReduceMin": (1,), "ReduceProd": (1,),
    "ReduceSum": (1,), "ReduceSumSquare": (1,), "Reshape": (1,),
    "Resize": (1, 2, 3), "STFT": (1, 3), "Slice": (1, 2, 3, 4),
    "Split": (1,), "Squeeze": (1,), "Tile": (1,), "TopK": (1,),
    "Trilu": (1,), "Unsqueeze": (1,), "Upsample": (1,),
}
# A constant of more bytes than that becomes an argument, where it may.
MOST_INLINE_BYTES = 64
# What unrolling may make of one loop, in nodes.
MOST_UNROLLED = 4096


def _subgraphs(node):
    return [graph for one in node.attribute
            for graph in ([one.g] if one.HasField("g") else one.graphs)]


def every_node(graph):
    """The nodes of a graph and of the graphs in them."""
    result, graphs = [], [graph]
    while graphs:
        for node in graphs.pop().node:
            result.append(node)
            graphs += _subgraphs(node)
    return result


def infer(model):
    """The model with the types of its values, as far as ONNX finds them."""
    onnx = onnx_files.require()
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception as error:  # InferenceError and ValueError.
        lines = [line for line in str(error).splitlines() if line.strip()]
        raise onnx_files.bad_model("types do not fit: "
                                   + "; ".join(lines)[:400]) from error


def shapes(model):
    """{name: sizes} of the values whose every size is known."""
    graph, result = model.graph, {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        kind = value.type.tensor_type
        if value.type.HasField("tensor_type") and kind.HasField("shape"):
            dims = kind.shape.dim
            if all(dim.HasField("dim_value") for dim in dims):
                result[value.name] = tuple(dim.dim_value for dim in dims)
    return result


class Values:
    """What is known of the values of a graph: constants, by name."""

    def __init__(self, model, constants):
        self.model, self.constants = model, dict(constants)
        self.producers, self.needed = {}, set()
        for node in model.graph.node:
            if node.op_type == "Constant" and not node.domain:
                self._take_constant(node)
        # What bodies need of the graph around them is needed there.
        nodes = every_node(model.graph)
        for node in nodes:
            for output in filter(None, node.output):
                self.producers[output] = node
        for node in nodes:
            for number in STATIC_OPERANDS.get(node.op_type, ()):
                if number < len(node.input):
                    self._need(node.input[number])

    def _take_constant(self, node):
        tensor = attribute(node, "value")
        value = ([onnx_files.require().numpy_helper.to_array(tensor)]
                 if tensor is not None and tensor.data_type !=
                 onnx_files.require().TensorProto.STRING
                 else self.evaluate(node))
        if value is not None:
            self.constants[node.output[0]] = value[0]

    def _need(self, name):
        """Marks what a value is computed from; shapes end the search."""
        pending = [name]
        while pending:
            name = pending.pop()
            if not name or name in self.needed:
                continue
            self.needed.add(name)
            node = self.producers.get(name)
            if node is not None and node.op_type not in ("Shape", "Size"):
                pending += node.input
                pending += [value.name for graph in _subgraphs(node)
                            for value in graph.output]

    def evaluate(self, node):
        """The results of a node with known operands, or None."""
        from onnx.reference import ReferenceEvaluator
        onnx = onnx_files.require()
        names = list(dict.fromkeys(filter(None, node.input)))
        outputs = [name for name in node.output if name]
        graph = onnx.helper.make_graph(
            [node], "node",
            [onnx.ValueInfoProto(name=name) for name in names],
            [onnx.ValueInfoProto(name=name) for name in outputs])
        model = onnx.helper.make_model(
            graph, opset_imports=self.model.opset_import)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = ReferenceEvaluator(model).run(
                    None, {name: self.constants[name] for name in names})
        except Exception:  # Then torch-mlir says what is wrong with it.
            return None
        results = [np.asarray(result) for result in results]
        return results if all(result.dtype.kind in "biufV" for result in
                              results) else None

    def fold(self):
        """Makes constants of what the static operands come from; whether
        anything became one."""
        known, kept = shapes(self.model), []
        graph = self.model.graph
        for node in graph.node:
            kept.append(node)
            if not any(name in self.needed for name in node.output):
                continue
            if node.op_type in ("Shape", "Size"):
                values = self._of_shape(node, known)
            elif (node.op_type == "Constant" or _subgraphs(node)
                  or not all(name in self.constants
                             for name in node.input if name)):
                continue
            else:
                values = self.evaluate(node)
            if values is not None:
                self.constants.update(zip(filter(None, node.output), values))
                kept.pop()
        folded = len(kept) < len(graph.node)
        if folded:
            replace_nodes(graph, kept)
        return folded

    def _of_shape(self, node, known):
        shape = (self.constants[node.input[0]].shape
                 if node.input[0] in self.constants
                 else known.get(node.input[0]))
        if shape is None:
            return None
        if node.op_type == "Size":
            return [np.array(np.prod(shape, dtype=np.int64), np.int64)]
        return [np.array(shape[attribute(node, "start", 0):
                               attribute(node, "end", len(shape))], np.int64)]


def _rename(nodes, names):
    """Renames values in nodes and in the graphs that they hold."""
    for node in nodes:
        for values in (node.input, node.output):
            for i, name in enumerate(values):
                values[i] = names.get(name, name)
        for graph in _subgraphs(node):
            _rename(graph.node, names)
            for value in (*graph.output, *graph.input):
                value.name = names.get(value.name, value.name)


class Copies:
    """Copies of bodies into the graph around them, under names of their own.

    `constants` of the enclosing graph get those of the bodies.
    """

    def __init__(self, constants, opset):
        self.constants, self.opset, self.count = constants, opset, 0
        self.expanded = set()  # The operators that became their definitions.

    def copy(self, body, bound):
        """(nodes, the names of the results) of a body whose inputs are
        `bound` to values."""
        onnx = onnx_files.require()
        self.count += 1
        graph = onnx.GraphProto()
        graph.CopyFrom(body)
        names = {value.name: name for value, name in zip(graph.input, bound)}
        own = [tensor.name for tensor in graph.initializer]
        own += [name for node in graph.node for name in node.output if name]
        for name in own:
            names[name] = f"{name}/{self.count}"
        for tensor in graph.initializer:
            self.constants[names[tensor.name]] = onnx.numpy_helper.to_array(
                tensor)
        _rename(graph.node, names)
        for node in graph.node:
            node.name = f"{node.name or node.op_type}/{self.count}"
        return list(graph.node), [names.get(value.name, value.name)
                                  for value in graph.output]

    def constant(self, value):
        """The name of a constant."""
        self.count += 1
        name = f"constant/{self.count}"
        self.constants[name] = value
        return name


def _identity(source, target):
    onnx = onnx_files.require()
    return onnx.helper.make_node("Identity", [source], [target],
                                 name=f"Identity:{target}")


def _stack(copies, names, target, axis=0):
    """Nodes that join values along a new axis."""
    onnx = onnx_files.require()
    parts = [f"{target}/{i}" for i in range(len(names))]
    operand, stated = [copies.constant(np.array([axis], np.int64))], {}
    if copies.opset < 13:  # Axes were an attribute before.
        operand, stated = [], {"axes": [axis]}
    nodes = [onnx.helper.make_node("Unsqueeze", [name, *operand], [part],
                                   name=f"Unsqueeze:{part}", **stated)
             for name, part in zip(names, parts)]
    return [*nodes, onnx.helper.make_node("Concat", parts, [target], axis=axis,
                                          name=f"Concat:{target}")]


def _branch(node, values, copies):
    """The nodes of an If whose condition is known, or None."""
    condition = values.constants.get(node.input[0])
    if condition is None:
        return None
    body = attribute(node, "then_branch" if condition.reshape(-1)[0] else
                     "else_branch")
    nodes, results = copies.copy(body, ())
    return nodes + [_identity(source, target) for source, target in
                    zip(results, node.output) if target]


def _goes_on(body):
    """Whether a loop's body leaves its condition as it is."""
    name, made = body.output[0].name, {}
    for node in body.node:
        made.update((output, node) for output in node.output)
    while name in made and made[name].op_type == "Identity":
        name = made[name].input[0]
    if name == body.input[1].name:
        return True
    tensors = {tensor.name: tensor for tensor in body.initializer}
    node = made.get(name)
    tensor = tensors.get(name) or (
        attribute(node, "value") if node is not None
        and node.op_type == "Constant" else None)
    onnx = onnx_files.require()
    return tensor is not None and bool(onnx.numpy_helper.to_array(
        tensor).reshape(-1)[0])


def _turns(node, values, copies):
    """The nodes of a Loop of a known number of turns, or None."""
    body = attribute(node, "body")
    inputs = [*node.input, *[""] * (2 - len(node.input))]
    count, condition = (values.constants.get(name) for name in inputs[:2])
    if count is None or (inputs[1] and condition is None):
        return None
    count = int(count.reshape(-1)[0])
    if condition is not None and not condition.reshape(-1)[0]:
        count = 0
    carried, nodes = list(inputs[2:]), []
    stacked = [[] for _ in body.output[1 + len(carried):]]
    if (not _goes_on(body) or count * len(body.node) > MOST_UNROLLED
            or (stacked and not count)):
        return None
    truth = copies.constant(np.array(True))
    for i in range(count):
        turn, results = copies.copy(
            body, [copies.constant(np.array(i, np.int64)), truth, *carried])
        nodes += turn
        carried = results[1:1 + len(carried)]
        for values_, result in zip(stacked, results[1 + len(carried):]):
            values_.append(result)
    nodes += [_identity(source, target) for source, target in
              zip(carried, node.output) if target]
    for names, target in zip(stacked, node.output[len(carried):]):
        if target:
            nodes += _stack(copies, names, target)
    return nodes


def _scan(node, known, copies):
    """The nodes of a Scan (of opset 9 and later) of a known length, or
    None."""
    onnx = onnx_files.require()
    body = attribute(node, "body")
    num_scanned = attribute(node, "num_scan_inputs")
    num_carried = len(body.input) - num_scanned
    if len(node.input) != len(body.input):
        return None
    carried = list(node.input[:num_carried])
    scanned = list(node.input[num_carried:])
    results = list(node.output[num_carried:])
    axes = attribute(node, "scan_input_axes", [0] * num_scanned)
    backward = attribute(node, "scan_input_directions", [0] * num_scanned)
    axes_out = attribute(node, "scan_output_axes", [0] * len(results))
    backward_out = attribute(node, "scan_output_directions",
                             [0] * len(results))
    shape = known.get(scanned[0])
    if shape is None or not shape[axes[0]] or min(axes_out, default=0) < 0:
        return None
    count = shape[axes[0]]
    if count * len(body.node) > MOST_UNROLLED:
        return None
    nodes, stacked = [], [[] for _ in results]
    for i in range(count):
        bound = list(carried)
        for name, axis, reverse in zip(scanned, axes, backward):
            at = copies.constant(np.array(count - 1 - i if reverse else i,
                                          np.int64))
            bound.append(f"{name}/{at}")
            nodes.append(onnx.helper.make_node(
                "Gather", [name, at], [bound[-1]], axis=axis,
                name=f"Gather:{bound[-1]}"))
        turn, values = copies.copy(body, bound)
        nodes += turn
        carried = values[:num_carried]
        for names, value in zip(stacked, values[num_carried:]):
            names.append(value)
    nodes += [_identity(source, target) for source, target in
              zip(carried, node.output) if target]
    for names, target, axis, reverse in zip(stacked, results, axes_out,
                                            backward_out):
        if target:
            nodes += _stack(copies, names[::-1] if reverse else names, target,
                            axis)
    return nodes


def flatten(model, values, copies):
    """Replaces control flow that is known; whether there was any."""
    known, nodes, changed = shapes(model), [], False
    for node in model.graph.node:
        flat = None
        if node.op_type == "If":
            flat = _branch(node, values, copies)
        elif node.op_type == "Loop":
            flat = _turns(node, values, copies)
        elif node.op_type == "Scan":
            flat = _scan(node, known, copies)
        nodes += [node] if flat is None else flat
        changed |= flat is not None
    if changed:
        replace_nodes(model.graph, nodes)
    return changed


def _bind(node, caller, schema):
    """Gives the attributes in a definition that refer to those of the caller
    their values."""
    bound = []
    for one in node.attribute:
        if not one.ref_attr_name:
            for graph in [one.g] if one.HasField("g") else one.graphs:
                for inner in graph.node:
                    _bind(inner, caller, schema)
            bound.append(one)
            continue
        value = next((given for given in caller.attribute
                      if given.name == one.ref_attr_name), None)
        if value is None:
            value = schema.attributes[one.ref_attr_name].default_value
        if value.type:
            named = type(one)()
            named.CopyFrom(value)
            named.name = one.name
            bound.append(named)
    copied = [type(one).FromString(one.SerializeToString()) for one in bound]
    del node.attribute[:]
    node.attribute.extend(copied)


def _schema(name, opset):
    onnx = onnx_files.require()
    try:
        return onnx.defs.get_schema(name, opset, "")
    except onnx.defs.SchemaError:
        return None


def has_body(name, opset):
    """Whether ONNX defines an operator by others."""
    schema = _schema(name, opset)
    return schema is not None and (schema.has_function or
                                   schema.has_context_dependent_function)


def definition(node, types, opset):
    """The FunctionProto that ONNX defines a node by, or None. `types` has the
    TypeProto of values by name."""
    onnx = onnx_files.require()
    schema = _schema(node.op_type, opset)
    if schema is None:
        return None
    plain = [version for version in schema.function_opset_versions
             if version <= opset]
    depending = [version for version in
                 schema.context_dependent_function_opset_versions
                 if version <= opset]
    if depending and max(depending) >= max(plain, default=0):
        text = schema.get_context_dependent_function_with_opset_version(
            max(depending), node.SerializeToString(),
            [types.get(name, onnx.TypeProto()).SerializeToString()
             for name in node.input])
    elif plain:
        text = schema.get_function_with_opset_version(max(plain))
    else:
        return None
    if not text:
        return None
    function = onnx.FunctionProto.FromString(text)
    for inner in function.node:
        _bind(inner, node, schema)
    return function


def expand(model, operators, copies):
    """Replaces the nodes of operators by their definitions, and those that
    have a body of ours; whether there was any. The model's types are
    inferred."""
    graph, nodes, changed = model.graph, [], False
    types = {value.name: value.type for value in
             (*graph.input, *graph.value_info, *graph.output)}
    onnx = onnx_files.require()
    for tensor in graph.initializer:
        types[tensor.name] = onnx.helper.make_tensor_type_proto(
            tensor.data_type, tensor.dims)
    for node in graph.node:
        instead = onnx_bodies.replace(node, types, copies)
        if instead:
            for one in instead:
                one.name = f"{title(node)}/{one.op_type}"
            nodes += instead
            changed = True
            continue
        function = (definition(node, types, copies.opset)
                    if node.op_type in operators else None)
        if function is None:
            nodes.append(node)
            continue
        changed = True
        copies.expanded.add(node.op_type)
        body = onnx.GraphProto()
        body.node.extend(function.node)
        for value in function.input:
            body.input.add().name = value
        for value in function.output:
            body.output.add().name = value
        given = [*node.input, *[""] * (len(body.input) - len(node.input))]
        inner, results = copies.copy(body, given)
        inner += [_identity(source, target) for source, target in
                  zip(results, node.output) if target]
        for one in inner:  # Messages name the node of the model.
            one.name = f"{title(node)}/{one.op_type}"
        nodes += inner
    if changed:
        replace_nodes(graph, nodes)
    return changed


def replace_nodes(graph, nodes):
    """Gives a graph other nodes, some of them its own."""
    copied = [type(node).FromString(node.SerializeToString())
              for node in nodes]
    del graph.node[:]
    graph.node.extend(copied)


def title(node):
    """What messages call a node."""
    return node.name or f"{node.op_type}:{next(iter(node.output), '')}"


def name_nodes(graph):
    """Gives each node a name of its own, for messages: {name: node}."""
    result = {}
    for i, node in enumerate(graph.node):
        name = re.sub(r'["\\\n]', "_", title(node))
        node.name = name if name not in result else f"{name}#{i}"
        result[node.name] = node
    return result
