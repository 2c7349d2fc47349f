//===- AccessPlan.cpp - How a thread reaches a tile in memory -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the plans of accesses to global memory: which registers
// one instruction moves, where, and when.
//
//===----------------------------------------------------------------------===//

#include "AccessPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

/// The coefficient of each dimension, or none when the expression is not
/// linear in the dimensions.
static std::optional<SmallVector<int64_t>> coefficients(AffineExpr expr,
                                                        unsigned numDims) {
  SmallVector<int64_t> result(numDims, 0);
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    result[dim.getPosition()] = 1;
    return result;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return result;
  auto lhs = coefficients(binary.getLHS(), numDims);
  auto rhs = coefficients(binary.getRHS(), numDims);
  if (!lhs || !rhs)
    return std::nullopt;
  auto moves = [](ArrayRef<int64_t> values) {
    return llvm::any_of(values, [](int64_t value) { return value != 0; });
  };
  if (expr.getKind() == AffineExprKind::Add) {
    for (unsigned i = 0; i < numDims; ++i)
      result[i] = (*lhs)[i] + (*rhs)[i];
    return result;
  }
  if (!moves(*lhs) && !moves(*rhs))
    return result;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !constant)
    return std::nullopt;
  for (unsigned i = 0; i < numDims; ++i)
    result[i] = (*lhs)[i] * constant.getValue();
  return result;
}

/// True when the parts of a coordinate that registers and threads contribute
/// have no bit in common, so that their XOR is their sum.
static bool partsAreDisjoint(const LinearLayout &layout, unsigned dim) {
  int32_t registers = 0, threads = 0;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Register); ++bit)
    registers |= layout.basis(HwDim::Register, bit)[dim];
  for (HwDim hw : {HwDim::Lane, HwDim::Warp})
    for (unsigned bit = 0; bit < layout.numBits(hw); ++bit)
      threads |= layout.basis(hw, bit)[dim];
  return (registers & threads) == 0;
}

AccessPlan::AccessPlan(ProgramLowering &lowering, const tile::Access &access,
                       ValueRange indices)
    : OpEmitter(lowering), access(access) {
  auto view = access.view.getDefiningOp<tile::MakeViewOp>();
  tile::ViewType type = view.getType();
  base = lowering.getScalar(view.getBase());
  sizes = getSizes(view);
  staticStrides = tile::getViewStrides(type);
  strides.resize(type.getRank());
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (!ShapedType::isDynamic(staticStrides[dim]))
      strides[dim] = builder.constantIndex(staticStrides[dim]);
    else
      strides[dim] =
          arith::MulIOp::create(builder, strides[dim + 1], sizes[dim + 1]);
  }
  for (Value symbol : access.symbols)
    symbols.push_back(lowering.getScalar(symbol));
  for (Value index : indices)
    this->indices.push_back(lowering.get(index));
  if (tile::LayoutAttr attr = tile::getLayout(access.tile)) {
    layout = &attr.getLinear();
    this->access.indices = indices;
    findVectors();
  }
  findGroupBase();
  findFirstPlace();
}

void AccessPlan::findVectors() {
  for (unsigned dim = 0; dim < tile::getTileShape(access.tile).size(); ++dim) {
    auto bits = getVectorRegisterBits(*layout, dim);
    bits.resize(llvm::Log2_64(
        tile::getVectorWidth(access, dim, int64_t(1) << bits.size())));
    if (bits.size() <= vectorBits.size())
      continue;
    vectorBits.assign(bits.begin(), bits.end());
    divided = tile::mayDivide(access, dim, width());
  }
}

/// Gives groups another base where they are aligned by more than the argument
/// is declared to be. LLVM would conclude from the access of a group how
/// elements behind it are aligned, and fill up an access of a few of them to
/// one that reaches beyond the end of the tensor.
void AccessPlan::findGroupBase() {
  int64_t bytes =
      llvm::divideCeil(getStoredType().getIntOrFloatBitWidth(), 8) * width();
  groupBase = base;
  if (bytes > lowering.getAlignment(base))
    groupBase =
        LLVM::StripInvariantGroupOp::create(builder, base.getType(), base);
}

/// Splits `expr` into a part that depends on the thread and a constant behind
/// it.
static std::pair<AffineExpr, int64_t> splitConstant(AffineExpr expr) {
  if (auto whole = dyn_cast<AffineConstantExpr>(expr))
    return {getAffineConstantExpr(0, expr.getContext()), whole.getValue()};
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (sum && sum.getKind() == AffineExprKind::Add)
    if (auto last = dyn_cast<AffineConstantExpr>(sum.getRHS()))
      return {sum.getLHS(), last.getValue()};
  return {expr, 0};
}

void AccessPlan::findFirstPlace() {
  // Coordinates of register 0, and how registers move them.
  SmallVector<Value> dims;
  unsigned rank = tile::getTileShape(access.tile).size();
  bool disjoint = true;
  for (unsigned dim = 0; dim < rank; ++dim) {
    dims.push_back(threads.getCoordinate(*layout, dim));
    disjoint &= partsAreDisjoint(*layout, dim);
  }
  for (AffineExpr expr : access.map.getResults()) {
    bool gathers = false;
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        gathers |= symbol.getPosition() >= symbols.size();
    });
    Axis &axis = axes.emplace_back();
    if (disjoint && !gathers)
      axis.linear = coefficients(expr, rank);
    if (!axis.linear)
      continue;
    auto [first, constant] = splitConstant(expr);
    axis.constant = constant;
    axis.first = builder.expand(first, dims, symbols);
  }
  for (auto [axis, stride] : llvm::zip(axes, strides)) {
    if (!axis.first)
      continue;
    Value part = arith::MulIOp::create(builder, axis.first, stride);
    firstOffset =
        firstOffset ? arith::AddIOp::create(builder, firstOffset, part) : part;
  }
}

