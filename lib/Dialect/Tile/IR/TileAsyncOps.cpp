//===- TileAsyncOps.cpp - Tensor cores and copies in flight ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the assembly forms and verifiers of the operations that
// overlap: copies, rings, products in flight and roles.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"
#include "fusion/Dialect/Tile/IR/TileDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type TensorMapType::parse(AsmParser &parser) {
  SmallVector<int64_t> box;
  Type elementType;
  if (parser.parseLess() ||
      parser.parseDimensionList(box, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma())
    return {};
  FailureOr<Swizzle> swizzle = FieldParser<Swizzle>::parse(parser);
  if (failed(swizzle) || parser.parseGreater())
    return {};
  return TensorMapType::get(parser.getContext(), box, elementType, *swizzle);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getBox())
    printer << size << "x";
  printer << getElementType() << ", " << stringifySwizzle(getSwizzle()) << ">";
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t stages, ArrayRef<Type> buffers) {
  if (stages < 1 || stages > 32)
    return emitError() << "a ring has 1 to 32 stages, got " << stages;
  if (!llvm::all_of(buffers, llvm::IsaPred<BufferType>))
    return emitError() << "a ring's stage is made of buffers";
  return success();
}

static const SharedLayout &sharedOf(Type buffer) {
  return cast<BufferType>(buffer).getLayout().getShared();
}

/// Copies into a ring want their target at a multiple of a bank row.
static int64_t alignmentInRing(Type buffer) {
  return std::max<int64_t>(sharedOf(buffer).alignment(), kBankRowBytes);
}

int64_t RingType::getAlignment() const {
  int64_t alignment = kBankRowBytes;
  for (Type buffer : getBuffers())
    alignment = std::max(alignment, alignmentInRing(buffer));
  return alignment;
}

int64_t RingType::getBufferOffset(unsigned number) const {
  int64_t offset = 0;
  for (auto [i, buffer] : llvm::enumerate(getBuffers())) {
    offset = llvm::alignTo(offset, alignmentInRing(buffer));
    if (i == number)
      break;
    offset += sharedOf(buffer).sizeInBytes();
  }
  return offset;
}

int64_t RingType::getStageBytes() const {
  if (getBuffers().empty())
    return 0;
  unsigned last = getBuffers().size() - 1;
  return llvm::alignTo(getBufferOffset(last) +
                           sharedOf(getBuffers()[last]).sizeInBytes(),
                       getAlignment());
}

int64_t RingType::getTotalBytes() const {
  constexpr int64_t kBarrierBytes = 8;
  return getStages() * (getStageBytes() + 2 * kBarrierBytes);
}

//===----------------------------------------------------------------------===//
// Tensor maps and rings
//===----------------------------------------------------------------------===//

/// Checks what the tensor copy engine demands of copies of windows.
static LogicalResult verifyIm2Col(TensorMapOp op, Im2ColAttr im2col) {
  ArrayRef<int64_t> box = op.getType().getBox();
  if (box.size() < 3)
    return op.emitOpError("windows need a view of rank 3 to 5, got ")
           << box.size();
  size_t numSpatial = box.size() - 2;
  if (im2col.getLower().size() != numSpatial ||
      im2col.getUpper().size() != numSpatial)
    return op.emitOpError("the corners of a bounding box have ")
           << numSpatial << " coordinates in a view of rank " << box.size();
  if (llvm::any_of(box.drop_back(2), [](int64_t size) { return size != 1; }))
    return op.emitOpError("a box of pixels has one element along all "
                          "dimensions but the last two");
  if (std::optional<ArrayRef<int64_t>> strides = op.getElementStrides())
    if (strides->front() != 1 || strides->back() != 1)
      return op.emitOpError("images and channels are taken one by one");
  int64_t limit = getIm2ColCornerLimit(numSpatial);
  for (ArrayRef<int64_t> corner : {im2col.getLower(), im2col.getUpper()})
    for (int64_t coordinate : corner)
      if (coordinate < -limit || coordinate >= limit)
        return op.emitOpError("corners are from ")
               << -limit << " to " << limit - 1 << " with " << numSpatial
               << " dimensions of windows, got " << coordinate;
  return success();
}

