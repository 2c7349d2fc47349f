//===- TileGridOps.cpp - Exchange between blocks of a grid ----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the verifiers of the operations by which blocks of a
// grid hand tiles to each other.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Support/PanelFormat.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion::tile;

LogicalResult ScratchOp::verify() {
  if (getBytes() == 0 || static_cast<int64_t>(getBytes()) < 0)
    return emitOpError("has no bytes");
  return success();
}

/// Checks what blocks exchange: whole bytes, and something at all.
static LogicalResult verifyExchange(Operation *op, ValueRange values) {
  if (values.empty())
    return op->emitOpError("has no tiles");
  for (Value value : values) {
    Type element = getTileElementType(value.getType());
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
      return op->emitOpError("elements of type ")
             << element << " cannot be exchanged";
  }
  return success();
}

LogicalResult PublishOp::verify() { return verifyExchange(*this, getValues()); }

LogicalResult CollectOp::verify() { return verifyExchange(*this, getValues()); }

LogicalResult FindGroupOp::verify() {
  ViewType view = getOffsets().getType();
  if (view.getRank() != 1 || ShapedType::isDynamic(view.getShape().front()) ||
      view.getShape().front() < 2 || !view.getElementType().isInteger(32))
    return emitOpError("takes a view of at least two i32, got ") << view;
  constexpr int64_t most = std::numeric_limits<int32_t>::max() / 2;
  if (static_cast<int64_t>(getTile()) < 1 ||
      static_cast<int64_t>(getRows()) < 1 ||
      static_cast<int64_t>(getRows()) > most ||
      static_cast<int64_t>(getTile()) > most)
    return emitOpError("takes tiles of at least one of 1 to 2^30 rows");
  return success();
}

LogicalResult FindBoundOp::verify() {
  ViewType view = getView().getType();
  Type element = view.getElementType();
  if (view.getRank() == 0 || (!element.isInteger(32) && !element.isInteger(64)))
    return emitOpError("takes a view of i32 or i64 with dimensions, got ")
           << view;
  auto rank = static_cast<size_t>(view.getRank());
  if (getBegins().size() != rank || getSizes().size() != rank)
    return emitOpError("takes a begin and a size for each of ")
           << rank << " dimensions";
  int64_t all = 1;
  for (int64_t size : getSizes())
    if (size < 1 || llvm::MulOverflow(all, size, all) ||
        all > std::numeric_limits<int32_t>::max() / 2)
      return emitOpError("takes a part of 1 to 2^30 elements");
  return success();
}

/// Checks an exchange between the `together` blocks of a program, and sets
/// `blocks` to their number.
template <typename Op>
static LogicalResult verifyTogether(Op op, int64_t &blocks) {
  if (failed(verifyExchange(op, op.getValues())))
    return failure();
  auto program = op->template getParentOfType<ProgramOp>();
  blocks = program ? program.getTogether().value_or(1) : 1;
  if (blocks < 2)
    return op.emitOpError(
        "stands in a program whose blocks do not wait for each "
        "other ('together')");
  if (op.getValues().size() != op.getResults().size())
    return op.emitOpError("has ") << op.getValues().size() << " tiles and "
                                  << op.getResults().size() << " results";
  return success();
}

SmallVector<int64_t> GridGatherOp::getShareShape(unsigned number) {
  return SmallVector<int64_t>(
      getTileShape(getResult(number).getType()).drop_back());
}

LogicalResult GridGatherOp::verify() {
  int64_t blocks;
  if (failed(verifyTogether(*this, blocks)))
    return failure();
  if (!llvm::isPowerOf2_64(blocks))
    return emitOpError("stands in a program of ")
           << blocks << " blocks together, no power of two";
  if (getParts().size() != getValues().size())
    return emitOpError("has ")
           << getValues().size() << " tiles and parts of " << getParts().size();
  for (auto [value, result, dim] :
       llvm::zip(getValues(), getResults(), getParts())) {
    SmallVector<int64_t> shape(getTileShape(value.getType()));
    if (dim < -1 || dim >= static_cast<int64_t>(shape.size()))
      return emitOpError("dimension ") << dim << " is outside the tile's rank";
    ArrayRef<int64_t> given = getTileShape(result.getType());
    if (dim >= 0 && given.size() == shape.size() + 1) {
      int64_t parts = given[dim] ? shape[dim] / given[dim] : 0;
      if (parts < 1 || parts * given[dim] != shape[dim] || blocks % parts != 0)
        return emitOpError("size ")
               << shape[dim] << " has no parts of " << given[dim] << " for "
               << blocks << " blocks";
      shape[dim] = given[dim];
    }
    shape.push_back(blocks);
    if (getTileShape(result.getType()) != ArrayRef<int64_t>(shape) ||
        getTileElementType(value.getType()) !=
            getTileElementType(result.getType()))
      return emitOpError("results must be all blocks' shares of the tiles");
  }
  return success();
}

