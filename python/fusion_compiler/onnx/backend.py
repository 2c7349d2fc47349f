# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interface of onnx.backend, on this compiler.

    import fusion_compiler.onnx.backend as backend
    backend.prepare(model, device="CUDA").run([x])

The device "CPU" is the emulator; "CUDA" and "CUDA:1" are GPUs.
"""

import numpy as np

from fusion_compiler.devices import default_device
from fusion_compiler.errors import FusionError
from fusion_compiler.importing import onnx_files
from fusion_compiler.onnx.model import Model


def _device(name):
    """The device of this compiler that onnx.backend's name means."""
    kind, _, number = name.partition(":")
    if kind == "CPU":
        return "emulator"
    if kind != "CUDA" or not (number or "0").isdigit():
        raise FusionError.of("FUS-1309", f"{name} is no device",
                             "choose CPU, CUDA or CUDA:N")
    return f"cuda:{number or 0}"


class BackendRep:
    """A model that runs."""

    def __init__(self, model):
        self.model = model

    def run(self, inputs, **kwargs):
        """The results as a tuple. `inputs` is a list in the model's order, or
        {name: array}; an array may be an onnx.TensorProto."""
        onnx = onnx_files.require()

        def array(value):
            if isinstance(value, onnx.TensorProto):
                return onnx.numpy_helper.to_array(value)
            return np.asarray(value)

        if isinstance(inputs, dict):
            results = self.model(**{name: array(value)
                                    for name, value in inputs.items()})
        else:
            if not isinstance(inputs, (list, tuple)):
                inputs = [inputs]
            results = self.model(*map(array, inputs))
        return results if isinstance(results, tuple) else (results,)


def is_compatible(model, device="CPU", **kwargs):
    """Whether a model is taken; compiles it where that needs no values."""
    try:
        prepare(model, device)
    except FusionError:
        return False
    return supports_device(device)


def prepare(model, device="CPU", **kwargs):
    """A BackendRep of a ModelProto. Raises FusionError as
    `fusion.onnx.compile` does."""
    return BackendRep(Model(model, device=_device(device)))


def run_model(model, inputs, device="CPU", **kwargs):
    """The results of a ModelProto, as a tuple."""
    return prepare(model, device).run(inputs)


def run_node(node, inputs, device="CPU", outputs_info=None, **kwargs):
    """The results of one node, as a tuple. `outputs_info` has the dtype and
    shape of each; without it ONNX infers them. `opset_version` may be among
    the keywords."""
    onnx = onnx_files.require()
    helper = onnx.helper
    arrays = [np.asarray(value) for value in inputs]
    names = [name for name in node.input if name]

    def value(name, dtype, shape):
        return helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)

    outputs = [name for name in node.output if name]
    described = ([value(name, *info) for name, info in
                  zip(outputs, outputs_info)] if outputs_info
                 else [onnx.ValueInfoProto(name=name) for name in outputs])
    graph = helper.make_graph(
        [node], "node", [value(name, array.dtype, array.shape)
                         for name, array in zip(names, arrays)], described)
    opset = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
    model = helper.make_model(graph, opset_imports=[
        helper.make_opsetid("", opset)])
    if not outputs_info:
        model = onnx.shape_inference.infer_shapes(model)
    return run_model(model, arrays, device)


def supports_device(device):
    """Whether there is such a device: "CPU", "CUDA" or "CUDA:N"."""
    try:
        name = _device(device)
    except FusionError:
        return False
    return name == "emulator" or not default_device().is_emulator
