# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products: any transposition and batch, with an epilogue."""

from ..builder import word
from . import common


def draw(b):
    dtype = b.dtype()
    batch, m, n, k = _sizes(b, dtype)
    lead = (batch,) if batch else ()
    a_layout, b_layout = b.rng.choice(("mk", "km")), b.rng.choice(("kn", "nk"))
    sizes = {"m": m, "n": n, "k": k}
    x = b.tensor((*lead, *(sizes[d] for d in a_layout)), dtype)
    y = b.tensor((*lead, *(sizes[d] for d in b_layout)), dtype,
                 scale=k ** -0.5)
    b.note(f"{batch or 1}x{m}x{n}x{k} {dtype} {a_layout} {b_layout}")
    first = word(x) if a_layout == "mk" else f"{word(x)}.mT"
    second = word(y) if b_layout == "kn" else f"{word(y)}.mT"
    value = b.matmul(x, y, batched=bool(batch), a_layout=a_layout,
                     b_layout=b_layout)
    value = b.say(b.convert(value, dtype), f"{first} @ {second}")
    if b.chance(0.5):
        axis = b.rng.choice((-1, -2)) + len(value.shape)
        b.note(f"bias along {axis}")
        value = b.join("add", value, common.along(b, value, value.shape, axis,
                                                  dtype))
    if b.chance(0.5):
        value = common.activation(b, value)
    if b.chance(0.3):
        b.note("residual")
        value = b.join("add", value, b.tensor(value.shape, dtype))
    b.flops = 2.0 * (batch or 1) * m * n * k
    b.flop_type = dtype
    b.terms = k
    b.unit = 1.0
    b.give(value)


def _sizes(b, dtype):
    """Batch (0 for none), rows, columns, terms; some with few rows."""
    count = b.elements(dtype, 3)
    batch = b.log_uniform(1, min(256, count)) if b.chance(0.3) else 0
    each = max(count // (batch or 1), 1)
    if b.chance(0.3):
        m = b.log_uniform(1, 64)
        n, k = b.shape(2, each)
        return batch, m, n, k
    # Three sizes whose products by two are about `each`.
    m, n, k = (b.size(b.log_uniform(max(int(each ** 0.25), 1),
                                    max(int(each ** 0.65), 1)))
               for _ in range(3))
    return batch, m, n, k
