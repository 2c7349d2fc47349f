//===- FusionAttrs.td - Attributes of the fusion dialect ---*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the attributes in which later phases record what they
// decided: schedule, estimate and target.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONATTRS_TD
#define FUSION_DIALECT_FUSION_FUSIONATTRS_TD

include "fusion/Dialect/Fusion/FusionDialect.td"
include "mlir/IR/EnumAttr.td"

def Fusion_AxisKind : I32Enum<"AxisKind", "how a block covers a dimension", [
    I32EnumCase<"Grid", 0, "grid">,
    I32EnumCase<"Full", 1, "full">,
    I32EnumCase<"Loop", 2, "loop">,
    I32EnumCase<"Merged", 3, "merged">,
    I32EnumCase<"Group", 4, "group">,
    I32EnumCase<"Sequential", 5, "sequential">
  ]> {
  let cppNamespace = "::mlir::fusion";
}

def Fusion_Strategy : I32Enum<"Strategy", "the form of a kernel", [
    I32EnumCase<"Pointwise", 0, "pointwise">,
    I32EnumCase<"Reduction", 1, "reduction">,
    I32EnumCase<"Contraction", 2, "contraction">,
    I32EnumCase<"Scan", 3, "scan">
  ]> {
  let cppNamespace = "::mlir::fusion";
}

