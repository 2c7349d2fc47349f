//===- RaiseForeign.cpp - Ops of other dialects ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the pass that replaces ops of dialects which the
// compiler does not know by what they say about themselves: simpler ops
// (AggregatedOpInterface), or loops and the code of one iteration
// (TilingInterface), which become a linalg.generic.
//
//===----------------------------------------------------------------------===//

#include "ForeignOps.h"
#include "ScalarForm.h"
#include "fusion/Dialect/Fusion/FusionInterfaces.h"
#include "fusion/Preprocessing/InputLimits.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "fusion/Support/ErrorCodes.h"
#include "fusion/Support/LinearExpr.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_RAISEFOREIGNPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

bool fusion::canRaise(Operation *op) {
  static constexpr StringLiteral kKnown[] = {
      "affine", "arith", "builtin",    "cf",     "func", "fusion",
      "linalg", "math",  "ml_program", "tensor", "tosa"};
  return op->isRegistered() &&
         !llvm::is_contained(kKnown, op->getName().getDialectNamespace()) &&
         isa<DecomposeInterface, linalg::AggregatedOpInterface,
             TilingInterface>(op);
}

//===----------------------------------------------------------------------===//
// Reads and writes
//===----------------------------------------------------------------------===//

namespace {
/// Makes a linalg.generic of one op.
class Raiser {
public:
  Raiser(Operation *op, const ScalarForm &form)
      : op(op), form(form), destination(cast<DestinationStyleOpInterface>(op)),
        builder(op), context(op->getContext()) {}

  /// The generic; null, and why in `reason`, if there is none.
  Operation *raise(std::string &reason);

private:
  /// A tensor that the generic reads, and where.
  struct Input {
    Value tensor;
    AffineMap map;
  };

  std::string readOps();
  std::string readStore(memref::StoreOp store);
  std::string readLoad(memref::LoadOp load);
  /// The map of the indices; null if they are not all affine.
  AffineMap getMap(ValueRange values) const;
  /// Whether each of its results is a loop that has the dimension's size, or
  /// elements in a window that are known to lie inside.
  bool isDirect(AffineMap map, Value tensor) const;
  /// Whether every result is a loop, once, whose size is known to be that of
  /// the dimension.
  bool isExact(AffineMap map, Value tensor) const;
  bool isExact(unsigned loop, Value tensor, int64_t dim) const;
  /// Finds the loops whose size some access has that is an operand for certain.
  void findExact();
  /// Whether the dimension may be taken for one of the loop's size: it is known
  /// to be, or every launch checks it against one that is.
  bool hasSize(unsigned loop, Value tensor, int64_t dim) const;
  /// Adds a tensor that is not read for every loop that no other bounds.
  void boundLoops();
  Value getOuter(Value value);
  void buildBody(OpBuilder &b, ValueRange args);
  Value buildLoad(OpBuilder &b, memref::LoadOp load, ValueRange args,
                  IRMapping &map);

  Operation *op;
  const ScalarForm &form;
  DestinationStyleOpInterface destination;
  OpBuilder builder;
  MLIRContext *context;
  llvm::SmallBitVector exact;
  SmallVector<Input> inputs;
  /// Of each destination, once it is stored to.
  SmallVector<AffineMap> stored;
  SmallVector<Value> values;
  /// Loads of inputs by their number among them; others read by index.
  llvm::DenseMap<Operation *, unsigned> direct;
};
} // namespace

AffineMap Raiser::getMap(ValueRange values) const {
  SmallVector<AffineExpr> exprs;
  for (Value value : values) {
    exprs.push_back(form.getAffine(value));
    if (!exprs.back())
      return {};
  }
  return AffineMap::get(form.getNumLoops(), 0, exprs, context);
}

bool Raiser::isExact(unsigned loop, Value tensor, int64_t dim) const {
  const LoopCount &count = form.getCount(loop);
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  if (count.number)
    return *count.number == size;
  return op->getOperand(count.operand) == tensor && count.dim == dim;
}

bool Raiser::isExact(AffineMap map, Value tensor) const {
  if (!map || !map.isProjectedPermutation())
    return false;
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (!isExact(cast<AffineDimExpr>(expr).getPosition(), tensor, dim))
      return false;
  return true;
}

