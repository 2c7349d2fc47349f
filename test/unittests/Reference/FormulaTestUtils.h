//===- FormulaTestUtils.h - Programs of one operation -----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what the tests of formulas share: the evaluation of the one
// fusion op of a function, and of what programs are decomposed into.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_REFERENCE_FORMULATESTUTILS_H
#define FUSION_TEST_UNITTESTS_REFERENCE_FORMULATESTUTILS_H

#include "ReferenceTestUtils.h"

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Reference/Formulas.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

/// A tensor of integers below `end`, from `begin`.
inline mlir::fusion::HostTensor randomIntegers(mlir::fusion::DType dtype,
                                               std::vector<int64_t> shape,
                                               int64_t begin, int64_t end,
                                               unsigned seed) {
  auto tensor = mlir::fusion::createTensor(dtype, std::move(shape));
  std::mt19937_64 random(seed);
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setInteger(
        i, begin + static_cast<int64_t>(random() % uint64_t(end - begin)));
  return tensor;
}

/// A tensor of these numbers.
inline mlir::fusion::HostTensor tensorOf(mlir::fusion::DType dtype,
                                         std::vector<int64_t> shape,
                                         const std::vector<double> &values) {
  auto tensor = mlir::fusion::createTensor(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i)
    tensor.setDouble(i, values[i]);
  return tensor;
}

/// `tensor` as a formula takes it.
inline mlir::fusion::BoundedTensor
toBounded(const mlir::fusion::HostTensor &tensor, mlir::Type type) {
  mlir::fusion::BoundedTensor result(mlir::getElementTypeOrSelf(type),
                                     tensor.getDims());
  for (int64_t n = 0; n < result.size(); ++n) {
    if (result.isInteger())
      result.integer(n) = tensor.getInteger(n);
    else
      result[n] = tensor.getDouble(n);
  }
  return result;
}

/// What the function `f` returns, each result by the formula of the fusion op
/// that makes it from arguments; empty if one has none.
inline llvm::SmallVector<mlir::fusion::BoundedTensor>
evaluateByFormula(Program &program,
                  const std::vector<mlir::fusion::HostTensor> &inputs) {
  if (!program.getModule())
    return {};
  auto function = program.getModule().lookupSymbol<mlir::func::FuncOp>("f");
  llvm::DenseMap<mlir::Value, mlir::fusion::BoundedTensor> values;
  for (auto [argument, input] : llvm::zip(function.getArguments(), inputs))
    values[argument] = toBounded(input, argument.getType());
  llvm::SmallVector<mlir::fusion::BoundedTensor> results;
  for (mlir::Value value :
       function.getBody().front().getTerminator()->getOperands()) {
    auto result = llvm::cast<mlir::OpResult>(value);
    if (!mlir::fusion::hasFormula(result.getOwner()))
      return {};
    results.push_back(mlir::fusion::evaluateFormula(
        result.getOwner(), values)[result.getResultNumber()]);
  }
  return results;
}

/// True if nothing is known about a number.
inline bool isUnknown(const mlir::fusion::Bounded &number) {
  return !number.isKnown();
}

/// True if `got` is within the error of `expected` and half a unit in the last
/// place.
inline bool isWithin(double got, const mlir::fusion::Bounded &expected,
                     mlir::fusion::DType dtype) {
  if (!std::isfinite(expected.value) || !fusionpkg::isFloat(dtype))
    return expected.contains(got) || got == expected.value;
  return std::fabs(got - expected.value) <=
         expected.error + mlir::fusion::getUlp(got, dtype) / 2;
}

/// How many elements of `got` lie outside of what `expected` allows.
inline int64_t countOutside(const mlir::fusion::HostTensor &got,
                            const mlir::fusion::BoundedTensor &expected) {
  if (llvm::ArrayRef<int64_t>(got.getDims()) != expected.getShape())
    return got.getNumElements() + 1;
  int64_t count = 0;
  for (int64_t n = 0; n < expected.size(); ++n) {
    if (expected.isInteger())
      count += got.getInteger(n) != expected.integer(n);
    else if (!isUnknown(expected[n]))
      count += !isWithin(got.getDouble(n), expected[n], got.getDType());
  }
  return count;
}

/// The largest error of an element relative to it or to the root mean square of
/// all, whichever is larger.
inline double getRelativeAllowance(const mlir::fusion::BoundedTensor &tensor) {
  double squares = 0, allowance = 0;
  for (int64_t n = 0; n < tensor.size(); ++n)
    if (std::isfinite(tensor[n].value))
      squares += tensor[n].value * tensor[n].value;
  double scale = std::sqrt(squares / static_cast<double>(tensor.size()));
  for (int64_t n = 0; n < tensor.size(); ++n)
    if (std::isfinite(tensor[n].value))
      allowance = std::fmax(allowance,
                            tensor[n].error /
                                std::fmax(scale, std::fabs(tensor[n].value)));
  return allowance;
}

#endif // FUSION_TEST_UNITTESTS_REFERENCE_FORMULATESTUTILS_H
