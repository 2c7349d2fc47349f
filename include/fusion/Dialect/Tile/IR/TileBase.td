//===- TileBase.td - Dialect, types and attributes of tile --*- tablegen -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the tile dialect with the types and attributes that all of
// its operations share.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_TILEBASE_TD
#define FUSION_DIALECT_TILE_IR_TILEBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

def Tile_Dialect : Dialect {
  let name = "fusion_tile";
  let cppNamespace = "::mlir::fusion::tile";
  let summary = "Programs of one thread block on tiles of tensors";
  let description = [{
    A tile program says what one block of threads computes, on values that are
    whole tiles. A tile is a ranked tensor of power-of-two static shape; a tile
    of rank zero is the plain scalar. There are no threads, no addresses and no
    lanes at this level: where each element of a tile lives is its *layout*, the
    encoding of its tensor type, a linear map over the bits of (register, lane,
    warp) to element coordinates. `arith` and `math` operations work on tiles as
    they are, and mixing two layouts is a type error.

    Memory is reached through *views* (`fusion_tile.view`): a base address, sizes, and
    row-major strides. `fusion_tile.load` and `fusion_tile.store` address a view by an affine
    map from the tile's own coordinates and scalar (or per-element) symbols to
    the view's coordinates; an element outside the view reads as zero and is
    not written. So a transposed, strided, windowed, broadcast or gathered read
    is one operation with different maps, and width, coalescing and masks follow
    from the map and the layout.

    Shared memory is explicit once layouts are assigned: `fusion_tile.alloc`,
    `fusion_tile.local_store`, `fusion_tile.local_load` and `fusion_tile.barrier`.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

def Tile_Swizzle : I32Enum<"Swizzle", "how boxes lie in shared memory", [
    I32EnumCase<"None", 0, "none">,
    I32EnumCase<"B32", 1, "b32">,
    I32EnumCase<"B64", 2, "b64">,
    I32EnumCase<"B128", 3, "b128">
  ]> {
  let cppNamespace = "::mlir::fusion::tile";
}

/// The enumeration of the schedule that a program obeys. Its definition is not
/// included: its code would be generated twice.
def Tile_MmaKindParameter
    : AttrParameter<"::mlir::fusion::MmaKind", "what makes the products"> {
  let printer = "$_printer << ::mlir::fusion::stringifyMmaKind($_self)";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Tile_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tile_LayoutAttr : Tile_Attr<"Layout", "layout"> {
  let summary = "Where each element of a tile lives among registers and threads";
  let description = [{
    Wraps a linear layout: a map over GF(2) from the bits of the hardware index
    (register, lane, warp) to element coordinates. Two bits of the index that
    move the same element, or a zero basis, mean replication.

    Example:
    ```mlir
    #rows = #fusion_tile.layout<"{reg=[[0,1],[0,2]], lane=[[0,4],[0,8],[0,16],[0,32],[0,64]], warp=[[1,0],[2,0]], shape=[4,128]}">
    ```
  }];
  let parameters = (ins
    AttrParameter<"LinearLayout", "the map", "const LinearLayout &">:$linear);
  let hasCustomAssemblyFormat = 1;
}

def Tile_SharedAttr : Tile_Attr<"Shared", "shared_layout"> {
  let summary = "Where each element of a shared-memory tile lives";
  let description = [{
    Wraps a map over GF(2) from the bits of the element's coordinates to the
    bits of its byte offset in the buffer. Every swizzle is such a map.

    `offsets` has for each dimension the bytes that each bit of the coordinate adds,
    by exclusive or.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">
    ```
  }];
  let parameters = (ins
    AttrParameter<"SharedLayout", "the map", "const SharedLayout &">:$shared);
  let hasCustomAssemblyFormat = 1;
}

def Tile_PipelineAttr : Tile_Attr<"Pipeline", "pipeline"> {
  let summary = "How the products of a program are made and fed";
  let description = [{
    What the schedule decided, for the passes of this level to obey: `kind`, the
    instruction; `stages`, how many chunks of the operands are in flight or in
    use at once; `columns`, how many columns of the accumulator the code after
    the loop works on at a time (0: all); `groups`, how many groups of
    `num_warps` warps take turns at the tiles that a block walks; `mbarriers`,
    whether a wait at a barrier in memory leaves the chip to other warps, so
    that stages which threads copy may have barriers of their own; `skew`, how
    many turns of their loop products run behind others whose results they need.

    Example:
    ```mlir
    #products = #fusion_tile.pipeline<wgmma, stages = 4, columns = 64>
    ```
  }];
  let parameters = (ins Tile_MmaKindParameter:$kind,
                        DefaultValuedParameter<"int64_t", "1">:$stages,
                        DefaultValuedParameter<"int64_t", "0">:$columns,
                        DefaultValuedParameter<"int64_t", "1">:$groups,
                        DefaultValuedParameter<"bool", "false">:$mbarriers,
                        DefaultValuedParameter<"int64_t", "0">:$skew);
  let assemblyFormat = [{
    `<` $kind (`,` struct($stages, $columns, $groups, $mbarriers, $skew)^)? `>`
  }];
}

def Tile_Im2ColAttr : Tile_Attr<"Im2Col", "im2col"> {
  let summary = "Where the windows of a convolution start in an image";
  let description = [{
    For each dimension of a view but the first (images) and the last (channels):
    `lower`, the first element that a window starts at, and `upper`, the last
    one, counted from the last element. Both count elements of the image, before
    any offset within the window.

    Example:
    ```mlir
    // Windows of 3x3 elements on images with one element of padding around them.
    #windows = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$lower,
                        ArrayRefParameter<"int64_t">:$upper);
  let assemblyFormat = "`<` `lower` `=` `[` $lower `]` `,` `upper` `=` `[` "
                       "$upper `]` `>`";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Tile_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "A tensor in global memory, row-major and contiguous";
  let description = [{
    `!fusion_tile.view<?x4096xbf16>`. Sizes may be dynamic; they are operands of the
    `fusion_tile.view` operation that makes the view.

    Example:
    ```mlir
    !rows = !fusion_tile.view<?x4096xbf16>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getShape().size(); }
    int64_t getNumDynamicDims() const {
      return llvm::count_if(getShape(), ShapedType::isDynamic);
    }
  }];
}

def Tile_BufferType : Tile_Type<"Buffer", "buffer"> {
  let summary = "A tile in shared memory";
  let description = [{
    `!fusion_tile.buffer<128x32xf32, #fusion_tile.shared_layout<...>>`, of static
    power-of-two shape.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">
    !rows = !fusion_tile.buffer<4x8xf32, #rows>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "Type":$elementType, "SharedAttr":$layout);
  let hasCustomAssemblyFormat = 1;
}

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

#endif // FUSION_DIALECT_TILE_IR_TILEBASE_TD