void Raiser::findExact() {
  exact.resize(form.getNumLoops());
  auto look = [&](Value buffer, ValueRange indices) {
    std::optional<unsigned> operand = form.getOperand(buffer);
    AffineMap map = getMap(indices);
    if (!operand || *operand >= op->getNumOperands() ||
        !isExact(map, op->getOperand(*operand)))
      return;
    for (AffineExpr expr : map.getResults())
      exact.set(cast<AffineDimExpr>(expr).getPosition());
  };
  for (Operation *each : form.getOps())
    if (auto store = dyn_cast<memref::StoreOp>(each))
      look(store.getMemref(), store.getIndices());
    else if (auto load = dyn_cast<memref::LoadOp>(each))
      // An operand that is not used may be dropped.
      if (!load->use_empty())
        look(load.getMemref(), load.getIndices());
}

bool Raiser::hasSize(unsigned loop, Value tensor, int64_t dim) const {
  if (isExact(loop, tensor, dim))
    return true;
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  std::optional<int64_t> count = form.getCount(loop).number;
  return exact.test(loop) &&
         (!count || ShapedType::isDynamic(size) || *count == size);
}

/// The greatest value of `expr`, a sum of loops' indices times positive
/// factors, each of a loop of constant size; nothing for others.
static std::optional<int64_t> getGreatest(AffineExpr expr,
                                          const ScalarForm &form) {
  unsigned numLoops = form.getNumLoops();
  std::optional<LinearExpr> linear = getLinear(expr, numLoops, 0);
  if (!linear || linear->number != 0)
    return std::nullopt;
  int64_t greatest = 0;
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    std::optional<int64_t> count = form.getCount(loop).number;
    int64_t factor = linear->factors[loop];
    if (factor < 0 || (factor > 0 && !count))
      return std::nullopt;
    if (factor > 0)
      greatest += factor * (*count - 1);
  }
  return greatest;
}

bool Raiser::isDirect(AffineMap map, Value tensor) const {
  auto type = cast<RankedTensorType>(tensor.getType());
  llvm::SmallBitVector seen(form.getNumLoops());
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    llvm::SmallBitVector used(form.getNumLoops());
    expr.walk([&](AffineExpr part) {
      if (auto loop = dyn_cast<AffineDimExpr>(part))
        used.set(loop.getPosition());
    });
    // A diagonal, or one element for all.
    if (used.none() || used.anyCommon(seen))
      return false;
    seen |= used;
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      if (!hasSize(loop.getPosition(), tensor, dim))
        return false;
      continue;
    }
    // A window, which must be known to lie inside.
    std::optional<int64_t> last = getGreatest(expr, form);
    if (!last || type.isDynamicDim(dim) || *last >= type.getDimSize(dim))
      return false;
  }
  return true;
}

std::string Raiser::readStore(memref::StoreOp store) {
  std::optional<unsigned> operand = form.getOperand(store.getMemref());
  if (!operand || *operand >= op->getNumOperands() ||
      !destination.isDpsInit(&op->getOpOperand(*operand)))
    return "it writes to something other than a destination";
  OpOperand &init = op->getOpOperand(*operand);
  unsigned number = destination.getTiedOpResult(&init).getResultNumber();
  if (stored[number])
    return "it writes to result #" + std::to_string(number) + " twice";
  AffineMap map = getMap(store.getIndices());
  std::string result = "result #" + std::to_string(number);
  if (!map || !map.isProjectedPermutation())
    return "it writes to " + result + " at other places than its loops'";
  llvm::SmallBitVector kept(form.getNumLoops());
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    kept.set(loop);
    if (!hasSize(loop, init.get(), dim))
      return "it is not known to write all of " + result;
  }
  for (unsigned loop = 0; loop < form.getNumLoops(); ++loop)
    if (kept.test(loop) !=
        (form.getIterator(loop) == utils::IteratorType::parallel))
      return "loop #" + std::to_string(loop) + " is " +
             (kept.test(loop) ? "no parallel one, but chooses the place of "
                              : "parallel, but does not choose the place of ") +
             result;
  stored[number] = map;
  values[number] = store.getValue();
  return "";
}

std::string Raiser::readLoad(memref::LoadOp load) {
  std::optional<unsigned> operand = form.getOperand(load.getMemref());
  if (!operand || *operand >= op->getNumOperands())
    return "it reads something other than an operand";
  OpOperand &read = op->getOpOperand(*operand);
  if (destination.isDpsInit(&read)) {
    unsigned number = destination.getTiedOpResult(&read).getResultNumber();
    if (stored[number])
      return "it reads result #" + std::to_string(number) +
             " after it has written to it";
    return "";
  }
  AffineMap map = getMap(load.getIndices());
  // By index in the body, as a gather.
  if (!map || !isDirect(map, read.get()))
    return "";
  auto *found = llvm::find_if(inputs, [&](const Input &input) {
    return input.tensor == read.get() && input.map == map;
  });
  direct[load] = found - inputs.begin();
  if (found == inputs.end())
    inputs.push_back({read.get(), map});
  return "";
}

