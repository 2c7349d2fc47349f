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

#include "fusion/Reference/Bounded.h"
#include "fusion/Reference/HostTensor.h"
#include "fusion/Reference/Signature.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <memory>

namespace mlir {
class ExecutionEngine;

namespace fusion {

class FormulaTable;

/// What a correct implementation may give for one output.
struct ReferenceTensor {
  /// The declared type of the elements.
  DType dtype = DType::F32;
  std::vector<int64_t> dims;
  /// The elements, of floats and of integers that derive from floats.
  std::vector<Bounded> elements;
  /// All other integers, which are exact.
  HostTensor integers;
  bool isBounded = false;

  int64_t getNumElements() const {
    return isBounded ? static_cast<int64_t>(elements.size())
                     : integers.getNumElements();
  }
};

/// One function of a module, compiled for the CPU of this machine.
class Reference {
public:
  /// Compiles `entry` of `module`, which stays as it is. The module is on
  /// tensors: linalg, tensor, arith, math, scf. Emits one error and returns
  /// failure if the function is absent or cannot be evaluated.
  static FailureOr<std::unique_ptr<Reference>> create(ModuleOp module,
                                                      StringRef entry);
  ~Reference();

  /// The types as declared.
  const Signature &getSignature() const { return signature; }

  /// Evaluates the function in the NumericsScope of the caller. Emits one error
  /// and returns failure if the inputs do not fit the signature, an index or
  /// shape is out of bounds, or memory runs out.
  LogicalResult run(ArrayRef<HostTensor> inputs,
                    SmallVectorImpl<ReferenceTensor> &outputs);

private:
  Reference(Location loc, Signature signature);
  ReferenceTensor takeOutput(unsigned index, const int64_t *descriptor,
                             bool isOpen) const;

  Location loc;
  Signature signature;
  /// Which outputs carry bounds.
  std::vector<bool> isBounded;
  /// Compiled code refers to it.
  std::unique_ptr<FormulaTable> formulas;
  std::unique_ptr<ExecutionEngine> engine;
  void (*function)(void **) = nullptr;
};

} // namespace fusion
} // namespace mlir

#endif // FUSION_REFERENCE_REFERENCE_H
