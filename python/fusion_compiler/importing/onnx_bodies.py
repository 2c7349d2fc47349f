# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that torch-mlir lowers to something else than ONNX defines.

Each is replaced by ONNX's own definition (`BY_DEFINITION`), by nodes that say
the same (`BODIES`), or refused (`refusal`). Found by the node test cases of
the onnx package; the table in docs/generated/OnnxOperators.md is of what is
left.
"""

import numpy as np

from fusion_compiler.importing import onnx_files
from fusion_compiler.importing.onnx_files import attribute

# CastLike: casts to 8-bit floats do not saturate. Gelu: sqrt(2 / pi) has three
# digits. The losses: a weighted mean is divided by something else.
# SpaceToDepth: always in one of its two modes.
BY_DEFINITION = frozenset(("CastLike", "Gelu", "NegativeLogLikelihoodLoss",
                           "SoftmaxCrossEntropyLoss", "SpaceToDepth"))

_RANDOM = frozenset(("Bernoulli", "Multinomial", "RandomNormal",
                     "RandomNormalLike", "RandomUniform",
                     "RandomUniformLike"))

# The sizes of their results depend on elements, which torch-mlir cuts or fills
# to what the model states.
_DATA_DEPENDENT = frozenset(("Compress", "NonMaxSuppression", "NonZero",
                             "Unique"))


def _trains(node, constants):
    """Whether a Dropout draws, or may."""
    if len(node.input) < 3 or not node.input[2]:
        return False
    training = constants.get(node.input[2])
    return training is None or bool(training.reshape(-1)[0])


def _is_between(node, dims, constants):
    """Whether a Resize ends between two elements, where align_corners is of
    sizes that are no integers."""
    scales = constants.get(node.input[2] if len(node.input) > 2 else "")
    sizes = dims.get(node.input[0], ())
    if scales is None or not scales.size:
        return False
    axes = attribute(node, "axes") or range(len(sizes))
    return any(sizes[axis] is None or sizes[axis] * float(scale) % 1
               for axis, scale in zip(axes, scales))


def _goes_back(node, constants):
    """Whether a Slice has a negative step, or one that is not known."""
    if len(node.input) < 5 or not node.input[4]:
        return False
    steps = constants.get(node.input[4])
    return steps is None or bool((steps < 0).any())


def refusal(node, dims, constants, kinds):
    """Why a node is refused whatever torch-mlir makes of it, or None. `dims`
    has the sizes of values by name, `kinds` the names of their element types,
    `constants` arrays."""
    kind = node.op_type
    if kind in _DATA_DEPENDENT:
        return "the size of its result depends on elements of its operand"
    if kind in _RANDOM or (kind == "Dropout" and _trains(node, constants)):
        return "random numbers: kernels keep no state between calls"
    if kind == "Pad" and attribute(node, "mode") == b"wrap":
        return "torch-mlir does not come to an end"
    if kind == "Det":
        return "torch-mlir eliminates without pivots"
    if kind == "GridSample" and attribute(node, "mode") == b"nearest":
        return "torch-mlir rounds coordinates half up, not half to even"
    if (kind == "Resize" and attribute(
            node, "coordinate_transformation_mode") == b"align_corners"
            and _is_between(node, dims, constants)):
        return "torch-mlir rounds the size that corners are aligned with"
    if kind == "Slice" and _goes_back(node, constants):
        return "a step is negative where the size is not known"
    if (kind == "QuantizeLinear"
            and kinds.get(node.output[0], "").startswith("FLOAT8")):
        return "torch-mlir does not saturate 8-bit floats"
    if (kind == "QuantizeLinear" and kinds.get(node.output[0]) in
            ("UINT16", "INT4", "UINT4")):
        return "torch-mlir has no such quantized type"
    if (kind in ("QLinearMatMul", "MatMulInteger")
            and len(dims.get(node.output[0], ())) != 2):
        return "torch-mlir multiplies only matrices of quantized elements"
    if kind == "LSTM" and len(node.input) > 7 and node.input[7]:
        return "torch-mlir ignores the peephole weights"
    if (kind in ("RNN", "GRU", "LSTM")
            and len(node.input) > 4 and node.input[4]):
        return "torch-mlir ignores the lengths of sequences"
    return None


class _Builder:
    """Nodes in place of one, with values of its own."""

    def __init__(self, node, opset):
        self.onnx = onnx_files.require()
        self.node, self.opset, self.nodes = node, opset, []

    def add(self, kind, *inputs, output=None, **attributes):
        name = output or f"{self.node.output[0]}/{kind}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(
            kind, inputs, [name], name=f"{kind}:{name}", **attributes))
        return name

    def over(self, kind, value, axes, output=None, **attributes):
        """A node over axes, which were attributes once."""
        first = 13 if kind in ("Unsqueeze", "ReduceSum") else 18
        if self.opset < first:
            return self.add(kind, value, output=output, axes=list(axes),
                            **attributes)
        return self.add(kind, value, self.constant(np.array(axes, np.int64)),
                        output=output, **attributes)

    def constant(self, array):
        return self.add("Constant", value=self.onnx.numpy_helper.from_array(
            np.asarray(array)))


def _lp_normalization(node, types, copies):
    """x / norm, and 0 where the norm is 0."""
    build = _Builder(node, copies.opset)
    kind = types[node.input[0]].tensor_type.elem_type
    norm = build.over(f"ReduceL{attribute(node, 'p', 2)}", node.input[0],
                      [attribute(node, "axis", -1)])
    zero = build.add("Cast", build.constant(np.float32(0)), to=kind)
    quotient = build.add("Div", node.input[0], norm)
    build.add("Where", build.add("Equal", norm, zero), zero, quotient,
              output=node.output[0])
    return build.nodes


def _dequantize_linear(node, types, copies):
    """(x - zero point) * scale in f32, both spread along the axis."""
    x, scale = (types[name].tensor_type for name in node.input[:2])
    block = attribute(node, "block_size", 0)
    dims = [dim.dim_value for dim in x.shape.dim]
    rank, axis = len(dims), attribute(node, "axis", 1)
    axis += rank if axis < 0 else 0
    if block and not all(dims):
        return None
    build = _Builder(node, copies.opset)
    wide = build.onnx.TensorProto.FLOAT

    def spread(name):
        name = build.add("Cast", name, to=wide)
        if len(scale.shape.dim) == 1 and not block:
            others = [i for i in range(rank) if i != axis]
            return build.over("Unsqueeze", name, others) if others else name
        if not block:
            return name
        count = scale.shape.dim[axis].dim_value
        parts = build.over("Unsqueeze", name, [axis + 1])
        parts = build.add("Expand", parts, build.constant(np.array(
            [*dims[:axis], count, block, *dims[axis + 1:]], np.int64)))
        return build.add("Reshape", parts, build.constant(np.array(
            [*dims[:axis], count * block, *dims[axis + 1:]], np.int64)))

    value = build.add("Cast", node.input[0], to=wide)
    if len(node.input) > 2 and node.input[2]:
        value = build.add("Sub", value, spread(node.input[2]))
    value = build.add("Mul", value, spread(node.input[1]))
    build.add("Cast", value, output=node.output[0],
              to=attribute(node, "output_dtype", 0) or scale.elem_type)
    return build.nodes


def _cumulative_sum(node, types, copies):
    """Exclusive sums: of those before. torch-mlir subtracts the last, which
    NaN, infinities and rounding spoil."""
    axis = copies.constants.get(node.input[1])
    if not attribute(node, "exclusive", 0) or axis is None:
        return None
    build = _Builder(node, copies.opset)
    operand = types[node.input[0]].tensor_type
    rank, axis = len(operand.shape.dim), int(axis.reshape(-1)[0])
    axis += rank if axis < 0 else 0
    reverse = attribute(node, "reverse", 0)
    first, last = (1, np.iinfo(np.int64).max) if reverse else (0, -1)
    kept = build.add("Slice", node.input[0], *(
        build.constant(np.array([value], np.int64))
        for value in (first, last, axis)))
    sums = build.add("CumSum", kept, node.input[1], reverse=reverse)
    pads = np.zeros(2 * rank, np.int64)
    pads[axis + rank if reverse else axis] = 1
    build.add("Pad", sums, build.constant(pads), build.add(
        "Cast", build.constant(np.float32(0)), to=operand.elem_type),
        output=node.output[0])
    return build.nodes


def _slice(node, types, copies):
    """Negative steps: a Gather. torch-mlir turns the operand round first, and
    cuts what ends before the first element wrongly."""
    bounds = [copies.constants.get(name) for name in node.input[1:]]
    if not _goes_back(node, copies.constants) or any(
            bound is None for bound, name in zip(bounds, node.input[1:])
            if name):
        return None
    dims = [dim.dim_value if dim.HasField("dim_value") else None
            for dim in types[node.input[0]].tensor_type.shape.dim]
    starts, ends, axes, steps = bounds
    axes = range(len(starts)) if axes is None else axes
    if any(dims[axis] is None for axis in axes):
        return None
    build, value = _Builder(node, copies.opset), node.input[0]
    for start, end, axis, step in zip(starts, ends, axes, steps):
        value = build.add("Gather", value, build.constant(_positions(
            dims[axis], int(start), int(end), int(step))), axis=int(axis))
    build.add("Identity", value, output=node.output[0])
    return build.nodes


def _positions(size, start, end, step):
    """The positions that a Slice takes of an axis."""
    start += size if start < 0 else 0
    end += size if end < 0 else 0
    if step > 0:
        start, end = (min(max(one, 0), size) for one in (start, end))
    else:
        start, end = (min(max(one, -1), size - 1) for one in (start, end))
    return np.arange(start, end, step, dtype=np.int64)


def _pad(node, types, copies):
    """Negative widths: a Slice before. torch-mlir takes padding that keeps a
    tensor's sizes for none: one more here and one less there."""
    pads = copies.constants.get(node.input[1]) if len(node.input) > 1 else None
    if pads is None or not (pads < 0).any():
        return None
    rank = len(types[node.input[0]].tensor_type.shape.dim)
    axes = (copies.constants.get(node.input[3])
            if len(node.input) > 3 and node.input[3] else np.arange(rank))
    if axes is None:
        return None
    build = _Builder(node, copies.opset)
    firsts, lasts = np.maximum(-pads, 0).reshape(2, -1)
    kept = build.add("Slice", node.input[0], *(
        build.constant(one.astype(np.int64)) for one in (
            firsts, np.where(lasts, -lasts, np.iinfo(np.int64).max), axes)))
    build.add("Pad", kept, build.constant(np.maximum(pads, 0)),
              *node.input[2:], output=node.output[0],
              mode=attribute(node, "mode", b"constant"))
    return build.nodes


def _reduction(node, types, copies):
    """States the axes of a reduction over all of them."""
    rank = len(types[node.input[0]].tensor_type.shape.dim)
    if ((len(node.input) > 1 and node.input[1]) or not rank
            or attribute(node, "axes") is not None
            or attribute(node, "noop_with_empty_axes", 0)):
        return None
    build = _Builder(node, copies.opset)
    build.over(node.op_type, node.input[0], range(rank),
               output=node.output[0], keepdims=attribute(node, "keepdims", 1))
    return build.nodes


BODIES = {"LpNormalization": _lp_normalization,
          "DequantizeLinear": _dequantize_linear,
          "CumSum": _cumulative_sum, "Slice": _slice,
          "Pad": _pad,
          "ReduceMax": _reduction, "ReduceMin": _reduction}


def replace(node, types, copies):
    """Nodes that say what one says, or None. `types` has the TypeProto of
    values by name; those of the operands must be known."""
    body = BODIES.get(node.op_type)
    known = all(name in types
                and types[name].tensor_type.HasField("shape")
                for name in node.input if name)
    return body(node, types, copies) if body and known else None
