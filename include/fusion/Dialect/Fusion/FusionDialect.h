//===- FusionDialect.h - The fusion dialect ---------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the fusion dialect class.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONDIALECT_H
#define FUSION_DIALECT_FUSION_FUSIONDIALECT_H

#include "mlir/IR/Dialect.h"

#include "fusion/Dialect/Fusion/FusionDialect.h.inc"

#endif // FUSION_DIALECT_FUSION_FUSIONDIALECT_H
