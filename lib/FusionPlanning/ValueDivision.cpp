//===- ValueDivision.cpp - What a division into parts takes ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the search for what a value is made of and who reads it,
// and for the size of its parts.
//
//===----------------------------------------------------------------------===//

#include "ValueDivision.h"

#include "ProductResults.h"
#include "fusion/Analysis/ComputeGraph.h"
#include "fusion/Analysis/Reductions.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;

/// Each part is planned, compiled and launched for itself.
static constexpr int64_t kMostParts = 64;
/// Parts begin at multiples of so many elements, whole tiles of products, where
/// there are enough of them.
static constexpr int64_t kPartGranule = 256;
/// Rounding a part up to granules adds no more than one in so many.
static constexpr int64_t kLeastGranulesOfPart = 8;
/// Of a sum over parts there are the sum so far and that with one part more.
static constexpr int64_t kBuffersOfSum = 2;
static constexpr int64_t kAddressGranule = 16;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// The bytes that an element has in memory.
static int64_t getElementBytes(RankedTensorType type) {
  if (!type.getElementType().isIntOrFloat())
    return 8;
  return llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

/// The bytes of one element along `dim`, with all that lies behind it.
static int64_t getStride(RankedTensorType type, unsigned dim) {
  int64_t bytes = getElementBytes(type);
  for (int64_t size : type.getShape().drop_front(dim + 1))
    bytes *= size;
  return bytes;
}

std::optional<int64_t> mlir::fusion::getStaticBytes(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  return type.getNumElements() * getElementBytes(type);
}

bool mlir::fusion::liesInOnePiece(RankedTensorType type, unsigned dim,
                                  int64_t offset) {
  // Of elements of half a byte the first one of a slice may begin in one.
  if (!type.hasStaticShape() || type.getElementType().isInteger(4))
    return false;
  for (int64_t size : type.getShape().take_front(dim))
    if (size != 1)
      return false;
  return offset * getStride(type, dim) % kAddressGranule == 0;
}

/// The least number of elements along `dim` that are whole granules of
/// addresses.
static int64_t getLeastGranule(RankedTensorType type, unsigned dim) {
  return kAddressGranule / std::gcd(getStride(type, dim), kAddressGranule);
}

/// The elements of each of `parts` parts of `extent`, but for the last.
static int64_t getPartSize(int64_t extent, int64_t parts,
                           int64_t leastGranule) {
  int64_t size = llvm::divideCeil(extent, parts);
  int64_t granule = kPartGranule;
  while (granule > leastGranule && granule * kLeastGranulesOfPart > size)
    granule /= 2;
  return llvm::alignTo(size, granule);
}

//===----------------------------------------------------------------------===//
// Makers and readers
//===----------------------------------------------------------------------===//

/// The dimension that `loop` walks of a tensor read at `map`, -1 where it walks
/// none. Fails where it is not the coordinate itself of one dimension.
static FailureOr<int> findDim(AffineMap map, unsigned loop) {
  int found = -1;
  for (auto [dim, coord] : llvm::enumerate(map.getResults())) {
    if (!coord.isFunctionOfDim(loop))
      continue;
    if (!isa<AffineDimExpr>(coord) || found >= 0)
      return failure();
    found = dim;
  }
  return found;
}

/// The loop that is the coordinate of dimension `dim` of a tensor at `map`, and
/// of no other.
static std::optional<unsigned> findLoop(AffineMap map, unsigned dim) {
  auto coord = dyn_cast<AffineDimExpr>(map.getResult(dim));
  if (!coord || failed(findDim(map, coord.getPosition())))
    return std::nullopt;
  return coord.getPosition();
}

AffineMap mlir::fusion::getResultMap(linalg::LinalgOp op) {
  return op.getMatchingIndexingMap(op.getDpsInitOperand(0));
}

namespace {
class DivisionFinder {
public:
  DivisionFinder(ValueDivision &division, int64_t mostBytes)
      : division(division), block(division.value.getParentBlock()),
        mostBytes(mostBytes) {}

  FusionDecision find(int64_t leastParts);

private:
  FusionDecision addMakers();
  FusionDecision addReaders();
  FusionDecision addReader(OpOperand &use);
  void addElementwise(DividedReader &reader);
  /// Sees to it that every operand of `divided` is read at a coordinate of the
  /// loop or at none; notes what of it is copied.
  FusionDecision checkOperands(const DividedOp &divided, Value own);
  FusionDecision setSize(int64_t leastParts);

  bool isMadeInParts(Value tensor) const;
  /// Of what `op` reads but `own`, something is made of the value.
  bool dependsOnReaders(linalg::LinalgOp op, Value own) const;
  int64_t getBytes(int64_t size) const;

  ValueDivision &division;
  Block *block;
  int64_t mostBytes;
  llvm::MapVector<Operation *, unsigned> dims;
  /// What is computed of the value.
  SetVector<Operation *> behind;
  /// Tensors of which parts have slices, by dimensions.
  llvm::SetVector<std::pair<Value, unsigned>> sliced;
};
} // namespace

/// True for an operation that parts can be made of alone: its elements, but for
/// what it contracts, depend on those of one coordinate of the loop.
static bool isDividable(linalg::LinalgOp op) {
  return op && op->getNumResults() == 1 && op.hasPureTensorSemantics() &&
         !hasContract(op) && (op.getNumReductionLoops() == 0 || isProduct(op));
}

bool DivisionFinder::isMadeInParts(Value tensor) const {
  auto op = tensor.getDefiningOp<linalg::LinalgOp>();
  if (!isDividable(op) || op->getBlock() != block)
    return false;
  if (tensor == division.value)
    return true;
  bool leaves = false, isReadElsewhere = false;
  for (Operation *user : tensor.getUsers()) {
    leaves |= user == block->getTerminator();
    isReadElsewhere |= !dims.contains(block->findAncestorOpInBlock(*user));
  }
  // What others need anyway is not made twice, unless it is too large itself.
  return !leaves &&
         (!isReadElsewhere || getStaticBytes(tensor).value_or(0) > mostBytes);
}

FusionDecision DivisionFinder::addMakers() {
  Value value = division.value;
  if (!isMadeInParts(value))
    return FusionDecision::no(ReasonCode::PartMakers);
  dims[value.getDefiningOp()] = division.dim;
  // Readers before what they read.
  llvm::SmallPtrSet<Operation *, 8> done;
  while (done.size() < dims.size()) {
    Operation *last = nullptr;
    for (auto [op, dim] : dims)
      if (!done.contains(op) && (!last || last->isBeforeInBlock(op)))
        last = op;
    done.insert(last);
    auto op = cast<linalg::LinalgOp>(last);
    std::optional<unsigned> loop =
        findLoop(getResultMap(op), dims.lookup(last));
    if (!loop)
      return FusionDecision::no(ReasonCode::PartCoordinates);
    DividedOp divided{op, *loop};
    division.makers.insert(division.makers.begin(), divided);
    for (OpOperand *input : op.getDpsInputOperands()) {
      FailureOr<int> dim =
          findDim(op.getMatchingIndexingMap(input), divided.loop);
      if (failed(dim))
        return FusionDecision::no(ReasonCode::PartCoordinates);
      if (*dim < 0 || !isMadeInParts(input->get()))
        continue;
      auto [known, isNew] =
          dims.try_emplace(input->get().getDefiningOp(), *dim);
      if (!isNew && known->second != static_cast<unsigned>(*dim))
        return FusionDecision::no(ReasonCode::PartCoordinates);
    }
  }
  for (const DividedOp &maker : division.makers)
    if (FusionDecision decision = checkOperands(maker, {}); !decision)
      return decision;
  return FusionDecision::yes();
}

FusionDecision DivisionFinder::checkOperands(const DividedOp &divided,
                                             Value own) {
  linalg::LinalgOp op = divided.op;
  if (ShapedType::isDynamicShape(op.getStaticLoopRanges()))
    return FusionDecision::no(ReasonCode::PartSizes);
  SmallVector<OpOperand *> operands = op.getDpsInputOperands();
  if (op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    operands.push_back(op.getDpsInitOperand(0));
  for (OpOperand *operand : operands) {
    FailureOr<int> dim =
        findDim(op.getMatchingIndexingMap(operand), divided.loop);
    if (failed(dim))
      return FusionDecision::no(ReasonCode::PartCoordinates);
    Value tensor = operand->get();
    // Made anew for each part.
    if (isa_and_nonnull<linalg::FillOp>(tensor.getDefiningOp()))
      continue;
    bool isMade =
        tensor.getDefiningOp() && dims.contains(tensor.getDefiningOp()) &&
        dims.lookup(tensor.getDefiningOp()) == static_cast<unsigned>(*dim);
    if (*dim >= 0 && tensor != own && !isMade)
      sliced.insert({tensor, *dim});
  }
  return FusionDecision::yes();
}

bool DivisionFinder::dependsOnReaders(linalg::LinalgOp op, Value own) const {
  auto isBehind = [&](Value operand) {
    Operation *maker = operand.getDefiningOp();
    return maker && maker->getBlock() == block && operand != own &&
           behind.contains(maker);
  };
  // Bodies read tensors, too.
  return op
      ->walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(), isBehind)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void DivisionFinder::addElementwise(DividedReader &reader) {
  Value last = reader.product.op->getResult(0);
  FailureOr<int> dim =
      findDim(getResultMap(reader.product.op), reader.product.loop);
  while (last.hasOneUse()) {
    OpOperand &use = *last.use_begin();
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (!isElementwise(op) || !isDividable(op) || !op.isDpsInput(&use) ||
        !op.getMatchingIndexingMap(&use).isIdentity() ||
        dependsOnReaders(op, last))
      return;
    DividedOp next{op, static_cast<unsigned>(*dim)};
    if (!checkOperands(next, last))
      return;
    reader.elementwise.push_back(next);
    last = op->getResult(0);
  }
}

FusionDecision DivisionFinder::addReader(OpOperand &use) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!isDividable(op) || !isProduct(op) || !op.isDpsInput(&use) ||
      llvm::count(op.getDpsInputs(), division.value) != 1 ||
      dependsOnReaders(op, division.value))
    return FusionDecision::no(ReasonCode::PartReaders);
  std::optional<unsigned> loop =
      findLoop(op.getMatchingIndexingMap(&use), division.dim);
  if (!loop)
    return FusionDecision::no(ReasonCode::PartCoordinates);
  DividedReader reader;
  reader.product = {op, *loop};
  if (FusionDecision decision = checkOperands(reader.product, division.value);
      !decision)
    return decision;
  FailureOr<int> kept = findDim(getResultMap(op), reader.product.loop);
  if (failed(kept))
    return FusionDecision::no(ReasonCode::PartCoordinates);
  reader.isSum = *kept < 0;
  if (reader.isSum) {
    Combiner combiner = matchCombiner(op, 0);
    Type type = getElementTypeOrSelf(op->getResult(0));
    if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(combiner.op) ||
        combiner.type != type)
      return FusionDecision::no(ReasonCode::PartSums);
  } else {
    addElementwise(reader);
  }
  division.readers.push_back(reader);
  return FusionDecision::yes();
}

