//===- MemoryViews.cpp - How tensors lie in memory ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the views of the memory of a kernel.
//
//===----------------------------------------------------------------------===//

#include "MemoryViews.h"

#include "Coordinates.h"

using namespace mlir;
using namespace mlir::fusion;

LogicalResult MemoryViews::create(Value tensor, Value base) {
  auto type = cast<RankedTensorType>(tensor.getType());
  FailureOr<SmallVector<AffineExpr>> shape =
      kernel.getShapes().getShape(tensor);
  if (failed(shape))
    return kernel.emitError("FUS-3101: a size of the kernel depends on data");
  SmallVector<Value> dynamic;
  SmallVector<int64_t> sizes;
  for (AffineExpr expr : *shape) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      sizes.push_back(constant.getValue());
      continue;
    }
    sizes.push_back(ShapedType::kDynamic);
    dynamic.push_back(builder.getSize(expr));
  }
  MLIRContext *context = builder.getContext();
  auto viewType = tile::ViewType::get(context, sizes, type.getElementType());
  views[tensor] = tile::MakeViewOp::create(
      builder, builder.getLoc(), viewType, base, dynamic,
      AffineMapAttr::get(
          AffineMap::get(0, kernel.getNumSymbols(), *shape, context)));
  return success();
}

LogicalResult MemoryViews::create() {
  Block *body = &builder.getProgram().getBody().front();
  for (auto [argument, base] :
       llvm::zip(kernel.getBlock().getArguments(), body->getArguments())) {
    if (!isa<RankedTensorType>(argument.getType()))
      views[argument] = base;
    else if (failed(create(argument, base)))
      return failure();
  }
  KernelOp op = kernel.getOp();
  for (auto [i, result] : llvm::enumerate(op.getResults()))
    if (failed(create(result, body->getArgument(op.getInputs().size() + i))))
      return failure();
  return success();
}

