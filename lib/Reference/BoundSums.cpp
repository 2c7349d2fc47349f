//===- BoundSums.cpp - Sums of bounded numbers ----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements sums: the order of their terms is the compiler's, so
// that what they may lose is known once all terms have been seen. A structured
// op that sums keeps the parts of a BoundedSum; an elementwise op finishes it.
//
//===----------------------------------------------------------------------===//

#include "Bounder.h"

#include "fusion/Analysis/Contraction.h"
#include "fusion/Support/ElementType.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

static bool isExactTensor(Value tensor);

/// True for numbers in a body that come as they are from exact tensors.
static bool isExactScalar(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    return isExactScalar(extension.getIn());
  if (value.getDefiningOp<arith::ConstantOp>())
    return true;
  auto argument = dyn_cast<BlockArgument>(value);
  auto generic =
      argument ? dyn_cast<linalg::GenericOp>(argument.getOwner()->getParentOp())
               : linalg::GenericOp();
  return generic && argument.getArgNumber() < generic.getNumDpsInputs() &&
         isExactTensor(
             generic.getDpsInputOperand(argument.getArgNumber())->get());
}

/// True for arguments of the program, constants, and what moves them: their
/// elements have no error.
static bool isExactTensor(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op) {
    auto function = dyn_cast<func::FuncOp>(
        cast<BlockArgument>(tensor).getOwner()->getParentOp());
    return function && function.isPublic();
  }
  if (isa<arith::ConstantOp>(op))
    return true;
  if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp,
          tensor::ExpandShapeOp, tensor::CastOp, tensor::ReshapeOp>(op))
    return isExactTensor(op->getOperand(0));
  if (isa<tensor::InsertSliceOp>(op))
    return isExactTensor(op->getOperand(0)) && isExactTensor(op->getOperand(1));
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic &&
         llvm::all_of(generic.getBody()->getTerminator()->getOperands(),
                      isExactScalar);
}

/// True if `value` depends on an argument of `body` from `first` on.
static bool dependsOn(Value value, Block *body, unsigned first) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == body && argument.getArgNumber() >= first;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != body)
    return op && body->getParentOp()->isProperAncestor(op);
  return op->getNumRegions() != 0 ||
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOn(operand, body, first);
         });
}

/// Says in `sum` what its factors are, products being of type `product`, which
/// may be those of groups only: the narrower type that both have, or else that
/// of the products, -1 for a sum without any; and whether tf32 may round them.
static void findFactors(linalg::GenericOp op, Type product,
                        BoundedSumInfo &sum) {
  DType dtype = *getDType(product);
  sum.tf32 = dtype == DType::F32 && allowsTF32(op);
  sum.repaired = op->hasAttr(kRepairedAttrName);
  std::optional<Contraction> contraction = matchContraction(
      op, [](unsigned loop) { return loop; },
      [](Value tensor) { return isa<BlockArgument>(tensor); });
  if (!contraction) {
    sum.factors = sum.product ? static_cast<int32_t>(dtype) : -1;
    return;
  }
  auto haveWidth = [&](unsigned width, bool orInMemory) {
    return llvm::all_of(contraction->operands, [&](ContractionOperand &factor) {
      Type source = orInMemory && factor.source
                        ? getElementTypeOrSelf(factor.source.getType())
                        : factor.element;
      return factor.element.getIntOrFloatBitWidth() <= width ||
             (source.isIntOrFloat() && source.getIntOrFloatBitWidth() <= width);
    });
  };
  // Nothing rounds factors that are narrow when they are multiplied. What is
  // computed from narrow numbers has all of its bits.
  bool isNarrow = haveWidth(16, /*orInMemory=*/false);
  sum.tf32 &= !isNarrow;
  // A scale of float8 may be moved past the products, which are then float8's.
  if (haveWidth(8, /*orInMemory=*/true))
    dtype = DType::F8E4M3;
  else if (dtype == DType::F32 && isNarrow)
    dtype = DType::BF16;
  sum.factors = static_cast<int32_t>(dtype);
}

