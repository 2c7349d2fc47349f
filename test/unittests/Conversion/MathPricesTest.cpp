//===- MathPricesTest.cpp - Prices of expanded math -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file compares the instructions that the cost model counts for math
// operations with those that they are expanded to.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/OpCosts.h"
#include "fusion/Conversion/MathExpansion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringRef.h"

#include "gtest/gtest.h"

using namespace mlir;

namespace {
class MathPrices : public ::testing::TestWithParam<const char *> {
protected:
  MathPrices() {
    context.loadDialect<func::FuncDialect, arith::ArithDialect,
                        math::MathDialect, LLVM::LLVMDialect,
                        vector::VectorDialect, scf::SCFDialect>();
  }

  /// A function of x: f32 that returns `%y`, which `body` computes.
  OwningOpRef<ModuleOp> parse(const std::string &body) {
    return parseSourceString<ModuleOp>("func.func @f(%x: f32) -> f32 {\n" +
                                           body + "\n  return %y : f32\n}",
                                       &context);
  }

  MLIRContext context;
};
} // namespace

/// Instructions that `op` becomes, at most: what is free for the cost model,
/// and branches that are seldom taken, is none.
static double count(Operation *op) {
  if (isa<arith::ConstantOp, arith::BitcastOp, arith::ExtUIOp, arith::TruncIOp,
          func::FuncOp, func::ReturnOp, ModuleOp, scf::YieldOp>(op) ||
      op->getParentOfType<scf::IfOp>())
    return 0;
  auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
  return call && call.getIntrin() == "llvm.fabs" ? 0 : 1;
}

TEST_P(MathPrices, AreWhatIsEmitted) {
  OwningOpRef<ModuleOp> module = parse(GetParam());
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  double priced = 0;
  function.walk([&](Operation *op) {
    fusion::OpCost cost = fusion::getOpCost(op);
    priced += cost.instructions + cost.doubles;
  });

  PassManager passes(&context);
  passes.addPass(fusion::createExpandMathPass());
  ASSERT_TRUE(succeeded(passes.run(*module)));
  double emitted = 0;
  module->walk([&](Operation *op) { emitted += count(op); });
  // ptxas and LLVM merge some: sums into shifts, selections of a constant.
  EXPECT_LE(std::abs(priced - emitted), std::max(2.0, 0.2 * emitted))
      << GetParam() << ": " << priced << " priced, " << emitted << " emitted";
}

INSTANTIATE_TEST_SUITE_P(
    Functions, MathPrices,
    ::testing::Values(
        "%y = math.exp %x : f32", "%y = math.exp2 %x : f32",
        "%y = math.expm1 %x : f32", "%y = math.log %x : f32",
        "%y = math.log2 %x : f32", "%y = math.log10 %x : f32",
        "%y = math.log1p %x : f32", "%y = math.tanh %x : f32",
        "%y = math.sin %x : f32", "%y = math.cos %x : f32",
        "%y = math.atan %x : f32", "%y = math.erf %x : f32",
        "%y = math.rsqrt %x : f32",
        // Of 16 bits.
        "%h = arith.truncf %x : f32 to bf16 %s = math.sin %h : bf16 "
        "%y = arith.extf %s : bf16 to f32",
        "%h = arith.truncf %x : f32 to f16 %s = math.cos %h : f16 "
        "%y = arith.extf %s : f16 to f32",
        "%h = arith.truncf %x : f32 to f16 %s = math.atan %h : f16 "
        "%y = arith.extf %s : f16 to f32",
        "%h = arith.truncf %x : f32 to f16 %s = math.tanh %h : f16 "
        "%y = arith.extf %s : f16 to f32",
        "%h = arith.truncf %x : f32 to f16 %s = math.erf %h : f16 "
        "%y = arith.extf %s : f16 to f32",
        // Means of three and of four.
        "%n = arith.constant 3.0 : f32 %y = arith.divf %x, %n : f32",
        "%n = arith.constant 4.0 : f32 %y = arith.divf %x, %n : f32",
        // A softplus's logarithm, a sigmoid, and 1 + tanh(x).
        "%a = math.absf %x : f32 %n = arith.negf %a : f32 "
        "%e = math.exp %n : f32 %y = math.log1p %e : f32",
        // The logarithm of a sum of exponentials, and one with approximations.
        "%m = arith.maximumf %x, %x : f32 %a = math.absf %x : f32 "
        "%n = arith.negf %a : f32 %e = math.exp %n : f32 "
        "%l = math.log1p %e : f32 %y = arith.addf %m, %l : f32",
        "%m = arith.maximumf %x, %x : f32 %a = math.absf %x : f32 "
        "%n = arith.negf %a : f32 %e = math.exp %n fastmath<afn> : f32 "
        "%l = math.log1p %e fastmath<afn> : f32 %y = arith.addf %m, %l : f32",
        "%y = math.log %x fastmath<afn> : f32",
        "%y = math.tan %x fastmath<afn> : f32",
        "%c = arith.constant 1.0 : f32 %e = math.exp %x : f32 "
        "%s = arith.addf %e, %c : f32 %y = arith.divf %c, %s : f32",
        "%c = arith.constant 1.0 : f32 %t = math.tanh %x : f32 "
        "%y = arith.addf %t, %c : f32"));

