# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The attributes of the fusion dialect (fusion-c/Dialect/Fusion.h).

Fields and words are those of the attributes' text: `axis("full", tile=4096)` is
`#fusion.axis<full, tile = 4096>`.
"""

import ctypes
import typing
from ctypes import POINTER, c_bool, c_double, c_int64, c_ssize_t

from fusion_compiler.errors import FusionError
from fusion_compiler.mlir.handles import (Handle, StringRef, declare,
                                          handle, ir, new_object)


class _Axis(ctypes.Structure):
    _fields_ = [("kind", StringRef),
                *((name, c_int64) for name in (
                    "tile", "warps", "vector", "strip", "steps", "split",
                    "cluster", "stages")),
                *((name, c_bool) for name in (
                    "limited", "descending", "parted"))]


class _Mma(ctypes.Structure):
    _fields_ = [("kind", StringRef),
                *((name, c_int64) for name in (
                    "stages", "columns", "split", "group", "blocks",
                    "multicast", "groups", "stream", "apart", "skew"))]


class _Estimate(ctypes.Structure):
    _fields_ = [("time_us", c_double),
                *((name, c_int64) for name in (
                    "dram_bytes", "flops", "registers", "shared_bytes",
                    "saved_bytes", "saved_launches"))]


_STRUCTS = {"Axis": _Axis, "Mma": _Mma, "Estimate": _Estimate}
_get = {"Target": declare("mlirFusionTargetAttrGet", Handle, Handle,
                            StringRef, Handle),
        "Schedule": declare("mlirFusionScheduleAttrGet", Handle, Handle,
                              StringRef, c_ssize_t, POINTER(Handle), c_int64,
                              Handle)}
_read, _default, _is = {}, {}, {}
for _kind, _struct in _STRUCTS.items():
    _get[_kind] = declare(f"mlirFusion{_kind}AttrGet", Handle, Handle,
                            _struct)
    _read[_kind] = declare(f"mlirFusion{_kind}AttrGetFields", _struct,
                             Handle)
for _kind in ("Axis", "Mma"):
    _default[_kind] = declare(f"mlirFusion{_kind}GetDefault",
                                _STRUCTS[_kind])
for _kind in ("Target", "Schedule", *_STRUCTS):
    _is[_kind] = declare(f"mlirAttributeIsAFusion{_kind}", c_bool, Handle)
_schedule_parts = {
    "strategy": declare("mlirFusionScheduleAttrGetStrategy", StringRef,
                          Handle),
    "num_axes": declare("mlirFusionScheduleAttrGetNumAxes", c_ssize_t,
                          Handle),
    "axis": declare("mlirFusionScheduleAttrGetAxis", Handle, Handle,
                      c_ssize_t),
    "warps": declare("mlirFusionScheduleAttrGetWarps", c_int64, Handle),
    "mma": declare("mlirFusionScheduleAttrGetMma", Handle, Handle)}
_target_parts = {
    "chip": declare("mlirFusionTargetAttrGetChip", StringRef, Handle),
    "constants": declare("mlirFusionTargetAttrGetConstants", Handle, Handle)}


def _make(kind, *arguments):
    """The attribute, or a FusionError with what the context was told."""
    context, said = ir.Context.current, []

    def note(diagnostic):
        said.append(diagnostic.message)
        return True

    with context.attach_diagnostic_handler(note):
        made = _get[kind](handle(context, "Context"), *arguments)
    if not made.ptr:
        raise FusionError.of("FUS-1003", "; ".join(said),
                             "see the attributes in docs/generated")
    return new_object("Attribute", made)


def _optional(attribute):
    return handle(attribute, "Attribute") if attribute else Handle()


def _fill(fields, values):
    """Sets fields of a struct; words become strings of MLIR, which live as
    long as the struct."""
    fields.words = [StringRef.of(value) for value in values.values()
                    if isinstance(value, str)]
    words = iter(fields.words)
    for name, value in values.items():
        if name not in dict(fields._fields_):
            raise TypeError(f"there is no field '{name}'")
        setattr(fields, name, next(words) if isinstance(value, str) else value)
    return fields


def target(chip: str, constants: typing.Any = None) -> typing.Any:
    """`#fusion.target`; `constants` is an mlir.ir.DictAttr of what the chip
    has other values of."""
    return _make("Target", StringRef.of(chip), _optional(constants))


def axis(kind: str, **fields: typing.Any) -> typing.Any:
    """`#fusion.axis`: how one dimension of a kernel is covered."""
    return _make("Axis", _fill(_default["Axis"](), {"kind": kind, **fields}))


def mma(kind: str, **fields: typing.Any) -> typing.Any:
    """`#fusion.mma`: how a kernel makes products."""
    return _make("Mma", _fill(_default["Mma"](), {"kind": kind, **fields}))


def schedule(strategy: str, axes: typing.Sequence[typing.Any], warps: int,
             mma: typing.Any = None) -> typing.Any:
    """`#fusion.schedule`: how a kernel is executed."""
    handles = (Handle * len(axes))(*(handle(one, "Attribute")
                                     for one in axes))
    return _make("Schedule", StringRef.of(strategy), len(axes), handles, warps,
                 _optional(mma))


def estimate(time_us: float, **fields: int) -> typing.Any:
    """`#fusion.estimate`: what is predicted for a kernel; 0 by default."""
    return _make("Estimate", _fill(_Estimate(), {"time_us": time_us,
                                                 **fields}))


def _object(made):
    return new_object("Attribute", made) if made.ptr else None


def fields(attribute: typing.Any) -> typing.Dict[str, typing.Any]:
    """The fields of one of these attributes by name. Raises TypeError for
    others."""
    own = handle(attribute, "Attribute")
    for kind, read in _read.items():
        if _is[kind](own):
            struct = read(own)
            values = {name: getattr(struct, name)
                      for name, *_ in struct._fields_}
            return {name: str(value) if isinstance(value, StringRef) else value
                    for name, value in values.items()}
    if _is["Target"](own):
        return {"chip": str(_target_parts["chip"](own)),
                "constants": _object(_target_parts["constants"](own))}
    if _is["Schedule"](own):
        part = _schedule_parts
        return {"strategy": str(part["strategy"](own)),
                "axes": [_object(part["axis"](own, i))
                         for i in range(part["num_axes"](own))],
                "warps": part["warps"](own), "mma": _object(part["mma"](own))}
    raise TypeError(f"{attribute} is no attribute of the fusion dialect with "
                    "fields")
