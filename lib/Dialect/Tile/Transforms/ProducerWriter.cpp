//===- ProducerWriter.cpp - Writes the regions of producers ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what producers do: start the copies of one ring, in the
// loops of the program, and nothing else.
//
//===----------------------------------------------------------------------===//

#include "RoleWriters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

//===----------------------------------------------------------------------===//
// What all roles need
//===----------------------------------------------------------------------===//

bool RoleContext::usesRing(Operation *op, unsigned number) const {
  if (number != 0)
    return llvm::any_of(rings[number].loads,
                        [&](Operation *load) { return op->isAncestor(load); });
  return llvm::any_of(plan.contraction.blocks, [&](Block *block) {
    Operation *innermost = block->getParentOp();
    return innermost && op->isAncestor(innermost);
  });
}

Value tile::emitNext(OpBuilder &builder, Location loc, Value position,
                     int64_t by) {
  Value step = arith::ConstantIndexOp::create(builder, loc, by);
  return arith::AddIOp::create(builder, loc, position, step);
}

scf::ForOp tile::openLoop(RoleState &state, scf::ForOp loop,
                          SmallVector<Value> inits,
                          ArrayRef<unsigned> numbers) {
  unsigned numInits = inits.size();
  for (unsigned number : numbers)
    inits.push_back(state.positions[number]);
  auto copy =
      scf::ForOp::create(state.builder, loop.getLoc(),
                         state.mapping.lookupOrDefault(loop.getLowerBound()),
                         state.mapping.lookupOrDefault(loop.getUpperBound()),
                         state.mapping.lookupOrDefault(loop.getStep()), inits,
                         /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
  copy->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  state.mapping.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [i, number] : llvm::enumerate(numbers))
    state.positions[number] = copy.getRegionIterArg(numInits + i);
  state.builder.setInsertionPointToStart(copy.getBody());
  return copy;
}

void tile::closeLoop(RoleState &state, scf::ForOp copy,
                     SmallVector<Value> yielded, ArrayRef<unsigned> numbers) {
  unsigned numInits = yielded.size();
  for (unsigned number : numbers)
    yielded.push_back(state.positions[number]);
  scf::YieldOp::create(state.builder, copy.getLoc(), yielded);
  state.builder.setInsertionPointAfter(copy);
  for (auto [i, number] : llvm::enumerate(numbers))
    state.positions[number] = copy.getResult(numInits + i);
}

scf::IfOp tile::openCondition(RoleState &state, scf::IfOp condition,
                              ArrayRef<unsigned> numbers) {
  SmallVector<Type> types(numbers.size(), state.builder.getIndexType());
  auto copy = scf::IfOp::create(
      state.builder, condition.getLoc(), types,
      state.mapping.lookupOrDefault(condition.getCondition()),
      /*addThenBlock=*/true, /*addElseBlock=*/!numbers.empty());
  state.builder.setInsertionPointToStart(copy.thenBlock());
  return copy;
}

