//===- Foreign.cpp - A dialect of somebody else ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements a dialect that the compiler does not know, as a plugin.
// It includes nothing of the project.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"

using namespace mlir;

// clang-format off
#include "ForeignDialect.h.inc"
#include "ForeignDialect.cpp.inc"
// clang-format on

#define GET_OP_CLASSES
#include "ForeignOps.h.inc"
#define GET_OP_CLASSES
#include "ForeignOps.cpp.inc"

using namespace foreign;

void ForeignDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ForeignOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// What the ops with loops share
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

template <typename Op>
static void addEffects(Op op, Effects &effects) {
  for (OpOperand &input : op.getInputsMutable())
    if (isa<MemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input);
  for (OpOperand &output : op.getOutputsMutable())
    if (isa<MemRefType>(output.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &output);
}

void BlendOp::getEffects(Effects &effects) { addEffects(*this, effects); }
void RowNormOp::getEffects(Effects &effects) { addEffects(*this, effects); }
void LookupOp::getEffects(Effects &effects) { addEffects(*this, effects); }
void WindowOp::getEffects(Effects &effects) { addEffects(*this, effects); }
void OddOp::getEffects(Effects &effects) { addEffects(*this, effects); }

static OpFoldResult getSize(OpBuilder &b, Location loc, Value shaped,
                            int64_t dim) {
  if (isa<MemRefType>(shaped.getType()))
    return memref::getMixedSize(b, loc, shaped, dim);
  return tensor::getMixedSize(b, loc, shaped, dim);
}

/// A loop for each dimension of `shaped`.
static SmallVector<Range> getRanges(OpBuilder &b, Location loc, Value shaped) {
  SmallVector<Range> ranges;
  for (int64_t dim = 0; dim < cast<ShapedType>(shaped.getType()).getRank();
       ++dim)
    ranges.push_back(
        {b.getIndexAttr(0), getSize(b, loc, shaped, dim), b.getIndexAttr(1)});
  return ranges;
}

static Value load(ImplicitLocOpBuilder &b, Value from, ValueRange at) {
  return memref::LoadOp::create(b, from, at);
}
static void store(ImplicitLocOpBuilder &b, Value value, Value to,
                  ValueRange at) {
  memref::StoreOp::create(b, value, to, at);
}

//===----------------------------------------------------------------------===//
// Ops that loops over tensors can say
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> BlendOp::getLoopIteratorTypes() {
  auto type = cast<ShapedType>(getOutputs().front().getType());
  return SmallVector<utils::IteratorType>(type.getRank(),
                                          utils::IteratorType::parallel);
}
SmallVector<Range> BlendOp::getIterationDomain(OpBuilder &b) {
  return getRanges(b, getLoc(), getOutputs().front());
}
LogicalResult BlendOp::generateScalarImplementation(OpBuilder &builder,
                                                    Location loc,
                                                    ValueRange at) {
  ImplicitLocOpBuilder b(loc, builder);
  Value x = load(b, getInputs()[0], at), y = load(b, getInputs()[1], at);
  Value way =
      arith::MulFOp::create(b, arith::SubFOp::create(b, y, x), getInputs()[2]);
  store(b, arith::AddFOp::create(b, x, way), getOutputs()[0], at);
  store(b, math::AbsFOp::create(b, way), getOutputs()[1], at);
  return success();
}

SmallVector<utils::IteratorType> RowNormOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::reduction};
}
SmallVector<Range> RowNormOp::getIterationDomain(OpBuilder &b) {
  return getRanges(b, getLoc(), getInputs().front());
}
LogicalResult RowNormOp::generateScalarImplementation(OpBuilder &builder,
                                                      Location loc,
                                                      ValueRange at) {
  ImplicitLocOpBuilder b(loc, builder);
  Value x = load(b, getInputs()[0], at);
  Value sum = load(b, getOutputs()[0], at[0]);
  Value next = arith::AddFOp::create(b, sum, arith::MulFOp::create(b, x, x));
  store(b, next, getOutputs()[0], at[0]);
  return success();
}

SmallVector<utils::IteratorType> LookupOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::parallel};
}
SmallVector<Range> LookupOp::getIterationDomain(OpBuilder &b) {
  return {{b.getIndexAttr(0), getSize(b, getLoc(), getInputs()[1], 0),
           b.getIndexAttr(1)},
          {b.getIndexAttr(0), getSize(b, getLoc(), getInputs()[0], 1),
           b.getIndexAttr(1)}};
}
LogicalResult LookupOp::generateScalarImplementation(OpBuilder &builder,
                                                     Location loc,
                                                     ValueRange at) {
  ImplicitLocOpBuilder b(loc, builder);
  Value row = arith::IndexCastOp::create(b, b.getIndexType(),
                                         load(b, getInputs()[1], at[0]));
  store(b, load(b, getInputs()[0], {row, at[1]}), getOutputs()[0], at);
  return success();
}

