//===- TileDialect.cpp - The block-level tile dialect ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the tile dialect: parsing and printing of its types and
// attributes, and the verifiers of its operations.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Tile/IR/TileDialect.h"
#include "fusion/Support/Float8.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fusion;
using namespace mlir::fusion::tile;

#include "fusion/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "fusion/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "fusion/Dialect/Tile/IR/TileAttrs.cpp.inc"

/// The buffers of a ring's stage, which may be none.
static ParseResult parseBuffers(AsmParser &parser,
                                SmallVectorImpl<Type> &buffers) {
  Type first;
  OptionalParseResult found = parser.parseOptionalType(first);
  if (!found.has_value())
    return success();
  if (failed(*found))
    return failure();
  buffers.push_back(first);
  while (succeeded(parser.parseOptionalComma()))
    if (parser.parseType(buffers.emplace_back()))
      return failure();
  return success();
}

static void printBuffers(AsmPrinter &printer, ArrayRef<Type> buffers) {
  llvm::interleaveComma(buffers, printer);
}

#define GET_TYPEDEF_CLASSES
#include "fusion/Dialect/Tile/IR/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "fusion/Dialect/Tile/IR/TileOps.cpp.inc"

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "fusion/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "fusion/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "fusion/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Helpers on tile types
//===----------------------------------------------------------------------===//

LayoutAttr tile::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

ArrayRef<int64_t> tile::getTileShape(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getShape() : ArrayRef<int64_t>();
}

Type tile::getTileElementType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getElementType() : type;
}

Type tile::getTileType(ArrayRef<int64_t> shape, Type elementType,
                       LayoutAttr layout) {
  if (shape.empty())
    return elementType;
  return RankedTensorType::get(shape, elementType, layout);
}

bool tile::areFactorTypes(Type a, Type b) {
  return a == b || (fusion::isFloat8(a) && fusion::isFloat8(b));
}

//===----------------------------------------------------------------------===//
// Attributes and types: assembly forms
//===----------------------------------------------------------------------===//

/// Parses `{ … }` or a bare token run up to the matching `>` as raw text.
static FailureOr<std::string> parseQuotedText(AsmParser &parser) {
  std::string text;
  if (parser.parseLess() || parser.parseString(&text) || parser.parseGreater())
    return failure();
  return text;
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<std::string> text = parseQuotedText(parser);
  if (failed(text))
    return {};
  std::optional<LinearLayout> layout = parseLinearLayout(*text);
  if (!layout) {
    parser.emitError(loc, "malformed linear layout: ") << *text;
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getLinear().str() << "\">";
}

Attribute SharedAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  FailureOr<std::string> text = parseQuotedText(parser);
  if (failed(text))
    return {};
  std::optional<SharedLayout> layout = SharedLayout::parse(*text);
  if (!layout) {
    parser.emitError(loc, "malformed shared layout: ") << *text;
    return {};
  }
  return SharedAttr::get(parser.getContext(), *layout);
}

void SharedAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getShared().str() << "\">";
}

Type ViewType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  if (parser.parseLess() || parser.parseDimensionList(shape) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  return ViewType::get(parser.getContext(), shape, elementType);
}

void ViewType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape()) {
    if (ShapedType::isDynamic(size))
      printer << "?";
    else
      printer << size;
    printer << "x";
  }
  printer << getElementType() << ">";
}

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SharedAttr layout;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseComma() ||
      parser.parseAttribute(layout) || parser.parseGreater())
    return {};
  return BufferType::get(parser.getContext(), shape, elementType, layout);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<";
  for (int64_t size : getShape())
    printer << size << "x";
  printer << getElementType() << ", " << getLayout() << ">";
}

//===----------------------------------------------------------------------===//
// fusion_tile.program
//===----------------------------------------------------------------------===//

void ProgramOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                      FunctionType type, int64_t numWarps, int64_t indexBits) {
  state.addAttribute(SymbolTable::getSymbolAttrName(),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addAttribute(getNumWarpsAttrName(state.name),
                     builder.getI64IntegerAttr(numWarps));
  state.addAttribute(getIndexBitsAttrName(state.name),
                     builder.getI64IntegerAttr(indexBits));
  Region *body = state.addRegion();
  Block &entry = body->emplaceBlock();
  for (Type argument : type.getInputs())
    entry.addArgument(argument, state.location);
}

ParseResult ProgramOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void ProgramOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

/// Blocks that wait for each other: more than any chip has multiprocessors.
static constexpr int64_t kMaxTogether = 256;

LogicalResult ProgramOp::verify() {
  int64_t warps = getNumWarps();
  if (warps < 1 || warps > 32 || !llvm::isPowerOf2_64(warps))
    return emitOpError("num_warps must be a power of two from 1 to 32, got ")
           << warps;
  if (getIndexBits() != 32 && getIndexBits() != 64)
    return emitOpError("index_bits must be 32 or 64, got ") << getIndexBits();
  if (!getFunctionType().getResults().empty())
    return emitOpError("a tile program has no results");
  int64_t extra = getExtraWarps().value_or(0);
  if (extra < 0 || warps + extra > 32)
    return emitOpError("a block has at most 32 warps, got ") << warps + extra;
  int64_t cluster = getCluster().value_or(1);
  if (cluster < 1 || cluster > 16)
    return emitOpError("a cluster has at most 16 blocks, got ") << cluster;
  if (getResident().value_or(1) < 1)
    return emitOpError("'resident' must be positive, got ") << *getResident();
  int64_t together = getTogether().value_or(1);
  if (together < 1 || together > kMaxTogether)
    return emitOpError("at most ")
           << kMaxTogether << " blocks wait for each other, got " << together;
  if (together > 1 && cluster > 1)
    return emitOpError("blocks that wait for each other are no cluster");
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Checks that a tile has a power-of-two shape that its layout agrees with.
static LogicalResult verifyTile(Operation *op, Type type) {
  for (int64_t size : getTileShape(type))
    if (ShapedType::isDynamic(size) || !llvm::isPowerOf2_64(size))
      return op->emitOpError("tile sizes must be static powers of two, got ")
             << type;
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return success();
  ArrayRef<int64_t> shape = getTileShape(type);
  if (layout.getLinear().rank() != shape.size())
    return op->emitOpError("layout has another rank than the tile ") << type;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (layout.getLinear().dimSize(dim) != size)
      return op->emitOpError("layout covers size ")
             << layout.getLinear().dimSize(dim) << " along dimension " << dim
             << " of " << type;
  return success();
}

LogicalResult MakeViewOp::verify() {
  if (getType().getNumDynamicDims() != static_cast<int64_t>(getSizes().size()))
    return emitOpError("expects one size for each dynamic dimension of ")
           << getType();
  if (std::optional<AffineMap> shape = getShape())
    if (static_cast<int64_t>(shape->getNumResults()) != getType().getRank())
      return emitOpError("'shape' has ")
             << shape->getNumResults() << " results, the view has rank "
             << getType().getRank();
  return success();
}

/// Checks the addressing that loads and stores share.
static LogicalResult verifyAccess(Operation *op, Type tile, ViewType view,
                                  AffineMap map, size_t numSymbols,
                                  ArrayRef<bool> checked) {
  if (failed(verifyTile(op, tile)))
    return failure();
  if (map.getNumDims() != getTileShape(tile).size())
    return op->emitOpError("map has ")
           << map.getNumDims() << " dimensions, the tile has rank "
           << getTileShape(tile).size();
  if (static_cast<int64_t>(map.getNumResults()) != view.getRank())
    return op->emitOpError("map has ")
           << map.getNumResults() << " results, the view has rank "
           << view.getRank();
  if (map.getNumSymbols() != numSymbols)
    return op->emitOpError("map has ")
           << map.getNumSymbols() << " symbols, got " << numSymbols;
  if (static_cast<int64_t>(checked.size()) != view.getRank())
    return op->emitOpError(
        "expects one 'checked' flag for each view dimension");
  if (getTileElementType(tile) != view.getElementType())
    return op->emitOpError("tile and view differ in element type");
  return success();
}

LogicalResult LoadOp::verify() {
  for (Value indices : getIndices())
    if (getTileShape(indices.getType()) != getTileShape(getType()))
      return emitOpError("index tiles must have the result's shape");
  return verifyAccess(*this, getType(), getView().getType(), getMap(),
                      getSymbols().size() + getIndices().size(), getChecked());
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getValue().getType(), getView().getType(),
                      getMap(), getSymbols().size(), getChecked());
}

LogicalResult IndexOp::verify() {
  if (getMap().getNumResults() != 1)
    return emitOpError("expects a map with one result");
  if (getMap().getNumDims() != getTileShape(getType()).size())
    return emitOpError("map and result differ in rank");
  if (getMap().getNumSymbols() != getSymbols().size())
    return emitOpError("map has ") << getMap().getNumSymbols()
                                   << " symbols, got " << getSymbols().size();
  if (!isa<IndexType, FloatType>(getTileElementType(getType())))
    return emitOpError("result elements must be of index or float type");
  return verifyTile(*this, getType());
}

LogicalResult SplatOp::verify() {
  if (getValue().getType() != getTileElementType(getType()))
    return emitOpError("scalar and tile differ in element type");
  return verifyTile(*this, getType());
}

LogicalResult BroadcastOp::verify() {
  auto source = cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getType());
  if (source.getElementType() != result.getElementType())
    return emitOpError("operand and result differ in element type");
  if (static_cast<int64_t>(getDims().size()) != source.getRank())
    return emitOpError(
        "expects one entry of 'dims' for each operand dimension");
  int64_t last = -1;
  for (auto [size, dim] : llvm::zip(source.getShape(), getDims())) {
    if (dim <= last || dim >= result.getRank())
      return emitOpError("'dims' must increase within the result's rank");
    if (size != result.getDimSize(dim))
      return emitOpError("operand size ")
             << size << " differs from result size " << result.getDimSize(dim)
             << " of dimension " << dim;
    last = dim;
  }
  return verifyTile(*this, result);
}

