//===- LowerMemory.cpp - Loads and stores of one thread -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of loads and stores of global memory:
// which registers one instruction moves, where, and when.
//
//===----------------------------------------------------------------------===//

#include "AccessPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::HwDim;
using tile::LinearLayout;

//===----------------------------------------------------------------------===//
// Affine expressions
//===----------------------------------------------------------------------===//

Value ProgramLowering::expand(AffineExpr expr, ArrayRef<Value> dims,
                              ArrayRef<Value> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constantIndex(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expand(binary.getLHS(), dims, symbols);
  Value rhs = expand(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mod: {
    // The remainder of Euclid: a negative coordinate, outside the view, must
    // not become one inside it.
    if (isNonNegative(binary.getLHS()))
      return arith::RemUIOp::create(builder, loc, lhs, rhs);
    Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    Value multiple = arith::MulIOp::create(builder, loc, quotient, rhs);
    return arith::SubIOp::create(builder, loc, lhs, multiple);
  }
  case AffineExprKind::FloorDiv:
    if (isNonNegative(binary.getLHS()))
      return arith::DivUIOp::create(builder, loc, lhs, rhs);
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  default:
    if (isNonNegative(binary.getLHS()))
      return arith::CeilDivUIOp::create(builder, loc, lhs, rhs);
    return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
  }
}

bool ProgramLowering::isNonNegative(AffineExpr expr) {
  // Coordinates within tiles, offsets of tiles and sizes are not negative.
  bool natural = true;
  expr.walk([&](AffineExpr part) {
    if (auto constant = dyn_cast<AffineConstantExpr>(part))
      natural &= constant.getValue() >= 0;
  });
  return natural;
}

/// The coefficient of each dimension, or none when the expression is not
/// linear in the dimensions.
static std::optional<SmallVector<int64_t>> coefficients(AffineExpr expr,
                                                        unsigned numDims) {
  SmallVector<int64_t> result(numDims, 0);
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    result[dim.getPosition()] = 1;
    return result;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return result;
  auto lhs = coefficients(binary.getLHS(), numDims);
  auto rhs = coefficients(binary.getRHS(), numDims);
  if (!lhs || !rhs)
    return std::nullopt;
  auto moves = [](ArrayRef<int64_t> values) {
    return llvm::any_of(values, [](int64_t value) { return value != 0; });
  };
  if (expr.getKind() == AffineExprKind::Add) {
    for (unsigned i = 0; i < numDims; ++i)
      result[i] = (*lhs)[i] + (*rhs)[i];
    return result;
  }
  if (!moves(*lhs) && !moves(*rhs))
    return result;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !constant)
    return std::nullopt;
  for (unsigned i = 0; i < numDims; ++i)
    result[i] = (*lhs)[i] * constant.getValue();
  return result;
}

//===----------------------------------------------------------------------===//
// Access plans
//===----------------------------------------------------------------------===//

/// True when the parts of a coordinate that registers and threads contribute
/// have no bit in common, so that their XOR is their sum.
static bool partsAreDisjoint(const LinearLayout &layout, unsigned dim) {
  int32_t registers = 0, threads = 0;
  for (unsigned bit = 0; bit < layout.numBits(HwDim::Register); ++bit)
    registers |= layout.basis(HwDim::Register, bit)[dim];
  for (HwDim hw : {HwDim::Lane, HwDim::Warp})
    for (unsigned bit = 0; bit < layout.numBits(hw); ++bit)
      threads |= layout.basis(hw, bit)[dim];
  return (registers & threads) == 0;
}

