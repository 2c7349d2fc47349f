//===- IterationDimsTest.cpp - What a group's dimensions are found by -----===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests that the dimensions of a group of operations are those of its
// own operations: whatever else the program has is not walked through. Planning
// asks for them once a candidate.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/IterationDims.h"

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
/// A product, its exponentials, and two products of these with other matrices,
/// which share no operand: they walk their results together only because both
/// need the first one.
constexpr const char *kProgram = R"(
  func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>,
               %c: tensor<64x64xf32>, %d: tensor<64x64xf32>,
               %e: tensor<64x64xf32>, %p: tensor<64x64xf32>,
               %q: tensor<64x64xf32>)
      -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>)
                       outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = linalg.exp ins(%0 : tensor<64x64xf32>)
                    outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = linalg.tanh ins(%0 : tensor<64x64xf32>)
                     outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = linalg.matmul ins(%1, %c : tensor<64x64xf32>, tensor<64x64xf32>)
                       outs(%p : tensor<64x64xf32>) -> tensor<64x64xf32>
    %4 = linalg.matmul ins(%2, %d : tensor<64x64xf32>, tensor<64x64xf32>)
                       outs(%q : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %3, %4 : tensor<64x64xf32>, tensor<64x64xf32>
  })";

class IterationDimsTest : public ::testing::Test {
protected:
  IterationDimsTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, math::MathDialect,
                        tensor::TensorDialect>();
    module = parseSourceString<ModuleOp>(kProgram, &context);
    auto func = *module->getOps<func::FuncOp>().begin();
    graph = *ComputeGraph::build(func.getBody().front(), GraphOptions());
  }

  /// Whether the two last products, in the group without the nodes `left` out,
  /// walk the columns of their results together.
  bool walkTogether(ArrayRef<unsigned> left) const {
    SmallVector<unsigned> nodes, stored;
    for (auto [id, node] : llvm::enumerate(graph.getNodes())) {
      if (llvm::is_contained(left, id))
        continue;
      nodes.push_back(id);
      stored.push_back(node.writes.front().value);
    }
    IterationDims dims = IterationDims::get(graph, nodes, stored);
    auto getColumns = [&](unsigned result) {
      return dims.findDimOfTensor(graph.getResults()[result], 1);
    };
    return getColumns(0) == getColumns(1);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ComputeGraph graph;
};
} // namespace

TEST_F(IterationDimsTest, ProductsThatNeedOneWalkTogether) {
  ASSERT_EQ(graph.getNodes().size(), 5u);
  EXPECT_TRUE(walkTogether({}));
}

TEST_F(IterationDimsTest, NothingOutsideOfTheGroupIsWalkedThrough) {
  for (auto [id, node] : llvm::enumerate(graph.getNodes()))
    if (node.kind == NodeKind::Pointwise)
      EXPECT_FALSE(walkTogether(id)) << node.label;
}
