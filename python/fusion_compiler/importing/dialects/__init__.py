# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What torch-mlir's bindings import when they first meet a dialect, where they
find it here before their own modules (`fx.py`)."""