/// Checks the region that combines two states of one value per operand.
static LogicalResult verifyCombiner(Operation *op, Region &combiner,
                                    ValueRange inputs) {
  Block &block = combiner.front();
  if (block.getNumArguments() != 2 * inputs.size())
    return op->emitOpError("combiner expects two arguments for each operand");
  for (auto [i, input] : llvm::enumerate(inputs)) {
    Type element = getTileElementType(input.getType());
    if (block.getArgument(i).getType() != element ||
        block.getArgument(i + inputs.size()).getType() != element)
      return op->emitOpError("combiner arguments must be the element types");
  }
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield || yield.getValues().size() != inputs.size())
    return op->emitOpError("combiner must yield one value for each operand");
  for (auto [value, input] : llvm::zip(yield.getValues(), inputs))
    if (value.getType() != getTileElementType(input.getType()))
      return op->emitOpError("combiner yields another type than its operand's");
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getInputs().empty())
    return emitOpError("expects at least one operand");
  if (getInputs().size() != getNumResults())
    return emitOpError("expects one result for each operand");
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  int64_t dim = getDim();
  if (dim < 0 || dim >= first.getRank())
    return emitOpError("dimension ") << dim << " is outside the tile's rank";
  SmallVector<int64_t> reduced(first.getShape());
  if (getWithinWarp()) {
    // How many warps share a row is the layout's business.
    if (auto result = dyn_cast<RankedTensorType>(getResult(0).getType()))
      if (result.getRank() == first.getRank())
        reduced[dim] = result.getDimSize(dim);
  } else {
    reduced.erase(reduced.begin() + dim);
  }
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (getTileShape(input.getType()) != first.getShape())
      return emitOpError("operands must agree in shape");
    Type element = getTileElementType(input.getType());
    if (getTileShape(getResult(i).getType()) != ArrayRef<int64_t>(reduced) ||
        getTileElementType(getResult(i).getType()) != element)
      return emitOpError("result ") << i << " does not match its operand";
  }
  if (failed(verifyCombiner(*this, getCombiner(), getInputs())))
    return failure();
  return verifyTile(*this, first);
}

