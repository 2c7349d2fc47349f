# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one exception of the package."""


class FusionError(RuntimeError):
    """An error that the compiler or the runtime reported.

    `code` is "FUS-nnnn", `cause` and `remedy` are sentences; `str()` holds all
    three and, for the compiler, the place in the program.
    """

    def __init__(self, message, code="", cause="", remedy=""):
        super().__init__(message)
        self.code, self.cause, self.remedy = code, cause, remedy