ProgramLowering::AccessPlan
ProgramLowering::planAccess(const tile::Access &access, ValueRange indices) {
  AccessPlan plan{access};
  auto view = access.view.getDefiningOp<tile::MakeViewOp>();
  tile::ViewType type = view.getType();
  plan.base = getScalar(view.getBase());
  unsigned dynamic = 0;
  for (int64_t size : type.getShape())
    plan.sizes.push_back(ShapedType::isDynamic(size)
                             ? getScalar(view.getSizes()[dynamic++])
                             : constantIndex(size));
  plan.staticStrides = tile::getViewStrides(type);
  plan.strides.resize(type.getRank());
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    if (!ShapedType::isDynamic(plan.staticStrides[dim]))
      plan.strides[dim] = constantIndex(plan.staticStrides[dim]);
    else
      plan.strides[dim] = arith::MulIOp::create(
          builder, loc, plan.strides[dim + 1], plan.sizes[dim + 1]);
  }
  for (Value symbol : access.symbols)
    plan.symbols.push_back(getScalar(symbol));
  for (Value index : indices)
    plan.indices.push_back(get(index));

  unsigned rank = tile::getTileShape(access.tile).size();
  if (tile::LayoutAttr attr = tile::getLayout(access.tile)) {
    plan.layout = &attr.getLinear();
    if (indices.empty())
      for (unsigned dim = 0; dim < rank; ++dim) {
        auto bits = plan.layout->vectorRegisterBits(dim);
        bits.resize(llvm::Log2_64(
            tile::getVectorWidth(access, dim, int64_t(1) << bits.size())));
        if (bits.size() <= plan.vectorBits.size())
          continue;
        plan.vectorBits.assign(bits.begin(), bits.end());
        plan.isDivided = tile::mayDivide(access, dim, plan.width());
      }
  }

  // Coordinates of register 0, and how registers move them.
  SmallVector<Value> dims;
  bool disjoint = true;
  for (unsigned dim = 0; dim < rank; ++dim) {
    dims.push_back(threadCoord(*plan.layout, dim));
    disjoint &= partsAreDisjoint(*plan.layout, dim);
  }
  for (auto [dim, expr] : llvm::enumerate(access.map.getResults())) {
    bool gathers = false;
    expr.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        gathers |= symbol.getPosition() >= plan.symbols.size();
    });
    std::optional<SmallVector<int64_t>> linear;
    if (disjoint && !gathers)
      linear = coefficients(expr, rank);
    plan.linear.push_back(linear);
    AffineExpr first = expr;
    int64_t constant = 0;
    if (auto whole = dyn_cast<AffineConstantExpr>(first); linear && whole) {
      constant = whole.getValue();
      first = builder.getAffineConstantExpr(0);
    } else if (auto sum = dyn_cast<AffineBinaryOpExpr>(first);
               linear && sum && sum.getKind() == AffineExprKind::Add) {
      if (auto last = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
        constant = last.getValue();
        first = sum.getLHS();
      }
    }
    plan.constants.push_back(constant);
    plan.firstCoordinates.push_back(linear ? expand(first, dims, plan.symbols)
                                           : Value());
  }
  for (auto [coordinate, stride] :
       llvm::zip(plan.firstCoordinates, plan.strides)) {
    if (!coordinate)
      continue;
    Value part = arith::MulIOp::create(builder, loc, coordinate, stride);
    plan.firstOffset =
        plan.firstOffset
            ? arith::AddIOp::create(builder, loc, plan.firstOffset, part)
            : part;
  }
  return plan;
}

/// An offset in elements, a constant to be added to it, and the condition under
/// which there is something (null: always).
struct ProgramLowering::Place {
  Value offset;
  int64_t constant = 0;
  Value condition;
};

