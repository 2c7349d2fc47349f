# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What generated files take from the bindings' module of this name."""

from fusion_compiler.mlir.handles import ir

register_attribute_builder = ir.register_attribute_builder
