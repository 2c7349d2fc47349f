# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own sample inputs of its operators (OpInfo), compiled by the
backend on CPU tensors and judged by float64."""

import dataclasses
import functools
import itertools
import math
import warnings
import zlib

import torch
from torch.utils import _pytree as pytree

import fusion_compiler.torch as fusion_torch

# {what is looked at: (element type, samples)}; "gradient" is of f32.
KINDS = {"f32": (torch.float32, 3), "gradient": (torch.float32, 2),
         "bf16": (torch.bfloat16, 1), "f16": (torch.float16, 1),
         "i64": (torch.int64, 2), "i32": (torch.int32, 1),
         "bool": (torch.bool, 1)}
# The emulator is slow, and small inputs have the same edges as large ones.
LARGEST = 2048
# Of the samples that an operator has, so many are looked at.
LOOKED_AT = 200


@functools.lru_cache(maxsize=None)
def operators():
    """{name: OpInfo} of PyTorch's table, without what is private to it and
    without those whose results are whatever was in memory."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal import common_methods_invocations as table
    # Random numbers: `run` sets a seed; TorchDynamo does not trace this.
    table.wrapper_set_seed = lambda op, *args, **kwargs: op(*args, **kwargs)
    return {op.full_name: op for op in table.op_db
            if "empty" not in op.name
            and (not op.name.startswith("_") or op.name.startswith("__"))}


def tasks():
    """(name, kind) of everything to be looked at."""
    return [(name, kind) for name, op in operators().items()
            for kind, (dtype, _) in KINDS.items()
            if dtype in op.supported_dtypes("cpu")
            and (kind != "gradient" or op.supports_autograd)]


def _tensors(tree):
    return [leaf for leaf in pytree.tree_leaves(tree)
            if isinstance(leaf, torch.Tensor)]


