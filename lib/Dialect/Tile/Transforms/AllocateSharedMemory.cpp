//===- AllocateSharedMemory.cpp - Gives shared-memory buffers their offsets
//===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements shared-memory allocation: buffers whose lifetimes do not
// meet may share memory.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/MmaCost.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/Support/FirstFit.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tile {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::tile

#define DEBUG_TYPE "tile-allocate-shared-memory"

using namespace mlir;
using namespace mlir::tile;

/// Of the widest access to what blocks of a cluster exchange.
static constexpr int64_t kClusterAlignment = 16;

namespace {
/// A buffer or a ring with the positions of its first and last use in program
/// order.
struct Lifetime {
  Operation *owner;
  unsigned first = 0, last = 0;
  int64_t bytes = 0, alignment = 16, offset = 0;

  bool meets(const Lifetime &other) const {
    return first <= other.last && other.first <= last;
  }
};

/// Takes the buffers of several groups of consumers out of `lives` and puts one
/// area for all groups there. Returns those of one group with offsets in it.
static SmallVector<Lifetime> placeGroups(SpecializeOp roles, unsigned end,
                                         SmallVectorImpl<Lifetime> &lives) {
  SmallVector<Lifetime> own;
  llvm::erase_if(lives, [&](const Lifetime &life) {
    bool isOwn = roles.getConsumer().isAncestor(life.owner->getParentRegion());
    if (isOwn)
      own.push_back(life);
    return isOwn;
  });
  if (own.empty())
    return own;
  Lifetime area{roles, 0, end};
  for (const Lifetime &life : own)
    area.alignment = std::max(area.alignment, life.alignment);
  int64_t bytes = llvm::alignTo(fusion::placeFirstFit(own), area.alignment);
  area.bytes = bytes * static_cast<int64_t>(roles.getGroups());
  roles.setGroupBytes(bytes);
  lives.push_back(area);
  return own;
}

/// The ring that one loop of the program's consumers empties, if that is the
/// end of it: what follows has its stages to itself. Its barriers stay as they
/// are.
static MakeRingOp findSpentRing(ProgramOp program, Operation *&lastUse) {
  std::optional<PipelineAttr> pipeline = program.getPipeline();
  if (!pipeline || pipeline->getKind() != MmaKind::MmaSync)
    return nullptr;
  MakeRingOp spent;
  program.getBody().walk([&](MakeRingOp ring) {
    if (!ring.getType().getBuffers().empty())
      spent = ring;
  });
  if (!spent)
    return nullptr;
  lastUse = nullptr;
  for (Operation *user : spent->getUsers()) {
    auto roles = user->getParentOfType<SpecializeOp>();
    if (!roles || roles.getGroups() > 1)
      return nullptr;
    Operation *ancestor =
        roles.getConsumer().front().findAncestorOpInBlock(*user);
    if (ancestor && (!lastUse || lastUse->isBeforeInBlock(ancestor)))
      lastUse = ancestor;
  }
  return lastUse ? spent : nullptr;
}

/// Takes the buffers that live after `last` out of `lives`, if they fit the
/// stages of `ring` together; returns them with offsets in it.
static SmallVector<Lifetime> placeInRing(MakeRingOp ring, unsigned last,
                                         SmallVectorImpl<Lifetime> &lives) {
  SmallVector<Lifetime> own, others;
  for (const Lifetime &life : lives)
    (life.first > last ? own : others).push_back(life);
  if (fusion::placeFirstFit(own) >
      ring.getType().getStages() * ring.getType().getStageBytes())
    return {};
  lives = others;
  return own;
}

class AllocateSharedMemoryPass
    : public tile::impl::AllocateSharedMemoryPassBase<
          AllocateSharedMemoryPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    // Number operations; an operation with regions spans those inside it.
    DenseMap<Operation *, std::pair<unsigned, unsigned>> span;
    unsigned next = 0;
    program.getBody().walk<WalkOrder::PreOrder>(
        [&](Operation *op) { span[op] = {next, next}, ++next; });
    program.getBody().walk([&](Operation *op) {
      if (op->getNumRegions())
        op->walk([&](Operation *inner) {
          span[op].second = std::max(span[op].second, span[inner].second);
        });
    });

