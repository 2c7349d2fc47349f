//===- Passes.td - Passes of the tile level ---------------*- tablegen -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_TRANSFORMS_PASSES_TD
#define FUSION_DIALECT_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def AllocateSharedMemoryPass
    : Pass<"tile-allocate-shared-memory", "::mlir::tile::ProgramOp"> {
  let summary = "Gives every shared-memory buffer its offset";
  let description = [{
    Input: programs whose `tile.alloc` ops have no offset. Output: every
    `tile.alloc` has an `offset`, and the program has `shared_bytes`. Buffers
    that are not live together share memory: a buffer lives from its first to
    its last use, and through a whole loop if it is used in the loop and
    allocated outside.
  }];
}

def AssignLayoutsPass : Pass<"tile-assign-layouts", "::mlir::tile::ProgramOp"> {
  let summary = "Decides where the elements of every tile live";
  let description = [{
    Input: programs whose tile types have no layout. Output: every tile type has
    one, and `tile.convert_layout` stands where two uses of a value want
    different ones.

    Values that elementwise operations connect share a layout. Loads and stores
    vote for the layout that makes their memory accesses contiguous, with the
    bytes they move; a contraction asks for its own. A broadcast's operand and a
    reduction's result take the projection of the larger tile's layout.
  }];
}

def LowerExchangesPass : Pass<"tile-lower-exchanges", "::mlir::tile::ProgramOp"> {
  let summary = "Makes exchanges between threads explicit";
  let description = [{
    Rewrites each `tile.convert_layout` that moves elements between warps into
    `tile.alloc`, `tile.local_store` and `tile.local_load`, and each
    `tile.reduce` over several warps into a reduction inside each warp, an
    exchange of the partial results, and a second reduction. What remains is
    within a warp.
  }];
}

def PlaceBarriersPass : Pass<"tile-place-barriers", "::mlir::tile::ProgramOp"> {
  let summary = "Separates conflicting shared-memory accesses by barriers";
  let description = [{
    Input: programs whose buffers have offsets. Output: a `tile.barrier` between
    any two accesses to overlapping shared memory of which one is a write, also
    from one iteration of a loop to the next, and no more than that needs.
  }];
}

#endif // FUSION_DIALECT_TILE_TRANSFORMS_PASSES_TD
