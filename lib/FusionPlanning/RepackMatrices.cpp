//===- RepackMatrices.cpp - Matrices laid out for tensor copies -----------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the repacking of matrices: the dimension that warpgroups
// want innermost becomes so, and rows are padded to multiples of 16 bytes.
//
// Padded rows that the product keeps are cut off again where it reads them. A
// padded contracted dimension stays: the product gets more terms. They are
// zeros times zeros, since the other factor is padded too: where it is written
// anew, there, otherwise where it is read, which copies do for nothing.
//
//===----------------------------------------------------------------------===//

#include "Permutations.h"
#include "fusion/Analysis/Contraction.h"
#include "fusion/Analysis/TensorCores.h"
#include "fusion/Dialect/Fusion/FusionDialect.h"
#include "fusion/FusionPlanning/RepackOperands.h"
#include "fusion/Support/Hardware.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

/// Rows of tensor copies begin at multiples of so many bits, and best at those
/// of a line of the cache: a box's row that lies across two takes twice as long
/// to bring in.
static constexpr int64_t kRowBits = 8 * kCopyGranule;
static constexpr int64_t kLineBits = 8 * kLineBytes;

/// The size that rows of `size` elements of `bits` bits are padded to: whole
/// lines where that adds little, halves and quarters of one where not.
static int64_t getPaddedSize(int64_t size, int64_t bits) {
  constexpr int64_t kMostAdded = 8;
  for (int64_t row = kLineBits; row > kRowBits; row /= 2) {
    int64_t padded = llvm::alignTo(size, std::max<int64_t>(1, row / bits));
    if ((padded - size) * kMostAdded <= size)
      return padded;
  }
  return llvm::alignTo(size, kRowBits / bits);
}

