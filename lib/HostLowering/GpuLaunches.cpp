//===- GpuLaunches.cpp - Host code of gpu ops -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements host code as ops of the gpu dialect: the steps of a
// launch plan, in order on one stream. What the dialect has no op for, as
// filling memory with bytes, is a call of the functions that upstream lowers
// the dialect to.
//
//===----------------------------------------------------------------------===//

#include "HostBody.h"
#include "fusion/Executable/BufferPlan.h"
#include "fusion/Executable/TensorMapWords.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fusion;
using fusionpkg::Arg;
using fusionpkg::ArgKind;
using fusionpkg::BufferKind;
using fusionpkg::ExprId;
using fusionpkg::kNoExpr;

static std::string getBinaryName(unsigned module) {
  return ("fusion_kernels_" + Twine(module)).str();
}

void fusion::addKernelBinaries(ModuleOp module,
                               const fusionpkg::PackageModel &model) {
  MLIRContext *context = module.getContext();
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  UnitAttr::get(context));
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto target = NVVM::NVVMTargetAttr::get(context, /*optLevel=*/2,
                                          "nvptx64-nvidia-cuda", model.target);
  for (auto [number, code] : llvm::enumerate(model.modules)) {
    auto object = gpu::ObjectAttr::get(
        context, target, gpu::CompilationTarget::Assembly,
        builder.getStringAttr(code.ptx), /*properties=*/DictionaryAttr(),
        /*kernels=*/gpu::KernelTableAttr());
    gpu::BinaryOp::create(builder, module.getLoc(), getBinaryName(number),
                          /*offloadingHandler=*/Attribute(),
                          ArrayRef<Attribute>{object});
  }
}

namespace {
/// Writes the steps of one entry.
class LaunchWriter {
public:
  LaunchWriter(HostBody &body, const fusionpkg::PackageModel &model,
               HostMemory memory, ModuleOp module)
      : body(body), entry(body.getEntry()), model(model), memory(memory),
        module(module), loc(body.getLoc()),
        pointer(LLVM::LLVMPointerType::get(body.getContext())),
        buffers(entry.buffers.size()) {}

  LogicalResult run();

private:
  LogicalResult refuse(const Twine &cause) {
    return emitCodedError(loc, ErrorCode::GpuForm, cause);
  }
  /// What sizes must fulfil.
  void assertSizes();
  void begin();
  void end();

  // Buffers.
  void allocate(unsigned buffer);
  void release(unsigned buffer);
  Value allocateLike(Value memref);
  Value getAddress(unsigned buffer, ExprId offset);
  Value getPointer(unsigned buffer, ExprId offset);
  Value getBytes(unsigned buffer);

  // Steps.
  LogicalResult writeStep(const fusionpkg::Step &step);
  LogicalResult writeLaunch(const fusionpkg::Step &step);
  FailureOr<Value> getArgument(const Arg &arg);
  Value getTensorMap(const fusionpkg::TensorMap &map);
  LogicalResult writeFill(const fusionpkg::Step &step);
  void writeCopy(const fusionpkg::Step &step);
  /// Waits for the stream, calls, and waits for what the call began.
  void callBetween(StringRef name, ArrayRef<Value> arguments);
  Type getTokenType() { return gpu::AsyncTokenType::get(body.getContext()); }
  Value createNull() { return LLVM::ZeroOp::create(body, loc, pointer); }

