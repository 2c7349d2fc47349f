# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""FX graphs of ATen operations, without side effects, as MLIR text.

Every operation of the text has the FX node that it came from as its location:
the file is the node's name (`mark_nodes`), so that an error of torch-mlir or of
the compiler tells the node (`failing_nodes`).
"""

import contextlib
import io
import re

import torch

from fusion_compiler.errors import FusionError
from fusion_compiler.importing import calls, dialects, tm_tensor, torch_mlir

# The place of what is about a graph as a whole; no node has such a name.
WHOLE = "<graph>"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _importer():
    """(torch_mlir's Python context, its FX importer)"""
    torch_mlir.folder()
    try:
        from torch_mlir import ir
        from torch_mlir._mlir_libs import _mlir, _torchMlir
        from torch_mlir.extras.fx_importer import FxImporter
    except ImportError as error:
        raise FusionError.of(
            "FUS-1306", f"torch-mlir cannot be imported: {error}",
            f"pip install torch-mlir=={torch_mlir.TESTED}") from error
    places = _mlir.globals.dialect_search_modules
    if dialects.__name__ not in places:
        _mlir.globals.dialect_search_modules = [dialects.__name__, *places]
    context = ir.Context()
    _torchMlir.register_dialect(context)
    return ir, FxImporter(context=context)


def name_of(node):
    """The name of a node, or the one that it had before copies renamed it."""
    return node.meta.get("fusion_node", node.name)


def is_function(node):
    """Whether a node is an operation that gives the same for the same."""
    return (node.op == "call_function"
            and isinstance(node.target, torch._ops.OpOverload)
            and torch.Tag.nondeterministic_seeded not in node.target.tags
            and not node.target._schema.is_mutable)


def constants(nodes):
    """Those of `nodes`, in a graph's order, that depend on none that is no
    function: what they give is always the same."""
    found = set()
    for node in nodes:
        if is_function(node) and found.issuperset(node.all_input_nodes):
            found.add(node)
    return found


def mark_nodes(graph):
    """Makes the name of each node its place in the program, for `graph` and
    for what is traced of it."""
    for node in graph.nodes:
        node.meta["stack_trace"] = f'File "{name_of(node)}", line 1,'
        # PyTorch would copy it, and all it leads to, for each node traced.
        node.meta.pop("from_node", None)


def _forget_devices(graph):
    """Where tensors are is no part of a program, and torch-mlir lowers what
    makes a tensor for the CPU alone."""
    def forget(value):
        return torch.device("cpu") if isinstance(value, torch.device) else value

    for node in graph.nodes:
        if any(isinstance(one, torch.device)
               for one in (*node.args, *node.kwargs.values())):
            node.args = tuple(map(forget, node.args))
            node.kwargs = {name: forget(one)
                           for name, one in node.kwargs.items()}


def to_torch_dialect(graph, name="main"):
    """The torch dialect of an FX graph, as text.

    `graph` is a `torch.fx.Graph` whose placeholders are tensors or sizes, each
    with its fake tensor or SymInt in `meta["val"]`, and which returns tensors.
    It becomes one function `name` of as many arguments and results. Devices
    in it become the CPU.
    """
    ir, importer = _importer()
    _forget_devices(graph)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            function = importer.import_stateless_graph(graph, func_name=name)
    except FusionError:
        raise
    except Exception as error:  # Whatever the importer stumbles over.
        raise FusionError.of(
            "FUS-1307", f"torch-mlir cannot import the graph: {error}",
            "leave the operation to PyTorch") from error
    with importer._c:
        # Sizes that PyTorch does not know to be 1 are not 1: it guards that.
        function.attributes["torch.assume_strict_symbolic_shapes"] = (
            ir.UnitAttr.get())
        calls.declare(ir, importer.module)
    text = importer.module.operation.get_asm(enable_debug_info=True)
    # The importer says that they are where the first node is.
    place = f'loc("{WHOLE}":1:0)'
    text = re.sub(r"^  func\.func .*", lambda line: re.sub(
        r"\bloc\((?:#\w+|\"[^\"]*\":\d+:\d+)\)", place, line.group()), text,
                  count=1, flags=re.MULTILINE)
    return re.sub(r"^  \} loc\(#\w+\)$", f"  }} {place}", text,
                  flags=re.MULTILINE)


def to_linalg(text, rounded=()):
    """The torch dialect's text as linalg on tensors; `rounded` are the names
    of nodes whose products may be made in tf32. Raises FUS-1307, with a
    diagnostic for every operation that torch-mlir does not lower."""
    pipeline = (torch_mlir.from_torch_with_calls() if calls.declared(text)
                else torch_mlir.FROM_TORCH)
    linalg = tm_tensor.map_scans(
        calls.write(torch_mlir.lower(text, pipeline)))
    # Conversions between the dialects' tensors are left with what they are of.
    found = (torch_mlir.left(linalg, ("tm_tensor", "torch"))
             or torch_mlir.left(linalg, ("torch_c",)))
    if found:
        raise torch_mlir.refused_all(
            [(f"torch-mlir leaves {operation} in the program", node)
             for operation, node in found])
    return _allow_tf32(linalg, rounded)


def _allow_tf32(linalg, names):
    """Says it in the places that operations come from, where the compiler
    keeps what holds for all that they are rewritten into: a node may have
    become several operations."""
    if not names:
        return linalg
    place = re.compile(rf'loc\(("(?:{"|".join(names)})":1:0)\)')
    return place.sub(
        r"loc(fused<{fusion.contracts = {fusion.tf32}}>[\1])", linalg)


def failing_nodes(error, names):
    """{name of an FX node of those in `names`: why}, for the nodes that an
    error is about; empty if the error does not tell."""
    found = {}
    for one in getattr(error, "diagnostics", ()):
        if one.severity == "error" and one.file in names:
            found.setdefault(one.file, one.cause)
    if found:
        return found
    cause = getattr(error, "cause", "")
    for name in (*re.findall(r'"?([A-Za-z_]\w*)"?:1:0', str(error)),
                 *_NAME.findall(cause)):
        if name in names:
            return {name: cause or str(error)}
    return {}
