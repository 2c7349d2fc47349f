//===- LowerMemory.cpp - Loads and stores of one thread -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the distribution of loads and stores of global memory.
//
//===----------------------------------------------------------------------===//

#include "AccessPlan.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::fusion;

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

namespace {
struct LoadLowering : public TileOpLowering<tile::LoadOp> {
  LogicalResult beginKernel(ProgramLowering &lowering) const override;
  LogicalResult lower(tile::LoadOp op,
                      ProgramLowering &lowering) const override;
};

/// The views that the program writes.
struct WrittenViews {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WrittenViews)
  DenseSet<Value> views;
};

/// Builds the loads of a tile.
class LoadEmitter : public OpEmitter {
public:
  LoadEmitter(ProgramLowering &lowering, tile::LoadOp op)
      : OpEmitter(lowering),
        plan(lowering, tile::Access::of(op), op.getIndices()),
        element(tile::getTileElementType(op.getType())),
        stored(memoryType(element)),
        readOnly(
            !lowering.getState<WrittenViews>().views.contains(op.getView())),
        results(lowering.numScalars(op.getType())) {}

  Scalars load();

private:
  using Place = AccessPlan::Place;

  /// What one access moves: words of 32 bits, or one narrower word.
  IntegerType getWordType() const;
  /// So many words from where `place` says; zeros where its condition fails.
  SmallVector<Value> loadWhere(Place place, unsigned words);
  /// The elements of this group as in memory, one by one; zeros out of bounds.
  SmallVector<Value> loadElements(unsigned reg);
  /// `whole`, or where `isDivided` holds, in a branch, what `buildParts`
  /// builds; a null condition never holds.
  SmallVector<Value> divide(Value isDivided, ValueRange whole,
                            function_ref<SmallVector<Value>()> buildParts);
  /// Loads the group of `reg` from `place`, zeros where that does not hold: by
  /// a predicate, or from another place to be replaced.
  void loadInWords(const Place &place, Value isDivided, unsigned reg);
  void loadVector(const Place &place, Value isDivided, unsigned reg);

  AccessPlan plan;
  Type element, stored;
  bool readOnly;
  Scalars results;
};
} // namespace

IntegerType LoadEmitter::getWordType() const {
  return builder.getIntegerType(
      std::min(32u, plan.width() * stored.getIntOrFloatBitWidth()));
}

SmallVector<Value> LoadEmitter::loadWhere(Place place, unsigned words) {
  IntegerType word = getWordType();
  // No register is narrower than 16 bits.
  IntegerType held = builder.getIntegerType(std::max(16u, word.getWidth()));
  std::string bits = std::to_string(word.getWidth());
  Type inMemory = plan.getStoredType();
  int64_t bytes = inMemory.getIntOrFloatBitWidth() / 8;
  // Where the condition holds the sum is in the tensor: without a constant that
  // is small beside the range of an index, it is an index still.
  if (std::abs(place.constant) >= int64_t(1) << 28) {
    place.offset = arith::AddIOp::create(builder, place.offset,
                                         builder.constantIndex(place.constant));
    place.constant = 0;
  }
  auto pointer = cast<LLVM::LLVMPointerType>(plan.getBase().getType());
  Value address =
      LLVM::GEPOp::create(builder, pointer, inMemory, plan.getBase(),
                          ArrayRef<LLVM::GEPArg>{place.offset});
  Value displacement = LLVM::ConstantOp::create(
      builder, builder.getI32Type(),
      builder.getI32IntegerAttr(static_cast<int32_t>(place.constant * bytes)));
  std::string text, results, constraints;
  llvm::raw_string_ostream os(text);
  for (unsigned i = 0; i < words; ++i) {
    os << "mov.b" << held.getWidth() << " $" << i << ", 0; ";
    results += (i ? ", $" : "$") + std::to_string(i);
    constraints += held.getWidth() == 32 ? "=&r," : "=&h,";
  }
  os << "@$" << words + 1 << " ld.global.nc.";
  if (words > 1)
    os << "v" << words << ".b" << bits << " {" << results << "}";
  else
    os << "b" << bits << " " << results;
  os << ", [$" << words << "+$" << words + 2 << "];";
  SmallVector<Type> types(words, held);
  Type type =
      words == 1
          ? types.front()
          : Type(LLVM::LLVMStructType::getLiteral(builder.getContext(), types));
  Value loaded = builder.pureAsm(type, {address, place.condition, displacement},
                                 text, constraints + "l,b,n");
  if (held != word)
    return {arith::TruncIOp::create(builder, word, loaded)};
  if (words == 1)
    return {loaded};
  SmallVector<Value> values;
  for (unsigned i = 0; i < words; ++i)
    values.push_back(LLVM::ExtractValueOp::create(builder, loaded, i));
  return values;
}

