# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""StableHLO text to MLIR text that `fusion.compile` takes."""

import json
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
# A window of all elements before each, or after: a cumulative sum of JAX.
_WINDOW = re.compile(
    r'^(?P<indent> *)(?P<name>%\w+) = "stablehlo\.reduce_window"\('
    r'(?P<input>%[\w#]+), (?P<init>%\w+)\) <\{padding = dense<'
    r'(?P<padding>[^>]*)> : [^,]*, window_dimensions = array<i64: '
    r'(?P<window>[\d, ]+)>\}> \(\{\n'
    r' *\^bb0\([^\n]*\n'
    r' *%\w+ = stablehlo\.(?P<kind>\w+) %\w+, %\w+ : tensor<(?P<element>\w+)>'
    r'[^\n]*\n *stablehlo\.return [^\n]*\n'
    r' *\}\) : \((?P<type>tensor<[^>]*>), [^)]*\) -> (?P<result>tensor<[^>]*>)'
    r'(?P<place>[^\n]*)\n', re.MULTILINE)
_KINDS = {("add", "f"): "addf", ("add", "i"): "addi",
          ("multiply", "f"): "mulf", ("multiply", "i"): "muli",
          ("maximum", "f"): "maximumf", ("maximum", "i"): "maxsi",
          ("minimum", "f"): "minimumf", ("minimum", "i"): "minsi"}
# The least and the greatest, as MLIR writes them.
_INFINITIES = {"f16": ("0xFC00", "0x7C00"), "bf16": ("0xFF80", "0x7F80"),
               "f32": ("0xFF800000", "0x7F800000"),
               "f64": ("0xFFF0000000000000", "0x7FF0000000000000")}
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


def _axis(match):
    """(the axis that a window runs along, whether from its end) or None."""
    sizes = [int(size) for size in
             re.match(r"tensor<((?:\d+x)+)", match["type"]).group(1)
             .split("x")[:-1]]
    window = [int(size) for size in match["window"].split(",")]
    padding = json.loads(match["padding"])
    long = [i for i, size in enumerate(window) if size != 1]
    if len(long) != 1 or not isinstance(padding, list):
        return None
    axis, count = long[0], window[long[0]]
    if count != sizes[axis] or any(pair != [0, 0] for i, pair in
                                   enumerate(padding) if i != axis):
        return None
    forms = {(count - 1, 0): False, (0, count - 1): True}
    reverse = forms.get(tuple(padding[axis]))
    return None if reverse is None else (axis, reverse)


def _scan(text):
    """Puts a fusion.scan in the place of a cumulative sum."""
    def instead(match):
        element = match["element"]
        kind = _KINDS.get((match["kind"], element.lstrip("b")[0]))
        found = (_axis(match) if kind and match["type"] == match["result"]
                 else None)
        # The value that pads the window must be the identity.
        init = re.findall(rf"^ *{match['init']} = stablehlo\.constant "
                          r"dense<([^>]*)>", text[:match.start()],
                          re.MULTILINE)
        if found is None or not init or not _is_identity(init[-1], kind,
                                                         element):
            return match[0]
        start, a, b, both = (f"%{name}_{match['name'][1:]}"
                             for name in ("start", "left", "right", "both"))
        attributes = f"axis = {found[0]} : i64{', reverse' * found[1]}"
        indent = match["indent"]
        return (
            f"{indent}{start} = arith.constant {init[-1]} : {element}\n"
            f'{indent}{match["name"]} = "fusion.scan"({match["input"]}, '
            f"{start}) ({{\n{indent}^bb0({a}: {element}, {b}: {element}):\n"
            f"{indent}  {both} = arith.{kind} {a}, {b} : {element}\n"
            f'{indent}  "fusion.yield"({both}) : ({element}) -> ()\n'
            f"{indent}}}) {{{attributes}}} : ({match['type']}, {element}) -> "
            f"{match['type']}{match['place']}\n")

    return _WINDOW.sub(instead, text)


def _is_identity(literal, kind, element):
    if kind in ("addf", "addi"):
        return literal in ("0", "0.000000e+00", "-0.000000e+00")
    if kind in ("mulf", "muli"):
        return literal in ("1", "1.000000e+00")
    if kind in ("maximumf", "minimumf"):
        infinities = _INFINITIES.get(element, ())
        return literal in infinities[kind == "minimumf":][:1]
    least = -(1 << (int(element[1:]) - 1))
    return literal == str(least if kind == "maxsi" else -least - 1)


def lower(text):
    """MLIR text of linalg on tensors from StableHLO text.

    Raises FUS-1307 for an op that has no lowering, with what the program calls
    it.
    """
    text = torch_mlir.lower(_COMPOSITE.sub(_call, text),
                            torch_mlir.SIMPLIFY_STABLEHLO)
    lowered = torch_mlir.lower(_CONCATENATE.sub(_concat, _scan(text)),
                               torch_mlir.FROM_STABLEHLO)
    left = torch_mlir.left(lowered, _FOREIGN)
    if left:
        op, place = left[0]
        remedy = _REMEDIES.get(op.split(".")[1],
                               "leave that operation to its own framework")
        raise FusionError.of("FUS-1307", f"{op}{place and f' ({place})'} has "
                             "no lowering to linalg", remedy)
    return lowered
