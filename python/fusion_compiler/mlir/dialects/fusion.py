# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dialect `fusion`: computation on tensors, kernels and decisions."""

from ._fusion_enum_gen import *  # noqa: F401,F403
from ._fusion_ops_gen import *  # noqa: F401,F403
