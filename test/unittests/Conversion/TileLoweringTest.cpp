//===- TileLoweringTest.cpp - Tests of lowerings from outside -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests that others can have operations of tile programs lowered: by
// what they add to the public sets, and by what their dialect adds to the pass.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/Passes.h"
#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {

/// Two of its operand: an operation that the project has not.
class TwiceOp : public Op<TwiceOp, OpTrait::ZeroRegions, OpTrait::OneResult,
                          OpTrait::OneTypedResult<Type>::Impl,
                          OpTrait::ZeroSuccessors, OpTrait::OneOperand> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TwiceOp)
  using Op::Op;
  static StringRef getOperationName() { return "guest.twice"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

struct TwiceLowering : public TileOpLowering<TwiceOp> {
  LogicalResult lower(TwiceOp op, ProgramLowering &lowering) const override {
    Scalars results;
    for (Value scalar : lowering.get(op->getOperand(0)))
      results.push_back(lowering.getBuilder().createSum(scalar, scalar));
    lowering.set(op->getResult(0), results);
    return success();
  }
};

struct GuestInterface : public TileLoweringInterface {
  using TileLoweringInterface::TileLoweringInterface;
  void populateLowerings(LoweringSet &lowerings) const override {
    lowerings.add<TwiceLowering>();
  }
};

class GuestDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GuestDialect)
  explicit GuestDialect(MLIRContext *context)
      : Dialect("guest", context, TypeID::get<GuestDialect>()) {
    addOperations<TwiceOp>();
    addInterfaces<GuestInterface>();
  }
  static StringRef getDialectNamespace() { return "guest"; }
};

/// Lowers square roots of numbers known to be 1, and no others.
struct RootOfOneLowering : public TileOpLowering<math::SqrtOp> {
  bool matches(math::SqrtOp op) const override { return op->hasAttr("of_one"); }
  LogicalResult lower(math::SqrtOp op,
                      ProgramLowering &lowering) const override {
    lowering.set(op.getResult(), Scalars(lowering.get(op.getOperand())));
    return success();
  }
};

class TileLoweringTest : public testing::Test {
protected:
  TileLoweringTest() {
    context.loadDialect<GuestDialect, tile::TileDialect, arith::ArithDialect,
                        gpu::GPUDialect, LLVM::LLVMDialect, math::MathDialect,
                        NVVM::NVVMDialect, scf::SCFDialect,
                        vector::VectorDialect>();
  }

  /// A program that does `body` to the tile %t of four elements a thread, for
  /// the tile %r.
  OwningOpRef<ModuleOp> parse(StringRef body) {
    std::string text = (R"(
      #l = #fusion_tile.layout<"{reg=[[1],[2]], lane=[[4],[8],[16],[32],[64]], warp=[], shape=[128]}">
      fusion_tile.program @f(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
        %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128xf32>
        %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<128xf32> -> tensor<128xf32, #l>
        )" + body + R"(
        fusion_tile.store %r, %x[affine_map<(a) -> (a)>] () checked [false] : tensor<128xf32, #l>, !fusion_tile.view<128xf32>
        fusion_tile.return
      })")
                           .str();
    return parseSourceString<ModuleOp>(text, &context);
  }

  template <typename OpT>
  static int count(ModuleOp module) {
    int number = 0;
    module.walk([&](OpT) { ++number; });
    return number;
  }

  MLIRContext context;
};

const char kTwice[] = R"(%r = "guest.twice"(%t)
    : (tensor<128xf32, #l>) -> tensor<128xf32, #l>)";

TEST_F(TileLoweringTest, SetTakesLoweringsFromOutside) {
  OwningOpRef<ModuleOp> module = parse(kTwice);
  ASSERT_TRUE(module);
  LoweringSet lowerings;
  populateTileToNVVMLowerings(lowerings);
  lowerings.add<TwiceLowering>();
  ASSERT_TRUE(succeeded(convertTileToNVVM(*module, lowerings)));
  // One for each element that a thread holds.
  EXPECT_EQ(count<arith::AddFOp>(*module), 4);
  EXPECT_EQ(count<TwiceOp>(*module), 0);
}

TEST_F(TileLoweringTest, OperationsWithoutLoweringAreRefused) {
  OwningOpRef<ModuleOp> module = parse(kTwice);
  ASSERT_TRUE(module);
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  LoweringSet lowerings;
  populateTileToNVVMLowerings(lowerings);
  EXPECT_TRUE(failed(convertTileToNVVM(*module, lowerings)));
  EXPECT_EQ(message, "'guest.twice' op FUS-3302: no per-thread form");
}

TEST_F(TileLoweringTest, PassTakesLoweringsOfDialects) {
  OwningOpRef<ModuleOp> module = parse(kTwice);
  ASSERT_TRUE(module);
  PassManager manager(&context);
  manager.addPass(createTileToNVVMPass());
  ASSERT_TRUE(succeeded(manager.run(*module)));
  EXPECT_EQ(count<arith::AddFOp>(*module), 4);
}

TEST_F(TileLoweringTest, LoweringAddedLastIsTakenWhereItMatches) {
  OwningOpRef<ModuleOp> module = parse(R"(
    %u = math.sqrt %t {of_one} : tensor<128xf32, #l>
    %r = math.sqrt %u : tensor<128xf32, #l>)");
  ASSERT_TRUE(module);
  LoweringSet lowerings;
  populateTileToNVVMLowerings(lowerings);
  lowerings.add<RootOfOneLowering>();
  ASSERT_TRUE(succeeded(convertTileToNVVM(*module, lowerings)));
  EXPECT_EQ(count<math::SqrtOp>(*module), 4);
}

} // namespace