/// Checks a box against the limits of the tensor copy engine.
LogicalResult TensorMapOp::verify() {
  constexpr int64_t kMaxRank = 5, kMaxBox = 256;
  TensorMapType map = getType();
  ViewType view = getView().getType();
  if (static_cast<int64_t>(map.getBox().size()) != view.getRank())
    return emitOpError("box has rank ")
           << map.getBox().size() << ", the view has rank " << view.getRank();
  if (view.getRank() < 1 || view.getRank() > kMaxRank)
    return emitOpError("the view must have rank 1 to 5, got ")
           << view.getRank();
  if (map.getElementType() != view.getElementType())
    return emitOpError("map and view differ in element type");
  for (int64_t size : map.getBox())
    if (size < 1 || size > kMaxBox)
      return emitOpError("a box has 1 to 256 elements along each dimension, "
                         "got ")
             << size;
  int64_t row =
      map.getBox().back() * map.getElementType().getIntOrFloatBitWidth() / 8;
  int64_t span = 16 << static_cast<int>(map.getSwizzle());
  if (row % 16 != 0)
    return emitOpError("the box's last dimension must be a multiple of 16 "
                       "bytes, got ")
           << row;
  if (map.getSwizzle() != Swizzle::None && row > span)
    return emitOpError("the box's last dimension has ")
           << row << " bytes, the swizzle spans " << span;
  if (std::optional<ArrayRef<int64_t>> strides = getElementStrides()) {
    if (static_cast<int64_t>(strides->size()) != view.getRank())
      return emitOpError("expects one element stride for each dimension");
    for (int64_t stride : *strides)
      if (stride < 1 || stride > 8)
        return emitOpError("element strides are 1 to 8, got ") << stride;
  }
  if (std::optional<Im2ColAttr> im2col = getIm2col())
    return verifyIm2Col(*this, *im2col);
  return success();
}

static LogicalResult verifyStage(Operation *op, RingType ring,
                                 ValueRange buffers) {
  if (TypeRange(buffers) != TypeRange(ring.getBuffers()))
    return op->emitOpError("must yield the buffers of one stage of ") << ring;
  return success();
}

LogicalResult MakeRingOp::verify() {
  if (getByThreads() && !getType().getBuffers().empty())
    return emitOpError("'by_threads' has no buffers of its own");
  if (getGroups().value_or(1) < 1 ||
      (getGroups().value_or(1) > 1 && (getByThreads() || getMulticast())))
    return emitOpError("several 'groups' read stages that are copied for one "
                       "block, and not by its threads");
  return success();
}

LogicalResult CopyArriveOp::verify() {
  auto ring = getRing().getDefiningOp<MakeRingOp>();
  if (ring && !ring.getByThreads())
    return emitOpError("expects a ring 'by_threads'");
  return success();
}

LogicalResult AcquireOp::verify() {
  return verifyStage(*this, getRing().getType(), getBuffers());
}

LogicalResult WaitOp::verify() {
  return verifyStage(*this, getRing().getType(), getBuffers());
}

/// Checks that a tile in `buffer` can be moved in boxes of `map`.
static LogicalResult verifyCopy(Operation *op, TensorMapType map,
                                size_t numCoordinates, BufferType buffer,
                                ArrayRef<int64_t> dims) {
  if (numCoordinates != map.getBox().size())
    return op->emitOpError("expects ")
           << map.getBox().size() << " coordinates, got " << numCoordinates;
  if (dims.size() != buffer.getShape().size())
    return op->emitOpError("expects one entry of 'dims' for each dimension of "
                           "the buffer");
  if (map.getElementType() != buffer.getElementType())
    return op->emitOpError("map and buffer differ in element type");
  SmallVector<int64_t> boxes(map.getBox());
  for (auto [size, dim] : llvm::zip(buffer.getShape(), dims)) {
    if (dim < 0 || dim >= static_cast<int64_t>(boxes.size()))
      return op->emitOpError("'dims' names dimension ")
             << dim << ", which the map does not have";
    if (size % boxes[dim] != 0)
      return op->emitOpError("the tile's size ")
             << size << " is no multiple of the box's " << boxes[dim];
    boxes[dim] = 1;
  }
  if (llvm::any_of(boxes, [](int64_t size) { return size != 1; }))
    return op->emitOpError("the box covers a dimension that the tile has not");
  return success();
}