LogicalResult ScanOp::verify() {
  size_t numStates = getInputs().size();
  if (numStates == 0)
    return emitOpError("expects at least one operand");
  if (getResults().size() != numStates)
    return emitOpError("expects a result and a total for each operand");
  if (!getInits().empty() && getInits().size() != numStates)
    return emitOpError("expects an initial value for each operand, or none");
  if (getExclusive() && getInits().empty())
    return emitOpError("an exclusive scan needs initial values");
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  int64_t dim = getDim();
  if (dim < 0 || dim >= first.getRank())
    return emitOpError("dimension ") << dim << " is outside the tile's rank";
  SmallVector<int64_t> outer(first.getShape());
  if (std::optional<int64_t> parts = getParts()) {
    if (*parts < 1 || first.getDimSize(dim) % *parts != 0 ||
        !llvm::isPowerOf2_64(*parts))
      return emitOpError("dimension ")
             << dim << " has no " << *parts << " parts, a power of two of them";
    outer[dim] = *parts;
  } else {
    outer.erase(outer.begin() + dim);
  }
  auto isOuter = [&](Type type, Type element) {
    return getTileShape(type) == ArrayRef<int64_t>(outer) &&
           getTileElementType(type) == element;
  };
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (getTileShape(input.getType()) != first.getShape())
      return emitOpError("operands must agree in shape");
    Type element = getTileElementType(input.getType());
    if (getResults()[i].getType() != input.getType())
      return emitOpError("result ") << i << " does not match its operand";
    if (!isOuter(getTotals()[i].getType(), element))
      return emitOpError("total ") << i << " does not match its operand";
    if (!getInits().empty() && !isOuter(getInits()[i].getType(), element))
      return emitOpError("initial value ")
             << i << " does not match its operand";
  }
  if (failed(verifyCombiner(*this, getCombiner(), getInputs())))
    return failure();
  return verifyTile(*this, first);
}

LogicalResult DotOp::verify() {
  auto a = getTileShape(getA().getType());
  auto b = getTileShape(getB().getType());
  auto c = getTileShape(getAcc().getType());
  if (a.size() != 2 || b.size() != 2 || c.size() < 2 || c.size() > 3)
    return emitOpError("operands must have rank 2");
  if (c.size() == 3) {
    if (a[1] % c[0] != 0)
      return emitOpError("a depth of ")
             << a[1] << " has no " << c[0] << " equal parts";
    c = c.drop_front();
  }
  if (a[1] != b[1] || a[0] != c[0] || b[0] != c[1])
    return emitOpError("shapes do not multiply: ")
           << getA().getType() << " by " << getB().getType() << " into "
           << getAcc().getType();
  Type element = getTileElementType(getA().getType());
  Type other = getTileElementType(getB().getType());
  if (!areFactorTypes(element, other))
    return emitOpError("operands differ in element type");
  if (getTf32() && !element.isF32())
    return emitOpError("'tf32' is for f32 operands");
  return success();
}

LogicalResult RepeatOp::verify() {
  auto source = cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getType());
  int64_t dim = getDim();
  if (source.getElementType() != result.getElementType())
    return emitOpError("operand and result differ in element type");
  if (source.getRank() != result.getRank() || dim < 0 ||
      dim >= result.getRank())
    return emitOpError("operand and result must have the same rank, and "
                       "dimension ")
           << dim;
  for (int64_t i = 0; i < result.getRank(); ++i)
    if (i == dim ? result.getDimSize(i) % source.getDimSize(i) != 0
                 : result.getDimSize(i) != source.getDimSize(i))
      return emitOpError("does not repeat ")
             << source << " along dimension " << dim << " to " << result;
  if (failed(verifyTile(*this, source)))
    return failure();
  return verifyTile(*this, result);
}

unsigned RepeatOp::getLog2Factor() {
  return llvm::Log2_64(getTileShape(getType())[getDim()] /
                       getTileShape(getValue().getType())[getDim()]);
}

LogicalResult StackOp::verify() {
  if (getValues().empty())
    return emitOpError("needs operands");
  auto source = cast<RankedTensorType>(getValues().front().getType());
  auto result = cast<RankedTensorType>(getType());
  SmallVector<int64_t> shape(source.getShape());
  shape.push_back(static_cast<int64_t>(getValues().size()));
  if (result.getShape() != ArrayRef<int64_t>(shape) ||
      source.getElementType() != result.getElementType())
    return emitOpError("result must have the operands along a last dimension");
  if (failed(verifyTile(*this, source)) || failed(verifyTile(*this, result)))
    return failure();
  LayoutAttr from = getLayout(source), to = getLayout(result);
  if (from && to &&
      from.getLinear().expandDim(source.getRank(), shape.back()) !=
          to.getLinear())
    return emitOpError("result's layout is not the operands', with further "
                       "registers along the last dimension");
  return success();
}

