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
  Value results = inlineAsm(result, operands, text, outputs + ties + "~{memory}");
  if (types.size() == 1)
    return {results};
  Scalars scalars;
  for (int64_t i = 0, end = types.size(); i < end; ++i)
    scalars.push_back(LLVM::ExtractValueOp::create(builder, loc, results, i));
  return scalars;
}

/// Packs consecutive scalars into registers of 32 bits.
Scalars ProgramLowering::packWords(const Scalars &scalars) {
  Type i32 = builder.getI32Type();
  unsigned packed = 32 / scalars.front().getType().getIntOrFloatBitWidth();
  Scalars words;
  for (unsigned i = 0; i < scalars.size(); i += packed) {
    SmallVector<Value> members;
    for (unsigned j = 0; j < packed; ++j)
      members.push_back(toMemory(scalars[i + j]));
    if (packed == 1)
      words.push_back(
          members.front().getType() == i32
              ? members.front()
              : LLVM::BitcastOp::create(builder, loc, i32, members.front()));
    else
      words.push_back(LLVM::BitcastOp::create(builder, loc, i32,
                                              buildVector(members)));
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

LogicalResult ProgramLowering::lowerMmaAsync(tile::MmaAsyncOp op) {
  bool swapped = op.getSwapped();
  // From here on A gives the instruction's rows, B its columns.
  Value a = swapped ? op.getB() : op.getA();
  Value b = swapped ? op.getA() : op.getB();
  Type aElement = operandElement(a.getType());
  Type bElement = operandElement(b.getType());
  StringRef aType = operandType(aElement), bType = operandType(bElement);
  Type type = tile::getTileElementType(op.getType());
  bool isInteger = aElement.isInteger(8);
  if (aType.empty() || bType.empty() ||
      (isInteger ? !type.isInteger(32) : !type.isF32()))
    return op.emitOpError("FUS-3312: wgmma has no product of ")
           << aElement << " and " << bElement << " into " << type;

  // The accumulator.
  ArrayRef<int64_t> shape = tile::getTileShape(op.getType());
  unsigned numWarps = program.getNumWarps();
  auto wanted = LinearLayout::wgmmaAccumulator(shape, numWarps, swapped);
  tile::LayoutAttr given = tile::getLayout(op.getType());
  if (!inConsumer && program.getExtraWarps().value_or(0))
    return op.emitOpError("FUS-3313: stands outside the consumer's role");
  if (!wanted || !given || given.getLinear() != *wanted)
    return op.emitOpError("FUS-3314: the accumulator does not have wgmma's "
                          "layout for ")
           << numWarps << " warps";
  int64_t rows = shape[swapped ? 1 : 0], columns = shape[swapped ? 0 : 1];
  int64_t groups = numWarps / 4;
  int64_t alongRows = std::min(groups, rows / kInstructionRows);
  int64_t ownColumns = columns / (groups / alongRows);
  int64_t n = std::min(ownColumns, kInstructionColumns);
  int64_t rowBlocks = rows / (kInstructionRows * alongRows);
  int64_t columnBlocks = ownColumns / n;
  unsigned blockRegs = n / 2;

  // The operands.
  auto bBuffer = cast<tile::BufferType>(b.getType());
  const tile::SharedLayout &bShared = bBuffer.getLayout().getShared();
  std::optional<tile::MatrixDescriptor> aDescriptor,
      bDescriptor = tile::getMatrixDescriptor(bShared, n);
  int64_t bytes = aElement.getIntOrFloatBitWidth() / 8;
  int64_t depth = kDepthBytes / bytes;
  int64_t steps = bBuffer.getShape()[1] / depth;
  auto fits = [&](Value buffer,
                  const std::optional<tile::MatrixDescriptor> &descriptor) {
    return descriptor && placeOf(buffer).alignment() >=
                             tile::getSwizzleAlignment(descriptor->swizzle);
  };
  bool aInShared = isa<tile::BufferType>(a.getType());
  const tile::SharedLayout *aShared = nullptr;
  if (aInShared) {
    aShared = &cast<tile::BufferType>(a.getType()).getLayout().getShared();
    aDescriptor = tile::getMatrixDescriptor(*aShared, kInstructionRows);
    if (!fits(a, aDescriptor))
      return op.emitOpError("FUS-3315: no matrix descriptor reads ")
             << a.getType();
  }
  if (!fits(b, bDescriptor) || steps == 0)
    return op.emitOpError("FUS-3315: no matrix descriptor reads ")
           << b.getType();

  // The warpgroup's part begins at a row and a column of its own.
  Value group = arith::ShRUIOp::create(builder, loc, warpNumber(),
                                       constant32(kWarpgroupWarpsLog2));
  Value groupRow = alongRows == groups
                       ? group
                       : arith::AndIOp::create(builder, loc, group,
                                               constant32(alongRows - 1))
                             .getResult();
  Value groupColumn = arith::DivUIOp::create(builder, loc, group,
                                             constant32(alongRows));
  // Descriptor of a buffer for this warpgroup, less the parts of instructions.
  auto descriptorOf = [&](Value buffer, const tile::SharedLayout &shared,
                          const tile::MatrixDescriptor &descriptor,
                          Value number, int64_t count,
                          int64_t each) -> FailureOr<Value> {
    SharedPlace place = placeOf(buffer);
    Value address =
        LLVM::PtrToIntOp::create(builder, loc, builder.getI32Type(),
                                 sharedAddress(SharedPlace::at(place.offset)));
    // Parts of a row of core matrices and more lie at linear distances, which
    // are bits: those of the number of the warpgroup.
    for (int64_t bit = 1; bit < count; bit *= 2) {
      int64_t step = tile::getOperandOffset(shared, descriptor, bit * each, 0);
      Value set = arith::AndIOp::create(builder, loc, number, constant32(bit));
      address = arith::AddIOp::create(
          builder, loc, address,
          arith::MulIOp::create(builder, loc, set, constant32(step / bit)));
    }
    address = arith::ShRUIOp::create(builder, loc, address, constant32(4));
    if (place.stage)
      address = arith::AddIOp::create(
          builder, loc, address,
          arith::MulIOp::create(builder, loc, place.stage,
                                constant32(place.stageBytes / 16)));
    Type i64 = builder.getI64Type();
    Value wide = arith::ExtUIOp::create(builder, loc, i64, address);
    Value bits = arith::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(descriptor.bits()));
    return arith::OrIOp::create(builder, loc, wide, bits).getResult();
  };
  Value aBase, bBase;
  Scalars aWords;
  unsigned wordsOfStep = 4;
  if (aInShared) {
    aBase = *descriptorOf(a, *aShared, *aDescriptor, groupRow, alongRows,
                          kInstructionRows);
  } else {
    auto operandLayout = LinearLayout::wgmmaOperandA(
        tile::getTileShape(a.getType()), bytes, numWarps);
    tile::LayoutAttr layout = tile::getLayout(a.getType());
    if (!operandLayout || !layout || layout.getLinear() != *operandLayout)
      return op.emitOpError("FUS-3316: the operand in registers does not have "
                            "wgmma's layout");
    aWords = packWords(get(a));
  }
  bBase = *descriptorOf(b, bShared, *bDescriptor, groupColumn,
                        groups / alongRows, ownColumns);
  auto advanced = [&](Value base, int64_t by) -> Value {
    if (by == 0)
      return base;
    return arith::AddIOp::create(
        builder, loc, base,
        arith::ConstantOp::create(builder, loc,
                                  builder.getI64IntegerAttr(by / 16)));
  };

  // Registers that threads wrote are handed over to the tensor cores.
  Scalars handed = get(op.getAcc());
  unsigned numRegs = handed.size();
  llvm::append_range(handed, aWords);
  handed = tied("wgmma.fence.sync.aligned;", handed);
  Scalars accumulators(handed.begin(), handed.begin() + numRegs);
  aWords.assign(handed.begin() + numRegs, handed.end());
  if (!aInShared)
    operandWords[a] = aWords;

  std::string shapeText = "m64n" + std::to_string(n) + "k" +
                          std::to_string(depth);
  std::string name = "wgmma.mma_async.sync.aligned." + shapeText + "." +
                     (isInteger ? "s32" : "f32") + "." + aType.str() + "." +
                     bType.str();
  // Behind the descriptors: keep the accumulator, signs, majors.
  std::string flags = ", keep";
  if (!isInteger)
    flags += ", 1, 1";
  if (bytes == 2) {
    if (aInShared)
      flags += aDescriptor->kMajor ? ", 0" : ", 1";
    flags += bDescriptor->kMajor ? ", 0" : ", 1";
  }
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t column = 0; column < columnBlocks; ++column)
      for (int64_t row = 0; row < rowBlocks; ++row) {
        // Blocks of rows are the lower bits of registers.
        unsigned block = column * rowBlocks + row;
        SmallVector<Value> operands(
            accumulators.begin() + block * blockRegs,
            accumulators.begin() + (block + 1) * blockRegs);
        std::string constraints;
        for (unsigned i = 0; i < blockRegs; ++i)
          constraints += std::string("=") + registerClass(type) + ",";
        for (unsigned i = 0; i < blockRegs; ++i)
          constraints += std::to_string(i) + ",";
        unsigned next = 2 * blockRegs;
        std::string text = "{\n.reg .pred keep;\nsetp.ne.b32 keep, 1, 0;\n" +
                           name + " {" + operandList(0, blockRegs) + "}, ";
        if (aInShared) {
          int64_t at = tile::getOperandOffset(
              *aShared, *aDescriptor, row * alongRows * kInstructionRows,
              step * depth);
          operands.push_back(advanced(aBase, at));
          constraints += "l,";
          text += "$" + std::to_string(next++);
        } else {
          unsigned first = (row * steps + step) * wordsOfStep;
          for (unsigned i = 0; i < wordsOfStep; ++i) {
            operands.push_back(aWords[first + i]);
            constraints += "r,";
          }
          text += "{" + operandList(next, wordsOfStep) + "}";
          next += wordsOfStep;
        }
        operands.push_back(advanced(
            bBase, tile::getOperandOffset(bShared, *bDescriptor, column * n,
                                          step * depth)));
        constraints += "l,~{memory}";
        text += ", $" + std::to_string(next) + flags + ";\n}";
        SmallVector<Type> types(blockRegs, type);
        Value results = inlineAsm(
            LLVM::LLVMStructType::getLiteral(builder.getContext(), types),
            operands, text, constraints);
        for (unsigned i = 0; i < blockRegs; ++i)
          accumulators[block * blockRegs + i] =
              LLVM::ExtractValueOp::create(builder, loc, results, i);
      }
  values[op.getResult()] = accumulators;
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
  Scalars results = tied("wgmma.wait_group.sync.aligned " +
                             Twine(op.getPending()) + ";",
                         inFlight, kept);
  ArrayRef<Value> rest(results);
  for (auto [value, result] : llvm::zip(op.getValues(), op.getResults())) {
    unsigned count = get(value).size();
    values[result] = Scalars(rest.take_front(count));
    rest = rest.drop_front(count);
  }
  return success();
}
