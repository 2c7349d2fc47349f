//===- LowerRegisters.cpp - Tiles made of what a thread holds -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of operations that make a tile of
// coordinates or of registers of another one.
//
//===----------------------------------------------------------------------===//

#include "fusion/Conversion/TileToNVVM/ProgramLowering.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "fusion/Dialect/Tile/Transforms/AccessAnalysis.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "llvm/ADT/SmallBitVector.h"
#include <map>

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

namespace {
struct IndexLowering : public TileOpLowering<tile::IndexOp> {
  LogicalResult lower(tile::IndexOp op,
                      ProgramLowering &lowering) const override;

private:
  /// The coordinate `expr` in the register at `offset`.
  static Value compute(AffineExpr expr, const LinearLayout &layout,
                       ArrayRef<int32_t> offset, ValueRange symbols,
                       ProgramLowering &lowering);
  /// The elements of `op`, floats, of one thread.
  static Scalars computeFloats(tile::IndexOp op, const LinearLayout &layout,
                               ProgramLowering &lowering);
  static SmallVector<Value> getDims(const LinearLayout &layout,
                                    ArrayRef<int32_t> offset,
                                    ProgramLowering &lowering);
};

struct SplatLowering : public TileOpLowering<tile::SplatOp> {
  LogicalResult lower(tile::SplatOp op,
                      ProgramLowering &lowering) const override;
};

struct BroadcastLowering : public TileOpLowering<tile::BroadcastOp> {
  LogicalResult lower(tile::BroadcastOp op,
                      ProgramLowering &lowering) const override;
};

struct RepeatLowering : public TileOpLowering<tile::RepeatOp> {
  LogicalResult lower(tile::RepeatOp op,
                      ProgramLowering &lowering) const override;
};

struct SliceLowering : public TileOpLowering<tile::SliceOp> {
  LogicalResult lower(tile::SliceOp op,
                      ProgramLowering &lowering) const override;
};

struct CropLowering : public TileOpLowering<tile::CropOp> {
  LogicalResult lower(tile::CropOp op,
                      ProgramLowering &lowering) const override;
};

struct StackLowering : public TileOpLowering<tile::StackOp> {
  LogicalResult lower(tile::StackOp op,
                      ProgramLowering &lowering) const override;
};

struct ReshapeLowering : public TileOpLowering<tile::ReshapeOp> {
  LogicalResult lower(tile::ReshapeOp op,
                      ProgramLowering &lowering) const override;
};
} // namespace

/// The power of two that `expr` divides or takes the remainder by, less one.
static std::optional<uint64_t> getMask(AffineExpr expr, AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() != kind)
    return std::nullopt;
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!divisor || !llvm::isPowerOf2_64(divisor.getValue()))
    return std::nullopt;
  return divisor.getValue() - 1;
}

/// True if `term`, of a sum, is a multiple of what `mask` masks wherever the
/// tile is.
static bool isMultiple(AffineExpr term, uint64_t mask, ValueRange symbols) {
  uint64_t factor = 1;
  if (term.getKind() == AffineExprKind::Mul) {
    auto product = cast<AffineBinaryOpExpr>(term);
    auto constant = dyn_cast<AffineConstantExpr>(product.getRHS());
    factor = constant ? constant.getValue() : 1;
    term = product.getLHS();
  }
  auto symbol = dyn_cast<AffineSymbolExpr>(term);
  if (symbol && symbol.getPosition() < symbols.size())
    factor *= tile::getDivisor(symbols[symbol.getPosition()]);
  return (factor & mask) == 0;
}

namespace {
/// What the terms of a coordinate have below a mask.
struct LowPart {
  int64_t sum = 0;
  /// The dimensions that have part in it, as terms themselves.
  llvm::SmallBitVector dims;
};
} // namespace

