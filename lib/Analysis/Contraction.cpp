//===- Contraction.cpp - Sums of products of two factors ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the analysis of contractions.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/Contraction.h"
#include "fusion/Support/Float8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static bool isFloat16(Type type) { return type.isF16() || type.isBF16(); }

Value fusion::stripExtensions(Value factor) {
  while (Operation *op = factor.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::ExtSIOp, arith::SIToFPOp>(op))
      break;
    Value source = op->getOperand(0);
    unsigned bits = source.getType().getIntOrFloatBitWidth();
    // An integer of 8 bits fits the mantissa of every float but float8.
    if (isa<arith::SIToFPOp>(op) && (bits > 8 || isFloat8(factor.getType())))
      break;
    factor = source;
  }
  return factor;
}

std::array<Type, 2> fusion::getNarrowTypes(Type a, Type b, Type sum) {
  if (sum.isInteger(32)) {
    bool fits = a.isSignlessInteger() && b.isSignlessInteger() &&
                a.getIntOrFloatBitWidth() <= 8 &&
                b.getIntOrFloatBitWidth() <= 8;
    Type byte = IntegerType::get(sum.getContext(), 8);
    return fits ? std::array<Type, 2>{byte, byte} : std::array<Type, 2>{};
  }
  if (!sum.isF32())
    return {};
  if (isFloat8(a) && isFloat8(b))
    return {a, b};
  for (auto [one, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (!isFloat16(one))
      continue;
    bool fits = other == one || isFloat8(other) || isa<IntegerType>(other);
    return fits ? std::array<Type, 2>{one, one} : std::array<Type, 2>{};
  }
  auto fitsBF16 = [](Type type) {
    return isFloat8(type) || isa<IntegerType>(type);
  };
  Type bf16 = BFloat16Type::get(sum.getContext());
  if (fitsBF16(a) && fitsBF16(b))
    return {bf16, bf16};
  return {};
}

bool fusion::allowsTF32(Operation *op) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr(kTF32AttrName))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The inputs of the operation that `value`, of its body, depends on.
static llvm::SmallBitVector inputsOf(linalg::LinalgOp op, Value value) {
  llvm::SmallBitVector inputs(op.getNumDpsInputs());
  SmallVector<Value> worklist{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      if (argument.getOwner() == op.getBlock() &&
          argument.getArgNumber() < inputs.size())
        inputs.set(argument.getArgNumber());
    } else if (next.getParentBlock() == op.getBlock() &&
               seen.insert(next.getDefiningOp()).second) {
      llvm::append_range(worklist, next.getDefiningOp()->getOperands());
    }
  }
  return inputs;
}

/// Follows `tensor` to the tensor from outside the kernel that it is an
/// elementwise function of, that it pads with zeros, begins with or splits
/// dimensions of;
/// clears `direct` when something is computed on the way.
static Value sourceOf(Value tensor, llvm::function_ref<bool(Value)> isOutside,
                      bool &direct) {
  while (!isOutside(tensor)) {
    if (auto pad = tensor.getDefiningOp<tensor::PadOp>()) {
      Value fill = pad.getConstantPaddingValue();
      if (!fill || !(matchPattern(fill, m_Zero()) ||
                     matchPattern(fill, m_PosZeroFloat())))
        return nullptr;
      tensor = pad.getSource();
      // Only what is read from memory is zero by itself outside.
      direct &= isOutside(tensor);
      continue;
    }
    if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
      // The first elements of each dimension are where they are.
      auto isConstant = [](int64_t value) {
        return [value](OpFoldResult number) {
          return isConstantIntValue(number, value);
        };
      };
      if (slice.getType().getRank() != slice.getSourceType().getRank() ||
          !llvm::all_of(slice.getMixedOffsets(), isConstant(0)) ||
          !llvm::all_of(slice.getMixedStrides(), isConstant(1)))
        return nullptr;
      tensor = slice.getSource();
      continue;
    }
    if (auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>()) {
      tensor = expand.getSrc();
      continue;
    }
    auto op = tensor.getDefiningOp<linalg::LinalgOp>();
    if (!op || op.getNumReductionLoops() != 0 || op.getNumDpsInputs() != 1 ||
        op->getNumResults() != 1 ||
        !op.getBlock()->getOps<tensor::ExtractOp>().empty())
      return nullptr;
    AffineMap in = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
    AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    if (!in.isPermutation() || !out.isPermutation())
      return nullptr;
    direct = false;
    tensor = op.getDpsInputOperand(0)->get();
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

std::optional<SmallVector<std::pair<int64_t, AffineExpr>>>
fusion::getScaledTerms(AffineExpr sum) {
  SmallVector<std::pair<int64_t, AffineExpr>> scaled;
  SmallVector<AffineExpr> terms{sum};
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    int64_t factor = 1;
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(term)) {
      if (binary.getKind() == AffineExprKind::Add) {
        terms.append({binary.getLHS(), binary.getRHS()});
        continue;
      }
      auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
      if (binary.getKind() != AffineExprKind::Mul || !constant)
        return std::nullopt;
      factor = constant.getValue();
      term = binary.getLHS();
    }
    scaled.push_back({factor, term});
  }
  return scaled;
}

