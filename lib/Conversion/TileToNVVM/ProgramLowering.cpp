//===- ProgramLowering.cpp - Distributes one tile program over threads ----===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the frame of the distribution: the kernel function,
// control flow, and operations that act on each element by itself.
//
//===----------------------------------------------------------------------===//

#include "ProgramLowering.h"
#include "FirstProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::fusion;
using tile::LinearLayout;

Type mlir::fusion::memoryType(Type type) {
  bool byte = type.isInteger(1) ||
              (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8);
  return byte ? IntegerType::get(type.getContext(), 8) : type;
}

ProgramLowering::ProgramLowering(tile::ProgramOp program, OpBuilder &builder,
                                 LLVM::GlobalOp sharedMemory, bool plainFactors)
    : program(program), builder(builder), loc(program.getLoc()),
      sharedMemory(sharedMemory), plainFactors(plainFactors),
      indexType(builder.getIntegerType(program.getIndexBits())) {}

Type ProgramLowering::scalarType(Type type) const {
  Type element = tile::getTileElementType(type);
  return element.isIndex() ? Type(indexType) : element;
}

unsigned ProgramLowering::numScalars(Type type) const {
  tile::LayoutAttr layout = tile::getLayout(type);
  return layout ? layout.getLinear().numRegs() : 1;
}

const Scalars &ProgramLowering::get(Value value) const {
  auto known = values.find(value);
  assert(known != values.end() && "operand is lowered before its user");
  return known->second;
}

Value ProgramLowering::getScalar(Value value) const {
  return get(value).front();
}

Value ProgramLowering::constantIndex(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(indexType, value));
}

/// Converts an integer to the index type of the program.
Value ProgramLowering::toIndex(Value value) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  if (from < indexType.getWidth())
    return arith::ExtSIOp::create(builder, loc, indexType, value);
  if (from > indexType.getWidth())
    return arith::TruncIOp::create(builder, loc, indexType, value);
  return value;
}

Value ProgramLowering::constant32(int32_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI32IntegerAttr(value));
}

Value ProgramLowering::toI32(Value value) {
  if (value.getType().isInteger(32))
    return value;
  return arith::TruncIOp::create(builder, loc, builder.getI32Type(), value);
}

static Value emitAsm(OpBuilder &builder, Location loc, Type result,
                     ValueRange operands, const Twine &text,
                     const Twine &constraints, bool hasSideEffects) {
  auto dialect =
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT);
  auto call = LLVM::InlineAsmOp::create(
      builder, loc, result, operands, text.str(), constraints.str(),
      hasSideEffects, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, dialect,
      /*operand_attrs=*/ArrayAttr());
  return result ? call.getRes() : Value();
}

Value ProgramLowering::inlineAsm(Type result, ValueRange operands,
                                 const Twine &text, const Twine &constraints) {
  return emitAsm(builder, loc, result, operands, text, constraints,
                 /*hasSideEffects=*/true);
}

Value ProgramLowering::pureAsm(Type result, ValueRange operands,
                               const Twine &text, const Twine &constraints) {
  return emitAsm(builder, loc, result, operands, text, constraints,
                 /*hasSideEffects=*/false);
}

/// Bytes of a multiple of which the runtime demands that tensors begin.
static constexpr int64_t kArgumentAlignment = 16;

/// Tells LLVM how arguments are aligned: it makes one access of those of a
/// thread that lie side by side. It may take an aligned one that is wider than
/// all of them too, so that a tensor is aligned by no more than its size is:
/// what is aligned then does not reach past its end.
void ProgramLowering::describeAlignment() {
  SmallVector<int64_t> alignments(program.getArguments().size(), 0);
  program.getBody().walk([&](tile::MakeViewOp view) {
    auto argument = dyn_cast<BlockArgument>(view.getBase());
    if (!argument || argument.getOwner() != &program.getBody().front())
      return;
    tile::ViewType type = view.getType();
    int64_t bytes =
        llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
    for (int64_t size : type.getShape())
      bytes = std::gcd(kArgumentAlignment,
                       ShapedType::isDynamic(size) ? bytes : bytes * size);
    int64_t &alignment = alignments[argument.getArgNumber()];
    alignment = std::gcd(alignment, bytes);
  });
  for (auto [number, alignment] : llvm::enumerate(alignments))
    if (alignment > 1)
      function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(alignment));
}