LogicalResult AsyncLoadOp::verify() {
  auto ring = getRing().getDefiningOp<MakeRingOp>();
  if (getMulticast() && ring && !ring.getMulticast())
    return emitOpError("copies for all blocks of a cluster, but its ring is "
                       "not released by all: it needs 'multicast'");
  if (auto map = getMap().getDefiningOp<TensorMapOp>()) {
    size_t numOffsets =
        map.getIm2col() ? getNumPieces() * (map.getType().getBox().size() - 2)
                        : 0;
    if (getOffsets().size() != numOffsets)
      return emitOpError("expects ")
             << numOffsets << " offsets, got " << getOffsets().size();
  }
  int64_t pieces = getNumPieces();
  ArrayRef<int64_t> shape = getBuffer().getType().getShape();
  if (std::optional<int64_t> along = getAlong()) {
    if (*along < 0 || *along >= static_cast<int64_t>(shape.size()))
      return emitOpError("'along' names dimension ")
             << *along << ", which the tile does not have";
    if (getMulticast())
      return emitOpError("copies of pieces are not for all blocks of a "
                         "cluster");
  }
  if (pieces > 0)
    if (failed(verifyCopy(*this, getMap().getType(),
                          getCoordinates().size() / pieces,
                          getBuffer().getType(), getDims())))
      return failure();
  if (!getAlong())
    return success();
  int64_t rank = getMap().getType().getBox().size();
  int64_t box = getMap().getType().getBox()[getDims()[*getAlong()]];
  if (pieces == 0 ||
      static_cast<int64_t>(getCoordinates().size()) != pieces * rank ||
      shape[*getAlong()] % (pieces * box) != 0)
    return emitOpError(
               "expects coordinates of pieces that are whole boxes, got ")
           << getCoordinates().size() << " for " << shape[*getAlong()]
           << " elements in boxes of " << box;
  return success();
}

LogicalResult AsyncStoreOp::verify() {
  if (getTileShape(getValue().getType()) != getBuffer().getType().getShape() ||
      getTileElementType(getValue().getType()) !=
          getBuffer().getType().getElementType())
    return emitOpError("value and buffer differ in shape or element type");
  return verifyCopy(*this, getMap().getType(), getCoordinates().size(),
                    getBuffer().getType(), getDims());
}

//===----------------------------------------------------------------------===//
// Products in flight
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> operandShape(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getShape();
  return getTileShape(type);
}

static Type operandElement(Type type) {
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getElementType();
  return getTileElementType(type);
}

LogicalResult MmaAsyncOp::verify() {
  Type a = getA().getType(), b = getB().getType();
  for (Type type : {a, b})
    if (!isa<BufferType, RankedTensorType>(type))
      return emitOpError("operands must be buffers or tiles, got ") << type;
  Type shared = getSwapped() ? a : b;
  if (!isa<BufferType>(shared))
    return emitOpError("the operand that gives the instruction's columns must "
                       "be a buffer");
  ArrayRef<int64_t> aShape = operandShape(a), bShape = operandShape(b),
                    c = getTileShape(getType());
  if (aShape.size() != 2 || bShape.size() != 2 || c.size() != 2)
    return emitOpError("operands must have rank 2");
  // Of a buffer that is wider than the products need, they take the first rows.
  bool isWider = isa<BufferType>(b) && !getSwapped() && bShape[0] > c[1];
  if (aShape[1] != bShape[1] || aShape[0] != c[0] ||
      (bShape[0] != c[1] && !isWider))
    return emitOpError("shapes do not multiply: ")
           << a << " by " << b << " into " << getType();
  Type aElement = operandElement(a), bElement = operandElement(b);
  if (!areFactorTypes(aElement, bElement))
    return emitOpError("operands differ in element type");
  for (Operation *user : getResult().getUsers())
    if (!isa<MmaAsyncOp, MmaWaitOp>(user))
      return emitOpError(
          "a product in flight is read before fusion_tile.mma_wait");
  return success();
}

