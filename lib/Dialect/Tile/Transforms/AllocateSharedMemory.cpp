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

#include "SharedPieces.h"
#include "fusion/Dialect/Tile/Transforms/Passes.h"

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
static SharedPieces placeInRing(MakeRingOp ring, unsigned last,
                                SharedPieces &pieces) {
  SharedPieces own, others;
  for (auto [owner, piece] : llvm::zip(pieces.owners, pieces.all))
    (piece.first > last ? own : others).add(owner, piece);
  if (fusion::placeFirstFit(own.all) >
      ring.getType().getStages() * ring.getType().getStageBytes())
    return {};
  pieces = std::move(others);
  return own;
}

namespace {
class AllocateSharedMemoryPass
    : public tile::impl::AllocateSharedMemoryPassBase<
          AllocateSharedMemoryPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    ProgramOp program = getOperation();
    SharedTimes times(program);
    SharedPieces pieces = times.findBuffers();
    Operation *lastUse = nullptr;
    MakeRingOp spent = findSpentRing(program, lastUse);
    SharedPieces after;
    if (spent)
      after = placeInRing(spent, times.getLastUse(lastUse), pieces);
    times.addRings(pieces);

    fusion::SharedBytes bytes = times.place(pieces);
    if (bytes.ofGroup > 0)
      times.getGroups().setGroupBytes(bytes.ofGroup);
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