ProgramLowering::Place ProgramLowering::placeOf(AccessPlan &plan,
                                                unsigned reg) {
  tile::Coords registerPart = plan.registerCoords(reg);
  Value offset = plan.firstOffset;
  int64_t constantPart = 0;
  Value condition;
  auto addOffset = [&](Value part) {
    offset = offset ? arith::AddIOp::create(builder, loc, offset, part) : part;
  };
  for (auto [dim, expr] : llvm::enumerate(plan.access.map.getResults())) {
    Value coordinateValue;
    if (plan.linear[dim]) {
      int64_t step = plan.constants[dim];
      for (auto [coefficient, part] :
           llvm::zip(*plan.linear[dim], registerPart))
        step += coefficient * part;
      coordinateValue = plan.firstCoordinates[dim];
      if (step != 0) {
        Value stepValue = constantIndex(step);
        if (plan.access.checked[dim])
          coordinateValue =
              arith::AddIOp::create(builder, loc, coordinateValue, stepValue);
        if (ShapedType::isDynamic(plan.staticStrides[dim]))
          addOffset(arith::MulIOp::create(builder, loc, stepValue,
                                          plan.strides[dim]));
        else
          constantPart += step * plan.staticStrides[dim];
      }
    } else {
      SmallVector<Value> dims;
      for (unsigned i = 0; i < registerPart.size(); ++i)
        dims.push_back(coordinate(*plan.layout, i, registerPart[i]));
      SmallVector<Value> symbols(plan.symbols);
      for (const Scalars &index : plan.indices)
        symbols.push_back(index.size() == 1 ? index.front() : index[reg]);
      coordinateValue = expand(expr, dims, symbols);
      addOffset(arith::MulIOp::create(builder, loc, coordinateValue,
                                      plan.strides[dim]));
    }
    if (plan.access.checked[dim]) {
      // Unsigned, so that a negative coordinate is out of bounds too.
      Value inside =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                coordinateValue, plan.sizes[dim]);
      condition = condition
                      ? arith::AndIOp::create(builder, loc, condition, inside)
                      : inside;
    }
  }
  if (!offset)
    offset = constantIndex(0);
  return {offset, constantPart, condition};
}

std::pair<Value, Value> ProgramLowering::addressOf(AccessPlan &plan,
                                                   unsigned reg) {
  return addressOf(plan, placeOf(plan, reg));
}

/// True when `view` surely has an element number `constant`, and any offset
/// that this much is added to for an element's fits an index of 32 bits.
static bool staysInside(tile::ViewType view, int64_t constant) {
  int64_t elements = 1;
  for (int64_t size : view.getShape())
    if (ShapedType::isDynamic(size) ||
        llvm::MulOverflow(elements, size, elements))
      return false;
  return constant < elements &&
         elements <= std::numeric_limits<int32_t>::max() / 2;
}

std::pair<Value, Value> ProgramLowering::addressOf(const AccessPlan &plan,
                                                   const Place &place) {
  auto [offset, constantPart, condition] = place;
  Type element = memoryType(plan.access.view.getType().getElementType());
  auto pointer = cast<LLVM::LLVMPointerType>(plan.base.getType());
  // Without the constants of its map an offset may not fit an index: they are
  // added as indices are, which wrap, unless the tensor is surely small enough.
  bool shifted = llvm::any_of(plan.constants, [](int64_t c) { return c != 0; });
  // Where there is nothing, the same is read of the tensor's beginning, so that
  // accesses of one condition have one offset.
  int64_t nothing = std::max<int64_t>(-constantPart, 0);
  bool keeps = staysInside(plan.access.view.getType(), constantPart + nothing);
  if (constantPart && !keeps && (condition || shifted)) {
    offset = arith::AddIOp::create(builder, loc, offset,
                                   constantIndex(constantPart));
    constantPart = 0;
    nothing = 0;
  }
  if (condition)
    offset = arith::SelectOp::create(builder, loc, condition, offset,
                                     constantIndex(nothing));
  Value address = LLVM::GEPOp::create(builder, loc, pointer, element, plan.base,
                                      ArrayRef<LLVM::GEPArg>{offset});
  // Constants last: they become immediate offsets of the instruction.
  if (constantPart)
    address = LLVM::GEPOp::create(
        builder, loc, pointer, element, address,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(constantPart)});
  return {address, condition};
}

//===----------------------------------------------------------------------===//
// Values in memory
//===----------------------------------------------------------------------===//

Value ProgramLowering::fromMemory(Value value, Type type) {
  if (type.isInteger(1)) {
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 zero);
  }
  if (value.getType() != type)
    return arith::BitcastOp::create(builder, loc, type, value);
  return value;
}

Value ProgramLowering::toMemory(Value value) {
  Type type = memoryType(value.getType());
  if (value.getType().isInteger(1))
    return arith::ExtUIOp::create(builder, loc, type, value);
  if (value.getType() != type)
    return arith::BitcastOp::create(builder, loc, type, value);
  return value;
}

