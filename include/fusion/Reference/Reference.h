//===- Reference.h - The program, evaluated on the CPU ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the oracle that results of compiled packages are checked
// against: it shares no pass with the compiler past the input phase.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_REFERENCE_REFERENCE_H
#define FUSION_REFERENCE_REFERENCE_H

#include "fusion/Reference/HostTensor.h"
#include "fusion/Reference/Passes.h"
#include "fusion/Reference/Signature.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <memory>

namespace mlir {
class ExecutionEngine;

namespace fusion {

/// One function of a module, compiled for the CPU of this machine.
class Reference {
public:
  /// Compiles `entry` of `module`, which stays as it is. The module is on
  /// tensors: linalg, tensor, arith, math, scf. Emits one error and returns
  /// failure if the function is absent or cannot be evaluated.
  static FailureOr<std::unique_ptr<Reference>>
  create(ModuleOp module, StringRef entry, ReferenceMode mode);
  ~Reference();

  /// The types as declared, whatever the mode.
  const Signature &getSignature() const { return signature; }

  /// Evaluates the function. `inputs` have the declared types, or F64 for any
  /// float in Float64 mode; `outputs` get the declared types in Declared mode
  /// and F64 for every float in Float64 mode. Emits one error and returns
  /// failure if the inputs do not fit the signature, an index or shape is out
  /// of bounds, or memory runs out.
  LogicalResult run(ArrayRef<HostTensor> inputs,
                    SmallVectorImpl<HostTensor> &outputs);

private:
  Reference(Location loc, ReferenceMode mode, Signature signature);

  Location loc;
  ReferenceMode mode;
  Signature signature;
  std::unique_ptr<ExecutionEngine> engine;
  void (*function)(void **) = nullptr;
};

} // namespace fusion
} // namespace mlir

#endif // FUSION_REFERENCE_REFERENCE_H