SmallVector<utils::IteratorType> WindowOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::reduction};
}
SmallVector<Range> WindowOp::getIterationDomain(OpBuilder &b) {
  SmallVector<Range> ranges = getRanges(b, getLoc(), getOutputs().front());
  ranges.push_back({b.getIndexAttr(0), b.getIndexAttr(3), b.getIndexAttr(1)});
  return ranges;
}
LogicalResult WindowOp::generateScalarImplementation(OpBuilder &builder,
                                                     Location loc,
                                                     ValueRange at) {
  ImplicitLocOpBuilder b(loc, builder);
  Value two = arith::ConstantIndexOp::create(b, 2);
  Value place =
      arith::AddIOp::create(b, arith::MulIOp::create(b, at[0], two), at[1]);
  Value sum = load(b, getOutputs()[0], at[0]);
  Value next = arith::AddFOp::create(b, sum, load(b, getInputs()[0], place));
  store(b, next, getOutputs()[0], at[0]);
  return success();
}

FailureOr<SmallVector<Value>> SquareOp::decomposeOperation(OpBuilder &b) {
  if (getStuck())
    return failure();
  if (getEndless())
    return SmallVector<Value>(b.clone(**this)->getResults());
  return SmallVector<Value>{
      arith::MulFOp::create(b, getLoc(), getInput(), getInput())};
}

//===----------------------------------------------------------------------===//
// Ops that they cannot say
//===----------------------------------------------------------------------===//

LogicalResult OddOp::verify() {
  if (getKind() == "tensors" && isa<MemRefType>(getOutputs().front().getType()))
    return emitOpError("is for tensors");
  return success();
}

SmallVector<utils::IteratorType> OddOp::getLoopIteratorTypes() {
  if (getKind() == "race")
    return {utils::IteratorType::parallel, utils::IteratorType::parallel};
  if (getKind() == "last")
    return {utils::IteratorType::parallel, utils::IteratorType::reduction};
  return {utils::IteratorType::parallel};
}

SmallVector<Range> OddOp::getIterationDomain(OpBuilder &b) {
  SmallVector<Range> ranges = getRanges(b, getLoc(), getOutputs().front());
  if (getKind() == "offset")
    ranges[0].offset = b.getIndexAttr(1);
  if (getKind() == "part")
    ranges[0].size = b.getIndexAttr(2);
  if (getKind() == "computed") {
    Value size = getValueOrCreateConstantIndexOp(b, getLoc(), ranges[0].size);
    ranges[0].size = arith::SubIOp::create(b, getLoc(), size, size).getResult();
  }
  if (getKind() == "race" || getKind() == "last")
    ranges.push_back(getRanges(b, getLoc(), getInputs().front()).front());
  return ranges;
}

LogicalResult OddOp::generateScalarImplementation(OpBuilder &builder,
                                                  Location loc, ValueRange at) {
  ImplicitLocOpBuilder b(loc, builder);
  StringRef kind = getKind();
  if (kind == "stuck")
    return emitOpError("has lost its meaning");
  Value in = getInputs().front(), out = getOutputs().front(), i = at.back();
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value next = arith::AddIOp::create(b, at.front(), one);
  Value x = load(b, in, i);
  if (kind == "nothing")
    return success();
  if (kind == "neighbour")
    x = load(b, out, next);
  if (kind == "buffer")
    x = load(b, memref::AllocaOp::create(b, MemRefType::get({}, x.getType())),
             {});
  if (kind == "outside") {
    OpBuilder first = OpBuilder::atBlockBegin(b.getInsertionBlock());
    x = arith::ConstantOp::create(first, loc, b.getF32FloatAttr(1.0f));
  }
  if (kind == "conditional") {
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, i, one);
    scf::IfOp::create(b, isFirst, [&](OpBuilder &inner, Location loc) {
      memref::StoreOp::create(inner, loc, x, out, at.front());
      scf::YieldOp::create(inner, loc);
    });
    return success();
  }
  store(b, x, kind == "input" ? in : out,
        kind == "shifted" ? next : at.front());
  if (kind == "twice")
    store(b, x, out, at.front());
  if (kind == "again")
    load(b, out, at.front());
  return success();
}

//===----------------------------------------------------------------------===//
// The plugin
//===----------------------------------------------------------------------===//

extern "C" LLVM_ATTRIBUTE_WEAK DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {
      MLIR_PLUGIN_API_VERSION, "Foreign", "0.1",
      [](DialectRegistry *registry) { registry->insert<ForeignDialect>(); }};
}