tile::RegisterMap AccessPlan::groupOf(unsigned reg) const {
  tile::RegisterMap members;
  for (unsigned i = 0; i < width(); ++i) {
    unsigned member = reg;
    for (auto [position, bit] : llvm::enumerate(vectorBits))
      if (i >> position & 1)
        member |= 1u << bit;
    members.push_back(member);
  }
  return members;
}

uint32_t AccessPlan::vectorMask() const {
  uint32_t mask = 0;
  for (unsigned bit : vectorBits)
    mask |= 1u << bit;
  return mask;
}

Type AccessPlan::getStoredType() const {
  return memoryType(access.view.getType().getElementType());
}

AccessPlan::Place AccessPlan::getPlace(unsigned reg) {
  tile::Coords registerPart =
      layout ? layout->elementOf(reg, 0, 0) : tile::Coords();
  Place place;
  place.offset = firstOffset;
  auto addOffset = [&](Value part) {
    place.offset = place.offset
                       ? arith::AddIOp::create(builder, place.offset, part)
                       : part;
  };
  for (auto [dim, expr] : llvm::enumerate(access.map.getResults())) {
    const Axis &axis = axes[dim];
    Value coordinate;
    if (axis.linear) {
      int64_t step = axis.constant;
      for (auto [coefficient, part] : llvm::zip(*axis.linear, registerPart))
        step += coefficient * part;
      coordinate = axis.first;
      if (step != 0) {
        Value stepValue = builder.constantIndex(step);
        if (access.checked[dim])
          coordinate = arith::AddIOp::create(builder, coordinate, stepValue);
        if (ShapedType::isDynamic(staticStrides[dim]))
          addOffset(arith::MulIOp::create(builder, stepValue, strides[dim]));
        else
          place.constant += step * staticStrides[dim];
      }
    } else {
      coordinate = getCoordinate(expr, registerPart, reg);
      addOffset(arith::MulIOp::create(builder, coordinate, strides[dim]));
    }
    if (access.checked[dim]) {
      // Unsigned, so that a negative coordinate is out of bounds too.
      Value inside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                           coordinate, sizes[dim]);
      place.condition =
          place.condition
              ? arith::AndIOp::create(builder, place.condition, inside)
              : inside;
    }
  }
  if (!place.offset)
    place.offset = builder.constantIndex(0);
  return place;
}

Value AccessPlan::getCoordinate(AffineExpr expr,
                                const tile::Coords &registerPart,
                                unsigned reg) {
  SmallVector<Value> dims;
  for (unsigned i = 0; i < registerPart.size(); ++i)
    dims.push_back(threads.getCoordinate(*layout, i, registerPart[i]));
  SmallVector<Value> all(symbols);
  for (const Scalars &index : indices)
    all.push_back(index.size() == 1 ? index.front() : index[reg]);
  return builder.expand(expr, dims, all);
}

Value AccessPlan::takeWhole(unsigned reg, Place &place) {
  Value last = getPlace(groupOf(reg).back()).condition;
  Value isDivided = arith::XOrIOp::create(builder, place.condition, last);
  place.condition = arith::AndIOp::create(builder, place.condition, last);
  return isDivided;
}

/// True when `view` surely has an element number `constant`, and any offset
/// that this much is added to for an element's fits an index of 32 bits.
static bool staysInside(tile::ViewType view, int64_t constant) {
  int64_t elements = 1;
  for (int64_t size : view.getShape())
    if (ShapedType::isDynamic(size) ||
        llvm::MulOverflow(elements, size, elements))
      return false;
  return constant < elements &&
         elements <= std::numeric_limits<int32_t>::max() / 2;
}

std::pair<Value, Value> AccessPlan::getAddress(Value start,
                                               const Place &place) {
  auto [offset, constantPart, condition] = place;
  Type element = getStoredType();
  auto pointer = cast<LLVM::LLVMPointerType>(base.getType());
  // Without the constants of its map an offset may not fit an index: they are
  // added as indices are, which wrap, unless the tensor is surely small enough.
  bool shifted =
      llvm::any_of(axes, [](const Axis &axis) { return axis.constant != 0; });
  // Where there is nothing, the same is read of the tensor's beginning, so that
  // accesses of one condition have one offset.
  int64_t nothing = std::max<int64_t>(-constantPart, 0);
  bool keeps = staysInside(access.view.getType(), constantPart + nothing);
  if (constantPart && !keeps && (condition || shifted)) {
    offset = arith::AddIOp::create(builder, offset,
                                   builder.constantIndex(constantPart));
    constantPart = 0;
    nothing = 0;
  }
  if (condition)
    offset = arith::SelectOp::create(builder, condition, offset,
                                     builder.constantIndex(nothing));
  Value address = LLVM::GEPOp::create(builder, pointer, element, start,
                                      ArrayRef<LLVM::GEPArg>{offset});
  // Constants last: they become immediate offsets of the instruction, those
  // that an operation's attribute has room for.
  if (constantPart) {
    LLVM::GEPArg displacement =
        llvm::isInt<LLVM::kGEPConstantBitWidth>(constantPart)
            ? LLVM::GEPArg(static_cast<int32_t>(constantPart))
            : LLVM::GEPArg(builder.constantIndex(constantPart));
    address = LLVM::GEPOp::create(builder, pointer, element, address,
                                  ArrayRef<LLVM::GEPArg>{displacement});
  }
  return {address, condition};
}