/// True when `expr` is a place in an image: where a window starts, a multiple
/// of a loop, and an element in it, a multiple of a contracted loop.
static bool isWindowPlace(AffineExpr expr, linalg::LinalgOp op) {
  auto terms = getScaledTerms(expr);
  if (!terms)
    return false;
  bool taken[2] = {false, false};
  for (auto [factor, term] : *terms) {
    if (isa<AffineConstantExpr>(term))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(term);
    if (!dim || factor < 1)
      return false;
    bool contracted = op.getIteratorTypesArray()[dim.getPosition()] ==
                      utils::IteratorType::reduction;
    if (taken[contracted])
      return false;
    taken[contracted] = true;
  }
  return true;
}

/// The coordinates at which the operation reads `tensor`, images whose windows
/// slide along all dimensions but the last, the channels; null when it is no
/// such images.
static AffineMap findImageMap(linalg::LinalgOp op, Value tensor) {
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->get() != tensor)
      continue;
    AffineMap map = op.getMatchingIndexingMap(input);
    bool sums = llvm::any_of(map.getResults(), [](AffineExpr expr) {
      return isa<AffineBinaryOpExpr>(expr);
    });
    if (map.getNumResults() > 2 && sums &&
        isa<AffineDimExpr>(map.getResults().back()) &&
        llvm::all_of(map.getResults(),
                     [&](AffineExpr expr) { return isWindowPlace(expr, op); }))
      return map;
  }
  return AffineMap();
}

/// The contracted loops that count images and windows of what is read at `map`,
/// in its order: one for each dimension but the channels, all there are. None
/// otherwise.
static SmallVector<unsigned> findPlaceLoops(linalg::LinalgOp op,
                                            AffineMap map) {
  SmallVector<unsigned> reduced, loops;
  op.getReductionDims(reduced);
  for (AffineExpr expr : map.getResults().drop_back()) {
    auto *loop = llvm::find_if(
        reduced, [&](unsigned loop) { return expr.isFunctionOfDim(loop); });
    if (loop == reduced.end() || llvm::is_contained(loops, *loop))
      return {};
    loops.push_back(*loop);
  }
  return loops.size() == reduced.size() ? loops : SmallVector<unsigned>();
}

/// True when neighbours along the last dimension of `tensor`, computed from
/// `source` as `sourceOf` found, are neighbours in `source` too.
static bool keepsLastDim(Value tensor, Value source) {
  while (tensor != source) {
    Operation *op = tensor.getDefiningOp();
    if (auto pointwise = dyn_cast<linalg::LinalgOp>(op)) {
      AffineMap in =
          pointwise.getMatchingIndexingMap(pointwise.getDpsInputOperand(0));
      AffineMap out =
          pointwise.getMatchingIndexingMap(pointwise.getDpsInitOperand(0));
      if (in.getResults().back() != out.getResults().back())
        return false;
    }
    tensor = op->getOperand(0);
  }
  return true;
}

/// Sets which factors of `sum` are images. Splitting channels into groups is
/// followed for images whose channels are contracted only, and when chunks of
/// channels lie in one group.
static void findImages(Contraction &sum,
                       llvm::function_ref<unsigned(unsigned)> dimOfLoop) {
  constexpr int64_t kMaxChunk = 64;
  std::optional<int64_t> channels;
  for (ContractionOperand &operand : sum.operands) {
    AffineMap map = findImageMap(sum.op, operand.tensor);
    if (!map || !operand.source ||
        !keepsLastDim(operand.tensor, operand.source))
      continue;
    unsigned last = cast<AffineDimExpr>(map.getResults().back()).getPosition();
    if (sum.op.getIteratorTypesArray()[last] ==
        utils::IteratorType::reduction) {
      operand.channels = dimOfLoop(last);
      channels = sum.op.getStaticLoopRanges()[last];
    } else {
      for (unsigned loop : findPlaceLoops(sum.op, map))
        operand.places.push_back(dimOfLoop(loop));
    }
  }
  bool isInGroup =
      channels && !ShapedType::isDynamic(*channels) &&
      *channels % std::min<int64_t>(kMaxChunk, llvm::PowerOf2Ceil(*channels)) ==
          0;
  for (ContractionOperand &operand : sum.operands) {
    auto rankOf = [](Value tensor) {
      return cast<RankedTensorType>(tensor.getType()).getRank();
    };
    if (operand.source && !operand.lookup &&
        rankOf(operand.source) != rankOf(operand.tensor) && !isInGroup)
      operand.source = nullptr;
    operand.direct &= operand.source != nullptr;
  }
}