// Eight neighbours share what follows from the quotient of their numbers; their
// place among them is known at compile time, and so is what it selects.
TEST(RegionPrices, AreShared) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, arith::ArithDialect,
                      linalg::LinalgDialect, tensor::TensorDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c8 = arith.constant 8 : index
  %c7 = arith.constant 7 : i32
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i64
  %m = arith.constant 3528531795 : i64
  %zero = arith.constant 0.0 : f32
  %y = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%x : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %q = arith.divui %i, %c8 : index
    %q32 = arith.index_cast %q : index to i32
    %w = arith.extui %q32 : i32 to i64
    %p = arith.muli %w, %m : i64
    %s = arith.shrui %p, %c32 : i64
    %h = arith.trunci %s : i64 to i32
    %l = arith.trunci %p : i64 to i32
    %a = arith.xori %h, %l : i32
    %n = arith.index_cast %i : index to i32
    %place = arith.andi %n, %c7 : i32
    %first = arith.cmpi eq, %place, %c0 : i32
    %b = arith.select %first, %a, %h : i32
    %k = arith.cmpi sgt, %b, %c7 : i32
    %r = arith.select %k, %in, %zero : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
})",
                                                             &context);
  ASSERT_TRUE(module);
  linalg::GenericOp generic;
  module->walk([&](linalg::GenericOp op) { generic = op; });
  // A shift, a product of 2 and a combination for eight; a comparison and a
  // choice for each.
  EXPECT_EQ(fusion::getRegionCost(generic.getRegion()).instructions,
            (1 + 2 + 1) / 8.0 + 2);
  // The low bits of more are no place.
  generic->walk([&](arith::AndIOp op) {
    OpBuilder b(op);
    op.setOperand(1, arith::ConstantIntOp::create(b, op.getLoc(), 15, 32));
  });
  EXPECT_EQ(fusion::getRegionCost(generic.getRegion()).instructions,
            (1 + 2 + 1) / 8.0 + 5);
}

TEST(MathPrices, CountsQuotientsByConstants) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
func.func @f(%x: i32, %y: i32) {
  %c8 = arith.constant 8 : i32
  %c10 = arith.constant 10 : i32
  %0 = arith.divui %x, %c8 : i32
  %1 = arith.remui %x, %c8 : i32
  %2 = arith.divui %x, %c10 : i32
  %3 = arith.remui %x, %c10 : i32
  %4 = arith.remsi %x, %c8 : i32
  %5 = arith.divui %x, %y : i32
  return
})",
                                                             &context);
  ASSERT_TRUE(module);
  SmallVector<double> counts;
  module->walk([&](Operation *op) {
    if (op->getNumOperands() == 2)
      counts.push_back(fusion::getOpCost(op).instructions);
  });
  EXPECT_EQ(counts, (SmallVector<double>{1, 1, 2, 4, 3, 20}));
}
