//===- EntryBuilder.cpp - From a function to a launch plan ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the reading of a package's entry off a function of
// kernels: signature, buffers and steps.
//
//===----------------------------------------------------------------------===//

#include "EntryBuilder.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/SizeConditions.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/Executable/Package.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fusion;
using fusionpkg::Arg;
using fusionpkg::BufferKind;
using fusionpkg::ExprId;
using fusionpkg::ExprOp;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

ExprId EntryBuilder::convert(AffineExpr expr) {
  return convertSize(expr, shapes, entry.exprs);
}

FailureOr<std::vector<ExprId>> EntryBuilder::getDims(Value tensor) {
  FailureOr<SmallVector<AffineExpr>> shape = shapes.getShape(tensor);
  if (failed(shape)) {
    emitError(tensor.getLoc())
        << "FUS-4003: a size of this tensor cannot be computed from the sizes "
           "of the function's arguments; pass tensors of the size wanted";
    return failure();
  }
  std::vector<ExprId> dims;
  for (AffineExpr size : *shape)
    dims.push_back(convert(size));
  return dims;
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

FailureOr<fusionpkg::TensorSpec> EntryBuilder::buildSpec(Value value,
                                                         const Twine &name) {
  fusionpkg::TensorSpec spec;
  spec.name = name.str();
  std::optional<fusionpkg::DType> type =
      getDType(getElementTypeOrSelf(value.getType()));
  if (!type) {
    emitError(value.getLoc())
        << "FUS-1007: " << name << " of '" << func.getName() << "' has type "
        << value.getType() << ", which packages cannot pass";
    return failure();
  }
  spec.dtype = *type;
  spec.byValue = !isa<RankedTensorType>(value.getType());
  if (spec.byValue)
    return spec;
  FailureOr<std::vector<ExprId>> dims = getDims(value);
  if (failed(dims))
    return failure();
  spec.dims = std::move(*dims);
  return spec;
}

unsigned EntryBuilder::addBuffer(BufferKind kind, uint32_t index,
                                 const Twine &name) {
  fusionpkg::Buffer buffer;
  buffer.kind = kind;
  buffer.index = index;
  buffer.name = name.str();
  entry.buffers.push_back(std::move(buffer));
  return entry.buffers.size() - 1;
}

LogicalResult EntryBuilder::buildSignature() {
  entry.name = func.getName().str();
  for (const SymbolicShapes::Symbol &symbol : shapes.getSymbols()) {
    if (symbol.isDerived())
      continue;
    auto [argument, dim] = symbol.places.front();
    bool isScalar = symbol.kind == SymbolicShapes::SymbolKind::Scalar;
    entry.symbols.push_back({symbol.name, argument,
                             isScalar ? fusionpkg::Symbol::kFromScalar
                                      : static_cast<int32_t>(dim)});
  }
  for (auto [i, argument] : llvm::enumerate(func.getArguments())) {
    FailureOr<fusionpkg::TensorSpec> spec =
        buildSpec(argument, "arg" + Twine(i));
    if (failed(spec))
      return failure();
    if (!spec->byValue)
      buffers[argument] = addBuffer(BufferKind::Input, i, spec->name);
    entry.inputs.push_back(std::move(*spec));
  }
  SmallVector<BlockArgument> memories(func.getNumResults());
  for (BlockArgument argument : func.getArguments())
    if (auto result = func.getArgAttrOfType<IntegerAttr>(
            argument.getArgNumber(), FusionDialect::kOverwrittenByAttrName))
      memories[result.getInt()] = argument;
  Operation *terminator = func.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(terminator->getOperands())) {
    FailureOr<fusionpkg::TensorSpec> spec =
        buildSpec(result, "result" + Twine(i));
    if (failed(spec))
      return failure();
    Value base = stripViews(result);
    if (BlockArgument argument = memories[i]) {
      setOverwritten(argument.getArgNumber(), *spec);
      outputs.push_back(buffers.lookup(argument));
      if (getOverwritten(base) == argument)
        buffers[base] = outputs.back();
    } else {
      outputs.push_back(addBuffer(BufferKind::Output, i, spec->name));
      // A kernel writes straight into the first output that shows its result,
      // unless that lies in an argument.
      if (base.getDefiningOp<KernelOp>())
        setMemory(base, outputs.back());
    }
    entry.outputs.push_back(std::move(*spec));
  }
  return success();
}

void EntryBuilder::setOverwritten(unsigned input,
                                  fusionpkg::TensorSpec &output) {
  const fusionpkg::TensorSpec &memory = entry.inputs[input];
  output.overwrites = input;
  for (auto [dim, size, wanted] : llvm::zip_equal(
           llvm::seq<size_t>(0, memory.dims.size()), output.dims, memory.dims))
    if (size != wanted)
      entry.requirements.push_back(
          {entry.exprs.eq(size, wanted),
           ("dimension " + Twine(dim) + " of " + output.name + " is that of " +
            memory.name + ", which it overwrites")
               .str()});
  output.dims = memory.dims;
}