def Fusion_AxisAttr : Fusion_Attr<"Axis", "axis"> {
  let summary = "how one iteration dimension of a kernel is covered";
  let description = [{
    - `grid`: one block per tile of `tile` elements along this dimension;
    - `full`: the whole extent lives in one tile of `tile` elements (the extent
      rounded up to a power of two), or, in a kernel that reduces it, in the
      tiles of a group of co-resident blocks, which combine what they reduce;
    - `loop`: the block walks the dimension in chunks of `tile` elements, once
      for each reduction along it that needs the results of others. Of a dimension
      that the kernel reduces in granules (one element of a result for each) a
      block walks one granule, and there is a block for each of them;
    - `sequential`: the block walks the dimension in such chunks once for all
      reductions along it. Sums that need the result of a maximum or minimum so
      far are repaired when it changes (docs/Rationale/Cascades.md);
    - `merged`: the dimension is the outer part of one axis with the next
      dimension of its role (row, column) in a contraction, or of one walk with
      the next dimension that a kernel reduces or contracts; the last of them
      carries kind and tile of the whole, `tile` is 1 here;
    - `group`: the dimension counts groups of rows (`fusion.row_groups`) whose
      sizes are known at run time. Tiles of the rows' `grid` axis each have rows
      of one group, which is the coordinate along this dimension; `tile` is 1.

    `warps` is the number of warps of a block spread along the dimension and
    `vector` the number of consecutive elements held by one thread. All three
    are powers of two. One `grid` axis of a contraction may have any `tile`: it
    is made up of powers of two (192 = 128 + 64), each with an accumulator of
    its own, that are computed in one walk through the contracted dimension.

    `strip`, of a `grid` dimension, is the number of consecutive elements at
    each place of the tile, which are computed one after the other, written
    out: a block covers `tile` times `strip` elements. What several of them
    read is read once. Of a `loop` dimension that is scanned element by element
    (`tile` is 1) it is the number of elements of each step of the walk, written
    out.

    `steps`, of a `grid` dimension, is the number of strips at each place that a
    block walks in a loop, one after the other: what a strip reads of the one
    before is kept, the rest is loaded while that one is computed. Of a dimension
    that is scanned, with a `split`, it is the number of tiles that a block has in
    every round. It divides them into `tile` / `vector` parts, of `vector` elements
    in each step, that threads walk side by side: once for their totals and once
    from what comes before. One axis of a schedule has steps.

    `split`, of a `loop` dimension that the kernel reduces, is the number of
    co-resident blocks that each walk a part of it and combine what they reduce;
    of one that it scans, the number of those that its tiles are dealt out to, one
    each in every round, or `steps`, and that tell each other what comes before. Blocks of a
    group share one dimension: one axis of a schedule has a split, or is `full`
    in several tiles.

    `cluster`, of such a dimension, says that the blocks of a group, so many, are
    a cluster: they give each other what they combine through shared memory, and
    not through memory of the launch.

    `stages`, of a dimension that the kernel walks and reduces, is the number of its
    chunks in flight or in use at once: threads copy what they load of it so many
    less one ahead into shared memory (`fusion-tile-pipeline-loads`).

    `limited`, of a `sequential` dimension, says that a block leaves out the chunks
    of it at both ends in which a mask of positions, causal or of a window, leaves
    its tile nothing (docs/Rationale/Cascades.md).
    Of a `loop` dimension it says that a block looks at what a mask of data compares,
    and walks those elements alone that may count in its tile, one by one
    (docs/Rationale/Reductions.md).

    `descending`, of a `grid` dimension, says that blocks have its tiles from the
    last one to the first: those that start first have the longest walks. Where
    each block has several tiles (`blocks` of `#fusion.mma`) every second round of
    the blocks goes back: the block with the last tile of one has the first of the
    next.

    `parted`, of a `grid` dimension along which tensors are joined
    (`tensor.concat`), says that a block finds the parts that its tile lies in and
    computes those alone. Otherwise it computes all of them and chooses element by
    element.

    Example:
    ```mlir
    #columns = #fusion.axis<full, tile = 4096, warps = 4, vector = 8>
    ```
  }];
  let parameters = (ins
    EnumParameter<Fusion_AxisKind>:$kind,
    "int64_t":$tile,
    DefaultValuedParameter<"int64_t", "1">:$warps,
    DefaultValuedParameter<"int64_t", "1">:$vector,
    DefaultValuedParameter<"int64_t", "1">:$strip,
    DefaultValuedParameter<"int64_t", "1">:$steps,
    DefaultValuedParameter<"int64_t", "1">:$split,
    DefaultValuedParameter<"int64_t", "1">:$cluster,
    DefaultValuedParameter<"int64_t", "1">:$stages,
    DefaultValuedParameter<"bool", "false">:$limited,
    DefaultValuedParameter<"bool", "false">:$descending,
    DefaultValuedParameter<"bool", "false">:$parted
  );
  // All but `kind` and `tile` are left out when they are 1 or false.
  let assemblyFormat = [{
    `<` $kind `,` `tile` `=` $tile ``
    custom<AxisFields>($warps, $vector, $strip, $steps, $split, $cluster,
                       $stages, $limited, $descending, $parted) ``
    `>`
  }];
  let extraClassDeclaration = [{
    /// Whether blocks walk the dimension in chunks.
    bool isWalked() const {
      return getKind() == AxisKind::Loop || getKind() == AxisKind::Sequential;
    }
  }];
  let genVerifyDecl = 1;
}

def Fusion_MmaKind : I32Enum<"MmaKind", "what makes the products", [
    I32EnumCase<"Fma", 0, "fma">,
    I32EnumCase<"MmaSync", 1, "mma_sync">,
    I32EnumCase<"Wgmma", 2, "wgmma">
  ]> {
  let cppNamespace = "::mlir::fusion";
}

