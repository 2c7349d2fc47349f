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
    : Pass<"fusion-tile-allocate-shared-memory", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Gives every shared-memory buffer its offset";
  let description = [{
    Input: programs whose `fusion_tile.alloc` ops have no offset. Output: every
    `fusion_tile.alloc` has an `offset`, and the program has `shared_bytes`. Buffers
    that are not live together share memory: a buffer lives from its first to
    its last use, and through a whole loop if it is used in the loop and
    allocated outside.
  }];
}

def AssignLayoutsPass : Pass<"fusion-tile-assign-layouts", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Decides where the elements of every tile live";
  let description = [{
    Input: programs whose tile types have no layout. Output: every tile type has
    one, and `fusion_tile.convert_layout` stands where two uses of a value want
    different ones.

    Values that elementwise operations connect share a layout. Loads and stores
    vote for the layout that makes their memory accesses contiguous, with the
    bytes they move; a contraction asks for its own. A broadcast's operand and a
    reduction's result take the projection of the larger tile's layout.
  }];
}

def FuseWalksPass : Pass<"fusion-tile-fuse-walks", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Stores results while another loop walks what they need";
  let description = [{
    Input: programs without layouts. A loop that only stores what it computes
    from what it loads becomes one with a loop beside it that has the same
    bounds, loads a tile at the same place and has results: that of a reduction.
    CSE then has what both load loaded once. The program stores all of it as
    before, in another order; it reads none of it.
  }];
}

def JoinAccessesPass : Pass<"fusion-tile-join-accesses", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Accesses what lies side by side at once";
  let description = [{
    Input: programs with layouts. Loads that differ in nothing but a constant
    part of the coordinate along memory, such as those of a window's elements,
    become one for each 16 bytes, in which a thread has neighbours in a dimension
    behind the others, and parts of it. So do stores, where all of so many bytes
    are written. Such accesses begin at multiples of their width, and rows have
    multiples of it: all of what one moves is in bounds, or nothing, so that the
    ends of a row are one condition. Programs that read what they write are left
    as they are.

    ```mlir
    %a = fusion_tile.load %v[(i)[s] -> (i * 2 + s)] (%s) ... -> tensor<32xf32>
    %b = fusion_tile.load %v[(i)[s] -> (i * 2 + s + 1)] (%s) ... -> tensor<32xf32>
      ==>
    %0 = fusion_tile.load %v[(i, n)[s] -> (i * 2 + s + n)] (%s) ... -> tensor<32x2xf32>
    %1 = fusion_tile.slice %0 [0, 0] : tensor<32x2xf32> -> tensor<32x1xf32>
    %a = fusion_tile.reshape %1 : tensor<32x1xf32> -> tensor<32xf32>
    ...
    ```
  }];
}

def LowerExchangesPass : Pass<"fusion-tile-lower-exchanges", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Makes exchanges between threads explicit";
  let description = [{
    Rewrites each `fusion_tile.convert_layout` that moves elements between warps into
    `fusion_tile.alloc`, `fusion_tile.local_store` and `fusion_tile.local_load`, and each
    `fusion_tile.reduce` over several warps into a reduction inside each warp, an
    exchange of the partial results, and a second reduction. What remains is
    within a warp.
  }];
}

