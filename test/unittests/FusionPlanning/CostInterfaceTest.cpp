//===- CostInterfaceTest.cpp - Tests of prices of other compilers ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests that plans follow the prices of a dialect: of its own scalar
// ops, and of kernels.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/CostInterface.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {

/// What the prices of a test are.
struct Prices {
  /// Instructions of `own.f`.
  double instructions = 1;
  /// Added to kernels of more than one op, in seconds.
  double fusedSeconds = 0;
};

class OwnCosts : public CostInterface {
public:
  OwnCosts(Dialect *dialect, const Prices &prices)
      : CostInterface(dialect), prices(prices) {}

  OpCost getScalarCost(Operation *op) const override {
    OpCost cost;
    cost.instructions = prices.instructions;
    return cost;
  }
  void priceKernel(const KernelBody &body, const TargetInfo &,
                   KernelEstimate &estimate) const override {
    if (body.getNodes().size() > 1)
      estimate.time.total += prices.fusedSeconds;
  }

private:
  Prices prices;
};

/// `own.f`, a function of one float.
class OwnOp : public Op<OwnOp, OpTrait::OneOperand, OpTrait::OneResult,
                        OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                        MemoryEffectOpInterface::Trait> {
public:
  using Op::Op;
  static StringRef getOperationName() { return "own.f"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
};

class OwnDialect : public Dialect {
public:
  explicit OwnDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<OwnDialect>()) {
    addOperations<OwnOp>();
  }
  static StringRef getDialectNamespace() { return "own"; }
};

constexpr const char *kProgram = R"(
  #map = affine_map<(i) -> (i)>
  func.func @f(%x: tensor<4096xf32>) -> tensor<4096xf32> {
    %e = tensor.empty() : tensor<4096xf32>
    %0 = linalg.generic {indexing_maps = [#map, #map],
                         iterator_types = ["parallel"]}
        ins(%x : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
    ^bb0(%a: f32, %out: f32):
      %y = "own.f"(%a) : (f32) -> f32
      linalg.yield %y : f32
    } -> tensor<4096xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map],
                         iterator_types = ["parallel"]}
        ins(%0 : tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
    ^bb0(%a: f32, %out: f32):
      %y = arith.addf %a, %a : f32
      linalg.yield %y : f32
    } -> tensor<4096xf32>
    return %1 : tensor<4096xf32>
  })";

/// The plan of the program where the dialect has these prices, or none.
FusionPlan plan(std::optional<Prices> prices) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<arith::ArithDialect, func::FuncDialect, FusionDialect,
                      linalg::LinalgDialect, math::MathDialect,
                      tensor::TensorDialect, OwnDialect>();
  if (prices)
    context.getLoadedDialect<OwnDialect>()->addInterface(
        std::make_unique<OwnCosts>(context.getLoadedDialect<OwnDialect>(),
                                   *prices));
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(kProgram, &context);
  auto func = *module->getOps<func::FuncOp>().begin();
  FailureOr<FusionPlan> plan =
      planFusion(func, getDefaultTarget(), PlanOptions());
  EXPECT_TRUE(succeeded(plan));
  return succeeded(plan) ? std::move(*plan) : FusionPlan();
}

TEST(CostInterfaceTest, OwnOpsHaveTheirPrice) {
  FusionPlan free = plan(std::nullopt);
  Prices dear;
  dear.instructions = 1e6;
  FusionPlan priced = plan(dear);
  ASSERT_EQ(free.kernels.size(), 1u);
  ASSERT_EQ(priced.kernels.size(), 1u);
  double more = priced.kernels[0].estimate.cost.fp32Flops -
                free.kernels[0].estimate.cost.fp32Flops;
  // An instruction is a multiply-add, of 4096 elements each.
  EXPECT_DOUBLE_EQ(more, 2 * 1e6 * 4096);
  EXPECT_GT(priced.kernels[0].estimate.seconds(),
            free.kernels[0].estimate.seconds());
}

TEST(CostInterfaceTest, PlansFollowPricesOfKernels) {
  EXPECT_EQ(plan(Prices()).kernels.size(), 1u);
  Prices slow;
  slow.fusedSeconds = 1;
  FusionPlan apart = plan(slow);
  EXPECT_EQ(apart.kernels.size(), 2u);
  // The ledger says so: the fusion was priced, and not taken.
  ASSERT_EQ(apart.ledger.entries.size(), 1u);
  EXPECT_FALSE(apart.ledger.entries[0].accepted);
  EXPECT_GT(apart.ledger.entries[0].timeAfterUs, 1e6);
}

} // namespace
