//===- ReferenceTestUtils.h - Programs for reference tests ------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what the tests of the reference share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_REFERENCE_REFERENCETESTUTILS_H
#define FUSION_TEST_UNITTESTS_REFERENCE_REFERENCETESTUTILS_H

#include "fusion/InitAll.h"
#include "fusion/Reference/Reference.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <random>

/// A module parsed from text, and the errors that were emitted about it.
class Program {
public:
  explicit Program(const std::string &text)
      : context(makeRegistry(), mlir::MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler(
        [this](mlir::Diagnostic &diagnostic) {
          errors += diagnostic.str() + "\n";
          return mlir::success();
        });
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }

  /// Null after an error.
  std::unique_ptr<mlir::fusion::Reference> compile(llvm::StringRef entry) {
    if (!module)
      return nullptr;
    auto reference = mlir::fusion::Reference::create(*module, entry);
    if (failed(reference))
      return nullptr;
    return std::move(*reference);
  }

  mlir::ModuleOp getModule() { return *module; }
  const std::string &getErrors() const { return errors; }

  std::string print() {
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    return text;
  }

private:
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    mlir::fusion::registerAllDialects(registry);
    return registry;
  }

  mlir::MLIRContext context;
  std::string errors;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// What is expected, empty after an error.
inline llvm::SmallVector<mlir::fusion::ReferenceTensor>
evaluateBounded(mlir::fusion::Reference &reference,
                const std::vector<mlir::fusion::HostTensor> &inputs) {
  llvm::SmallVector<mlir::fusion::ReferenceTensor> outputs;
  if (failed(reference.run(inputs, outputs)))
    outputs.clear();
  return outputs;
}

/// The same without bounds: floats as F64, integers in their type.
inline llvm::SmallVector<mlir::fusion::HostTensor>
evaluate(mlir::fusion::Reference &reference,
         const std::vector<mlir::fusion::HostTensor> &inputs) {
  using namespace mlir::fusion;
  llvm::SmallVector<HostTensor> outputs;
  for (ReferenceTensor &tensor : evaluateBounded(reference, inputs)) {
    if (!tensor.isBounded) {
      outputs.push_back(std::move(tensor.integers));
      continue;
    }
    bool isFloat = fusionpkg::isFloat(tensor.dtype);
    outputs.push_back(
        createTensor(isFloat ? DType::F64 : tensor.dtype, tensor.dims));
    for (int64_t i = 0; i < tensor.getNumElements(); ++i)
      outputs.back().setDouble(i, tensor.elements[i].value);
  }
  return outputs;
}

/// Normally distributed values, rounded to the type.
inline mlir::fusion::HostTensor randomTensor(mlir::fusion::DType dtype,
                                             std::vector<int64_t> shape,
                                             unsigned seed) {
  auto tensor = mlir::fusion::createTensor(dtype, std::move(shape));
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    tensor.setDouble(i, normal(random));
  return tensor;
}

inline std::vector<double> toDoubles(const mlir::fusion::HostTensor &tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    values.push_back(tensor.getDouble(i));
  return values;
}

inline std::vector<uint8_t> getBytes(const mlir::fusion::HostTensor &tensor) {
  return {tensor.data(), tensor.data() + tensor.getNumBytes()};
}

#endif // FUSION_TEST_UNITTESTS_REFERENCE_REFERENCETESTUTILS_H
