//===- LowerMma.cpp - Products in flight on tensor cores ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion_tile.mma_async and fusion_tile.mma_wait by wgmma.
// Fences and waits are inline PTX that takes the registers in question and
// gives them back: LLVM knows nothing of registers that an instruction in
// flight uses, and without the tie could move arithmetic on them to the wrong
// side.
//
//===----------------------------------------------------------------------===//

#include "FirstProducts.h"
#include "MmaAsyncPlan.h"
#include "MmaOperands.h"
#include "OpEmitter.h"
#include "fusion/Conversion/TileToNVVM/TileToNVVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::fusion;

/// Registers of an instruction's rows in one thread.
static constexpr unsigned kOperandWords = 4;
/// Descriptors count in 16 bytes.
static constexpr int32_t kDescriptorUnitLog2 = 4;

namespace {
/// The registers of operand tiles as products in flight read them.
struct OperandWords {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OperandWords)
  DenseMap<Value, Scalars> words;
};
} // namespace

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

static char registerClass(Type type) { return type.isF32() ? 'f' : 'r'; }

/// "$first, $first+1, ..." for `count` operands.
static std::string operandList(unsigned first, unsigned count) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(llvm::seq(first, first + count), os,
                        [&](unsigned number) { os << '$' << number; });
  return text;
}

/// Runs the instruction `text`, which `values` pass through: what comes before
/// it in their lives stays before it, and what comes after, after. `inputs`
/// are only kept until then.
static Scalars tied(ThreadBuilder &builder, const Twine &text,
                    ArrayRef<Value> values, ArrayRef<Value> inputs = {}) {
  if (values.empty() && inputs.empty()) {
    builder.inlineAsm(nullptr, {}, text, "~{memory}");
    return {};
  }
  SmallVector<Type> types;
  SmallVector<Value> operands;
  std::string outputs, ties;
  for (auto [i, value] : llvm::enumerate(values)) {
    types.push_back(value.getType());
    operands.push_back(value);
    outputs += std::string("=") + registerClass(value.getType()) + ",";
    ties += std::to_string(i) + ",";
  }
  for (Value value : inputs) {
    operands.push_back(value);
    ties += std::string(1, registerClass(value.getType())) + ",";
  }
  // A single output is no struct.
  Type result;
  if (types.size() == 1)
    result = types.front();
  else if (!types.empty())
    result = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  Value results =
      builder.inlineAsm(result, operands, text, outputs + ties + "~{memory}");
  if (types.size() == 1)
    return {results};
  Scalars scalars;
  for (int64_t i = 0, end = types.size(); i < end; ++i)
    scalars.push_back(LLVM::ExtractValueOp::create(builder, results, i));
  return scalars;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// Starts a product, and those behind it that are made together with it.
class WgmmaEmitter : public OpEmitter {
public:
  WgmmaEmitter(ProgramLowering &lowering, const MmaAsyncPlan &plan,
               bool plainFactors)
      : OpEmitter(lowering), plan(plan), plainFactors(plainFactors) {}

  void emit(tile::MmaAsyncOp op);

private:
  /// The products that `op` begins: itself and those right behind it that one
  /// instruction makes with it.
  SmallVector<tile::MmaAsyncOp> collectRun(tile::MmaAsyncOp op);
  /// The matrix descriptor of the part of `buffer` that begins `each` rows
  /// further for every one of the warpgroups `number`, of which there are
  /// `count`.
  Value descriptorOf(Value buffer, const tile::MatrixDescriptor &descriptor,
                     Value number, int64_t count, int64_t each);
  /// Finds where the warpgroup's operands begin.
  void findOperands();
  /// Nothing where `op` always adds to its sums; otherwise a word that is zero
  /// in the iteration in which the product replaces them.
  std::optional<Value> keepsSums(tile::MmaAsyncOp op);
  /// The sums of `run` in the order of one accumulator.
  Scalars gatherSums(MutableArrayRef<tile::MmaAsyncOp> run);
  /// All instructions of the warpgroup.
  void multiplyAll(Scalars &accumulators, std::optional<Value> keeps);
  /// One wgmma: `accumulators` are those of the instruction; `a` is a
  /// descriptor or the operand's registers. It replaces the sums where `keeps`
  /// is zero.
  Scalars multiply(ArrayRef<Value> accumulators, ArrayRef<Value> a, Value b,
                   std::optional<Value> keeps);

  MmaAsyncPlan plan;
  bool plainFactors;
  /// Descriptors of the operands in shared memory, and the registers of the
  /// other.
  Value aBase, bBase;
  Scalars words;
};
} // namespace

