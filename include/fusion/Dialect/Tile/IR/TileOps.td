//===- TileOps.td - The block-level tile dialect ----------*- tablegen -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the operations of the tile dialect.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_TILEOPS_TD
#define FUSION_DIALECT_TILE_IR_TILEOPS_TD

include "fusion/Dialect/Tile/IR/TileAsyncOps.td"
include "fusion/Dialect/Tile/IR/TileBase.td"
include "fusion/Dialect/Tile/IR/TileGridOps.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

def Tile_ProgramOp : Tile_Op<"program", [
    AffineScope, AutomaticAllocationScope, FunctionOpInterface,
    IsolatedFromAbove]> {
  let summary = "What one thread block computes";
  let description = [{
    A function without results that every block of the grid runs. Its arguments
    are base addresses (`!llvm.ptr<1>`) and sizes (`index`). Attributes:

    - `num_warps`: warps in the block, a power of two up to 32.
    - `index_bits`: 32 when interval analysis showed that every index and every
      linear element offset fits, else 64.
    - `shared_bytes`: set once shared memory is allocated.
    - `grid`: the number of blocks, over the symbols of the function that
      launches the program.
    - `size_arguments`: which of those symbols the trailing `index` arguments
      are.
    - `pipeline`: how products are made and fed.
    - `extra_warps`: warps launched beside the `num_warps` that hold tiles, for
      the producers of `fusion_tile.specialize`; they are the block's last.
    - `cluster`: blocks of a cluster, which share what is reduced along one
      dimension; 1 when absent.
    - `together`: neighbouring blocks that wait for each other, so that all of
      a launch have to run at the same time; 1 when absent.
    - `resident`: blocks that a multiprocessor has to have registers for; ptxas
      decides when absent.

    Arguments of other types are for tests of single operations: a launch passes
    addresses and sizes.

    Example:
    ```mlir
    // Each block doubles 128 elements of a vector of %n.
    fusion_tile.program @double(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: index)
        attributes {num_warps = 4, index_bits = 32} {
      %from = fusion_tile.view %x[%n] : !llvm.ptr<1> to !fusion_tile.view<?xf32>
      %to = fusion_tile.view %y[%n] : !llvm.ptr<1> to !fusion_tile.view<?xf32>
      %block = gpu.block_id x
      %a = fusion_tile.load %from[affine_map<(i)[b] -> (b * 128 + i)>] (%block) checked [true]
          : !fusion_tile.view<?xf32> -> tensor<128xf32>
      %b = arith.addf %a, %a : tensor<128xf32>
      fusion_tile.store %b, %to[affine_map<(i)[b] -> (b * 128 + i)>] (%block) checked [true]
          : tensor<128xf32>, !fusion_tile.view<?xf32>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       I64Attr:$num_warps,
                       DefaultValuedAttr<I64Attr, "64">:$index_bits,
                       OptionalAttr<I64Attr>:$shared_bytes,
                       OptionalAttr<AffineMapAttr>:$grid,
                       OptionalAttr<DenseI64ArrayAttr>:$size_arguments,
                       OptionalAttr<Tile_PipelineAttr>:$pipeline,
                       OptionalAttr<I64Attr>:$extra_warps,
                       OptionalAttr<I64Attr>:$cluster,
                       OptionalAttr<I64Attr>:$together,
                       OptionalAttr<I64Attr>:$resident,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region MinSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "StringRef":$name, "FunctionType":$type,
                                 "int64_t":$numWarps, "int64_t":$indexBits)>];
  let extraClassDeclaration = [{
    ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
    Region *getCallableRegion() { return &getBody(); }
  }];
  let hasVerifier = 1;
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, HasParent<"ProgramOp">, Terminator]> {
  let summary = "End of a tile program";
  let description = [{
    A program has no results: what it computes is in memory.

    Example:
    ```mlir
    fusion_tile.program @nothing() attributes {num_warps = 1} {
      fusion_tile.return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_MakeViewOp : Tile_Op<"view", [Pure]> {
  let summary = "Makes a view from an address and its dynamic sizes";
  let description = [{
    `shape`, when present, gives the sizes over the symbols of the function that
    launches the program, so that the launch can know them too.

    There is one size, an `index`, for each dynamic dimension of the result.

    Example:
    ```mlir
    fusion_tile.program @views(%x: !llvm.ptr<1>, %n: index) attributes {num_warps = 4} {
      %rows = fusion_tile.view %x[%n] {shape = affine_map<()[s] -> (s, 4096)>}
          : !llvm.ptr<1> to !fusion_tile.view<?x4096xbf16>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins AnyType:$base, Variadic<Index>:$sizes,
                       OptionalAttr<AffineMapAttr>:$shape);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $base `[` $sizes `]` attr-dict `:` type($base) `to` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead]>]> {
  let summary = "Reads a tile from global memory";
  let description = [{
    The element at tile coordinates `(a0, …)` is read from the view at
    `map(a0, …)[symbols]`. A symbol is an `index` scalar, or a tile of indices of
    the result's shape for a gather. `checked` lists, for each dimension of the
    view, whether the coordinate may leave `[0, size)`; an element outside in
    any checked dimension is zero and its address is not touched.

    The map has the tile's dimensions, a symbol for each of `symbols` and then of
    `indices`, and a result for each dimension of the view. Element types are equal.

    Example:
    ```mlir
    // A tile of 16 rows, transposed; then rows that a table names.
    fusion_tile.program @loads(%x: !llvm.ptr<1>, %row: index, %table: tensor<16x64xindex>)
        attributes {num_warps = 4} {
      %v = fusion_tile.view %x[] : !llvm.ptr<1> to !fusion_tile.view<1000x64xf32>
      %a = fusion_tile.load %v[affine_map<(i, j)[r] -> (r + j, i)>] (%row) checked [true, false]
          : !fusion_tile.view<1000x64xf32> -> tensor<64x16xf32>
      %b = fusion_tile.load %v[affine_map<(i, j)[t] -> (t, j)>] () gather (%table : tensor<16x64xindex>)
          checked [true, false] : !fusion_tile.view<1000x64xf32> -> tensor<16x64xf32>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$symbols,
                       Variadic<AnyRankedTensor>:$indices,
                       AffineMapAttr:$map, DenseBoolArrayAttr:$checked);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $view `[` $map `]` `(` $symbols `)` (`gather` `(` $indices^ `:` type($indices) `)`)?
    `checked` $checked attr-dict `:` type($view) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a tile to global memory";
  let description = [{
    The counterpart of `fusion_tile.load`. When a layout replicates an element, one of
    the threads that hold it writes. An element outside the view in a dimension
    that is `checked` is not written.

    Map, symbols and element types agree as in `fusion_tile.load`.

    Example:
    ```mlir
    func.func @store(%v: !fusion_tile.view<?x64xf32>, %tile: tensor<16x64xf32>, %row: index) {
      fusion_tile.store %tile, %v[affine_map<(i, j)[r] -> (r + i, j)>] (%row) checked [true, false]
          : tensor<16x64xf32>, !fusion_tile.view<?x64xf32>
      return
    }
    ```
  }];
  let arguments = (ins AnyType:$value, Tile_ViewType:$view,
                       Variadic<Index>:$symbols,
                       AffineMapAttr:$map, DenseBoolArrayAttr:$checked);
  let assemblyFormat = [{
    $value `,` $view `[` $map `]` `(` $symbols `)` `checked` $checked attr-dict
    `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_IndexOp : Tile_Op<"index", [Pure]> {
  let summary = "A tile of integers given by an affine map of its coordinates";
  let description = [{
    The element at `(a0, …)` is `map(a0, …)[symbols]`; the map has one result.
    Elements of a float type are the same numbers; that it holds them exactly is
    up to whoever writes the op.

    Example:
    ```mlir
    // The numbers of columns from %first on.
    func.func @columns(%first: index) -> tensor<16x64xindex> {
      %c = fusion_tile.index affine_map<(i, j)[s] -> (s + j)> (%first) : tensor<16x64xindex>
      return %c : tensor<16x64xindex>
    }
    ```
  }];
  let arguments = (ins Variadic<Index>:$symbols, AffineMapAttr:$map);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$map `(` $symbols `)` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A tile whose elements are all one scalar";
  let description = [{
    The scalar has the tile's element type.

    Example:
    ```mlir
    func.func @splat(%x: f32) -> tensor<16x64xf32> {
      %tile = fusion_tile.splat %x : f32 -> tensor<16x64xf32>
      return %tile : tensor<16x64xf32>
    }
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Repeats a tile along new dimensions";
  let description = [{
    Dimension `i` of the operand is dimension `dims[i]` of the result; the other
    dimensions of the result repeat it. `dims` is increasing.

    Element types are equal, and so are the sizes of dimensions that belong together.

    Example:
    ```mlir
    // One number for each row, repeated along it.
    func.func @broadcast(%row: tensor<16xf32>) -> tensor<16x64xf32> {
      %tile = fusion_tile.broadcast %row dims [0] : tensor<16xf32> -> tensor<16x64xf32>
      return %tile : tensor<16x64xf32>
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, DenseI64ArrayAttr:$dims);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $value `dims` $dims attr-dict `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure, SingleBlock]> {
  let summary = "Reduces tiles along one dimension";
  let description = [{
    The region combines two states of one scalar per operand: arguments are the
    left state then the right state, and it yields the new state. It must be
    associative and commutative up to rounding. The order of combination is
    fixed by the layout, so a result is the same in every run.

    With `within_warp`, only the elements that one warp holds are combined: the
    result keeps dimension `dim`, with one partial result for each of the warps
    that share a row.

    Operands have one shape; a result is its operand without dimension `dim`, a
    scalar where nothing is left.

    Example:
    ```mlir
    // The largest element of each row and where it is.
    func.func @largest(%x: tensor<16x64xf32>, %column: tensor<16x64xi32>)
        -> (tensor<16xf32>, tensor<16xi32>) {
      %max:2 = fusion_tile.reduce %x, %column along 1
          : tensor<16x64xf32>, tensor<16x64xi32> -> tensor<16xf32>, tensor<16xi32> {
      ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
        %left = arith.cmpf oge, %a, %b : f32
        %m = arith.select %left, %a, %b : f32
        %k = arith.select %left, %i, %j : i32
        fusion_tile.yield %m, %k : f32, i32
      }
      return %max#0, %max#1 : tensor<16xf32>, tensor<16xi32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$inputs, I64Attr:$dim,
                       UnitAttr:$within_warp);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $inputs `along` $dim (`within_warp` $within_warp^)? attr-dict
    `:` type($inputs) `->` type($results) $combiner
  }];
  let hasVerifier = 1;
}

def Tile_ScanOp : Tile_Op<"scan", [
    Pure, SingleBlock, AttrSizedOperandSegments, SameVariadicResultSize]> {
  let summary = "Combines the elements of tiles along one dimension, up to each";
  let description = [{
    Several states run together, one for each of `inputs`; all tiles have one
    shape. With `.` for the region, which takes the left state then the right
    one and is associative up to rounding, result and total along `dim` are

        results[i] = init . x[0] . x[1] ... . x[i]
        results[i] = init . x[0] . x[1] ... . x[i - 1]     (exclusive)
        totals     = init . x[0] . x[1] ... . x[n - 1]

    and with `reverse` the same on the tile turned round, the results turned
    back. Without `inits` the first element takes their place; an exclusive scan
    has inits. Inits and totals are tiles without dimension `dim`.

    With `parts`, each of so many equal parts of the dimension is scanned on its
    own, from an init of its own: inits and totals have `dim`, of size `parts`.

    Order and grouping of combinations are fixed by the layout, so that a result
    is the same in every run. Along `dim` the layout's steps are registers, then
    lanes in order, then warps in order, then registers again; inputs and results
    share it. With `in_order`, a thread that has all of the dimension combines
    each element with what the one before has: one combination an element, where
    combining its own elements first takes two. What one warp has is combined in registers and by shuffles; see
    `fusion-tile-lower-exchanges` for a dimension that warps share.

    Example:
    ```mlir
    // Running sums of four rows, from what came before the tile.
    func.func @sums(%x: tensor<4x1024xf32>, %carry: tensor<4xf32>)
        -> (tensor<4x1024xf32>, tensor<4xf32>) {
      %y, %next = fusion_tile.scan %x inits(%carry : tensor<4xf32>) along 1
          : tensor<4x1024xf32> -> tensor<4x1024xf32> totals tensor<4xf32> {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        fusion_tile.yield %s : f32
      }
      return %y, %next : tensor<4x1024xf32>, tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$inputs,
                       Variadic<AnyType>:$inits, I64Attr:$dim,
                       OptionalAttr<I64Attr>:$parts,
                       UnitAttr:$exclusive, UnitAttr:$reverse,
                       UnitAttr:$in_order);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results,
                      Variadic<AnyType>:$totals);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $inputs (`inits` `(` $inits^ `:` type($inits) `)`)? `along` $dim
    (`parts` $parts^)? (`exclusive` $exclusive^)? (`reverse` $reverse^)?
    (`in_order` $in_order^)? attr-dict `:` type($inputs) `->` type($results) `totals` type($totals)
    $combiner
  }];
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ReduceOp", "PanelReduceOp", "PanelScanOp", "ScanOp"]>]> {
  let summary = "Ends a combiner region";
  let description = [{
    The values are the new state, one for each operand of the op that combines.

    Example:
    ```mlir
    func.func @product(%x: tensor<16x64xf32>) -> tensor<16xf32> {
      %p = fusion_tile.reduce %x along 1 : tensor<16x64xf32> -> tensor<16xf32> {
      ^bb0(%a: f32, %b: f32):
        %c = arith.mulf %a, %b : f32
        fusion_tile.yield %c : f32
      }
      return %p : tensor<16xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict $values `:` type($values)";
}

def Tile_DotOp : Tile_Op<"dot", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a × bᵀ on tiles";
  let description = [{
    `a` is MxK, `b` is NxK, `acc` and the result are MxN: `acc[m, n]` plus the
    sum over k of `a[m, k] * b[n, k]`. `a` and `b` have one element type, which
    may be narrower than the accumulator's: products are made and added in the
    accumulator's type (f16, bf16, f8E4M3FN and f8E5M2 into f32, i8 into i32).
    `tf32` allows the operands, f32, to be rounded to 10 bits of mantissa.

    With an accumulator of PxMxN, the p-th of P equal parts of the depth goes to
    `acc[p]`: warps share the depth, and a reduction adds up what they have.

    Example:
    ```mlir
    func.func @dot(%a: tensor<64x32xbf16>, %b: tensor<128x32xbf16>, %acc: tensor<64x128xf32>)
        -> tensor<64x128xf32> {
      %sum = fusion_tile.dot %a, %b, %acc
          : tensor<64x32xbf16>, tensor<128x32xbf16> -> tensor<64x128xf32>
      return %sum : tensor<64x128xf32>
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$a, AnyStaticShapeTensor:$b,
                       AnyStaticShapeTensor:$acc, UnitAttr:$tf32);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`tf32` $tf32^)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "A part of a tile";
  let description = [{
    The elements from `offsets` on, as many as the result has. Along each
    dimension the offset is a multiple of the result's size. Which part it is
    must be a matter of registers in the operand's layout: no element moves to
    another thread.

    Example:
    ```mlir
    // The right half of the columns.
    func.func @half(%x: tensor<64x128xf32>) -> tensor<64x64xf32> {
      %part = fusion_tile.slice %x [0, 64] : tensor<64x128xf32> -> tensor<64x64xf32>
      return %part : tensor<64x64xf32>
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value,
                       DenseI64ArrayAttr:$offsets);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $value $offsets attr-dict `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StackOp : Tile_Op<"stack", [Pure, SameTypeOperands]> {
  let summary = "Tiles side by side along a new dimension";
  let description = [{
    The result has one more dimension, behind the others, along which the
    operands, a power of two, follow each other. Every element stays in its
    thread: further registers run along the dimension.

    Example:
    ```mlir
    func.func @pairs(%a: tensor<64xf32>, %b: tensor<64xf32>) -> tensor<64x2xf32> {
      %both = fusion_tile.stack %a, %b : tensor<64xf32>, tensor<64xf32> -> tensor<64x2xf32>
      return %both : tensor<64x2xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$values);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $values attr-dict `:` type($values) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_RepeatOp : Tile_Op<"repeat", [Pure]> {
  let summary = "Repeats each element along a dimension";
  let description = [{
    Along `dim` the result has 2^n times the operand's size; its element at
    coordinate `i` is the operand's at `i / 2^n`. Each thread must hold what its
    part of the result repeats.

    Example:
    ```mlir
    // A scale for each of 32 neighbours.
    func.func @repeat(%scale: tensor<64x4xf16>) -> tensor<64x128xf16> {
      %all = fusion_tile.repeat %scale along 1 : tensor<64x4xf16> -> tensor<64x128xf16>
      return %all : tensor<64x128xf16>
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, I64Attr:$dim);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $value `along` $dim attr-dict `:` type($value) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// The base-two logarithm of how often an element is repeated.
    unsigned getLog2Factor();
  }];
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "The same elements in another shape";
  let description = [{
    Operand and result have the same elements in row-major order. Every element
    stays in its register: the result's layout is the operand's, reshaped.

    Example:
    ```mlir
    func.func @reshape(%x: tensor<64x128xf32>) -> tensor<64x4x32xf32> {
      %y = fusion_tile.reshape %x : tensor<64x128xf32> -> tensor<64x4x32xf32>
      return %y : tensor<64x4x32xf32>
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ExchangeOp : Tile_Op<"exchange", [
    Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "Exchanges the elements of a tile in pairs";
  let description = [{
    Along `dim` the element at coordinate `i` of the result is the operand's at
    `i xor mask`:

        result[..., i, ...] = value[..., i xor mask, ...]

    The mask is positive and less than the size along `dim`, so that no element
    leaves its group of the next power of two above the mask: with mask 64,
    columns 0 to 63 and 64 to 127 of each 128 change places. Within the layout
    of the tile this renames registers, exchanges with another lane, or both;
    the layout must not make it a matter of warps.

    Example:
    ```mlir
    // Neighbouring columns change places.
    func.func @exchange(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
      %y = fusion_tile.exchange %x along 1 by 1 : tensor<16x64xf32>
      return %y : tensor<16x64xf32>
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, I64Attr:$dim,
                       I64Attr:$mask);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $value `along` $dim `by` $mask attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "The same tile in another layout";
  let description = [{
    Elements move between registers, lanes and warps; shape and element type stay.

    Example:
    ```mlir
    // From two rows of 64 in each of two warps to one column in each lane.
    #rows = #fusion_tile.layout<"{reg=[[0,32]], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[[1,0]], shape=[2,64]}">
    #columns = #fusion_tile.layout<"{reg=[[1,0]], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[[0,32]], shape=[2,64]}">
    func.func @convert(%x: tensor<2x64xf32, #rows>) -> tensor<2x64xf32, #columns> {
      %y = fusion_tile.convert_layout %x : tensor<2x64xf32, #rows> -> tensor<2x64xf32, #columns>
      return %y : tensor<2x64xf32, #columns>
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_CropOp : Tile_Op<"crop", [
    Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "A tile of which only the first elements matter";
  let description = [{
    Along each dimension the first `sizes` elements are those of the operand,
    the others may be anything: registers that hold others in all threads are
    zero, so that nothing is computed for them.

    There is a size for each dimension, from 1 to the tile's.

    Example:
    ```mlir
    func.func @crop(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
      %y = fusion_tile.crop %x to [64, 80] : tensor<64x128xf32>
      return %y : tensor<64x128xf32>
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, DenseI64ArrayAttr:$sizes);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$value `to` $sizes attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_AllocOp : Tile_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Reserves a tile in shared memory";
  let description = [{
    `offset`, in bytes from the start of the block's shared memory, is set by
    shared-memory allocation. The buffer lives from its first to its last use.
    With `stages` there are so many of it, of which `fusion_tile.stage` takes one.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">
    !rows = !fusion_tile.buffer<4x8xf32, #rows>
    func.func @alloc() {
      %one = fusion_tile.alloc : !rows
      %three = fusion_tile.alloc stages 3 : !rows
      return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$stages);
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = [{
    (`at` $offset^)? (`stages` $stages^)? attr-dict `:` type($result)
  }];
  let builders = [OpBuilder<(ins "Type":$result, "IntegerAttr":$offset), [{
    build($_builder, $_state, result, offset, /*stages=*/IntegerAttr());
  }]>];
  let extraClassDeclaration = [{
    /// Bytes from one stage to the next.
    int64_t getStageBytes();
  }];
}

def Tile_LocalStoreOp : Tile_Op<"local_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a tile to shared memory";
  let description = [{
    Tile and buffer have one shape and element type.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">
    !rows = !fusion_tile.buffer<4x8xf32, #rows>
    func.func @put(%tile: tensor<4x8xf32>, %buffer: !rows) {
      fusion_tile.local_store %tile, %buffer : tensor<4x8xf32>, !rows
      return
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, Tile_BufferType:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value) `,` type($buffer)";
}

def Tile_LocalLoadOp : Tile_Op<"local_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads a tile from shared memory in the result's layout";
  let description = [{
    Buffer and tile have one shape and element type.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">
    !rows = !fusion_tile.buffer<4x8xf32, #rows>
    func.func @get(%buffer: !rows) -> tensor<4x8xf32> {
      %tile = fusion_tile.local_load %buffer : !rows -> tensor<4x8xf32>
      return %tile : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer) `->` type($result)";
}

def Tile_LocalElementOp : Tile_Op<"local_element", [MemoryEffects<[MemRead]>,
    TypesMatchWith<"the result is an element of the buffer", "buffer", "result",
                   "cast<BufferType>($_self).getElementType()">]> {
  let summary = "Reads one element from shared memory, the same in all threads";
  let description = [{
    The element of a buffer of one dimension at `number`, which is in the buffer.

    Example:
    ```mlir
    #list = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32]]}">
    !list = !fusion_tile.buffer<16xi32, #list>
    func.func @get(%buffer: !list, %number: index) -> i32 {
      %element = fusion_tile.local_element %buffer[%number] : !list
      return %element : i32
    }
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, Index:$number);
  let results = (outs AnySignlessInteger:$result);
  let assemblyFormat = "$buffer `[` $number `]` attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Tile_ListFlagsOp : Tile_Op<"list_flags",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Lists the numbers of the flags that are set";
  let description = [{
    `flags` are bytes of 0 or 1, a power of two of them from 128 to 8192. The
    numbers of those that are 1 are written to the beginning of `list`, in
    increasing order; the result, the same in all threads, is how many there
    are. What the list has behind them is not defined. All threads of the block
    come here.

    Example:
    ```mlir
    #flags = #fusion_tile.shared_layout<"{bytes=1, align=16, offsets=[[1,2,4,8,16,32,64]]}">
    #list = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128,256]]}">
    !flags = !fusion_tile.buffer<128xi8, #flags>
    !list = !fusion_tile.buffer<128xi32, #list>
    func.func @list(%flags: !flags, %list: !list) -> index {
      %count = fusion_tile.list_flags %flags into %list : !flags, !list
      return %count : index
    }
    ```
  }];
  let arguments = (ins Tile_BufferType:$flags, Tile_BufferType:$list);
  let results = (outs Index:$count);
  let assemblyFormat = [{
    $flags `into` $list attr-dict `:` type($flags) `,` type($list)
  }];
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier"> {
  let summary = "Waits for every thread of the block";
  let description = [{
    With `within_warp`, for those of its own warp only: enough where no warp
    reads what another one has written.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">
    !rows = !fusion_tile.buffer<4x8xf32, #rows>
    func.func @through_memory(%tile: tensor<4x8xf32>, %buffer: !rows) -> tensor<4x8xf32> {
      fusion_tile.local_store %tile, %buffer : tensor<4x8xf32>, !rows
      fusion_tile.barrier
      %same = fusion_tile.local_load %buffer : !rows -> tensor<4x8xf32>
      return %same : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins UnitAttr:$within_warp);
  let assemblyFormat = "(`within_warp` $within_warp^)? attr-dict";
}

#endif // FUSION_DIALECT_TILE_IR_TILEOPS_TD