static BoundedSumInfo findSum(linalg::GenericOp op, unsigned result) {
  Block *body = op.getBody();
  Value yielded = body->getTerminator()->getOperand(result);
  Operation *add = yielded.getDefiningOp();
  unsigned numInputs = op.getNumDpsInputs();
  if (!isa_and_present<arith::AddFOp, arith::SubFOp>(add) ||
      add->getBlock() != body)
    return {};
  Value running = body->getArgument(numInputs + result);
  bool isNegative = isa<arith::SubFOp>(add);
  bool isFirst = add->getOperand(0) == running;
  if ((!isFirst && (isNegative || add->getOperand(1) != running)) ||
      !running.hasOneUse() || !yielded.hasOneUse())
    return {};
  BoundedSumInfo sum;
  sum.term = isFirst ? 1 : 0;
  Value term = add->getOperand(sum.term);
  if (dependsOn(term, body, numInputs))
    return {};
  sum.add = add;
  sum.isNegative = isNegative;
  sum.format = static_cast<int32_t>(*getDType(yielded.getType()));
  if (auto product = term.getDefiningOp<arith::MulFOp>();
      product && product->hasOneUse() && product->getBlock() == body) {
    sum.product = product;
    sum.isExact =
        isExactScalar(product.getLhs()) && isExactScalar(product.getRhs());
  } else {
    sum.isExact = isExactScalar(term);
  }
  findFactors(op, term.getType(), sum);
  return sum;
}

SmallVector<BoundedSumInfo> fusion::findSums(linalg::GenericOp op) {
  SmallVector<BoundedSumInfo> sums(op.getNumResults());
  if (op.getNumReductionLoops() > 0)
    for (unsigned i = 0; i < sums.size(); ++i)
      sums[i] = findSum(op, i);
  return sums;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
/// The tensors that a sum is kept in: (sum, magnitude) where terms are exact;
/// (sum, error) and (magnitude, squares) otherwise; and the shift of a product.
class SumSplitter {
public:
  SumSplitter(BoundedBuilder &builder, linalg::GenericOp op,
              ArrayRef<BoundedSumInfo> sums)
      : builder(builder), op(op), sums(sums), b(op), loc(op.getLoc()) {}

  void run();

private:
  unsigned getNumParts(const BoundedSumInfo &sum) const {
    return !sum.add ? 1 : sum.isExact ? 1 : sum.product ? 3 : 2;
  }
  Value zeros(Value like);
  Value countTerms();
  void addTerm(OpBuilder &inner, const BoundedSumInfo &sum, IRMapping &mapping,
               ValueRange parts, SmallVectorImpl<Value> &yields);
  void buildBody(OpBuilder &inner, ValueRange arguments);
  Value finish(unsigned result, ValueRange parts, Value count);

  Value add(OpBuilder &inner, Value x, Value y) {
    return arith::AddFOp::create(inner, loc, x, y);
  }
  Value mul(OpBuilder &inner, Value x, Value y) {
    return arith::MulFOp::create(inner, loc, x, y);
  }
  Value abs(OpBuilder &inner, Value x) {
    return math::AbsFOp::create(inner, loc, x);
  }

  BoundedBuilder &builder;
  linalg::GenericOp op;
  ArrayRef<BoundedSumInfo> sums;
  OpBuilder b;
  Location loc;
};
} // namespace

Value SumSplitter::zeros(Value like) {
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, like), builder.getType());
  return linalg::FillOp::create(b, loc, builder.constant(b, loc, 0), empty)
      .getResult(0);
}

/// How many terms each sum has, as an f64.
Value SumSplitter::countTerms() {
  Value count = builder.f64(b, loc, 1);
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, loc);
  for (auto [range, kind] : llvm::zip(ranges, op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    Value size = getValueOrCreateConstantIndexOp(b, loc, range.size);
    size = arith::IndexCastOp::create(b, loc, b.getI64Type(), size);
    size = arith::SIToFPOp::create(b, loc, b.getF64Type(), size);
    count = mul(b, count, size);
  }
  return count;
}

void SumSplitter::addTerm(OpBuilder &inner, const BoundedSumInfo &sum,
                          IRMapping &mapping, ValueRange parts,
                          SmallVectorImpl<Value> &yields) {
  auto value = [&](Value x) { return builder.getValue(inner, loc, x); };
  auto error = [&](Value x) { return builder.getError(inner, loc, x); };
  auto pair = [&](Value x, Value y) {
    return builder.create(inner, loc, x, y);
  };
  Value term, termError, left, right;
  if (sum.product) {
    Value x = mapping.lookupOrDefault(sum.product->getOperand(0));
    Value y = mapping.lookupOrDefault(sum.product->getOperand(1));
    term = mul(inner, value(x), value(y));
    if (!sum.isExact) {
      left = mul(inner, error(x), value(y));
      right = mul(inner, error(y), value(x));
      termError = add(inner, add(inner, abs(inner, left), abs(inner, right)),
                      mul(inner, error(x), error(y)));
    }
  } else {
    Value x = mapping.lookupOrDefault(sum.add->getOperand(sum.term));
    term = value(x);
    termError = error(x);
  }
  Value magnitude = abs(inner, term);
  Value total =
      sum.isNegative
          ? Value(arith::SubFOp::create(inner, loc, value(parts[0]), term))
          : add(inner, value(parts[0]), term);
  if (sum.isExact) {
    yields.push_back(pair(total, add(inner, error(parts[0]), magnitude)));
    return;
  }
  yields.push_back(pair(total, add(inner, error(parts[0]), termError)));
  Value squares = error(parts[1]);
  if (sum.product)
    squares = add(inner, squares, mul(inner, termError, termError));
  yields.push_back(pair(add(inner, value(parts[1]), magnitude), squares));
  if (sum.product)
    yields.push_back(pair(add(inner, value(parts[2]), add(inner, left, right)),
                          error(parts[2])));
}

