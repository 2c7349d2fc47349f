# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The torch dialect without a class for each of its operations: torch-mlir's
own module of that name takes 0.04 s, longer than to import a small graph, and
operations are made by their names here. Who imports that has the classes."""
