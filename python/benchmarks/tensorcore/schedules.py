# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The schedules of contractions: reading, varying and writing their text.

A module in which kernels have a schedule keeps it (`fusion-schedule-select`
fills in only what is missing), so a schedule is forced by writing it into the
text between two phases.
"""

import dataclasses
import itertools
import re

_SCHEDULE = re.compile(
    r"#fusion\.schedule<contraction, axes = \[(.*?)\], warps = (\d+)"
    r"(?:, mma = #fusion\.mma<(\w+)((?:, \w+ = \d+)*)>)?>")
_AXIS = re.compile(r"#fusion\.axis<(\w+), tile = (\d+)((?:, \w+ = \d+)*)>")
_NUMBER = re.compile(r"(\w+) = (\d+)")
_MMA_DEFAULTS = {"stages": 1, "columns": 0, "split": 1, "group": 1,
                 "blocks": 0, "multicast": 1, "groups": 1,
                 "stream": 0, "apart": 0}


@dataclasses.dataclass(frozen=True)
class Axis:
    kind: str
    tile: int
    rest: tuple = ()

    def text(self):
        rest = "".join(f", {key} = {value}" for key, value in self.rest)
        return f"#fusion.axis<{self.kind}, tile = {self.tile}{rest}>"


@dataclasses.dataclass(frozen=True)
class Schedule:
    """`mma` has every field of #fusion.mma, `kind` first; None without one."""
    axes: tuple
    warps: int
    mma: tuple = None

    @classmethod
    def parse(cls, match):
        axes, warps, kind, fields = match.groups()
        mma = None
        if kind:
            numbers = {k: int(v) for k, v in _NUMBER.findall(fields)}
            mma = (("kind", kind), *{**_MMA_DEFAULTS, **numbers}.items())
        return cls(tuple(Axis(a, int(tile), tuple(
            (k, int(v)) for k, v in _NUMBER.findall(rest)))
            for a, tile, rest in _AXIS.findall(axes)), int(warps), mma)

    def text(self):
        mma = ""
        if self.mma:
            fields = dict(self.mma)
            kind = fields.pop("kind")
            mma = f", mma = #fusion.mma<{kind}" + "".join(
                f", {key} = {value}" for key, value in fields.items()
                if value != _MMA_DEFAULTS[key]) + ">"
        axes = ", ".join(axis.text() for axis in self.axes)
        return (f"#fusion.schedule<contraction, axes = [{axes}], "
                f"warps = {self.warps}{mma}>")

    @property
    def kind(self):
        return dict(self.mma)["kind"] if self.mma else "fma"

    def positions(self):
        """Indices of the axes that carry rows, columns and contracted chunks:
        of the grid's axes with tiles the last is columns, the one before it
        rows; of the loops the one with the largest tile."""
        grid = [i for i, a in enumerate(self.axes)
                if a.kind in ("grid", "full") and a.tile > 1]
        loops = [i for i, a in enumerate(self.axes) if a.kind == "loop"]
        if len(grid) < 2 or not loops:
            return None
        return grid[-2], grid[-1], max(loops, key=lambda i: self.axes[i].tile)

    def tiles(self):
        """Rows, columns and contracted elements of a step."""
        places = self.positions()
        return places and tuple(self.axes[i].tile for i in places)

    def holds_rows(self):
        """Whether a block, or several beside each other, have whole rows."""
        places = self.positions()
        return places and self.axes[places[1]].kind == "full"

    def shape(self):
        """The kinds of the axes, which say how a program was planned."""
        return [axis.kind for axis in self.axes]

    def with_(self, tiles=None, warps=None, parts=None, **mma):
        """A copy with other numbers; `parts` warps share the depth."""
        axes = list(self.axes)
        if tiles:
            for i, tile in zip(self.positions(), tiles):
                axes[i] = dataclasses.replace(axes[i], tile=tile)
        if parts:
            depth = self.positions()[2]
            rest = {**dict(axes[depth].rest), "warps": parts}
            axes[depth] = dataclasses.replace(axes[depth],
                                              rest=tuple(rest.items()))
        fields = self.mma
        if mma:
            fields = tuple({**dict(self.mma or (("kind", "fma"),
                                                *_MMA_DEFAULTS.items())),
                            **mma}.items())
        return Schedule(tuple(axes), warps or self.warps, fields)

    def to_json(self):
        return {"tiles": self.tiles(), "warps": self.warps,
                "mma": dict(self.mma) if self.mma else None,
                "text": self.text()}

    def tag(self):
        """A short name for files and tables: 128x256x64.w12.s4.g8.b132."""
        tiles = "x".join(map(str, self.tiles() or (0,)))
        fields = dict(self.mma or ())
        parts = [fields.get("kind", "fma"), tiles, f"w{self.warps}"]
        sharing = self.axes and max(
            dict(axis.rest).get("warps", 1) for axis in self.axes)
        if sharing > 1 and sharing != self.warps:
            parts.append(f"p{sharing}")
        for key in ("stages", "columns", "split", "group", "blocks",
                    "multicast", "groups", "stream", "apart"):
            value = fields.get(key, _MMA_DEFAULTS[key])
            if value != _MMA_DEFAULTS[key]:
                # Groups take turns, streams share along k, over the grid.
                letter = {"groups": "t", "stream": "k",
                          "apart": "o"}.get(key, key[0])
                parts.append(f"{letter}{value}")
        return "-".join(parts)


