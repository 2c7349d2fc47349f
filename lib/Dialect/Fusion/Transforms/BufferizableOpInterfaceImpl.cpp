//===- BufferizableOpInterfaceImpl.cpp - Kernels in bufferization ---------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what one-shot bufferization needs to know of kernels.
// It takes every op on tensors below what it is run on, and inner ones first;
// the body of a kernel has to stay on tensors. So the body is put away as text
// when conflicts are resolved, which is before anything is bufferized, and read
// again when the kernel's turn comes.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/Transforms/BufferizableOpInterfaceImpl.h"
#include "fusion/Dialect/Fusion/FusionBufferOps.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::bufferization;

/// The body that was put away, as the text of a module with one kernel.
static constexpr StringLiteral kBodyAttrName = "body_text";
/// While it is: for each result the number of the input whose memory it has, or
/// -1.
static constexpr StringLiteral kOverwrittenAttrName = "overwritten";

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

/// The number of the input whose memory result `index` of `kernel` has.
static std::optional<unsigned> getOverwrittenInput(KernelOp kernel,
                                                   unsigned index) {
  auto known = kernel->getAttrOfType<DenseI64ArrayAttr>(kOverwrittenAttrName);
  if (!known)
    return getOverwrittenArgument(kernel.getYield().getValues()[index]);
  if (known[index] < 0)
    return std::nullopt;
  return known[index];
}

/// Makes of copies, which analysis of the body asked for, what they are of: on
/// tensors they are the same.
static void dropCopies(RewriterBase &rewriter, KernelOp kernel) {
  kernel.getBody().walk([&](AllocTensorOp alloc) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(alloc);
    if (alloc.getCopy())
      rewriter.replaceOp(alloc, alloc.getCopy());
    else
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(alloc, alloc.getType(),
                                                   alloc.getDynamicSizes());
  });
}

/// Replaces the body of `kernel` by its text.
static void putBodyAway(RewriterBase &rewriter, KernelOp kernel) {
  dropCopies(rewriter, kernel);
  SmallVector<int64_t> overwritten;
  for (unsigned index = 0; index < kernel.getNumResults(); ++index) {
    std::optional<unsigned> input = getOverwrittenInput(kernel, index);
    overwritten.push_back(input ? static_cast<int64_t>(*input) : -1);
  }
  Location loc = kernel.getLoc();
  OwningOpRef<ModuleOp> holder = ModuleOp::create(loc);
  OpBuilder builder = OpBuilder::atBlockBegin(holder->getBody());
  OperationState state(loc, KernelOp::getOperationName());
  state.addAttribute("kernel_name", kernel.getKernelNameAttr());
  state.addRegion()->takeBody(kernel.getBody());
  builder.create(state);
  std::string text;
  llvm::raw_string_ostream os(text);
  holder->print(os, OpPrintingFlags()
                        .printGenericOpForm()
                        .enableDebugInfo()
                        .useLocalScope()
                        .assumeVerified());
  kernel.getBody().emplaceBlock();
  kernel->setAttr(kBodyAttrName, builder.getStringAttr(text));
  kernel->setAttr(kOverwrittenAttrName,
                  builder.getDenseI64ArrayAttr(overwritten));
}