def PipelineLoadsPass : Pass<"fusion-tile-pipeline-loads", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Starts the loads of loops several iterations ahead";
  let description = [{
    Input: programs with layouts. In programs of kind `mma_sync` with more than
    one stage, the loads of a loop that products of the loop depend on become
    copies into buffers with as many stages, started that many iterations less
    one ahead; the loop waits for the oldest, reads it from shared memory in the
    layouts that its uses want, and starts the next. Arithmetic between load and
    product stays where it is, behind the read. Loops that do nothing but run
    such a loop become one with it.

    Loads that copies of 4, 8 or 16 bytes cannot make are, where their addresses
    are known an iteration ahead, made one iteration ahead into registers;
    others stay. Stages that shared memory has no room for are left out; where
    it has none for two, all loads stay. Output: `fusion_tile.stage`,
    `fusion_tile.copy_start`, `fusion_tile.copy_commit`, `fusion_tile.copy_wait` and the
    `fusion_tile.barrier`s between them.

    In any program, the loads of a loop with `fusion_tile.num_stages = N` become copies
    N - 1 iterations ahead by which each thread copies what it loads itself: it
    waits for no other thread, and there are no barriers. What lanes or warps
    have in common, and what copies cannot move, is loaded as before. Those of a
    loop with `fusion_tile.load_ahead` are made one iteration ahead into registers.
  }];
  let options = [
    Option<"sharedMemoryLimitBytes", "shared-memory-limit-bytes", "int64_t",
           "0", "shared memory of one block, in bytes; 0: that of the "
           "module's chip">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PlaceBarriersPass : Pass<"fusion-tile-place-barriers", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Separates conflicting shared-memory accesses by barriers";
  let description = [{
    Input: programs whose buffers have offsets. Output: a `fusion_tile.barrier` between
    any two accesses to overlapping shared memory of which one is a write, also
    from one iteration of a loop to the next, and no more than that needs.
  }];
}

def SpecializeWarpsPass
    : Pass<"fusion-tile-specialize-warps", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Gives warps the roles of producers and of a consumer";
  let description = [{
    Input: a program with `pipeline = #fusion_tile.pipeline<wgmma, ...>` and tiles
    without layouts; others are left as they are. Output: a program whose block
    holds scalars, views, tensor maps, rings and staging buffers, and one
    `fusion_tile.specialize`:

    - the consumer has the program's loops and arithmetic. Each `fusion_tile.dot` is a
      `fusion_tile.mma_async`; its operands are buffers of a ring, or tiles computed from
      such: one stays in registers when the instruction's rows are its own, which
      `swapped` chooses; another is put into a buffer. `fusion_tile.mma_wait` and
      `fusion_tile.release` end each turn.
    - the first producer has the same loops with copies into that ring only.
    - each further producer feeds a ring of two stages with the tiles that the
      code around the contraction loads, all of one type.
    - large stores become `fusion_tile.async_store`.

    Small loads are made early: those of the contraction before the wait for the
    stage, those after it before the contraction or one chunk ahead.

    A running number, carried by all loops of a role around the ring's use, is
    the position in the ring.

    A product that warpgroups cannot make, or an operand that the tensor copy
    engine cannot load, leaves the program as it is but for its kind of
    pipeline, which becomes `mma_sync`; a remark says why. Rings and buffers
    that exceed shared memory lose stages, then the second staging buffer, then
    staging; what still does not fit is an error.

    ```mlir
    scf.for %k = ... iter_args(%acc = %zero) {
      %a = fusion_tile.load %x[...] ...
      %b = fusion_tile.load %y[...] ...
      %d = fusion_tile.dot %a, %b, %acc
      scf.yield %d
    }
    ==>
    fusion_tile.specialize consumer {
      scf.for %k = ... iter_args(%acc = %zero, %p = %c0) {
        %s:2 = fusion_tile.wait %ring[%p]
        %d = fusion_tile.mma_async %s#0, %s#1, %acc
        %e = fusion_tile.mma_wait %d
        fusion_tile.release %ring[%p]
        %q = arith.addi %p, %c1
        scf.yield %e, %q
      }
    } producer {
      scf.for %k = ... iter_args(%p = %c0) {
        %s:2 = fusion_tile.acquire %ring[%p]
        fusion_tile.async_load %mx[...] into %s#0 signals %ring[%p]
        fusion_tile.async_load %my[...] into %s#1 signals %ring[%p]
        %q = arith.addi %p, %c1
        scf.yield %q
      }
    }
    ```
  }];
  let options = [
    Option<"sharedMemoryLimitBytes", "shared-memory-limit-bytes", "int64_t",
           "0", "shared memory of one block, in bytes; 0: that of the "
           "module's chip">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def ChainSumsPass : Pass<"fusion-tile-chain-sums", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Lets sums of products begin with those they are added to";
  let description = [{
    Two sums of products of one tile, each a dot or a loop that carries one, of
    which nothing but an addition reads either, become one: the later one begins
    with the earlier one's result in place of zeros.

    ```mlir
    %s = scf.for %i = ... iter_args(%a = %zero) -> (tensor<128x256xf32>) {...}
    %t = scf.for %j = ... iter_args(%b = %zero) -> (tensor<128x256xf32>) {...}
    %x = arith.addf %s, %t : tensor<128x256xf32>
    ==>
    %t = scf.for %j = ... iter_args(%b = %s) -> (tensor<128x256xf32>) {...}
    ```
  }];
}