std::string Raiser::readOps() {
  findExact();
  stored.resize(op->getNumResults());
  values.resize(op->getNumResults());
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  for (Operation *each : form.getOps()) {
    std::string reason;
    if (!form.isClosed(each))
      return "an iteration takes something from outside of it";
    if (auto load = dyn_cast<memref::LoadOp>(each))
      reason = readLoad(load);
    else if (auto store = dyn_cast<memref::StoreOp>(each))
      reason = readStore(store);
    else if (!isa<memref::DimOp>(each) &&
             (each->getNumRegions() != 0 || !isMemoryEffectFree(each) ||
              !llvm::all_of(each->getOperandTypes(), isScalar) ||
              !llvm::all_of(each->getResultTypes(), isScalar)))
      reason = "an iteration has the op '" +
               each->getName().getStringRef().str() +
               "', which is neither arithmetic nor one load or store";
    if (!reason.empty())
      return reason;
  }
  for (auto [number, map] : llvm::enumerate(stored))
    if (!map)
      return "it does not write to result #" + std::to_string(number);
  llvm::SmallBitVector read(op->getNumResults());
  // What is read of a destination is what is written there.
  for (Operation *each : form.getOps()) {
    auto load = dyn_cast<memref::LoadOp>(each);
    OpOperand *operand =
        load ? &op->getOpOperand(*form.getOperand(load.getMemref())) : nullptr;
    if (!operand || !destination.isDpsInit(operand))
      continue;
    unsigned number = destination.getTiedOpResult(operand).getResultNumber();
    if (getMap(load.getIndices()) != stored[number])
      return "it reads result #" + std::to_string(number) +
             " at another place than it writes to";
    if (!load->use_empty())
      read.set(number);
  }
  bool reduces = false;
  for (unsigned loop = 0; loop < form.getNumLoops(); ++loop)
    reduces |= form.getIterator(loop) != utils::IteratorType::parallel;
  if (reduces && !read.all())
    return "one iteration after the other writes to a result without reading "
           "it";
  return "";
}

//===----------------------------------------------------------------------===//
// The generic
//===----------------------------------------------------------------------===//

void Raiser::boundLoops() {
  llvm::SmallBitVector bounded(form.getNumLoops());
  auto look = [&](AffineMap map) {
    for (AffineExpr expr : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        bounded.set(dim.getPosition());
  };
  for (const Input &input : inputs)
    look(input.map);
  for (AffineMap map : stored)
    look(map);
  bounded.flip();
  for (unsigned loop : bounded.set_bits()) {
    const LoopCount &count = form.getCount(loop);
    OpFoldResult size =
        count.number
            ? OpFoldResult(builder.getIndexAttr(*count.number))
            : tensor::getMixedSize(builder, op->getLoc(),
                                   op->getOperand(count.operand), count.dim);
    Value shape = tensor::EmptyOp::create(builder, op->getLoc(), {size},
                                          builder.getF32Type());
    inputs.push_back({shape, AffineMap::get(form.getNumLoops(), 0,
                                            getAffineDimExpr(loop, context))});
  }
}

/// What an argument of the scalar form stands for.
Value Raiser::getOuter(Value value) {
  unsigned operand = *form.getOperand(value);
  unsigned count = op->getNumOperands();
  return operand < count ? op->getOperand(operand)
                         : form.getCaptured()[operand - count];
}

Value Raiser::buildLoad(OpBuilder &b, memref::LoadOp load, ValueRange args,
                        IRMapping &map) {
  OpOperand &read = op->getOpOperand(*form.getOperand(load.getMemref()));
  if (destination.isDpsInit(&read))
    return args[inputs.size() +
                destination.getTiedOpResult(&read).getResultNumber()];
  if (auto found = direct.find(load); found != direct.end())
    return args[found->second];
  SmallVector<Value> indices;
  for (Value index : load.getIndices())
    indices.push_back(map.lookupOrDefault(index));
  return tensor::ExtractOp::create(b, load.getLoc(), read.get(), indices);
}

void Raiser::buildBody(OpBuilder &b, ValueRange args) {
  IRMapping map;
  auto mapOperand = [&](Value value) {
    if (map.contains(value))
      return;
    if (std::optional<unsigned> loop = form.getLoop(value))
      map.map(value, linalg::IndexOp::create(b, op->getLoc(), *loop));
    else if (form.getOperand(value) && !isa<MemRefType>(value.getType()))
      map.map(value, getOuter(value));
  };
  for (Operation *each : form.getOps()) {
    for (Value operand : each->getOperands())
      mapOperand(operand);
    if (auto load = dyn_cast<memref::LoadOp>(each))
      map.map(load.getResult(), buildLoad(b, load, args, map));
    else if (auto dim = dyn_cast<memref::DimOp>(each))
      map.map(dim.getResult(),
              tensor::DimOp::create(b, dim.getLoc(), getOuter(dim.getSource()),
                                    map.lookupOrDefault(dim.getIndex())));
    else if (!isa<memref::StoreOp>(each))
      b.clone(*each, map);
  }
  SmallVector<Value> yielded;
  for (Value value : values)
    yielded.push_back(map.lookupOrDefault(value));
  linalg::YieldOp::create(b, op->getLoc(), yielded);
}

Operation *Raiser::raise(std::string &reason) {
  reason = readOps();
  if (!reason.empty())
    return nullptr;
  boundLoops();
  SmallVector<Value> tensors, inits(destination.getDpsInits());
  SmallVector<AffineMap> maps;
  for (const Input &input : inputs) {
    tensors.push_back(input.tensor);
    maps.push_back(input.map);
  }
  llvm::append_range(maps, stored);
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop = 0; loop < form.getNumLoops(); ++loop)
    iterators.push_back(form.getIterator(loop));
  return linalg::GenericOp::create(
      builder, op->getLoc(), op->getResultTypes(), tensors, inits, maps,
      iterators,
      [&](OpBuilder &b, Location, ValueRange args) { buildBody(b, args); });
}

