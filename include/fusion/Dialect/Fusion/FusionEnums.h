//===- FusionEnums.h - Enumerations of the fusion dialect -------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the enumerations of the fusion dialect, without the
// dialect: later levels carry them in attributes of their own.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONENUMS_H
#define FUSION_DIALECT_FUSION_FUSIONENUMS_H

#include "mlir/IR/OpImplementation.h"

#include "fusion/Dialect/Fusion/FusionEnums.h.inc"

#endif // FUSION_DIALECT_FUSION_FUSIONENUMS_H