Value EntryBuilder::getOverwritten(Value result) {
  auto kernel = result.getDefiningOp<KernelOp>();
  if (!kernel)
    return nullptr;
  Value yielded =
      kernel.getYield().getValues()[cast<OpResult>(result).getResultNumber()];
  if (KernelOp::getStored(yielded) == yielded)
    return nullptr;
  auto dest = dyn_cast<BlockArgument>(
      stripViews(yielded.getDefiningOp<tensor::InsertSliceOp>().getDest()));
  if (!dest || dest.getOwner() != &kernel.getBlock())
    return nullptr;
  return stripViews(kernel.getInputs()[dest.getArgNumber()]);
}

void EntryBuilder::setMemory(Value result, unsigned buffer) {
  // What is written slice by slice lies in one buffer.
  for (Value tensor = result;
       tensor && buffers.try_emplace(tensor, buffer).second;)
    tensor = getOverwritten(tensor);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

FailureOr<unsigned> EntryBuilder::addTemporary(Value tensor) {
  FailureOr<std::vector<ExprId>> dims = getDims(tensor);
  std::optional<fusionpkg::DType> type =
      getDType(getElementTypeOrSelf(tensor.getType()));
  if (failed(dims))
    return failure();
  if (!type) {
    emitError(tensor.getLoc())
        << "FUS-4001: elements of type " << getElementTypeOrSelf(tensor)
        << " cannot be stored between kernels; use another type";
    return failure();
  }
  unsigned id =
      addBuffer(BufferKind::Temp, 0, "temp" + Twine(numTemporaries++));
  entry.buffers[id].bytes =
      fusionpkg::buildStorageBytes(entry.exprs, *type, *dims);
  return id;
}

void EntryBuilder::addFill(unsigned buffer, FillPattern pattern) {
  fusionpkg::Step step;
  step.kind = fusionpkg::StepKind::Fill;
  step.dst = buffer;
  step.fillWidth = pattern.width;
  step.fillBits = pattern.bits;
  entry.steps.push_back(std::move(step));
}

std::optional<FillPattern> EntryBuilder::getUniformValue(Value tensor) {
  // What nobody wrote is zero, rather than what was in memory before.
  if (tensor.getDefiningOp<tensor::EmptyOp>())
    return FillPattern();
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense)) && dense.isSplat() &&
      getDType(dense.getElementType()))
    return getFillPattern(dense.getSplatValue<Attribute>());
  return std::nullopt;
}

FailureOr<unsigned> EntryBuilder::getBuffer(Value tensor) {
  Value base = stripViews(tensor);
  if (auto known = buffers.find(base); known != buffers.end())
    return known->second;
  if (std::optional<FillPattern> pattern = getUniformValue(base)) {
    FailureOr<unsigned> id = addTemporary(base);
    if (failed(id))
      return failure();
    addFill(*id, *pattern);
    return buffers[base] = *id;
  }
  if (Operation *op = base.getDefiningOp(); op && isSliceInPlace(op))
    return getBuffer(op->getOperand(0));
  ElementsAttr constant;
  if (!matchPattern(base, m_Constant(&constant))) {
    emitError(base.getLoc())
        << "FUS-4004: nothing computes this tensor before it is read; report a "
           "bug with the program";
    return failure();
  }
  FailureOr<std::vector<char>> bytes = getStoredBytes(constant, base.getLoc());
  if (failed(bytes))
    return failure();
  uint32_t index = model.addConstant("", bytes->data(), bytes->size());
  unsigned id =
      addBuffer(BufferKind::Constant, index, "constant" + Twine(index));
  return buffers[base] = id;
}

/// True for a slice that lies in one piece, at a place that is known.
static bool isPiece(Operation *op) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice || !isSliceInPlace(op) ||
      slice.getType().getElementType().isInteger(4) || !slice.hasUnitStride() ||
      !slice.getSourceType().hasStaticShape() ||
      !slice.getType().hasStaticShape() ||
      ShapedType::isDynamicShape(slice.getStaticOffsets()) ||
      slice.getType().getRank() != slice.getSourceType().getRank())
    return false;
  // Whole rows behind one dimension, of which one stands before.
  bool isWhole = true;
  for (int64_t dim = slice.getType().getRank(); dim-- > 0;) {
    int64_t size = slice.getType().getDimSize(dim);
    if (!isWhole && size != 1)
      return false;
    isWhole &= size == slice.getSourceType().getDimSize(dim);
  }
  return true;
}

