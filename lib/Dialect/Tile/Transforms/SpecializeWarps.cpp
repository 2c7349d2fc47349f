//===- SpecializeWarps.cpp - Gives warps the roles of a pipeline ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the split of a program into producers, which only start
// copies, and a consumer, which multiplies and computes.
//
//===----------------------------------------------------------------------===//

#include "ConsumerGroups.h"
#include "RolePlan.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::tile {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

#define DEBUG_TYPE "tile-specialize-warps"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// What all roles see
//===----------------------------------------------------------------------===//

namespace {
/// The ring of the contraction (number 0) and those beside it, with what is
/// read through them.
struct Ring {
  Value value;
  /// The blocks or loads at which a stage is taken: the products' block for
  /// ring 0, each load for the others.
  llvm::SmallPtrSet<Operation *, 4> loads;
};

/// The values that exist before the roles part.
struct Common {
  RolePlan plan;
  SmallVector<Ring> rings;
  /// By view, type and windows.
  DenseMap<std::tuple<Value, Type, Attribute, Attribute>, Value> maps;
  /// For each store that the engine makes, the buffer it goes through.
  DenseMap<Operation *, Value> staging;
  /// The buffer of each computed operand that goes through one.
  DenseMap<Value, Value> stored;
  /// With several groups of consumers: the loop whose turns they take, and the
  /// ring that passes them.
  TileWalk walk;
  Value turns;

  int64_t groups() const { return plan.groups; }

  ContractionPlan &contraction() { return plan.contraction; }
  static std::tuple<Value, Type, Attribute, Attribute>
  keyOf(Value view, const TensorCopy &copy) {
    return {view, copy.map, copy.im2col,
            DenseI64ArrayAttr::get(view.getContext(), copy.strides)};
  }
  Value mapOf(Value view, const TensorCopy &copy) const {
    return maps.lookup(keyOf(view, copy));
  }
  /// True when a stage of ring `number` is taken at or inside `op`.
  bool usesRing(Operation *op, unsigned number) const;
};

/// The state of a role while its region is written: what stands for the values
/// of the program, and the position in each ring.
struct RoleState {
  OpBuilder builder;
  IRMapping mapping;
  SmallVector<Value> positions;
};
} // namespace

bool Common::usesRing(Operation *op, unsigned number) const {
  if (number != 0)
    return llvm::any_of(rings[number].loads,
                        [&](Operation *load) { return op->isAncestor(load); });
  Operation *innermost = plan.contraction.block->getParentOp();
  return innermost && op->isAncestor(innermost);
}

static Value emitNext(OpBuilder &builder, Location loc, Value position,
                      int64_t by = 1) {
  Value step = arith::ConstantIndexOp::create(builder, loc, by);
  return arith::AddIOp::create(builder, loc, position, step);
}

