# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases: a family of programs and the numbers that make one of them."""

import dataclasses
import functools
import inspect
import json
import math

from . import convolutions, fused, grouped, products

FAMILIES = {function.__name__: function for function in (
    products.gemm, products.batched_gemm, products.weight_gradient,
    products.bias_gradient, products.row_amax, products.row_softmax,
    products.log_sum_exp, products.quantized_rows,
    fused.dual_swiglu, fused.residual_layer_norm, fused.rms_norm_gemm,
    fused.dequant_int8, fused.dequant_int4, fused.rope_projection,
    grouped.grouped_gemm, grouped.grouped_swiglu, convolutions.conv,
    convolutions.depthwise, convolutions.conv_general)}


@dataclasses.dataclass(frozen=True)
class Case:
    """`numbers` holds every parameter of the family's function, in order."""
    family: str
    numbers: tuple

    @classmethod
    def make(cls, family, *positional, **named):
        call = inspect.signature(FAMILIES[family]).bind(*positional, **named)
        call.apply_defaults()
        return cls(family, tuple(call.arguments.items()))

    def __getitem__(self, key):
        return dict(self.numbers)[key]

    @functools.cached_property
    def program(self):
        return FAMILIES[self.family](**dict(self.numbers))

    @property
    def name(self):
        """family_SIZES_words, as a file name."""
        sizes = [v for _, v in self.numbers if isinstance(v, int)]
        words = [v for _, v in self.numbers if isinstance(v, str)]
        return "_".join([self.family, "x".join(map(str, sizes)), *words])

    @property
    def dtype(self):
        return self["dtype"]

    @property
    def flops(self):
        """Of the contractions: two for each product of two terms."""
        n = dict(self.numbers)
        if "window" in n:
            return 2.0 * _size(self) * self.terms
        count = 2 if self.family.endswith("_swiglu") else 1
        return 2.0 * count * n.get("batch", 1) * n["m"] * n["n"] * n["k"]

    @property
    def terms(self):
        """The length of each sum of the contraction."""
        n = dict(self.numbers)
        if "k" in n:
            return n["k"]
        each = (1 if self.family == "depthwise"
                else n["channels"] // n.get("groups", 1))
        return n["window"] ** 2 * each

    def to_json(self):
        return {"family": self.family, **dict(self.numbers)}

    @classmethod
    def from_json(cls, values):
        values = dict(values)
        return cls.make(values.pop("family"), **values)


def _size(case):
    """Elements of the first result."""
    return math.prod(case.program.results[0].shape)


def write_manifest(path, entries):
    """Entries: dictionaries with "package", a file name, and "case"."""
    path.write_text(json.dumps({"entries": entries}, indent=1) + "\n")


def read_manifest(path):
    """[(entry, Case)] of a directory of packages."""
    entries = json.loads((path / "manifest.json").read_text())["entries"]
    return [(entry, Case.from_json(entry["case"])) for entry in entries]
