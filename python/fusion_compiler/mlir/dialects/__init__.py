# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The classes of the ops of both dialects, as `mlir.dialects` has those of
MLIR's: `from fusion_compiler.mlir.dialects import fusion, fusion_tile`.

What TableGen makes of the definitions lies beside the library with the C API.
"""

import pathlib

from fusion_compiler import libraries
from fusion_compiler.mlir import handles as _handles  # noqa: F401

__path__.append(str(pathlib.Path(libraries.path("mlir")).parent))