/// What the terms of the coordinate `expr` have below `mask` in the register at
/// `offset`, when it is the same in all threads and wherever the tile is.
static std::optional<LowPart> getLowPart(AffineExpr expr, uint64_t mask,
                                         const LinearLayout &layout,
                                         ArrayRef<int32_t> offset,
                                         ValueRange symbols) {
  LowPart low;
  low.dims.resize(layout.rank());
  // Terms of a sum: each constant or no part of it.
  SmallVector<AffineExpr> terms = {expr};
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    if (auto constant = dyn_cast<AffineConstantExpr>(term)) {
      low.sum += constant.getValue() & mask;
    } else if (auto dim = dyn_cast<AffineDimExpr>(term)) {
      for (tile::HwDim hw : {tile::HwDim::Lane, tile::HwDim::Warp})
        for (unsigned bit = 0; bit < layout.numBits(hw); ++bit)
          if (layout.basis(hw, bit)[dim.getPosition()] & mask)
            return std::nullopt;
      low.sum += offset[dim.getPosition()] & mask;
      low.dims.set(dim.getPosition());
    } else if (term.getKind() == AffineExprKind::Add) {
      auto both = cast<AffineBinaryOpExpr>(term);
      terms.append({both.getLHS(), both.getRHS()});
    } else if (!isMultiple(term, mask, symbols)) {
      return std::nullopt;
    }
  }
  return low;
}

/// True if one of `dims` is part of a product in the sum `expr`.
static bool multipliesAny(AffineExpr expr, const llvm::SmallBitVector &dims) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    if (part.getKind() != AffineExprKind::Mul)
      return;
    for (unsigned dim : dims.set_bits())
      found |= part.isFunctionOfDim(dim);
  });
  return found;
}

/// Clears bits of `offset` that the quotient `expr` does not depend on.
static void clearLowBits(AffineExpr expr, tile::Coords &offset,
                         const LinearLayout &layout, ValueRange symbols) {
  std::optional<uint64_t> divisor = getMask(expr, AffineExprKind::FloorDiv);
  // Of threads and tiles fewer bits than the divisor's may be known.
  for (uint64_t mask = divisor.value_or(0); mask > 0; mask >>= 1) {
    AffineExpr dividend = cast<AffineBinaryOpExpr>(expr).getLHS();
    std::optional<LowPart> low =
        getLowPart(dividend, mask, layout, offset, symbols);
    // Without a carry, and with no other part in the coordinate.
    if (!low || static_cast<uint64_t>(low->sum) > mask ||
        multipliesAny(dividend, low->dims))
      continue;
    for (unsigned dim : low->dims.set_bits())
      offset[dim] &= ~static_cast<int32_t>(mask);
    return;
  }
}

Value IndexLowering::compute(AffineExpr expr, const LinearLayout &layout,
                             ArrayRef<int32_t> offset, ValueRange symbols,
                             ProgramLowering &lowering) {
  ThreadBuilder &builder = lowering.getBuilder();
  if (std::optional<uint64_t> mask = getMask(expr, AffineExprKind::Mod)) {
    AffineExpr dividend = cast<AffineBinaryOpExpr>(expr).getLHS();
    if (std::optional<LowPart> low =
            getLowPart(dividend, *mask, layout, offset, symbols))
      return builder.constantIndex(low->sum & *mask);
  }
  // A quotient is that of the first register that has it, so that what follows
  // from it is computed once.
  SmallVector<Value> values;
  for (Value symbol : symbols)
    values.push_back(lowering.getScalar(symbol));
  DenseMap<AffineExpr, AffineExpr> quotients;
  expr.walk([&](AffineExpr part) {
    tile::Coords first(offset);
    clearLowBits(part, first, layout, symbols);
    if (first == tile::Coords(offset))
      return;
    quotients[part] = getAffineSymbolExpr(values.size(), expr.getContext());
    values.push_back(
        builder.expand(part, getDims(layout, first, lowering), values));
  });
  return builder.expand(expr.replace(quotients),
                        getDims(layout, offset, lowering), values);
}

SmallVector<Value> IndexLowering::getDims(const LinearLayout &layout,
                                          ArrayRef<int32_t> offset,
                                          ProgramLowering &lowering) {
  SmallVector<Value> dims;
  for (unsigned dim = 0; dim < layout.rank(); ++dim)
    dims.push_back(
        lowering.getThreads().getCoordinate(layout, dim, offset[dim]));
  return dims;
}

