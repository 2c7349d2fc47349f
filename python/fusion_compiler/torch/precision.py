# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which products of f32 may round their factors to tf32, as PyTorch is told."""

import torch
from torch.utils.flop_counter import flop_registry

from fusion_compiler.importing import decompositions, fx

aten = torch.ops.aten
_CONVOLUTIONS = (aten.convolution, aten.convolution_backward)


def _is_product(packet):
    """Whether an operation is one that PyTorch counts the products of: not,
    say, a product by elements and a sum."""
    return packet in flop_registry or packet in (
        getattr(torch.ops.fusion, name) for name in decompositions.OWN)


def _allowed(device):
    """(for convolutions, for other products): what `torch.backends` says, for
    a CPU that of oneDNN."""
    backends = torch.backends
    if device.type == "cuda":
        precisions = backends.cudnn.conv, backends.cuda.matmul
    else:
        precisions = backends.mkldnn.conv, backends.mkldnn.matmul
    return tuple(one.fp32_precision in ("tf32", "bf16") for one in precisions)


def rounded(graph, device):
    """The names of the nodes whose products may be made in tf32, in order."""
    convolutions, others = _allowed(device)
    packets = {fx.name_of(node): node.target.overloadpacket
               for node in graph.nodes
               if isinstance(node.target, torch._ops.OpOverload)}
    return tuple(sorted(
        name for name, packet in packets.items() if _is_product(packet)
        and (convolutions if packet in _CONVOLUTIONS else others)))