TypedValue<tile::ViewType> MemoryViews::viewAs(Value key,
                                               ArrayRef<AffineExpr> sizes) {
  std::vector<const void *> identity;
  for (AffineExpr size : sizes)
    identity.push_back(size.getAsOpaquePointer());
  Value &known = otherViews[{key.getAsOpaquePointer(), std::move(identity)}];
  if (known)
    return cast<TypedValue<tile::ViewType>>(known);
  SmallVector<Value> dynamic;
  SmallVector<int64_t> staticSizes;
  for (AffineExpr size : sizes) {
    auto constant = dyn_cast<AffineConstantExpr>(size);
    staticSizes.push_back(constant ? constant.getValue()
                                   : ShapedType::kDynamic);
    if (!constant)
      dynamic.push_back(builder.getSize(size));
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.insertAfterSizes();
  auto whole = views.lookup(key).getDefiningOp<tile::MakeViewOp>();
  auto view = tile::MakeViewOp::create(
      builder, builder.getLoc(),
      tile::ViewType::get(builder.getContext(), staticSizes,
                          whole.getType().getElementType()),
      whole.getBase(), dynamic,
      AffineMapAttr::get(AffineMap::get(0, kernel.getNumSymbols(), sizes,
                                        builder.getContext())));
  known = view;
  builder.noteSize(view);
  return view;
}

/// The product of `shape` when `coords` are the row-major coordinates of
/// `position` in it, else null.
static AffineExpr matchRowMajor(AffineExpr position,
                                ArrayRef<AffineExpr> coords,
                                ArrayRef<AffineExpr> shape) {
  if (coords != ArrayRef<AffineExpr>(delinearize(position, shape)))
    return nullptr;
  AffineExpr product = getAffineConstantExpr(1, position.getContext());
  for (AffineExpr size : llvm::reverse(shape))
    product = size * product;
  return product;
}

unsigned MemoryViews::addRun(unsigned start, ArrayRef<AffineExpr> coords,
                             ArrayRef<AffineExpr> shape, Place &place,
                             SmallVectorImpl<AffineExpr> &sizes) {
  for (const auto &[number, axis] : llvm::enumerate(axes)) {
    bool runsOn = axis.dim && (axes.getMerged(*axis.dim) ||
                               kernel.getWalkedDims(*axis.dim).size() > 1);
    if (!runsOn || !isUsed(coords, number))
      continue;
    // The run ends with the axis's fastest dimension.
    AffineExpr position = builder.getAffineDimExpr(number);
    for (unsigned end = start + 2; end <= coords.size(); ++end) {
      AffineExpr size =
          matchRowMajor(position, coords.slice(start, end - start),
                        shape.slice(start, end - start));
      if (!size || size != axis.extent)
        continue;
      place.coords.push_back(position);
      sizes.push_back(size);
      return end;
    }
  }
  place.coords.push_back(coords[start]);
  sizes.push_back(shape[start]);
  return start + 1;
}

MemoryViews::Place MemoryViews::placeOf(Value key, Value tensor,
                                        ArrayRef<AffineExpr> coords) {
  SmallVector<AffineExpr> shape = *kernel.getShapes().getShape(tensor);
  Place place;
  SmallVector<AffineExpr> sizes;
  SmallVector<unsigned> ends;
  for (unsigned start = 0; start < coords.size();) {
    start = addRun(start, coords, shape, place, sizes);
    ends.push_back(start);
  }
  place.view = sizes.size() == coords.size()
                   ? cast<TypedValue<tile::ViewType>>(views.lookup(key))
                   : viewAs(key, sizes);
  unsigned start = 0;
  for (auto [coord, size, end] : llvm::zip(place.coords, sizes, ends)) {
    std::optional<unsigned> dim;
    if (end == start + 1)
      dim = kernel.getSpace().findDimOfTensor(tensor, start);
    place.checked.push_back(!isInBounds(coord, size, dim, axes));
    start = end;
  }
  return place;
}

FailureOr<MemoryViews::Place>
MemoryViews::placeOfSlice(Value key, tensor::InsertSliceOp insert,
                          ArrayRef<AffineExpr> offsets,
                          ArrayRef<AffineExpr> coords) {
  SymbolicShapes &shapes = kernel.getShapes();
  FailureOr<SmallVector<AffineExpr>> slice =
      shapes.getShape(insert.getSource());
  FailureOr<SmallVector<AffineExpr>> whole =
      shapes.getShape(insert.getResult());
  if (failed(slice) || failed(whole))
    return insert.emitError("FUS-3107: the size of a slice depends on data");
  Place place;
  SmallVector<AffineExpr> sizes;
  auto add = [&](AffineExpr coord, AffineExpr size, bool checked) {
    place.coords.push_back(coord);
    sizes.push_back(size);
    place.checked.push_back(checked);
  };
  // A tile may reach past the slice, where the memory goes on: a dimension of
  // one element in front, of which an element of the slice is the first.
  for (auto [dim, coord] : llvm::enumerate(coords))
    if (!isInBounds(coord, (*slice)[dim],
                    kernel.getSpace().getDimOfTensor(insert.getSource(), dim),
                    axes))
      add(coord.floorDiv((*slice)[dim]), builder.getAffineConstantExpr(1),
          /*checked=*/true);
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  unsigned next = 0;
  for (unsigned dim = 0; dim < dropped.size(); ++dim) {
    FailureOr<AffineExpr> stride =
        shapes.getIndex(insert.getMixedStrides()[dim]);
    if (failed(stride))
      return insert.emitError("FUS-3107: the stride of a slice depends on "
                              "data");
    AffineExpr coord = dropped.test(dim)
                           ? offsets[dim]
                           : offsets[dim] + coords[next++] * *stride;
    add(coord, (*whole)[dim],
        !isInBounds(coord, (*whole)[dim], std::nullopt, axes));
  }
  place.view = viewAs(key, sizes);
  return place;
}