//===----------------------------------------------------------------------===//
// Ops of a function
//===----------------------------------------------------------------------===//

static LogicalResult refuse(Operation *op, const Twine &reason) {
  return emitCodedError(op->getLoc(), ErrorCode::ForeignOp,
                        "'" + op->getName().getStringRef() + "': " + reason);
}

/// The values of `op` by its loops and the code of one iteration.
static FailureOr<SmallVector<Value>> raiseLoops(Operation *op) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  if (!destination || !destination.hasPureTensorSemantics() ||
      destination.getNumDpsInits() != op->getNumResults())
    return refuse(op, "its results have no destinations among its operands");
  std::string reason;
  std::optional<ScalarForm> form = ScalarForm::create(op, reason);
  if (!form)
    return refuse(op, reason);
  if (form->getNumLoops() > kMaxOpLoops ||
      static_cast<int64_t>(form->getOps().size()) > kMaxBodyOps)
    return emitCodedError(op->getLoc(), ErrorCode::InputTooLarge,
                          "'" + op->getName().getStringRef() + "' has " +
                              Twine(form->getNumLoops()) + " loops and " +
                              Twine(form->getOps().size()) +
                              " ops in an iteration");
  Operation *generic = Raiser(op, *form).raise(reason);
  if (!generic)
    return refuse(op, reason);
  return SmallVector<Value>(generic->getResults());
}

static FailureOr<SmallVector<Value>> raise(Operation *op) {
  auto aggregated = dyn_cast<linalg::AggregatedOpInterface>(op);
  if (!aggregated)
    return raiseLoops(op);
  OpBuilder builder(op);
  FailureOr<SmallVector<Value>> values = aggregated.decomposeOperation(builder);
  if (failed(values) || values->size() != op->getNumResults())
    return refuse(op, "it does not decompose");
  return values;
}

LogicalResult fusion::raiseForeignOps(Operation *root) {
  SmallVector<Operation *> ops;
  auto collect = [&] {
    ops.clear();
    root->walk([&](Operation *op) {
      // Those with a decomposition of ours are decomposed with ours.
      if (canRaise(op) && !isa<DecomposeInterface>(op))
        ops.push_back(op);
    });
    return !ops.empty();
  };
  // What an op decomposes into may have to be raised in turn, but not for ever.
  int64_t count = 0;
  while (collect())
    for (Operation *op : ops) {
      if (++count > kMaxProgramOps)
        return refuse(op, "what it decomposes into has to be decomposed again, "
                          "without end");
      FailureOr<SmallVector<Value>> values = raise(op);
      if (failed(values))
        return failure();
      OpBuilder builder(op);
      for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
        Value replacement = value;
        if (value.getType() != result.getType())
          replacement = tensor::CastOp::create(builder, op->getLoc(),
                                               result.getType(), value);
        result.replaceAllUsesWith(replacement);
      }
      op->erase();
    }
  return success();
}

namespace {
struct RaiseForeignPass
    : public fusion::impl::RaiseForeignPassBase<RaiseForeignPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(raiseForeignOps(getOperation())))
      signalPassFailure();
  }
};
} // namespace
