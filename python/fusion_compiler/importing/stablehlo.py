# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""StableHLO text to MLIR text that `fusion.compile` takes."""

import re

from fusion_compiler.errors import FusionError
from fusion_compiler.importing import torch_mlir

# An op that stands for a function of the module, which is called instead.
_COMPOSITE = re.compile(
    r'stablehlo\.composite "[^"]*" (?P<operands>[^{\n]*?)\s*'
    r'\{[^\n]*?decomposition = (?P<name>@(?:[\w.$-]+|"[^"\n]*"))[^\n]*?\}'
    r' : (?P<type>\()')
# torch-mlir makes a choice at every element of a concatenation.
_CONCATENATE = re.compile(r"stablehlo\.concatenate (?P<operands>%[^\n]*?), "
                          r"dim = (?P<dim>\d+) :")
# What the rest of the compiler does not take.
_FOREIGN = ("stablehlo", "chlo", "vhlo", "mhlo", "scf")
_REMEDIES = {
    "while": "loops are compiled unrolled: jax.lax.scan(..., unroll=True), or "
             "jax.lax.associative_scan",
    "scatter": "give the function to fusion.jax.compile, which makes sums of "
               "what an export has as scatters",
    "sort": "sort on the host, or leave that part to JAX",
    "custom_call": "export for the platform 'cpu', without what needs a "
                   "library",
    "get_dimension_size": "export with fixed sizes, or give the function to "
                          "fusion.jax.compile, which compiles for each shape",
}


def is_stablehlo(text):
    """Whether MLIR text has ops of StableHLO."""
    return re.search(r"^[^/\n]*\b(?:stablehlo|chlo)\.\w", text,
                     re.MULTILINE) is not None


def _call(match):
    return (f"func.call {match['name']}({match['operands'].strip()}) : "
            f"{match['type']}")


def _concat(match):
    return f"tensor.concat dim({match['dim']}) {match['operands']} :"


def lower(text):
    """MLIR text of linalg on tensors from StableHLO text.

    Raises FUS-1307 for an op that has no lowering, with what the program calls
    it.
    """
    text = torch_mlir.lower(_COMPOSITE.sub(_call, text),
                            torch_mlir.SIMPLIFY_STABLEHLO)
    lowered = torch_mlir.lower(_CONCATENATE.sub(_concat, text),
                               torch_mlir.FROM_STABLEHLO)
    left = torch_mlir.left(lowered, _FOREIGN)
    if left:
        op, place = left
        raise FusionError.of(
            "FUS-1307", f"{op}{f' ({place})' if place else ''} has no lowering "
            "to linalg", _REMEDIES.get(op.split(".")[1], "leave that operation "
                                       "to its own framework"))
    return lowered
