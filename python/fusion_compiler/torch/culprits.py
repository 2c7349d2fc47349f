# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operation of a part is refused, where the error does not tell."""

import operator

import torch


def _is_operation(node):
    """A result of several that is taken belongs to what has them."""
    return node.op == "call_function" and node.target is not operator.getitem


def prefix(module, count):
    """The first `count` operations of a part, a GraphModule, as a part that
    returns what of them nothing in it uses; None if that is no tensor."""
    graph, copies = torch.fx.Graph(), {}
    for node in module.graph.nodes:
        count -= _is_operation(node)
        is_in = (node.args[0] in copies if node.target is operator.getitem
                 else count >= 0 or not _is_operation(node))
        if is_in and node.op != "output":
            copies[node] = graph.node_copy(node, lambda n: copies[n])
    results = [node for node in graph.nodes
               if node.op == "call_function" and not node.users
               and isinstance(node.meta.get("val"), torch.Tensor)]
    if not results:
        return None
    graph.output(tuple(results))
    return torch.fx.GraphModule(module, graph)


def find(module, fails):
    """The operation of a part with which it begins to fail.

    `fails` says whether a part is refused; `module` is. Found by halving, as if
    a part that holds a refused one were refused: should that not be so, the
    operation is still one whose part is refused, and without which it is not.
    """
    nodes = [node for node in module.graph.nodes if _is_operation(node)]
    right, wrong = 0, len(nodes)
    while wrong - right > 1:
        middle = (right + wrong) // 2
        part = prefix(module, middle)
        if part is not None and fails(part):
            wrong = middle
        else:
            right = middle
    return nodes[wrong - 1]