SmallVector<tile::MmaAsyncOp> WgmmaEmitter::collectRun(tile::MmaAsyncOp op) {
  SmallVector<tile::MmaAsyncOp> run{op};
  auto isReady = [&](Value value) {
    Operation *maker = value.getDefiningOp();
    return !maker || maker->getBlock() != op->getBlock() ||
           maker->isBeforeInBlock(op);
  };
  while (auto next =
             dyn_cast_or_null<tile::MmaAsyncOp>(run.back()->getNextNode())) {
    if (next.getSwapped() != op.getSwapped() || !isReady(next.getAcc()) ||
        !isReady(next.getA()) || !isReady(next.getB()) ||
        findSumLoops(next) != findSumLoops(op))
      break;
    FailureOr<MmaAsyncPlan> own = planMmaAsync(lowering, next);
    if (failed(own) || !continues(plan, *own, sharedMemory))
      break;
    plan.n += own->n;
    plan.ownColumns += own->ownColumns;
    run.push_back(next);
  }
  return run;
}

Value WgmmaEmitter::descriptorOf(Value buffer,
                                 const tile::MatrixDescriptor &descriptor,
                                 Value number, int64_t count, int64_t each) {
  SharedPlace place = sharedMemory.getPlace(buffer);
  Value address = LLVM::PtrToIntOp::create(
      builder, builder.getI32Type(),
      sharedMemory.getAddress(SharedPlace::at(place.offset)));
  // Bits of a row's number are bits of the address before the swizzle.
  for (int64_t bit = 1; bit < count; bit *= 2) {
    int64_t step = tile::getOperandOffset(getSharedLayout(buffer), descriptor,
                                          bit * each, 0);
    Value set = arith::AndIOp::create(builder, number, builder.constant32(bit));
    address = arith::AddIOp::create(
        builder, address,
        arith::MulIOp::create(builder, set, builder.constant32(step / bit)));
  }
  // A descriptor has the low 18 bits of an address. In a cluster a block's own
  // addresses have more, which would fall into the next field.
  address =
      arith::AndIOp::create(builder, address, builder.constant32(0x3ffff));
  address = arith::ShRUIOp::create(builder, address,
                                   builder.constant32(kDescriptorUnitLog2));
  for (auto [number, bytes] : {std::pair(place.stage, place.stageBytes),
                               std::pair(place.group, place.groupBytes)})
    if (number)
      address = arith::AddIOp::create(
          builder, address,
          arith::MulIOp::create(
              builder, number,
              builder.constant32(bytes >> kDescriptorUnitLog2)));
  Value low = arith::OrIOp::create(
      builder, address,
      builder.constant32(static_cast<int32_t>(descriptor.bits() & 0xffffffff)));
  // Put together from words: of a sum in 64 bits with a large constant, ptxas
  // 13.0 lost the high word in a loop.
  auto high = static_cast<uint32_t>(descriptor.bits() >> 32);
  return builder.pureAsm(builder.getI64Type(), low,
                         "mov.b64 $0, {$1, " + Twine(high) + "};", "=l,r");
}