/// Opens a copy of `loop` in `state` that carries `inits` and then the
/// positions of the rings `numbers`; the builder is left in its body.
static scf::ForOp openLoop(RoleState &state, scf::ForOp loop,
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

/// Ends a loop that openLoop opened.
static void closeLoop(RoleState &state, scf::ForOp copy,
                      SmallVector<Value> yielded, ArrayRef<unsigned> numbers) {
  unsigned numInits = yielded.size();
  for (unsigned number : numbers)
    yielded.push_back(state.positions[number]);
  scf::YieldOp::create(state.builder, copy.getLoc(), yielded);
  state.builder.setInsertionPointAfter(copy);
  for (auto [i, number] : llvm::enumerate(numbers))
    state.positions[number] = copy.getResult(numInits + i);
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

namespace {
/// Writes the region of the producer that feeds one ring.
class ProducerWriter {
public:
  ProducerWriter(Common &common, unsigned ring, RoleState &state)
      : common(common), ring(ring), state(state) {}

  void write(Block &source);

private:
  Value value() { return common.rings[ring].value; }
  /// Writes the loop over tiles of a ring in which every group has its own
  /// stages: those whose position, modulo the groups, is its number.
  void writeTiles(scf::ForOp loop);
  /// Starts the copies of `loads` into one stage.
  void writeStage(Location loc,
                  ArrayRef<std::pair<LoadOp, const TensorCopy *>> loads);

  Common &common;
  unsigned ring;
  RoleState &state;
};
} // namespace

void ProducerWriter::writeStage(
    Location loc, ArrayRef<std::pair<LoadOp, const TensorCopy *>> loads) {
  OpBuilder &builder = state.builder;
  SmallVector<SmallVector<Value>> starts, offsets;
  for (auto [load, copy] : loads) {
    SmallVector<Value> symbols;
    for (Value symbol : load.getSymbols())
      symbols.push_back(state.mapping.lookupOrDefault(symbol));
    starts.push_back(
        emitCoordinates(builder, load.getLoc(), copy->starts, symbols));
    offsets.push_back(
        emitCoordinates(builder, load.getLoc(), copy->offsets, symbols));
  }
  Value &position = state.positions[ring];
  auto type = cast<RingType>(value().getType());
  auto acquire =
      AcquireOp::create(builder, loc, type.getBuffers(), value(), position);
  for (auto [i, pair] : llvm::enumerate(loads)) {
    auto [load, copy] = pair;
    AsyncLoadOp::create(builder, load.getLoc(),
                        common.mapOf(load.getView(), *copy), starts[i],
                        acquire.getResult(i), value(), position, copy->dims,
                        offsets[i], copy->multicast);
  }
  position = emitNext(builder, loc, position, ring == 0 ? 1 : common.groups());
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
  for (Operation &op : source) {
    if (ring != 0 && common.rings[ring].loads.contains(&op)) {
      auto load = cast<LoadOp>(op);
      const TensorCopy *copy = &common.plan.sideRings[ring - 1].loads[load];
      writeStage(load.getLoc(), {{load, copy}});
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (!common.usesRing(loop, ring))
        continue;
      if (ring != 0 && loop == common.walk.tiles) {
        writeTiles(loop);
        continue;
      }
      scf::ForOp copy = openLoop(state, loop, {}, {ring});
      write(*loop.getBody());
      closeLoop(state, copy, {}, {ring});
    } else if (op.getNumResults() == 1 && isScalarComputable(op.getResult(0))) {
      state.builder.clone(op, state.mapping);
    }
  }
  if (ring != 0 || &source != common.contraction().block)
    return;
  SmallVector<std::pair<LoadOp, const TensorCopy *>> loads;
  for (auto &[load, copy] : common.contraction().loads)
    loads.push_back({cast<LoadOp>(load), &copy});
  writeStage(loads.front().first.getLoc(), loads);
}

/// Erases what nothing uses, innermost and last first.
static void eraseDead(Region &region) {
  SmallVector<Operation *> ops;
  region.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

//===----------------------------------------------------------------------===//
// The consumer
//===----------------------------------------------------------------------===//

namespace {
/// Writes the region of the warps that hold tiles.
class ConsumerWriter {
public:
  ConsumerWriter(Common &common, RoleState &state)
      : common(common), state(state) {
    for (Product &product : common.contraction().products)
      products[product.dot] = &product;
  }

  void write(Block &source);

private:
  void writeLoop(scf::ForOp loop);
  /// Writes the loop over tiles for a group that takes turns.
  void writeTiles(scf::ForOp loop);
  /// Waits until the group before has taken its last stage, so that no stage
  /// that this group waits for is more than one round of the ring ahead.
  void takeTurn(Location loc);
  /// Passes the turn on, if the stage just waited for is the tile's last.
  void passTurn(Location loc);
  /// Writes the plain loads of the contraction, and what is computed from them
  /// alone: they run while the consumer waits for its stage.
  void writeIndependent(Block &block);
  void writeMainLoad(LoadOp load);
  void writeSideLoad(LoadOp load, unsigned ring);
  void writeProduct(Product &product);
  /// Waits for the stage of this turn of the contraction, once.
  void waitForStage(Location loc);
  /// Waits for the products in flight.
  void waitForProducts(Location loc);
  /// Frees the stage of this turn, which nothing reads any more.
  void freeStage();
  bool readsInFlight(Operation &op);
  bool usesAnyRing(Operation *op) {
    return llvm::any_of(
        llvm::seq<unsigned>(0, common.rings.size()),
        [&](unsigned ring) { return common.usesRing(op, ring); });
  }
  /// The place of `load` in a stage.
  unsigned numberOf(LoadOp load) {
    auto &loads = common.contraction().loads;
    return std::distance(loads.begin(), loads.find(load));
  }

  Common &common;
  RoleState &state;
  DenseMap<Operation *, Product *> products;
  WaitOp stage;
  /// The number of the tile, counted over all groups of the block, and the
  /// position of its last stage.
  Value turn, lastPosition;
  /// Operations of the contraction that stand before its wait.
  llvm::SmallPtrSet<Operation *, 16> written;
  /// Operands that are in their buffers this turn.
  llvm::SmallPtrSet<void *, 4> storedNow;
  /// Products of the program whose copies are in flight.
  SmallVector<DotOp> inFlight;
  /// Tiles in registers that they read.
  SmallVector<Value> kept;
};
} // namespace

void ConsumerWriter::takeTurn(Location loc) {
  // The stage that the tile before releases, one round later.
  Value before = emitNext(state.builder, loc, turn, common.groups() - 1);
  AcquireOp::create(state.builder, loc, TypeRange(), common.turns, before);
}

void ConsumerWriter::passTurn(Location loc) {
  OpBuilder::InsertionGuard guard(state.builder);
  if (common.walk.getContraction()) {
    Value isLast =
        arith::CmpIOp::create(state.builder, loc, arith::CmpIPredicate::eq,
                              state.positions[0], lastPosition);
    auto guarded = scf::IfOp::create(state.builder, loc, isLast,
                                     /*withElseRegion=*/false);
    state.builder.setInsertionPointToStart(guarded.thenBlock());
  }
  ReleaseOp::create(state.builder, loc, common.turns, turn);
}

void ConsumerWriter::writeTiles(scf::ForOp loop) {
  OpBuilder &builder = state.builder;
  Location loc = loop.getLoc();
  SmallVector<unsigned> numbers;
  for (unsigned ring = 0; ring < common.rings.size(); ++ring)
    if (common.usesRing(loop, ring))
      numbers.push_back(ring);
  auto find = [&](Value value) { return state.mapping.lookupOrDefault(value); };
  Value group = GroupNumberOp::create(builder, loc, builder.getIndexType());
  Value groups = arith::ConstantIndexOp::create(builder, loc, common.groups());
  Value step = find(loop.getStep());
  Value first =
      arith::AddIOp::create(builder, loc, find(loop.getLowerBound()),
                            arith::MulIOp::create(builder, loc, group, step));
  Value stages = emitStagesOfTile(builder, loc, common.walk, find);
  Value others = arith::MulIOp::create(
      builder, loc, stages,
      arith::ConstantIndexOp::create(builder, loc, common.groups() - 1));
  Value stride = arith::MulIOp::create(builder, loc, step, groups);
  for (unsigned ring : numbers)
    state.positions[ring] =
        ring == 0 ? arith::MulIOp::create(builder, loc, group, stages) : group;
  scf::ForOp copy = openLoop(state, loop, {group}, numbers);
  copy.setLowerBound(first);
  copy.setStep(stride);
  turn = copy.getRegionIterArg(0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  lastPosition =
      arith::AddIOp::create(builder, loc, state.positions[0],
                            arith::SubIOp::create(builder, loc, stages, one));
  write(*loop.getBody());
  // The other groups' tiles come before the next one of this.
  state.positions[0] =
      arith::AddIOp::create(builder, loc, state.positions[0], others);
  Value next = emitNext(builder, loc, turn, common.groups());
  closeLoop(state, copy, {next}, numbers);
}

void ConsumerWriter::waitForStage(Location loc) {
  if (stage)
    return;
  if (common.walk && !common.walk.getContraction())
    takeTurn(loc);
  auto type = cast<RingType>(common.rings[0].value.getType());
  stage = WaitOp::create(state.builder, loc, type.getBuffers(),
                         common.rings[0].value, state.positions[0]);
  if (common.walk)
    passTurn(loc);
}

void ConsumerWriter::waitForProducts(Location loc) {
  if (inFlight.empty())
    return;
  // One that another product took as its accumulator ends with that one.
  SmallVector<DotOp> last;
  SmallVector<Value> values;
  for (DotOp dot : inFlight) {
    Value value = state.mapping.lookup(dot.getResult());
    if (!value.use_empty())
      continue;
    last.push_back(dot);
    values.push_back(value);
  }
  auto wait = MmaWaitOp::create(state.builder, loc, TypeRange(values), values,
                                kept, /*pending=*/0);
  for (auto [dot, result] : llvm::zip(last, wait.getResults()))
    state.mapping.map(dot.getResult(), result);
  inFlight.clear();
  kept.clear();
}

bool ConsumerWriter::readsInFlight(Operation &op) {
  if (inFlight.empty())
    return false;
  bool reads = false;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (auto dot = operand.getDefiningOp<DotOp>())
        reads |= llvm::is_contained(inFlight, dot);
  });
  return reads;
}

void ConsumerWriter::writeProduct(Product &product) {
  DotOp dot = product.dot;
  waitForStage(dot.getLoc());
  // A sum that is read again must not be overwritten by the next product.
  if (auto before = dot.getAcc().getDefiningOp<DotOp>())
    if (!before->hasOneUse())
      waitForProducts(dot.getLoc());
  auto operandOf = [&](Value operand, bool computed) -> Value {
    if (!computed)
      return stage.getResult(numberOf(operand.getDefiningOp<LoadOp>()));
    Value tile = state.mapping.lookupOrDefault(operand);
    if (Value buffer = common.stored.lookup(operand)) {
      if (storedNow.insert(operand.getAsOpaquePointer()).second) {
        // The products that wait for it stand after the ones in flight.
        waitForProducts(dot.getLoc());
        LocalStoreOp::create(state.builder, dot.getLoc(), tile, buffer);
      }
      return buffer;
    }
    if (!llvm::is_contained(kept, tile))
      kept.push_back(tile);
    return tile;
  };
  Value a, b;
  // The buffer first: what waits for it may end what reads registers.
  if (product.isStoredB())
    b = operandOf(dot.getB(), product.computedB);
  a = operandOf(dot.getA(), product.computedA);
  if (!b)
    b = operandOf(dot.getB(), product.computedB);
  auto mma = MmaAsyncOp::create(state.builder, dot.getLoc(), dot.getType(), a,
                                b, state.mapping.lookupOrDefault(dot.getAcc()),
                                product.swapped);
  state.mapping.map(dot.getResult(), mma.getResult());
  inFlight.push_back(dot);
}

/// True when something but a product as its direct operand uses `load`.
static bool isReadAsTile(LoadOp load,
                         const DenseMap<Operation *, Product *> &products) {
  return llvm::any_of(load->getUses(), [&](OpOperand &use) {
    Product *product = products.lookup(use.getOwner());
    // Operands 0 and 1 of a dot are `a` and `b`.
    return !product || use.getOperandNumber() > 1;
  });
}

void ConsumerWriter::writeMainLoad(LoadOp load) {
  if (!isReadAsTile(load, products))
    return;
  // A load before the loop has no stage there: it is made once more.
  if (load->getBlock() != common.contraction().block) {
    state.builder.clone(*load, state.mapping);
    return;
  }
  waitForStage(load.getLoc());
  Value tile = LocalLoadOp::create(state.builder, load.getLoc(), load.getType(),
                                   stage.getResult(numberOf(load)));
  state.mapping.map(load.getResult(), tile);
}

void ConsumerWriter::writeSideLoad(LoadOp load, unsigned ring) {
  Location loc = load.getLoc();
  Value value = common.rings[ring].value;
  Value &position = state.positions[ring];
  auto wait = WaitOp::create(state.builder, loc,
                             cast<RingType>(value.getType()).getBuffers(),
                             value, position);
  Value tile = LocalLoadOp::create(state.builder, loc, load.getType(),
                                   wait.getResult(0));
  ReleaseOp::create(state.builder, loc, value, position);
  state.mapping.map(load.getResult(), tile);
  position = emitNext(state.builder, loc, position, common.groups());
}

void ConsumerWriter::writeLoop(scf::ForOp loop) {
  SmallVector<unsigned> numbers;
  for (unsigned ring = 0; ring < common.rings.size(); ++ring)
    if (common.usesRing(loop, ring))
      numbers.push_back(ring);
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(state.mapping.lookupOrDefault(init));
  scf::ForOp copy = openLoop(state, loop, inits, numbers);
  for (auto [from, to] :
       llvm::zip(loop.getRegionIterArgs(), copy.getRegionIterArgs()))
    state.mapping.map(from, to);
  write(*loop.getBody());
  SmallVector<Value> yielded;
  for (Value value : loop.getYieldedValues())
    yielded.push_back(state.mapping.lookupOrDefault(value));
  closeLoop(state, copy, yielded, numbers);
  for (auto [from, to] : llvm::zip(loop.getResults(), copy.getResults()))
    state.mapping.map(from, to);
}

void ConsumerWriter::writeIndependent(Block &block) {
  llvm::SmallPtrSet<Operation *, 16> dependent;
  for (Operation &op : block.without_terminator()) {
    bool depends =
        op.getNumRegions() || !(isMemoryEffectFree(&op) || isa<LoadOp>(op)) ||
        common.contraction().loads.count(&op) || products.count(&op) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          // What the loop carries is ready, but tiles of it may
          // stay in registers longer than they need.
          return (isa<BlockArgument>(operand) &&
                  isa<RankedTensorType>(operand.getType())) ||
                 dependent.contains(operand.getDefiningOp());
        });
    if (depends) {
      dependent.insert(&op);
      continue;
    }
    state.builder.clone(op, state.mapping);
    written.insert(&op);
  }
}