namespace {
/// How one operand of a product is laid out anew.
struct OperandForm {
  OpOperand *operand = nullptr;
  /// The old dimension of each new one, and the new sizes.
  SmallVector<unsigned> order;
  SmallVector<int64_t> sizes;
  /// A kernel writes it. Otherwise zeros are added where it is read.
  bool written = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// The loop that dimension `dim` of the operand of `form` runs along.
static unsigned loopOf(linalg::GenericOp product, const OperandForm &form,
                       unsigned dim) {
  return product.getMatchingIndexingMap(form.operand).getDimPosition(dim);
}

/// Puts the dimension that copies have to find innermost there: the contracted
/// one, but of 16 bits, whose tiles have rows along either side.
static void orderDims(linalg::GenericOp product, const Contraction &sum,
                      unsigned side, unsigned depth, OperandForm &form) {
  unsigned rank = form.order.size();
  unsigned innermost = loopOf(product, form, form.order.back());
  bool is16Bits = sum.operands[side].element.getIntOrFloatBitWidth() == 16;
  if (innermost == depth ||
      (is16Bits && llvm::is_contained(sum.getOwn(side), innermost)))
    return;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (loopOf(product, form, dim) == depth) {
      form.order.erase(form.order.begin() + dim);
      form.order.push_back(dim);
      form.written = true;
      return;
    }
}

/// True when the product keeps one dimension only of the operand beside those
/// that both have: one axis has no rest to run through.
static bool hasOneKeptDim(const Contraction &sum, unsigned side,
                          ArrayRef<int64_t> loops) {
  return llvm::count_if(sum.getOwn(side),
                        [&](unsigned loop) { return loops[loop] != 1; }) <= 1;
}

/// The forms that the operands of `product` need, but those of `kept`, with the
/// padded sizes of its loops in `loops`; fails when there are none or all is
/// well as it is.
static FailureOr<SmallVector<OperandForm, 2>>
findForms(linalg::GenericOp product, const Contraction &sum,
          const DenseSet<Value> &kept, SmallVector<int64_t> &loops) {
  loops = product.getStaticLoopRanges();
  unsigned depth = getDepthLoop(sum);
  SmallVector<OperandForm, 2> forms(2);
  SmallVector<int64_t> padded = loops;
  for (unsigned side = 0; side < 2; ++side) {
    OperandForm &form = forms[side];
    form.operand = getFactor(sum, side);
    AffineMap map = product.getMatchingIndexingMap(form.operand);
    if (!map.isProjectedPermutation() || map.getNumResults() == 0)
      return failure();
    form.order.resize(map.getNumResults());
    std::iota(form.order.begin(), form.order.end(), 0);
    if (kept.contains(form.operand->get()))
      continue;
    orderDims(product, sum, side, depth, form);

    auto type = cast<RankedTensorType>(form.operand->get().getType());
    unsigned inner = form.order.back();
    unsigned loop = loopOf(product, form, inner);
    int64_t size = type.getDimSize(inner);
    int64_t bits = type.getElementTypeBitWidth();
    if (ShapedType::isDynamic(size) || kRowBits % bits != 0)
      return failure();
    form.written |= size * bits % kRowBits != 0;
    int64_t whole = form.written ? getPaddedSize(size, bits) : size;
    bool contracted = llvm::is_contained(sum.contracted, loop);
    bool isCut = whole != size && !contracted;
    if (isCut && !hasOneKeptDim(sum, side, loops))
      return failure();
    // Transposing and cutting need all sizes.
    if ((isCut || !llvm::is_sorted(form.order)) && !type.hasStaticShape())
      return failure();
    padded[loop] = std::max(padded[loop], whole);
  }
  if (forms[0].operand == forms[1].operand ||
      !(forms[0].written || forms[1].written))
    return failure();
  for (OperandForm &form : forms) {
    auto type = cast<RankedTensorType>(form.operand->get().getType());
    for (unsigned dim : form.order) {
      unsigned loop = loopOf(product, form, dim);
      bool contracted = llvm::is_contained(sum.contracted, loop);
      // Of kept dimensions only the innermost is padded.
      form.sizes.push_back(contracted || dim == form.order.back()
                               ? padded[loop]
                               : type.getDimSize(dim));
    }
  }
  for (unsigned loop : sum.contracted)
    loops[loop] = padded[loop];
  return forms;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

Value mlir::fusion::buildPadded(OpBuilder &builder, Location loc, Value tensor,
                                ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == sizes)
    return tensor;
  SmallVector<OpFoldResult> low, high;
  for (auto [size, wanted] : llvm::zip(type.getShape(), sizes)) {
    low.push_back(builder.getIndexAttr(0));
    high.push_back(
        builder.getIndexAttr(ShapedType::isDynamic(size) ? 0 : wanted - size));
  }
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(
      builder, loc, RankedTensorType::get(sizes, type.getElementType()), tensor,
      low, high, zero);
}

/// `tensor`, of static shape unless nothing is to be done, with its dimensions
/// in `order`.
static Value buildTransposed(OpBuilder &builder, Location loc, Value tensor,
                             ArrayRef<unsigned> order) {
  if (llvm::is_sorted(order))
    return tensor;
  return createPermutation(builder, loc, tensor, order).getResult(0);
}

void OperandRepacker::mark(Value value) {
  Operation *op = value.getDefiningOp();
  op->setAttr(FusionDialect::kRepackAttrName,
              StringAttr::get(op->getContext(), reason));
}

Value OperandRepacker::write(Value operand, ArrayRef<unsigned> order,
                             ArrayRef<int64_t> sizes) {
  std::vector<int64_t> form(order.begin(), order.end());
  llvm::append_range(form, sizes);
  Value &known = written[{operand.getAsOpaquePointer(), form}];
  if (known)
    return known;
  // Where every reader of the operand can have it.
  OpBuilder builder(operand.getContext());
  builder.setInsertionPointAfterValue(operand);
  Location loc = operand.getLoc();
  known = buildPadded(builder, loc,
                      buildTransposed(builder, loc, operand, order), sizes);
  if (known != operand)
    mark(known);
  return known;
}

Value mlir::fusion::buildCut(OpBuilder &builder, Location loc, Value tensor,
                             ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == sizes)
    return tensor;
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1)), wanted;
  for (int64_t size : sizes)
    wanted.push_back(builder.getIndexAttr(size));
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(sizes, type.getElementType()), tensor,
      offsets, wanted, strides);
}