void WgmmaEmitter::findOperands() {
  // The warpgroup's part begins at a row and a column of its own.
  Value group = threads.getWarpgroup();
  Value groupRow = arith::AndIOp::create(
      builder, group, builder.constant32(plan.alongRows - 1));
  Value groupColumn = arith::ShRUIOp::create(
      builder, group, builder.constant32(llvm::Log2_64(plan.alongRows)));
  bBase = descriptorOf(plan.b, *plan.bDescriptor, groupColumn,
                       plan.alongColumns, plan.ownColumns);
  if (plan.aInShared())
    aBase = descriptorOf(plan.a, *plan.aDescriptor, groupRow, plan.alongRows,
                         kInstructionRows);
  else
    words = packWords(builder, lowering.get(plan.a), plainFactors);
}

std::optional<Value> WgmmaEmitter::keepsSums(tile::MmaAsyncOp op) {
  auto loops = findSumLoops(op);
  if (!loops)
    return std::nullopt;
  Value keeps = builder.constant32(0);
  for (scf::ForOp loop : *loops) {
    Value done = arith::SubIOp::create(
        builder, lowering.getScalar(loop.getInductionVar()),
        lowering.getScalar(loop.getLowerBound()));
    if (done.getType() != keeps.getType())
      done = arith::TruncIOp::create(builder, keeps.getType(), done);
    keeps = builder.createOrFold<arith::OrIOp>(keeps, done);
  }
  return keeps;
}

Scalars WgmmaEmitter::multiply(ArrayRef<Value> accumulators, ArrayRef<Value> a,
                               Value b, std::optional<Value> keeps) {
  unsigned count = accumulators.size();
  SmallVector<Value> operands(accumulators);
  std::string constraints;
  for (unsigned i = 0; i < count; ++i)
    constraints += std::string("=") + registerClass(plan.accElement) + ",";
  for (unsigned i = 0; i < count; ++i)
    constraints += std::to_string(i) + ",";
  for (Value operand : a) {
    operands.push_back(operand);
    constraints += plan.aInShared() ? "l," : "r,";
  }
  operands.push_back(b);
  constraints += "l,";
  std::string keep = "1";
  if (keeps) {
    keep = "$" + std::to_string(2 * count + a.size() + 1);
    operands.push_back(*keeps);
    constraints += "r,";
  }
  constraints += "~{memory}";
  std::string aText = operandList(2 * count, a.size());
  if (!plan.aInShared())
    aText = "{" + aText + "}";
  std::string text =
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, " + keep + ", 0;\n" +
      plan.name() + " {" + operandList(0, count) + "}, " + aText + ", " +
      operandList(2 * count + a.size(), 1) + plan.flags() + ";\n}";
  SmallVector<Type> types(count, plan.accElement);
  Value results = builder.inlineAsm(
      LLVM::LLVMStructType::getLiteral(builder.getContext(), types), operands,
      text, constraints);
  Scalars scalars;
  for (unsigned i = 0; i < count; ++i)
    scalars.push_back(LLVM::ExtractValueOp::create(builder, results, i));
  return scalars;
}

Scalars WgmmaEmitter::gatherSums(MutableArrayRef<tile::MmaAsyncOp> run) {
  if (run.size() == 1) {
    // What begins with this product, and no loop around it.
    tile::MmaAsyncOp op = run.front();
    auto loops = findSumLoops(op);
    Value earlier =
        loops && loops->empty() ? findEarlierSums(op, op.getType()) : Value();
    return lowering.get(earlier ? earlier : op.getAcc());
  }
  // In the order of one accumulator with all the columns: blocks of rows are
  // outside of them.
  Scalars sums;
  for (int64_t row = 0; row < plan.rowBlocks; ++row)
    for (tile::MmaAsyncOp member : run) {
      ArrayRef<Value> own = lowering.get(member.getAcc());
      size_t each = own.size() / plan.rowBlocks;
      llvm::append_range(sums, own.slice(row * each, each));
    }
  return sums;
}

