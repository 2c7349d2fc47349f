//===- PackKernels.cpp - One kernel for those of a launch -----------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that makes one kernel of the programs that
// start in one launch.
//
//===----------------------------------------------------------------------===//

#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Pipelines/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_PACKKERNELSPASS
#include "fusion/Pipelines/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// Blocks of `kernel`, if it can be one of several in a launch.
static std::optional<int64_t> getBlocks(LLVM::LLVMFuncOp kernel) {
  auto grid = kernel->getAttrOfType<AffineMapAttr>("tile.grid");
  auto threads = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid");
  if (!threads || threads.size() != 3 || threads[1] != 1 || threads[2] != 1)
    return std::nullopt;
  for (StringRef own :
       {"tile.cluster", "tile.together", "tile.scratches", "tile.tensor_maps"})
    if (kernel->hasAttr(own))
      return std::nullopt;
  if (!grid || !grid.getValue().isConstant() ||
      grid.getValue().getNumResults() != 1 ||
      !llvm::hasSingleElement(kernel.getBody()))
    return std::nullopt;
  return grid.getValue().getSingleConstantResult();
}

static int32_t getThreads(LLVM::LLVMFuncOp kernel) {
  return kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid")
      .asArrayRef()
      .front();
}

static int64_t getSharedBytes(LLVM::LLVMFuncOp kernel) {
  auto bytes = kernel->getAttrOfType<IntegerAttr>("tile.shared_bytes");
  return bytes ? bytes.getInt() : 0;
}

namespace {
/// Writes one kernel that has the blocks of several.
class KernelPacker {
public:
  KernelPacker(MLIRContext *context, ArrayRef<LLVM::LLVMFuncOp> members,
               ArrayRef<int64_t> blocks)
      : members(members), builder(context) {
    starts.push_back(0);
    for (int64_t count : blocks)
      starts.push_back(starts.back() + count);
  }

  LLVM::LLVMFuncOp run();

private:
  LLVM::LLVMFuncOp createFunction();
  /// Code of the members `first` to `last`, of one of which block `block` is.
  void emit(size_t first, size_t last, Value block);
  void inlineMember(size_t number, Value block);
  /// Lets `op`, a copy of one of member `number`, ask for what the member would
  /// have in a launch of its own.
  void adapt(Operation *op, size_t number, Value block);
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, packed.getLoc(), value, 32);
  }

  ArrayRef<LLVM::LLVMFuncOp> members;
  OpBuilder builder;
  /// The first block of each member, and the number of all blocks.
  SmallVector<int64_t> starts;
  /// The first argument of each member.
  SmallVector<unsigned> arguments;
  /// Threads of a block.
  int32_t threads = 0;
  LLVM::LLVMFuncOp packed;
};
} // namespace

LLVM::LLVMFuncOp KernelPacker::createFunction() {
  SmallVector<Type> types;
  SmallVector<Attribute> argumentAttrs;
  SmallVector<Location> locs;
  int64_t shared = 0;
  for (LLVM::LLVMFuncOp member : members) {
    arguments.push_back(types.size());
    llvm::append_range(types, member.getArgumentTypes());
    for (unsigned i = 0; i < member.getNumArguments(); ++i)
      argumentAttrs.push_back(builder.getDictionaryAttr(
          function_interface_impl::getArgAttrs(member, i)));
    locs.push_back(member.getLoc());
    shared = std::max(shared, getSharedBytes(member));
    threads = std::max(threads, getThreads(member));
  }
  LLVM::LLVMFuncOp first = members.front();
  builder.setInsertionPointAfter(members.back());
  std::string name =
      (first.getName() + "_and_" + Twine(members.size() - 1) + "_more").str();
  auto func = LLVM::LLVMFuncOp::create(
      builder, builder.getFusedLoc(locs), name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(first.getContext()),
                                  types));
  func->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  func->setAttr("nvvm.reqntid", builder.getDenseI32ArrayAttr({threads, 1, 1}));
  func.setArgAttrsAttr(builder.getArrayAttr(argumentAttrs));
  func->setAttr("tile.grid", AffineMapAttr::get(AffineMap::getConstantMap(
                                 starts.back(), first.getContext())));
  func->setAttr("tile.shared_bytes", builder.getI64IntegerAttr(shared));
  return func;
}

void KernelPacker::adapt(Operation *op, size_t number, Value block) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  int32_t own = getThreads(members[number]);
  if (isa<NVVM::BlockIdXOp>(op)) {
    op->getResult(0).replaceAllUsesWith(block);
    op->erase();
  } else if (isa<NVVM::GridDimXOp>(op)) {
    op->getResult(0).replaceAllUsesWith(
        constant(starts[number + 1] - starts[number]));
    op->erase();
  } else if (isa<NVVM::BlockDimXOp>(op)) {
    op->getResult(0).replaceAllUsesWith(constant(own));
    op->erase();
  } else if (auto thread = dyn_cast<NVVM::ThreadIdXOp>(op)) {
    thread.setRangeAttr(LLVM::ConstantRangeAttr::get(
        op->getContext(), APInt(32, 0), APInt(32, threads)));
  } else if (auto barrier = dyn_cast<NVVM::BarrierOp>(op);
             barrier && own < threads && !barrier.getNumberOfThreads()) {
    if (!barrier.getBarrierId())
      barrier.getBarrierIdMutable().assign(constant(0));
    barrier.getNumberOfThreadsMutable().assign(constant(own));
  }
}

