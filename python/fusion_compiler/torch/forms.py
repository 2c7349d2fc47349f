# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of ATen in the forms that kernels take.

This is done to a graph of forward and backward pass, before the two are told
apart, or of neither.
"""

from fusion_compiler.importing import operations  # noqa: F401
from fusion_compiler.torch import attention, randomness
from fusion_compiler.torch.rewriter import Rewriter

_FORMS = {**randomness.FORMS, **attention.FORMS}


def replace(graph):
    """Rewrites a graph. Seeds are drawn as it begins. What has no form here is
    left as it is."""
    rewriter = Rewriter(graph)
    for node in list(graph.nodes):
        form = _FORMS.get(node.target)
        if form is not None:
            form(rewriter, node)
    rewriter.draw()