void tile::closeCondition(RoleState &state, scf::IfOp copy,
                          ArrayRef<Value> before, ArrayRef<unsigned> numbers) {
  SmallVector<Value> after;
  for (unsigned number : numbers)
    after.push_back(state.positions[number]);
  scf::YieldOp::create(state.builder, copy.getLoc(), after);
  if (!numbers.empty()) {
    state.builder.setInsertionPointToStart(copy.elseBlock());
    scf::YieldOp::create(state.builder, copy.getLoc(), before);
  }
  state.builder.setInsertionPointAfter(copy);
  for (auto [number, result] : llvm::zip(numbers, copy.getResults()))
    state.positions[number] = result;
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

namespace {
/// Writes the region of the producer that feeds one ring.
class ProducerWriter {
public:
  ProducerWriter(RoleContext &common, unsigned ring, RoleState &state)
      : common(common), ring(ring), state(state) {}

  void write(Block &source);

private:
  Value value() { return common.rings[ring].value; }
  /// Writes the loop over tiles of a ring in which every group has its own
  /// stages: those whose position, modulo the groups, is its number.
  void writeTiles(scf::ForOp loop);
  /// A copy and the values for which it is made: those of one group.
  struct Copy {
    LoadOp load;
    const TensorCopy *copy;
    const IRMapping *mapping;
  };
  /// Writes the body of the loop whose turns are groups': what they have in
  /// common once, else for one after the other.
  void writeRowGroups(scf::ForOp loop);
  /// Starts `copies` into one stage.
  void writeStage(Location loc, ArrayRef<Copy> copies);
  /// Starts the copies of the operands of the products of `source`.
  void writeOperands(Block &source);
  /// Writes a scalar operation, for each group for which it differs.
  void writeScalar(Operation &op);

  RoleContext &common;
  unsigned ring;
  RoleState &state;
  /// The values of groups beyond the first that have rows of one tile.
  SmallVector<IRMapping, 4> others;
};
} // namespace

void ProducerWriter::writeStage(Location loc, ArrayRef<Copy> copies) {
  OpBuilder &builder = state.builder;
  SmallVector<SmallVector<Value>> starts, offsets;
  for (auto [load, copy, mapping] : copies) {
    auto getScalar = [mapping = mapping](Value scalar) {
      return mapping->lookupOrDefault(scalar);
    };
    starts.push_back(emitStarts(builder, load, *copy, getScalar));
    offsets.push_back(emitOffsets(builder, load, *copy, getScalar));
  }
  Value &position = state.positions[ring];
  auto type = cast<RingType>(value().getType());
  auto acquire =
      AcquireOp::create(builder, loc, type.getBuffers(), value(), position);
  for (auto [i, each] : llvm::enumerate(copies)) {
    auto [load, copy, mapping] = each;
    AsyncLoadOp::create(
        builder, load.getLoc(), common.mapOf(load.getView(), *copy), starts[i],
        acquire.getResult(i), value(), position, copy->dims, offsets[i],
        copy->multicast,
        copy->pieces ? builder.getI64IntegerAttr(copy->pieces->dim)
                     : IntegerAttr());
  }
  // Groups that take turns are at other tiles meanwhile.
  bool inTurns = ring != 0 && common.plan.takesTurns();
  position = emitNext(builder, loc, position, inTurns ? common.groups() : 1);
}

void ProducerWriter::writeScalar(Operation &op) {
  state.builder.clone(op, state.mapping);
  for (IRMapping &own : others) {
    bool differs = llvm::any_of(op.getOperands(), [&](Value operand) {
      return own.lookupOrDefault(operand) !=
             state.mapping.lookupOrDefault(operand);
    });
    if (differs)
      state.builder.clone(op, own);
    else
      for (Value result : op.getResults())
        own.map(result, state.mapping.lookup(result));
  }
}

void ProducerWriter::writeRowGroups(scf::ForOp loop) {
  for (int64_t group = 0; group < common.groups(); ++group) {
    Value number =
        arith::ConstantIndexOp::create(state.builder, loop.getLoc(), group);
    if (group > 0)
      others.push_back(state.mapping);
    (group > 0 ? others.back() : state.mapping)
        .map(loop.getInductionVar(), number);
  }
  write(*loop.getBody());
  others.clear();
}

void ProducerWriter::writeTiles(scf::ForOp loop) {
  Location loc = loop.getLoc();
  SmallVector<Value> others;
  for (int64_t group = 1; group < common.groups(); ++group)
    others.push_back(arith::ConstantIndexOp::create(state.builder, loc, group));
  scf::ForOp copy = openLoop(state, loop, others, {ring});
  write(*loop.getBody());
  // The next tile is the next group's.
  SmallVector<Value> next(copy.getRegionIterArgs().take_front(others.size()));
  next.push_back(state.positions[ring]);
  state.positions[ring] = next.front();
  closeLoop(state, copy, llvm::to_vector(llvm::drop_begin(next)), {ring});
}

void ProducerWriter::write(Block &source) {
  ContractionPlan &contraction = common.contraction();
  bool feeds = ring == 0 && contraction.holds(&source);
  // Among several, products of a single step have their stage before or after
  // those of loops beside them.
  Operation *lastLoad = nullptr;
  if (feeds && contraction.blocks.size() > 1)
    for (Operation &op : source)
      if (contraction.loads.contains(&op))
        lastLoad = &op;
  for (Operation &op : source) {
    if (&op == lastLoad) {
      writeOperands(source);
    } else if (ring != 0 && common.rings[ring].loads.contains(&op)) {
      auto load = cast<LoadOp>(op);
      SideRing &side = common.plan.sideRings[ring - 1];
      const TensorCopy *copy = &side.loads[load];
      writeStage(load.getLoc(), {{load, copy, &state.mapping}});
      // Groups share what is apart.
      if (!side.isApart)
        for (IRMapping &own : others)
          writeStage(load.getLoc(), {{load, copy, &own}});
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!common.usesRing(loop, ring))
        continue;
      if (loop == common.contraction().rowGroups) {
        writeRowGroups(loop);
        continue;
      }
      if (ring != 0 && loop == common.walk.tiles) {
        writeTiles(loop);
        continue;
      }
      scf::ForOp copy = openLoop(state, loop, {}, {ring});
      for (IRMapping &own : others)
        own.map(loop.getInductionVar(), copy.getInductionVar());
      write(*loop.getBody());
      closeLoop(state, copy, {}, {ring});
    } else if (auto condition = dyn_cast<scf::IfOp>(op)) {
      if (ring == 0 || !common.usesRing(condition, ring))
        continue;
      Value before = state.positions[ring];
      scf::IfOp copy = openCondition(state, condition, {ring});
      write(*condition.thenBlock());
      closeCondition(state, copy, {before}, {ring});
    } else if (op.getNumResults() > 0 &&
               llvm::all_of(op.getResults(), isScalarComputable)) {
      writeScalar(op);
    }
  }
  if (feeds && !lastLoad)
    writeOperands(source);
}

void ProducerWriter::writeOperands(Block &source) {
  ContractionPlan &contraction = common.contraction();
  SmallVector<Copy> copies;
  for (Operation *load : contraction.getLoads(&source)) {
    const TensorCopy *copy = &contraction.loads.find(load)->second;
    copies.push_back({cast<LoadOp>(load), copy, &state.mapping});
    if (contraction.getCopies(load) > 1)
      for (IRMapping &own : others)
        copies.push_back({cast<LoadOp>(load), copy, &own});
  }
  writeStage(copies.front().load.getLoc(), copies);
}

void tile::writeProducer(RoleContext &common, unsigned ring, RoleState &state,
                         Block &source) {
  ProducerWriter(common, ring, state).write(source);
  // A block whose stages others release outlives the releases.
  if (ring == 0 && common.contraction().hasMulticast())
    DrainOp::create(state.builder, common.rings[0].value.getLoc(),
                    common.rings[0].value, state.positions[0]);
}
