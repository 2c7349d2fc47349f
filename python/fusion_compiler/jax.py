# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX functions: `fusion.jax.compile(function, *examples)` gives a callable.

The way is jax.export, whose StableHLO torch-mlir lowers to linalg. Needs the
packages jax, jaxlib and torch-mlir.
"""

import importlib.util
import threading

import numpy as np

from fusion_compiler import compiler
from fusion_compiler.errors import FusionError
from fusion_compiler.files import Numbered
from fusion_compiler.importing import jax_scatter, stablehlo

# The release that the tests run with.
TESTED = "0.10.2"
# What unrolling may make of one loop, in operations.
MOST_UNROLLED = 4096


def _require():
    if importlib.util.find_spec("jax") is None:
        raise FusionError.of("FUS-1305", "the package jax is not installed",
                             f"pip install jax=={TESTED}")
    import jax
    if not hasattr(jax, "export") and importlib.util.find_spec(
            "jax.export") is None:
        raise FusionError.of("FUS-1306", f"jax {jax.__version__} has no "
                             "jax.export", f"pip install jax=={TESTED}")
    return jax


def _instead(function, equation):
    """The equation of a call of a function in place of another."""
    import jax
    call, = jax.make_jaxpr(jax.jit(function))(
        *(jax.ShapeDtypeStruct(one.aval.shape, one.aval.dtype)
          for one in equation.invars)).jaxpr.eqns
    return call.replace(invars=equation.invars, outvars=equation.outvars)


def _rewrite(jaxpr):
    """A jaxpr whose scans of few turns are unrolled when they are lowered, and
    whose scatters are sums."""
    from jax.extend import core

    def rewrite(value):
        if isinstance(value, core.ClosedJaxpr):
            return core.ClosedJaxpr(_rewrite(value.jaxpr), value.consts)
        if isinstance(value, core.Jaxpr):
            return _rewrite(value)
        if type(value) in (tuple, list):
            return type(value)(map(rewrite, value))
        return value

    equations = []
    for equation in jaxpr.eqns:
        if equation.primitive.name in ("scatter", "scatter-add"):
            function = jax_scatter.dense(equation)
            if function:
                equation = _instead(function, equation)
        params = ({key: rewrite(value)
                   for key, value in equation.params.items()}
                  if type(equation.params) is dict else equation.params)
        if equation.primitive.name == "scan":
            count = params["length"] * len(params["jaxpr"].eqns)
            if count <= MOST_UNROLLED:
                params["unroll"] = max(1, params["length"])
        equations.append(equation.replace(params=params))
    return jaxpr.replace(eqns=equations)


def _array(value):
    return value if hasattr(value, "dtype") else np.asarray(value)


class _Executable:
    """One exported function, compiled: flat arrays in and out."""

    def __init__(self, exported, options, constants=()):
        if exported.nr_devices != 1:
            raise FusionError.of("FUS-1307", "the function is for "
                                 f"{exported.nr_devices} devices",
                                 "export it for one")
        avals = (*exported.in_avals, *exported.out_avals)
        if not all(isinstance(size, int) for aval in avals
                   for size in aval.shape):
            raise FusionError.of(
                "FUS-1307", "the exported function has symbolic sizes",
                "export with fixed sizes, or give the function itself, which "
                "is compiled for each shape")
        self.exported, self.constants = exported, constants
        self.text = stablehlo.lower(exported.mlir_module())
        self.package = compiler.compile(
            self.text, file_name=f"{exported.fun_name}.mlir", **options)

    def __call__(self, flat):
        flat = [*self.constants, *flat]
        for i, (value, aval) in enumerate(zip(flat,
                                              self.exported.in_avals)):
            if value.shape != aval.shape or value.dtype != aval.dtype:
                raise FusionError.of(
                    "FUS-1309", f"argument {i - len(self.constants)} (of the "
                    f"flattened ones) is {value.dtype}{list(value.shape)}, "
                    f"expected {aval.dtype}{list(aval.shape)}",
                    "pass an array of that type and shape")
        arguments = [_to_argument(flat[i])
                     for i in self.exported.module_kept_var_idx]
        results = self.package["main"](*arguments)
        if len(self.exported.out_avals) == 1:
            results = (results,)
        return [_from_result(result, aval.dtype) for result, aval in
                zip(results, self.exported.out_avals)]


def _to_argument(array):
    array = np.asarray(array)
    if array.dtype.kind == "u":
        return array.view(f"i{array.dtype.itemsize}")
    return array


def _from_result(array, dtype):
    array, dtype = np.asarray(array), np.dtype(dtype)
    if array.dtype == dtype:
        return array
    if dtype.itemsize == array.dtype.itemsize:  # Unsigned, or raw bits.
        return array.view(dtype)
    return array.astype(dtype)  # bfloat16, which is given widened.


class Function:
    """A JAX function on this compiler.

    Called as the function is, with pytrees of NumPy or JAX arrays; it gives
    the function's pytree of NumPy arrays. A function that was given without
    example arguments is compiled at its first call for each structure, shape
    and dtype of its arguments.
    """

    def __init__(self, program, target=None, device=None, fast_numerics=False,
                 time_limit=None, report=None):
        self._jax = _require()
        self._program = program
        self._options = {"target": target, "device": device,
                         "fast_numerics": fast_numerics,
                         "time_limit": time_limit}
        self._reports = Numbered(report)
        self._compiled, self._lock = {}, threading.Lock()

    def specialize(self, *args, **kwargs):
        """Compiles for arguments, or what describes them
        (jax.ShapeDtypeStruct)."""
        return self._find(args, kwargs)[0]

    def _find(self, args, kwargs):
        """(executable, flat arguments, structure of the results)"""
        flat, structure = self._jax.tree_util.tree_flatten((args, kwargs))
        flat = [_array(value) for value in flat]
        types = [self._jax.ShapeDtypeStruct(
            value.shape, self._jax.dtypes.canonicalize_dtype(value.dtype))
            for value in flat]
        key = (structure, tuple((one.shape, one.dtype) for one in types))
        with self._lock:
            if key not in self._compiled:
                self._compiled[key] = self._compile(structure, types)
        executable, results = self._compiled[key]
        flat = [value if value.dtype == one.dtype
                else np.asarray(value).astype(one.dtype)
                for value, one in zip(flat, types)]
        return executable, flat, results

    def _compile(self, structure, types):
        jax = self._jax
        from jax import export
        from jax.extend import core
        args, kwargs = jax.tree_util.tree_unflatten(structure, types)
        closed, shapes = jax.make_jaxpr(self._program, return_shape=True)(
            *args, **kwargs)
        # Arrays that the function closes over become arguments.
        constants = [np.asarray(value) for value in closed.consts]
        jaxpr = _rewrite(closed.jaxpr)

        def program(constants, flat):
            return core.jaxpr_as_fun(core.ClosedJaxpr(
                jaxpr, list(constants)))(*flat)

        program.__name__ = getattr(self._program, "__name__", "program")
        exported = export.export(jax.jit(program), platforms=["cpu"])(
            [jax.ShapeDtypeStruct(value.shape, value.dtype)
             for value in constants], types)
        options = {**self._options, "report": self._reports.take()}
        return (_Executable(exported, options, constants),
                jax.tree_util.tree_structure(shapes))

    def __call__(self, *args, **kwargs):
        executable, flat, results = self._find(args, kwargs)
        return self._jax.tree_util.tree_unflatten(results, executable(flat))


class ExportedFunction:
    """A jax.export.Exported on this compiler; called as `Exported.call`."""

    def __init__(self, exported, options):
        self._jax = _require()
        self.exported = exported
        self._executable = _Executable(exported, options)
        self.package, self.text = (self._executable.package,
                                   self._executable.text)

    def __call__(self, *args, **kwargs):
        flat, structure = self._jax.tree_util.tree_flatten((args, kwargs))
        if structure != self.exported.in_tree:
            raise TypeError(f"the arguments are {structure}, expected "
                            f"{self.exported.in_tree}")
        return self._jax.tree_util.tree_unflatten(
            self.exported.out_tree,
            self._executable([_array(value) for value in flat]))


def compile(program, *args, target=None, device=None,  # noqa: A001
            fast_numerics=False, time_limit=None, report=None, **kwargs):
    """Compiles a jax.export.Exported, or a function, jitted or not.

    `args` and `kwargs` are examples of a function's arguments, arrays or
    jax.ShapeDtypeStruct: it is compiled for them at once. `target`, `device`,
    `fast_numerics`, `time_limit` and `report` are as in `fusion.compile`; where
    a function is compiled again, for other arguments, its page is F-2.html
    beside F.html.

    Raises FusionError: FUS-1305 and FUS-1306 for packages that are missing or
    do not fit, FUS-1307 for an operation that has no lowering (a sort, a long
    loop), and the compiler's own.
    """
    _require()
    from jax import export
    options = {"target": target, "device": device,
               "fast_numerics": fast_numerics, "time_limit": time_limit,
               "report": report}
    if isinstance(program, export.Exported):
        return ExportedFunction(program, options)
    function = Function(program, **options)
    if args or kwargs:
        function.specialize(*args, **kwargs)
    return function
