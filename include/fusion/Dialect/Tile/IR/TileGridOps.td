//===- TileGridOps.td - Exchange between blocks of a grid --*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the operations by which blocks of a grid hand tiles to each
// other through global memory.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_TILEGRIDOPS_TD
#define FUSION_DIALECT_TILE_IR_TILEGRIDOPS_TD

include "fusion/Dialect/Tile/IR/TileBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_ScratchOp : Tile_Op<"scratch", [Pure]> {
  let summary = "Memory that blocks of one launch share";
  let description = [{
    The address of `bytes` bytes of global memory that the launch provides.
    What they hold is not known; with `signals` they are zero when the launch
    begins, and have to be zero when it ends. Two with the same attributes are
    the same memory.

    Example:
    ```mlir
    func.func @scratch() {
      %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
      %signals = fusion_tile.scratch 32 signals : !llvm.ptr<1>
      return
    }
    ```
  }];
  let arguments = (ins I64Attr:$bytes, UnitAttr:$signals);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $bytes (`signals` $signals^)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_PublishOp : Tile_Op<"publish", [
    MemoryEffects<[MemWrite]>, AllTypesMatch<["slots", "signals"]>]> {
  let summary = "Hands tiles to another block of the grid";
  let description = [{
    Writes the tiles to slot `number` of `slots`, as the threads hold them, and
    then signals that they are there: a `fusion_tile.collect` of the same number, in
    any block, adds them to its own. The layouts must be the same on both sides;
    they are one more property of the values. A slot is published and collected
    once in a launch.

    A slot has as many bytes as the tiles; of `signals`, each slot has a word of
    32 bits for each warp. Warps signal one by one, since each reads what the
    same warp of the other block has written.

    Example:
    ```mlir
    func.func @publish(%sum: tensor<64x64xf32>, %number: index) {
      %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
      %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
      fusion_tile.publish %sum to %slots signals %signals[%number]
          : !llvm.ptr<1>, tensor<64x64xf32>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$values, AnyType:$slots,
                       AnyType:$signals, Index:$number);
  let assemblyFormat = [{
    $values `to` $slots `signals` $signals `[` $number `]` attr-dict
    `:` type($slots) `,` type($values)
  }];
  let hasVerifier = 1;
}

def Tile_CollectOp : Tile_Op<"collect", [
    MemoryEffects<[MemRead, MemWrite]>,
    AllTypesMatch<["slots", "signals"]>,
    RangedTypesMatchWith<"results are of the values' types", "values", "results",
                   "$_self">]> {
  let summary = "Adds tiles that another block of the grid published";
  let description = [{
    Waits until slot `number` is published, takes the signal back, and adds what
    lies there to `values` (float or integer, in the element type). A block may
    only wait for blocks that are sure to come so far without it; blocks of
    lower numbers begin first.

    Example:
    ```mlir
    func.func @collect(%sum: tensor<64x64xf32>, %number: index) -> tensor<64x64xf32> {
      %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
      %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
      %all = fusion_tile.collect %sum from %slots signals %signals[%number]
          : !llvm.ptr<1>, tensor<64x64xf32>
      return %all : tensor<64x64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$values, AnyType:$slots,
                       AnyType:$signals, Index:$number);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $values `from` $slots `signals` $signals `[` $number `]` attr-dict
    `:` type($slots) `,` type($values)
  }];
  let hasVerifier = 1;
}