FusionDecision DivisionFinder::addReaders() {
  getForwardSlice(division.value, &behind);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : division.value.getUses()) {
    if (use.getOwner()->getBlock() != block)
      return FusionDecision::no(ReasonCode::PartReaders);
    uses.push_back(&use);
  }
  llvm::sort(uses, [](OpOperand *a, OpOperand *b) {
    return a->getOwner() == b->getOwner()
               ? a->getOperandNumber() < b->getOperandNumber()
               : a->getOwner()->isBeforeInBlock(b->getOwner());
  });
  for (OpOperand *use : uses)
    if (FusionDecision decision = addReader(*use); !decision)
      return decision;
  return uses.empty() ? FusionDecision::no(ReasonCode::PartReaders)
                      : FusionDecision::yes();
}

//===----------------------------------------------------------------------===//
// The size of a part
//===----------------------------------------------------------------------===//

int64_t DivisionFinder::getBytes(int64_t size) const {
  auto getPart = [&](Value tensor) {
    return getStaticBytes(tensor).value_or(0) / division.extent * size;
  };
  int64_t bytes = getPart(division.value);
  for (auto [tensor, dim] : sliced)
    if (!liesInOnePiece(cast<RankedTensorType>(tensor.getType()), dim, size))
      bytes += getPart(tensor);
  for (const DividedReader &reader : division.readers)
    if (reader.isSum)
      bytes += kBuffersOfSum *
               getStaticBytes(reader.product.op->getResult(0)).value_or(0);
  return bytes;
}