def Fusion_MmaAttr : Fusion_Attr<"Mma", "mma"> {
  let summary = "how the products of a contraction are made and fed";
  let description = [{
    - `kind`: fused multiply-adds of each thread (`fma`), tensor cores by warp
      (`mma_sync`) or by warpgroup (`wgmma`, fed by the tensor copy engine);
    - `stages`: chunks of the contracted dimension in flight or in use at once;
    - `columns`: columns of the accumulator that the code after the loop works
      on at a time, 0 for all;
    - `split`: blocks that share the contracted dimension of a tile. They are a
      cluster, and exchange their sums through its shared memory;
    - `apart`: 1 when the blocks of a `split` are no cluster: they exchange
      their sums through global memory, and all blocks of the grid run at the
      same time. For `wgmma` with one tile a block;
    - `skew`: 1 when a product that needs the result of another one of the same
      walk runs one turn behind it, while what the next turn needs is computed.
      For `wgmma`;
    - `group`: rows of tiles that are walked together, so that neighbouring
      blocks share operands in L2 (1: row by row). Contractions that feed each
      other in a `sequential` walk have all columns in one tile: these are then
      slices of the dimensions before the rows, whose tiles alternate, so that the
      longest walks of all of them start first;
    - `blocks`: blocks of the grid when each walks several tiles, 0 for one
      block a tile;
    - `multicast`: blocks of a cluster that own tiles one below the other and
      load what these share, the columns' operand, once for all. Not together
      with `split`;
    - `groups`: groups of warps, of `warps` of the schedule each, that take
      turns at the tiles of a block: while one is after its loop, another is in
      its own. For `wgmma` with `blocks`. Where the rows of a tile are no power
      of two but that many times one, they have as many of them each instead;
    - `stream`: when the tiles that make up no whole round of the blocks are
      shared by these, equally, along the contracted dimension: how many chunks
      of it finishing a tile counts for; else 0. For `wgmma` with `blocks`, not
      together with `split` or `groups`.

    Example:
    ```mlir
    #products = #fusion.mma<wgmma, stages = 4, columns = 64, group = 8, blocks = 132>
    ```
  }];
  let parameters = (ins
    EnumParameter<Fusion_MmaKind>:$kind,
    DefaultValuedParameter<"int64_t", "1">:$stages,
    DefaultValuedParameter<"int64_t", "0">:$columns,
    DefaultValuedParameter<"int64_t", "1">:$split,
    DefaultValuedParameter<"int64_t", "1">:$group,
    DefaultValuedParameter<"int64_t", "0">:$blocks,
    DefaultValuedParameter<"int64_t", "1">:$multicast,
    DefaultValuedParameter<"int64_t", "1">:$groups,
    DefaultValuedParameter<"int64_t", "0">:$stream,
    DefaultValuedParameter<"int64_t", "0">:$apart,
    DefaultValuedParameter<"int64_t", "0">:$skew
  );
  let assemblyFormat = [{
    `<` $kind
    (`,` struct($stages, $columns, $split, $group, $blocks, $multicast,
                $groups, $stream, $apart, $skew)^)? `>`
  }];
  let extraClassDeclaration = [{
    /// Blocks of a cluster.
    int64_t getCluster() const {
      return (getApart() ? 1 : getSplit()) * getMulticast();
    }
  }];
  let genVerifyDecl = 1;
}