void ConsumerWriter::freeStage() {
  Location loc = common.contraction().products.front().dot.getLoc();
  ReleaseOp::create(state.builder, loc, common.rings[0].value,
                    state.positions[0]);
  state.positions[0] = emitNext(state.builder, loc, state.positions[0]);
  stage = nullptr;
}

void ConsumerWriter::write(Block &source) {
  bool holdsProducts = &source == common.contraction().block;
  if (holdsProducts && common.contraction().isLoop())
    writeIndependent(source);
  // The last operation that may read the stage of this turn.
  Operation *lastRead = nullptr;
  for (Operation &op : source)
    if (products.count(&op) || common.contraction().loads.count(&op))
      lastRead = &op;
  bool holdsStage = holdsProducts;
  for (Operation &op : source) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (written.contains(&op))
      continue;
    if (common.contraction().loads.count(&op)) {
      writeMainLoad(cast<LoadOp>(op));
      continue;
    }
    if (Product *product = products.lookup(&op)) {
      writeProduct(*product);
      continue;
    }
    if (readsInFlight(op))
      waitForProducts(op.getLoc());
    // Where the epilogue follows in the same block, the next tile's operands
    // are brought in meanwhile.
    if (holdsStage && inFlight.empty() && lastRead->isBeforeInBlock(&op)) {
      freeStage();
      holdsStage = false;
    }
    auto side =
        llvm::find_if(llvm::drop_begin(common.rings), [&](const Ring &ring) {
          return ring.loads.contains(&op);
        });
    auto loop = dyn_cast<scf::ForOp>(op);
    if (side != common.rings.end()) {
      writeSideLoad(cast<LoadOp>(op), side - common.rings.begin());
    } else if (Value buffer = common.staging.lookup(&op)) {
      auto store = cast<StoreOp>(op);
      const TensorCopy *copy = nullptr;
      for (const Staging &staging : common.plan.stagings)
        if (auto it = staging.stores.find(store); it != staging.stores.end())
          copy = &it->second;
      SmallVector<Value> symbols;
      for (Value symbol : store.getSymbols())
        symbols.push_back(state.mapping.lookupOrDefault(symbol));
      AsyncStoreOp::create(
          state.builder, store.getLoc(),
          state.mapping.lookupOrDefault(store.getValue()),
          common.mapOf(store.getView(), *copy),
          emitCoordinates(state.builder, store.getLoc(), copy->starts, symbols),
          buffer, copy->dims);
    } else if (loop && loop == common.walk.tiles) {
      writeTiles(loop);
    } else if (loop && loop.getOperation() == common.walk.getContraction()) {
      takeTurn(loop.getLoc());
      writeLoop(loop);
    } else if (loop && usesAnyRing(loop)) {
      writeLoop(loop);
    } else {
      state.builder.clone(op, state.mapping);
    }
  }
  if (!holdsProducts)
    return;
  waitForProducts(common.contraction().products.front().dot.getLoc());
  if (holdsStage)
    freeStage();
  storedNow.clear();
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The operations of the program's block that stay before the roles: scalars
/// and views that depend on such only. The others are returned in order.
static SmallVector<Operation *> splitPrologue(ProgramOp program) {
  SmallVector<Operation *> rest;
  llvm::SmallPtrSet<Operation *, 16> moved;
  for (Operation &op : program.getBody().front().without_terminator()) {
    bool stays =
        op.getNumRegions() == 0 && isMemoryEffectFree(&op) &&
        llvm::none_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
        llvm::none_of(op.getOperands(), [&](Value operand) {
          return moved.contains(operand.getDefiningOp());
        });
    // What the program reserves itself lives through all roles.
    if (stays || isa<AllocOp>(op))
      continue;
    moved.insert(&op);
    rest.push_back(&op);
  }
  return rest;
}

