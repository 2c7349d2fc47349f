//===- ScalarProgram.h - Regions on scalars, evaluated ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the evaluation of regions on scalars, such as the combiner
// of a scan, on bounded numbers.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_REFERENCE_FORMULAS_SCALARPROGRAM_H
#define FUSION_LIB_REFERENCE_FORMULAS_SCALARPROGRAM_H

#include "FormulaRegistry.h"

namespace mlir::fusion::formulas {

/// A value in a region: an integer, or a bounded number.
struct Scalar {
  Bounded number;
  int64_t integer = 0;
  bool isInteger = false;

  Scalar() = default;
  Scalar(const Bounded &number) : number(number) {}
  static Scalar ofInteger(int64_t value) {
    Scalar scalar;
    scalar.integer = value;
    scalar.isInteger = true;
    return scalar;
  }
  static Scalar ofElement(const BoundedTensor &tensor, int64_t n) {
    return tensor.isInteger() ? ofInteger(tensor.integer(n))
                              : Scalar(tensor[n]);
  }

  /// As a bounded number; integers are exact up to 2^53.
  Bounded getNumber() const {
    return isInteger ? Bounded(static_cast<double>(integer)) : number;
  }
  /// As an integer, if it is one that is known.
  std::optional<int64_t> getInteger() const;
};

/// A region of one block on scalars, ready to be evaluated. The results of
/// floating-point operations are off by a rounding to their type, or not, as in
/// a formula: the order of a scan and what lies before a score are open.
class ScalarProgram {
public:
  /// True if every operation of the region is known here.
  static bool canEvaluate(Region &region);

  /// `region` with the values that it uses from outside.
  ScalarProgram(Region &region, const Operands &outside);

  /// What the region yields for `arguments`.
  SmallVector<Scalar> evaluate(ArrayRef<Scalar> arguments);

private:
  struct Step {
    Operation *op;
    SmallVector<int, 3> operands;
    Scalar (*evaluate)(Operation *, ArrayRef<Scalar>);
  };

  /// Where `value` is kept; a constant that comes from outside is put there.
  int getSlot(Value value);

  const Operands &outside;
  llvm::DenseMap<Value, int> slots;
  std::vector<Scalar> values;
  std::vector<Step> steps;
  SmallVector<int> yielded;
};

} // namespace mlir::fusion::formulas

#endif // FUSION_LIB_REFERENCE_FORMULAS_SCALARPROGRAM_H
