# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What families share: element-wise operations before and after."""

from ..builder import UNARY

# Functions that a reduction's neighbours are made of.
ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh",
               "hard_swish", "leaky_relu", "abs")


def activation(b, x, names=ACTIVATIONS):
    """One function of x, noted."""
    name = b.rng.choice(names)
    b.note(name)
    return b.apply(name, x)


def before(b, x):
    """x, or something computed of it: a function, a scale, another tensor."""
    way = b.rng.random()
    if way < 0.5:
        return x
    if way < 0.7:
        return activation(b, x)
    if way < 0.8:
        b.note("scaled")
        return b.scaled(x, 0.5)
    y = b.tensor(x.shape, x.dtype)
    name = b.rng.choice(("add", "mul", "sub"))
    b.note(name)
    return b.join(name, x, y)


def after(b, x, chance=0.35):
    """x, or a function of it."""
    if not b.chance(chance):
        return x
    return activation(b, x, tuple(UNARY))


def along(b, x, shape, axis, dtype):
    """A vector argument along `axis`, repeated to `shape`."""
    vector = b.tensor((shape[axis],), dtype)
    return b.spread(vector, shape, [i for i in range(len(shape))
                                    if i != axis])