FailureOr<LLVM::LLVMFuncOp> ProgramLowering::run() {
  SmallVector<Type> arguments;
  for (Type type : program.getArgumentTypes())
    arguments.push_back(type.isIndex() ? builder.getI64Type() : type);
  collectScratches(arguments);
  if (failed(collectTensorMaps(arguments)))
    return failure();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), arguments);
  function = LLVM::LLVMFuncOp::create(builder, loc, program.getName(), type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  int32_t threads =
      (program.getNumWarps() + program.getExtraWarps().value_or(0)) * 32;
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({threads, 1, 1}));
  if (int32_t blocks = program.getCluster().value_or(1); blocks > 1)
    function->setAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                      builder.getDenseI32ArrayAttr({blocks, 1, 1}));
  entry = function.addEntryBlock(builder);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry);
  thread = NVVM::ThreadIdXOp::create(
      builder, loc, builder.getI32Type(),
      LLVM::ConstantRangeAttr::get(builder.getContext(), APInt(32, 0),
                                   APInt(32, threads)));
  lastThreadOp = thread.getDefiningOp();
  for (auto [from, to] :
       llvm::zip_first(program.getArguments(), entry->getArguments()))
    values[from] = {from.getType().isIndex() ? toIndex(to) : Value(to)};
  if (Operation *last = entry->empty() ? nullptr : &entry->back())
    lastThreadOp = last;

  hasTensorCopies = !tensorMaps.empty();
  describeAlignment();
  describeScratches();
  describeTensorMaps();
  prepareCluster();
  program.getBody().walk(
      [&](tile::StoreOp store) { writtenViews.insert(store.getView()); });
  if (failed(lowerBlock(program.getBody().front())))
    return failure();
  return function;
}

