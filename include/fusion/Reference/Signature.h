//===- Signature.h - What a function takes and gives ------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the signature of an entry function in terms of host
// tensors: element types, extents and the names of dynamic extents.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_SIGNATURE_H
#define FUSION_REFERENCE_SIGNATURE_H

#include "fusion/Reference/HostTensor.h"
#include "fusion/Support/ElementType.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"
#include <string>
#include <vector>

namespace mlir::fusion {

/// One operand or result of an entry.
struct TensorSignature {
  static constexpr int64_t kDynamic = -1;

  DType dtype = DType::F32;
  /// kDynamic for an extent that is known at run time only.
  std::vector<int64_t> shape;
  /// One name per extent: what `fusion.dims` says, or "arg0.1".
  std::vector<std::string> dimNames;
  /// A scalar of the function type, not a tensor of rank 0.
  bool isScalar = false;

  /// "f32[?,5]".
  std::string getTypeString() const;

  /// "is f32[6,5] where f32[7,5] is declared" for a tensor that does not fit;
  /// empty for one that does.
  std::string describeMismatch(DType dtype,
                               const std::vector<int64_t> &dims) const;
};

struct Signature {
  std::vector<TensorSignature> inputs, outputs;
};

/// Reads the signature of `function`. Emits an error and returns failure for a
/// type that has no host tensor.
FailureOr<Signature> getSignature(func::FuncOp function);

/// The function named `entry`, or the only public one if the name is empty.
/// Emits an error that lists the choices, and returns failure, if there is
/// none.
FailureOr<func::FuncOp> findEntry(ModuleOp module, StringRef entry);

} // namespace mlir::fusion

#endif // FUSION_REFERENCE_SIGNATURE_H
