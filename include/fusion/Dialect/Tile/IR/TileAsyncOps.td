//===- TileAsyncOps.td - Tensor cores and copies in flight -*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the operations of the tile dialect that overlap: copies
// between global and shared memory by the tensor copy engine, rings of buffers
// that producers fill and consumers empty, products on tensor cores in flight,
// and the roles of warps. docs/Rationale/TensorCores.md says how they fit.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_TILE_IR_TILEASYNCOPS_TD
#define FUSION_DIALECT_TILE_IR_TILEASYNCOPS_TD

include "fusion/Dialect/Tile/IR/TileBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Tile_TensorMapType : Tile_Type<"TensorMap", "tensor_map"> {
  let summary = "A tensor in global memory as the tensor copy engine sees it";
  let description = [{
    `!fusion_tile.tensor_map<1x64x64xbf16, b128>`: the shape of one box, in the order
    of the view's dimensions, the element type, and the swizzle in which boxes
    lie in shared memory (`none`, `b32`, `b64` or `b128`).

    Example:
    ```mlir
    !boxes = !fusion_tile.tensor_map<1x64x64xbf16, b128>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box,
                        "Type":$elementType,
                        EnumParameter<Tile_Swizzle>:$swizzle);
  let hasCustomAssemblyFormat = 1;
}

def Tile_RingType : Tile_Type<"Ring", "ring"> {
  let summary = "A ring of stages of shared-memory buffers";
  let description = [{
    `!fusion_tile.ring<4, [!fusion_tile.buffer<...>, !fusion_tile.buffer<...>]>`: so many stages,
    each with one buffer of each of the types. Each stage has two barriers:
    *full*, on which the copies into it complete, and *empty*, on which those
    who read it arrive. A ring without buffers only passes turns: who releases
    a position lets the one who acquires that of the next round go on.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">
    !rows = !fusion_tile.buffer<4x8xf32, #rows>
    !stages = !fusion_tile.ring<4, [!rows, !rows]>
    ```
  }];
  let parameters = (ins "int64_t":$stages, ArrayRefParameter<"Type">:$buffers);
  let assemblyFormat = "`<` $stages `,` `[` custom<Buffers>($buffers) `]` `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Byte offset of buffer `number` from the start of its stage.
    int64_t getBufferOffset(unsigned number) const;
    /// Bytes of one stage, a multiple of the buffers' alignment.
    int64_t getStageBytes() const;
    /// Largest alignment of a buffer.
    int64_t getAlignment() const;
    /// Bytes of all stages and, after them, of the full and then the empty
    /// barriers (8 bytes each).
    int64_t getTotalBytes() const;
  }];
}

//===----------------------------------------------------------------------===//
// Tensor maps and rings
//===----------------------------------------------------------------------===//