SmallVector<Value> LoadEmitter::loadElements(unsigned reg) {
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(stored));
  SmallVector<Value> elements;
  for (unsigned member : plan.groupOf(reg)) {
    auto [address, condition] = plan.getAddress(member);
    Value loaded = LLVM::LoadOp::create(builder, stored, address);
    elements.push_back(
        arith::SelectOp::create(builder, condition, loaded, zero));
  }
  return elements;
}

SmallVector<Value>
LoadEmitter::divide(Value isDivided, ValueRange whole,
                    function_ref<SmallVector<Value>()> buildParts) {
  if (!isDivided)
    return llvm::to_vector(whole);
  auto branch = scf::IfOp::create(builder, whole.getTypes(), isDivided,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, buildParts());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, whole);
  return llvm::to_vector_of<Value>(branch.getResults());
}

void LoadEmitter::loadInWords(const Place &place, Value isDivided,
                              unsigned reg) {
  IntegerType word = getWordType();
  unsigned inWord = word.getWidth() / stored.getIntOrFloatBitWidth();
  SmallVector<Value> words = loadWhere(place, plan.width() / inWord);
  words = divide(isDivided, words, [&] {
    auto type = VectorType::get(words.size(), word);
    Value packed = LLVM::BitcastOp::create(
        builder, type, builder.buildVector(loadElements(reg)));
    SmallVector<Value> parts;
    for (unsigned i = 0; i < words.size(); ++i)
      parts.push_back(builder.extractElement(packed, i));
    return parts;
  });
  for (auto [i, member] : llvm::enumerate(plan.groupOf(reg))) {
    Value value = words[i / inWord];
    if (inWord > 1)
      value = builder.extractElement(
          LLVM::BitcastOp::create(builder, VectorType::get(inWord, stored),
                                  value),
          i % inWord);
    else if (value.getType() != stored)
      value = LLVM::BitcastOp::create(builder, stored, value);
    results[member] = builder.fromMemory(value, element);
  }
}

void LoadEmitter::loadVector(const Place &place, Value isDivided,
                             unsigned reg) {
  unsigned bytes = std::max(stored.getIntOrFloatBitWidth() / 8, 1u);
  unsigned width = plan.width();
  auto [address, condition] = plan.getAddress(place);
  Type type = width == 1 ? stored : Type(VectorType::get(width, stored));
  auto load = LLVM::LoadOp::create(builder, type, address,
                                   /*alignment=*/width * bytes);
  load.setInvariant(readOnly);
  Value loaded = load;
  // Zeros instead of what is outside; for pairs of 16 bits at once.
  bool inPairs = condition && width > 1 && isa<FloatType>(stored) &&
                 stored.getIntOrFloatBitWidth() == 16;
  if (inPairs) {
    Value zero = LLVM::ZeroOp::create(builder, type);
    loaded = arith::SelectOp::create(builder, condition, loaded, zero);
  }
  SmallVector<Value> elements;
  for (unsigned i = 0; i < width; ++i) {
    Value value = width == 1 ? loaded : builder.extractElement(loaded, i);
    value = builder.fromMemory(value, element);
    if (condition && !inPairs) {
      Value zero =
          arith::ConstantOp::create(builder, builder.getZeroAttr(element));
      value = arith::SelectOp::create(builder, condition, value, zero);
    }
    elements.push_back(value);
  }
  elements = divide(isDivided, elements, [&] {
    SmallVector<Value> parts = loadElements(reg);
    for (Value &part : parts)
      part = builder.fromMemory(part, element);
    return parts;
  });
  for (auto [member, value] : llvm::zip_equal(plan.groupOf(reg), elements))
    results[member] = value;
}

Scalars LoadEmitter::load() {
  unsigned bytes = std::max(stored.getIntOrFloatBitWidth() / 8, 1u);
  bool inWords = readOnly && bytes <= 4;
  for (unsigned reg = 0; reg < results.size(); ++reg) {
    if (reg & plan.vectorMask())
      continue;
    Place place = plan.getPlace(reg);
    Value isDivided;
    if (plan.isDivided())
      isDivided = plan.takeWhole(reg, place);
    // What may be outside is loaded under its condition: no address is chosen
    // before, no value after.
    if (inWords && place.condition)
      loadInWords(place, isDivided, reg);
    else
      loadVector(place, isDivided, reg);
  }
  return std::move(results);
}

LogicalResult LoadLowering::beginKernel(ProgramLowering &lowering) const {
  auto &written = lowering.getState<WrittenViews>();
  lowering.getProgram().getBody().walk(
      [&](tile::StoreOp store) { written.views.insert(store.getView()); });
  return success();
}