void WgmmaEmitter::multiplyAll(Scalars &accumulators,
                               std::optional<Value> keeps) {
  auto advanced = [&](Value base, int64_t bytes) -> Value {
    if (bytes == 0)
      return base;
    Value step = arith::ConstantOp::create(
        builder, builder.getI64IntegerAttr(bytes >> kDescriptorUnitLog2));
    return arith::AddIOp::create(builder, base, step);
  };
  for (int64_t step = 0; step < plan.steps; ++step)
    for (int64_t column = 0; column < plan.columnBlocks; ++column) {
      Value b = advanced(bBase, tile::getOperandOffset(
                                    getSharedLayout(plan.b), *plan.bDescriptor,
                                    column * plan.n, step * plan.depth));
      for (int64_t row = 0; row < plan.rowBlocks; ++row) {
        SmallVector<Value> a;
        if (plan.aInShared())
          a.push_back(advanced(
              aBase,
              tile::getOperandOffset(getSharedLayout(plan.a), *plan.aDescriptor,
                                     row * plan.alongRows * kInstructionRows,
                                     step * plan.depth)));
        else
          llvm::append_range(
              a, ArrayRef<Value>(words).slice(
                     (row * plan.steps + step) * kOperandWords, kOperandWords));
        // Blocks of rows are the lower bits of registers.
        unsigned first = (column * plan.rowBlocks + row) * plan.blockRegs();
        Scalars block = multiply(
            ArrayRef<Value>(accumulators).slice(first, plan.blockRegs()), a, b,
            step == 0 ? keeps : std::nullopt);
        llvm::copy(block, accumulators.begin() + first);
      }
    }
}

void WgmmaEmitter::emit(tile::MmaAsyncOp op) {
  SmallVector<tile::MmaAsyncOp> run = collectRun(op);
  findOperands();
  std::optional<Value> keeps = keepsSums(op);
  // Registers that threads wrote are handed over to the tensor cores.
  Scalars handed = gatherSums(run);
  unsigned numRegs = handed.size();
  llvm::append_range(handed, words);
  handed = tied(builder, "wgmma.fence.sync.aligned;", handed);
  Scalars accumulators(handed.begin(), handed.begin() + numRegs);
  words.assign(handed.begin() + numRegs, handed.end());
  if (!plan.aInShared())
    lowering.getState<OperandWords>().words[plan.a] = words;
  multiplyAll(accumulators, keeps);
  if (run.size() == 1)
    return lowering.set(op.getResult(), accumulators);
  unsigned begin = 0;
  for (tile::MmaAsyncOp member : run) {
    size_t each = lowering.get(member.getAcc()).size() / plan.rowBlocks;
    Scalars own;
    for (int64_t row = 0; row < plan.rowBlocks; ++row)
      own.append(accumulators.begin() + row * plan.blockRegs() + begin,
                 accumulators.begin() + row * plan.blockRegs() + begin + each);
    begin += each;
    lowering.set(member.getResult(), own);
  }
}

namespace {
class MmaAsyncLowering : public TileOpLowering<tile::MmaAsyncOp> {
public:
  explicit MmaAsyncLowering(bool plainFactors) : plainFactors(plainFactors) {}

  LogicalResult lower(tile::MmaAsyncOp op,
                      ProgramLowering &lowering) const override;

private:
  bool plainFactors;
};

class PinLowering : public TileOpLowering<tile::PinOp> {
public:
  explicit PinLowering(bool plainFactors) : plainFactors(plainFactors) {}

  LogicalResult lower(tile::PinOp op, ProgramLowering &lowering) const override;

private:
  bool plainFactors;
};

class MmaWaitLowering : public TileOpLowering<tile::MmaWaitOp> {
public:
  explicit MmaWaitLowering(bool plainFactors) : plainFactors(plainFactors) {}

  LogicalResult lower(tile::MmaWaitOp op,
                      ProgramLowering &lowering) const override;

private:
  bool plainFactors;
};
} // namespace