LogicalResult ProgramLowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    loc = op.getLoc();
    if (failed(lowerOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult ProgramLowering::lowerOp(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return lowerFor(loop); })
      .Case([&](scf::IfOp conditional) { return lowerIf(conditional); })
      .Case([&](scf::YieldOp) { return success(); })
      .Case([&](tile::ReturnOp) {
        LLVM::ReturnOp::create(builder, loc, ValueRange());
        return success();
      })
      .Case([&](gpu::BlockIdOp block) {
        Value id = NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
        if (indexType.getWidth() != 32)
          id = arith::ExtUIOp::create(builder, loc, indexType, id);
        values[block.getResult()] = {id};
        return success();
      })
      .Case([&](arith::ConstantOp constant) {
        TypedAttr value = constant.getValue();
        // A tile that folded to a constant has one value throughout.
        int64_t count = 1;
        if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
          count = numScalars(dense.getType());
          value = dense.getSplatValue<TypedAttr>();
        }
        if (auto integer = dyn_cast<IntegerAttr>(value))
          if (integer.getType().isIndex())
            value = builder.getIntegerAttr(indexType, integer.getInt());
        values[constant.getResult()] =
            Scalars(count, arith::ConstantOp::create(builder, loc, value));
        return success();
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp>([&](auto) {
        lowerIndexCast(op);
        return success();
      })
      .Case([&](tile::MakeViewOp) { return success(); })
      .Case([&](tile::LoadOp load) { return lowerLoad(load); })
      .Case([&](tile::StoreOp store) { return lowerStore(store); })
      .Case([&](tile::IndexOp index) { return lowerIndex(index); })
      .Case([&](tile::SplatOp splat) {
        values[splat.getResult()] =
            Scalars(numScalars(splat.getType()), getScalar(splat.getValue()));
        return success();
      })
      .Case([&](tile::BroadcastOp broadcast) {
        return lowerBroadcast(broadcast);
      })
      .Case([&](tile::ReduceOp reduce) { return lowerReduce(reduce); })
      .Case([&](tile::ScanOp scan) { return lowerScan(scan); })
      .Case([&](tile::DotOp dot) { return lowerDot(dot); })
      .Case(
          [&](tile::ConvertLayoutOp convert) { return lowerConvert(convert); })
      .Case([&](tile::AllocOp) { return success(); })
      .Case([&](tile::LocalStoreOp store) { return lowerLocalStore(store); })
      .Case([&](tile::LocalLoadOp load) { return lowerLocalLoad(load); })
      .Case([&](tile::BarrierOp barrier) {
        if (barrier.getWithinWarp())
          NVVM::SyncWarpOp::create(builder, loc, constant32(-1));
        else
          lowerBarrier();
        return success();
      })
      .Case([&](tile::SliceOp slice) { return lowerSlice(slice); })
      .Case([&](tile::ExchangeOp op) { return lowerExchange(op); })
      .Case([&](tile::ReshapeOp reshape) {
        // The layouts differ in shape alone.
        values[reshape.getResult()] = Scalars(get(reshape.getValue()));
        return success();
      })
      .Case([&](tile::TensorMapOp) { return success(); })
      .Case([&](tile::MakeRingOp ring) { return lowerMakeRing(ring); })
      .Case([&](tile::AcquireOp acquire) { return lowerAcquire(acquire); })
      .Case([&](tile::AsyncLoadOp load) { return lowerAsyncLoad(load); })
      .Case([&](tile::WaitOp wait) { return lowerWait(wait); })
      .Case([&](tile::DrainOp drain) { return lowerDrain(drain); })
      .Case([&](tile::ReleaseOp release) { return lowerRelease(release); })
      .Case([&](tile::MmaAsyncOp mma) { return lowerMmaAsync(mma); })
      .Case([&](tile::MmaWaitOp wait) { return lowerMmaWait(wait); })
      .Case([&](tile::AsyncStoreOp store) { return lowerAsyncStore(store); })
      .Case([&](tile::AsyncStoreWaitOp) {
        // Threads that have started no copies have none to wait for.
        bulkWait(/*pending=*/0);
        return success();
      })
      .Case([&](tile::GroupNumberOp group) {
        values[group.getResult()] = {groupNumber ? toIndex(groupNumber)
                                                 : constantIndex(0)};
        return success();
      })
      .Case([&](tile::GroupBufferOp own) { return lowerGroupBuffer(own); })
      .Case([&](tile::ClusterRankOp rank) { return lowerClusterRank(rank); })
      .Case([&](tile::ClusterReduceOp sum) { return lowerClusterReduce(sum); })
      .Case([&](tile::ScratchOp scratch) {
        values[scratch.getResult()] = {
            function.getArgument(scratches.lookup(scratch))};
        return success();
      })
      .Case([&](tile::FindGroupOp find) { return lowerFindGroup(find); })
      .Case([&](tile::PublishOp publish) { return lowerPublish(publish); })
      .Case([&](tile::CollectOp collect) { return lowerCollect(collect); })
      .Case([&](tile::GridReduceOp sum) { return lowerGridReduce(sum); })
      .Case([&](tile::PanelReduceOp op) { return lowerPanelReduce(op); })
      .Case([&](tile::PanelScanOp op) { return lowerPanelScan(op); })
      .Case([&](tile::PanelLeaveOp op) { return lowerPanelLeave(op); })
      .Case([&](tile::RepeatOp repeat) { return lowerRepeat(repeat); })
      .Case([&](tile::StageOp stage) { return lowerStage(stage); })
      .Case([&](tile::CopyStartOp copy) { return lowerCopyStart(copy); })
      .Case([&](tile::CopyCommitOp commit) { return lowerCopyCommit(commit); })
      .Case([&](tile::CopyWaitOp wait) { return lowerCopyWait(wait); })
      .Case([&](tile::CopyArriveOp op) { return lowerCopyArrive(op); })
      .Case([&](tile::SpecializeOp roles) { return lowerSpecialize(roles); })
      .Default([&](Operation *) { return lowerElementwise(op); });
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Whether `loop` carries its tile `number` as it was loaded, so that two of
/// its elements of 16 bits are best left in the register they were read into.
static bool carriesPairs(scf::ForOp loop, unsigned number, unsigned count) {
  Value value = loop.getYieldedValues()[number];
  Type element = tile::getTileElementType(value.getType());
  return count % 2 == 0 && (element.isF16() || element.isBF16()) &&
         (value.getDefiningOp<tile::LoadOp>() ||
          llvm::is_contained(loop.getRegionIterArgs(), value));
}

LogicalResult ProgramLowering::lowerFor(scf::ForOp op) {
  // Carried tiles are scalars, or pairs of them, one after the other.
  auto flatten = [&](ValueRange carried, bool isInit = false) {
    Scalars flat;
    for (auto [number, value] : llvm::enumerate(carried)) {
      Scalars scalars;
      if (isInit && isSumOfFirstProduct(op.getInitArgsMutable()[number]))
        // The first product writes them.
        scalars.append(
            numScalars(value.getType()),
            LLVM::PoisonOp::create(builder, loc, scalarType(value.getType())));
      else
        scalars = get(value);
      if (carriesPairs(op, number, scalars.size()))
        for (unsigned i = 0; i < scalars.size(); i += 2)
          flat.push_back(buildVector({scalars[i], scalars[i + 1]}));
      else
        llvm::append_range(flat, scalars);
    }
    return flat;
  };
  auto unflatten = [&](ValueRange flat, ValueRange carried) {
    for (auto [number, value] : llvm::enumerate(carried)) {
      unsigned count = numScalars(value.getType());
      Scalars scalars;
      if (carriesPairs(op, number, count)) {
        for (Value pair : flat.take_front(count / 2))
          scalars.append({extractElement(pair, 0), extractElement(pair, 1)});
        flat = flat.drop_front(count / 2);
      } else {
        scalars = llvm::to_vector(flat.take_front(count));
        flat = flat.drop_front(count);
      }
      values[value] = scalars;
    }
  };
  auto loop =
      scf::ForOp::create(builder, loc, getScalar(op.getLowerBound()),
                         getScalar(op.getUpperBound()), getScalar(op.getStep()),
                         flatten(op.getInitArgs(), /*isInit=*/true));
  Block *body = loop.getBody();
  if (!body->empty())
    body->getTerminator()->erase();
  values[op.getInductionVar()] = {loop.getInductionVar()};
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(body);
    unflatten(loop.getRegionIterArgs(), op.getRegionIterArgs());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
    scf::YieldOp::create(builder, loc, flatten(op.getYieldedValues()));
  }
  unflatten(loop.getResults(), op.getResults());
  return success();
}

LogicalResult ProgramLowering::lowerIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes())
    types.append(numScalars(type), scalarType(type));
  auto conditional =
      scf::IfOp::create(builder, loc, types, getScalar(op.getCondition()),
                        /*addThenBlock=*/true, op.elseBlock() != nullptr);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] :
       llvm::zip(op->getRegions(), conditional->getRegions())) {
    if (from.empty())
      continue;
    builder.setInsertionPointToStart(&to.front());
    if (failed(lowerBlock(from.front())))
      return failure();
    Scalars yielded;
    for (Value value : from.front().getTerminator()->getOperands())
      llvm::append_range(yielded, get(value));
    scf::YieldOp::create(builder, loc, yielded);
  }
  ValueRange flat = conditional.getResults();
  for (Value result : op.getResults()) {
    unsigned count = numScalars(result.getType());
    values[result] = llvm::to_vector(flat.take_front(count));
    flat = flat.drop_front(count);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

void ProgramLowering::lowerIndexCast(Operation *op) {
  bool isUnsigned = isa<arith::IndexCastUIOp>(op);
  Type to = scalarType(op->getResult(0).getType());
  Scalars results;
  for (Value value : get(op->getOperand(0))) {
    unsigned from = value.getType().getIntOrFloatBitWidth();
    unsigned width = to.getIntOrFloatBitWidth();
    if (from < width)
      value = isUnsigned ? builder.createOrFold<arith::ExtUIOp>(loc, to, value)
                         : builder.createOrFold<arith::ExtSIOp>(loc, to, value);
    else if (from > width)
      value = builder.createOrFold<arith::TruncIOp>(loc, to, value);
    results.push_back(value);
  }
  values[op->getResult(0)] = results;
}

LogicalResult ProgramLowering::lowerElementwise(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return op->emitOpError("FUS-3302: no per-thread form");
  Value result = op->getResult(0);
  unsigned count = numScalars(result.getType());
  Scalars results;
  for (unsigned i = 0; i < count; ++i) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      const Scalars &scalars = get(operand);
      operands.push_back(scalars.size() == 1 ? scalars.front() : scalars[i]);
    }
    OperationState state(loc, op->getName(), operands,
                         scalarType(result.getType()), op->getAttrs());
    Operation *scalar = builder.create(state);
    // What depends on registers' places alone is a constant.
    SmallVector<Value> folded;
    if (llvm::all_of(operands,
                     [](Value operand) {
                       return matchPattern(operand, m_Constant());
                     }) &&
        succeeded(builder.tryFold(scalar, folded)) && folded.size() == 1) {
      scalar->erase();
      results.push_back(folded.front());
      continue;
    }
    results.push_back(scalar->getResult(0));
  }
  values[result] = results;
  return success();
}