/// Products in tf32 ignore the last bits of what is in shared memory: copies of
/// their operands, and of nothing else, round instead.
static void roundOperands(Common &common) {
  llvm::SmallPtrSet<Value, 4> others;
  RolePlan &plan = common.plan;
  auto mapOf = [&](Value view, const TensorCopy &copy) {
    return common.maps.lookup(Common::keyOf(view, copy));
  };
  for (SideRing &ring : plan.sideRings)
    for (auto &[load, copy] : ring.loads)
      others.insert(mapOf(cast<LoadOp>(load).getView(), copy));
  for (auto &[load, copy] : plan.contraction.loads) {
    Value map = mapOf(cast<LoadOp>(load).getView(), copy);
    bool isOperand = llvm::all_of(load->getUsers(), [](Operation *user) {
      auto dot = dyn_cast<DotOp>(user);
      return dot && dot.getTf32();
    });
    if (isOperand && !others.contains(map))
      map.getDefiningOp()->setAttr(kTF32MapAttrName,
                                   UnitAttr::get(map.getContext()));
  }
}

/// Makes the tensor maps and rings; and, by `buffers`, the consumer's buffers.
static void emitCommon(OpBuilder &builder, OpBuilder &buffers, Location loc,
                       Common &common) {
  auto makeMap = [&](Value view, const TensorCopy &copy) {
    Value &map = common.maps[Common::keyOf(view, copy)];
    DenseI64ArrayAttr strides;
    if (copy.im2col)
      strides = builder.getDenseI64ArrayAttr(copy.strides);
    if (!map)
      map = TensorMapOp::create(builder, view.getLoc(), copy.map, view, strides,
                                copy.im2col);
  };
  RolePlan &plan = common.plan;
  for (auto &[load, copy] : plan.contraction.loads)
    makeMap(cast<LoadOp>(load).getView(), copy);
  common.rings.push_back(
      {MakeRingOp::create(builder, loc, plan.getMainRing(), IntegerAttr(),
                          plan.contraction.hasMulticast()),
       {}});
  for (auto [number, side] : llvm::enumerate(plan.sideRings)) {
    Ring ring{MakeRingOp::create(builder, loc, plan.getSideRing(number),
                                 IntegerAttr()),
              {}};
    for (auto &[load, copy] : side.loads) {
      makeMap(cast<LoadOp>(load).getView(), copy);
      ring.loads.insert(load);
    }
    common.rings.push_back(ring);
  }
  if (plan.groups > 1)
    common.turns = MakeRingOp::create(
        builder, loc, plan.getTurnRing(builder.getContext()), IntegerAttr());
  for (auto &[operand, buffer] : plan.contraction.stored)
    common.stored[operand] =
        AllocOp::create(buffers, loc, buffer, IntegerAttr());
  for (Staging &staging : plan.stagings) {
    SmallVector<Value> stagings;
    for (int64_t i = 0; i < staging.numBuffers; ++i)
      stagings.push_back(
          AllocOp::create(buffers, loc, staging.buffer, IntegerAttr()));
    for (auto [number, pair] : llvm::enumerate(staging.stores)) {
      makeMap(cast<StoreOp>(pair.first).getView(), pair.second);
      common.staging[pair.first] = stagings[number % stagings.size()];
    }
  }
  roundOperands(common);
}

