//===- PairContracts.h - Ops that share a kernel, or do not -----*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares contracts on two sets of ops. `fusion.must` and
// `fusion.never` say of one op what its kernel is to be; these say of two
// whether they share one.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_PAIRCONTRACTS_H
#define FUSION_DIALECT_FUSION_PAIRCONTRACTS_H

#include "mlir/IR/Operation.h"

namespace mlir::fusion {

/// An array of numbers: ops that have one in common share a kernel.
inline constexpr StringLiteral kTogetherAttrName = "fusion.together";
/// An array of numbers: ops share no kernel if one has the number 2n and the
/// other 2n + 1.
inline constexpr StringLiteral kApartAttrName = "fusion.apart";

/// The numbers of the attribute `name` of `op`; none if it has no such array.
inline ArrayRef<int64_t> getPairNumbers(Operation *op, StringRef name) {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return numbers ? numbers.asArrayRef() : ArrayRef<int64_t>();
}

/// Lets all ops of `first` and `second`, of one function, share a kernel; or,
/// unless `together`, none of the first with one of the second.
void addPairContract(ArrayRef<Operation *> first, ArrayRef<Operation *> second,
                     bool together);

} // namespace mlir::fusion

#endif // FUSION_DIALECT_FUSION_PAIRCONTRACTS_H