LogicalResult IndexLowering::lower(tile::IndexOp op,
                                   ProgramLowering &lowering) const {
  AffineExpr expr = op.getMap().getResult(0);
  tile::LayoutAttr attr = tile::getLayout(op.getType());
  if (!attr) {
    SmallVector<Value> symbols;
    for (Value symbol : op.getSymbols())
      symbols.push_back(lowering.getScalar(symbol));
    Value index = lowering.getBuilder().expand(expr, {}, symbols);
    if (isa<FloatType>(op.getType()))
      index = arith::SIToFPOp::create(lowering.getBuilder(), op.getLoc(),
                                      op.getType(), index);
    lowering.set(op.getResult(), {index});
    return success();
  }
  const LinearLayout &layout = attr.getLinear();
  if (isa<FloatType>(tile::getTileElementType(op.getType()))) {
    lowering.set(op.getResult(), computeFloats(op, layout, lowering));
    return success();
  }
  Scalars results;
  for (unsigned reg = 0; reg < layout.numRegs(); ++reg)
    results.push_back(compute(expr, layout, layout.elementOf(reg, 0, 0),
                              op.getSymbols(), lowering));
  lowering.set(op.getResult(), results);
  return success();
}

/// True when no bit of a coordinate is of registers and of threads: elements of
/// a thread then are apart by constants.
static bool areApart(const LinearLayout &layout) {
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    int64_t ofRegisters = 0, ofThreads = 0;
    auto addTo = [&](int64_t &bits, HwDim by) {
      for (unsigned bit = 0; bit < layout.numBits(by); ++bit)
        bits |= layout.basis(by, bit)[dim];
    };
    addTo(ofRegisters, HwDim::Register);
    addTo(ofThreads, HwDim::Lane);
    addTo(ofThreads, HwDim::Warp);
    if (ofRegisters & ofThreads)
      return false;
  }
  return true;
}

Scalars IndexLowering::computeFloats(tile::IndexOp op,
                                     const LinearLayout &layout,
                                     ProgramLowering &lowering) {
  ThreadBuilder &builder = lowering.getBuilder();
  Location loc = op.getLoc();
  AffineMap map = op.getMap();
  Type type = tile::getTileElementType(op.getType());
  auto convert = [&](ArrayRef<int32_t> offset) -> Value {
    Value index =
        compute(map.getResult(0), layout, offset, op.getSymbols(), lowering);
    return arith::SIToFPOp::create(builder, loc, type, index);
  };
  SmallVector<int64_t> flat;
  bool isLinear =
      succeeded(getFlattenedAffineExpr(map.getResult(0), map.getNumDims(),
                                       map.getNumSymbols(), &flat)) &&
      flat.size() == map.getNumDims() + map.getNumSymbols() + 1 &&
      areApart(layout);
  tile::Coords first = layout.elementOf(0, 0, 0);
  Scalars results{convert(first)};
  for (unsigned reg = 1; reg < layout.numRegs(); ++reg) {
    tile::Coords offset = layout.elementOf(reg, 0, 0);
    if (!isLinear) {
      results.push_back(convert(offset));
      continue;
    }
    int64_t distance = 0;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      distance += flat[dim] * (offset[dim] - first[dim]);
    Value constant = arith::ConstantOp::create(
        builder, loc, FloatAttr::get(type, static_cast<double>(distance)));
    results.push_back(
        arith::AddFOp::create(builder, loc, results.front(), constant));
  }
  return results;
}

LogicalResult BroadcastLowering::lower(tile::BroadcastOp op,
                                       ProgramLowering &lowering) const {
  SmallVector<unsigned> dims(op.getDims().begin(), op.getDims().end());
  std::optional<tile::RegisterMap> map = tile::getBroadcastRegisterMap(
      tile::getLayout(op.getValue().getType()).getLinear(),
      tile::getLayout(op.getType()).getLinear(), dims);
  if (!map)
    return op.emitOpError("FUS-3303: operand's layout does not hold what the "
                          "result's needs");
  lowering.set(op.getResult(), lowering.pick(op.getValue(), *map));
  return success();
}

