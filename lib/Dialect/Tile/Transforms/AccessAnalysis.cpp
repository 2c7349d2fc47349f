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
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

Access Access::of(LoadOp load) {
  return {load.getView(),    load.getMap(),  load.getSymbols(),
          load.getChecked(), load.getType(), /*isDivisible=*/true};
}

Access Access::of(StoreOp store) {
  return {store.getView(),
          store.getMap(),
          store.getSymbols(),
          store.getChecked(),
          store.getValue().getType(),
          /*isDivisible=*/true,
          /*isStore=*/true};
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
  // Less what is left over of whole steps.
  if (auto rest = isa<arith::SubIOp>(op)
                      ? op->getOperand(1).getDefiningOp<arith::RemUIOp>()
                      : nullptr;
      rest && rest.getLhs() == op->getOperand(0))
    return getDivisor(rest.getRhs());
  // Fewer bits may be of another number.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) &&
      (value.getType().isIndex() || value.getType().isInteger(64)))
    return getDivisor(op->getOperand(0));
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinUIOp, arith::MinSIOp,
          arith::MaxUIOp, arith::MaxSIOp>(op))
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

static SmallVector<int64_t> getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;) {
    int64_t size = shape[dim];
    bool dynamic =
        ShapedType::isDynamic(size) || ShapedType::isDynamic(strides[dim]);
    strides[dim - 1] = dynamic ? ShapedType::kDynamic : strides[dim] * size;
  }
  return strides;
}

SmallVector<int64_t> tile::getViewStrides(ViewType view) {
  return getStrides(view.getShape());
}

/// True when elements of `tile` are the same along `axis`.
static bool isSameAlong(Value tile, unsigned axis) {
  if (!isa<RankedTensorType>(tile.getType()))
    return true;
  Operation *op = tile.getDefiningOp();
  if (!op)
    return false;
  if (isa<SplatOp>(op) || matchPattern(op, m_Constant()))
    return true;
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    ArrayRef<int64_t> dims = broadcast.getDims();
    const auto *own = llvm::find(dims, axis);
    return own == dims.end() ||
           isSameAlong(broadcast.getValue(), own - dims.begin());
  }
  if (auto convert = dyn_cast<ConvertLayoutOp>(op))
    return isSameAlong(convert->getOperand(0), axis);
  if (auto index = dyn_cast<IndexOp>(op))
    return !index.getMap().getResult(0).isFunctionOfDim(axis);
  return op->hasTrait<OpTrait::Elementwise>() &&
         llvm::all_of(op->getOperands(),
                      [&](Value in) { return isSameAlong(in, axis); });
}

AccessForm AccessForm::of(const Access &access) {
  ValueRange symbols = access.symbols, indices = access.indices;
  return {access.view.getType().getShape(),
          getTileShape(access.tile),
          access.map.getResults(),
          access.checked,
          [symbols](unsigned number) -> std::optional<uint64_t> {
            // An index tile may take any value at each element.
            if (number >= symbols.size())
              return std::nullopt;
            return tile::getDivisor(symbols[number]);
          },
          [access](unsigned axis, int64_t width) {
            return tile::isAlignedTogether(access, axis, width);
          },
          access.view.getType().getElementType().getIntOrFloatBitWidth(),
          access.isDivisible,
          access.isStore,
          [symbols, indices](unsigned number, unsigned axis) {
            return number - symbols.size() < indices.size() &&
                   ::isSameAlong(indices[number - symbols.size()], axis);
          }};
}

using GetDivisor = function_ref<std::optional<uint64_t>(unsigned)>;

static std::optional<Run> runOf(AffineExpr expr, unsigned axis, int64_t width,
                                GetDivisor getDivisor) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return Run{0, static_cast<uint64_t>(std::abs(constant.getValue()))};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == axis ? Run{1, static_cast<uint64_t>(width)}
                                     : Run{0, 1};
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    std::optional<uint64_t> divisor = getDivisor(symbol.getPosition());
    return divisor ? std::optional(Run{0, *divisor}) : std::nullopt;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<Run> lhs = runOf(binary.getLHS(), axis, width, getDivisor);
  std::optional<Run> rhs = runOf(binary.getRHS(), axis, width, getDivisor);
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

std::optional<Run> tile::getRun(AffineExpr expr, unsigned axis, int64_t width,
                                ValueRange symbols) {
  return runOf(expr, axis, width,
               [&](unsigned number) -> std::optional<uint64_t> {
                 if (number >= symbols.size())
                   return std::nullopt;
                 return getDivisor(symbols[number]);
               });
}

