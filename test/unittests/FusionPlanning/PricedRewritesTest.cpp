//===- PricedRewritesTest.cpp - Rewrites that have to pay -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests that decisions on rewrites come to an end, however many
// threads look ahead at what comes next.
//
//===----------------------------------------------------------------------===//

#include "fusion/FusionPlanning/PricedRewrites.h"

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/ThreadPool.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
constexpr const char *kProgram = R"(
  #left = affine_map<(m, n, k) -> (m, k)>
  #right = affine_map<(m, n, k) -> (k, n)>
  #sum = affine_map<(m, n, k) -> (m, n)>
  func.func @f(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>,
               %e: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
    %0 = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      linalg.yield %r : f32
    } -> tensor<1024x1024xf32>
    %1 = linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%0, %b : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      linalg.yield %r : f32
    } -> tensor<1024x1024xf32>
    return %1 : tensor<1024x1024xf32>
  })";

/// Of two products leaves the first one out. Of one it changes nothing, and
/// finds it again.
PricedRewrite getRewrite(unsigned &numApplied) {
  PricedRewrite rewrite;
  rewrite.find = [&numApplied](FunctionOpInterface func) {
    std::vector<RewriteMatch> matches;
    SmallVector<linalg::GenericOp> products(
        func.getFunctionBody().front().getOps<linalg::GenericOp>());
    for (linalg::GenericOp product : products)
      matches.push_back(
          {"a", "b", product, [=, &numApplied]() mutable -> Operation * {
             ++numApplied;
             if (products.size() == 1)
               return product;
             products.front().getResult(0).replaceAllUsesWith(
                 products.front().getDpsInputs().front());
             products.front().erase();
             return products.back();
           }});
    return matches;
  };
  rewrite.reason = ReasonCode::RepackOperand;
  rewrite.showsRefused = true;
  return rewrite;
}

TEST(PricedRewritesTest, MatchesThatAreFoundAgain) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  llvm::DefaultThreadPool threads(llvm::hardware_concurrency(4));
  context.setThreadPool(threads);
  context.loadDialect<arith::ArithDialect, func::FuncDialect, FusionDialect,
                      linalg::LinalgDialect, tensor::TensorDialect>();
  auto module = parseSourceString<ModuleOp>(kProgram, &context);
  ASSERT_TRUE(module);
  auto func = *module->getOps<func::FuncOp>().begin();
  TargetInfo target = *lookupTarget("sm_90a");
  PlanOptions options;
  RewriteDriver driver(func, target, options);
  unsigned numApplied = 0;
  driver.run(getRewrite(numApplied));
  // Each is applied to a copy; the first one to the function, too, and the
  // second one to the copy that looks ahead.
  EXPECT_EQ(driver.getEntries().size(), 2u);
  EXPECT_TRUE(driver.getEntries()[0].second.accepted);
  EXPECT_FALSE(driver.getEntries()[1].second.accepted);
  EXPECT_EQ(numApplied, 4u);
}
} // namespace