Value ProgramLowering::extractElement(Value vector, unsigned position) {
  Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                         builder.getI32IntegerAttr(position));
  return LLVM::ExtractElementOp::create(builder, loc, vector, index);
}

Value ProgramLowering::buildVector(ArrayRef<Value> elements) {
  // Pairs are converted to a narrower float by one instruction, but LLVM does
  // not put single conversions together.
  SmallVector<Value> wide;
  for (Value element : elements) {
    auto narrow = element.getDefiningOp<arith::TruncFOp>();
    if (!narrow || !narrow.getIn().getType().isF32() ||
        narrow.getType().getIntOrFloatBitWidth() != 16 ||
        narrow.getRoundingmodeAttr())
      break;
    wide.push_back(narrow.getIn());
  }
  if (elements.size() > 1 && wide.size() == elements.size()) {
    auto type = VectorType::get(elements.size(), elements.front().getType());
    return arith::TruncFOp::create(builder, loc, type, buildVector(wide));
  }
  auto type = VectorType::get(elements.size(), elements.front().getType());
  Value vector = LLVM::PoisonOp::create(builder, loc, type);
  for (auto [i, element] : llvm::enumerate(elements)) {
    Value index = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                           builder.getI32IntegerAttr(i));
    vector =
        LLVM::InsertElementOp::create(builder, loc, vector, element, index);
  }
  return vector;
}

SmallVector<Value> ProgramLowering::loadWhere(const AccessPlan &plan,
                                              Place place, unsigned words) {
  Type element = memoryType(plan.access.view.getType().getElementType());
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  // Where the condition holds the sum is in the tensor: without a constant that
  // is small beside the range of an index, it is an index still.
  if (std::abs(place.constant) >= int64_t(1) << 28) {
    place.offset = arith::AddIOp::create(builder, loc, place.offset,
                                         constantIndex(place.constant));
    place.constant = 0;
  }
  auto pointer = cast<LLVM::LLVMPointerType>(plan.base.getType());
  Value address = LLVM::GEPOp::create(builder, loc, pointer, element, plan.base,
                                      ArrayRef<LLVM::GEPArg>{place.offset});
  Value displacement = LLVM::ConstantOp::create(
      builder, loc, builder.getI32Type(),
      builder.getI32IntegerAttr(static_cast<int32_t>(place.constant * bytes)));
  std::string text, results, constraints;
  llvm::raw_string_ostream os(text);
  for (unsigned i = 0; i < words; ++i) {
    os << "mov.b32 $" << i << ", 0; ";
    results += (i ? ", $" : "$") + std::to_string(i);
    constraints += "=&r,";
  }
  os << "@$" << words + 1 << " ld.global.nc.";
  if (words > 1)
    os << "v" << words << ".b32 {" << results << "}";
  else
    os << "b32 " << results;
  os << ", [$" << words << "+$" << words + 2 << "];";
  SmallVector<Type> types(words, builder.getI32Type());
  Type type =
      words == 1
          ? types.front()
          : Type(LLVM::LLVMStructType::getLiteral(builder.getContext(), types));
  Value loaded = pureAsm(type, {address, place.condition, displacement}, text,
                         constraints + "l,b,n");
  if (words == 1)
    return {loaded};
  SmallVector<Value> values;
  for (unsigned i = 0; i < words; ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, loc, loaded, i));
  return values;
}

Value ProgramLowering::takeWhole(AccessPlan &plan, unsigned reg, Place &place) {
  Value last = placeOf(plan, plan.groupOf(reg).back()).condition;
  Value isDivided = arith::XOrIOp::create(builder, loc, place.condition, last);
  place.condition = arith::AndIOp::create(builder, loc, place.condition, last);
  return isDivided;
}

SmallVector<Value> ProgramLowering::loadElements(AccessPlan &plan, unsigned reg,
                                                 Type element) {
  Type stored = memoryType(element);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(stored));
  SmallVector<Value> elements;
  for (unsigned member : plan.groupOf(reg)) {
    auto [address, condition] = addressOf(plan, member);
    Value loaded = LLVM::LoadOp::create(builder, loc, stored, address);
    elements.push_back(
        arith::SelectOp::create(builder, loc, condition, loaded, zero));
  }
  return elements;
}

