# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scatters of JAX, as a choice and a sum over the indices.

torch-mlir lowers no `stablehlo.scatter`, which the gradients of indexed reads
are. Each element of the result looks at every index: the work is the product
of both numbers, in one fused kernel.
"""

import math

import numpy as np


def _axes(params, operand, indices):
    """(for each dimension of the operand, that of the updates or None; the
    dimensions of the updates that are summed; for each of the operand, the
    dimension of the indices that it goes with or None)"""
    numbers = params["dimension_numbers"]
    window = list(numbers.update_window_dims)
    rank = len(window) + len(indices.shape) - 1
    # The dimensions of the updates that are of the indices, in their order.
    chosen = [dim for dim in range(rank) if dim not in window]
    batch = dict(zip(numbers.operand_batching_dims,
                     numbers.scatter_indices_batching_dims))
    removed = {*numbers.inserted_window_dims, *batch}
    kept = iter(window)
    of_updates, of_indices = [], []
    for dim in range(len(operand.shape)):
        of_indices.append(batch.get(dim))
        if dim in batch:
            of_updates.append(chosen[batch[dim]])
        else:
            of_updates.append(None if dim in removed else next(kept))
    summed = [dim for i, dim in enumerate(chosen)
              if i not in numbers.scatter_indices_batching_dims]
    return of_updates, summed, of_indices


def dense(equation):
    """A function of the operand, indices and updates that does what an
    equation of scatter or scatter-add does, or None."""
    params = equation.params
    numbers = params["dimension_numbers"]
    operand, indices, updates = (one.aval for one in equation.invars)
    of_updates, summed, of_indices = _axes(params, operand, indices)
    count = math.prod(updates.shape[dim] for dim in summed)
    adds = equation.primitive.name == "scatter-add"
    if (not adds and not params["unique_indices"] and count != 1) or (
            set(numbers.scatter_dims_to_operand_dims)
            != set(numbers.inserted_window_dims)):
        return None
    if any(dim is not None and updates.shape[dim] != size
           for dim, size in zip(of_updates, operand.shape)):
        return None  # A part of the window.

    def function(operand, indices, updates):
        import jax.numpy as jnp
        from jax import lax
        rank = operand.ndim

        def spread(value, dims, rest):
            """With the operand's dimensions first, then `rest`."""
            order = [dim for dim in dims if dim is not None] + list(rest)
            sizes = [1 if dim is None else value.shape[dim] for dim in dims]
            return jnp.transpose(value, order).reshape(
                sizes + [value.shape[dim] for dim in rest])

        others = [dim for dim in range(indices.ndim - 1)
                  if dim not in numbers.scatter_indices_batching_dims]
        hit = True
        for i, dim in enumerate(numbers.scatter_dims_to_operand_dims):
            place = indices[..., i]
            if params["mode"].name == "CLIP":
                place = jnp.clip(place, 0, operand.shape[dim] - 1)
            shape = [1] * (rank + len(others))
            shape[dim] = operand.shape[dim]
            position = lax.broadcasted_iota(place.dtype, shape, dim)
            hit = hit & (spread(place, of_indices, others) == position)
        zero = np.zeros((), operand.dtype)
        chosen = jnp.where(hit, spread(updates, of_updates, summed), zero)
        axes = tuple(range(rank, rank + len(others)))
        total = chosen.sum(axis=axes, dtype=operand.dtype)
        if adds:
            return operand + total
        return jnp.where(jnp.any(hit, axis=axes), total, operand)

    return function
