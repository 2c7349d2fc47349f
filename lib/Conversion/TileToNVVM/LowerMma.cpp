//===- LowerMma.cpp - Products in flight on tensor cores ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements tile.mma_async and tile.mma_wait by wgmma. Fences and
// waits are inline PTX that takes the registers in question and gives them
// back: LLVM knows nothing of registers that an instruction in flight uses, and
// without the tie could move arithmetic on them to the wrong side.
//
//===----------------------------------------------------------------------===//

#include "FirstProducts.h"
#include "PackPairs.h"
#include "ProgramLowering.h"
#include "fusion/Dialect/Tile/IR/AsyncLayouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

static constexpr int64_t kInstructionRows = 64;
static constexpr int64_t kInstructionColumns = 256;
static constexpr int64_t kDepthBytes = 32;
static constexpr int32_t kWarpgroupWarpsLog2 = 2;
/// Registers of an instruction's rows in one thread.
static constexpr unsigned kOperandWords = 4;
/// Descriptors count in 16 bytes.
static constexpr int32_t kDescriptorUnitLog2 = 4;

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
Scalars ProgramLowering::tied(const Twine &text, ArrayRef<Value> values,
                              ArrayRef<Value> inputs) {
  if (values.empty() && inputs.empty()) {
    inlineAsm(nullptr, {}, text, "~{memory}");
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
      inlineAsm(result, operands, text, outputs + ties + "~{memory}");
  if (types.size() == 1)
    return {results};
  Scalars scalars;
  for (int64_t i = 0, end = types.size(); i < end; ++i)
    scalars.push_back(LLVM::ExtractValueOp::create(builder, loc, results, i));
  return scalars;
}

/// Packs consecutive scalars into registers of 32 bits, as products read them:
/// f32 is rounded to tf32, of which the instruction would cut off the rest.
Scalars ProgramLowering::packWords(const Scalars &scalars) {
  Type i32 = builder.getI32Type();
  unsigned packed = 32 / scalars.front().getType().getIntOrFloatBitWidth();
  Scalars words;
  for (unsigned i = 0; i < scalars.size(); i += packed) {
    if (packed == 2 && !plainFactors)
      if (Value pair = packPair(builder, loc, scalars[i], scalars[i + 1])) {
        words.push_back(LLVM::BitcastOp::create(builder, loc, i32, pair));
        continue;
      }
    SmallVector<Value> members;
    for (unsigned j = 0; j < packed; ++j)
      members.push_back(toMemory(scalars[i + j]));
    if (scalars.front().getType().isF32())
      words.push_back(packOperand(scalars[i]));
    else if (packed == 1)
      words.push_back(
          members.front().getType() == i32
              ? members.front()
              : LLVM::BitcastOp::create(builder, loc, i32, members.front()));
    else
      words.push_back(
          LLVM::BitcastOp::create(builder, loc, i32, buildVector(members)));
  }
  return words;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// How wgmma spells an operand's element type; empty when it has none such.
static StringRef operandType(Type type) {
  if (type.isF16())
    return "f16";
  if (type.isBF16())
    return "bf16";
  if (type.isF32())
    return "tf32";
  if (isa<Float8E4M3FNType>(type))
    return "e4m3";
  if (isa<Float8E5M2Type>(type))
    return "e5m2";
  return type.isInteger(8) ? "s8" : "";
}

static Type operandElement(Type type) {
  if (auto buffer = dyn_cast<tile::BufferType>(type))
    return buffer.getElementType();
  return tile::getTileElementType(type);
}

/// How the product of a program's warps is made of instructions.
struct ProgramLowering::MmaPlan {
  /// The operand that gives the instruction's rows, and that of its columns.
  Value a, b;
  Type aElement, bElement, accElement;
  /// Warpgroups along the instruction's rows and along its columns, columns of
  /// one warpgroup and of one instruction.
  int64_t alongRows, alongColumns, ownColumns, n;
  /// Instructions of one warpgroup along rows, columns and depth.
  int64_t rowBlocks, columnBlocks, steps;
  int64_t depth;
  std::optional<tile::MatrixDescriptor> aDescriptor, bDescriptor;

  bool aInShared() const { return isa<tile::BufferType>(a.getType()); }
  /// Registers of the accumulator in one instruction.
  unsigned blockRegs() const { return n / 2; }
  /// The instruction's name and, behind its descriptors, whether it keeps the
  /// accumulator, signs, and majors.
  std::string name() const;
  std::string flags() const;
};

std::string ProgramLowering::MmaPlan::name() const {
  return ("wgmma.mma_async.sync.aligned.m64n" + Twine(n) + "k" + Twine(depth) +
          (accElement.isF32() ? ".f32." : ".s32.") + operandType(aElement) +
          "." + operandType(bElement))
      .str();
}

std::string ProgramLowering::MmaPlan::flags() const {
  std::string flags = ", keep";
  if (accElement.isF32())
    flags += ", 1, 1";
  if (aElement.getIntOrFloatBitWidth() == 16) {
    if (aDescriptor)
      flags += aDescriptor->kMajor ? ", 0" : ", 1";
    flags += bDescriptor->kMajor ? ", 0" : ", 1";
  }
  return flags;
}

static const tile::SharedLayout &sharedOf(Value buffer) {
  return cast<tile::BufferType>(buffer.getType()).getLayout().getShared();
}

FailureOr<ProgramLowering::MmaPlan>
ProgramLowering::planMma(tile::MmaAsyncOp op) {
  bool swapped = op.getSwapped();
  MmaPlan plan;
  plan.a = swapped ? op.getB() : op.getA();
  plan.b = swapped ? op.getA() : op.getB();
  plan.aElement = operandElement(plan.a.getType());
  plan.bElement = operandElement(plan.b.getType());
  plan.accElement = tile::getTileElementType(op.getType());
  bool isInteger = plan.aElement.isInteger(8);
  if (operandType(plan.aElement).empty() ||
      operandType(plan.bElement).empty() ||
      (isInteger ? !plan.accElement.isInteger(32) : !plan.accElement.isF32()))
    return op.emitOpError("FUS-3312: wgmma has no product of ")
           << plan.aElement << " and " << plan.bElement << " into "
           << plan.accElement;
  if (!inConsumer && program.getExtraWarps().value_or(0))
    return op.emitOpError("FUS-3313: stands outside the consumer's role");

  ArrayRef<int64_t> shape = tile::getTileShape(op.getType());
  unsigned numWarps = program.getNumWarps();
  auto wanted = LinearLayout::wgmmaAccumulator(shape, numWarps, swapped);
  tile::LayoutAttr given = tile::getLayout(op.getType());
  if (!wanted || !given || given.getLinear() != *wanted)
    return op.emitOpError("FUS-3314: the accumulator does not have wgmma's "
                          "layout for ")
           << numWarps << " warps";
  int64_t rows = shape[swapped ? 1 : 0], columns = shape[swapped ? 0 : 1];
  int64_t groups = numWarps / 4;
  plan.alongRows = std::min(groups, rows / kInstructionRows);
  plan.alongColumns = groups / plan.alongRows;
  plan.ownColumns = columns / plan.alongColumns;
  plan.n = std::min(plan.ownColumns, kInstructionColumns);
  plan.rowBlocks = rows / (kInstructionRows * plan.alongRows);
  plan.columnBlocks = plan.ownColumns / plan.n;
  int64_t bytes = plan.aElement.getIntOrFloatBitWidth() / 8;
  plan.depth = kDepthBytes / bytes;
  plan.steps =
      cast<tile::BufferType>(plan.b.getType()).getShape()[1] / plan.depth;

  auto describe =
      [&](Value buffer,
          int64_t instructionRows) -> FailureOr<tile::MatrixDescriptor> {
    auto found = tile::getMatrixDescriptor(sharedOf(buffer), instructionRows);
    if (!found ||
        placeOf(buffer).alignment() < tile::getSwizzleAlignment(found->swizzle))
      return op.emitOpError("FUS-3315: no matrix descriptor reads ")
             << buffer.getType();
    return *found;
  };
  auto describeInto = [&](std::optional<tile::MatrixDescriptor> &into,
                          Value buffer, int64_t instructionRows) {
    FailureOr<tile::MatrixDescriptor> found = describe(buffer, instructionRows);
    if (succeeded(found))
      into = *found;
    return LogicalResult(found);
  };
  if (failed(describeInto(plan.bDescriptor, plan.b, plan.n)))
    return failure();
  if (plan.aInShared()) {
    if (failed(describeInto(plan.aDescriptor, plan.a, kInstructionRows)))
      return failure();
    return plan;
  }
  auto operand = LinearLayout::wgmmaOperandA(
      tile::getTileShape(plan.a.getType()), bytes, numWarps);
  tile::LayoutAttr layout = tile::getLayout(plan.a.getType());
  if (!operand || !layout || layout.getLinear() != *operand)
    return op.emitOpError("FUS-3316: the operand in registers does not have "
                          "wgmma's layout");
  return plan;
}

/// The low word of the matrix descriptor, which holds the address, of the part
/// of `buffer` that begins `each` rows
/// further for every one of the warpgroups `number`, of which there are
/// `count`.
Value ProgramLowering::descriptorOf(Value buffer,
                                    const tile::MatrixDescriptor &descriptor,
                                    Value number, int64_t count, int64_t each) {
  SharedPlace place = placeOf(buffer);
  Value address =
      LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                               sharedAddress(SharedPlace::at(place.offset)));
  // Bits of a row's number are bits of the address before the swizzle.
  for (int64_t bit = 1; bit < count; bit *= 2) {
    int64_t step =
        tile::getOperandOffset(sharedOf(buffer), descriptor, bit * each, 0);
    Value set = arith::AndIOp::create(builder, loc, number, constant32(bit));
    address = arith::AddIOp::create(
        builder, loc, address,
        arith::MulIOp::create(builder, loc, set, constant32(step / bit)));
  }
  // A descriptor has the low 18 bits of an address. In a cluster a block's own
  // addresses have more, which would fall into the next field.
  address = arith::AndIOp::create(builder, loc, address, constant32(0x3ffff));
  address = arith::ShRUIOp::create(builder, loc, address,
                                   constant32(kDescriptorUnitLog2));
  for (auto [number, bytes] : {std::pair(place.stage, place.stageBytes),
                               std::pair(place.group, place.groupBytes)})
    if (number)
      address = arith::AddIOp::create(
          builder, loc, address,
          arith::MulIOp::create(builder, loc, number,
                                constant32(bytes >> kDescriptorUnitLog2)));
  return arith::OrIOp::create(
      builder, loc, address,
      constant32(static_cast<int32_t>(descriptor.bits() & 0xffffffff)));
}

/// Nothing where `op` always adds to its sums; otherwise a word that is zero in
/// the iteration in which the product replaces them.
std::optional<Value> ProgramLowering::keepsSums(tile::MmaAsyncOp op) {
  auto loops = findSumLoops(op);
  if (!loops)
    return std::nullopt;
  Value keeps = constant32(0);
  for (scf::ForOp loop : *loops) {
    Value done =
        arith::SubIOp::create(builder, loc, getScalar(loop.getInductionVar()),
                              getScalar(loop.getLowerBound()));
    if (done.getType() != keeps.getType())
      done = arith::TruncIOp::create(builder, loc, keeps.getType(), done);
    keeps = builder.createOrFold<arith::OrIOp>(loc, keeps, done);
  }
  return keeps;
}

/// One wgmma: `accumulators` are those of the instruction; `a` is a descriptor
/// or the operand's registers. It replaces the sums where `keeps` is zero.
Scalars ProgramLowering::multiply(const MmaPlan &plan,
                                  ArrayRef<Value> accumulators,
                                  ArrayRef<Value> a, Value b,
                                  std::optional<Value> keeps) {
  unsigned count = accumulators.size();
  SmallVector<Value> operands(accumulators);
  std::string constraints;
  for (unsigned i = 0; i < count; ++i)
    constraints += std::string("=") + registerClass(plan.accElement) + ",";
  for (unsigned i = 0; i < count; ++i)
    constraints += std::to_string(i) + ",";
  for (Value operand : a) {
    operands.push_back(operand);
    constraints += "r,";
  }
  operands.push_back(b);
  constraints += "r,";
  std::string keep = "1";
  if (keeps) {
    keep = "$" + std::to_string(2 * count + a.size() + 1);
    operands.push_back(*keeps);
    constraints += "r,";
  }
  constraints += "~{memory}";
  // A descriptor is put together from its words at the instruction: of a sum in
  // 64 bits with a large constant, ptxas 13.0 lost the high word in a loop.
  auto join = [&](StringRef name, const tile::MatrixDescriptor &descriptor,
                  unsigned operand) {
    return (".reg .b64 " + name + ";\nmov.b64 " + name + ", {" +
            operandList(operand, 1) + ", " +
            Twine(static_cast<uint32_t>(descriptor.bits() >> 32)) + "};\n")
        .str();
  };
  std::string aText = "{" + operandList(2 * count, a.size()) + "}";
  std::string text =
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, " + keep + ", 0;\n";
  if (plan.aInShared()) {
    aText = "rows";
    text += join("rows", *plan.aDescriptor, 2 * count);
  }
  text += join("columns", *plan.bDescriptor, 2 * count + a.size());
  text += plan.name() + " {" + operandList(0, count) + "}, " + aText +
          ", columns" + plan.flags() + ";\n}";
  SmallVector<Type> types(count, plan.accElement);
  Value results =
      inlineAsm(LLVM::LLVMStructType::getLiteral(builder.getContext(), types),
                operands, text, constraints);
  Scalars scalars;
  for (unsigned i = 0; i < count; ++i)
    scalars.push_back(LLVM::ExtractValueOp::create(builder, loc, results, i));
  return scalars;
}

/// True when one instruction can make the columns of `plan`, which is the plan
/// of products started before, and then those of `next`: the buffers lie one
/// behind the other as if they were one.
bool ProgramLowering::continues(const MmaPlan &plan, const MmaPlan &next) {
  if (!plan.aInShared() || plan.a != next.a || plan.bElement != next.bElement ||
      plan.accElement != next.accElement || plan.alongColumns != 1 ||
      next.alongColumns != 1 || plan.columnBlocks != 1 ||
      next.columnBlocks != 1 || plan.n + next.n > kInstructionColumns)
    return false;
  const tile::MatrixDescriptor &first = *plan.bDescriptor,
                               &second = *next.bDescriptor;
  if (first.kMajor != second.kMajor || first.swizzle != second.swizzle ||
      first.stride != second.stride ||
      (second.leading && second.leading != first.leading))
    return false;
  for (int64_t step = 0; step < plan.steps; ++step)
    if (tile::getOperandOffset(sharedOf(plan.b), first, 0, step * plan.depth) !=
        tile::getOperandOffset(sharedOf(next.b), second, 0, step * plan.depth))
      return false;
  // Rows of a group of eight, or columns of a panel as wide as the swizzle.
  int64_t group = 8, distance = first.stride;
  if (!first.kMajor) {
    int64_t bytes = plan.bElement.getIntOrFloatBitWidth() / 8;
    group = tile::getSwizzleSpan(first.swizzle) / bytes;
    distance = first.leading;
  }
  SharedPlace from = placeOf(plan.b), to = placeOf(next.b);
  return plan.n % group == 0 && from.stageBytes == to.stageBytes &&
         to.offset - from.offset == plan.n / group * distance;
}

/// The products that `op` begins: itself and those right behind it that one
/// instruction makes with it.
SmallVector<tile::MmaAsyncOp> ProgramLowering::collectRun(tile::MmaAsyncOp op,
                                                          MmaPlan &plan) {
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
    FailureOr<MmaPlan> own = planMma(next);
    if (failed(own) || !continues(plan, *own))
      break;
    plan.n += own->n;
    plan.ownColumns += own->ownColumns;
    run.push_back(next);
  }
  return run;
}