bool tile::isOfGroups(AffineMap map, ValueRange symbols, unsigned axis,
                      int64_t width) {
  return llvm::all_of(map.getResults(), [&](AffineExpr coord) {
    std::optional<Run> run = getRun(coord, axis, width, symbols);
    return run && run->stride == 0;
  });
}

std::optional<AccessRun> tile::getAccessRun(const Access &access, unsigned axis,
                                            int64_t width) {
  return getAccessRun(AccessForm::of(access), axis, width);
}

/// True when the coordinate of dimension `dim`, the same along `axis`, is zero
/// wherever something is accessed: it has one element, which others pad.
static bool isOnlyElement(const AccessForm &access, unsigned dim,
                          unsigned axis) {
  return access.checked[dim] && access.shape[dim] == 1 &&
         !access.coords[dim].isFunctionOfDim(axis);
}

std::optional<AccessRun> tile::getAccessRun(const AccessForm &access,
                                            unsigned axis, int64_t width) {
  SmallVector<int64_t> strides = getStrides(access.shape);
  AccessRun result{0, 0, true};
  auto getDivisor = [&](unsigned number) {
    std::optional<uint64_t> divisor = access.getDivisor(number);
    bool isSame =
        !divisor && access.isSameAlong && access.isSameAlong(number, axis);
    return isSame ? std::optional<uint64_t>(1) : divisor;
  };
  for (auto [dim, expr] : llvm::enumerate(access.coords)) {
    if (isOnlyElement(access, dim, axis))
      continue;
    std::optional<Run> run = runOf(expr, axis, width, getDivisor);
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
      int64_t size = access.shape[dim];
      if (ShapedType::isDynamic(size) || run->stride != 1 ||
          size % width != 0 || run->base % width != 0)
        result.uniformMask = false;
    }
  }
  return result;
}

/// The step of `expr` from most positions along `axis` to the next.
static std::optional<int64_t> getUsualStep(AffineExpr expr, unsigned axis,
                                           const AccessForm &access) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == axis ? 1 : 0;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return access.getDivisor(symbol.getPosition()) ? std::optional<int64_t>(0)
                                                   : std::nullopt;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return 0;
  std::optional<int64_t> lhs = getUsualStep(binary.getLHS(), axis, access);
  std::optional<int64_t> rhs = getUsualStep(binary.getRHS(), axis, access);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  if (*lhs == 0 && *rhs == 0)
    return 0;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant || constant.getValue() <= 0)
    return std::nullopt;
  int64_t c = constant.getValue();
  if (expr.getKind() == AffineExprKind::Mul)
    return *lhs * c;
  // Of more than one step in c.
  if (std::abs(*lhs) > c / 2)
    return std::nullopt;
  return expr.getKind() == AffineExprKind::Mod ? *lhs : 0;
}

std::optional<int64_t> tile::getUsualStep(const AccessForm &access,
                                          unsigned axis) {
  SmallVector<int64_t> strides = getStrides(access.shape);
  int64_t result = 0;
  for (auto [expr, stride] : llvm::zip(access.coords, strides)) {
    std::optional<int64_t> step = ::getUsualStep(expr, axis, access);
    if (!step || (*step != 0 && ShapedType::isDynamic(stride)))
      return std::nullopt;
    result += *step == 0 ? 0 : *step * stride;
  }
  return result;
}

namespace {
/// A sum of values, each times a number, modulo a power of two.
class Residue {
public:
  explicit Residue(int64_t modulus) : modulus(modulus) {}

  void addConstant(int64_t number) { constant = reduce(constant + number); }
  void add(Value value, int64_t factor);
  /// Adds `expr` times `factor`, of which `axis` counts groups and no other
  /// position of the tile may matter; false where it is no such sum.
  bool add(AffineExpr expr, int64_t factor, unsigned axis, ValueRange symbols);
  bool isZero() const {
    return constant == 0 && llvm::all_of(terms, [](const auto &term) {
             return term.second == 0;
           });
  }

private:
  int64_t reduce(int64_t number) const { return number & (modulus - 1); }
  /// The factors of what is no sum itself.
  void addTerm(Value value, int64_t factor) {
    int64_t &sum = terms[value];
    sum = reduce(sum + factor);
  }

  int64_t modulus;
  int64_t constant = 0;
  llvm::SmallDenseMap<Value, int64_t> terms;
};
} // namespace

