//===- TileDialect.cpp - The tile dialect, from C -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-c/Dialect/Tile.h.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion-c/Dialect/Tile.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::fusion::tile;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(FusionTile, fusion_tile, TileDialect)

/// The attribute that wraps the map which `parse` reads from `text`, or null
/// with an error.
template <typename Attr, typename Parse>
static MlirAttribute parseMap(MlirContext context, MlirStringRef text,
                              Parse parse) {
  MLIRContext *ctx = unwrap(context);
  ctx->loadDialect<TileDialect>();
  std::string error;
  auto map = parse(unwrap(text), &error);
  if (!map) {
    emitError(UnknownLoc::get(ctx)) << error;
    return {nullptr};
  }
  return wrap(Attribute(Attr::get(ctx, *map)));
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static const LinearLayout &getLayoutOf(MlirAttribute attribute) {
  return cast<LayoutAttr>(unwrap(attribute)).getLinear();
}

bool mlirAttributeIsAFusionTileLayout(MlirAttribute attribute) {
  return isa<LayoutAttr>(unwrap(attribute));
}

MlirTypeID mlirFusionTileLayoutAttrGetTypeID(void) {
  return wrap(LayoutAttr::getTypeID());
}

MlirAttribute mlirFusionTileLayoutAttrGet(MlirContext context,
                                          MlirStringRef map) {
  return parseMap<LayoutAttr>(context, map, parseLinearLayout);
}

intptr_t mlirFusionTileLayoutAttrGetRank(MlirAttribute attribute) {
  return getLayoutOf(attribute).rank();
}

int64_t mlirFusionTileLayoutAttrGetDimSize(MlirAttribute attribute,
                                           intptr_t dim) {
  return getLayoutOf(attribute).dimSize(dim);
}

int64_t mlirFusionTileLayoutAttrGetNumRegisters(MlirAttribute attribute) {
  return getLayoutOf(attribute).numRegs();
}

int64_t mlirFusionTileLayoutAttrGetNumLanes(MlirAttribute attribute) {
  return getLayoutOf(attribute).numLanes();
}

int64_t mlirFusionTileLayoutAttrGetNumWarps(MlirAttribute attribute) {
  return getLayoutOf(attribute).numWarps();
}

int64_t mlirFusionTileLayoutAttrGetElement(MlirAttribute attribute, int64_t reg,
                                           int64_t lane, int64_t warp) {
  HwIndex index;
  index.reg = static_cast<unsigned>(reg);
  index.lane = static_cast<unsigned>(lane);
  index.warp = static_cast<unsigned>(warp);
  return static_cast<int64_t>(getLayoutOf(attribute).linearElementOf(index));
}

bool mlirAttributeIsAFusionTileShared(MlirAttribute attribute) {
  return isa<SharedAttr>(unwrap(attribute));
}

MlirTypeID mlirFusionTileSharedAttrGetTypeID(void) {
  return wrap(SharedAttr::getTypeID());
}

MlirAttribute mlirFusionTileSharedAttrGet(MlirContext context,
                                          MlirStringRef map) {
  return parseMap<SharedAttr>(context, map, SharedLayout::parse);
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool mlirTypeIsAFusionTileView(MlirType type) {
  return isa<ViewType>(unwrap(type));
}

MlirTypeID mlirFusionTileViewTypeGetTypeID(void) {
  return wrap(ViewType::getTypeID());
}

MlirType mlirFusionTileViewTypeGet(intptr_t rank, const int64_t *shape,
                                   MlirType elementType) {
  Type element = unwrap(elementType);
  element.getContext()->loadDialect<TileDialect>();
  return wrap(Type(
      ViewType::get(element.getContext(), ArrayRef(shape, rank), element)));
}

intptr_t mlirFusionTileViewTypeGetRank(MlirType type) {
  return cast<ViewType>(unwrap(type)).getRank();
}

int64_t mlirFusionTileViewTypeGetDimSize(MlirType type, intptr_t dim) {
  return cast<ViewType>(unwrap(type)).getShape()[dim];
}

MlirType mlirFusionTileViewTypeGetElementType(MlirType type) {
  return wrap(cast<ViewType>(unwrap(type)).getElementType());
}

bool mlirTypeIsAFusionTileBuffer(MlirType type) {
  return isa<BufferType>(unwrap(type));
}

MlirTypeID mlirFusionTileBufferTypeGetTypeID(void) {
  return wrap(BufferType::getTypeID());
}

MlirType mlirFusionTileBufferTypeGet(intptr_t rank, const int64_t *shape,
                                     MlirType elementType,
                                     MlirAttribute layout) {
  Type element = unwrap(elementType);
  return wrap(Type(BufferType::get(element.getContext(), ArrayRef(shape, rank),
                                   element, cast<SharedAttr>(unwrap(layout)))));
}

intptr_t mlirFusionTileBufferTypeGetRank(MlirType type) {
  return cast<BufferType>(unwrap(type)).getShape().size();
}

int64_t mlirFusionTileBufferTypeGetDimSize(MlirType type, intptr_t dim) {
  return cast<BufferType>(unwrap(type)).getShape()[dim];
}

MlirType mlirFusionTileBufferTypeGetElementType(MlirType type) {
  return wrap(cast<BufferType>(unwrap(type)).getElementType());
}

MlirAttribute mlirFusionTileBufferTypeGetLayout(MlirType type) {
  return wrap(Attribute(cast<BufferType>(unwrap(type)).getLayout()));
}
