# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrix products and convolutions: programs, references, peers, schedules.

A case (cases.py) is a family and its numbers, and from them comes the MLIR text
(products.py, fused.py, convolutions.py; no PyTorch needed), the reference and
the peers (semantics.py, peers.py; PyTorch), and, for sweeps, the schedules to
try (schedules.py).
"""
