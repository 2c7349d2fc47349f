# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler on modules of MLIR's Python bindings, without text between.

Import this before `mlir`: it loads MLIR's C API with that of the compiler over
one MLIR, under the name that the bindings ask for. `mlir` is a package of the
bindings of the same LLVM release (docs/Python.md).

    import fusion_compiler.mlir as fusion_mlir
    from mlir import ir

    with fusion_mlir.context():
        module = ir.Module.parse(...)  # or built op by op
        package = fusion_mlir.compile(module)

`fusion_compiler.mlir.dialects` has the classes of the ops, and
`fusion_compiler.mlir.attributes` the attributes.
"""

from fusion_compiler.mlir.handles import context, register_dialects
from fusion_compiler.mlir.programs import (Plan, compile, compile_to, plan,
                                           run_pipeline)

__all__ = ["Plan", "compile", "compile_to", "context", "plan",
           "register_dialects", "run_pipeline"]