  HostBody &body;
  const fusionpkg::Entry &entry;
  const fusionpkg::PackageModel &model;
  HostMemory memory;
  ModuleOp module;
  Location loc;
  Type pointer;
  /// The memref on the device of each buffer.
  SmallVector<Value> buffers;
  /// The stream: what comes next waits for it.
  Value token;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

void LaunchWriter::assertSizes() {
  auto check = [&](Value condition, const Twine &message) {
    cf::AssertOp::create(body, loc, condition,
                         ("'" + entry.name + "': " + message).str());
  };
  for (auto [number, spec] : llvm::enumerate(entry.inputs))
    for (auto [dim, id] : llvm::enumerate(spec.dims)) {
      auto type = cast<MemRefType>(body.getInput(number).getType());
      if (!type.isDynamicDim(dim))
        continue;
      Value size = memref::DimOp::create(body, loc, body.getInput(number), dim);
      Value same = arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq,
                                         size, body.evaluate(id));
      check(same, "sizes of inputs do not agree");
    }
  for (const fusionpkg::Requirement &requirement : entry.requirements) {
    Value holds = body.evaluate(requirement.condition);
    check(arith::CmpIOp::create(body, loc, arith::CmpIPredicate::ne, holds,
                                body.createIndex(0)),
          requirement.message);
  }
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Value LaunchWriter::allocateLike(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(body, loc, memref, dim));
  return body.allocateOnDevice(type, sizes, token);
}

Value LaunchWriter::getBytes(unsigned buffer) {
  const fusionpkg::Buffer &what = entry.buffers[buffer];
  switch (what.kind) {
  case BufferKind::Temp:
    return body.evaluate(what.bytes);
  case BufferKind::Signals:
    return body.createIndex(fusionpkg::kSignalBytes);
  case BufferKind::Constant:
    return body.createIndex(model.constants[what.index].size);
  case BufferKind::Input:
  case BufferKind::Output:
    break;
  }
  auto type = cast<MemRefType>(buffers[buffer].getType());
  Value bytes =
      body.createIndex(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    bytes = arith::MulIOp::create(
        body, loc, bytes,
        memref::DimOp::create(body, loc, buffers[buffer], dim));
  return bytes;
}

/// Makes memory for what lies between kernels, and fills it where it does not
/// begin with anything.
void LaunchWriter::allocate(unsigned buffer) {
  const fusionpkg::Buffer &what = entry.buffers[buffer];
  Type element =
      what.kind == BufferKind::Signals ? body.getI32Type() : body.getI8Type();
  auto type = MemRefType::get({ShapedType::kDynamic}, element);
  Value bytes = getBytes(buffer);
  if (what.kind == BufferKind::Signals)
    bytes = body.createIndex(fusionpkg::kSignalBytes / 4);
  buffers[buffer] = body.allocateOnDevice(type, bytes, token);
  if (what.kind == BufferKind::Signals) {
    token = gpu::MemsetOp::create(body, loc, getTokenType(), ValueRange(token),
                                  buffers[buffer], body.createI32(0))
                .getAsyncToken();
  } else if (what.kind == BufferKind::Constant) {
    const fusionpkg::Constant &constant = model.constants[what.index];
    StringRef data(reinterpret_cast<const char *>(model.constantData.data()) +
                       constant.offset,
                   constant.size);
    Value from = createBytes(
        body, module, ("fusion_constant_" + Twine(what.index)).str(), data);
    callBetween("mgpuMemcpy", {getPointer(buffer, kNoExpr), from,
                               body.createI64(constant.size), createNull()});
  }
}

void LaunchWriter::release(unsigned buffer) {
  token = gpu::DeallocOp::create(body, loc, getTokenType(), ValueRange(token),
                                 buffers[buffer])
              .getAsyncToken();
}

Value LaunchWriter::getAddress(unsigned buffer, ExprId offset) {
  Value address = body.getAddress(buffers[buffer]);
  if (offset == kNoExpr)
    return address;
  return arith::AddIOp::create(body, loc, address,
                               body.asI64(body.evaluate(offset)));
}

Value LaunchWriter::getPointer(unsigned buffer, ExprId offset) {
  return LLVM::IntToPtrOp::create(body, loc, pointer,
                                  getAddress(buffer, offset));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void LaunchWriter::callBetween(StringRef name, ArrayRef<Value> arguments) {
  body.waitFor(token);
  Type none = LLVM::LLVMVoidType::get(body.getContext());
  body.callRuntime(name, none, arguments);
  body.callRuntime("mgpuStreamSynchronize", none, {createNull()});
  token = body.beginStream();
}

void LaunchWriter::writeCopy(const fusionpkg::Step &step) {
  Value bytes =
      step.bytes == kNoExpr ? getBytes(step.dst) : body.evaluate(step.bytes);
  callBetween("mgpuMemcpy", {getPointer(step.dst, step.dstOffset),
                             getPointer(step.src, step.srcOffset),
                             body.asI64(bytes), createNull()});
}

/// Memory is filled with 4 bytes at a time, or 2.
LogicalResult LaunchWriter::writeFill(const fusionpkg::Step &step) {
  uint64_t bits = step.fillBits;
  for (unsigned width = step.fillWidth; width < 8; width *= 2)
    bits |= bits << (width * 8);
  auto low = static_cast<uint32_t>(bits);
  if (low != static_cast<uint32_t>(bits >> 32))
    return refuse("a tensor is filled with elements of 8 bytes that are not "
                  "twice the same 4");
  Value bytes =
      step.bytes == kNoExpr ? getBytes(step.dst) : body.evaluate(step.bytes);
  // Allocations end at multiples of 4; a slice of bytes need not.
  unsigned unit = step.fillWidth >= 4 ? 4 : 2;
  if (step.fillWidth == 1 &&
      (step.bytes != kNoExpr || step.dstOffset != kNoExpr ||
       memory == HostMemory::Device))
    return refuse("a part of a tensor is filled with elements of one byte");
  Value count =
      arith::CeilDivUIOp::create(body, loc, bytes, body.createIndex(unit));
  Value pattern = unit == 4 ? body.createI32(static_cast<int32_t>(low))
                            : arith::ConstantIntOp::create(
                                  body, loc, static_cast<int16_t>(low), 16)
                                  .getResult();
  callBetween(unit == 4 ? "mgpuMemset32" : "mgpuMemset16",
              {getPointer(step.dst, step.dstOffset), pattern, body.asI64(count),
               createNull()});
  return success();
}

/// The map is encoded when the kernel starts, on the stack.
Value LaunchWriter::getTensorMap(const fusionpkg::TensorMap &map) {
  auto words = fusionpkg::writeTensorMapWords(map);
  Value list = body.createStack(body.getI64Type(), words.size(), 8);
  for (auto [number, word] : llvm::enumerate(words))
    body.storeElement(
        list, number,
        word.isExpr ? body.asI64(body.evaluate(static_cast<ExprId>(word.value)))
                    : body.createI64(word.value));
  constexpr unsigned kBytes = 128, kAlignment = 64;
  auto type = LLVM::LLVMArrayType::get(body.getI8Type(), kBytes);
  Value place = body.createStack(type, 1, kAlignment);
  body.callRuntime(
      "mgpuFusionEncodeTensorMap", LLVM::LLVMVoidType::get(body.getContext()),
      {place, getPointer(map.buffer, map.offset),
       body.asI64(getBytes(map.buffer)), list, body.createI64(words.size())});
  return LLVM::LoadOp::create(body, loc, type, place, kAlignment);
}

FailureOr<Value> LaunchWriter::getArgument(const Arg &arg) {
  switch (arg.kind) {
  case ArgKind::Buffer:
    return getPointer(arg.index, arg.expr);
  case ArgKind::I64:
    return body.asI64(body.evaluate(arg.expr));
  case ArgKind::I32: {
    Value wide = body.asI64(body.evaluate(arg.expr));
    Value narrow = arith::TruncIOp::create(body, loc, body.getI32Type(), wide);
    if (!body.getConstant(arg.expr)) {
      Value again =
          arith::ExtSIOp::create(body, loc, body.getI64Type(), narrow);
      Value fits = arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq,
                                         wide, again);
      cf::AssertOp::create(body, loc, fits,
                           "'" + entry.name + "': a size does not fit 32 bits");
    }
    return narrow;
  }
  case ArgKind::F64:
    return arith::ConstantOp::create(body, loc,
                                     body.getF64FloatAttr(arg.number))
        .getResult();
  case ArgKind::F32:
    return arith::ConstantOp::create(
               body, loc, body.getF32FloatAttr(static_cast<float>(arg.number)))
        .getResult();
  case ArgKind::Scalar: {
    Value scalar = body.getInput(arg.index);
    if (scalar.getType().isIndex())
      return body.asI64(scalar);
    if (scalar.getType().isInteger(1))
      return arith::ExtUIOp::create(body, loc, body.getI8Type(), scalar)
          .getResult();
    return scalar;
  }
  case ArgKind::TensorMap:
    return getTensorMap(entry.tensorMaps[arg.index]);
  }
  llvm_unreachable("every kind of argument");
}

LogicalResult LaunchWriter::writeLaunch(const fusionpkg::Step &step) {
  if (step.variants.size() != 1 || step.variants[0].guard != kNoExpr)
    return refuse("a launch has variants");
  const fusionpkg::LaunchVariant &variant = step.variants[0];
  const fusionpkg::Kernel &kernel = model.kernels[variant.kernel];
  if (kernel.together > 1)
    return refuse("blocks of the kernel '" + kernel.name +
                  "' wait for each other, for which it has to start as a "
                  "cooperative launch");
  SmallVector<Value> arguments;
  for (const Arg &arg : step.args) {
    FailureOr<Value> value = getArgument(arg);
    if (failed(value))
      return failure();
    arguments.push_back(*value);
  }
  bool isKnown = true;
  Value some;
  auto extent = [&](ExprId id) {
    if (id == kNoExpr)
      return body.createIndex(1);
    Value size = body.evaluate(id);
    if (body.getConstant(id).value_or(0) == 0) {
      isKnown = false;
      Value isSome = arith::CmpIOp::create(body, loc, arith::CmpIPredicate::ne,
                                           size, body.createIndex(0));
      some = some ? arith::AndIOp::create(body, loc, some, isSome) : isSome;
    }
    return size;
  };
  Value one = body.createIndex(1);
  gpu::KernelDim3 grid{extent(variant.gridX), extent(variant.gridY),
                       extent(variant.gridZ)};
  gpu::KernelDim3 block{body.createIndex(kernel.blockX), one, one};
  std::optional<gpu::KernelDim3> cluster;
  if (kernel.clusterX > 1)
    cluster = gpu::KernelDim3{body.createIndex(kernel.clusterX), one, one};
  Value shared =
      variant.sharedBytes == kNoExpr
          ? body.createI32(kernel.dynamicSharedBytes)
          : arith::IndexCastOp::create(body, loc, body.getI32Type(),
                                       body.evaluate(variant.sharedBytes))
                .getResult();
  auto symbol = SymbolRefAttr::get(
      body.getContext(), getBinaryName(kernel.module),
      {FlatSymbolRefAttr::get(body.getContext(), kernel.name)});
  if (isKnown) {
    auto launch = gpu::LaunchFuncOp::create(body, loc, symbol, grid, block,
                                            shared, arguments, getTokenType(),
                                            ValueRange(token), cluster);
    token = launch.getAsyncToken();
    return success();
  }
  // No grid is empty. A token cannot leave a branch, so that this waits.
  body.waitFor(token);
  auto branch = scf::IfOp::create(body, loc, some, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(body);
    body.setInsertionPointToStart(branch.thenBlock());
    gpu::LaunchFuncOp::create(body, loc, symbol, grid, block, shared, arguments,
                              Type(), ValueRange(), cluster);
  }
  token = body.beginStream();
  return success();
}

LogicalResult LaunchWriter::writeStep(const fusionpkg::Step &step) {
  switch (step.kind) {
  case fusionpkg::StepKind::Launch:
    return writeLaunch(step);
  case fusionpkg::StepKind::Copy:
    writeCopy(step);
    return success();
  case fusionpkg::StepKind::Fill:
    return writeFill(step);
  }
  llvm_unreachable("every kind of step");
}

/// Brings what is passed to the device.
void LaunchWriter::begin() {
  token = body.beginStream();
  for (auto [number, buffer] : llvm::enumerate(entry.buffers)) {
    if (buffer.kind != BufferKind::Input && buffer.kind != BufferKind::Output)
      continue;
    bool isInput = buffer.kind == BufferKind::Input;
    Value own =
        isInput ? body.getInput(buffer.index) : body.getOutput(buffer.index);
    buffers[number] = own;
    if (memory == HostMemory::Device)
      continue;
    buffers[number] = allocateLike(own);
    if (isInput)
      body.copyOnDevice(buffers[number], own, token);
  }
}

/// Brings the results back.
void LaunchWriter::end() {
  for (auto [number, buffer] : llvm::enumerate(entry.buffers)) {
    if (memory == HostMemory::Device)
      break;
    if (buffer.kind == BufferKind::Output)
      body.copyOnDevice(body.getOutput(buffer.index), buffers[number], token);
    for (auto [output, spec] : llvm::enumerate(entry.outputs))
      if (buffer.kind == BufferKind::Input && spec.overwrites == buffer.index)
        body.copyOnDevice(body.getOutput(output), buffers[number], token);
    if (buffer.kind == BufferKind::Input || buffer.kind == BufferKind::Output)
      release(number);
  }
  body.waitFor(token);
}

LogicalResult LaunchWriter::run() {
  assertSizes();
  begin();
  std::vector<fusionpkg::Lifetime> lives = fusionpkg::computeLifetimes(entry);
  auto isOwn = [&](unsigned buffer) {
    BufferKind kind = entry.buffers[buffer].kind;
    return kind != BufferKind::Input && kind != BufferKind::Output;
  };
  for (auto [number, step] : llvm::enumerate(entry.steps)) {
    for (unsigned buffer = 0; buffer < lives.size(); ++buffer)
      if (isOwn(buffer) && lives[buffer].first == number &&
          lives[buffer].last >= number)
        allocate(buffer);
    if (failed(writeStep(step)))
      return failure();
    for (unsigned buffer = 0; buffer < lives.size(); ++buffer)
      if (isOwn(buffer) && lives[buffer].last == number &&
          lives[buffer].first <= number)
        release(buffer);
  }
  end();
  return success();
}

LogicalResult fusion::writeGpuLaunches(func::FuncOp func,
                                       const fusionpkg::Entry &entry,
                                       const fusionpkg::PackageModel &model,
                                       HostMemory memory) {
  HostBody body(func, entry, memory);
  if (failed(
          LaunchWriter(body, model, memory, func->getParentOfType<ModuleOp>())
              .run()))
    return failure();
  body.finish();
  return success();
}
