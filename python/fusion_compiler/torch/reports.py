# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What became of the graphs that `torch.compile` handed over."""

import dataclasses
import pathlib
import re
import threading
import typing


@dataclasses.dataclass(frozen=True)
class Fallback:
    """An operation that PyTorch runs itself: its name ("aten.sort.stable"),
    why, and the line of the user's program, "" where that is not known."""
    operator: str
    reason: str
    line: str


@dataclasses.dataclass(frozen=True)
class CompiledPart:
    """A part of a graph that is one package.

    `operations` counts ATen operations, `kernels` launches of one run;
    `cached` tells that the package was kept from before, and `seconds` what
    tracing, importing and compiling took. `package` is the Package, `report`
    the file of its page, None where none was asked for.
    """
    operations: int
    kernels: int
    cached: bool
    seconds: float
    package: object
    report: typing.Optional[pathlib.Path] = None


@dataclasses.dataclass(frozen=True)
class GraphReport:
    """One graph: "inference", "forward" or "backward"."""
    kind: str
    parts: tuple
    fallbacks: tuple

    def __str__(self):
        operations = sum(part.operations for part in self.parts)
        kernels = sum(part.kernels for part in self.parts)
        lines = [f"{self.kind}: {operations} operations in {kernels} kernels "
                 f"of {len(self.parts)} packages, {len(self.fallbacks)} left "
                 "to PyTorch"]
        lines += [f"  {one.operator}: {one.reason}"
                  + (f" ({one.line})" if one.line else "")
                  for one in self.fallbacks]
        return "\n".join(lines)


class Report(tuple):
    """GraphReports in the order of compilation; `str` has a line for each
    graph and for each operation that was left to PyTorch."""

    def __str__(self):
        return "\n".join(map(str, self)) or "nothing was compiled"

    @property
    def fallbacks(self):
        """Every Fallback of every graph."""
        return tuple(one for graph in self for one in graph.fallbacks)

    @property
    def kernels(self):
        """Launches of one run of every graph."""
        return sum(part.kernels for graph in self for part in graph.parts)


_LOCK = threading.Lock()
_graphs: typing.List[typing.Any] = []


def add(graph):
    with _LOCK:
        _graphs.append(graph)


def report():
    """What was compiled since the start or `reset_report`, as a Report."""
    with _LOCK:
        return Report(_graphs)


def reset_report():
    """Forgets what was compiled so far, for `report`."""
    with _LOCK:
        _graphs.clear()


def line_of(node):
    """"file.py:12" of the innermost frame of the user's program, or ""."""
    trace = node.stack_trace or ""
    frames = re.findall(r'File "([^"]+)", line (\d+)', trace)
    return ":".join(frames[-1]) if frames else ""
