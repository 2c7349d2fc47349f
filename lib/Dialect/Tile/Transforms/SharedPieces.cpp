//===- SharedPieces.cpp - What programs keep in shared memory -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the list of what a program keeps in shared memory, with
// the times at which it is used.
//
//===----------------------------------------------------------------------===//

#include "SharedPieces.h"
#include "fusion/Support/Hardware.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

using fusion::SharedPiece;

SharedTimes::SharedTimes(ProgramOp program) : program(program) {
  unsigned next = 0;
  program.getBody().walk<WalkOrder::PreOrder>(
      [&](Operation *op) { spans[op] = {next, next}, ++next; });
  program.getBody().walk([&](Operation *op) {
    if (op->getNumRegions())
      op->walk([&](Operation *inner) {
        spans[op].second = std::max(spans[op].second, spans[inner].second);
      });
    if (auto roles = dyn_cast<SpecializeOp>(op); roles && roles.getGroups() > 1)
      groups = roles;
  });
}

SharedPieces SharedTimes::findBuffers() const {
  SharedPieces buffers;
  program.getBody().walk([&](AllocOp alloc) {
    SharedPiece piece;
    piece.first = piece.last = spans.at(alloc).first;
    bool isUsedByCopies = false;
    for (Operation *user : alloc->getUsers()) {
      // Copies out of a buffer, reads by products in flight or by other
      // blocks last beyond the operation.
      if (isa<AsyncStoreOp, ClusterReduceOp, MmaAsyncOp>(user))
        isUsedByCopies = true;
      // A use inside a loop around the use but not the allocation keeps the
      // buffer alive through the loop.
      Operation *ancestor = alloc->getBlock()->findAncestorOpInBlock(*user);
      piece.last = std::max(piece.last, spans.at(ancestor).second);
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

void SharedTimes::addRings(SharedPieces &pieces) const {
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

fusion::SharedBytes SharedTimes::place(SharedPieces &pieces) const {
  if (groups)
    for (auto [owner, piece] : llvm::zip(pieces.owners, pieces.all))
      piece.isOfGroup =
          groups.getConsumer().isAncestor(owner->getParentRegion());
  return fusion::placeShared(pieces.all, groups ? groups.getGroups() : 1);
}

int64_t SharedTimes::getBytesWith(Operation *op, int64_t bytes) const {
  SharedPieces pieces = findBuffers();
  addRings(pieces);
  SharedPiece moment{bytes};
  moment.first = moment.last = spans.at(op).first;
  pieces.add(op, moment);
  return place(pieces).ofBlock;
}