/// Warps beside the consumer's, and the register budgets when they move:
/// producers need few, so that the warps with accumulators can have more than
/// an even share of the 64 Ki registers.
static void setWarps(ProgramOp program, SpecializeOp specialize,
                     unsigned numProducers, int64_t accumulators) {
  Builder builder(program.getContext());
  int64_t extra = numProducers;
  int64_t groups = specialize.getGroups();
  int64_t consumers = groups * program.getNumWarps();
  // Few accumulators leave an even share unused: ptxas then gives a kernel less
  // and refuses to move any.
  constexpr int64_t kMany = 64;
  if (accumulators >= kMany &&
      (consumers == 8 || consumers == 12 || consumers == 16)) {
    extra = 4;
    specialize.setRegisters(consumers == 8    ? ArrayRef<int64_t>{40, 232}
                            : consumers == 12 ? ArrayRef<int64_t>{24, 160}
                                              : ArrayRef<int64_t>{24, 112});
  }
  extra += consumers - program.getNumWarps();
  program.setExtraWarpsAttr(builder.getI64IntegerAttr(extra));
}

/// Rewrites `program` as `common.plan` says.
static void specialize(ProgramOp program, Common &common) {
  int64_t accumulators = 0;
  for (Product &product : common.contraction().products)
    accumulators += product.dot.getType().getNumElements();
  accumulators /= program.getNumWarps() * 32;
  Location loc = program.getLoc();
  SmallVector<Operation *> rest = splitPrologue(program);
  Block &body = program.getBody().front();
  OpBuilder builder(body.getTerminator());
  unsigned numProducers = 1 + common.plan.sideRings.size();
  auto op = SpecializeOp::create(builder, loc, DenseI64ArrayAttr(),
                                 common.groups(), IntegerAttr(), numProducers);
  builder.setInsertionPoint(op);
  // Several groups have buffers of their own.
  auto buffers = OpBuilder::atBlockEnd(&op.getConsumer().emplaceBlock());
  emitCommon(builder, common.groups() > 1 ? buffers : builder, loc, common);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  auto makeState = [&](Region &region) {
    Block *block = region.empty() ? &region.emplaceBlock() : &region.front();
    return RoleState{OpBuilder::atBlockEnd(block),
                     {},
                     SmallVector<Value>(common.rings.size(), zero)};
  };
  // The roles are written from a block that holds what they share out.
  Block source;
  for (Operation *moved : rest)
    moved->moveBefore(&source, source.end());
  if (common.contraction().block == &body)
    common.contraction().block = &source;

  RoleState consumer = makeState(op.getConsumer());
  ConsumerWriter(common, consumer).write(source);
  if (!common.plan.stagings.empty())
    AsyncStoreWaitOp::create(consumer.builder, loc);
  for (unsigned ring = 0; ring < numProducers; ++ring) {
    Region &region = op.getProducers()[ring];
    RoleState producer = makeState(region);
    ProducerWriter(common, ring, producer).write(source);
    if (ring == 0 && common.contraction().hasMulticast())
      DrainOp::create(producer.builder, loc, common.rings[0].value,
                      producer.positions[0]);
    eraseDead(region);
  }
  eraseDead(op.getConsumer());
  for (Operation *dead : llvm::reverse(rest))
    dead->erase();
  setWarps(program, op, numProducers, accumulators);
}

