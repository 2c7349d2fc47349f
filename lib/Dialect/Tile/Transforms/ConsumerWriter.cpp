//===- ConsumerWriter.cpp - Writes the region of the consumer -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what the warps that hold tiles do: wait for stages,
// start products and wait for them, free stages, and compute what follows.
//
//===----------------------------------------------------------------------===//

#include "RoleWriters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

namespace {
/// Writes the region of the warps that hold tiles.
class ConsumerWriter {
public:
  ConsumerWriter(RoleContext &common, RoleState &state)
      : common(common), state(state) {
    for (Product &product : common.contraction().products)
      products[product.dot] = &product;
  }

  void write(Block &source);

private:
  void writeLoop(scf::ForOp loop);
  /// Writes an operation that is neither a loop nor part of a copy or product.
  void writePlain(Operation &op);
  /// Writes what is done for the block's own tiles.
  void writeFinish(scf::IfOp finish);
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
  /// Waits for an operand that all turns of the products' loop read.
  void writeHeldLoad(LoadOp load, unsigned ring);
  /// Frees what was waited for in the block of `loop`, which is that loop or
  /// around it.
  void freeHeld(scf::ForOp loop);
  /// Waits for what `load` has in a ring of its own, if there is one, for
  /// `reader`.
  Value findApart(LoadOp load, DotOp reader);
  /// Frees those that no product in flight reads.
  void freeApart();
  void writeProduct(Product &product);
  /// Waits for the stage of ring `ring` that comes next.
  WaitOp waitInRing(Location loc, unsigned ring);
  /// Waits for the stage of this turn of the contraction, once.
  void waitForStage(Location loc);
  /// Waits for the first `count` products in flight, or for all.
  void waitForProducts(Location loc, std::optional<size_t> count = {});
  /// Frees the stage of this turn, which nothing reads any more.
  void freeStage();
  /// Whether `op` is or reads what the stage of a turn has.
  bool readsStage(Operation &op) const;
  /// How many of the products in flight have to end before `op`.
  size_t countRead(Operation &op);
  /// Finds the products of the loop's body `block` that are read there.
  void findEarly(Block &block);
  bool usesAnyRing(Operation *op) {
    return llvm::any_of(
        llvm::seq<unsigned>(0, common.rings.size()),
        [&](unsigned ring) { return common.usesRing(op, ring); });
  }
  /// What `load` has in the stage of this turn; of one for each group this
  /// group's.
  Value bufferOf(LoadOp load);

