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
#include "llvm/ADT/MapVector.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_PACKKERNELSPASS
#include "fusion/Pipelines/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

/// Blocks of `kernel`, if it can be one of several in a launch.
static std::optional<int64_t> getBlocks(LLVM::LLVMFuncOp kernel) {
  auto grid = kernel->getAttrOfType<AffineMapAttr>("fusion_tile.grid");
  auto threads = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid");
  if (!threads || threads.size() != 3 || threads[1] != 1 || threads[2] != 1)
    return std::nullopt;
  for (StringRef own : {"fusion_tile.cluster", "fusion_tile.together",
                        "fusion_tile.scratches", "fusion_tile.tensor_maps"})
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
  auto bytes = kernel->getAttrOfType<IntegerAttr>("fusion_tile.shared_bytes");
  return bytes ? bytes.getInt() : 0;
}

/// Of kernels: which sizes their last arguments are.
static constexpr StringLiteral kSizesAttrName = "fusion_tile.size_arguments";

namespace {
/// A program, and the members of a launch that run it.
struct Part {
  LLVM::LLVMFuncOp program;
  SmallVector<size_t> members;
  /// The first block of these, and how many each has.
  int64_t start, blocks;
};

/// Writes one kernel that has the blocks of several.
class KernelPacker {
public:
  /// `programs` are those of the members, and have `blocks` each.
  KernelPacker(MLIRContext *context, ArrayRef<LLVM::LLVMFuncOp> programs,
               ArrayRef<int64_t> blocks);

  LLVM::LLVMFuncOp run();

private:
  LLVM::LLVMFuncOp createFunction(ArrayRef<LLVM::LLVMFuncOp> programs);
  /// Creates a branch by whether `number` is less than `bound`, with `types`.
  scf::IfOp createBranch(TypeRange types, Value number, int64_t bound);
  /// Code of the parts `first` to `last`, of one of which block `block` is.
  void emit(size_t first, size_t last, Value block);
  void inlinePart(const Part &part, Value block);
  /// The arguments of member `number` of `part`, which is one of `members`.
  SmallVector<Value> selectArguments(const Part &part, ArrayRef<size_t> members,
                                     Value number, int64_t first);
  /// Lets `op`, a copy of one of `part`, ask for what each member would have in
  /// a launch of its own.
  void adapt(Operation *op, const Part &part, Value block);
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(builder, packed.getLoc(), value, 32);
  }

  OpBuilder builder;
  SmallVector<Part> parts;
  /// Which arguments are those of each member.
  std::vector<SmallVector<unsigned>> arguments;
  /// Blocks in all, and threads of each.
  int64_t blocks = 0;
  int32_t threads = 0;
  LLVM::LLVMFuncOp packed;
};
} // namespace

KernelPacker::KernelPacker(MLIRContext *context,
                           ArrayRef<LLVM::LLVMFuncOp> programs,
                           ArrayRef<int64_t> blocksOf)
    : builder(context) {
  llvm::MapVector<LLVM::LLVMFuncOp, SmallVector<size_t>> members;
  for (auto [number, program] : llvm::enumerate(programs))
    members[program].push_back(number);
  for (auto &[program, numbers] : members) {
    int64_t own = blocksOf[numbers.front()];
    parts.push_back({program, numbers, blocks, own});
    blocks += own * static_cast<int64_t>(numbers.size());
  }
  packed = createFunction(programs);
}

/// Which of the sizes that are known at run time the last arguments of
/// `program` are.
static ArrayRef<int64_t> getSizes(LLVM::LLVMFuncOp program) {
  auto sizes = program->getAttrOfType<DenseI64ArrayAttr>(kSizesAttrName);
  return sizes ? sizes.asArrayRef() : ArrayRef<int64_t>();
}

