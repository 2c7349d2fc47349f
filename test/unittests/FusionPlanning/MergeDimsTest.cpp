//===- MergeDimsTest.cpp - One dimension for those side by side -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/Passes.h"
#include "fusion/Scheduling/LoopSchedule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
class MergeDimsTest : public ::testing::Test {
protected:
  MergeDimsTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, FusionDialect,
                        linalg::LinalgDialect, tensor::TensorDialect>();
  }

  /// A sum over the dimensions `reduced` of x of type `x`, to type `result`;
  /// each element times that of y, of type `y`, which has the others than
  /// `missing` of x's dimensions.
  void build(const std::string &x, const std::string &y,
             const std::string &missing, const std::string &reduced,
             const std::string &result) {
    std::string text = "func.func @f(%x: " + x + ", %y: " + y + ", %e: " + x +
                       ", %i: " + result + ") -> " + result +
                       " {\n"
                       "  %b = linalg.broadcast ins(%y : " +
                       y + ") outs(%e : " + x + ") dimensions = [" + missing +
                       "]\n"
                       "  %m = linalg.mul ins(%x, %b : " +
                       x + ", " + x + ") outs(%e : " + x + ") -> " + x +
                       "\n"
                       "  %r = linalg.reduce { arith.addf } ins(%m : " +
                       x + ") outs(%i : " + result + ") dimensions = [" +
                       reduced + "]\n  return %r : " + result + "\n}\n";
    parse(text);
  }

  void parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto func = *module->getOps<func::FuncOp>().begin();
    FailureOr<ComputeGraph> built =
        ComputeGraph::build(func.getBody().front(), GraphOptions());
    ASSERT_TRUE(succeeded(built));
    graph = std::move(*built);
    body = KernelBody::getWhole(graph);
    ASSERT_EQ(body.getProblem(), BodyProblem::None);
  }

  /// Sizes of all dimensions with more than one element.
  std::vector<double> getMerged() {
    std::vector<double> sizes;
    for (double extent : body.mergeDims().getExtents())
      if (extent > 1)
        sizes.push_back(extent);
    return sizes;
  }
  double getSeconds() {
    return priceKernel(body, getDefaultTarget()).seconds();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  ComputeGraph graph;
  KernelBody body;
};

using Sizes = std::vector<double>;
} // namespace

TEST_F(MergeDimsTest, OneForAllThatAreReduced) {
  build("tensor<1809x17x161xf32>", "tensor<f32>", "0, 1, 2", "0, 1, 2",
        "tensor<f32>");
  EXPECT_EQ(getMerged(), Sizes{1809.0 * 17 * 161});
  double seconds = getSeconds();
  build("tensor<4951233xf32>", "tensor<f32>", "0", "0", "tensor<f32>");
  EXPECT_EQ(getMerged(), Sizes{4951233});
  // What planning prices is the kernel that will run.
  EXPECT_EQ(getSeconds(), seconds);
}

TEST_F(MergeDimsTest, WhatIsKeptAndWhatIsReducedStayApart) {
  build("tensor<6x10x7x9xf32>", "tensor<f32>", "0, 1, 2, 3", "2, 3",
        "tensor<6x10xf32>");
  EXPECT_EQ(getMerged(), (Sizes{60, 63}));
  build("tensor<6x10x7x9xf32>", "tensor<f32>", "0, 1, 2, 3", "1, 3",
        "tensor<6x7xf32>");
  // Those of the result come first.
  EXPECT_EQ(getMerged(), (Sizes{6, 7, 10, 9}));
}

TEST_F(MergeDimsTest, ATensorThatHasSomeOfThem) {
  build("tensor<6x10x7x9xf32>", "tensor<6x9xf32>", "1, 2", "0, 1, 2, 3",
        "tensor<f32>");
  EXPECT_EQ(getMerged(), (Sizes{6, 70, 9}));
}

TEST_F(MergeDimsTest, UnitDimensionsAreNotBetween) {
  build("tensor<6x1x10xf32>", "tensor<6x10xf32>", "1", "0, 1, 2",
        "tensor<f32>");
  EXPECT_EQ(getMerged(), Sizes{60});
}

TEST_F(MergeDimsTest, UnknownSizesStay) {
  build("tensor<?x6x10xf32>", "tensor<6x10xf32>", "0", "0, 1, 2",
        "tensor<f32>");
  EXPECT_EQ(getMerged().back(), 60);
  EXPECT_EQ(getMerged().size(), 2u);
}

TEST_F(MergeDimsTest, RowsMoveAsAWhole) {
  parse("func.func @f(%x: tensor<6x10x7xf32>) -> tensor<6x13x7xf32> {\n"
        "  %z = arith.constant 0.0 : f32\n"
        "  %r = tensor.pad %x low[0, 1, 0] high[0, 2, 0] {\n"
        "  ^bb0(%i: index, %j: index, %k: index):\n"
        "    tensor.yield %z : f32\n"
        "  } : tensor<6x10x7xf32> to tensor<6x13x7xf32>\n"
        "  return %r : tensor<6x13x7xf32>\n}\n");
  EXPECT_EQ(getMerged(), (Sizes{6, 91}));
  parse("func.func @f(%x: tensor<6x10x7xf32>) -> tensor<6x3x7xf32> {\n"
        "  %r = tensor.extract_slice %x[0, 2, 0] [6, 3, 7] [1, 1, 1]\n"
        "    : tensor<6x10x7xf32> to tensor<6x3x7xf32>\n"
        "  return %r : tensor<6x3x7xf32>\n}\n");
  EXPECT_EQ(getMerged(), (Sizes{6, 21}));
}

TEST_F(MergeDimsTest, PartsOfRowsStayApart) {
  parse("func.func @f(%x: tensor<6x10x7xf32>, %y: tensor<6x10x2xf32>)\n"
        "    -> tensor<6x10x9xf32> {\n"
        "  %r = tensor.concat dim(2) %x, %y\n"
        "    : (tensor<6x10x7xf32>, tensor<6x10x2xf32>) -> tensor<6x10x9xf32>\n"
        "  return %r : tensor<6x10x9xf32>\n}\n");
  EXPECT_EQ(getMerged(), (Sizes{60, 9}));
  // Every third row.
  parse("func.func @f(%x: tensor<6x10x7xf32>) -> tensor<6x3x7xf32> {\n"
        "  %r = tensor.extract_slice %x[0, 2, 0] [6, 3, 7] [1, 3, 1]\n"
        "    : tensor<6x10x7xf32> to tensor<6x3x7xf32>\n"
        "  return %r : tensor<6x3x7xf32>\n}\n");
  EXPECT_EQ(getMerged(), (Sizes{6, 3, 7}));
}