  RoleContext &common;
  RoleState &state;
  DenseMap<Operation *, Product *> products;
  WaitOp stage;
  /// This group's buffers in it.
  DenseMap<Operation *, Value> ownBuffers;
  /// Operands that are held now: the load, its ring, the position in it and the
  /// buffer.
  struct Held {
    Operation *load;
    Value ring, position, buffer;
  };
  SmallVector<Held> heldNow;
  /// An operand that has a ring of its own, waited for by the product `reader`.
  struct Apart {
    unsigned ring;
    Operation *reader;
  };
  SmallVector<Apart, 1> apartNow;
  /// The number of the tile, counted over all groups of the block, and the
  /// position of its last stage.
  Value turn, lastPosition;
  /// Operations of the contraction that stand before its wait.
  llvm::SmallPtrSet<Operation *, 16> written;
  /// Operands that are in their buffers this turn.
  llvm::SmallPtrSet<void *, 4> storedNow;
  /// Products of the program whose copies are in flight.
  SmallVector<DotOp> inFlight;
  /// Those that are waited for while later ones may go on.
  llvm::SmallPtrSet<Operation *, 4> early;
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

WaitOp ConsumerWriter::waitInRing(Location loc, unsigned ring) {
  Value value = common.rings[ring].value;
  return WaitOp::create(state.builder, loc,
                        cast<RingType>(value.getType()).getBuffers(), value,
                        state.positions[ring]);
}

void ConsumerWriter::waitForStage(Location loc) {
  if (stage)
    return;
  if (common.walk && !common.walk.getContraction())
    takeTurn(loc);
  stage = waitInRing(loc, 0);
  if (common.walk)
    passTurn(loc);
}

Value ConsumerWriter::bufferOf(LoadOp load) {
  for (const Held &held : heldNow)
    if (held.load == load)
      return held.buffer;
  ContractionPlan &contraction = common.contraction();
  if (auto *it = contraction.transposed.find(load);
      it != contraction.transposed.end()) {
    auto [same, type] = it->second;
    return TransposeBufferOp::create(state.builder, load.getLoc(), type,
                                     bufferOf(same));
  }
  unsigned number = contraction.getNumber(load);
  int64_t copies = contraction.getCopies(load);
  if (copies == 1)
    return stage.getResult(number);
  Value &own = ownBuffers[load];
  if (!own)
    own = GroupBufferOp::create(state.builder, load.getLoc(),
                                stage.getResult(number).getType(),
                                stage.getResults().slice(number, copies));
  return own;
}

void ConsumerWriter::waitForProducts(Location loc,
                                     std::optional<size_t> count) {
  size_t ended = count.value_or(inFlight.size());
  if (ended == 0)
    return;
  // One that another product took as its accumulator ends with that one.
  SmallVector<DotOp> last;
  SmallVector<Value> values;
  for (DotOp dot : ArrayRef(inFlight).take_front(ended)) {
    Value value = state.mapping.lookup(dot.getResult());
    if (!value.use_empty())
      continue;
    last.push_back(dot);
    values.push_back(value);
  }
  bool isAll = ended == inFlight.size();
  auto wait = MmaWaitOp::create(
      state.builder, loc, TypeRange(values), values,
      isAll ? ValueRange(kept) : ValueRange(),
      /*pending=*/static_cast<int64_t>(inFlight.size() - ended));
  for (auto [dot, result] : llvm::zip(last, wait.getResults()))
    state.mapping.map(dot.getResult(), result);
  inFlight.erase(inFlight.begin(), inFlight.begin() + ended);
  if (isAll)
    kept.clear();
  freeApart();
}

size_t ConsumerWriter::countRead(Operation &op) {
  if (inFlight.empty())
    return 0;
  size_t count = 0;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      auto *dot = llvm::find(inFlight, operand.getDefiningOp<DotOp>());
      if (dot != inFlight.end())
        count = std::max<size_t>(count, dot - inFlight.begin() + 1);
    }
  });
  // Products are in one group up to the next one that is waited for early.
  while (count > 0 && count < inFlight.size() &&
         !early.contains(inFlight[count - 1]))
    ++count;
  return count;
}

void ConsumerWriter::findEarly(Block &block) {
  for (auto dot : block.getOps<DotOp>())
    for (Operation *user : dot->getUsers())
      if (!isa<DotOp>(user) && !user->hasTrait<OpTrait::IsTerminator>())
        early.insert(dot);
}