/// The product that `op` sums, if it does that; `grouped` is the form of a sum
/// of what belongs to groups.
static Operation *findProduct(linalg::LinalgOp op,
                              const std::optional<GroupedSum> &grouped) {
  if (op.getNumReductionLoops() == 0 || op.getNumDpsInits() != 1 ||
      op.getNumDpsInputs() < 2)
    return nullptr;
  Block *block = op.getBlock();
  Operation *sum = block->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum))
    return nullptr;
  Operation *product = nullptr;
  for (unsigned i = 0; i < 2; ++i)
    if (sum->getOperand(1 - i) == block->getArguments().back())
      product = sum->getOperand(i).getDefiningOp();
  if (grouped)
    product = grouped->element.getDefiningOp();
  return isa_and_nonnull<arith::MulFOp, arith::MulIOp>(product) ? product
                                                                : nullptr;
}

/// Sets the lookup in tensors from outside the kernel that the tensor of
/// `result`, an operand of `op`, is, if it is one.
static void findLookup(linalg::LinalgOp op,
                       llvm::function_ref<unsigned(unsigned)> dimOfLoop,
                       llvm::function_ref<bool(Value)> isOutside,
                       ContractionOperand &result) {
  std::optional<Lookup> lookup = matchLookup(result.tensor);
  if (!lookup || !isOutside(lookup->source) ||
      !llvm::all_of(lookup->tables, isOutside))
    return;
  auto *operand =
      llvm::find_if(op.getDpsInputOperands(), [&](OpOperand *input) {
        return input->get() == result.tensor;
      });
  for (AffineExpr coord : op.getMatchingIndexingMap(*operand).getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(coord);
    if (!loop)
      return;
    result.lookupDims.push_back(dimOfLoop(loop.getPosition()));
  }
  result.source = lookup->source;
  result.lookup = std::move(lookup);
}

/// Sets the tensor that `factor` of `op` is computed from, the one of most
/// dimensions of several; returns the loops that the factor moves with.
static llvm::SmallBitVector
findOperand(linalg::LinalgOp op, Value factor,
            llvm::function_ref<unsigned(unsigned)> dimOfLoop,
            llvm::function_ref<bool(Value)> isOutside,
            ContractionOperand &result) {
  llvm::SmallBitVector moves(op.getNumLoops());
  unsigned widest = 0;
  llvm::SmallBitVector inputs = inputsOf(op, factor);
  for (unsigned input : inputs.set_bits()) {
    OpOperand *operand = op.getDpsInputOperand(input);
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (map.isFunctionOfDim(loop))
        moves.set(loop);
    if (!result.tensor || map.getNumResults() > widest) {
      widest = map.getNumResults();
      result.tensor = operand->get();
    }
  }
  if (!result.tensor)
    return moves;
  result.direct = inputs.count() == 1;
  result.source = sourceOf(result.tensor, isOutside, result.direct);
  if (!result.source)
    findLookup(op, dimOfLoop, isOutside, result);
  result.direct &= result.source != nullptr;
  return moves;
}

/// Sorts the dimensions of `result.op` by which of the factors move with them.
static void sortDims(Contraction &result,
                     const llvm::SmallBitVector (&moves)[2],
                     llvm::function_ref<unsigned(unsigned)> dimOfLoop) {
  for (auto [loop, kind] : llvm::enumerate(result.op.getIteratorTypesArray())) {
    bool inA = moves[0].test(loop), inB = moves[1].test(loop);
    unsigned dim = dimOfLoop(loop);
    if (kind == utils::IteratorType::reduction) {
      if (inA && inB)
        result.contracted.push_back(dim);
    } else if (inA && inB) {
      result.batch.push_back(dim);
    } else if (inA) {
      result.rows.push_back(dim);
    } else if (inB) {
      result.columns.push_back(dim);
    }
  }
  for (SmallVector<unsigned> *dims :
       {&result.rows, &result.columns, &result.contracted, &result.batch})
    llvm::sort(*dims);
}