SmallVector<Value>
ProgramLowering::divide(Value isDivided, ValueRange whole,
                        function_ref<SmallVector<Value>()> buildParts) {
  if (!isDivided)
    return llvm::to_vector(whole);
  auto branch = scf::IfOp::create(builder, loc, whole.getTypes(), isDivided,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, buildParts());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, whole);
  return llvm::to_vector_of<Value>(branch.getResults());
}

void ProgramLowering::loadInWords(AccessPlan &plan, const Place &place,
                                  Value isDivided, unsigned reg, Type element,
                                  Scalars &results) {
  Type stored = memoryType(element);
  unsigned inWord = 32 / stored.getIntOrFloatBitWidth();
  SmallVector<Value> words = loadWhere(plan, place, plan.width() / inWord);
  words = divide(isDivided, words, [&] {
    auto type = VectorType::get(words.size(), builder.getI32Type());
    Value packed = LLVM::BitcastOp::create(
        builder, loc, type, buildVector(loadElements(plan, reg, element)));
    SmallVector<Value> parts;
    for (unsigned i = 0; i < words.size(); ++i)
      parts.push_back(extractElement(packed, i));
    return parts;
  });
  for (auto [i, member] : llvm::enumerate(plan.groupOf(reg))) {
    Value value = words[i / inWord];
    if (inWord > 1)
      value = extractElement(
          LLVM::BitcastOp::create(builder, loc, VectorType::get(inWord, stored),
                                  value),
          i % inWord);
    else if (value.getType() != stored)
      value = LLVM::BitcastOp::create(builder, loc, stored, value);
    results[member] = fromMemory(value, element);
  }
}

void ProgramLowering::loadVector(AccessPlan &plan, const Place &place,
                                 Value isDivided, unsigned reg, Type element,
                                 bool readOnly, Scalars &results) {
  Type stored = memoryType(element);
  unsigned bytes = std::max(stored.getIntOrFloatBitWidth() / 8, 1u);
  unsigned width = plan.width();
  auto [address, condition] = addressOf(plan, place);
  Type type = width == 1 ? stored : Type(VectorType::get(width, stored));
  auto load = LLVM::LoadOp::create(builder, loc, type, address,
                                   /*alignment=*/width * bytes);
  load.setInvariant(readOnly);
  Value loaded = load;
  // Zeros instead of what is outside; for pairs of 16 bits at once.
  bool inPairs = condition && width > 1 && isa<FloatType>(stored) &&
                 stored.getIntOrFloatBitWidth() == 16;
  if (inPairs) {
    Value zero = LLVM::ZeroOp::create(builder, loc, type);
    loaded = arith::SelectOp::create(builder, loc, condition, loaded, zero);
  }
  SmallVector<Value> elements;
  for (unsigned i = 0; i < width; ++i) {
    Value value = width == 1 ? loaded : extractElement(loaded, i);
    value = fromMemory(value, element);
    if (condition && !inPairs) {
      Value zero =
          arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
      value = arith::SelectOp::create(builder, loc, condition, value, zero);
    }
    elements.push_back(value);
  }
  elements = divide(isDivided, elements, [&] {
    SmallVector<Value> parts = loadElements(plan, reg, element);
    for (Value &part : parts)
      part = fromMemory(part, element);
    return parts;
  });
  for (auto [member, value] : llvm::zip_equal(plan.groupOf(reg), elements))
    results[member] = value;
}