def Fusion_ScheduleAttr : Fusion_Attr<"Schedule", "schedule"> {
  let summary = "how a kernel is executed";
  let description = [{
    `axes` has one `#fusion.axis` per iteration dimension of the kernel;
    `warps` is the number of warps of a block that compute one tile (a power of
    two of at most 32) and at least the product of the axes' `warps`; what they
    are more hold the same elements. `mma` is there for contractions.

    Example:
    ```mlir
    #rows = #fusion.schedule<reduction,
        axes = [#fusion.axis<grid, tile = 1>,
                #fusion.axis<full, tile = 4096, warps = 4, vector = 8>],
        warps = 4>
    ```
  }];
  let parameters = (ins
    EnumParameter<Fusion_Strategy>:$strategy,
    ArrayRefParameter<"::mlir::fusion::AxisAttr">:$axes,
    "int64_t":$warps,
    OptionalParameter<"::mlir::fusion::MmaAttr">:$mma
  );
  let builders = [AttrBuilder<
      (ins "::mlir::fusion::Strategy":$strategy,
           "::llvm::ArrayRef<::mlir::fusion::AxisAttr>":$axes,
           "int64_t":$warps), [{
    return $_get($_ctxt, strategy, axes, warps, ::mlir::fusion::MmaAttr());
  }]>];
  let assemblyFormat = [{
    `<` $strategy `,` `axes` `=` custom<Axes>($axes) `,` `warps` `=` $warps
    (`,` `mma` `=` qualified($mma)^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Fusion_EstimateAttr : Fusion_Attr<"Estimate", "estimate"> {
  let summary = "what the cost model predicts for a kernel";
  let description = [{
    `time_us` in microseconds; `dram_bytes` read and written; `flops`;
    `registers` per thread; `shared_bytes` per block; `saved_bytes` and
    `saved_launches` against running every op as a kernel of its own (negative
    when fusion costs more than it saves).

    Example:
    ```mlir
    #cost = #fusion.estimate<time_us = 3.2, dram_bytes = 8388608, flops = 4194304, registers = 32,
        shared_bytes = 0, saved_bytes = 4194304, saved_launches = 1>
    ```
  }];
  let parameters = (ins
    APFloatParameter<"time in microseconds, a double">:$time,
    "int64_t":$dramBytes,
    "int64_t":$flops,
    "int64_t":$registers,
    "int64_t":$sharedBytes,
    "int64_t":$savedBytes,
    "int64_t":$savedLaunches
  );
  let builders = [
    AttrBuilder<(ins "double":$timeUs, "int64_t":$dramBytes, "int64_t":$flops,
                     "int64_t":$registers, "int64_t":$sharedBytes,
                     "int64_t":$savedBytes, "int64_t":$savedLaunches), [{
      return $_get($_ctxt, ::llvm::APFloat(timeUs), dramBytes, flops, registers,
                   sharedBytes, savedBytes, savedLaunches);
    }]>
  ];
  let assemblyFormat = [{
    `<` `time_us` `=` custom<Double>($time) `,` `dram_bytes` `=` $dramBytes `,`
    `flops` `=` $flops `,` `registers` `=` $registers `,`
    `shared_bytes` `=` $sharedBytes `,` `saved_bytes` `=` $savedBytes `,`
    `saved_launches` `=` $savedLaunches `>`
  }];
  let extraClassDeclaration = [{
    /// Predicted time in microseconds.
    double getTimeUs() const { return getTime().convertToDouble(); }
  }];
  let genVerifyDecl = 1;
}

def Fusion_LaunchAttr : Fusion_Attr<"Launch", "launch"> {
  let summary = "the launch that starts a kernel together with others";
  let description = [{
    Kernels of a function with the same `number`, which follow each other and do
    not read each other's results, start in one launch: each has blocks of its
    own in one grid. `time_us` is predicted for all of them together, in
    microseconds.

    Example:
    ```mlir
    #together = #fusion.launch<0, time_us = 3.2>
    ```
  }];
  let parameters = (ins
    "int64_t":$number,
    APFloatParameter<"time in microseconds, a double">:$time
  );
  let builders = [
    AttrBuilder<(ins "int64_t":$number, "double":$timeUs), [{
      return $_get($_ctxt, number, ::llvm::APFloat(timeUs));
    }]>
  ];
  let assemblyFormat = "`<` $number `,` `time_us` `=` custom<Double>($time) `>`";
  let extraClassDeclaration = [{
    /// Predicted time in microseconds.
    double getTimeUs() const { return getTime().convertToDouble(); }
  }];
}

def Fusion_TargetAttr : Fusion_Attr<"Target", "target"> {
  let summary = "the chip that a module is compiled for";
  let description = [{
    The chips known are those of `include/fusion/Support/Chips.def`.

    `fitted` has constants of the models that were measured again, by group and
    name (docs/CostModel.md): `fitted = {loops = {walkingShare = 0.6 : f64}}`.

    Example:
    ```mlir
    module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
    }
    ```
  }];
  let parameters = (ins StringRefParameter<"name of the chip">:$chip,
                    OptionalParameter<"::mlir::DictionaryAttr",
                                      "constants of the chip">:$fitted);
  let assemblyFormat = [{
    `<` `chip` `=` $chip (`,` `fitted` `=` $fitted^)? `>`
  }];
  let extraClassDeclaration = [{
    /// Names of the chips that the attribute accepts, oldest first.
    static ::llvm::ArrayRef<::llvm::StringLiteral> getKnownChips();
  }];
  let genVerifyDecl = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONATTRS_TD
