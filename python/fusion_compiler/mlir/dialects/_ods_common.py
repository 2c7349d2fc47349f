# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What generated files take from the bindings' module of this name."""

from mlir.dialects._ods_common import (  # noqa: F401
    _cext, equally_sized_accessor, get_default_loc_context,
    get_op_results_or_values, segmented_accessor)

from fusion_compiler.mlir import handles as _handles  # noqa: F401
