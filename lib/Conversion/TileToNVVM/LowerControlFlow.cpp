//===- LowerControlFlow.cpp - Loops and branches of one thread ------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of control flow: tiles that loops carry
// and branches yield become the scalars that a thread holds of them.
//
//===----------------------------------------------------------------------===//

#include "FirstProducts.h"
#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "fusion/Support/Hardware.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

namespace {
struct ForLowering : public TileOpLowering<scf::ForOp> {
  LogicalResult lower(scf::ForOp op, ProgramLowering &lowering) const override;
};

struct IfLowering : public TileOpLowering<scf::IfOp> {
  LogicalResult lower(scf::IfOp op, ProgramLowering &lowering) const override;
};

struct BlockIdLowering : public TileOpLowering<gpu::BlockIdOp> {
  LogicalResult lower(gpu::BlockIdOp op,
                      ProgramLowering &lowering) const override;
};

struct ReturnLowering : public TileOpLowering<tile::ReturnOp> {
  LogicalResult lower(tile::ReturnOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

/// Whether `loop` carries its tile `number` as it was loaded or as products
/// read it, so that two of its elements of 16 bits are best left in one
/// register.
static bool carriesPairs(scf::ForOp loop, unsigned number, unsigned count) {
  Value value = loop.getYieldedValues()[number];
  Type element = tile::getTileElementType(value.getType());
  bool isMultiplied = llvm::any_of(loop.getRegionIterArgs()[number].getUsers(),
                                   llvm::IsaPred<tile::MmaAsyncOp>);
  return count % 2 == 0 && (element.isF16() || element.isBF16()) &&
         (isMultiplied || value.getDefiningOp<tile::LoadOp>() ||
          llvm::is_contained(loop.getRegionIterArgs(), value));
}

LogicalResult ForLowering::lower(scf::ForOp op,
                                 ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  // Carried tiles are scalars, or pairs of them, one after the other.
  auto flatten = [&](ValueRange carried, bool isInit = false) {
    Scalars flat;
    for (auto [number, value] : llvm::enumerate(carried)) {
      Scalars scalars;
      bool begins =
          isInit && isSumOfFirstProduct(op.getInitArgsMutable()[number]);
      // The first product writes them.
      if (Value earlier =
              begins ? findEarlierSums(op, value.getType()) : Value())
        scalars = lowering.get(earlier);
      else if (begins)
        scalars.append(lowering.numScalars(value.getType()),
                       LLVM::PoisonOp::create(
                           builder, lowering.scalarType(value.getType())));
      else
        scalars = lowering.get(value);
      if (carriesPairs(op, number, scalars.size()))
        for (unsigned i = 0; i < scalars.size(); i += 2)
          flat.push_back(builder.buildVector({scalars[i], scalars[i + 1]}));
      else
        llvm::append_range(flat, scalars);
    }
    return flat;
  };
  auto unflatten = [&](ValueRange flat, ValueRange carried) {
    for (auto [number, value] : llvm::enumerate(carried)) {
      unsigned count = lowering.numScalars(value.getType());
      Scalars scalars;
      if (carriesPairs(op, number, count)) {
        for (Value pair : flat.take_front(count / 2))
          scalars.append({builder.extractElement(pair, 0),
                          builder.extractElement(pair, 1)});
        flat = flat.drop_front(count / 2);
      } else {
        scalars = llvm::to_vector(flat.take_front(count));
        flat = flat.drop_front(count);
      }
      lowering.set(value, scalars);
    }
  };
  auto loop = scf::ForOp::create(
      builder, lowering.getScalar(op.getLowerBound()),
      lowering.getScalar(op.getUpperBound()), lowering.getScalar(op.getStep()),
      flatten(op.getInitArgs(), /*isInit=*/true));
  Block *body = loop.getBody();
  if (!body->empty())
    body->getTerminator()->erase();
  lowering.set(op.getInductionVar(), {loop.getInductionVar()});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(body);
    unflatten(loop.getRegionIterArgs(), op.getRegionIterArgs());
    if (failed(lowering.lowerBlock(*op.getBody())))
      return failure();
    scf::YieldOp::create(builder, flatten(op.getYieldedValues()));
  }
  unflatten(loop.getResults(), op.getResults());
  return success();
}

/// How many elements of a tile of type `type` a branch yields as one vector,
/// when it yields `count` in all: as many as one access moves. Else loads of
/// branches that are alike, which become one, would be of single elements.
static unsigned countTogether(scf::IfOp op, Type type, unsigned count) {
  Type element = tile::getTileElementType(type);
  bool loads = op.walk([](tile::LoadOp) {
                   return WalkResult::interrupt();
                 }).wasInterrupted();
  if (!loads || !isa<RankedTensorType>(type) || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() < 8)
    return 1;
  unsigned most = kMaxAccessBytes * 8 / element.getIntOrFloatBitWidth();
  return std::gcd(count, most);
}

LogicalResult IfLowering::lower(scf::IfOp op, ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) {
    unsigned count = lowering.numScalars(type);
    unsigned together = countTogether(op, type, count);
    Type scalar = lowering.scalarType(type);
    types.append(count / together,
                 together == 1 ? scalar
                               : VectorType::get(together, memoryType(scalar)));
  }
  auto conditional =
      scf::IfOp::create(builder, types, lowering.getScalar(op.getCondition()),
                        /*addThenBlock=*/true, op.elseBlock() != nullptr);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] :
       llvm::zip(op->getRegions(), conditional->getRegions())) {
    if (from.empty())
      continue;
    builder.setInsertionPointToStart(&to.front());
    if (failed(lowering.lowerBlock(from.front())))
      return failure();
    Scalars yielded;
    for (Value value : from.front().getTerminator()->getOperands()) {
      Scalars scalars = lowering.get(value);
      unsigned together = countTogether(op, value.getType(), scalars.size());
      for (unsigned i = 0; i < scalars.size(); i += together)
        yielded.push_back(
            together == 1
                ? scalars[i]
                : builder.packForMemory(ArrayRef(scalars).slice(i, together)));
    }
    scf::YieldOp::create(builder, yielded);
  }
  builder.setInsertionPointAfter(conditional);
  ValueRange flat = conditional.getResults();
  for (Value result : op.getResults()) {
    unsigned count = lowering.numScalars(result.getType());
    unsigned together = countTogether(op, result.getType(), count);
    Type scalar = lowering.scalarType(result.getType());
    Scalars scalars;
    for (Value value : flat.take_front(count / together))
      for (unsigned i = 0; i < together; ++i)
        scalars.push_back(
            together == 1
                ? value
                : builder.fromMemory(builder.extractElement(value, i), scalar));
    flat = flat.drop_front(count / together);
    lowering.set(result, scalars);
  }
  return success();
}

LogicalResult BlockIdLowering::lower(gpu::BlockIdOp op,
                                     ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  Value id = NVVM::BlockIdXOp::create(builder, builder.getI32Type());
  IntegerType indexType = builder.getIndexType();
  if (indexType.getWidth() != 32)
    id = arith::ExtUIOp::create(builder, indexType, id);
  lowering.set(op.getResult(), {id});
  return success();
}

LogicalResult ReturnLowering::lower(tile::ReturnOp op,
                                    ProgramLowering &lowering) const {
  LLVM::ReturnOp::create(lowering.getBuilder(), ValueRange());
  return success();
}

void mlir::fusion::populateControlFlowLowerings(LoweringSet &lowerings) {
  lowerings.add<ForLowering, IfLowering, NoCodeLowering<scf::YieldOp>,
                BlockIdLowering, ReturnLowering>();
}
