# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Directed graphs of element-wise operations on tensors that repeat."""

from ..builder import BINARY, UNARY, word


def draw(b):
    dtype = b.dtype()
    inputs = b.rng.randint(1, 4)
    shape = b.drawn_shape(dtype, tensors=inputs + 1)
    compute = dtype if b.chance(0.6) else "f32"
    arguments = [b.tensor(shape, dtype)]
    b.note(arguments[0].type[6:])
    for _ in range(inputs - 1):
        arguments.append(_argument(b, shape, dtype))
    values = [b.cast(a, compute) for a in arguments]
    unused = list(values)
    for _ in range(b.rng.randint(2, 12)):
        # What nobody used goes first: nothing that is computed is in vain.
        x = unused[0] if b.chance(0.6) else b.rng.choice(values[-3:])
        used, value = _step(b, arguments[0], x, values)
        unused = [v for v in unused if v not in used] + [value]
        values.append(value)
    results = unused[-1:]
    for value in unused[:-1]:
        results[0] = b.join("add", results[0], value)
    if b.chance(0.12):
        results[0] = _dropout(b, results[0])
    if b.chance(0.3):
        results.append(b.rng.choice(values[len(arguments):-1]))
    b.give(*(b.cast(value, dtype) for value in results))


def _argument(b, shape, dtype):
    """A tensor of the shape, or one that is repeated along some dimensions."""
    if b.chance(0.5):
        return b.tensor(shape, dtype)
    kept = sorted(b.rng.sample(range(len(shape)),
                               b.rng.randint(0, len(shape) - 1)))
    b.note("repeated", tuple(shape[i] for i in kept))
    small = b.tensor([shape[i] for i in kept], dtype)
    return b.spread(small, shape, [i for i in range(len(shape))
                                   if i not in kept])


def _step(b, first, x, values):
    """(what it uses, a new value) from x and perhaps another one."""
    others = [v for v in values if v is not x]
    way = b.rng.random()
    if way < 0.4 or (not others and way < 0.85):
        name = b.rng.choice(sorted(UNARY))
        b.note(name)
        return [x], b.apply(name, x)
    if way < 0.85:
        y = b.rng.choice(others)
        name = b.rng.choice(sorted(BINARY))
        b.note(name)
        return [x, y], b.join(name, x, y)
    if way < 0.95 or not others:
        number = b.rng.choice((0.5, 0.7071, 1.702))
        return [x], (b.scaled(x, number) if b.chance(0.5) else
                     b.shifted(x, number))
    b.note("where")
    y = b.rng.choice(others)
    return [x, y], b.where(b.positive(first), x, y)


def _dropout(b, x):
    seed = b.seed()
    chance, number = b.rng.choice((0.1, 0.25, 0.5)), b.rng.randint(0, 9)
    b.note(f"dropout {chance}")
    return b.both(
        f"fusion.dropout {x.name}, {seed.name} probability({chance}) "
        f"op_id({number}) : {x.type}", x.shape, x.dtype,
        f"dropout({word(x)}, {word(seed)}, {chance}, {number})",
        b.span(x) / (1 - chance))