/// Gives `kernel` its body again.
static LogicalResult takeBodyBack(KernelOp kernel) {
  auto text = kernel->getAttrOfType<StringAttr>(kBodyAttrName);
  if (!text)
    return success();
  OwningOpRef<ModuleOp> holder = parseSourceString<ModuleOp>(
      text.getValue(),
      ParserConfig(kernel.getContext(), /*verifyAfterParse=*/false));
  if (!holder)
    return failure();
  auto read = cast<KernelOp>(holder->getBody()->front());
  kernel.getBody().takeBody(read.getBody());
  kernel->removeAttr(kBodyAttrName);
  kernel->removeAttr(kOverwrittenAttrName);
  return success();
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Memory for `tensor`, row by row without gaps.
static MemRefType getKernelMemory(RankedTensorType tensor,
                                  Attribute memorySpace) {
  return cast<MemRefType>(
      getMemRefTypeWithStaticIdentityLayout(tensor, memorySpace));
}

/// The memory of operand `value` of `kernel`, as kernels take it: what has gaps
/// is copied, but where the kernel is to write to it.
static FailureOr<Value> getInputMemory(RewriterBase &rewriter, KernelOp kernel,
                                       Value value, bool isOverwritten,
                                       const BufferizationOptions &options,
                                       BufferizationState &state) {
  FailureOr<Value> buffer = getBuffer(rewriter, value, options, state);
  if (failed(buffer))
    return failure();
  auto type = dyn_cast<MemRefType>(buffer->getType());
  if (type && type.getLayout().isIdentity())
    return buffer;
  if (!type || isOverwritten)
    return emitCodedError(kernel.getLoc(), ErrorCode::KernelMemory,
                          "'" + kernel.getKernelName() +
                              "' would write to memory with gaps or an offset");
  Location loc = kernel.getLoc();
  auto dense =
      MemRefType::get(type.getShape(), type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(rewriter, loc, *buffer, dim));
  FailureOr<Value> copy = options.createAlloc(rewriter, loc, dense, sizes);
  if (failed(copy) ||
      failed(options.createMemCpy(rewriter, loc, *buffer, *copy)))
    return failure();
  return copy;
}

namespace {
struct KernelModel
    : public BufferizableOpInterface::ExternalModel<KernelModel, KernelOp> {
  static std::optional<unsigned> getResultOf(Operation *op,
                                             OpOperand &operand) {
    auto kernel = cast<KernelOp>(op);
    for (unsigned index = 0; index < kernel.getNumResults(); ++index)
      if (getOverwrittenInput(kernel, index) == operand.getOperandNumber())
        return index;
    return std::nullopt;
  }

  bool bufferizesToAllocation(Operation *op, Value value) const {
    auto result = dyn_cast<OpResult>(value);
    return result &&
           !getOverwrittenInput(cast<KernelOp>(op), result.getResultNumber());
  }

  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }

  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    return getResultOf(op, operand).has_value();
  }

  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    if (std::optional<unsigned> index = getResultOf(op, operand))
      return {{op->getResult(*index), BufferRelation::Equivalent}};
    return {};
  }

  /// The body works on tensors of its own.
  bool isWritable(Operation *, Value, const AnalysisState &) const {
    return true;
  }

  LogicalResult resolveConflicts(Operation *op, RewriterBase &rewriter,
                                 const AnalysisState &analysisState,
                                 const BufferizationState &state) const {
    if (failed(
            cast<BufferizableOpInterface>(op).resolveTensorOpOperandConflicts(
                rewriter, analysisState, state)))
      return failure();
    auto kernel = cast<KernelOp>(op);
    if (!kernel->hasAttr(kBodyAttrName))
      putBodyAway(rewriter, kernel);
    return success();
  }

  FailureOr<BufferLikeType>
  getBufferType(Operation *op, Value value, const BufferizationOptions &options,
                const BufferizationState &state,
                SmallVector<Value> &invocationStack) const {
    auto result = cast<OpResult>(value);
    auto kernel = cast<KernelOp>(op);
    if (std::optional<unsigned> input =
            getOverwrittenInput(kernel, result.getResultNumber()))
      return bufferization::getBufferType(kernel.getInputs()[*input], options,
                                          state, invocationStack);
    auto tensor = cast<RankedTensorType>(result.getType());
    return cast<BufferLikeType>(getKernelMemory(
        tensor, options.defaultMemorySpaceFn(tensor).value_or(Attribute())));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const;

private:
  /// Memory for the results of `kernel`, which reads `inputs`.
  static LogicalResult addOutputs(RewriterBase &rewriter, KernelOp kernel,
                                  ArrayRef<Value> inputs,
                                  const BufferizationOptions &options,
                                  SmallVectorImpl<Value> &outputs);
};
} // namespace

LogicalResult KernelModel::addOutputs(RewriterBase &rewriter, KernelOp kernel,
                                      ArrayRef<Value> inputs,
                                      const BufferizationOptions &options,
                                      SmallVectorImpl<Value> &outputs) {
  Location loc = kernel.getLoc();
  ReifiedRankedShapedTypeDims shapes;
  if (failed(kernel.reifyResultShapes(rewriter, shapes)))
    return failure();
  for (OpResult result : kernel->getResults()) {
    unsigned index = result.getResultNumber();
    if (std::optional<unsigned> input = getOverwrittenInput(kernel, index)) {
      outputs.push_back(inputs[*input]);
      continue;
    }
    auto tensor = cast<RankedTensorType>(result.getType());
    SmallVector<Value> sizes;
    for (int64_t dim = 0; dim < tensor.getRank(); ++dim) {
      if (!tensor.isDynamicDim(dim))
        continue;
      if (!shapes[index][dim])
        return kernel.emitError("FUS-3101: a size of the kernel depends on "
                                "data");
      sizes.push_back(
          getValueOrCreateConstantIndexOp(rewriter, loc, shapes[index][dim]));
    }
    Attribute space =
        options.defaultMemorySpaceFn(tensor).value_or(Attribute());
    FailureOr<Value> memory = options.createAlloc(
        rewriter, loc, getKernelMemory(tensor, space), sizes);
    if (failed(memory))
      return failure();
    outputs.push_back(*memory);
  }
  return success();
}

LogicalResult KernelModel::bufferize(Operation *op, RewriterBase &rewriter,
                                     const BufferizationOptions &options,
                                     BufferizationState &state) const {
  auto kernel = cast<KernelOp>(op);
  if (failed(takeBodyBack(kernel)))
    return failure();
  SmallVector<Value> inputs, outputs;
  for (OpOperand &operand : kernel.getInputsMutable()) {
    Value value = operand.get();
    if (!isa<TensorType>(value.getType())) {
      inputs.push_back(value);
      continue;
    }
    FailureOr<Value> memory =
        getInputMemory(rewriter, kernel, value,
                       getResultOf(op, operand).has_value(), options, state);
    if (failed(memory))
      return failure();
    inputs.push_back(*memory);
  }
  if (failed(addOutputs(rewriter, kernel, inputs, options, outputs)))
    return failure();
  auto onMemory = BufferKernelOp::create(
      rewriter, kernel.getLoc(), kernel.getKernelName(), inputs, outputs,
      kernel.getScheduleAttr(), kernel.getEstimateAttr());
  // Not by the rewriter, which would bufferize what is inside.
  onMemory.getBody().takeBody(kernel.getBody());
  kernel.getBody().emplaceBlock();
  replaceOpWithBufferizedValues(rewriter, kernel, outputs);
  return success();
}

void fusion::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, FusionDialect *) {
    KernelOp::attachInterface<KernelModel>(*context);
    context->loadDialect<BufferizationDialect, memref::MemRefDialect,
                         tensor::TensorDialect>();
  });
}