void KernelPacker::inlineMember(size_t number, Value block) {
  LLVM::LLVMFuncOp member = members[number];
  Location loc = member.getLoc();
  if (starts[number] > 0)
    block =
        arith::SubIOp::create(builder, loc, block, constant(starts[number]));
  OpBuilder::InsertionGuard guard(builder);
  if (getThreads(member) < threads) {
    Value thread =
        NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
    Value works = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        thread, constant(getThreads(member)));
    auto branch = scf::IfOp::create(builder, loc, works);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  IRMapping mapping;
  for (BlockArgument argument : member.getArguments())
    mapping.map(argument, packed.getArgument(arguments[number] +
                                             argument.getArgNumber()));
  SmallVector<Operation *> copies;
  for (Operation &op : member.getBody().front().without_terminator())
    copies.push_back(builder.clone(op, mapping));
  for (Operation *copy : copies)
    copy->walk([&](Operation *op) { adapt(op, number, block); });
}

void KernelPacker::emit(size_t first, size_t last, Value block) {
  if (first == last)
    return inlineMember(first, block);
  // As many members on either side: few comparisons for each block.
  size_t middle = (first + last + 1) / 2;
  Location loc = packed.getLoc();
  Value isBefore = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, block, constant(starts[middle]));
  auto branch = scf::IfOp::create(builder, loc, TypeRange(), isBefore,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emit(first, middle - 1, block);
  builder.setInsertionPointToStart(branch.elseBlock());
  emit(middle, last, block);
}

LLVM::LLVMFuncOp KernelPacker::run() {
  packed = createFunction();
  builder.setInsertionPointToStart(packed.addEntryBlock(builder));
  Location loc = packed.getLoc();
  Value block = NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  emit(0, members.size() - 1, block);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  return packed;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class PackKernelsPass
    : public fusion::impl::PackKernelsPassBase<PackKernelsPass> {
public:
  using Base::Base;

  void runOnOperation() override {
    SymbolTableCollection tables;
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      if (failed(run(module, tables.getSymbolTable(module))))
        return signalPassFailure();
  }

private:
  LogicalResult run(gpu::GPUModuleOp module, SymbolTable &programs);
  FailureOr<FlatSymbolRefAttr> pack(ArrayRef<KernelOp> kernels,
                                    SymbolTable &programs);

  /// Packed kernels by the programs of their members.
  DenseMap<Attribute, FlatSymbolRefAttr> packed;
};
} // namespace

FailureOr<FlatSymbolRefAttr> PackKernelsPass::pack(ArrayRef<KernelOp> kernels,
                                                   SymbolTable &programs) {
  SmallVector<Attribute> names;
  SmallVector<LLVM::LLVMFuncOp> members;
  SmallVector<int64_t> blocks;
  for (KernelOp kernel : kernels) {
    auto name = kernel->getAttrOfType<FlatSymbolRefAttr>("program");
    auto program =
        name ? programs.lookup<LLVM::LLVMFuncOp>(name.getAttr()) : nullptr;
    if (!program)
      return kernel.emitError("FUS-4006: kernel has no code; run the phases "
                              "before this one");
    std::optional<int64_t> own = getBlocks(program);
    if (!own)
      return kernel.emitError(
          "FUS-3129: the kernel cannot start in one launch with others: how "
          "many blocks it has is not known, or its blocks exchange results");
    names.push_back(name);
    members.push_back(program);
    blocks.push_back(*own);
  }
  auto key = ArrayAttr::get(&getContext(), names);
  FlatSymbolRefAttr &result = packed[key];
  if (!result) {
    LLVM::LLVMFuncOp func = KernelPacker(&getContext(), members, blocks).run();
    // With a name that no other has.
    programs.insert(func);
    result = FlatSymbolRefAttr::get(func.getSymNameAttr());
  }
  return result;
}

LogicalResult PackKernelsPass::run(gpu::GPUModuleOp module,
                                   SymbolTable &programs) {
  packed.clear();
  bool changes = false;
  DenseSet<StringAttr> used;
  for (auto func : getOperation().getOps<FunctionOpInterface>()) {
    llvm::MapVector<int64_t, SmallVector<KernelOp>> launches;
    func->walk([&](KernelOp kernel) {
      if (LaunchAttr launch = kernel.getLaunchAttr())
        launches[launch.getNumber()].push_back(kernel);
    });
    for (auto &[number, kernels] : launches) {
      FailureOr<FlatSymbolRefAttr> name = pack(kernels, programs);
      if (failed(name))
        return failure();
      for (KernelOp kernel : kernels)
        kernel->setAttr("program", *name);
      changes = true;
    }
    func->walk([&](KernelOp kernel) {
      if (auto name = kernel->getAttrOfType<FlatSymbolRefAttr>("program"))
        used.insert(name.getAttr());
    });
  }
  if (!changes)
    return success();
  for (auto program :
       llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>()))
    if (program->hasAttr("nvvm.kernel") &&
        !used.contains(program.getSymNameAttr()))
      programs.erase(program);
  return success();
}