LogicalResult ReshapeOp::verify() {
  auto source = cast<RankedTensorType>(getValue().getType());
  auto result = cast<RankedTensorType>(getType());
  if (source.getElementType() != result.getElementType())
    return emitOpError("operand and result differ in element type");
  if (source.getNumElements() != result.getNumElements())
    return emitOpError("operand and result differ in number of elements");
  if (failed(verifyTile(*this, source)) || failed(verifyTile(*this, result)))
    return failure();
  LayoutAttr from = getLayout(source), to = getLayout(result);
  if (from && to &&
      from.getLinear().reshape(result.getShape()) != to.getLinear())
    return emitOpError("result's layout is not the operand's, reshaped");
  return success();
}

LogicalResult ExchangeOp::verify() {
  if (failed(verifyTile(*this, cast<RankedTensorType>(getType()))))
    return failure();
  ArrayRef<int64_t> shape = getTileShape(getType());
  int64_t dim = getDim(), mask = getMask();
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    return emitOpError() << "has no dimension " << dim;
  if (mask <= 0 || mask >= shape[dim])
    return emitOpError() << "mask " << mask << " leaves the " << shape[dim]
                         << " elements along dimension " << dim;
  return success();
}

OpFoldResult ExchangeOp::fold(FoldAdaptor) {
  if (getValue().getDefiningOp<SplatOp>())
    return getValue();
  auto inner = getValue().getDefiningOp<ExchangeOp>();
  if (!inner || inner.getDim() != getDim())
    return {};
  if (inner.getMask() == getMask())
    return inner.getValue();
  setMask(inner.getMask() ^ getMask());
  getValueMutable().assign(inner.getValue());
  return getResult();
}

/// True when the elements of a buffer lie one behind the other.
static bool isInOrder(BufferType type) {
  const SharedLayout &layout = type.getLayout().getShared();
  return layout == SharedLayout::linear(type.getShape(), layout.elementBytes());
}

LogicalResult LocalElementOp::verify() {
  BufferType type = getBuffer().getType();
  if (type.getShape().size() != 1 || !isInOrder(type))
    return emitOpError("takes a buffer of one dimension in the order of "
                       "numbers, got ")
           << type;
  return success();
}

/// Flags that one operation lists.
static constexpr int64_t kLeastFlags = 128, kMostFlags = 8192;

LogicalResult ListFlagsOp::verify() {
  BufferType flags = getFlags().getType(), list = getList().getType();
  if (flags.getShape().size() != 1 || !flags.getElementType().isInteger(8) ||
      flags.getShape().front() < kLeastFlags ||
      flags.getShape().front() > kMostFlags)
    return emitOpError("takes 128 to 8192 bytes of flags, got ") << flags;
  if (list.getShape() != flags.getShape() ||
      !list.getElementType().isInteger(32))
    return emitOpError("takes a list of as many i32 as there are flags, got ")
           << list;
  for (BufferType type : {flags, list})
    if (!isInOrder(type))
      return emitOpError("takes buffers without gaps in the order of numbers, "
                         "got ")
             << type;
  return success();
}

LogicalResult CopyStartOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (buffer.getElementType() != getView().getType().getElementType())
    return emitOpError("buffer and view differ in element type");
  return verifyAccess(
      *this,
      getTileType(buffer.getShape(), buffer.getElementType(), getLayout()),
      getView().getType(), getMap(), getSymbols().size(), getChecked());
}

int64_t AllocOp::getStageBytes() {
  const SharedLayout &layout = getType().getLayout().getShared();
  return llvm::alignTo(layout.sizeInBytes(), layout.alignment());
}

LogicalResult ConvertLayoutOp::verify() {
  if (getTileShape(getValue().getType()) != getTileShape(getType()) ||
      getTileElementType(getValue().getType()) != getTileElementType(getType()))
    return emitOpError("changes more than the layout");
  return verifyTile(*this, getType());
}

LogicalResult CropOp::verify() {
  ArrayRef<int64_t> shape = getTileShape(getType());
  if (getSizes().size() != shape.size())
    return emitOpError("has a size for each dimension");
  for (auto [size, whole] : llvm::zip_equal(getSizes(), shape))
    if (size < 1 || size > whole)
      return emitOpError("size ") << size << " is not one of 1 to " << whole;
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getValue().getType() == getType())
    return getValue();
  if (auto inner = getValue().getDefiningOp<ConvertLayoutOp>())
    if (inner.getValue().getType() == getType())
      return inner.getValue();
  return {};
}