LogicalResult ProgramLowering::lowerMmaAsync(tile::MmaAsyncOp op) {
  // Started together with one before.
  if (values.contains(op.getResult()))
    return success();
  FailureOr<MmaPlan> planned = planMma(op);
  if (failed(planned))
    return failure();
  SmallVector<tile::MmaAsyncOp> run = collectRun(op, *planned);
  const MmaPlan &plan = *planned;

  // The warpgroup's part begins at a row and a column of its own.
  Value group = arith::ShRUIOp::create(builder, loc, warpNumber(),
                                       constant32(kWarpgroupWarpsLog2));
  Value groupRow = arith::AndIOp::create(builder, loc, group,
                                         constant32(plan.alongRows - 1));
  Value groupColumn = arith::ShRUIOp::create(
      builder, loc, group, constant32(llvm::Log2_64(plan.alongRows)));
  Value aBase, bBase = descriptorOf(plan.b, *plan.bDescriptor, groupColumn,
                                    plan.alongColumns, plan.ownColumns);
  Scalars words;
  if (plan.aInShared())
    aBase = descriptorOf(plan.a, *plan.aDescriptor, groupRow, plan.alongRows,
                         kInstructionRows);
  else
    words = packWords(get(plan.a));
  auto advanced = [&](Value base, int64_t bytes) -> Value {
    if (bytes == 0)
      return base;
    return arith::AddIOp::create(builder, loc, base,
                                 constant32(bytes >> kDescriptorUnitLog2));
  };

  std::optional<Value> keeps = keepsSums(op);
  // Registers that threads wrote are handed over to the tensor cores.
  Scalars handed;
  if (run.size() == 1)
    handed = get(op.getAcc());
  else
    // In the order of one accumulator with all the columns: blocks of rows are
    // outside of them.
    for (int64_t row = 0; row < plan.rowBlocks; ++row)
      for (tile::MmaAsyncOp member : run) {
        ArrayRef<Value> own = get(member.getAcc());
        size_t each = own.size() / plan.rowBlocks;
        llvm::append_range(handed, own.slice(row * each, each));
      }
  unsigned numRegs = handed.size();
  llvm::append_range(handed, words);
  handed = tied("wgmma.fence.sync.aligned;", handed);
  Scalars accumulators(handed.begin(), handed.begin() + numRegs);
  words.assign(handed.begin() + numRegs, handed.end());
  if (!plan.aInShared())
    operandWords[plan.a] = words;

  for (int64_t step = 0; step < plan.steps; ++step)
    for (int64_t column = 0; column < plan.columnBlocks; ++column) {
      Value b = advanced(
          bBase, tile::getOperandOffset(sharedOf(plan.b), *plan.bDescriptor,
                                        column * plan.n, step * plan.depth));
      for (int64_t row = 0; row < plan.rowBlocks; ++row) {
        SmallVector<Value> a;
        if (plan.aInShared())
          a.push_back(advanced(
              aBase,
              tile::getOperandOffset(sharedOf(plan.a), *plan.aDescriptor,
                                     row * plan.alongRows * kInstructionRows,
                                     step * plan.depth)));
        else
          llvm::append_range(
              a, ArrayRef<Value>(words).slice(
                     (row * plan.steps + step) * kOperandWords, kOperandWords));
        // Blocks of rows are the lower bits of registers.
        unsigned first = (column * plan.rowBlocks + row) * plan.blockRegs();
        Scalars block = multiply(
            plan, ArrayRef<Value>(accumulators).slice(first, plan.blockRegs()),
            a, b, step == 0 ? keeps : std::nullopt);
        llvm::copy(block, accumulators.begin() + first);
      }
    }
  unsigned begin = 0;
  for (tile::MmaAsyncOp member : run) {
    size_t each = get(member.getAcc()).size() / plan.rowBlocks;
    Scalars own;
    for (int64_t row = 0; row < plan.rowBlocks; ++row)
      own.append(accumulators.begin() + row * plan.blockRegs() + begin,
                 accumulators.begin() + row * plan.blockRegs() + begin + each);
    begin += each;
    values[member.getResult()] = run.size() == 1 ? accumulators : own;
  }
  return success();
}

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

LogicalResult ProgramLowering::lowerMmaWait(tile::MmaWaitOp op) {
  // An empty group makes ptxas put a fence of its own in front of it.
  if (endsGroup(op))
    NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  Scalars inFlight, kept;
  for (Value value : op.getValues())
    llvm::append_range(inFlight, get(value));
  for (Value value : op.getKept()) {
    // The very registers that products read, where their start is in sight.
    auto words = operandWords.find(value);
    Operation *start = words == operandWords.end()
                           ? nullptr
                           : words->second.front().getDefiningOp();
    Region *region = builder.getInsertionBlock()->getParent();
    if (start && start->getParentRegion()->isAncestor(region))
      llvm::append_range(kept, words->second);
    else
      llvm::append_range(kept, packWords(get(value)));
  }
  Scalars results =
      tied("wgmma.wait_group.sync.aligned " + Twine(op.getPending()) + ";",
           inFlight, kept);
  ArrayRef<Value> rest(results);
  for (auto [value, result] : llvm::zip(op.getValues(), op.getResults())) {
    unsigned count = get(value).size();
    values[result] = Scalars(rest.take_front(count));
    rest = rest.drop_front(count);
  }
  return success();
}
