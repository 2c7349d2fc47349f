# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX models: `fusion.onnx.compile("model.onnx")` gives a callable;
`fusion.onnx.backend` is the interface of onnx.backend.

Needs the packages onnx and torch-mlir, when a model is compiled.
"""

from fusion_compiler.onnx import backend
from fusion_compiler.onnx.model import Model, compile  # noqa: A004

__all__ = ["Model", "backend", "compile"]
