//===- FusionInterfaces.h - Interfaces of fusion ops ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the interfaces by which an op states its meaning in
// linalg, and its tiles.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONINTERFACES_H
#define FUSION_DIALECT_FUSION_FUSIONINTERFACES_H

#include "fusion/Dialect/Fusion/TileMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "fusion/Dialect/Fusion/FusionInterfaces.h.inc"

#endif // FUSION_DIALECT_FUSION_FUSIONINTERFACES_H