/// The remainder `expr`, of a coordinate by a power of two, in the register at
/// `offset`, when it is the same in all threads and wherever the tile is.
static std::optional<int64_t> evaluateModulo(AffineExpr expr,
                                             const LinearLayout &layout,
                                             ArrayRef<int32_t> offset,
                                             ValueRange symbols) {
  auto modulo = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!modulo || expr.getKind() != AffineExprKind::Mod)
    return std::nullopt;
  auto divisor = dyn_cast<AffineConstantExpr>(modulo.getRHS());
  if (!divisor || !llvm::isPowerOf2_64(divisor.getValue()))
    return std::nullopt;
  uint64_t mask = divisor.getValue() - 1;
  int64_t sum = 0;
  // Terms of a sum: each constant or none of the remainder's business.
  SmallVector<AffineExpr> terms = {modulo.getLHS()};
  while (!terms.empty()) {
    AffineExpr term = terms.pop_back_val();
    if (auto constant = dyn_cast<AffineConstantExpr>(term)) {
      sum += constant.getValue();
    } else if (auto symbol = dyn_cast<AffineSymbolExpr>(term)) {
      if (symbol.getPosition() >= symbols.size() ||
          (tile::getDivisor(symbols[symbol.getPosition()]) & mask) != 0)
        return std::nullopt;
    } else if (auto dim = dyn_cast<AffineDimExpr>(term)) {
      for (tile::HwDim hw : {tile::HwDim::Lane, tile::HwDim::Warp})
        for (unsigned bit = 0; bit < layout.numBits(hw); ++bit)
          if (layout.basis(hw, bit)[dim.getPosition()] & mask)
            return std::nullopt;
      sum += offset[dim.getPosition()];
    } else if (term.getKind() == AffineExprKind::Add) {
      auto both = cast<AffineBinaryOpExpr>(term);
      terms.append({both.getLHS(), both.getRHS()});
    } else {
      return std::nullopt;
    }
  }
  return sum & mask;
}