def find(text):
    """The schedules of the contractions of a module, in order."""
    return [Schedule.parse(match) for match in _SCHEDULE.finditer(text)]


def replace(text, schedules):
    """The module with other schedules for its contractions, in order."""
    rest = iter(schedules)
    return _SCHEDULE.sub(lambda match: next(rest).text(), text)


def neighbours(default, element_bytes, *, multiprocessors=132,
               shared_limit=232448):
    """The default, then schedules to try beside it: tiles with the stages that
    fit, then order of tiles, chunks of the epilogue, splits and grids for the
    default's tile. The kind of instruction stays. Those that the compiler then
    refuses say so when they are compiled."""
    if not default.positions():
        return []
    found = [default]
    if default.kind == "wgmma":
        found += _wgmma(default, element_bytes, multiprocessors, shared_limit)
    elif default.kind == "mma_sync":
        found += _mma_sync(default)
    else:
        rows, columns, inner = default.tiles()
        found += [default.with_((r, c, inner), warps=warps)
                  for r in (32, 64, 128) for c in (32, 64, 128)
                  for warps in (4, 8) if r * c >= 2048]
    return list(dict.fromkeys(found))


def _wgmma(default, element_bytes, multiprocessors, shared_limit):
    inner = default.tiles()[2]
    mma = dict(default.mma)
    tried = []
    for rows, columns in itertools.product((64, 128, 256), (64, 128, 256)):
        for warps in (4, 8):
            # Accumulators of a thread; a warpgroup has 64 rows at least.
            if rows < 16 * warps or rows * columns > 128 * 32 * warps:
                continue
            step = (rows + columns) * inner * element_bytes
            fitting = (shared_limit - 36 * 1024) // step
            tried += [default.with_((rows, columns, inner), warps=warps,
                                    stages=stages)
                      for stages in sorted({min(fitting, 8), 3})
                      if 2 <= stages <= fitting]
    for key, values in (("stages", range(2, mma["stages"])),
                        ("group", (1, 2, 4, 8, 16)),
                        ("columns", (0, 16, 32, 64, 128)),
                        ("split", (1, 2, 4)),
                        ("blocks", (0, multiprocessors))):
        tried += [default.with_(**{key: value}) for value in values
                  if value != mma[key]]
    if mma["split"] > 1:
        tried.append(default.with_(apart=1 - mma["apart"]))
    if mma["split"] == mma["groups"] == 1:
        tried += [default.with_(tiles, warps=8, blocks=multiprocessors,
                                stream=6)
                  for tiles in ((128, 128, inner), (128, 192, inner),
                                (128, 256, inner))]
    return tried


def _mma_sync(default):
    inner = default.tiles()[2]
    tried = [default.with_((r, c, inner), warps=warps, stages=stages)
             for r, c, warps in ((64, 64, 4), (64, 128, 4), (128, 64, 4),
                                 (128, 128, 4), (128, 128, 8), (128, 256, 8),
                                 (256, 128, 8), (32, 64, 4), (32, 128, 4))
             for stages in (3, 4)]
    return tried + [default.with_(group=group) for group in (1, 4, 8)]