namespace {
class SpecializeWarpsPass
    : public tile::impl::SpecializeWarpsPassBase<SpecializeWarpsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    std::optional<PipelineAttr> pipeline = program.getPipeline();
    if (!pipeline || pipeline->getKind() != MmaKind::Wgmma)
      return;
    foldBoundsMasks(program);
    std::optional<Refusal> refusal;
    FailureOr<ContractionPlan> contraction = planContraction(program, refusal);
    if (failed(contraction)) {
      report(refusal->name, refusal->loc,
             "FUS-" + std::to_string(refusal->number) + ": " + refusal->text +
                 "; the products are made warp by warp");
      program.setPipelineAttr(PipelineAttr::get(
          &getContext(), MmaKind::MmaSync, pipeline->getStages(),
          pipeline->getColumns(), /*groups=*/1));
      return;
    }
    Common common;
    common.plan.contraction = std::move(*contraction);
    common.plan.stages = std::clamp<int64_t>(pipeline->getStages(), 2, 32);
    planGroups(pipeline->getGroups(), common);
    hoistSmallLoads(common.plan.contraction);
    planEpilogue(program, common.plan);
    int64_t wanted = common.plan.stages;
    if (failed(fitSharedMemory(program, common.plan, sharedMemoryLimitBytes))) {
      reportTooLarge(program, common.plan);
      return signalPassFailure();
    }
    if (common.plan.stages != wanted)
      report("fewer-stages", program.getLoc(),
             "FUS-3215: " + std::to_string(wanted) +
                 " stages do not fit shared memory; the ring has " +
                 std::to_string(common.plan.stages));
    specialize(program, common);
  }

