# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of other frameworks become MLIR text that `fusion.compile` takes.

Nothing here knows an operator: torch-mlir lowers PyTorch graphs, ONNX models
and StableHLO to linalg on tensors (importing/torch_mlir.py); the files beside
it bring each kind of program into the form that torch-mlir takes and describe
what the program's own arguments and results became.
"""