    SmallVector<Lifetime> buffers;
    program.getBody().walk([&](AllocOp alloc) {
      Lifetime life{alloc};
      life.first = life.last = span[alloc].first;
      bool isUsedByCopies = false;
      for (Operation *user : alloc->getUsers()) {
        // Copies out of a buffer, reads by products in flight or by other
        // blocks last beyond the operation.
        if (isa<AsyncStoreOp, ClusterReduceOp, MmaAsyncOp>(user))
          isUsedByCopies = true;
        // A use inside a loop around the use but not the allocation keeps the
        // buffer alive through the loop.
        Operation *ancestor = alloc->getBlock()->findAncestorOpInBlock(*user);
        life.last = std::max(life.last, span[ancestor].second);
      }
      const SharedLayout &layout = alloc.getType().getLayout().getShared();
      life.bytes = alloc.getStages()
                       ? alloc.getStageBytes() * *alloc.getStages()
                       : layout.sizeInBytes();
      life.alignment = layout.alignment();
      if (isUsedByCopies) {
        life.first = 0, life.last = next;
        life.alignment = std::max<int64_t>(life.alignment, kBankRowBytes);
      }
      buffers.push_back(life);
    });

    Operation *lastUse = nullptr;
    MakeRingOp spent = findSpentRing(program, lastUse);
    SmallVector<Lifetime> after;
    if (spent)
      after = placeInRing(spent, span[lastUse].second, buffers);

    // Memory that would otherwise lie idle is better than barriers: buffers
    // share only when there is much of it.
    int64_t separate = 0;
    for (const Lifetime &life : buffers)
      separate += llvm::alignTo(life.bytes, life.alignment);
    if (separate <= fusion::kPlentifulShared)
      for (Lifetime &life : buffers)
        life.first = 0, life.last = next;

    // A ring's copies come and go all the time.
    program.getBody().walk([&](MakeRingOp ring) {
      Lifetime life{ring, 0, next};
      life.bytes = ring.getType().getTotalBytes();
      life.alignment = ring.getType().getAlignment();
      buffers.push_back(life);
    });

    SpecializeOp groups;
    program.getBody().walk([&](SpecializeOp roles) {
      if (roles.getGroups() > 1)
        groups = roles;
    });
    SmallVector<Lifetime> own;
    if (groups)
      own = placeGroups(groups, next, buffers);
    int64_t total = fusion::placeFirstFit(buffers);
    Builder builder(program.getContext());
    for (const Lifetime &life : buffers) {
      if (auto alloc = dyn_cast<AllocOp>(life.owner))
        alloc.setOffset(life.offset);
      else if (auto ring = dyn_cast<MakeRingOp>(life.owner))
        ring.setOffset(life.offset);
      else
        for (const Lifetime &ofGroup : own)
          cast<AllocOp>(ofGroup.owner).setOffset(life.offset + ofGroup.offset);
    }
    for (const Lifetime &life : after)
      cast<AllocOp>(life.owner).setOffset(*spent.getOffset() + life.offset);
    // Last come the two barriers at which the blocks of a cluster meet.
    bool meets = false;
    program.getBody().walk([&](ClusterReduceOp) { meets = true; });
    if (meets)
      total = llvm::alignTo(total, 8) + 2 * 8;
    // What other blocks write to is nobody else's, whenever they do.
    program.getBody().walk([&](ClusterMemoryOp memory) {
      total = llvm::alignTo(total, kClusterAlignment);
      memory.setOffset(total);
      total += static_cast<int64_t>(memory.getBytes());
    });
    program.setSharedBytesAttr(builder.getI64IntegerAttr(total));
  }
};
} // namespace