LLVM::LLVMFuncOp
KernelPacker::createFunction(ArrayRef<LLVM::LLVMFuncOp> programs) {
  SmallVector<Type> types;
  SmallVector<Attribute> argumentAttrs;
  SmallVector<Location> locs;
  SmallVector<int64_t> sizes;
  int64_t shared = 0;
  arguments.resize(programs.size());
  auto addArgument = [&](size_t number, unsigned i) {
    LLVM::LLVMFuncOp member = programs[number];
    arguments[number].push_back(types.size());
    types.push_back(member.getArgumentTypes()[i]);
    argumentAttrs.push_back(builder.getDictionaryAttr(
        function_interface_impl::getArgAttrs(member, i)));
  };
  auto countTensors = [](LLVM::LLVMFuncOp member) {
    return member.getNumArguments() - getSizes(member).size();
  };
  // A launch gives the tensors of all members, and then sizes.
  for (size_t number = 0; number < programs.size(); ++number)
    for (unsigned i = 0; i < countTensors(programs[number]); ++i)
      addArgument(number, i);
  for (size_t number = 0; number < programs.size(); ++number) {
    LLVM::LLVMFuncOp member = programs[number];
    for (unsigned i = countTensors(member); i < member.getNumArguments(); ++i)
      addArgument(number, i);
    llvm::append_range(sizes, getSizes(member));
    locs.push_back(member.getLoc());
    shared = std::max(shared, getSharedBytes(member));
    threads = std::max(threads, getThreads(member));
  }
  LLVM::LLVMFuncOp first = programs.front();
  builder.setInsertionPointAfter(programs.back());
  std::string name =
      (first.getName() + "_and_" + Twine(programs.size() - 1) + "_more").str();
  auto func = LLVM::LLVMFuncOp::create(
      builder, builder.getFusedLoc(locs), name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(first.getContext()),
                                  types));
  func->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  // How many blocks a multiprocessor holds was said of one kernel's own.
  func->removeAttr(NVVM::NVVMDialect::getMinctasmAttrName());
  func->setAttr("nvvm.reqntid", builder.getDenseI32ArrayAttr({threads, 1, 1}));
  func->setAttr(kSizesAttrName, builder.getDenseI64ArrayAttr(sizes));
  func.setArgAttrsAttr(builder.getArrayAttr(argumentAttrs));
  func->setAttr("fusion_tile.grid",
                AffineMapAttr::get(
                    AffineMap::getConstantMap(blocks, first.getContext())));
  func->setAttr("fusion_tile.shared_bytes", builder.getI64IntegerAttr(shared));
  return func;
}

void KernelPacker::adapt(Operation *op, const Part &part, Value block) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  int32_t own = getThreads(part.program);
  if (isa<NVVM::BlockIdXOp>(op)) {
    op->getResult(0).replaceAllUsesWith(block);
    op->erase();
  } else if (isa<NVVM::GridDimXOp>(op)) {
    op->getResult(0).replaceAllUsesWith(constant(part.blocks));
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

scf::IfOp KernelPacker::createBranch(TypeRange types, Value number,
                                     int64_t bound) {
  Location loc = packed.getLoc();
  Value isBefore = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::slt, number, constant(bound));
  return scf::IfOp::create(builder, loc, types, isBefore,
                           /*withElseRegion=*/true);
}

SmallVector<Value> KernelPacker::selectArguments(const Part &part,
                                                 ArrayRef<size_t> members,
                                                 Value number, int64_t first) {
  LLVM::LLVMFuncOp program = part.program;
  if (members.size() == 1) {
    SmallVector<Value> own;
    for (unsigned i : arguments[members.front()])
      own.push_back(packed.getArgument(i));
    return own;
  }
  size_t half = (members.size() + 1) / 2;
  int64_t middle = first + static_cast<int64_t>(half);
  scf::IfOp branch = createBranch(program.getArgumentTypes(), number, middle);
  OpBuilder::InsertionGuard guard(builder);
  auto yield = [&](Block *block, ArrayRef<size_t> some, int64_t begin) {
    builder.setInsertionPointToStart(block);
    SmallVector<Value> own = selectArguments(part, some, number, begin);
    scf::YieldOp::create(builder, packed.getLoc(), own);
  };
  yield(branch.thenBlock(), members.take_front(half), first);
  yield(branch.elseBlock(), members.drop_front(half), middle);
  return SmallVector<Value>(branch.getResults());
}

void KernelPacker::inlinePart(const Part &part, Value block) {
  LLVM::LLVMFuncOp program = part.program;
  Location loc = program.getLoc();
  if (part.start > 0)
    block = arith::SubIOp::create(builder, loc, block, constant(part.start));
  Value number;
  // Members that run one program differ in what it is given.
  if (part.members.size() > 1) {
    Value each = constant(part.blocks);
    number = arith::DivUIOp::create(builder, loc, block, each);
    block = arith::RemUIOp::create(builder, loc, block, each);
  }
  OpBuilder::InsertionGuard guard(builder);
  if (getThreads(program) < threads) {
    Value thread =
        NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
    Value works = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                        thread, constant(getThreads(program)));
    auto branch = scf::IfOp::create(builder, loc, works);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  IRMapping mapping;
  mapping.map(program.getArguments(),
              selectArguments(part, part.members, number, 0));
  SmallVector<Operation *> copies;
  for (Operation &op : program.getBody().front().without_terminator())
    copies.push_back(builder.clone(op, mapping));
  for (Operation *copy : copies)
    copy->walk([&](Operation *op) { adapt(op, part, block); });
}

void KernelPacker::emit(size_t first, size_t last, Value block) {
  if (first == last)
    return inlinePart(parts[first], block);
  // As many parts on either side: few comparisons for each block.
  size_t middle = (first + last + 1) / 2;
  scf::IfOp branch = createBranch(TypeRange(), block, parts[middle].start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  emit(first, middle - 1, block);
  builder.setInsertionPointToStart(branch.elseBlock());
  emit(middle, last, block);
}

LLVM::LLVMFuncOp KernelPacker::run() {
  builder.setInsertionPointToStart(packed.addEntryBlock(builder));
  Location loc = packed.getLoc();
  Value block = NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type());
  emit(0, parts.size() - 1, block);
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
