//===- AccessAnalysis.cpp - How a tile's accesses fall in memory ----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the analysis of contiguity, alignment and divisibility.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tile;

Access Access::of(LoadOp load) {
  return {load.getView(), load.getMap(), load.getSymbols(), load.getChecked(),
          load.getType()};
}

Access Access::of(StoreOp store) {
  return {store.getView(), store.getMap(), store.getSymbols(),
          store.getChecked(), store.getValue().getType()};
}

Access Access::of(CopyStartOp copy) {
  BufferType buffer = copy.getBuffer().getType();
  return {copy.getView(), copy.getMap(), copy.getSymbols(), copy.getChecked(),
          getTileType(buffer.getShape(), buffer.getElementType(),
                      copy.getLayout())};
}

uint64_t tile::getDivisor(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.abs().getZExtValue();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::gcd(getDivisor(loop.getLowerBound()),
                      getDivisor(loop.getStep()));
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinUIOp>(op))
    return std::gcd(getDivisor(op->getOperand(0)),
                    getDivisor(op->getOperand(1)));
  if (isa<arith::MulIOp>(op)) {
    uint64_t product;
    if (!__builtin_mul_overflow(getDivisor(op->getOperand(0)),
                                getDivisor(op->getOperand(1)), &product))
      return product;
  }
  return 1;
}

SmallVector<int64_t> tile::getViewStrides(ViewType view) {
  SmallVector<int64_t> strides(view.getRank(), 1);
  for (int64_t dim = view.getRank() - 2; dim >= 0; --dim) {
    int64_t size = view.getShape()[dim + 1];
    bool dynamic =
        ShapedType::isDynamic(size) || ShapedType::isDynamic(strides[dim + 1]);
    strides[dim] = dynamic ? ShapedType::kDynamic : strides[dim + 1] * size;
  }
  return strides;
}

namespace {
/// The behaviour of an expression along aligned groups of an axis: it starts at
/// a multiple of `base` (0: at zero) and grows by `stride` per element.
struct Run {
  int64_t stride;
  uint64_t base;
};
} // namespace

static std::optional<Run> runOf(AffineExpr expr, unsigned axis, int64_t width,
                                ValueRange symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Run{0, static_cast<uint64_t>(std::abs(constant.getValue()))};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == axis ? Run{1, static_cast<uint64_t>(width)}
                                     : Run{0, 1};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    // An index tile may take any value at each element.
    if (symbol.getPosition() >= symbols.size())
      return std::nullopt;
    return Run{0, getDivisor(symbols[symbol.getPosition()])};
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Run> lhs = runOf(binary.getLHS(), axis, width, symbols);
  std::optional<Run> rhs = runOf(binary.getRHS(), axis, width, symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return Run{lhs->stride + rhs->stride, std::gcd(lhs->base, rhs->base)};
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant) {
    // A symbolic factor or divisor: only what does not move is known.
    if (lhs->stride || rhs->stride)
      return std::nullopt;
    if (expr.getKind() == AffineExprKind::Mul)
      return Run{0, lhs->base * rhs->base};
    return Run{0, 1};
  }
  int64_t c = constant.getValue();
  uint64_t magnitude = std::abs(c);
  if (expr.getKind() == AffineExprKind::Mul)
    return Run{lhs->stride * c, lhs->base * magnitude};
  if (c <= 0)
    return std::nullopt;
  uint64_t common = std::gcd(lhs->base, magnitude);
  uint64_t span = static_cast<uint64_t>(std::abs(lhs->stride)) * width;
  // Within a group the expression stays between two multiples of c.
  bool inside = lhs->stride == 0 ||
                (lhs->stride > 0 && common != 0 && common % span == 0);
  if (expr.getKind() == AffineExprKind::Mod)
    return inside ? std::optional(Run{lhs->stride, common}) : std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv) {
    uint64_t quotient = lhs->base % magnitude == 0 ? lhs->base / magnitude : 1;
    if (inside)
      return Run{0, quotient};
    if (lhs->stride % c == 0 && lhs->base % magnitude == 0)
      return Run{lhs->stride / c, quotient};
  }
  return std::nullopt;
}

std::optional<AccessRun> tile::getAccessRun(const Access &access, unsigned axis,
                                            int64_t width) {
  SmallVector<int64_t> strides = getViewStrides(access.view.getType());
  AccessRun result{0, 0, true};
  for (auto [dim, expr] : llvm::enumerate(access.map.getResults())) {
    std::optional<Run> run = runOf(expr, axis, width, access.symbols);
    if (!run)
      return std::nullopt;
    if (ShapedType::isDynamic(strides[dim])) {
      if (run->stride != 0)
        return std::nullopt;
      if (run->base != 0)
        result.alignment = 1;
    } else {
      result.stride += run->stride * strides[dim];
      result.alignment = std::gcd(result.alignment, run->base * strides[dim]);
    }
    if (access.checked[dim] && run->stride != 0) {
      int64_t size = access.view.getType().getShape()[dim];
      if (ShapedType::isDynamic(size) || run->stride != 1 ||
          size % width != 0 || run->base % width != 0)
        result.uniformMask = false;
    }
  }
  return result;
}

int64_t tile::getVectorWidth(const Access &access, unsigned axis) {
  Type element = access.view.getType().getElementType();
  // One bit is stored as a byte.
  unsigned bits = std::max(element.getIntOrFloatBitWidth(), 8u);
  int64_t width =
      std::min<int64_t>(getTileShape(access.tile)[axis], 128 / bits);
  for (; width > 1; width /= 2) {
    std::optional<AccessRun> run = getAccessRun(access, axis, width);
    if (run && run->stride == 1 && run->alignment % width == 0 &&
        run->uniformMask)
      return width;
  }
  return 1;
}

bool tile::isContiguous(const Access &access, unsigned axis) {
  std::optional<AccessRun> run = getAccessRun(access, axis, 2);
  return run && run->stride == 1;
}