void Residue::add(Value value, int64_t factor) {
  factor = reduce(factor);
  if (factor == 0)
    return;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return addConstant(factor * number.getSExtValue());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // Steps of a loop that are multiples leave what it begins with.
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar() &&
        getDivisor(loop.getStep()) % modulus == 0)
      return add(loop.getLowerBound(), factor);
    return addTerm(value, factor);
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    add(op->getOperand(0), factor);
    return add(op->getOperand(1), isa<arith::AddIOp>(op) ? factor : -factor);
  }
  bool isConstant = isa<arith::MulIOp, arith::AndIOp, arith::RemUIOp>(op) &&
                    matchPattern(op->getOperand(1), m_ConstantInt(&number));
  if (isConstant && isa<arith::MulIOp>(op))
    return add(op->getOperand(0), factor * number.getSExtValue());
  // Only bits above those that count are cleared.
  if (isConstant && isa<arith::AndIOp>(op) && number.isMask() &&
      (number + 1).urem(modulus) == 0)
    return add(op->getOperand(0), factor);
  if (isConstant && isa<arith::RemUIOp>(op) && number.urem(modulus) == 0)
    return add(op->getOperand(0), factor);
  addTerm(value, factor);
}

bool Residue::add(AffineExpr expr, int64_t factor, unsigned axis,
                  ValueRange symbols) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    addConstant(reduce(number.getValue()) * reduce(factor));
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dim.getPosition() == axis || reduce(factor) == 0;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    if (symbol.getPosition() >= symbols.size())
      return false;
    add(symbols[symbol.getPosition()], factor);
    return true;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return add(binary.getLHS(), factor, axis, symbols) &&
           add(binary.getRHS(), factor, axis, symbols);
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && number &&
         add(binary.getLHS(), reduce(factor) * reduce(number.getValue()), axis,
             symbols);
}

bool tile::isAlignedTogether(const Access &access, unsigned axis,
                             int64_t width) {
  Residue offset(width);
  SmallVector<int64_t> strides = getViewStrides(access.view.getType());
  for (auto [dim, expr] : llvm::enumerate(access.map.getResults()))
    if (ShapedType::isDynamic(strides[dim]) ||
        !offset.add(expr, strides[dim], axis, access.symbols))
      return false;
  return offset.isZero();
}

/// True when what an instruction moves along `axis` may be in bounds in part,
/// as its ends tell, and seldom is: at the end of memory, or of rows that tiles
/// begin before, which are no shorter.
static bool isDivisible(const AccessForm &access, unsigned axis,
                        int64_t width) {
  // The branch is more instructions than the loads of two elements.
  constexpr int64_t kLeastDivided = 4;
  if (!access.isDivisible || width < kLeastDivided)
    return false;
  for (auto [dim, expr] : llvm::enumerate(access.coords)) {
    if (!access.checked[dim] || !expr.isFunctionOfDim(axis))
      continue;
    int64_t size = access.shape[dim];
    std::optional<Run> run = runOf(expr, axis, width, access.getDivisor);
    if (!run || run->stride != 1)
      return false;
    bool beginsBefore = run->base % width != 0;
    // Of one row in all, cut from many perhaps.
    bool isOutermost = llvm::all_of(
        llvm::zip(access.shape.take_front(dim), access.coords), [](auto outer) {
          auto [size, coord] = outer;
          return size == 1 || isa<AffineConstantExpr>(coord);
        });
    if (beginsBefore ? ShapedType::isDynamic(size) || size < width
                     : !isOutermost)
      return false;
  }
  return true;
}

bool tile::mayDivide(const Access &access, unsigned axis, int64_t width) {
  std::optional<AccessRun> run = getAccessRun(access, axis, width);
  return !run || !run->uniformMask;
}

int64_t tile::getVectorWidth(const Access &access, unsigned axis,
                             int64_t most) {
  return getVectorWidth(AccessForm::of(access), axis, most);
}

int64_t tile::getVectorWidth(const AccessForm &access, unsigned axis,
                             int64_t most) {
  // One bit is stored as a byte.
  unsigned bits = std::max(access.bits, 8u);
  int64_t width = std::min({access.tile[axis], int64_t(128 / bits), most});
  for (; width > 1; width /= 2) {
    std::optional<AccessRun> run = getAccessRun(access, axis, width);
    if (!run || run->stride != 1)
      continue;
    bool isAligned =
        run->alignment % width == 0 || access.isAlignedTogether(axis, width);
    if (isAligned && (run->uniformMask || isDivisible(access, axis, width)))
      return width;
  }
  return 1;
}

bool tile::isContiguous(const Access &access, unsigned axis) {
  std::optional<AccessRun> run = getAccessRun(access, axis, 2);
  return run && run->stride == 1;
}
