# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package, and what the compiler says in parts."""

import dataclasses
import typing


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler.

    `severity` is "error", "warning" or "note"; `code` is "FUS-nnnn", or empty
    for most warnings and notes. `file`, `line` and `column` say where, counted
    from one; without a place they are "", 0 and 0.
    """

    severity: str
    code: str
    cause: str
    remedy: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    notes: typing.Tuple["Diagnostic", ...] = ()

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: " if self.file else ""
        code = self.code and self.code + ": "
        remedy = self.remedy and "; " + self.remedy
        return f"{place}{self.severity}: {code}{self.cause}{remedy}"


class FusionError(RuntimeError):
    """An error that the compiler or the runtime reported.

    `code` is "FUS-nnnn" (docs/Errors.md lists them), `cause` and `remedy` are
    sentences; `str()` holds all three and, for the compiler, the place in the
    program. `file`, `line`, `column` and `notes` are those of `Diagnostic`;
    `diagnostics` has everything that the compiler said, of which this is the
    first error.
    """

    def __init__(self, message: str, code: str = "", cause: str = "",
                 remedy: str = "",
                 diagnostics: typing.Sequence[Diagnostic] = ()):
        super().__init__(message)
        self.code, self.cause, self.remedy = code, cause, remedy
        self.diagnostics = tuple(diagnostics)
        first = next((one for one in self.diagnostics
                      if one.severity == "error"), None)
        self.file = first.file if first else ""
        self.line = first.line if first else 0
        self.column = first.column if first else 0
        self.notes = first.notes if first else ()

    @classmethod
    def of(cls, code: str, cause: str, remedy: str) -> "FusionError":
        """An error of the package's own: "FUS-1301: <cause>; <remedy>"."""
        return cls(f"{code}: {cause}; {remedy}", code, cause, remedy)


class BadTensorType(FusionError, TypeError):
    """FUS-1309: an argument of a call is of a kind that it cannot take."""

    @classmethod
    def because(cls, cause: str, remedy: str) -> FusionError:
        """The error of a cause and a remedy."""
        return cls.of("FUS-1309", cause, remedy)


class BadTensorValue(FusionError, ValueError):
    """FUS-1309: an argument of a call has sizes, strides or a place that it
    cannot take."""

    @classmethod
    def because(cls, cause: str, remedy: str) -> FusionError:
        """The error of a cause and a remedy."""
        return cls.of("FUS-1309", cause, remedy)