def SplitEpiloguePass
    : Pass<"fusion-tile-split-epilogue", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Computes what follows a contraction by chunks of columns";
  let description = [{
    Input: a program with `pipeline = #fusion_tile.pipeline<wgmma, columns = C>`, C
    above zero, and tiles without layouts; others, programs that
    `fusion-tile-specialize-warps` would not give roles, and programs whose warpgroups
    share the columns of a row are left as they are. Output:
    each store of a tile that has the accumulator's columns, more than C of
    them, is made once for each C columns, with what it stores rebuilt for these
    columns. Stores of one block alternate, chunk after chunk.

    Elementwise operations, broadcasts, loads, indices and constants are rebuilt
    on the chunk; of all other values, and of those that are needed whole
    anyway, a `fusion_tile.slice` is taken.

    ```mlir
    %r = math.tanh %sum : tensor<128x128xf32>
    fusion_tile.store %r, %y[(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)] (%m, %n)
    ==>  (columns = 64)
    %a = fusion_tile.slice %sum [0, 0] : tensor<128x128xf32> -> tensor<128x64xf32>
    %b = math.tanh %a : tensor<128x64xf32>
    fusion_tile.store %b, %y[(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)] (%m, %n)
    %c = fusion_tile.slice %sum [0, 64] : tensor<128x128xf32> -> tensor<128x64xf32>
    %d = math.tanh %c : tensor<128x64xf32>
    fusion_tile.store %d, %y[(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1 + 64)] (%m, %n)
    ```

    When the rows of the instruction are the columns of the accumulator
    (`swapped`), the chunks are of rows.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def ContractExponentsPass
    : Pass<"fusion-tile-contract-exponents", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Computes exponents relative to a row by one multiply-add";
  let description = [{
    An exponential of f32 that may be approximated (`afn`), of the distance of a
    tile's elements, or of a multiple of them, from what is one number in a row,
    becomes a power of two of a multiply-add. Positive factors move from what a
    maximum or minimum is of to its result, and out of choices between a multiple
    and an infinity, so that nothing but the multiply-add has them. Before that,
    exponentials of what a mask has made minus infinity elsewhere lose a mask of
    their own where they are only added up or multiplied:

    ```mlir
    %y = arith.mulf %x, %k : tensor<64x128xf32>
    %m = fusion_tile.reduce %y along 1 ...
    %b = fusion_tile.broadcast %m dims [0] : tensor<64xf32> -> tensor<64x128xf32>
    %d = arith.subf %y, %b : tensor<64x128xf32>
    %p = math.exp %d fastmath<afn> : tensor<64x128xf32>
    ```

    becomes, with `%c` = k log2(e) and `%l` = -log2(e),

    ```mlir
    %t = fusion_tile.reduce %x along 1 ...
    %m = arith.mulf %t, %k1 : tensor<64xf32>
    %o = arith.mulf %m, %l : tensor<64xf32>
    %b = fusion_tile.broadcast %o dims [0] : tensor<64xf32> -> tensor<64x128xf32>
    %d = math.fma %x, %c, %b : tensor<64x128xf32>
    %p = math.exp2 %d fastmath<afn> : tensor<64x128xf32>
    ```
  }];
  let options = [
    Option<"fast", "fast", "bool", "false",
           "every exponential may be approximated">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def SkewProductsPass
    : Pass<"fusion-tile-skew-products", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Runs a product one turn behind the one that it needs";
  let description = [{
    Input: specialized programs with `skew` in their pipeline. In a consumer's
    loop of two products, of which the second has an operand that is computed from
    the first's result and another one in a ring of its own, and adds to a sum that
    the loop carries, scaled or not, the second is made one turn later, right after
    the first has begun. The first turn's first product and what is computed of it
    stand before the loop, the last turn's second product stands after it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def GuardMasksPass
    : Pass<"fusion-tile-guard-masks", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Computes masks of positions only where they choose";
  let description = [{
    Input: programs whose products warpgroups make. In their loops, a choice between
    what is computed of a product and a number, by comparisons of positions, is made
    only in turns in which the product is not all of the result, which is known from
    where the tiles of positions begin and end: `scf.if` gives the tile, or else
    computes the mask.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def SplitMaskedWalksPass
    : Pass<"fusion-tile-split-masked-walks", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Gives turns that a mask removes nothing of a loop of their own";
  let description = [{
    Input: loops with products and one guarded mask (`fusion-tile-guard-masks`), whose
    condition is a conjunction of comparisons of the loop's position, or of it and
    an invariant number, with invariant numbers. The turns before those in which all
    of them hold, these, and the turns behind them become three loops, or two
    where all comparisons are of one direction; none of them has a branch.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def SinkBehindProductsPass
    : Pass<"fusion-tile-sink-behind-products", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Computes tiles behind the products that they are combined with";
  let description = [{
    Input: programs whose products warpgroups make. Tiles that are computed before
    the wait for a product, without memory, and needed only behind it, are computed
    where they are needed first: they would take registers while the product runs.
    Tiles of at least its size are read from stages of rings behind it, too, unless
    the stage may be freed before.
  }];
}

def PrepareAheadPass : Pass<"fusion-tile-prepare-ahead", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Computes operands beside products of others";
  let description = [{
    Input: programs of roles, in whose loops operands of products are computed
    and stored to buffers. Output: where a turn has several products, those of
    later ones are computed once the first one has begun, and those of the first
    one while the last of the turn before runs, the first turn's before the loop.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def OverlapProductsPass
    : Pass<"fusion-tile-overlap-products", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Keeps the products of one iteration in flight over the next";
  let description = [{
    Input: programs of one warpgroup whose loops begin products on a ring's
    stage, wait for them and release the stage. Output: the wait leaves one
    group in flight and the stage is released one iteration later; the rest is
    waited for after the loop. With several warpgroups nothing changes: they
    fill each other's gaps.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def PublishAheadPass
    : Pass<"fusion-tile-publish-ahead", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Publishes each round of a walk before the last is collected";
  let description = [{
    Input: programs whose exchanges between threads are explicit and whose
    barriers are not placed. In loops of a known number of rounds, what leads to
    a `fusion_tile.panel_publish` with four copies is made for the round after the one
    whose `fusion_tile.panel_scan` follows it; of a piece of the walk before or after
    the loop as well. Loops whose early part needs what the late one has are left
    as they are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def ShrinkLoadsPass : Pass<"fusion-tile-shrink-loads", "::mlir::fusion::tile::ProgramOp"> {
  let summary = "Loads what a tile repeats once";
  let description = [{
    Input: programs without layouts. In programs with products by matrix
    instructions, a load of which a dimension is only found divided by a power
    of two becomes a load of the elements there are, and a `fusion_tile.repeat`, or a
    `fusion_tile.broadcast` where there is one for the whole tile. So are numbers of 4
    bits, two in a byte, and the factors of groups.

    ```mlir
    fusion_tile.load %v[(n, k)[s] -> (n, (k + s) floordiv 2)] (%i) ... -> tensor<8x64xi8>
      ==>
    %x = fusion_tile.load %v[(n, k)[s] -> (n, k + s floordiv 2)] (%i) ... -> tensor<8x32xi8>
    fusion_tile.repeat %x along 1 : tensor<8x32xi8> -> tensor<8x64xi8>
    ```
  }];
}

#endif // FUSION_DIALECT_TILE_TRANSFORMS_PASSES_TD
