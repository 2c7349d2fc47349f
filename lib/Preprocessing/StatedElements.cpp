//===- StatedElements.cpp - Elements of shapes ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reads of tensors that are put together from scalars, as
// importers write shapes: they are those scalars.
//
//===----------------------------------------------------------------------===//

#include "LowerImports.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// An element of a tensor: by its number in row-major order, or by its place.
struct Element {
  Value tensor;
  SmallVector<int64_t> place;

  RankedTensorType getType() const {
    return cast<RankedTensorType>(tensor.getType());
  }
  int64_t getNumber() const {
    int64_t number = 0;
    for (auto [size, position] : llvm::zip(getType().getShape(), place))
      number = number * size + position;
    return number;
  }
  /// The element of `other`, of static sizes, with the same number.
  Element sameNumber(Value other) const {
    ArrayRef<int64_t> sizes =
        cast<RankedTensorType>(other.getType()).getShape();
    int64_t number = getNumber();
    SmallVector<int64_t> position(sizes.size());
    for (size_t dim = sizes.size(); dim-- > 0; number /= sizes[dim])
      position[dim] = number % sizes[dim];
    return {other, position};
  }
};
} // namespace

static std::optional<Element> throughSlice(const Element &element,
                                           tensor::ExtractSliceOp slice) {
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<int64_t> place;
  size_t next = 0;
  for (auto [dim, offset, stride] :
       llvm::enumerate(slice.getStaticOffsets(), slice.getStaticStrides())) {
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(stride))
      return std::nullopt;
    int64_t position = dropped[dim] ? 0 : element.place[next++];
    place.push_back(offset + position * stride);
  }
  return Element{slice.getSource(), place};
}

static std::optional<Element> throughConcat(const Element &element,
                                            tensor::ConcatOp concat) {
  int64_t dim = concat.getDim();
  Element part = element;
  for (Value input : concat.getInputs()) {
    int64_t size = cast<RankedTensorType>(input.getType()).getDimSize(dim);
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    part.tensor = input;
    if (part.place[dim] < size)
      return part;
    part.place[dim] -= size;
  }
  return std::nullopt;
}

/// The element of what a tensor is made of that `element` of it is.
static std::optional<Element> throughDefinition(const Element &element) {
  auto reshaped = [&](Value source) -> std::optional<Element> {
    auto type = cast<RankedTensorType>(source.getType());
    if (!type.hasStaticShape() || !element.getType().hasStaticShape())
      return std::nullopt;
    return element.sameNumber(source);
  };
  return TypeSwitch<Operation *, std::optional<Element>>(
             element.tensor.getDefiningOp())
      .Case([&](tensor::CastOp cast) -> std::optional<Element> {
        if (!isa<RankedTensorType>(cast.getSource().getType()))
          return std::nullopt;
        return Element{cast.getSource(), element.place};
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        return throughSlice(element, slice);
      })
      .Case([&](tensor::ConcatOp concat) {
        return throughConcat(element, concat);
      })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          [&](auto op) { return reshaped(op.getSrc()); })
      .Default([](Operation *) { return std::nullopt; });
}

/// True when the element is there.
static bool isInside(const Element &element) {
  return llvm::all_of(llvm::zip(element.getType().getShape(), element.place),
                      [](auto pair) {
                        auto [size, position] = pair;
                        return position >= 0 &&
                               (ShapedType::isDynamic(size) || position < size);
                      });
}

Value fusion::findStatedElement(tensor::ExtractOp op, OpBuilder &builder) {
  Element element{op.getTensor(), {}};
  for (Value index : op.getIndices()) {
    APInt position;
    if (!matchPattern(index, m_ConstantInt(&position)))
      return {};
    element.place.push_back(position.getSExtValue());
  }
  while (isInside(element)) {
    DenseElementsAttr constant;
    if (matchPattern(element.tensor, m_Constant(&constant)))
      return arith::ConstantOp::create(
          builder, op.getLoc(),
          cast<TypedAttr>(
              constant.getValues<Attribute>()[element.getNumber()]));
    Operation *definition = element.tensor.getDefiningOp();
    if (!definition)
      return {};
    if (auto elements = dyn_cast<tensor::FromElementsOp>(definition))
      return elements.getElements()[element.getNumber()];
    std::optional<Element> source = throughDefinition(element);
    if (!source)
      return {};
    element = *source;
  }
  return {};
}