int64_t EntryBuilder::getByteOffset(Value tensor) {
  int64_t bytes = 0;
  for (Operation *op = stripViews(tensor).getDefiningOp();
       op && isSliceInPlace(op);
       op = stripViews(op->getOperand(0)).getDefiningOp()) {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    RankedTensorType type = slice.getSourceType();
    int64_t elements = 0;
    for (auto [offset, size] :
         llvm::zip_equal(slice.getStaticOffsets(), type.getShape()))
      elements = elements * size + offset;
    Type element = type.getElementType();
    bytes +=
        elements * (element.isIntOrFloat()
                        ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
                        : sizeof(int64_t));
  }
  return bytes;
}

FailureOr<Arg> EntryBuilder::getScalar(Value scalar) {
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return Arg::scalar(argument.getArgNumber());
  Type type = scalar.getType();
  FloatAttr number;
  if (type.isF32() && matchPattern(scalar, m_Constant(&number)))
    return Arg::f32(number.getValueAsDouble());
  if (type.isF64() && matchPattern(scalar, m_Constant(&number)))
    return Arg::f64(number.getValueAsDouble());
  bool isWord = type.isInteger(32);
  if (isWord || type.isInteger(64) || type.isIndex()) {
    FailureOr<AffineExpr> value = shapes.getIndex(scalar);
    if (succeeded(value))
      return isWord ? Arg::i32(convert(*value)) : Arg::i64(convert(*value));
  }
  emitError(scalar.getLoc())
      << "FUS-4005: a scalar of type " << type
      << " that kernels read is neither an argument of the function nor "
         "computed from sizes; compute it on a tensor of rank 0";
  return failure();
}

void EntryBuilder::addScratches(ArrayAttr scratches, fusionpkg::Step &step) {
  if (!scratches)
    return;
  for (auto scratch : scratches.getAsRange<DictionaryAttr>()) {
    if (scratch.getAs<BoolAttr>("signals").getValue()) {
      if (!signals)
        signals = addBuffer(BufferKind::Signals, 0, "signals");
      step.args.push_back(Arg::buffer(*signals));
      continue;
    }
    unsigned id =
        addBuffer(BufferKind::Temp, 0, "temp" + Twine(numTemporaries++));
    entry.buffers[id].bytes =
        entry.exprs.constant(scratch.getAs<IntegerAttr>("bytes").getInt());
    step.args.push_back(Arg::buffer(id));
  }
}

LogicalResult EntryBuilder::addArguments(KernelOp kernel,
                                         fusionpkg::Step &step) {
  for (Value input : kernel.getInputs()) {
    if (!isa<RankedTensorType>(input.getType())) {
      FailureOr<Arg> scalar = getScalar(input);
      if (failed(scalar))
        return failure();
      step.args.push_back(*scalar);
      continue;
    }
    FailureOr<unsigned> buffer = getBuffer(input);
    if (failed(buffer))
      return failure();
    int64_t offset = getByteOffset(input);
    step.args.push_back(Arg::buffer(
        *buffer, offset ? entry.exprs.constant(offset) : fusionpkg::kNoExpr));
  }
  for (Value result : kernel.getResults()) {
    if (!buffers.count(result)) {
      Value memory = getOverwritten(result);
      FailureOr<unsigned> id =
          memory ? getBuffer(memory) : addTemporary(result);
      if (failed(id))
        return failure();
      buffers[result] = *id;
    }
    step.args.push_back(Arg::buffer(buffers[result]));
  }
  return success();
}

LogicalResult EntryBuilder::addLaunch(ArrayRef<KernelOp> launched) {
  KernelOp kernel = launched.front();
  auto program = kernel->getAttrOfType<FlatSymbolRefAttr>("program");
  auto known = program ? kernels.find(program.getValue()) : kernels.end();
  if (known == kernels.end())
    return kernel.emitError("FUS-4006: kernel has no code; run the phases "
                            "before this one");
  const PackagedKernel &packaged = known->second;
  fusionpkg::Step step;
  for (KernelOp member : launched)
    if (failed(addArguments(member, step)))
      return failure();
  for (int64_t symbol : packaged.sizeArguments)
    step.args.push_back(
        Arg::i64(convert(getAffineSymbolExpr(symbol, func.getContext()))));
  addScratches(packaged.scratches, step);
  if (failed(addTensorMaps(kernel, packaged.tensorMaps, step)))
    return failure();
  if (step.args.size() != packaged.numParameters)
    return kernel.emitError("FUS-4006: the code of the kernel takes ")
           << packaged.numParameters << " parameters where the launch has "
           << step.args.size() << "; report a bug with the program";
  fusionpkg::LaunchVariant variant;
  variant.kernel = packaged.index;
  if (packaged.grid)
    variant.gridX = convert(packaged.grid.getResult(0));
  step.variants.push_back(variant);
  entry.steps.push_back(std::move(step));
  return success();
}