void SumSplitter::buildBody(OpBuilder &inner, ValueRange arguments) {
  Block *body = op.getBody();
  unsigned numInputs = op.getNumDpsInputs();
  IRMapping mapping;
  for (unsigned i = 0; i < numInputs; ++i)
    mapping.map(body->getArgument(i), arguments[i]);
  SmallVector<ValueRange> parts;
  unsigned next = numInputs;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    parts.push_back(arguments.slice(next, getNumParts(sum)));
    next += getNumParts(sum);
    if (!sum.add)
      mapping.map(body->getArgument(numInputs + i), parts.back().front());
  }
  auto isPartOfSum = [&](Operation &inside) {
    return llvm::any_of(sums, [&](const BoundedSumInfo &sum) {
      return sum.add == &inside || sum.product == &inside;
    });
  };
  for (Operation &inside : body->without_terminator())
    if (!isPartOfSum(inside))
      inner.clone(inside, mapping);
  SmallVector<Value> yields;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    if (sum.add)
      addTerm(inner, sum, mapping, parts[i], yields);
    else
      yields.push_back(
          mapping.lookupOrDefault(body->getTerminator()->getOperand(i)));
  }
  linalg::YieldOp::create(inner, loc, yields);
}

Value SumSplitter::finish(unsigned result, ValueRange parts, Value count) {
  const BoundedSumInfo &sum = sums[result];
  SmallVector<Value> inputs(parts);
  inputs.push_back(op.getDpsInitOperand(result)->get());
  return builder.map(
      b, loc, inputs, builder.getType(), [&](OpBuilder &inner, ValueRange in) {
        auto value = [&](Value x) { return builder.getValue(inner, loc, x); };
        auto error = [&](Value x) { return builder.getError(inner, loc, x); };
        auto i32 = [&](int32_t x) -> Value {
          return arith::ConstantIntOp::create(inner, loc, x, 32);
        };
        Value zero = builder.f64(inner, loc, 0);
        Value none =
            builder.f64(inner, loc, std::numeric_limits<double>::infinity());
        Value total = value(in[0]), first = in.back();
        Value loss = sum.isExact ? zero : error(in[0]);
        Value magnitude = sum.isExact ? error(in[0]) : value(in[1]);
        Value squares = sum.isExact ? zero : sum.product ? error(in[1]) : none;
        Value shift = sum.product && !sum.isExact ? value(in[2]) : zero;
        return builder.call(inner, loc, kFinishSumCall,
                            {total, loss, magnitude, squares, shift,
                             value(first), error(first), count,
                             i32(sum.factors), i32(sum.format),
                             i32(sum.tf32 | sum.repaired << 1)});
      });
}

void SumSplitter::run() {
  SmallVector<Value> inits;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types;
  for (OpOperand *input : op.getDpsInputOperands())
    maps.push_back(op.getMatchingIndexingMap(input));
  for (auto [i, sum] : llvm::enumerate(sums)) {
    OpOperand *init = op.getDpsInitOperand(i);
    for (unsigned part = 0; part < getNumParts(sum); ++part) {
      inits.push_back(sum.add ? zeros(init->get()) : init->get());
      maps.push_back(op.getMatchingIndexingMap(init));
      types.push_back(inits.back().getType());
    }
  }
  auto split = linalg::GenericOp::create(
      b, loc, types, op.getDpsInputs(), inits, maps, op.getIteratorTypesArray(),
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        buildBody(inner, arguments);
      });
  Value count = countTerms();
  unsigned next = 0;
  for (auto [i, sum] : llvm::enumerate(sums)) {
    ValueRange parts = split.getResults().slice(next, getNumParts(sum));
    next += getNumParts(sum);
    Value result = sum.add ? finish(i, parts, count) : parts.front();
    if (result.getType() != op.getResult(i).getType())
      result =
          tensor::CastOp::create(b, loc, op.getResult(i).getType(), result);
    op.getResult(i).replaceAllUsesWith(result);
  }
  op.erase();
}

void fusion::splitSums(BoundedBuilder &builder, linalg::GenericOp op,
                       ArrayRef<BoundedSumInfo> sums) {
  SumSplitter(builder, op, sums).run();
}