LogicalResult ProgramLowering::lowerIndex(tile::IndexOp op) {
  SmallVector<Value> symbols;
  for (Value symbol : op.getSymbols())
    symbols.push_back(getScalar(symbol));
  AffineExpr expr = op.getMap().getResult(0);
  tile::LayoutAttr attr = tile::getLayout(op.getType());
  if (!attr) {
    values[op.getResult()] = {expand(expr, {}, symbols)};
    return success();
  }
  const LinearLayout &layout = attr.getLinear();
  Scalars results;
  for (unsigned reg = 0; reg < layout.numRegs(); ++reg) {
    tile::Coords offset = layout.elementOf(reg, 0, 0);
    if (std::optional<int64_t> known =
            evaluateModulo(expr, layout, offset, op.getSymbols())) {
      results.push_back(constantIndex(*known));
      continue;
    }
    SmallVector<Value> dims;
    for (unsigned dim = 0; dim < layout.rank(); ++dim)
      dims.push_back(coordinate(layout, dim, offset[dim]));
    results.push_back(expand(expr, dims, symbols));
  }
  values[op.getResult()] = results;
  return success();
}

Value ProgramLowering::coordinate(const LinearLayout &layout, unsigned dim,
                                  int64_t registerPart) {
  Value threadPart = threadCoord(layout, dim);
  if (registerPart == 0)
    return threadPart;
  // The bits of the two parts are disjoint except in swizzled layouts.
  return arith::XOrIOp::create(builder, loc, threadPart,
                               constantIndex(registerPart));
}

Scalars ProgramLowering::pick(Value value,
                              const tile::RegisterMap &registers) const {
  const Scalars &source = get(value);
  Scalars results;
  for (unsigned reg : registers)
    results.push_back(source[reg]);
  return results;
}

LogicalResult ProgramLowering::lowerBroadcast(tile::BroadcastOp op) {
  SmallVector<unsigned> dims(op.getDims().begin(), op.getDims().end());
  std::optional<tile::RegisterMap> map = tile::getBroadcastRegisterMap(
      tile::getLayout(op.getValue().getType()).getLinear(),
      tile::getLayout(op.getType()).getLinear(), dims);
  if (!map)
    return op.emitOpError("FUS-3303: operand's layout does not hold what the "
                          "result's needs");
  values[op.getResult()] = pick(op.getValue(), *map);
  return success();
}

LogicalResult ProgramLowering::lowerRepeat(tile::RepeatOp op) {
  std::optional<tile::RegisterMap> map = tile::getRepeatRegisterMap(
      tile::getLayout(op.getValue().getType()).getLinear(),
      tile::getLayout(op.getType()).getLinear(), op.getDim(),
      op.getLog2Factor());
  if (!map)
    return op.emitOpError("FUS-3322: operand's layout does not hold what the "
                          "result repeats");
  values[op.getResult()] = pick(op.getValue(), *map);
  return success();
}