def samples(op, kind):
    """Samples of different places in an operator's list: the first, the last
    and some between. The same in each process."""
    dtype, count = KINDS[kind]
    torch.manual_seed(zlib.crc32(f"{op.full_name} {kind}".encode()))
    found = [one for one in itertools.islice(op.sample_inputs(
        "cpu", dtype, requires_grad=kind == "gradient"), LOOKED_AT)
        if sum(t.numel() for t in _tensors((one.input, one.args, one.kwargs)))
        <= LARGEST]
    if len(found) <= count:
        return found
    return [found[i * (len(found) - 1) // max(count - 1, 1)]
            for i in range(count)]


def outcomes(name, kind, only=None):
    """(number, Outcome) of the samples, or of one of them."""
    op = operators()[name]
    try:
        found = samples(op, kind)
    except Exception as error:  # Of PyTorch's, without us.
        yield 0, Outcome("skipped", f"no samples: {error}")
        return
    for number, sample in enumerate(found):
        if only in (None, number):
            yield number, run(op, sample, kind == "gradient")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """`status`: "right" (compiled whole, or nothing to compute), "left" (at
    least a part of it is PyTorch's, `why` tells which), "wrong", or "skipped"
    (PyTorch itself does not run it, or its results are random)."""
    status: str
    why: str = ""


def _exactly(tree):
    """The same inputs in f64."""
    def convert(leaf):
        if isinstance(leaf, torch.Tensor) and leaf.is_floating_point():
            return leaf.detach().double().requires_grad_(leaf.requires_grad)
        if isinstance(leaf, torch.dtype) and leaf.is_floating_point:
            return torch.float64
        return leaf
    return pytree.tree_map(convert, tree)


def difference(actual, eager, exact=None):
    """What is wrong with a result, "" if nothing.

    Integers, truth values, and what is infinite or no number are to be
    eager's. Of the rest, RMSE(ours) <= 2 RMSE(eager) + small RMS(exact), in
    reference to f64; where eager itself is far from that (the operator's
    result depends on its type), eager is the reference. `small` is 2^-20 for
    f32, whose products are off by up to 2^-20 (docs/Numerics.md), and half a
    unit in the last place of 1 for narrower types.
    """
    if not isinstance(eager, torch.Tensor):
        return "" if actual == eager or actual != actual else (
            f"{actual} for {eager}")
    if (actual.dtype, actual.shape) != (eager.dtype, eager.shape):
        return (f"{actual.dtype} {list(actual.shape)} for {eager.dtype} "
                f"{list(eager.shape)}")
    if actual.layout != torch.strided:
        return ""
    actual, eager, exact = (
        torch.view_as_real(one.resolve_conj()) if isinstance(
            one, torch.Tensor) and one.is_complex() else one
        for one in (actual, eager, exact))
    if torch.equal(actual, eager):
        return ""
    if not eager.is_floating_point():
        return (f"{(actual != eager).sum()} of {eager.numel()} differ: "
                f"{_first(actual, eager, actual != eager)}")
    return _difference_of_floats(actual, eager, exact)


def _first(actual, eager, where):
    return (f"{actual[where].flatten()[0].item()} for "
            f"{eager[where].flatten()[0].item()}")


def _difference_of_floats(actual, eager, exact):
    finite = eager.isfinite()
    odd = ~finite & ~((actual == eager) | (actual.isnan() & eager.isnan()))
    odd |= finite & ~actual.isfinite()
    if odd.any():
        return f"{odd.sum()} differ: {_first(actual, eager, odd)}"
    ours, theirs = actual[finite].double(), eager[finite].double()
    eps = torch.finfo(eager.dtype).eps
    small = 8 * eps if eps < 1e-6 else eps / 2
    if exact is not None and exact.shape == eager.shape:
        exact = exact[finite].double()
        if exact.isfinite().all():
            own, other = _rms(ours - exact), _rms(theirs - exact)
            size = _rms(exact)
            if other <= math.sqrt(eps) * max(size, 1):
                # Much smaller numbers are what is left of cancelled ones.
                return "" if own <= 2 * other + small * max(size, 0.1) else (
                    f"RMSE {own:.3g}, eager's {other:.3g}, of {size:.3g}")
    own, size = _rms(ours - theirs), _rms(theirs)
    return "" if own <= 4 * eps * size else (
        f"RMSE {own:.3g} in reference to eager, of {size:.3g}")


def _rms(tensor):
    return tensor.abs().square().mean().sqrt().item() if tensor.numel() else 0


def _plainly(function, tree):
    return function(*tree)


def _with_gradients(function, tree):
    """The results of a function and the gradients of its inputs."""
    results = function(*tree)
    wanted = [one for one in _tensors(results) if one.requires_grad]
    inputs = [one for one in _tensors(tree) if one.requires_grad]
    torch.manual_seed(7)
    cotangents = [torch.randn(one.shape).to(one.dtype) for one in wanted]
    grads = torch.autograd.grad(wanted, inputs, cotangents,
                                allow_unused=True) if wanted else ()
    return pytree.tree_map(
        lambda leaf: leaf.detach() if isinstance(leaf, torch.Tensor)
        else leaf, (results, grads))


def run(op, sample, gradient=False):
    """The Outcome of one sample."""
    def function(value, args, kwargs):
        return op.op(value, *args, **kwargs)

    call = _with_gradients if gradient else _plainly
    tree = (sample.input, sample.args, sample.kwargs)
    torch.manual_seed(3)
    try:
        eager = call(function, tree)
    except Exception as error:
        return Outcome("skipped", f"eager: {error}")
    if _reads_unwritten(function, call, tree, eager):
        return Outcome("skipped", "reads what nothing has written")
    outcome = _run_with("fusion", function, call, tree, eager)
    if outcome.status == "wrong":
        # What PyTorch's own tracing does not get right is not ours.
        reference = _run_with("aot_eager", function, call, tree, eager)
        if reference.status == "wrong":
            return Outcome("skipped", f"aot_eager: {reference.why}")
    return outcome


def _reads_unwritten(function, call, tree, eager):
    """Whether a result depends on what was in memory before."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:  # New memory is filled with NaNs and the like.
        torch.manual_seed(3)
        filled = call(function, tree)
    except Exception:  # It has no such form, and so writes to its memory.
        return False
    finally:
        torch.use_deterministic_algorithms(False)
    return any(itertools.starmap(difference, zip(
        *map(pytree.tree_leaves, (filled, eager)))))


def _run_with(backend, function, call, tree, eager):
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    fusion_torch.reset_report()
    torch.manual_seed(3)
    try:
        actual = call(torch.compile(function, backend=backend), tree)
    except Exception as error:
        return Outcome("wrong", f"{type(error).__name__}: {error}")
    try:
        exact = call(function, _exactly(tree))
    except Exception:
        exact = eager
    left = _left()
    reasons = [difference(*one) for one in itertools.zip_longest(
        *map(pytree.tree_leaves, (actual, eager, exact)))]
    why = next(filter(None, reasons), "")
    if why and any("random numbers" in reason for reason in left):
        return Outcome("skipped", "random")
    if why:
        return Outcome("wrong", why)
    return Outcome("left", left[0]) if left else Outcome("right")


def _left():
    """Why each operation was left to PyTorch."""
    reasons = [f"{one.operator}: {one.reason}"
               for one in fusion_torch.report().fallbacks]
    breaks = torch._dynamo.utils.counters["graph_break"]
    return reasons + [f"TorchDynamo: {' '.join(one.split())}"
                      for one in breaks]
