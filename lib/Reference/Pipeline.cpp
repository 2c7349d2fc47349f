//===- Pipeline.cpp - From tensors to CPU code ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pipeline of the reference, and the small passes in
// it that only wrap patterns.
//
//===----------------------------------------------------------------------===//

#include "ScatterToLoops.h"
#include "SlicesToElements.h"
#include "fusion/Analysis/Slices.h"
#include "fusion/Reference/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToFuncs/MathToFuncs.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_COPIESTOLOOPSPASS
#define GEN_PASS_DEF_DECOMPOSEFORLOOPSPASS
#define GEN_PASS_DEF_ELEMENTWISETOGENERICPASS
#define GEN_PASS_DEF_PREPAREBUFFERSPASS
#include "fusion/Reference/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;

namespace {

/// Packs and unpacks as pads, reshapes and transpositions.
struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op);
  }
};
struct LowerUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerUnPack(rewriter, op);
  }
};

struct ElementwiseToGenericPass
    : fusion::impl::ElementwiseToGenericPassBase<ElementwiseToGenericPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    auto config =
        GreedyRewriteConfig()
            .enableFolding(false)
            .enableConstantCSE(false)
            .setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
    getOperation().walk([](Operation *op) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        fusion::expandRankReduction(slice);
      else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
        fusion::expandRankReduction(insert);
      else if (auto pad = dyn_cast<tensor::PadOp>(op))
        fusion::cutNegativePadding(pad);
    });
  }
};

struct DecomposeForLoopsPass
    : fusion::impl::DecomposeForLoopsPassBase<DecomposeForLoopsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerPack, LowerUnPack>(&getContext());
    fusion::populateScatterToLoops(patterns);
    fusion::populateSlicesToElements(patterns);
    linalg::populateDecomposePadPatterns(patterns);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // What the program allows for an op, such as tf32, stays on the generic.
    SmallVector<linalg::LinalgOp> named;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op))
        named.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : named) {
      SmallVector<NamedAttribute> attributes(op->getDiscardableAttrs());
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> generic =
          linalg::generalizeNamedOp(rewriter, op);
      if (failed(generic)) {
        op->emitOpError("has no form as a linalg.generic");
        return signalPassFailure();
      }
      for (NamedAttribute attribute : attributes)
        (*generic)->setDiscardableAttr(attribute.getName(),
                                       attribute.getValue());
    }
  }
};

/// Gives `slice` a buffer of its own.
static void copySlice(tensor::ExtractSliceOp slice) {
  OpBuilder b(slice->getContext());
  b.setInsertionPointAfter(slice);
  Value copy = bufferization::AllocTensorOp::create(
      b, slice.getLoc(), slice.getType(), /*dynamicSizes=*/ValueRange(),
      /*copy=*/slice.getResult());
  slice.getResult().replaceAllUsesExcept(copy, copy.getDefiningOp());
}

/// Makes the result of `op` anew if it collapses no elements to a dimension of
/// dynamic size.
static void replaceEmptyCollapse(tensor::CollapseShapeOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  bool isEmpty = llvm::is_contained(op.getSrcType().getShape(), 0);
  RankedTensorType type = op.getResultType();
  if (!isEmpty || type.hasStaticShape())
    return;
  SmallVector<Value> sizes;
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (!type.isDynamicDim(dim))
      continue;
    Value size = arith::ConstantIndexOp::create(b, 1);
    for (int64_t source : group)
      size = arith::MulIOp::create(
          b, size, tensor::DimOp::create(b, op.getSrc(), source));
    sizes.push_back(size);
  }
  op.replaceAllUsesWith(
      bufferization::AllocTensorOp::create(b, type, sizes).getResult());
  op.erase();
}

struct PrepareBuffersPass
    : fusion::impl::PrepareBuffersPassBase<PrepareBuffersPass> {
  void runOnOperation() override {
    getOperation().walk(copySlice);
    getOperation().walk(replaceEmptyCollapse);
  }
};

struct CopiesToLoopsPass
    : fusion::impl::CopiesToLoopsPassBase<CopiesToLoopsPass> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp op) {
      auto isDense = [](Value value) {
        auto type = dyn_cast<MemRefType>(value.getType());
        return type && type.getLayout().isIdentity();
      };
      if (!isDense(op.getSource()) || !isDense(op.getTarget()))
        copies.push_back(op);
    });
    for (memref::CopyOp op : copies) {
      OpBuilder b(op);
      linalg::CopyOp::create(b, op.getLoc(), op.getSource(), op.getTarget());
      op.erase();
    }
  }
};

} // namespace

void fusion::buildBoundingPipeline(OpPassManager &pm) {
  pm.addPass(fusion::createElementwiseToGenericPass());
  pm.addPass(fusion::createDecomposeForLoopsPass());
  pm.addPass(fusion::createFirstNaNPass());
  pm.addPass(fusion::createBoundFloatsPass());
}

/// Checks of what would read or write out of bounds, and loops in good order.
static void addCheckPasses(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  pm.addPass(fusion::createTotalDivisionPass());
  pm.addPass(createGenerateRuntimeVerificationPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(fusion::createOrderLoopsPass());
}

/// Tensors to buffers; every buffer but the results is freed.
static void addBufferPasses(OpPassManager &pm) {
  pm.addPass(fusion::createPrepareBuffersPass());
  bufferization::OneShotBufferizePassOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  options.allowReturnAllocsFromLoops = true;
  pm.addPass(bufferization::createOneShotBufferizePass(options));
  pm.addPass(createCanonicalizerPass());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addPass(fusion::createCopiesToLoopsPass());
}

/// Loops over scalars, and machine code for them.
static void addLLVMPasses(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createConvertMathToFuncs());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertComplexToLLVMPass());
  pm.addPass(createSCFToControlFlowPass());
  // Functions of this name are not known to LLVM: what they give has contents.
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useGenericFunctions = true;
  pm.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
}

void fusion::buildReferencePipeline(OpPassManager &pm) {
  addCheckPasses(pm);
  addBufferPasses(pm);
  addLLVMPasses(pm);
}
