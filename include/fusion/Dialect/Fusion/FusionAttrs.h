//===- FusionAttrs.h - Attributes of the fusion dialect ---------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the attributes in which later phases record what they
// decided.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONATTRS_H
#define FUSION_DIALECT_FUSION_FUSIONATTRS_H

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Dialect/Fusion/FusionEnums.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/APFloat.h"

#define GET_ATTRDEF_CLASSES
#include "fusion/Dialect/Fusion/FusionAttrs.h.inc"

#endif // FUSION_DIALECT_FUSION_FUSIONATTRS_H
