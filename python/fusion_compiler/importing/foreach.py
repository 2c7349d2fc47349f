# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ATen's operations on lists of tensors (`_foreach_add`, …), which optimizers
call, as one operation for each tensor."""

import torch

aten = torch.ops.aten
_PREFIX = "_foreach_"

# With a number, where the operation of one tensor has another name for that.
_OF_NUMBERS = {"maximum": "clamp_min", "minimum": "clamp_max"}


def _norm(tensor, order=2, dtype=None):
    return aten.linalg_vector_norm(tensor, order, dtype=dtype)


# Where the operation of one tensor takes its arguments in another way.
_OTHERWISE = {"norm": _norm}


def _one_each(packet, factor):
    """A function that calls `packet` for each tensor: lists are taken apart,
    everything else is for all. `factor`: the last argument is the keyword
    `value` of `packet`."""
    def run(*arguments, **options):
        count = next(len(one) for one in arguments if isinstance(one, list))
        results = []
        for i in range(count):
            own = [one[i] if isinstance(one, list) else one
                   for one in arguments]
            keywords = dict(options)
            if factor and len(own) == 4:
                keywords["value"] = own.pop()
            results.append(packet(*own, **keywords))
        return results
    return run


def _overloads():
    """Those that return new tensors, for each tensor of a list."""
    for name in torch._C._dispatch_get_all_op_names():
        name, _, overload = name.partition(".")
        name = name.removeprefix("aten::")
        if name.startswith(_PREFIX) and hasattr(aten, name):
            found = getattr(getattr(aten, name), overload or "default")
            returned = [str(one.type) for one in found._schema.returns]
            if returned == ["List[Tensor]"] and not found._schema.is_mutable:
                yield name.removeprefix(_PREFIX), overload, found


def decompositions():
    """{overload: function}"""
    table = {}
    for name, overload, found in _overloads():
        if overload.startswith("Scalar"):
            name = _OF_NUMBERS.get(name, name)
        factor = name in ("addcmul", "addcdiv")
        # A tensor of factors would have to be read to be one number each.
        if hasattr(aten, name) and not (factor and overload == "Tensor"):
            table[found] = _one_each(
                _OTHERWISE.get(name, getattr(aten, name)), factor)
    return table