def Tile_FindGroupOp : Tile_Op<"find_group", [Pure]> {
  let summary = "The tile of one group of rows that has a number";
  let description = [{
    `rows` rows are sorted by group; group e has those from `offsets[e]` up to
    `offsets[e + 1]`, and `none`, the number of groups, stands for those before
    the first and those after the last. Each group is cut into tiles of `tile`
    rows, the last of which may have fewer. In the order of rows, tile `number`
    has rows from `begin` on and group `group`, which ends with row `end`;
    `total` is the number of tiles of all groups. From `total` on there is
    nothing, and `begin` and `end` are equal.

    The offsets, a view of one dimension and of static size, do not change while
    the program runs. Should they decrease, groups are not defined, but
    `begin` and `end` are from 0 to `rows` in any case.

    Example:
    ```mlir
    func.func @find(%offsets: !fusion_tile.view<9xi32>, %number: index) -> (index, index, index) {
      %group, %begin, %end, %total = fusion_tile.find_group %offsets[%number] tile 64 rows 1000
          : !fusion_tile.view<9xi32>
      return %group, %begin, %end : index, index, index
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$offsets, Index:$number, I64Attr:$tile,
                       I64Attr:$rows);
  let results = (outs Index:$group, Index:$begin, Index:$end, Index:$total);
  let assemblyFormat = [{
    $offsets `[` $number `]` `tile` $tile `rows` $rows attr-dict
    `:` type($offsets)
  }];
  let hasVerifier = 1;
}

def Tile_FindBoundOp : Tile_Op<"find_bound", [Pure,
    TypesMatchWith<"the result is an element of the view", "view", "result",
                   "cast<ViewType>($_self).getElementType()">]> {
  let summary = "The most, or the least, of a part of a view";
  let description = [{
    The largest, or with `least` the smallest, of the integers (signed, 32 or 64
    bits) of `view` at coordinates from `begins` (not negative) on, `sizes` of
    them along each dimension. Of coordinates behind the last along a dimension
    the last is taken instead, so that the result is always of an element. A
    scalar: each warp finds it, and a producer.

    The view does not change while the program runs.

    Example:
    ```mlir
    fusion_tile.program @find(%ends: !llvm.ptr<1>, %batch: index, %row: index) attributes {num_warps = 4} {
      // Where the last of 128 rows ends.
      %view = fusion_tile.view %ends[] : !llvm.ptr<1> to !fusion_tile.view<8x4096xi32>
      %end = fusion_tile.find_bound %view[%batch, %row] sizes [1, 128] : !fusion_tile.view<8x4096xi32>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$begins,
                       DenseI64ArrayAttr:$sizes, UnitAttr:$least);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = [{
    (`least` $least^)? $view `[` $begins `]` `sizes` $sizes attr-dict
    `:` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_GridReduceOp : Tile_Op<"grid_reduce", [
    MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["slots", "signals"]>]> {
  let summary = "Adds the tiles of neighbouring blocks, a part in each";
  let description = [{
    What `fusion_tile.cluster_reduce` does in a cluster, for neighbouring blocks of a
    grid: those from `block` - `rank` on, where `block` is this one's number.
    Each has tiles of the operands' shapes. The results, in the block of rank r,
    are the r-th parts along dimension `dim` of the sums of all (float or
    integer, in the element type), added to its own in the order of the ranks
    that follow, rank 0 after the last. A part is made of whole registers of
    each thread, and has the layout that `fusion_tile.slice` would give it.

    A slot, which each block has, has as many bytes as the tiles; of `signals`,
    each block has a word of 32 bits for each warp, in which the others count.
    The blocks wait for each other: there are `together` of the program. There is
    one such operation in a program, outside of loops.

    Example:
    ```mlir
    // Four blocks add up their tiles; each gets 16 columns of the sum.
    fusion_tile.program @reduce(%block: index, %rank: index) attributes {num_warps = 4, together = 4} {
      %slots = fusion_tile.scratch 65536 : !llvm.ptr<1>
      %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
      %f = arith.constant 1.0 : f32
      %a = fusion_tile.splat %f : f32 -> tensor<64x64xf32>
      %part = fusion_tile.grid_reduce %a through %slots signals %signals[%block, %rank] along 1
          : !llvm.ptr<1>, tensor<64x64xf32> -> tensor<64x16xf32>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$values, AnyType:$slots,
                       AnyType:$signals, Index:$block, Index:$rank,
                       I64Attr:$dim);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $values `through` $slots `signals` $signals `[` $block `,` $rank `]`
    `along` $dim attr-dict `:` type($slots) `,` type($values) `->`
    type($results)
  }];
  let hasVerifier = 1;
}

def Tile_GridGatherOp : Tile_Op<"grid_gather", [
    MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["slots", "signals"]>]> {
  let summary = "Gives each of neighbouring blocks its part of the tiles of all";
  let description = [{
    The blocks of a grid from `block` - `rank` on, where `block` is this one's
    number, have tiles of the operands' shapes. In the block of rank r, element
    `(a0, ..., p)` of a result is that of the block of rank p: of the r-th part of
    its tile along the dimension that `parts` names, the first one after the last,
    or of the whole tile where `parts` has -1. What is then combined along the last dimension is combined in
    the order of the ranks, in every run.

    Each thread reads what the thread of the same number wrote: a part is made of
    whole registers of each thread, and has the layout that `fusion_tile.slice` would
    give it. Slots, one a block, hold what the threads have, the same element
    as often as there are threads that have it; `signals` are those of
    `fusion_tile.grid_reduce`. The blocks wait for each other: there are `together` of
    the program, a power of two. There is one such operation in a program, outside
    of loops.

    Example:
    ```mlir
    // Four blocks: the maxima of all, and this block's columns of all sums.
    fusion_tile.program @gather(%block: index, %rank: index) attributes {num_warps = 4, together = 4} {
      %slots = fusion_tile.scratch 262144 : !llvm.ptr<1>
      %signals = fusion_tile.scratch 64 signals : !llvm.ptr<1>
      %f = arith.constant 1.0 : f32
      %m = fusion_tile.splat %f : f32 -> tensor<64xf32>
      %o = fusion_tile.splat %f : f32 -> tensor<64x128xf32>
      %ms, %os = fusion_tile.grid_gather %m, %o through %slots signals %signals[%block, %rank]
          along [-1, 1] : !llvm.ptr<1>, tensor<64xf32>, tensor<64x128xf32>
          -> tensor<64x4xf32>, tensor<64x32x4xf32>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$values, AnyType:$slots,
                       AnyType:$signals, Index:$block, Index:$rank,
                       DenseI64ArrayAttr:$parts);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $values `through` $slots `signals` $signals `[` $block `,` $rank `]`
    `along` $parts attr-dict `:` type($slots) `,` type($values) `->`
    type($results)
  }];
  let extraClassDeclaration = [{
    /// The shape of one block's share of result `number`.
    SmallVector<int64_t> getShareShape(unsigned number);
  }];
  let hasVerifier = 1;
}

def Tile_PanelReduceOp : Tile_Op<"panel_reduce", [
    MemoryEffects<[MemRead, MemWrite]>, SingleBlock]> {
  let summary = "Combines tiles of the blocks of a panel";
  let description = [{
    A panel is `members` blocks of the grid, `together` or the `cluster` of the
    program, that have
    parts of the same dimension at the same time. Each block gives `values`, tiles
    of one shape or the block's scalars, and gets the combination of all members'
    by the region as in `fusion_tile.reduce`, in an order that is the same in all blocks
    and all runs. The layout is kept.

    Elements travel as words of 64 bits, the element beside the number of the
    exchange, `turn` + 1: a word is there when its number is. No signal stands
    beside the values and nothing is fenced. `memory` is zero when the launch
    begins (`fusion_tile.scratch` with `signals`); panel number `panel` has `bytes`
    bytes of it, and this exchange `copies` times as many words as the members
    have elements, from `offset` on, one value after the other. In a cluster
    `memory` is a `fusion_tile.cluster_memory`, which each block has, and `panel` is 0:
    a block sends its words to all, and waits until as many have come. Copies
    take turns: all members have read what a word held before it is written again,
    since none is more than one exchange ahead of another.

    With `by_owners`, of warps that hold the same elements only the first has
    results, and waits: what the others have there is not defined.

    All members must reach the exchange without any other member's help but in
    exchanges before it. Blocks of lower numbers begin first, and those of a
    panel have consecutive numbers: they run together as soon as there is room
    for so many blocks at a time.

    Example:
    ```mlir
    // The sum of a number that each of three blocks has.
    fusion_tile.program @sum(%panel: index, %member: index, %turn: index)
        attributes {num_warps = 4, together = 3} {
      %memory = fusion_tile.scratch 1024 signals : !llvm.ptr<1>
      %mine = arith.constant 1.0 : f32
      %all = fusion_tile.panel_reduce %mine through %memory[%panel, %member, %turn]
          members 3 copies 2 at 16 of 64 : !llvm.ptr<1>, f32 -> f32 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        fusion_tile.yield %s : f32
      }
      fusion_tile.panel_leave %memory[%panel] arrivals 3 of 64 : !llvm.ptr<1>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[AnyStaticShapeTensor,
                                           AnySignlessInteger,
                                           AnyFloat]>>:$values,
                       AnyType:$memory,
                       Index:$panel, Index:$member, Index:$turn,
                       I64Attr:$members, I64Attr:$copies, I64Attr:$offset,
                       I64Attr:$bytes, UnitAttr:$by_owners);
  let results = (outs Variadic<AnyTypeOf<[AnyStaticShapeTensor,
                                          AnySignlessInteger,
                                          AnyFloat]>>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $values `through` $memory `[` $panel `,` $member `,` $turn `]`
    `members` $members `copies` $copies `at` $offset `of` $bytes
    (`by_owners` $by_owners^)? attr-dict
    `:` type($memory) `,` type($values) `->` type($results) $combiner
  }];
  let extraClassDeclaration = [{
    /// Words that the members have of each value, in all copies.
    int64_t getNumWords();
  }];
  let hasVerifier = 1;
}

def Tile_PanelPublishOp : Tile_Op<"panel_publish", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Tells the blocks of a panel what this one has";
  let description = [{
    Writes `values`, one or more states, tiles of one shape or scalars of the
    block, as the words of a `fusion_tile.panel_scan` of the same `offset` and `turn`,
    and waits for nobody. Of warps that hold the same elements the first one
    writes.

    Each turn is published before it is scanned. With four copies or more, the
    turn after it may be published before that as well, which is what
    `fusion-tile-publish-ahead` does.

    Example:
    ```mlir
    fusion_tile.program @publish(%panel: index, %member: index, %turn: index)
        attributes {num_warps = 4, together = 4} {
      %memory = fusion_tile.scratch 80 signals : !llvm.ptr<1>
      %total = arith.constant 1.0 : f32
      fusion_tile.panel_publish %total through %memory[%panel, %member, %turn]
          members 4 copies 2 at 16 of 80 : !llvm.ptr<1>, f32
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[AnyStaticShapeTensor,
                                           AnySignlessInteger,
                                           AnyFloat]>>:$values,
                       AnyType:$memory,
                       Index:$panel, Index:$member, Index:$turn,
                       I64Attr:$members, I64Attr:$copies, I64Attr:$offset,
                       I64Attr:$bytes);
  let assemblyFormat = [{
    $values `through` $memory `[` $panel `,` $member `,` $turn `]`
    `members` $members `copies` $copies `at` $offset `of` $bytes attr-dict
    `:` type($memory) `,` type($values)
  }];
  let extraClassDeclaration = [{
    /// Words of all members, states and copies.
    int64_t getNumWords();
  }];
  let hasVerifier = 1;
}

def Tile_PanelScanOp : Tile_Op<"panel_scan", [
    MemoryEffects<[MemRead, MemWrite]>, SingleBlock, SameVariadicResultSize,
    RangedTypesMatchWith<"what comes before has the initial values' types",
                         "inits", "before", "$_self">,
    RangedTypesMatchWith<"totals have the initial values' types", "inits",
                         "totals", "$_self">]> {
  let summary = "Combines the tiles of the blocks of a panel that come before";
  let description = [{
    The blocks of a panel, as in `fusion_tile.panel_reduce`, have each published `values`
    for this `turn` (`fusion_tile.panel_publish`). With `.` for the region, which takes
    the left state then the right one and is associative up to rounding, member m
    of n gets

        before = init . values[0] . values[1] ... . values[m - 1]
        totals = init . values[0] . values[1] ... . values[n - 1]

    so that a walk whose tiles are dealt out to the members, one after the other,
    goes on with `before` in the tile and with `totals` in the next round. `inits`
    are the same in all members. Order and grouping depend on n alone and the
    results are the same in every run. The layout is kept.

    With `by_owners`, of warps that hold the same elements only the first has
    results, and waits: what the others have there is not defined.

    Words and memory are those of `fusion_tile.panel_reduce`; the states of an element
    lie side by side. In a loop, `turn` grows by one from step to step and takes
    turns with the copies: two where a block scans each turn before it publishes
    the next, four where it publishes the next before that.

    Example:
    ```mlir
    fusion_tile.program @scan(%panel: index, %member: index, %turn: index)
        attributes {num_warps = 4, together = 4} {
      %memory = fusion_tile.scratch 80 signals : !llvm.ptr<1>
      %total = arith.constant 1.0 : f32
      %carry = arith.constant 0.0 : f32
      fusion_tile.panel_publish %total
          through %memory[%panel, %member, %turn] members 4 copies 2 at 16 of 80
          : !llvm.ptr<1>, f32
      %before, %next = fusion_tile.panel_scan from %carry
          through %memory[%panel, %member, %turn] members 4 copies 2 at 16 of 80
          : !llvm.ptr<1>, f32 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        fusion_tile.yield %s : f32
      }
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyTypeOf<[AnyStaticShapeTensor,
                                           AnySignlessInteger,
                                           AnyFloat]>>:$inits,
                       AnyType:$memory,
                       Index:$panel, Index:$member, Index:$turn,
                       I64Attr:$members, I64Attr:$copies, I64Attr:$offset,
                       I64Attr:$bytes, UnitAttr:$by_owners);
  let results = (outs Variadic<AnyType>:$before, Variadic<AnyType>:$totals);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    `from` $inits `through` $memory `[` $panel `,` $member `,` $turn `]`
    `members` $members `copies` $copies `at` $offset `of` $bytes
    (`by_owners` $by_owners^)? attr-dict
    `:` type($memory) `,` type($inits) $combiner
  }];
  let extraClassDeclaration = [{
    /// Words of all members, states and copies.
    int64_t getNumWords();
  }];
  let hasVerifier = 1;
}

def Tile_PanelLeaveOp : Tile_Op<"panel_leave", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Ends the exchanges of a block with its panel";
  let description = [{
    Stands after the last `fusion_tile.panel_reduce` or `fusion_tile.panel_scan`. The last of `arrivals` groups of
    warps to get here, in all blocks of the panel, makes the panel's `bytes`
    bytes of `memory` zero again. Nobody waits for it. The blocks of a cluster
    wait for each other: others may write to their memory until then.

    Example:
    ```mlir
    func.func @leave(%memory: !llvm.ptr<1>, %panel: index) {
      fusion_tile.panel_leave %memory[%panel] arrivals 3 of 64 : !llvm.ptr<1>
      return
    }
    ```
  }];
  let arguments = (ins AnyType:$memory, Index:$panel, I64Attr:$arrivals,
                       I64Attr:$bytes);
  let assemblyFormat = [{
    $memory `[` $panel `]` `arrivals` $arrivals `of` $bytes attr-dict
    `:` type($memory)
  }];
  let hasVerifier = 1;
}

#endif // FUSION_DIALECT_TILE_IR_TILEGRIDOPS_TD