private:
  /// Decides how many groups take turns: those wanted, or one.
  void planGroups(int64_t wanted, Common &common) {
    if (wanted <= 1)
      return;
    std::string whyNot = "the blocks of a cluster share a contraction";
    FailureOr<TileWalk> walk = failure();
    if (getOperation().getCluster().value_or(1) == 1)
      walk = findTileWalk(common.plan.contraction, whyNot);
    if (failed(walk)) {
      report("one-group", getOperation().getLoc(),
             "FUS-3217: one group of warps walks the tiles: " + whyNot);
      return;
    }
    common.walk = *walk;
    common.plan.groups = wanted;
  }

  void report(StringRef name, Location loc, const std::string &text) {
    auto opts = remark::RemarkOpts::name(name)
                    .category("fusion-tile")
                    .function(getOperation().getName());
    if (auto remark = remark::missed(loc, opts))
      remark << text;
  }

  void reportTooLarge(ProgramOp program, RolePlan &plan) {
    BufferType largest;
    Operation *load = nullptr;
    for (auto &[op, copy] : plan.contraction.loads)
      if (!largest || copy.buffer.getLayout().getShared().sizeInBytes() >
                          largest.getLayout().getShared().sizeInBytes()) {
        largest = copy.buffer;
        load = op;
      }
    std::string tile;
    llvm::raw_string_ostream os(tile);
    llvm::interleave(largest.getShape(), os, "x");
    os << "x" << largest.getElementType();
    load->emitError("FUS-3216: a ring of two stages, ")
        << plan.getSharedBytes() << " bytes, exceeds the "
        << sharedMemoryLimitBytes.getValue()
        << " bytes of shared memory of a block; its largest buffer is the "
        << tile << " tile loaded here: choose a smaller tile in the schedule";
  }
};
} // namespace