void EntryBuilder::addCopy(unsigned to, unsigned from) {
  fusionpkg::Step step;
  step.kind = fusionpkg::StepKind::Copy;
  step.dst = to;
  step.src = from;
  entry.steps.push_back(std::move(step));
}

LogicalResult EntryBuilder::addResult(unsigned output, Value result) {
  Value base = stripViews(result);
  if (std::optional<FillPattern> pattern = getUniformValue(base)) {
    addFill(output, *pattern);
    return success();
  }
  FailureOr<unsigned> source = getBuffer(base);
  if (failed(source))
    return failure();
  if (*source != output)
    addCopy(output, *source);
  return success();
}

LogicalResult EntryBuilder::addReturn(Operation *terminator) {
  auto results = llvm::zip_equal(outputs, terminator->getOperands());
  // What overwrites an argument comes last, when nobody reads that any more.
  for (auto [output, result] : results)
    if (!isOverwritten(entry, output) && failed(addResult(output, result)))
      return failure();
  // Of arguments that overwrite each other there is a copy first.
  for (auto [output, result] : results) {
    Value base = stripViews(result);
    auto known = buffers.find(base);
    if (!isOverwritten(entry, output) || !isa<BlockArgument>(base) ||
        known->second == output || !isOverwritten(entry, known->second))
      continue;
    FailureOr<unsigned> copy = addTemporary(base);
    if (failed(copy))
      return failure();
    addCopy(*copy, known->second);
    staged[base] = *copy;
  }
  for (auto [output, result] : results) {
    if (!isOverwritten(entry, output))
      continue;
    auto copy = staged.find(stripViews(result));
    if (copy != staged.end() && buffers.lookup(copy->first) != output)
      addCopy(output, copy->second);
    else if (failed(addResult(output, result)))
      return failure();
  }
  return success();
}

void EntryBuilder::buildSummary() {
  auto plan = func->getAttrOfType<DictionaryAttr>(FusionDialect::kPlanAttrName);
  if (!plan)
    return;
  auto get = [&](StringRef name) -> std::optional<int64_t> {
    if (auto number = plan.getAs<IntegerAttr>(name))
      return number.getInt();
    return std::nullopt;
  };
  fusionpkg::Summary &summary = entry.summary;
  summary.kernelsBefore = get("kernels_before").value_or(0);
  summary.kernelsAfter = get("kernels_after").value_or(0);
  if (auto time = plan.getAs<FloatAttr>("time_us"))
    summary.predictedMicroseconds = time.getValueAsDouble();
  // With dynamic sizes the plan's figures hold for assumed sizes only.
  if (!entry.symbols.empty())
    return;
  if (std::optional<int64_t> bytes = get("bytes_before"))
    summary.bytesBefore = entry.exprs.constant(*bytes);
  if (std::optional<int64_t> bytes = get("bytes_after"))
    summary.bytesAfter = entry.exprs.constant(*bytes);
}

/// `first`, and the kernels after it that start together with it.
static SmallVector<KernelOp> getLaunched(KernelOp first) {
  SmallVector<KernelOp> launched = {first};
  LaunchAttr launch = first.getLaunchAttr();
  for (Operation *op = first->getNextNode(); launch && op;
       op = op->getNextNode()) {
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel)
      continue;
    if (kernel.getLaunchAttr() != launch)
      break;
    launched.push_back(kernel);
  }
  return launched;
}

FailureOr<fusionpkg::Entry> EntryBuilder::build() {
  if (failed(buildSignature()))
    return failure();
  // The kernels of the last launch that are still to come.
  unsigned launchedBefore = 0;
  for (Operation &op : func.getBody().front()) {
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      if (launchedBefore > 0) {
        --launchedBefore;
        continue;
      }
      SmallVector<KernelOp> launched = getLaunched(kernel);
      if (failed(addLaunch(launched)))
        return failure();
      launchedBefore = launched.size() - 1;
    } else if (isa<func::ReturnOp>(op)) {
      if (failed(addReturn(&op)))
        return failure();
    } else if (!isViewOp(&op) && !isPiece(&op) &&
               !op.hasTrait<OpTrait::ConstantLike>() && !isFreeOp(&op)) {
      return op.emitOpError("FUS-4007: stands between kernels, where only "
                            "reshapes, constants and arithmetic on sizes can; "
                            "report a bug with the program");
    }
  }
  if (failed(addRequirements()))
    return failure();
  buildSummary();
  return std::move(entry);
}

FailureOr<fusionpkg::Entry> fusion::buildEntry(func::FuncOp func,
                                               const PackagedKernels &kernels,
                                               fusionpkg::PackageModel &model) {
  return EntryBuilder(func, kernels, model).build();
}
