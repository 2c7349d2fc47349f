# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one exception of the package, and what the compiler says in parts."""

import dataclasses


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
    notes: tuple = ()

    def __str__(self):
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

    def __init__(self, message, code="", cause="", remedy="", diagnostics=()):
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
    def of(cls, code, cause, remedy):
        """An error of the package's own: "FUS-1301: <cause>; <remedy>"."""
        return cls(f"{code}: {cause}; {remedy}", code, cause, remedy)
