//===- ProgramLowering.cpp - Distributes a program over threads -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the frame of the distribution: the kernel function, the
// walk over the program, and the registers of its values.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileLowering.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

/// Whether `program` has copies of the tensor copy engine.
static bool hasTensorMaps(tile::ProgramOp program) {
  return program.getBody()
      .walk([](tile::TensorMapOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

ProgramLowering::ProgramLowering(tile::ProgramOp program,
                                 const LoweringSet &lowerings,
                                 const OpBuilder &builder,
                                 LLVM::GlobalOp sharedMemory)
    : program(program), lowerings(lowerings),
      builder(program.getLoc(), builder,
              IntegerType::get(program.getContext(), program.getIndexBits())),
      threads(this->builder), sharedMemory(this->builder, sharedMemory),
      role(this->builder, program.getNumWarps()),
      usesTensorCopies(hasTensorMaps(program)) {}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

Type ProgramLowering::scalarType(Type type) const {
  Type element = tile::getTileElementType(type);
  return element.isIndex() ? Type(builder.getIndexType()) : element;
}

unsigned ProgramLowering::numScalars(Type type) const {
  tile::LayoutAttr layout = tile::getLayout(type);
  return layout ? layout.getLinear().numRegs() : 1;
}

const Scalars &ProgramLowering::get(Value value) const {
  auto known = values.find(value);
  assert(known != values.end() && "operand is lowered before its user");
  return known->second;
}

Value ProgramLowering::getScalar(Value value) const {
  return get(value).front();
}

Scalars ProgramLowering::pick(Value value,
                              const tile::RegisterMap &registers) const {
  const Scalars &source = get(value);
  Scalars results;
  for (unsigned reg : registers)
    results.push_back(source[reg]);
  return results;
}

Scalars ProgramLowering::combine(Region &combiner, const Scalars &lhs,
                                 const Scalars &rhs) {
  Block &block = combiner.front();
  IRMapping mapping;
  for (auto [argument, value] :
       llvm::zip(block.getArguments(), llvm::concat<const Value>(lhs, rhs)))
    mapping.map(argument, value);
  // Constants are outside.
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(combiner, above);
  for (Value value : above)
    mapping.map(value, getScalar(value));
  for (Operation &inner : block.without_terminator())
    builder.clone(inner, mapping);
  Scalars results;
  for (Value yielded : block.getTerminator()->getOperands())
    results.push_back(mapping.lookup(yielded));
  return results;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

void ProgramLowering::addParameter(Operation *op, Type type) {
  parameters[op] = parameterTypes.size();
  parameterTypes.push_back(type);
}

Value ProgramLowering::getParameter(Operation *op) {
  return kernel.getArgument(getParameterNumber(op));
}

int64_t ProgramLowering::getAlignment(Value pointer) {
  auto argument = dyn_cast<BlockArgument>(pointer);
  if (!argument || argument.getOwner() != &kernel.getBody().front())
    return 1;
  auto alignment = kernel.getArgAttrOfType<IntegerAttr>(
      argument.getArgNumber(), LLVM::LLVMDialect::getAlignAttrName());
  return alignment ? alignment.getInt() : 1;
}

/// Bytes of a multiple of which the runtime demands that tensors begin.
static constexpr int64_t kArgumentAlignment = 16;

/// Tells LLVM how arguments are aligned: it makes one access of those of a
/// thread that lie side by side. It may take an aligned one that is wider than
/// all of them too, so that a tensor is aligned by no more than its size is:
/// what is aligned then does not reach past its end.
void ProgramLowering::describeAlignment() {
  SmallVector<int64_t> alignments(program.getArguments().size(), 0);
  program.getBody().walk([&](tile::MakeViewOp view) {
    auto argument = dyn_cast<BlockArgument>(view.getBase());
    if (!argument || argument.getOwner() != &program.getBody().front())
      return;
    tile::ViewType type = view.getType();
    int64_t bytes =
        llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
    for (int64_t size : type.getShape())
      bytes = std::gcd(kArgumentAlignment,
                       ShapedType::isDynamic(size) ? bytes : bytes * size);
    int64_t &alignment = alignments[argument.getArgNumber()];
    alignment = std::gcd(alignment, bytes);
  });
  for (auto [number, alignment] : llvm::enumerate(alignments))
    if (alignment > 1)
      kernel.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(alignment));
}

void ProgramLowering::createKernel() {
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), parameterTypes);
  kernel = LLVM::LLVMFuncOp::create(builder, program.getName(), type);
  kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  int32_t numThreads =
      (program.getNumWarps() + program.getExtraWarps().value_or(0)) *
      kWarpThreads;
  kernel->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                  builder.getDenseI32ArrayAttr({numThreads, 1, 1}));
  if (int32_t blocks = program.getCluster().value_or(1); blocks > 1)
    kernel->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                    builder.getDenseI32ArrayAttr({blocks, 1, 1}));
  if (std::optional<int32_t> blocks = program.getResident())
    kernel->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    builder.getI32IntegerAttr(*blocks));
  Block *entry = kernel.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value thread = NVVM::ThreadIdXOp::create(
      builder, builder.getI32Type(),
      LLVM::ConstantRangeAttr::get(builder.getContext(), APInt(32, 0),
                                   APInt(32, numThreads)));
  for (auto [from, to] :
       llvm::zip_first(program.getArguments(), entry->getArguments()))
    set(from, {from.getType().isIndex() ? builder.toIndex(to) : Value(to)});
  threads.setThread(thread, &entry->back());
  describeAlignment();
}

FailureOr<LLVM::LLVMFuncOp> ProgramLowering::run() {
  for (Type type : program.getArgumentTypes())
    parameterTypes.push_back(type.isIndex() ? builder.getI64Type() : type);
  for (const std::unique_ptr<TileLowering> &lowering : lowerings.getLowerings())
    if (failed(lowering->addParameters(*this)))
      return failure();
  createKernel();
  for (const std::unique_ptr<TileLowering> &lowering : lowerings.getLowerings())
    if (failed(lowering->beginKernel(*this)))
      return failure();
  if (failed(lowerBlock(program.getBody().front())))
    return failure();
  return kernel;
}

LogicalResult ProgramLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    builder.setLoc(op.getLoc());
    const TileLowering *lowering = lowerings.find(&op);
    if (!lowering)
      return op.emitOpError("FUS-3302: no per-thread form");
    if (failed(lowering->lowerOperation(&op, *this)))
      return failure();
  }
  return success();
}