LogicalResult ProgramLowering::lowerLoad(tile::LoadOp op) {
  AccessPlan plan = planAccess(tile::Access::of(op), op.getIndices());
  Type element = tile::getTileElementType(op.getType());
  unsigned bytes =
      std::max(memoryType(element).getIntOrFloatBitWidth() / 8, 1u);
  unsigned count = numScalars(op.getType());
  unsigned vectorMask = 0;
  for (unsigned bit : plan.vectorBits)
    vectorMask |= 1u << bit;
  bool readOnly = !writtenViews.contains(op.getView());
  bool inWords = readOnly && bytes <= 4 && plan.width() * bytes >= 4;
  Scalars results(count);
  for (unsigned reg = 0; reg < count; ++reg) {
    if (reg & vectorMask)
      continue;
    Place place = placeOf(plan, reg);
    Value isDivided;
    if (plan.isDivided)
      isDivided = takeWhole(plan, reg, place);
    // What may be outside is loaded under its condition: no address is chosen
    // before, no value after.
    if (inWords && place.condition)
      loadInWords(plan, place, isDivided, reg, element, results);
    else
      loadVector(plan, place, isDivided, reg, element, readOnly, results);
  }
  values[op.getResult()] = results;
  return success();
}

/// Lets LLVM compute `value`, a vector of at least 32 bits, before the branch
/// around its store. It would move all arithmetic of one store under its
/// condition, and then hold in registers what several stores share.
Value ProgramLowering::keepBeforeBranch(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return value;
  int64_t bits = vector.getNumElements() * vector.getElementTypeBitWidth();
  if (bits % 32 != 0)
    return value;
  auto words = VectorType::get(bits / 32, builder.getI32Type());
  Value pieces = LLVM::BitcastOp::create(builder, loc, words, value);
  SmallVector<Value> kept;
  for (int64_t i = 0; i < bits / 32; ++i)
    kept.push_back(
        inlineAsm(builder.getI32Type(), extractElement(pieces, i), "", "=r,0"));
  return LLVM::BitcastOp::create(builder, loc, vector, buildVector(kept));
}

void ProgramLowering::storeDivided(AccessPlan &plan, unsigned reg,
                                   Value isDivided, ValueRange elements) {
  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, loc, isDivided,
                                  /*withElseRegion=*/false);
  for (auto [member, element] : llvm::zip(plan.groupOf(reg), elements)) {
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    auto [address, condition] = addressOf(plan, member);
    auto inside = scf::IfOp::create(builder, loc, condition,
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(inside.thenBlock());
    LLVM::StoreOp::create(builder, loc, element, address);
  }
}

LogicalResult ProgramLowering::lowerStore(tile::StoreOp op) {
  AccessPlan plan = planAccess(tile::Access::of(op), {});
  const Scalars &scalars = get(op.getValue());
  Type stored = memoryType(scalars.front().getType());
  unsigned bytes = std::max(stored.getIntOrFloatBitWidth() / 8, 1u);
  Value owner;
  unsigned skipped = 0;
  if (plan.layout) {
    owner = isOwner(*plan.layout);
    skipped = plan.layout->freeRegMask();
  } else {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    owner = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                  thread, zero);
  }
  for (unsigned bit : plan.vectorBits)
    skipped |= 1u << bit;
  bool inParts = (scalars.size() - 1 & ~skipped) != 0;
  for (unsigned reg = 0; reg < scalars.size(); ++reg) {
    if (reg & skipped)
      continue;
    Place place = placeOf(plan, reg);
    Value isDivided;
    if (plan.isDivided)
      isDivided = takeWhole(plan, reg, place);
    auto [address, condition] = addressOf(plan, place);
    auto whereOwned = [&](Value given) -> Value {
      return owner && given
                 ? arith::AndIOp::create(builder, loc, given, owner).getResult()
             : owner ? owner
                     : given;
    };
    condition = whereOwned(condition);
    SmallVector<Value> members;
    for (unsigned member : plan.groupOf(reg))
      members.push_back(toMemory(scalars[member]));
    Value value = members.size() == 1 ? members.front() : buildVector(members);
    if (condition && inParts)
      value = keepBeforeBranch(value);
    if (isDivided)
      storeDivided(plan, reg, whereOwned(isDivided), members);
    OpBuilder::InsertionGuard guard(builder);
    if (condition) {
      auto guarded = scf::IfOp::create(builder, loc, condition,
                                       /*withElseRegion=*/false);
      builder.setInsertionPointToStart(guarded.thenBlock());
    }
    LLVM::StoreOp::create(builder, loc, value, address,
                          /*alignment=*/plan.width() * bytes);
  }
  return success();
}