/// Sets the types that the factors are brought to.
static void setElements(Contraction &result, ArrayRef<Value> factors) {
  Value stripped[2] = {stripExtensions(factors[0]),
                       stripExtensions(factors[1])};
  std::array<Type, 2> narrow =
      getNarrowTypes(stripped[0].getType(), stripped[1].getType(), result.sum);
  result.tf32 = !narrow[0] && result.sum.isF32() && allowsTF32(result.op);
  for (unsigned side = 0; side < 2; ++side) {
    ContractionOperand &operand = result.operands[side];
    operand.element = narrow[side] ? narrow[side] : result.sum;
    operand.direct &=
        isa<BlockArgument>(narrow[side] ? stripped[side] : factors[side]) &&
        getElementTypeOrSelf(operand.tensor.getType()) == operand.element;
  }
}

//===----------------------------------------------------------------------===//
// Contractions of operations
//===----------------------------------------------------------------------===//

std::optional<Contraction>
fusion::matchContraction(linalg::LinalgOp op,
                         llvm::function_ref<unsigned(unsigned)> dimOfLoop,
                         llvm::function_ref<bool(Value)> isOutside) {
  std::optional<GroupedSum> grouped = matchGroupedSum(op);
  Operation *product = findProduct(op, grouped);
  if (!product)
    return std::nullopt;
  Contraction result;
  result.op = op;
  if (grouped) {
    result.grouped = grouped;
    result.groupDim = dimOfLoop(grouped->loop);
    result.groupedDim = dimOfLoop(grouped->rowLoop);
  }
  result.sum = op.getBlock()->getArguments().back().getType();
  // Sums of short floats are made in f32.
  if (isa<FloatType>(result.sum) && result.sum.getIntOrFloatBitWidth() < 32)
    result.sum = Float32Type::get(op.getContext());

  Value factors[2] = {product->getOperand(0), product->getOperand(1)};
  // Loops that each factor moves with.
  llvm::SmallBitVector moves[2];
  for (unsigned side = 0; side < 2; ++side) {
    moves[side] = findOperand(op, factors[side], dimOfLoop, isOutside,
                              result.operands[side]);
    if (!result.operands[side].tensor)
      return std::nullopt;
  }
  sortDims(result, moves, dimOfLoop);
  if (result.contracted.empty() || result.rows.empty() ||
      result.columns.empty())
    return std::nullopt;
  // The dimension that comes first in the result gives the rows.
  if (result.columns.front() < result.rows.front()) {
    std::swap(result.rows, result.columns);
    std::swap(result.operands[0], result.operands[1]);
    std::swap(factors[0], factors[1]);
  }
  findImages(result, dimOfLoop);
  setElements(result, factors);
  return result;
}

OpOperand *fusion::getFactor(const Contraction &sum, unsigned side) {
  linalg::LinalgOp op = sum.op;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == sum.operands[side].tensor)
      return input;
  return nullptr;
}

bool fusion::isPlain(const Contraction &sum, unsigned side) {
  linalg::LinalgOp op = sum.op;
  OpOperand *factor = getFactor(sum, side);
  if (!factor)
    return false;
  AffineMap map = op.getMatchingIndexingMap(factor);
  SmallVector<AffineExpr> dims;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned i = 0; i < map.getNumDims(); ++i)
    dims.push_back(ranges[i] == 1 ? getAffineConstantExpr(0, op.getContext())
                                  : getAffineDimExpr(i, op.getContext()));
  llvm::SmallDenseSet<unsigned> seen;
  for (AffineExpr expr : map.getResults()) {
    expr = expr.replaceDims(dims);
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || !seen.insert(dim.getPosition()).second)
      return false;
  }
  return true;
}

SmallVector<unsigned>
fusion::getMergeableDims(ArrayRef<unsigned> dims,
                         ArrayRef<SmallVector<unsigned>> tensors,
                         llvm::function_ref<int64_t(unsigned)> extentOf) {
  SmallVector<unsigned> kept;
  for (unsigned dim : dims)
    if (extentOf(dim) != 1)
      kept.push_back(dim);
  if (kept.empty())
    return {dims.back()};
  SmallVector<unsigned> run{kept.pop_back_val()};
  while (!kept.empty() && kept.back() + 1 == run.front()) {
    bool adjacent = llvm::all_of(tensors, [&](ArrayRef<unsigned> order) {
      const unsigned *place = llvm::find(order, run.front());
      return place == order.end() ||
             (place != order.begin() && *std::prev(place) == kept.back());
    });
    if (!adjacent)
      break;
    run.insert(run.begin(), kept.pop_back_val());
  }
  return run;
}