LogicalResult GridReduceOp::verify() {
  int64_t blocks;
  if (failed(verifyTogether(*this, blocks)))
    return failure();
  for (auto [value, result] : llvm::zip(getValues(), getResults())) {
    SmallVector<int64_t> shape(getTileShape(value.getType()));
    int64_t dim = getDim();
    if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
      return emitOpError("dimension ") << dim << " is outside the tile's rank";
    if (shape[dim] % blocks != 0)
      return emitOpError("size ")
             << shape[dim] << " cannot be shared by " << blocks << " blocks";
    shape[dim] /= blocks;
    if (getTileShape(result.getType()) != ArrayRef<int64_t>(shape) ||
        getTileElementType(value.getType()) !=
            getTileElementType(result.getType()))
      return emitOpError("results must be one block's parts of the tiles");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

/// Words of an exchange of one value.
template <typename Op>
static int64_t countWordsOfValue(Op op, ValueRange values) {
  auto words = static_cast<int64_t>(op.getCopies() * op.getMembers());
  for (int64_t size : getTileShape(values.front().getType()))
    words *= size;
  return words;
}

/// Checks what blocks exchange, `values`, and where in the panel's memory. Sets
/// `states` to the values' elements, and `pairs` to two of them.
template <typename Op>
static LogicalResult verifyExchange(Op op, ValueRange values,
                                    SmallVector<Type> &states,
                                    SmallVector<Type> &pairs) {
  ArrayRef<int64_t> shape = getTileShape(values.front().getType());
  for (Type type : values.getTypes()) {
    Type element = getTileElementType(type);
    states.push_back(element);
    if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() > 32)
      return op.emitOpError("elements of type ")
             << element << " do not fit beside the number of an exchange";
    if (getTileShape(type) != shape)
      return op.emitOpError("takes tiles of several shapes");
  }
  pairs = states;
  llvm::append_range(pairs, states);
  auto members = static_cast<int64_t>(op.getMembers());
  if (members < 2 || static_cast<int64_t>(op.getCopies()) < 1)
    return op.emitOpError("needs two members and one copy at least");
  auto program = op->template getParentOfType<ProgramOp>();
  bool inCluster = program && program.getCluster().value_or(1) > 1;
  if (program && static_cast<int64_t>(
                     (inCluster ? program.getCluster() : program.getTogether())
                         .value_or(1)) != members)
    return op.emitOpError("has other members than the program has blocks that "
                          "wait for each other ('together' or 'cluster')");
  int64_t words =
      countWordsOfValue(op, values) * static_cast<int64_t>(values.size());
  auto offset = static_cast<int64_t>(op.getOffset());
  if (offset < fusion::kPanelHeadBytes ||
      offset % fusion::kPanelHeadBytes != 0 ||
      offset + words * fusion::kPanelWordBytes >
          static_cast<int64_t>(op.getBytes()))
    return op.emitOpError("has ") << words << " words from byte " << offset
                                  << " on, of " << op.getBytes() << " bytes";
  return success();
}

int64_t PanelReduceOp::getNumWords() {
  return countWordsOfValue(*this, getValues());
}

LogicalResult PanelReduceOp::verify() {
  if (getValues().empty() || getValues().getTypes() != getResults().getTypes())
    return emitOpError("gives other types than it takes");
  SmallVector<Type> states, pairs;
  if (failed(verifyExchange(*this, getValues(), states, pairs)))
    return failure();
  Block &block = getCombiner().front();
  if (block.getArgumentTypes() != TypeRange(pairs))
    return emitOpError("combines two states of the values' elements");
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().getTypes() != TypeRange(states))
    return emitOpError("yields one state of the values' elements");
  return success();
}

int64_t PanelPublishOp::getNumWords() {
  return countWordsOfValue(*this, getValues()) *
         static_cast<int64_t>(getValues().size());
}

LogicalResult PanelPublishOp::verify() {
  if (getValues().empty())
    return emitOpError("has no values");
  SmallVector<Type> states, pairs;
  return verifyExchange(*this, getValues(), states, pairs);
}

LogicalResult PanelScanOp::verify() {
  if (getInits().empty() || getBefore().size() != getInits().size())
    return emitOpError("expects what comes before and a total for each of one "
                       "or more initial values");
  SmallVector<Type> states, pairs;
  if (failed(verifyExchange(*this, getInits(), states, pairs)))
    return failure();
  Block &block = getCombiner().front();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (block.getArgumentTypes() != TypeRange(pairs) || !yield ||
      yield.getValues().getTypes() != TypeRange(states))
    return emitOpError("combines two states of the values' elements to one");
  return success();
}

LogicalResult PanelLeaveOp::verify() {
  if (getArrivals() < 2)
    return emitOpError("needs two arrivals at least");
  if (getBytes() < fusion::kPanelHeadBytes ||
      getBytes() % fusion::kPanelHeadBytes != 0)
    return emitOpError("bytes of a panel are a multiple of 16");
  return success();
}
