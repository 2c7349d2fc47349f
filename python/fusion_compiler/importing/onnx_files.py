# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads ONNX models: the file, and the tensors that are stored beside it.

A model is read and checked without its large tensors. Those in files of their
own are mapped, never read whole, and no path may leave the model's folder.
"""

import functools
import importlib.metadata
import importlib.util
import pathlib
import warnings

import numpy as np

from fusion_compiler.errors import FusionError

# The release that the tests run with, and the oldest that is known to have
# every function used here.
TESTED = "1.23.2"
OLDEST = (1, 23)
# What a protobuf message may hold.
MOST_BYTES = (1 << 31) - 1


def bad_model(cause, remedy="write the model again"):
    """The error for what is no model."""
    return FusionError.of("FUS-1308", cause, remedy)


@functools.lru_cache(maxsize=None)
def require():
    """The onnx package; refuses one that is missing (FUS-1305) or too old
    (FUS-1306)."""
    if importlib.util.find_spec("onnx") is None:
        raise FusionError.of("FUS-1305", "the package onnx is not installed",
                             f"pip install onnx=={TESTED}")
    version = importlib.metadata.version("onnx")
    if tuple(map(int, version.split(".")[:2])) < OLDEST:
        raise FusionError.of("FUS-1306", f"onnx is of release {version}",
                             f"pip install onnx=={TESTED}")
    import onnx
    return onnx


def read(source):
    """(ModelProto, folder of its data) of a path, bytes or a ModelProto.

    Raises FUS-1308 for what is no model.
    """
    onnx = require()
    if isinstance(source, onnx.ModelProto):
        model = onnx.ModelProto()
        model.CopyFrom(source)
        return model, None
    folder, what = None, "the model"
    if not isinstance(source, (bytes, bytearray, memoryview)):
        path = pathlib.Path(source)
        folder, what = path.parent.resolve(), str(path)
        try:
            size = path.stat().st_size
            if size > MOST_BYTES:
                raise bad_model(
                    f"{what}: {size} bytes; a model's file holds at most "
                    f"{MOST_BYTES}", "store the weights beside the file: "
                    "onnx.save(model, path, save_as_external_data=True)")
            source = path.read_bytes()
        except OSError as error:
            raise bad_model(f"{what}: {error.strerror}",
                            "check the path") from error
    try:
        model = onnx.load_model_from_string(bytes(source))
    except Exception as error:  # protobuf's DecodeError has several homes.
        raise bad_model(f"{what}: not an ONNX model, or a damaged one "
                        f"({error})") from error
    if not model.graph.output:
        raise bad_model(f"{what}: not an ONNX model, or one without results")
    return model, folder


def _entries(tensor):
    return {entry.key: entry.value for entry in tensor.external_data}


def _external(onnx, tensor, folder):
    """The elements of a tensor in a file of its own, mapped."""
    what = f"tensor {tensor.name}"
    if folder is None:
        raise bad_model(f"{what}: is in a file of its own, and the model is "
                        "not read from a folder", "give the model's path")
    entries = _entries(tensor)
    location = entries.get("location", "")
    # PureWindowsPath: drive letters and backslashes lead outside there.
    parts = pathlib.PureWindowsPath(location)
    path = (folder / location).resolve()
    if (not location or parts.is_absolute() or parts.drive or "\\" in location
            or pathlib.PurePosixPath(location).is_absolute()
            or folder.resolve() not in path.parents):
        raise bad_model(f"{what}: its data {location!r} is outside of the "
                        "model's folder", "store it beside the model")
    try:
        offset = int(entries.get("offset", 0))
        length = int(entries.get("length", -1))
    except ValueError:
        raise bad_model(f"{what}: its place in {location!r} is no "
                        "number") from None
    dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type))
    count = int(np.prod(tensor.dims, dtype=object)) if tensor.dims else 1
    if not path.is_file():
        raise bad_model(f"{what}: {location!r} is no file in the model's "
                        "folder", "copy it there")
    size = path.stat().st_size
    bits = onnx_bits(dtype)
    wanted = (count * bits + 7) // 8
    if length not in (-1, wanted):
        raise bad_model(f"{what}: {length} bytes in {location!r} for elements "
                        f"of {wanted} bytes")
    if offset < 0 or offset + wanted > size:
        raise bad_model(f"{what}: bytes {offset} to {offset + wanted} of "
                        f"{location!r}, which has {size}")
    if bits < 8:
        tensor.raw_data = path.read_bytes()[offset:offset + wanted]
        tensor.data_location = onnx.TensorProto.DEFAULT
        return onnx.numpy_helper.to_array(tensor)
    if not count:
        return np.empty(tuple(tensor.dims), dtype)
    return np.memmap(path, dtype, "r", offset, tuple(tensor.dims))


def onnx_bits(dtype):
    """Bits of one element in a file."""
    for bits in (2, 4):
        if dtype.name.endswith(f"int{bits}") or dtype.name.startswith(
                f"float{bits}_"):
            return bits
    return 8 * dtype.itemsize


def tensors(model, folder):
    """The initializers as {name: array}; large ones of other files mapped."""
    onnx = require()
    result = {}
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.STRING:
            raise FusionError.of("FUS-1307", f"tensor {tensor.name} holds "
                                 "strings", "take them out of the model")
        try:
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                result[tensor.name] = _external(onnx, tensor, folder)
            else:
                result[tensor.name] = onnx.numpy_helper.to_array(tensor)
        except FusionError:
            raise
        except Exception as error:  # What is wrong with it, in its own words.
            raise bad_model(f"tensor {tensor.name}: {error}") from error
    return result


def _inner_tensors(node):
    """(tensor) of a node's attributes and of the graphs in them."""
    for one in node.attribute:
        yield from ([one.t] if one.HasField("t") else one.tensors)
        for sparse in ([one.sparse_tensor] if one.HasField("sparse_tensor")
                       else one.sparse_tensors):
            yield from (sparse.values, sparse.indices)
        for graph in [one.g] if one.HasField("g") else one.graphs:
            yield from graph.initializer
            for inner in graph.node:
                yield from _inner_tensors(inner)


def check_places(model):
    """Refuses data in other files of tensors that are not the graph's own:
    ONNX would look for them by itself."""
    onnx = require()
    nodes = [*model.graph.node, *(node for function in model.functions
                                  for node in function.node)]
    for node in nodes:
        for tensor in _inner_tensors(node):
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                raise bad_model(f"node {node.name} ({node.op_type}): a tensor "
                                "in it is in a file of its own",
                                "make it an initializer of the graph")


def check(model):
    """Refuses a model that ONNX's checker does not take (FUS-1308)."""
    onnx = require()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        lines = [line.strip() for line in str(error).splitlines()
                 if line.strip()]
        raise bad_model("; ".join(lines)[:400] or "not valid") from error


def attribute(node, name, default=None):
    """The value of a node's attribute."""
    onnx = require()
    for one in node.attribute:
        if one.name == name:
            return onnx.helper.get_attribute_value(one)
    return default