LogicalResult ProgramLowering::lowerSlice(tile::SliceOp op) {
  const LinearLayout &from =
      tile::getLayout(op.getValue().getType()).getLinear();
  const LinearLayout &to = tile::getLayout(op.getType()).getLinear();
  // Threads must reach the same elements, up to the place of the part.
  bool sameThreads = true;
  for (tile::HwDim hw : {tile::HwDim::Lane, tile::HwDim::Warp}) {
    sameThreads &= from.numBits(hw) == to.numBits(hw);
    for (unsigned bit = 0; sameThreads && bit < from.numBits(hw); ++bit)
      sameThreads = from.basis(hw, bit) == to.basis(hw, bit);
  }
  std::map<std::vector<int32_t>, unsigned> registers;
  for (unsigned reg = 0; reg < from.numRegs(); ++reg) {
    tile::Coords at = from.elementOf(reg, 0, 0);
    registers.try_emplace({at.begin(), at.end()}, reg);
  }
  const Scalars &source = get(op.getValue());
  Scalars results;
  for (unsigned reg = 0; sameThreads && reg < to.numRegs(); ++reg) {
    std::vector<int32_t> wanted;
    for (auto [at, offset] :
         llvm::zip(to.elementOf(reg, 0, 0), op.getOffsets()))
      wanted.push_back(at + offset);
    auto known = registers.find(wanted);
    sameThreads = known != registers.end();
    if (sameThreads)
      results.push_back(source[known->second]);
  }
  if (!sameThreads)
    return op.emitOpError("FUS-3308: the part moves elements between threads");
  values[op.getResult()] = results;
  return success();
}

LogicalResult ProgramLowering::lowerDot(tile::DotOp op) {
  if (lowerMmaSync(op))
    return success();
  const LinearLayout &acc = tile::getLayout(op.getType()).getLinear();
  if (acc.rank() != 2)
    return op.emitOpError("FUS-3323: no instruction makes products of which "
                          "warps have parts");
  const LinearLayout &a = tile::getLayout(op.getA().getType()).getLinear();
  const LinearLayout &b = tile::getLayout(op.getB().getType()).getLinear();
  int64_t depth = a.dimSize(1);
  // The operands hold, in registers, the rows and columns of the accumulator
  // that the thread holds: look them up by coordinates.
  auto registersOf = [](const LinearLayout &layout) {
    DenseMap<std::pair<int32_t, int32_t>, unsigned> registers;
    for (unsigned reg = 0; reg < layout.numRegs(); ++reg) {
      tile::Coords at = layout.elementOf(reg, 0, 0);
      registers.try_emplace({at[0], at[1]}, reg);
    }
    return registers;
  };
  auto aRegisters = registersOf(a), bRegisters = registersOf(b);
  const Scalars &as = get(op.getA()), &bs = get(op.getB());
  Scalars results = get(op.getAcc());
  Type type = results.front().getType();
  bool isFloat = isa<FloatType>(type);
  // Operands may be narrower than the accumulator: exact in its type.
  DenseMap<Value, Value> widened;
  auto widen = [&](Value value) -> Value {
    if (value.getType() == type)
      return value;
    Value &wide = widened[value];
    if (!wide)
      wide =
          isFloat
              ? arith::ExtFOp::create(builder, loc, type, value).getResult()
              : arith::ExtSIOp::create(builder, loc, type, value).getResult();
    return wide;
  };
  for (int32_t k = 0; k < depth; ++k)
    for (unsigned reg = 0; reg < acc.numRegs(); ++reg) {
      tile::Coords at = acc.elementOf(reg, 0, 0);
      auto aReg = aRegisters.find({at[0], k});
      auto bReg = bRegisters.find({at[1], k});
      if (aReg == aRegisters.end() || bReg == bRegisters.end())
        return op.emitOpError("FUS-3304: operands do not hold the rows and "
                              "columns of the accumulator");
      Value x = widen(as[aReg->second]), y = widen(bs[bReg->second]);
      if (isFloat) {
        results[reg] = math::FmaOp::create(builder, loc, x, y, results[reg]);
        continue;
      }
      Value product = arith::MulIOp::create(builder, loc, x, y);
      results[reg] = arith::AddIOp::create(builder, loc, product, results[reg]);
    }
  values[op.getResult()] = results;
  return success();
}
