//===- FusionGroupOps.td - Rows in groups ------------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the ops on rows that are sorted by group, where the sizes
// of groups are known at run time only: mixtures of experts.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONGROUPOPS_TD
#define FUSION_DIALECT_FUSION_FUSIONGROUPOPS_TD

include "fusion/Dialect/Fusion/FusionOpBase.td"

def Fusion_RowGroupsOp : Fusion_ComputeOp<"row_groups", [
    DeclareOpInterfaceMethods<Fusion_DecomposeInterface,
                              ["isDecomposedOnInput"]>,
    Fusion_AdaptTile]> {
  let summary = "the group of each row, for rows sorted by group";
  let description = [{
    Group e has the rows from `offsets[e]` up to, not including,
    `offsets[e + 1]`; `offsets` has one element more than there are groups, and
    its elements do not decrease. Element t of the result is the group of row t,
    or the number of groups, which is none, for a row before the first or after
    the last. A group may be empty, and offsets may lie outside of the rows. If
    they do decrease, groups are not defined, but each is from 0 to the number
    of groups.

    `rows` is the number of rows when the type of the result does not have it.

    The op computes nothing that is stored: every kernel that asks for the group
    of a row finds it by itself. The input phase leaves it as it is.
    `fusion.gather` by the result picks what belongs to the row's group, such as
    a bias or a scale; a product whose blocks each have rows of one group
    (`fusion.grouped_matmul`) reads it once for a tile.

    Example:
    ```mlir
    // The bias of each row's group.
    func.func @bias(%offsets: tensor<9xi32>, %table: tensor<8x64xf32>) -> tensor<512x64xf32> {
      %group = fusion.row_groups %offsets : tensor<9xi32> -> tensor<512xi32>
      %bias = fusion.gather %table, %group axis(0)
          : (tensor<8x64xf32>, tensor<512xi32>) -> tensor<512x64xf32>
      return %bias : tensor<512x64xf32>
    }
    ```
  }];
  let arguments = (ins RankedTensorOf<[I32]>:$offsets, Optional<Index>:$rows);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = [{
    $offsets (`rows` `(` $rows^ `)`)? attr-dict
    `:` type($offsets) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of groups, when it is known.
    int64_t getNumGroups() {
      int64_t size = getOffsets().getType().getDimSize(0);
      return ::mlir::ShapedType::isDynamic(size) ? size : size - 1;
    }
  }];
}

def Fusion_GroupedMatmulOp : Fusion_ComputeOp<"grouped_matmul",
                                             [Fusion_AdaptTile]> {
  let summary = "product of rows with the matrix of their group";
  let description = [{
    `input` is T x K, its rows sorted by group; `weight` has one matrix for each
    of E groups, E x K x N or, with `transposed`, E x N x K; `offsets`, of E + 1
    elements, says where groups begin and end, as `fusion.row_groups` has it.
    For a row t of group e:

    `y[t, n] = sum over k of input[t, k] * weight[e, k, n] + bias[e, n]`

    `bias`, E x N, may be left out. A row of no group, before `offsets[0]` or
    from `offsets[E]` on, is zero, whatever `input` has there. A group may be
    empty. Nothing of `weight` that belongs to another group has part in a row,
    not even an infinity. Floats narrower than f32 are added up in f32, integers
    of 8 bits in i32; the sum is rounded once.

    All groups are one kernel. Where tensor cores take the operands, blocks walk
    the tiles of all groups, each with rows of one group; `--explain` says why
    when they do not (docs/Rationale/TensorCores.md).

    Refused are sizes that do not agree, no groups at all, and floats beside
    integers.

    Example:
    ```mlir
    // Eight experts, each with the rows that were sent to it.
    func.func @experts(%x: tensor<512x128xbf16>, %w: tensor<8x128x256xbf16>,
                       %offsets: tensor<9xi32>) -> tensor<512x256xbf16> {
      %y = fusion.grouped_matmul %x, %w offsets(%offsets)
          : (tensor<512x128xbf16>, tensor<8x128x256xbf16>, tensor<9xi32>)
          -> tensor<512x256xbf16>
      return %y : tensor<512x256xbf16>
    }
    ```
  }];
  let arguments = (ins
    RankedTensorOf<[F16, BF16, F32, F64, I8, F8E4M3FN, F8E5M2]>:$input,
    RankedTensorOf<[F16, BF16, F32, F64, I8, F8E4M3FN, F8E5M2]>:$weight,
    RankedTensorOf<[I32]>:$offsets,
    Optional<RankedTensorOf<[F16, BF16, F32, F64, I32]>>:$bias,
    UnitAttr:$transposed);
  let results = (outs RankedTensorOf<[F16, BF16, F32, F64, I32]>:$result);
  let assemblyFormat = [{
    $input `,` $weight `offsets` `(` $offsets `)` (`bias` `(` $bias^ `)`)?
    (`transposed` $transposed^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONGROUPOPS_TD