def Tile_TensorMapOp : Tile_Op<"tensor_map", [Pure]> {
  let summary = "Describes a view to the tensor copy engine";
  let description = [{
    The launch encodes the map from the view's base address and sizes and passes
    it to the kernel as a parameter. The base of the view must be an argument of
    the program and its `shape` must be recorded, for the launch to know both.
    `element_strides`, one for each dimension of the view, makes a box take
    every so-manieth element (1 when absent).

    With `im2col`, a box is a run of pixels: the places where windows start
    follow each other row-major through the bounding box, in steps of
    `element_strides`, and then through the next image. The box is 1 along all
    dimensions but the last two, which give the pixels and the channels.

    Example:
    ```mlir
    fusion_tile.program @map(%x: !llvm.ptr<1>) attributes {num_warps = 4} {
      %v = fusion_tile.view %x[] {shape = affine_map<() -> (1024, 256)>}
          : !llvm.ptr<1> to !fusion_tile.view<1024x256xbf16>
      %boxes = fusion_tile.tensor_map %v
          : !fusion_tile.view<1024x256xbf16> -> !fusion_tile.tensor_map<64x64xbf16, b128>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$view,
                       OptionalAttr<DenseI64ArrayAttr>:$element_strides,
                       OptionalAttr<Tile_Im2ColAttr>:$im2col);
  let results = (outs Tile_TensorMapType:$result);
  let assemblyFormat = "$view attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_MakeRingOp : Tile_Op<"make_ring", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Reserves a ring and makes its barriers ready";
  let description = [{
    `offset`, in bytes from the start of the block's shared memory, is set by
    shared-memory allocation; a ring lives as long as the program. A stage is
    free again once each of the program's `num_warps` warps has released it.
    Positions count from zero: position `p` is stage `p mod stages`.

    With `multicast`, copies for all blocks of the cluster may be among those
    that fill a stage: it is free once the warps of all blocks have released
    it. All blocks then take the same number of positions.

    With `groups`, so many groups of consumers, of `num_warps` warps each, read
    every stage: it is free once the warps of all of them have released it.

    With `by_threads`, the program's threads fill the stages by copies of their
    own: a stage is full once those that each of them started before its
    `fusion_tile.copy_arrive` are complete. The ring has no buffers: the stages are
    those of `fusion_tile.alloc`.

    Example:
    ```mlir
    #box = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
    !box = !fusion_tile.buffer<64x64xbf16, #box>
    func.func @ring() {
      // Four stages with two boxes each.
      %ring = fusion_tile.make_ring : !fusion_tile.ring<4, [!box, !box]>
      return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset, UnitAttr:$multicast,
                       UnitAttr:$by_threads, OptionalAttr<I64Attr>:$groups);
  let results = (outs Tile_RingType:$result);
  let assemblyFormat = [{
    (`at` $offset^)? (`multicast` $multicast^)? (`by_threads` $by_threads^)?
    (`groups` $groups^)?
    attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_AcquireOp : Tile_Op<"acquire", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until a stage is free and announces the copies into it";
  let description = [{
    For producers. Waits until every reader of the stage's previous round has
    released it, then makes its full barrier expect the bytes of all of its
    buffers. Every buffer must then be filled by `fusion_tile.async_load`. Of a ring
    without buffers it only waits, and any role may do so.

    Example:
    ```mlir
    #box = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
    !box = !fusion_tile.buffer<64x64xbf16, #box>
    func.func @acquire(%ring: !fusion_tile.ring<4, [!box, !box]>, %position: index) {
      %a, %b = fusion_tile.acquire %ring[%position] : !fusion_tile.ring<4, [!box, !box]> -> !box, !box
      return
    }
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$position);
  let results = (outs Variadic<Tile_BufferType>:$buffers);
  let assemblyFormat = [{
    $ring `[` $position `]` attr-dict `:` type($ring) (`->` type($buffers)^)?
  }];
  let hasVerifier = 1;
}

def Tile_AsyncLoadOp : Tile_Op<"async_load", [AttrSizedOperandSegments,
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts a copy of a tile from global into a ring's buffer";
  let description = [{
    The tile starts at `coordinates`, one for each dimension of the map's view;
    its dimension `i` runs along dimension `dims[i]` of the view. It is copied
    box by box: a box covers `box[dims[i]]` elements of tile dimension `i`, and
    boxes follow each other in the buffer as its layout says. What lies outside
    the view becomes zero. The copy completes on the full barrier of the ring's
    stage at `position`.

    A map with `im2col` takes `offsets`, one for each dimension between the
    first and the last: the element of the window that is copied. `coordinates`
    are then where the first window starts.

    With `multicast`, all blocks of the cluster want the same tile: the block of
    rank r copies the r-th part of the boxes, to the same place in the shared
    memory of every block. The ring has `multicast` too.

    With `along`, the tile is made of equal pieces along that dimension of its
    own, as of rows that a table places or of channels at different places of
    windows: `coordinates` are where each starts, one piece after the other, and
    so are `offsets`. A box lies in one piece.

    Example:
    ```mlir
    #box = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
    !box = !fusion_tile.buffer<64x64xbf16, #box>
    func.func @copy(%map: !fusion_tile.tensor_map<64x64xbf16, b128>, %row: index, %column: index,
                    %ring: !fusion_tile.ring<4, [!box]>, %position: index) {
      %buffer = fusion_tile.acquire %ring[%position] : !fusion_tile.ring<4, [!box]> -> !box
      fusion_tile.async_load %map[%row, %column] into %buffer signals %ring[%position] dims [0, 1]
          : !fusion_tile.tensor_map<64x64xbf16, b128>, !box, !fusion_tile.ring<4, [!box]>
      return
    }
    ```
  }];
  let arguments = (ins Tile_TensorMapType:$map, Variadic<Index>:$coordinates,
                       Tile_BufferType:$buffer, Tile_RingType:$ring,
                       Index:$position, DenseI64ArrayAttr:$dims,
                       Variadic<Index>:$offsets, UnitAttr:$multicast,
                       OptionalAttr<I64Attr>:$along);
  let assemblyFormat = [{
    $map `[` $coordinates `]` (`offset` `[` $offsets^ `]`)? `into` $buffer `signals` $ring `[` $position `]`
    `dims` $dims (`multicast` $multicast^)? (`along` $along^)? attr-dict `:` type($map) `,` type($buffer) `,` type($ring)
  }];
  let extraClassDeclaration = [{
    /// Pieces that the tile is made of.
    int64_t getNumPieces() {
      return getAlong() ? getCoordinates().size() /
                              getMap().getType().getBox().size()
                        : 1;
    }
  }];
  let hasVerifier = 1;
}

def Tile_WaitOp : Tile_Op<"wait", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until a stage is full";
  let description = [{
    For consumers. The buffers may be read until the stage is released.

    Example:
    ```mlir
    #box = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
    !box = !fusion_tile.buffer<64x64xbf16, #box>
    func.func @read(%ring: !fusion_tile.ring<4, [!box]>, %position: index) -> tensor<64x64xbf16> {
      %buffer = fusion_tile.wait %ring[%position] : !fusion_tile.ring<4, [!box]> -> !box
      %tile = fusion_tile.local_load %buffer : !box -> tensor<64x64xbf16>
      fusion_tile.release %ring[%position] : !fusion_tile.ring<4, [!box]>
      return %tile : tensor<64x64xbf16>
    }
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$position);
  let results = (outs Variadic<Tile_BufferType>:$buffers);
  let assemblyFormat = [{
    $ring `[` $position `]` attr-dict `:` type($ring) (`->` type($buffers)^)?
  }];
  let hasVerifier = 1;
}

def Tile_ReleaseOp : Tile_Op<"release", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Frees a stage";
  let description = [{
    Each warp arrives on the stage's empty barrier once its own reads, those of
    products in flight included, are done: a `fusion_tile.mma_wait` stands before it.

    Example:
    ```mlir
    // A ring without buffers passes turns.
    func.func @pass_on(%turns: !fusion_tile.ring<2, []>, %position: index) {
      fusion_tile.release %turns[%position] : !fusion_tile.ring<2, []>
      return
    }
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$position);
  let assemblyFormat = "$ring `[` $position `]` attr-dict `:` type($ring)";
}

def Tile_DrainOp : Tile_Op<"drain", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until every stage is free";
  let description = [{
    For producers, at their end: `position` is the next one. A block whose
    stages other blocks release must outlive the releases.

    Example:
    ```mlir
    func.func @end(%turns: !fusion_tile.ring<2, []>, %next: index) {
      fusion_tile.drain %turns[%next] : !fusion_tile.ring<2, []>
      return
    }
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$position);
  let assemblyFormat = "$ring `[` $position `]` attr-dict `:` type($ring)";
}

//===----------------------------------------------------------------------===//
// Products in flight
//===----------------------------------------------------------------------===//

def Tile_MmaAsyncOp : Tile_Op<"mma_async", [
    AllTypesMatch<["acc", "result"]>, MemoryEffects<[MemRead]>]> {
  let summary = "Starts acc + a × bᵀ on the tensor cores of warpgroups";
  let description = [{
    `a` is MxK, `b` is NxK as in `fusion_tile.dot`; the accumulator is MxN. `b` is a
    buffer, `a` a buffer or a tile in registers. The majors follow from the
    buffers' layouts. The buffer of `b` may have more rows, of which the first N
    are taken. With `swapped`, the instruction's rows are the rows of `b`
    (the instruction computes the transposed product): then `b` may be in
    registers and `a` is the buffer.

    The result may not be read before `fusion_tile.mma_wait`; only another
    `fusion_tile.mma_async` may take it as its accumulator.

    Example:
    ```mlir
    #box = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
    !box = !fusion_tile.buffer<64x64xbf16, #box>
    func.func @product(%a: !box, %b: !box, %acc: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %started = fusion_tile.mma_async %a, %b, %acc : !box, !box -> tensor<64x64xf32>
      %done = fusion_tile.mma_wait %started : tensor<64x64xf32> -> tensor<64x64xf32>
      return %done : tensor<64x64xf32>
    }
    ```
  }];
  let arguments = (ins AnyType:$a, AnyType:$b, AnyStaticShapeTensor:$acc,
                       UnitAttr:$swapped);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`swapped` $swapped^)? attr-dict
    `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_MmaWaitOp : Tile_Op<"mma_wait", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for products in flight";
  let description = [{
    Ends the group of products started since the last `fusion_tile.mma_wait` and waits
    until at most `pending` groups are in flight. `values` are the accumulators
    in flight; `kept` are tiles in registers that products in flight may still
    read, which must stay where they are until then.

    Example:
    ```mlir
    // One group stays in flight, which still reads %a from registers.
    func.func @wait(%acc: tensor<64x64xf32>, %a: tensor<64x16xbf16>) -> tensor<64x64xf32> {
      %done = fusion_tile.mma_wait %acc {pending = 1 : i64} : tensor<64x64xf32>
          keeping %a : tensor<64x16xbf16> -> tensor<64x64xf32>
      return %done : tensor<64x64xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$values,
                       Variadic<AnyStaticShapeTensor>:$kept,
                       DefaultValuedAttr<I64Attr, "0">:$pending);
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $values attr-dict `:` type($values) (`keeping` $kept^ `:` type($kept))?
    `->` type($results)
  }];
  let hasVerifier = 1;
}

def Tile_PinOp : Tile_Op<"pin", [Pure, Elementwise,
                                 AllTypesMatch<["value", "result"]>]> {
  let summary = "A tile that is computed here and kept as it is";
  let description = [{
    Its value, with elements of less than 32 bits side by side in registers of a
    thread. Nothing that follows looks behind it: what products are rounded to
    before others of the same tile are made takes no more registers meanwhile.

    Example:
    ```mlir
    func.func @pin(%sum: tensor<64x64xf32>) -> tensor<64x64xbf16> {
      %rounded = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
      %here = fusion_tile.pin %rounded : tensor<64x64xbf16>
      return %here : tensor<64x64xbf16>
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Stores and roles
//===----------------------------------------------------------------------===//

def Tile_AsyncStoreOp : Tile_Op<"async_store", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Writes a tile to global memory through shared memory";
  let description = [{
    The counterpart of `fusion_tile.async_load`: the tile is put into `buffer`, one of
    the program's own, and the tensor copy engine writes it from there, box by
    box, to `coordinates` of the map's view; what lies outside the view is not
    written. Before the buffer is filled, the copies out of it that an earlier
    `fusion_tile.async_store` started are waited for. Each warpgroup fills and writes
    its own rows, when the value's layout lets it, and waits for itself only.

    Example:
    ```mlir
    #box = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
    !box = !fusion_tile.buffer<64x64xbf16, #box>
    func.func @write(%tile: tensor<64x64xbf16>, %map: !fusion_tile.tensor_map<64x64xbf16, b128>,
                     %row: index, %column: index) {
      %buffer = fusion_tile.alloc : !box
      fusion_tile.async_store %tile, %map[%row, %column] through %buffer dims [0, 1]
          : tensor<64x64xbf16>, !fusion_tile.tensor_map<64x64xbf16, b128>, !box
      fusion_tile.async_store_wait
      return
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value, Tile_TensorMapType:$map,
                       Variadic<Index>:$coordinates, Tile_BufferType:$buffer,
                       DenseI64ArrayAttr:$dims);
  let assemblyFormat = [{
    $value `,` $map `[` $coordinates `]` `through` $buffer `dims` $dims
    attr-dict `:` type($value) `,` type($map) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tile_AsyncStoreWaitOp : Tile_Op<"async_store_wait", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until the copies out of shared memory have been read";
  let description = [{
    Stands at the end of a role that has `fusion_tile.async_store` ops: shared memory
    must outlive the copies out of it.

    Example:
    ```mlir
    fusion_tile.program @last() attributes {num_warps = 4} {
      fusion_tile.async_store_wait
      fusion_tile.return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_SpecializeOp : Tile_Op<"specialize", [
    NoRegionArguments, RecursiveMemoryEffects, SingleBlock, NoTerminator]> {
  let summary = "Gives the warps of a block different work";
  let description = [{
    The program's `num_warps` warps run `consumer`; all tiles live there. Each
    region of `producers` is run by one thread of one of the `extra_warps`: it
    computes scalars and starts copies. All regions see the values defined
    before the operation. `registers`, producer's then consumer's, moves the
    register budget of whole warpgroups (multiples of 8, from 24 to 240) when
    `extra_warps` is a multiple of 4.

    The barriers of rings made before are ready in all regions. Inside, a
    `fusion_tile.barrier` waits for the consumers only.

    With `groups`, so many groups of `num_warps` warps run `consumer`, each for
    itself: tiles are those of a group, a `fusion_tile.barrier` waits for its warps, a
    `fusion_tile.alloc` inside is one buffer for each (`group_bytes` apart, set by
    shared-memory allocation), and `fusion_tile.group_number` tells them apart. The
    warps of all groups but one count as `extra_warps`; a stage is free once the
    one group that reads it has released it, or all groups that do.

    Example:
    ```mlir
    #box = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
    !box = !fusion_tile.buffer<64x64xbf16, #box>
    !ring = !fusion_tile.ring<2, [!box]>
    // One thread of a fifth warp copies a box; the four others read it.
    fusion_tile.program @roles(%x: !llvm.ptr<1>) attributes {num_warps = 4, extra_warps = 1} {
      %c0 = arith.constant 0 : index
      %v = fusion_tile.view %x[] {shape = affine_map<() -> (64, 64)>}
          : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
      %map = fusion_tile.tensor_map %v
          : !fusion_tile.view<64x64xbf16> -> !fusion_tile.tensor_map<64x64xbf16, b128>
      %ring = fusion_tile.make_ring : !ring
      fusion_tile.specialize consumer {
        %full = fusion_tile.wait %ring[%c0] : !ring -> !box
        %tile = fusion_tile.local_load %full : !box -> tensor<64x64xbf16>
        fusion_tile.release %ring[%c0] : !ring
      } producer {
        %empty = fusion_tile.acquire %ring[%c0] : !ring -> !box
        fusion_tile.async_load %map[%c0, %c0] into %empty signals %ring[%c0] dims [0, 1]
            : !fusion_tile.tensor_map<64x64xbf16, b128>, !box, !ring
      }
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins OptionalAttr<DenseI64ArrayAttr>:$registers,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       OptionalAttr<I64Attr>:$group_bytes);
  let regions = (region SizedRegion<1>:$consumer,
                        VariadicRegion<SizedRegion<1>>:$producers);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_GroupNumberOp : Tile_Op<"group_number", [Pure]> {
  let summary = "The number of this group among the groups of consumers";
  let description = [{
    Stands in the consumer of a `fusion_tile.specialize`; 0 when it has one group.

    Example:
    ```mlir
    fusion_tile.program @groups() attributes {num_warps = 4, extra_warps = 8} {
      fusion_tile.specialize {groups = 2 : i64} consumer {
        %number = fusion_tile.group_number
      } producer {
      }
      fusion_tile.return
    }
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def Tile_GroupBufferOp : Tile_Op<"group_buffer", [Pure]> {
  let summary = "The buffer of this group, of one for each";
  let description = [{
    Of `buffers`, one for each group of consumers in the order of their numbers
    and all in one stage of a ring, the one of the group that asks.

    Example:
    ```mlir
    #box = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
    !box = !fusion_tile.buffer<64x64xbf16, #box>
    !ring = !fusion_tile.ring<2, [!box, !box]>
    fusion_tile.program @groups() attributes {num_warps = 4, extra_warps = 8} {
      %c0 = arith.constant 0 : index
      %ring = fusion_tile.make_ring groups 2 : !ring
      fusion_tile.specialize {groups = 2 : i64} consumer {
        %a, %b = fusion_tile.wait %ring[%c0] : !ring -> !box, !box
        %mine = fusion_tile.group_buffer %a, %b : !box, !box -> !box
      } producer {
      }
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_BufferType>:$buffers);
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = [{
    $buffers attr-dict `:` type($buffers) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_TransposeBufferOp : Tile_Op<"transpose_buffer", [Pure]> {
  let summary = "A buffer with its two dimensions exchanged";
  let description = [{
    The memory of `buffer`, of which element (i, j) is element (j, i) of the
    result: nothing moves. So two products read one tile, of which one contracts
    the dimension that the other one keeps.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
    #columns = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[2,4,8,16,32,64],[144,288,576,1024,2048,4096]]}">
    func.func @transpose(%stage: !fusion_tile.buffer<64x64xbf16, #rows>) {
      %keys = fusion_tile.transpose_buffer %stage
          : !fusion_tile.buffer<64x64xbf16, #rows> -> !fusion_tile.buffer<64x64xbf16, #columns>
      return
    }
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer);
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = [{
    $buffer attr-dict `:` type($buffer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ClusterReduceOp : Tile_Op<"cluster_reduce", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds the tiles of a cluster's blocks, a part in each";
  let description = [{
    Every block of the cluster has a tile of the operand's shape. The result, in
    the block of rank r, is the r-th part along dimension `dim` of the sum of
    all, added in the order of the blocks' ranks (float or integer, in the
    element type). `buffer`, one of the program's own, has the operand's shape;
    `fusion-tile-lower-exchanges` adds it, once layouts are known.

    The size along `dim` is a multiple of the cluster's blocks.

    Example:
    ```mlir
    // Two blocks add up their tiles; each gets half of the rows.
    fusion_tile.program @reduce() attributes {num_warps = 4, cluster = 2} {
      %f = arith.constant 1.0 : f32
      %a = fusion_tile.splat %f : f32 -> tensor<64x64xf32>
      %part = fusion_tile.cluster_reduce %a along 0 : tensor<64x64xf32> -> tensor<32x64xf32>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins AnyStaticShapeTensor:$value,
                       Optional<Tile_BufferType>:$buffer, I64Attr:$dim);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = [{
    $value (`through` $buffer^)? `along` $dim attr-dict
    `:` type($value) (`,` type($buffer)^)? `->` type($result)
  }];
  let builders = [OpBuilder<(ins "Type":$type, "Value":$value, "int64_t":$dim), [{
    build($_builder, $_state, type, value, Value(), dim);
  }]>];
  let hasVerifier = 1;
}

def Tile_ClusterMemoryOp : Tile_Op<"cluster_memory", [Pure]> {
  let summary = "Shared memory that all blocks of a cluster write to";
  let description = [{
    The address of `bytes` bytes of the block's shared memory, a multiple of 16,
    for `fusion_tile.panel_reduce`: before the words of each exchange are 16 bytes for
    the barrier at which words that other blocks send arrive. `offset` is set by
    allocation. There is one in a program, and each exchange happens once.

    Example:
    ```mlir
    fusion_tile.program @exchange() attributes {num_warps = 4, cluster = 2} {
      %memory = fusion_tile.cluster_memory 64 : !llvm.ptr<3>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins I64Attr:$bytes, OptionalAttr<I64Attr>:$offset);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$bytes (`at` $offset^)? attr-dict `:` type($result)";
}

def Tile_ClusterRankOp : Tile_Op<"cluster_rank", [Pure]> {
  let summary = "The rank of this block in its cluster";
  let description = [{
    From 0 to the number of the cluster's blocks less one.

    Example:
    ```mlir
    fusion_tile.program @rank() attributes {num_warps = 4, cluster = 2} {
      %rank = fusion_tile.cluster_rank
      fusion_tile.return
    }
    ```
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Copies by the threads themselves
//===----------------------------------------------------------------------===//

def Tile_StageOp : Tile_Op<"stage", [
    Pure, AllTypesMatch<["buffer", "result"]>]> {
  let summary = "One of the stages of a buffer";
  let description = [{
    The buffer is a `fusion_tile.alloc` with `stages`; stages count from zero. Who may
    read and who may write which stage is a matter of `fusion_tile.copy_wait` and
    `fusion_tile.barrier`: no barriers are placed between uses of one such buffer.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">
    !rows = !fusion_tile.buffer<4x8xf32, #rows>
    func.func @stage(%number: index) {
      %all = fusion_tile.alloc stages 3 : !rows
      %one = fusion_tile.stage %all[%number] : !rows
      return
    }
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, Index:$number);
  let results = (outs Tile_BufferType:$result);
  let assemblyFormat = "$buffer `[` $number `]` attr-dict `:` type($buffer)";
}

def Tile_CopyStartOp : Tile_Op<"copy_start", [
    AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Starts the threads' copy of a tile from global memory";
  let description = [{
    What `fusion_tile.load` reads into registers of `layout` and `fusion_tile.local_store`
    then writes to the buffer is copied without passing through registers; so
    each thread moves what `layout` gives it, 4, 8 or 16 bytes at a time. When
    the predicate is false nothing is copied. The copy is complete once a
    `fusion_tile.copy_wait` of the same thread has waited for the group that the next
    `fusion_tile.copy_commit` makes.

    Buffer and view have one element type.

    Example:
    ```mlir
    #rows = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[32,64],[4,8,16]]}">
    !rows = !fusion_tile.buffer<4x8xf32, #rows>
    // Eight lanes copy 16 bytes each.
    func.func @copy(%v: !fusion_tile.view<?x8xf32>, %row: index, %buffer: !rows) {
      fusion_tile.copy_start %v[affine_map<(i, j)[r] -> (r + i, j)>] (%row) checked [true, false]
          into %buffer by <"{reg=[[0,1],[0,2]], lane=[[0,4],[1,0],[2,0],[0,0],[0,0]], warp=[], shape=[4,8]}">
          : !fusion_tile.view<?x8xf32>, !rows
      fusion_tile.copy_commit
      fusion_tile.copy_wait 0
      fusion_tile.barrier
      return
    }
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<Index>:$symbols,
                       Tile_BufferType:$buffer, Optional<I1>:$predicate,
                       AffineMapAttr:$map, DenseBoolArrayAttr:$checked,
                       Tile_LayoutAttr:$layout);
  let assemblyFormat = [{
    $view `[` $map `]` `(` $symbols `)` `checked` $checked `into` $buffer
    `by` $layout (`when` $predicate^)? attr-dict `:` type($view) `,`
    type($buffer)
  }];
  let hasVerifier = 1;
}

def Tile_CopyCommitOp : Tile_Op<"copy_commit", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Makes a group of the copies started since the last group";
  let description = [{
    Each thread has groups of its own, which complete in their order.

    Example:
    ```mlir
    func.func @group() {
      fusion_tile.copy_commit
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_CopyArriveOp : Tile_Op<"copy_arrive", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Lets the thread's copies count at a stage's full barrier";
  let description = [{
    The thread arrives at the full barrier of the stage at `position` when all
    copies that it has started so far are complete; it does not wait for them.
    The ring is `by_threads`.

    Example:
    ```mlir
    fusion_tile.program @by_threads(%position: index) attributes {num_warps = 4} {
      %ring = fusion_tile.make_ring by_threads : !fusion_tile.ring<2, []>
      fusion_tile.copy_arrive %ring[%position] : !fusion_tile.ring<2, []>
      fusion_tile.wait %ring[%position] : !fusion_tile.ring<2, []>
      fusion_tile.return
    }
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, Index:$position);
  let assemblyFormat = "$ring `[` $position `]` attr-dict `:` type($ring)";
  let hasVerifier = 1;
}

def Tile_CopyWaitOp : Tile_Op<"copy_wait", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for all but the last groups of the thread's copies";
  let description = [{
    At most `pending` groups are still in flight afterwards. Other threads see
    the copies after a `fusion_tile.barrier`.

    Example:
    ```mlir
    // The copies before the last group are complete, in all threads.
    func.func @last_but_one() {
      fusion_tile.copy_wait 1
      fusion_tile.barrier
      return
    }
    ```
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

#endif // FUSION_DIALECT_TILE_IR_TILEASYNCOPS_TD
