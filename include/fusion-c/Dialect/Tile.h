//===- Tile.h - The tile dialect, from C ------------------------ -*- C -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file declares the dialect `fusion_tile` to programs that use MLIR's C
// API: its handle, its types, and the attributes that say where elements lie.
//
// A layout whose text is not valid is null, and the reason is an error of the
// context. Types are verified with the operations that they are used in.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_C_DIALECT_TILE_H
#define FUSION_C_DIALECT_TILE_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(FusionTile, fusion_tile);

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// #fusion_tile.layout, which element of a tile each register of each thread
/// holds: the encoding of a tile's tensor type.
MLIR_CAPI_EXPORTED bool
mlirAttributeIsAFusionTileLayout(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionTileLayoutAttrGetTypeID(void);
/// `map` is what stands between the quotes of the attribute's text.
MLIR_CAPI_EXPORTED MlirAttribute
mlirFusionTileLayoutAttrGet(MlirContext context, MlirStringRef map);
MLIR_CAPI_EXPORTED intptr_t
mlirFusionTileLayoutAttrGetRank(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t
mlirFusionTileLayoutAttrGetDimSize(MlirAttribute attribute, intptr_t dim);
/// Of the hardware that the layout is for.
MLIR_CAPI_EXPORTED int64_t
mlirFusionTileLayoutAttrGetNumRegisters(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t
mlirFusionTileLayoutAttrGetNumLanes(MlirAttribute attribute);
MLIR_CAPI_EXPORTED int64_t
mlirFusionTileLayoutAttrGetNumWarps(MlirAttribute attribute);
/// The number, in row-major order, of the element that a register of a lane of
/// a warp holds.
MLIR_CAPI_EXPORTED int64_t mlirFusionTileLayoutAttrGetElement(
    MlirAttribute attribute, int64_t reg, int64_t lane, int64_t warp);

/// #fusion_tile.shared_layout, where each element of a tile lies in shared
/// memory.
MLIR_CAPI_EXPORTED bool
mlirAttributeIsAFusionTileShared(MlirAttribute attribute);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionTileSharedAttrGetTypeID(void);
MLIR_CAPI_EXPORTED MlirAttribute
mlirFusionTileSharedAttrGet(MlirContext context, MlirStringRef map);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// !fusion_tile.view, a tensor in global memory. Sizes that are not known are
/// mlirShapedTypeGetDynamicSize().
MLIR_CAPI_EXPORTED bool mlirTypeIsAFusionTileView(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionTileViewTypeGetTypeID(void);
MLIR_CAPI_EXPORTED MlirType mlirFusionTileViewTypeGet(intptr_t rank,
                                                      const int64_t *shape,
                                                      MlirType elementType);
MLIR_CAPI_EXPORTED intptr_t mlirFusionTileViewTypeGetRank(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirFusionTileViewTypeGetDimSize(MlirType type,
                                                            intptr_t dim);
MLIR_CAPI_EXPORTED MlirType mlirFusionTileViewTypeGetElementType(MlirType type);

/// !fusion_tile.buffer, a tile in shared memory.
MLIR_CAPI_EXPORTED bool mlirTypeIsAFusionTileBuffer(MlirType type);
MLIR_CAPI_EXPORTED MlirTypeID mlirFusionTileBufferTypeGetTypeID(void);
/// `layout` is a #fusion_tile.shared_layout.
MLIR_CAPI_EXPORTED MlirType mlirFusionTileBufferTypeGet(intptr_t rank,
                                                        const int64_t *shape,
                                                        MlirType elementType,
                                                        MlirAttribute layout);
MLIR_CAPI_EXPORTED intptr_t mlirFusionTileBufferTypeGetRank(MlirType type);
MLIR_CAPI_EXPORTED int64_t mlirFusionTileBufferTypeGetDimSize(MlirType type,
                                                              intptr_t dim);
MLIR_CAPI_EXPORTED MlirType
mlirFusionTileBufferTypeGetElementType(MlirType type);
MLIR_CAPI_EXPORTED MlirAttribute
mlirFusionTileBufferTypeGetLayout(MlirType type);

#ifdef __cplusplus
}
#endif

#endif // FUSION_C_DIALECT_TILE_H