LogicalResult MmaAsyncLowering::lower(tile::MmaAsyncOp op,
                                      ProgramLowering &lowering) const {
  // Started together with one before.
  if (lowering.isLowered(op.getResult()))
    return success();
  FailureOr<MmaAsyncPlan> plan = planMmaAsync(lowering, op);
  if (failed(plan))
    return failure();
  WgmmaEmitter(lowering, *plan, plainFactors).emit(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// Whether products may have been started since the wait before `op`.
static bool endsGroup(Operation *op) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    // Of an operation with regions the last one inside decides.
    Operation *last = nullptr;
    before->walk([&](Operation *inner) {
      if (isa<tile::MmaAsyncOp, tile::MmaWaitOp>(inner))
        last = inner;
    });
    if (last)
      return isa<tile::MmaAsyncOp>(last);
  }
  Operation *parent = op->getParentOp();
  // In a loop, what comes before is also what comes after.
  if (isa<tile::SpecializeOp, tile::ProgramOp>(parent))
    return false;
  return isa<scf::IfOp>(parent) ? endsGroup(parent) : true;
}

LogicalResult MmaWaitLowering::lower(tile::MmaWaitOp op,
                                     ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  // An empty group makes ptxas put a fence of its own in front of it.
  if (endsGroup(op))
    NVVM::WgmmaGroupSyncAlignedOp::create(builder);
  Scalars inFlight, kept;
  for (Value value : op.getValues())
    llvm::append_range(inFlight, lowering.get(value));
  const auto &known = lowering.getState<OperandWords>().words;
  for (Value value : op.getKept()) {
    // The very registers that products read, where their start is in sight.
    auto words = known.find(value);
    Operation *start =
        words == known.end() ? nullptr : words->second.front().getDefiningOp();
    Region *region = builder.getInsertionBlock()->getParent();
    if (start && start->getParentRegion()->isAncestor(region))
      llvm::append_range(kept, words->second);
    else
      llvm::append_range(kept,
                         packWords(builder, lowering.get(value), plainFactors));
  }
  Scalars results = tied(
      builder, "wgmma.wait_group.sync.aligned " + Twine(op.getPending()) + ";",
      inFlight, kept);
  ArrayRef<Value> rest(results);
  for (auto [value, result] : llvm::zip(op.getValues(), op.getResults())) {
    unsigned count = lowering.get(value).size();
    lowering.set(result, Scalars(rest.take_front(count)));
    rest = rest.drop_front(count);
  }
  return success();
}

LogicalResult PinLowering::lower(tile::PinOp op,
                                 ProgramLowering &lowering) const {
  ThreadBuilder &builder = lowering.getBuilder();
  const Scalars &scalars = lowering.get(op.getValue());
  Type type = scalars.front().getType();
  unsigned packed = 32 / std::min(32u, type.getIntOrFloatBitWidth());
  bool pairs = packed > 1 && scalars.size() % packed == 0;
  Scalars words = tied(builder, "",
                       pairs ? packWords(builder, scalars, plainFactors)
                             : Scalars(scalars));
  if (!pairs) {
    lowering.set(op.getResult(), words);
    return success();
  }
  Scalars kept;
  Type stored = memoryType(type);
  for (Value word : words) {
    Value vector =
        LLVM::BitcastOp::create(builder, VectorType::get(packed, stored), word);
    for (unsigned i = 0; i < packed; ++i)
      kept.push_back(
          builder.fromMemory(LLVM::ExtractElementOp::create(
                                 builder, vector, builder.constant32(i)),
                             type));
  }
  lowering.set(op.getResult(), kept);
  return success();
}

void mlir::fusion::populateMmaAsyncLowerings(LoweringSet &lowerings,
                                             const TileToNVVMOptions &options) {
  lowerings.add<MmaAsyncLowering, MmaWaitLowering, PinLowering>(
      options.plainFactors);
}