LogicalResult RepeatLowering::lower(tile::RepeatOp op,
                                    ProgramLowering &lowering) const {
  std::optional<tile::RegisterMap> map = tile::getRepeatRegisterMap(
      tile::getLayout(op.getValue().getType()).getLinear(),
      tile::getLayout(op.getType()).getLinear(), op.getDim(),
      op.getLog2Factor());
  if (!map)
    return op.emitOpError("FUS-3322: operand's layout does not hold what the "
                          "result repeats");
  lowering.set(op.getResult(), lowering.pick(op.getValue(), *map));
  return success();
}

LogicalResult SliceLowering::lower(tile::SliceOp op,
                                   ProgramLowering &lowering) const {
  const LinearLayout &from =
      tile::getLayout(op.getValue().getType()).getLinear();
  const LinearLayout &to = tile::getLayout(op.getType()).getLinear();
  // Threads must reach the same elements, up to the place of the part.
  bool sameThreads = true;
  for (tile::HwDim hw : {tile::HwDim::Lane, tile::HwDim::Warp}) {
    sameThreads &= from.numBits(hw) == to.numBits(hw);
    for (unsigned bit = 0; sameThreads && bit < from.numBits(hw); ++bit)
      sameThreads = from.basis(hw, bit) == to.basis(hw, bit);
  }
  std::map<std::vector<int32_t>, unsigned> registers;
  for (unsigned reg = 0; reg < from.numRegs(); ++reg) {
    tile::Coords at = from.elementOf(reg, 0, 0);
    registers.try_emplace({at.begin(), at.end()}, reg);
  }
  const Scalars &source = lowering.get(op.getValue());
  Scalars results;
  for (unsigned reg = 0; sameThreads && reg < to.numRegs(); ++reg) {
    std::vector<int32_t> wanted;
    for (auto [at, offset] :
         llvm::zip(to.elementOf(reg, 0, 0), op.getOffsets()))
      wanted.push_back(at + offset);
    auto known = registers.find(wanted);
    sameThreads = known != registers.end();
    if (sameThreads)
      results.push_back(source[known->second]);
  }
  if (!sameThreads)
    return op.emitOpError("FUS-3308: the part moves elements between threads");
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult SplatLowering::lower(tile::SplatOp op,
                                   ProgramLowering &lowering) const {
  lowering.set(op.getResult(), Scalars(lowering.numScalars(op.getType()),
                                       lowering.getScalar(op.getValue())));
  return success();
}

LogicalResult CropLowering::lower(tile::CropOp op,
                                  ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  const LinearLayout &layout = tile::getLayout(op.getType()).getLinear();
  // Bits of coordinates that tell threads apart.
  SmallVector<int32_t> ofThreads(layout.rank(), 0);
  for (tile::HwDim hw : {tile::HwDim::Lane, tile::HwDim::Warp})
    for (unsigned bit = 0; bit < layout.numBits(hw); ++bit)
      for (auto [dim, step] : llvm::enumerate(layout.basis(hw, bit)))
        ofThreads[dim] |= step;
  Scalars results = lowering.get(op.getValue());
  results.resize(layout.numRegs(), results.front());
  for (unsigned reg = 0; reg < layout.numRegs(); ++reg)
    for (auto [dim, place] : llvm::enumerate(layout.elementOf(reg, 0, 0)))
      if ((place & ~ofThreads[dim]) >= op.getSizes()[dim]) {
        results[reg] = arith::ConstantOp::create(
            builder, builder.getZeroAttr(lowering.scalarType(op.getType())));
        break;
      }
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult StackLowering::lower(tile::StackOp op,
                                   ProgramLowering &lowering) const {
  Scalars results;
  for (Value value : op.getValues())
    llvm::append_range(results, lowering.get(value));
  lowering.set(op.getResult(), results);
  return success();
}

LogicalResult ReshapeLowering::lower(tile::ReshapeOp op,
                                     ProgramLowering &lowering) const {
  // The layouts differ in shape alone.
  lowering.set(op.getResult(), Scalars(lowering.get(op.getValue())));
  return success();
}

void mlir::fusion::populateRegisterLowerings(LoweringSet &lowerings) {
  lowerings.add<IndexLowering, SplatLowering, BroadcastLowering, RepeatLowering,
                SliceLowering, StackLowering, ReshapeLowering, CropLowering>();
}