/// The product that `op` is, with two operands, each of which a result's
/// dimension or a contracted one indexes.
static std::optional<Contraction> findProduct(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0))
           .isProjectedPermutation())
    return std::nullopt;
  return matchContraction(
      op, [](unsigned loop) { return loop; }, [](Value) { return true; });
}

bool OperandRepacker::areMatrices(linalg::GenericOp product) {
  std::optional<Contraction> sum = findProduct(product);
  SmallVector<int64_t> loops;
  return sum && succeeded(findForms(product, *sum, {}, loops));
}

bool OperandRepacker::canRepack(linalg::GenericOp product) const {
  if (!applies(product))
    return false;
  std::optional<Contraction> sum = findProduct(product);
  SmallVector<int64_t> loops;
  return !areMatrices(product) ||
         succeeded(findForms(product, *sum, kept, loops));
}

linalg::GenericOp OperandRepacker::repackMatrices(linalg::GenericOp product) {
  std::optional<Contraction> sum = findProduct(product);
  SmallVector<int64_t> loops;
  FailureOr<SmallVector<OperandForm, 2>> forms =
      findForms(product, *sum, kept, loops);

  OpBuilder builder(product);
  Location loc = product.getLoc();
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  SmallVector<Value> inputs = product.getDpsInputs();
  for (const OperandForm &form : *forms) {
    unsigned number = form.operand->getOperandNumber();
    SmallVector<AffineExpr> coords;
    SmallVector<int64_t> read;
    auto type = cast<RankedTensorType>(form.operand->get().getType());
    for (unsigned dim : form.order) {
      unsigned loop = loopOf(product, form, dim);
      coords.push_back(builder.getAffineDimExpr(loop));
      read.push_back(llvm::is_contained(sum->contracted, loop)
                         ? loops[loop]
                         : type.getDimSize(dim));
    }
    Value operand =
        form.written
            ? buildCut(builder, loc,
                       write(form.operand->get(), form.order, form.sizes), read)
            : buildPadded(builder, loc, form.operand->get(), read);
    inputs[number] = operand;
    maps[number] =
        AffineMap::get(loops.size(), 0, coords, builder.getContext());
  }
  return replace(product, inputs, maps, product.getIteratorTypesArray());
}

linalg::GenericOp
OperandRepacker::replace(linalg::GenericOp product, ArrayRef<Value> inputs,
                         ArrayRef<AffineMap> maps,
                         ArrayRef<utils::IteratorType> kinds) {
  OpBuilder builder(product);
  auto replaced = linalg::GenericOp::create(builder, product.getLoc(),
                                            product.getResultTypes(), inputs,
                                            product.getDpsInits(), maps, kinds);
  IRMapping map;
  product.getRegion().cloneInto(&replaced.getRegion(), map);
  replaced->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  for (auto [old, result] :
       llvm::zip_equal(product->getResults(), replaced->getResults()))
    if (kept.contains(old))
      kept.insert(result);
  product->replaceAllUsesWith(replaced);
  product.erase();
  return replaced;
}

bool OperandRepacker::applies(linalg::GenericOp product) {
  return product.getNumReductionLoops() != 0 && product.getNumDpsInits() == 1 &&
         (areMatrices(product) || areImages(product));
}

linalg::GenericOp OperandRepacker::repack(linalg::GenericOp product) {
  return areMatrices(product) ? repackMatrices(product) : repackImages(product);
}