void ConsumerWriter::writeProduct(Product &product) {
  DotOp dot = product.dot;
  if (readsStage(*dot))
    waitForStage(dot.getLoc());
  // A sum that is read again must not be overwritten by the next product.
  if (auto before = dot.getAcc().getDefiningOp<DotOp>())
    if (!before->hasOneUse())
      waitForProducts(dot.getLoc());
  auto operandOf = [&](Value operand, bool computed) -> Value {
    if (!computed) {
      auto load = operand.getDefiningOp<LoadOp>();
      Value apart = findApart(load, dot);
      return apart ? apart : bufferOf(load);
    }
    Value tile = state.mapping.lookupOrDefault(operand);
    if (Value buffer = common.stored.lookup(operand)) {
      if (!common.contraction().isHeld(operand) &&
          storedNow.insert(operand.getAsOpaquePointer()).second) {
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
  // A group of its own ends by itself.
  if (!inFlight.empty() && early.contains(inFlight.back()))
    MmaWaitOp::create(state.builder, dot.getLoc(), TypeRange(), ValueRange(),
                      ValueRange(),
                      /*pending=*/static_cast<int64_t>(inFlight.size()));
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
  if (!common.contraction().holds(load->getBlock())) {
    state.builder.clone(*load, state.mapping);
    return;
  }
  waitForStage(load.getLoc());
  Value tile = LocalLoadOp::create(state.builder, load.getLoc(), load.getType(),
                                   bufferOf(load));
  state.mapping.map(load.getResult(), tile);
}

void ConsumerWriter::writeSideLoad(LoadOp load, unsigned ring) {
  Location loc = load.getLoc();
  Value value = common.rings[ring].value;
  Value &position = state.positions[ring];
  WaitOp wait = waitInRing(loc, ring);
  Value tile = LocalLoadOp::create(state.builder, loc, load.getType(),
                                   wait.getResult(0));
  ReleaseOp::create(state.builder, loc, value, position);
  state.mapping.map(load.getResult(), tile);
  position = emitNext(state.builder, loc, position, common.groups());
}

void ConsumerWriter::writeHeldLoad(LoadOp load, unsigned ring) {
  Location loc = load.getLoc();
  Value value = common.rings[ring].value;
  Value &position = state.positions[ring];
  WaitOp wait = waitInRing(loc, ring);
  heldNow.push_back({load, value, position, wait.getResult(0)});
  for (Staging &staging : common.plan.stagings)
    if (staging.held == ring - 1)
      for (auto &[store, copy] : staging.stores)
        common.staging[store] = wait.getResult(0);
  if (isReadAsTile(load, products))
    state.mapping.map(load.getResult(),
                      LocalLoadOp::create(state.builder, loc, load.getType(),
                                          wait.getResult(0)));
  position = emitNext(state.builder, loc, position, common.groups());
}

void ConsumerWriter::freeHeld(scf::ForOp loop) {
  if (!common.usesRing(loop, 0))
    return;
  llvm::erase_if(heldNow, [&](const Held &held) {
    if (held.load->getBlock() != loop->getBlock())
      return false;
    ReleaseOp::create(state.builder, held.load->getLoc(), held.ring,
                      held.position);
    return true;
  });
}

Value ConsumerWriter::findApart(LoadOp load, DotOp reader) {
  for (auto [i, side] : llvm::enumerate(common.plan.sideRings)) {
    if (!side.isApart || !side.loads.contains(load))
      continue;
    apartNow.push_back({static_cast<unsigned>(i) + 1, reader});
    return waitInRing(load.getLoc(), i + 1).getResult(0);
  }
  return nullptr;
}

void ConsumerWriter::freeApart() {
  llvm::erase_if(apartNow, [&](const Apart &apart) {
    if (llvm::is_contained(inFlight, apart.reader))
      return false;
    Location loc = apart.reader->getLoc();
    Value &position = state.positions[apart.ring];
    ReleaseOp::create(state.builder, loc, common.rings[apart.ring].value,
                      position);
    position = emitNext(state.builder, loc, position);
    return true;
  });
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

void ConsumerWriter::writeFinish(scf::IfOp finish) {
  SmallVector<unsigned> numbers;
  SmallVector<Value> before;
  for (unsigned ring = 1; ring < common.rings.size(); ++ring)
    if (common.usesRing(finish, ring)) {
      numbers.push_back(ring);
      before.push_back(state.positions[ring]);
    }
  scf::IfOp copy = openCondition(state, finish, numbers);
  write(*finish.thenBlock());
  closeCondition(state, copy, before, numbers);
}

void ConsumerWriter::writeIndependent(Block &block) {
  llvm::SmallPtrSet<Operation *, 16> dependent;
  for (Operation &op : block.without_terminator()) {
    bool depends =
        op.getNumRegions() || !(isMemoryEffectFree(&op) || isa<LoadOp>(op)) ||
        common.contraction().isInRing(&op) || products.count(&op) ||
        usesAnyRing(&op) || llvm::any_of(op.getOperands(), [&](Value operand) {
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
  ownBuffers.clear();
}

bool ConsumerWriter::readsStage(Operation &op) const {
  const ContractionPlan &contraction = common.plan.contraction;
  return contraction.isInRing(&op) ||
         (products.contains(&op) &&
          llvm::any_of(op.getOperands(), [&](Value operand) {
            return contraction.isInRing(operand.getDefiningOp());
          }));
}

void ConsumerWriter::writePlain(Operation &op) {
  const ContractionPlan &contraction = common.contraction();
  auto pin = [&](Value value) {
    Value tile = state.mapping.lookup(value);
    auto pinned =
        PinOp::create(state.builder, op.getLoc(), tile.getType(), tile);
    state.mapping.map(value, pinned.getResult());
  };
  // Put together before other products, and taken apart behind them.
  if (auto widen = dyn_cast<arith::ExtFOp>(op))
    if (Operation *narrow = widen.getIn().getDefiningOp())
      if (contraction.isKeptNarrow(narrow))
        pin(widen.getIn());
  state.builder.clone(op, state.mapping);
  if (contraction.isKeptNarrow(&op))
    pin(op.getResult(0));
  for (Value result : op.getResults())
    if (Value buffer = common.stored.lookup(result))
      if (contraction.isHeld(result))
        LocalStoreOp::create(state.builder, op.getLoc(),
                             state.mapping.lookup(result), buffer);
}

void ConsumerWriter::write(Block &source) {
  bool holdsProducts = common.contraction().holds(&source);
  if (holdsProducts && common.contraction().isLoop()) {
    writeIndependent(source);
    findEarly(source);
  }
  // The last operation that may read the stage of this turn.
  Operation *lastRead = nullptr;
  for (Operation &op : source)
    if (readsStage(op))
      lastRead = &op;
  bool holdsStage = holdsProducts;
  for (Operation &op : source) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    if (written.contains(&op))
      continue;
    if (common.contraction().isInRing(&op)) {
      writeMainLoad(cast<LoadOp>(op));
      continue;
    }
    if (Product *product = products.lookup(&op)) {
      writeProduct(*product);
      continue;
    }
    // What is kept is not taken apart while products need the registers.
    if (isa<PinOp>(op))
      waitForProducts(op.getLoc());
    else if (size_t count = countRead(op))
      waitForProducts(op.getLoc(), count);
    // Where the epilogue follows in the same block, the next tile's operands
    // are brought in meanwhile.
    bool isRead =
        llvm::any_of(inFlight, [&](DotOp dot) { return readsStage(*dot); });
    if (holdsStage && !isRead && lastRead->isBeforeInBlock(&op)) {
      freeStage();
      holdsStage = false;
    }
    auto side = llvm::find_if(
        llvm::drop_begin(common.rings),
        [&](const RoleRing &ring) { return ring.loads.contains(&op); });
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && loop == common.contraction().rowGroups) {
      Value number = GroupNumberOp::create(state.builder, loop.getLoc(),
                                           state.builder.getIndexType());
      state.mapping.map(loop.getInductionVar(), number);
      write(*loop.getBody());
    } else if (side != common.rings.end()) {
      unsigned ring = side - common.rings.begin();
      const SideRing &plan = common.plan.sideRings[ring - 1];
      // What is apart is waited for by its product.
      if (plan.isHeld)
        writeHeldLoad(cast<LoadOp>(op), ring);
      else if (!plan.isApart)
        writeSideLoad(cast<LoadOp>(op), ring);
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
      freeHeld(loop);
    } else if (loop && usesAnyRing(loop)) {
      writeLoop(loop);
      freeHeld(loop);
    } else if (&op == common.plan.finish) {
      writeFinish(common.plan.finish);
    } else {
      writePlain(op);
    }
  }
  if (!holdsProducts)
    return;
  waitForProducts(common.contraction().products.front().dot.getLoc());
  if (holdsStage)
    freeStage();
  storedNow.clear();
}

void tile::writeConsumer(RoleContext &common, RoleState &state, Block &source) {
  // Of the rings that groups do not share each has positions of its own.
  if (common.contraction().rowGroups && common.rings.size() > 1) {
    Value number = GroupNumberOp::create(state.builder, source.front().getLoc(),
                                         state.builder.getIndexType());
    for (auto [i, side] : llvm::enumerate(common.plan.sideRings))
      if (!side.isApart)
        state.positions[i + 1] = number;
  }
  ConsumerWriter(common, state).write(source);
}