LogicalResult LoadLowering::lower(tile::LoadOp op,
                                  ProgramLowering &lowering) const {
  lowering.set(op.getResult(), LoadEmitter(lowering, op).load());
  return success();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

namespace {
struct StoreLowering : public TileOpLowering<tile::StoreOp> {
  LogicalResult lower(tile::StoreOp op,
                      ProgramLowering &lowering) const override;
};

/// Builds the stores of a tile.
class StoreEmitter : public OpEmitter {
public:
  StoreEmitter(ProgramLowering &lowering, tile::StoreOp op)
      : OpEmitter(lowering), plan(lowering, tile::Access::of(op)),
        scalars(lowering.get(op.getValue())) {}

  void store();

private:
  /// `condition` in the thread that stores; null stands for true.
  Value whereOwned(Value condition);
  Value keepBeforeBranch(Value value);
  /// Stores the elements of a group of which a part is in bounds one by one.
  void storeDivided(unsigned reg, Value isDivided, ValueRange elements);

  AccessPlan plan;
  const Scalars &scalars;
  Value owner;
};
} // namespace

Value StoreEmitter::whereOwned(Value condition) {
  if (!owner || !condition)
    return owner ? owner : condition;
  return arith::AndIOp::create(builder, condition, owner);
}

/// Lets LLVM compute `value`, a vector of at least 32 bits, before the branch
/// around its store. It would move all arithmetic of one store under its
/// condition, and then hold in registers what several stores share.
Value StoreEmitter::keepBeforeBranch(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector)
    return value;
  int64_t bits = vector.getNumElements() * vector.getElementTypeBitWidth();
  if (bits % 32 != 0)
    return value;
  auto words = VectorType::get(bits / 32, builder.getI32Type());
  Value pieces = LLVM::BitcastOp::create(builder, words, value);
  SmallVector<Value> kept;
  for (int64_t i = 0; i < bits / 32; ++i)
    kept.push_back(builder.inlineAsm(
        builder.getI32Type(), builder.extractElement(pieces, i), "", "=r,0"));
  return LLVM::BitcastOp::create(builder, vector, builder.buildVector(kept));
}

void StoreEmitter::storeDivided(unsigned reg, Value isDivided,
                                ValueRange elements) {
  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, isDivided,
                                  /*withElseRegion=*/false);
  for (auto [member, element] : llvm::zip(plan.groupOf(reg), elements)) {
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
    auto [address, condition] = plan.getAddress(member);
    auto inside = scf::IfOp::create(builder, condition,
                                    /*withElseRegion=*/false);
    builder.setInsertionPointToStart(inside.thenBlock());
    LLVM::StoreOp::create(builder, element, address);
  }
}

void StoreEmitter::store() {
  Type stored = memoryType(scalars.front().getType());
  unsigned bytes = std::max(stored.getIntOrFloatBitWidth() / 8, 1u);
  unsigned skipped = plan.vectorMask();
  if (const tile::LinearLayout *layout = plan.getLayout()) {
    owner = threads.isOwner(*layout);
    skipped |= layout->freeMask(tile::HwDim::Register);
  } else {
    owner = threads.isFirst();
  }
  bool inParts = ((scalars.size() - 1) & ~skipped) != 0;
  for (unsigned reg = 0; reg < scalars.size(); ++reg) {
    if (reg & skipped)
      continue;
    AccessPlan::Place place = plan.getPlace(reg);
    Value isDivided;
    if (plan.isDivided())
      isDivided = plan.takeWhole(reg, place);
    auto [address, condition] = plan.getAddress(place);
    condition = whereOwned(condition);
    SmallVector<Value> members;
    for (unsigned member : plan.groupOf(reg))
      members.push_back(builder.toMemory(scalars[member]));
    Value value =
        members.size() == 1 ? members.front() : builder.buildVector(members);
    if (condition && inParts)
      value = keepBeforeBranch(value);
    if (isDivided)
      storeDivided(reg, whereOwned(isDivided), members);
    OpBuilder::InsertionGuard guard(builder);
    if (condition) {
      auto guarded = scf::IfOp::create(builder, condition,
                                       /*withElseRegion=*/false);
      builder.setInsertionPointToStart(guarded.thenBlock());
    }
    LLVM::StoreOp::create(builder, value, address,
                          /*alignment=*/plan.width() * bytes);
  }
}

LogicalResult StoreLowering::lower(tile::StoreOp op,
                                   ProgramLowering &lowering) const {
  StoreEmitter(lowering, op).store();
  return success();
}

void mlir::fusion::populateMemoryLowerings(LoweringSet &lowerings) {
  lowerings
      .add<NoCodeLowering<tile::MakeViewOp>, LoadLowering, StoreLowering>();
}
