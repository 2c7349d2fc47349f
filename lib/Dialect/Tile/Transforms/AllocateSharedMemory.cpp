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

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"
#include "fusion/Support/Hardware.h"
#include "fusion/Support/SharedPlaces.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fusion::tile {
#define GEN_PASS_DEF_ALLOCATESHAREDMEMORYPASS
#include "fusion/Dialect/Tile/Transforms/Passes.h.inc"
} // namespace mlir::fusion::tile

#define DEBUG_TYPE "fusion-tile-allocate-shared-memory"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

using fusion::SharedPiece;

namespace {
/// What a program keeps in shared memory, and who it belongs to.
struct Pieces {
  SmallVector<SharedPiece> all;
  SmallVector<Operation *> owners;

  void add(Operation *owner, const SharedPiece &piece) {
    owners.push_back(owner);
    all.push_back(piece);
  }
};
} // namespace

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

/// Takes the buffers that live after `last` out of `pieces`, if they fit the
/// stages of `ring` together; returns them with offsets in it.
static Pieces placeInRing(MakeRingOp ring, unsigned last, Pieces &pieces) {
  Pieces own, others;
  for (auto [owner, piece] : llvm::zip(pieces.owners, pieces.all))
    (piece.first > last ? own : others).add(owner, piece);
  if (fusion::placeFirstFit(own.all) >
      ring.getType().getStages() * ring.getType().getStageBytes())
    return {};
  pieces = std::move(others);
  return own;
}

/// The buffers of `program`, with the positions of their first and last use.
static Pieces
findBuffers(ProgramOp program,
            DenseMap<Operation *, std::pair<unsigned, unsigned>> &span) {
  Pieces buffers;
  program.getBody().walk([&](AllocOp alloc) {
    SharedPiece piece;
    piece.first = piece.last = span[alloc].first;
    bool isUsedByCopies = false;
    for (Operation *user : alloc->getUsers()) {
      // Copies out of a buffer, reads by products in flight or by other
      // blocks last beyond the operation.
      if (isa<AsyncStoreOp, ClusterReduceOp, MmaAsyncOp>(user))
        isUsedByCopies = true;
      // A use inside a loop around the use but not the allocation keeps the
      // buffer alive through the loop.
      Operation *ancestor = alloc->getBlock()->findAncestorOpInBlock(*user);
      piece.last = std::max(piece.last, span[ancestor].second);
    }
    const SharedLayout &layout = alloc.getType().getLayout().getShared();
    piece.bytes = alloc.getStages() ? alloc.getStageBytes() * *alloc.getStages()
                                    : layout.sizeInBytes();
    piece.alignment = layout.alignment();
    if (isUsedByCopies) {
      piece.first = 0, piece.last = ~0u;
      piece.alignment = std::max<int64_t>(piece.alignment, kBankRowBytes);
    }
    buffers.add(alloc, piece);
  });
  return buffers;
}

/// Adds what lives throughout: rings, the two barriers at which the blocks of a
/// cluster meet, and what other blocks write to.
static void addRings(ProgramOp program, Pieces &pieces) {
  program.getBody().walk([&](MakeRingOp ring) {
    pieces.add(ring, {ring.getType().getTotalBytes(),
                      ring.getType().getAlignment(), SharedPiece::Kind::Ring});
  });
  bool meets = false;
  program.getBody().walk([&](ClusterReduceOp) { meets = true; });
  if (meets)
    pieces.add(program, fusion::getClusterBarriers());
  program.getBody().walk([&](ClusterMemoryOp memory) {
    pieces.add(memory, fusion::getClusterMemory(
                           static_cast<int64_t>(memory.getBytes())));
  });
}

namespace {
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

    Pieces pieces = findBuffers(program, span);
    Operation *lastUse = nullptr;
    MakeRingOp spent = findSpentRing(program, lastUse);
    Pieces after;
    if (spent)
      after = placeInRing(spent, span[lastUse].second, pieces);
    addRings(program, pieces);

    SpecializeOp roles;
    program.getBody().walk([&](SpecializeOp op) {
      if (op.getGroups() > 1)
        roles = op;
    });
    if (roles)
      for (auto [owner, piece] : llvm::zip(pieces.owners, pieces.all))
        piece.isOfGroup =
            roles.getConsumer().isAncestor(owner->getParentRegion());
    fusion::SharedBytes bytes =
        fusion::placeShared(pieces.all, roles ? roles.getGroups() : 1);
    if (bytes.ofGroup > 0)
      roles.setGroupBytes(bytes.ofGroup);
    for (auto [owner, piece] : llvm::zip(pieces.owners, pieces.all))
      if (auto alloc = dyn_cast<AllocOp>(owner))
        alloc.setOffset(piece.offset);
      else if (auto ring = dyn_cast<MakeRingOp>(owner))
        ring.setOffset(piece.offset);
      else if (auto memory = dyn_cast<ClusterMemoryOp>(owner))
        memory.setOffset(piece.offset);
    for (auto [owner, piece] : llvm::zip(after.owners, after.all))
      cast<AllocOp>(owner).setOffset(*spent.getOffset() + piece.offset);
    Builder builder(program.getContext());
    int64_t total = bytes.ofBlock;
    program.setSharedBytesAttr(builder.getI64IntegerAttr(total));
  }
};
} // namespace