FusionDecision DivisionFinder::setSize(int64_t leastParts) {
  int64_t granule = getLeastGranule(
      cast<RankedTensorType>(division.value.getType()), division.dim);
  for (auto [tensor, dim] : sliced)
    granule = std::max(
        granule,
        getLeastGranule(cast<RankedTensorType>(tensor.getType()), dim));
  for (int64_t parts = leastParts; parts <= kMostParts; ++parts) {
    int64_t size = getPartSize(division.extent, parts, granule);
    // Parts of one size may be as many as asked for before.
    if (size >= division.extent || getBytes(size) > mostBytes ||
        llvm::divideCeilSigned(division.extent, size) < leastParts)
      continue;
    division.size = size;
    return FusionDecision::yes();
  }
  return FusionDecision::no(ReasonCode::PartsTooLarge);
}

FusionDecision DivisionFinder::find(int64_t leastParts) {
  auto type = cast<RankedTensorType>(division.value.getType());
  if (!type.hasStaticShape())
    return FusionDecision::no(ReasonCode::PartSizes);
  division.extent = type.getDimSize(division.dim);
  if (FusionDecision decision = addMakers(); !decision)
    return decision;
  if (FusionDecision decision = addReaders(); !decision)
    return decision;
  return setSize(leastParts);
}

FusionDecision mlir::fusion::findDivision(Value value, unsigned dim,
                                          int64_t mostBytes, int64_t leastParts,
                                          ValueDivision &division) {
  division = ValueDivision();
  division.value = value;
  division.dim = dim;
  return DivisionFinder(division, mostBytes).find(leastParts);
}