LogicalResult MmaWaitOp::verify() {
  if (getValues().getTypes() != getResults().getTypes())
    return emitOpError("results must have the types of the values waited for");
  if (getPending() < 0)
    return emitOpError("'pending' must not be negative");
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

ParseResult SpecializeOp::parse(OpAsmParser &parser, OperationState &result) {
  if (parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseKeyword("consumer") ||
      parser.parseRegion(*result.addRegion()))
    return failure();
  while (succeeded(parser.parseOptionalKeyword("producer")))
    if (parser.parseRegion(*result.addRegion()))
      return failure();
  for (auto &region : result.regions)
    if (region->empty())
      region->emplaceBlock();
  return success();
}

void SpecializeOp::print(OpAsmPrinter &printer) {
  SmallVector<StringRef> defaults;
  if (getGroups() == 1)
    defaults.push_back(getGroupsAttrName());
  printer.printOptionalAttrDict((*this)->getAttrs(), defaults);
  printer << " consumer ";
  printer.printRegion(getConsumer());
  for (Region &producer : getProducers()) {
    printer << " producer ";
    printer.printRegion(producer);
  }
}

LogicalResult SpecializeOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (!program)
    return emitOpError("must stand in a fusion_tile.program");
  int64_t extra = program.getExtraWarps().value_or(0);
  int64_t groups = getGroups();
  if (groups < 1 || groups > 4)
    return emitOpError("has 1 to 4 groups, got ") << groups;
  if (groups > 1 && program.getCluster().value_or(1) > 1)
    return emitOpError("the blocks of a cluster have one group each");
  int64_t others = (groups - 1) * program.getNumWarps();
  if (static_cast<int64_t>(getProducers().size()) > extra - others)
    return emitOpError("has ")
           << getProducers().size() << " producers, the program has "
           << std::max<int64_t>(extra - others, 0) << " extra warps for them";
  if (std::optional<ArrayRef<int64_t>> registers = getRegisters()) {
    if (registers->size() != 2)
      return emitOpError("'registers' are the producers' and the consumer's");
    if (extra % 4 != 0 || program.getNumWarps() % 4 != 0)
      return emitOpError("registers move between whole warpgroups only");
    for (int64_t count : *registers)
      if (count < 24 || count > 256 || count % 8 != 0)
        return emitOpError("register counts are multiples of 8 from 24 to 256, "
                           "got ")
               << count;
  }
  return success();
}

LogicalResult GroupNumberOp::verify() {
  auto roles = (*this)->getParentOfType<SpecializeOp>();
  if (!roles || !roles.getConsumer().isAncestor((*this)->getParentRegion()))
    return emitOpError("stands outside a consumer's role");
  return success();
}

LogicalResult GroupBufferOp::verify() {
  auto roles = (*this)->getParentOfType<SpecializeOp>();
  if (!roles || !roles.getConsumer().isAncestor((*this)->getParentRegion()))
    return emitOpError("stands outside a consumer's role");
  if (getBuffers().size() != static_cast<size_t>(roles.getGroups()))
    return emitOpError("expects a buffer for each of ")
           << roles.getGroups() << " groups, got " << getBuffers().size();
  auto wait = getBuffers().front().getDefiningOp<WaitOp>();
  for (Value buffer : getBuffers())
    if (buffer.getType() != getType() || !wait ||
        buffer.getDefiningOp() != wait)
      return emitOpError("expects buffers of one stage and of type ")
             << getType();
  return success();
}

Value tile::getStageBuffer(Value buffer) {
  if (auto view = buffer.getDefiningOp<TransposeBufferOp>())
    buffer = view.getBuffer();
  if (auto own = buffer.getDefiningOp<GroupBufferOp>())
    buffer = own.getBuffers().front();
  return buffer;
}

LogicalResult TransposeBufferOp::verify() {
  BufferType from = getBuffer().getType(), to = getType();
  ArrayRef<int64_t> shape = from.getShape();
  if (shape.size() != 2 || from.getElementType() != to.getElementType() ||
      to.getShape() != ArrayRef({shape[1], shape[0]}))
    return emitOpError("expects two dimensions that are exchanged, got ")
           << from << " and " << to;
  if (!to.getLayout().getShared().isTransposed(from.getLayout().getShared()))
    return emitOpError("expects elements where they are in ") << from;
  return success();
}

LogicalResult ClusterReduceOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  int64_t blocks = program ? program.getCluster().value_or(1) : 1;
  SmallVector<int64_t> shape(getTileShape(getValue().getType()));
  int64_t dim = getDim();
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    return emitOpError("dimension ") << dim << " is outside the tile's rank";
  if (getBuffer() &&
      ArrayRef<int64_t>(shape) != getBuffer().getType().getShape())
    return emitOpError("value and buffer differ in shape");
  if (shape[dim] % blocks != 0)
    return emitOpError("size ")
           << shape[dim] << " cannot be shared by " << blocks << " blocks";
  shape[dim] /= blocks;
  if (getTileShape(getType()) != ArrayRef<int64_t>(shape))
    return emitOpError("result must be one block's part of the tile");
  return success();
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = getTileShape(getValue().getType()),
                    to = getTileShape(getType());
  if (from.size() != to.size() || from.size() != getOffsets().size())
    return emitOpError("operand, result and offsets must agree in rank");
  for (auto [size, part, offset] : llvm::zip(from, to, getOffsets()))
    if (offset < 0 || offset % part != 0 || offset + part > size)
      return emitOpError("a part of ") << part << " elements of " << size
                                       << " cannot start at " << offset;
  return success();
}
