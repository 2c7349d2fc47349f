//===- ForeignDialectTest.cpp - A dialect of a program that embeds us -----===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file compiles an op of a dialect of its own, as a program would that
// links the compiler: with DecomposeInterface, which no plugin can have.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionInterfaces.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Pipelines/Compiler.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace own {
class OwnDialect;
class TwiceOp;
} // namespace own

MLIR_DECLARE_EXPLICIT_TYPE_ID(own::OwnDialect)
MLIR_DECLARE_EXPLICIT_TYPE_ID(own::TwiceOp)

namespace own {

/// gelu(relu(x)), by two ops of fusion.
class TwiceOp : public Op<TwiceOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                          OpTrait::OneOperand, MemoryEffectOpInterface::Trait,
                          fusion::DecomposeInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "own.twice"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
  FailureOr<SmallVector<Value>> decompose(OpBuilder &b) {
    Value first = fusion::ReluOp::create(b, getLoc(), getOperand());
    return SmallVector<Value>{fusion::GeluOp::create(
        b, getLoc(), first, fusion::GeluApproximation::Erf)};
  }
};

class OwnDialect : public Dialect {
public:
  explicit OwnDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<OwnDialect>()) {
    addOperations<TwiceOp>();
  }
  static StringRef getDialectNamespace() { return "own"; }
};

} // namespace own

MLIR_DEFINE_EXPLICIT_TYPE_ID(own::OwnDialect)
MLIR_DEFINE_EXPLICIT_TYPE_ID(own::TwiceOp)

namespace {

TEST(ForeignDialectTest, AnOpThatDecomposesIsInAKernelWithItsNeighbours) {
  DialectRegistry registry;
  fusion::registerAllForTools(registry);
  registry.insert<own::OwnDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = arith.addf %x, %x : tensor<64x64xf32>
      %1 = "own.twice"(%0) : (tensor<64x64xf32>) -> tensor<64x64xf32>
      %2 = fusion.softmax %1 axis(1) : tensor<64x64xf32>
      return %2 : tensor<64x64xf32>
    })",
                                                             &context);
  ASSERT_TRUE(module);
  fusion::CompileOptions options;
  options.target = "sm_90a";
  options.runPtxas = false;
  fusion::CompileReport report;
  FailureOr<std::string> package =
      fusion::compileToPackage(*module, options, &report);
  ASSERT_TRUE(succeeded(package));
  EXPECT_FALSE(package->empty());
  EXPECT_EQ(report.kernelsAfter, 1);
}

} // namespace
