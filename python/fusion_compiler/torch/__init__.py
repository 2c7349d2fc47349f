# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: `torch.compile(model, backend="fusion")`.

Importing this module registers the backend; an installed package registers it
by its entry point, so that no import is needed. `report()` tells what was
fused, and what was left to PyTorch, why and where. `export` makes a package of
a program of torch.export; `operator` makes a package an operator of PyTorch's.
"""

from torch._dynamo import list_backends, register_backend

from fusion_compiler.torch.backend import Options, backend
from fusion_compiler.torch.exporting import export
from fusion_compiler.torch.operators import operator
from fusion_compiler.torch.reports import (CompiledPart, Fallback, GraphReport,
                                           Report, report, reset_report)

__all__ = ["CompiledPart", "Fallback", "GraphReport", "Options", "Report",
           "backend", "export", "operator", "report", "reset_report"]

if "fusion" not in list_backends(exclude_tags=()):
    register_backend(backend, name="fusion")
