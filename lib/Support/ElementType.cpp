//===- ElementType.cpp - Element types of host tensors and packages -------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the map from MLIR types to element types.
//
//===----------------------------------------------------------------------===//

#include "fusion/Support/ElementType.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using fusionpkg::DType;

std::optional<DType> fusion::getDType(Type type) {
  if (type.isF64())
    return DType::F64;
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (type.isIndex() || type.isSignlessInteger(64))
    return DType::I64;
  if (type.isSignlessInteger(32))
    return DType::I32;
  if (type.isSignlessInteger(16))
    return DType::I16;
  if (type.isSignlessInteger(8))
    return DType::I8;
  if (type.isSignlessInteger(4))
    return DType::I4;
  if (type.isSignlessInteger(1))
    return DType::I1;
  return std::nullopt;
}
