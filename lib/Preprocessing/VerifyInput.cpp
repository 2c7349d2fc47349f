//===- VerifyInput.cpp - What can be compiled -----------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the check of a program before and after the input phase.
//
//===----------------------------------------------------------------------===//

#include "ForeignOps.h"
#include "UninitialisedReads.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "fusion/Preprocessing/Passes.h"
#include "fusion/Preprocessing/Pipeline.h"
#include "fusion/Support/ErrorCodes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace mlir::fusion {
#define GEN_PASS_DEF_VERIFYINPUTPASS
#include "fusion/Preprocessing/Passes.h.inc"
} // namespace mlir::fusion

using namespace mlir;
using namespace mlir::fusion;

namespace {
/// Walks a module and reports each offence once, where it is first met.
class InputVerifier {
public:
  explicit InputVerifier(bool normalForm, bool isQuiet = false)
      : normalForm(normalForm), isQuiet(isQuiet) {}

  LogicalResult verify(Operation *root);
  bool accepts(Operation *op) {
    verifyOp(op);
    return !failed;
  }

private:
  void verifyFunction(FunctionOpInterface function);
  /// Checks an op, the types of its values, and its regions.
  void verifyOp(Operation *op);
  void verifyValueType(Type type, Location loc, const Twine &what);
  void verifyTensor(RankedTensorType type, Location loc, const Twine &what);
  void verifyIterationSpace(linalg::LinalgOp op);
  bool isSupported(Operation *op) const;
  bool isNormal(Operation *op) const;
  void report(Location loc, ErrorCode code, const Twine &cause,
              StringRef remedy = "");

  bool normalForm, isQuiet;
  bool failed = false;
  /// Places with the code reported there. What an op decomposes into shares its
  /// place, and one message says it all.
  llvm::DenseSet<std::pair<Attribute, int>> reported;
};
} // namespace

void InputVerifier::report(Location loc, ErrorCode code, const Twine &cause,
                           StringRef remedy) {
  failed = true;
  if (isQuiet)
    return;
  if (reported.insert({LocationAttr(loc), static_cast<int>(code)}).second)
    emitCodedError(loc, code, cause, remedy);
}

LogicalResult InputVerifier::verify(Operation *root) {
  if (auto function = dyn_cast<FunctionOpInterface>(root)) {
    verifyFunction(function);
    return success(!failed);
  }
  for (Operation &op : *cast<ModuleOp>(root).getBody()) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      verifyFunction(function);
      continue;
    }
    report(op.getLoc(), ErrorCode::UnsupportedOp,
           "'" + op.getName().getStringRef() +
               "' cannot stand in a program's module",
           "keep only func.func ops in the module");
  }
  return success(!failed);
}

void InputVerifier::verifyFunction(FunctionOpInterface function) {
  // A declaration that nothing calls is harmless; calls are refused on their
  // own.
  if (function.isExternal())
    return;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    verifyValueType(type, function.getLoc(),
                    "argument #" + Twine(index) + " of '" + function.getName() +
                        "'");
  if (!llvm::hasSingleElement(function.getFunctionBody())) {
    report(function.getLoc(), ErrorCode::UnsupportedOp,
           "'" + function.getName() + "' branches between blocks",
           "write the function without control flow");
    return;
  }
  for (Operation &op : function.getFunctionBody().front())
    verifyOp(&op);
}

/// Element types that tensors may have.
static bool isSupportedElement(Type type) {
  if (isa<Float64Type, Float32Type, Float16Type, BFloat16Type, Float8E4M3FNType,
          Float8E5M2Type>(type))
    return true;
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 4u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return false;
}

/// No tensor has so many bytes, and no operation so many iterations: sizes are
/// rounded up to tiles, and several are added up, in 63 bits.
static constexpr int64_t kSizeLimit = int64_t(1) << 60;

static std::string toString(Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type;
  return text;
}

void InputVerifier::verifyValueType(Type type, Location loc,
                                    const Twine &what) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    verifyTensor(tensor, loc, what);
    return;
  }
  if (isa<UnrankedTensorType>(type)) {
    report(loc, ErrorCode::UnsupportedType,
           what + " has type " + toString(type) + ", which has no rank",
           "give the tensor a rank; its sizes may be dynamic");
    return;
  }
  if (isa<IndexType>(type) ||
      (isa<FloatType>(type) && isSupportedElement(type)))
    return;
  if (auto integer = dyn_cast<IntegerType>(type))
    if (integer.isSignless() && integer.getWidth() <= 64)
      return;
  // Shapes as TOSA writes them; they are gone with the TOSA ops.
  if (!normalForm && isa<tosa::shapeType>(type))
    return;
  report(loc, ErrorCode::UnsupportedType, what + " has type " + toString(type),
         "use ranked tensors, integers of at most 64 bits, floats and index");
}

void InputVerifier::verifyTensor(RankedTensorType type, Location loc,
                                 const Twine &what) {
  if (type.getEncoding()) {
    report(loc, ErrorCode::UnsupportedType,
           what + " has type " + toString(type) + ", which has an encoding",
           "use dense tensors without an encoding");
    return;
  }
  Type element = type.getElementType();
  // Shapes as importers write them; they are gone with tensor.reshape.
  if (!normalForm && element.isIndex())
    return;
  if (!isSupportedElement(element)) {
    report(loc, ErrorCode::UnsupportedType,
           what + " has type " + toString(type) + " with elements of " +
               toString(element),
           "use elements of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i64, i32, "
           "i16, i8, i4 or i1");
    return;
  }
  // Dynamic sizes count as one: this is the least that the tensor can be. An
  // empty tensor still must not have sizes whose product overflows, because
  // strides are such products.
  std::optional<int64_t> bytes =
      llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size) || size == 0)
      continue;
    bytes = llvm::checkedMul(*bytes, size);
    if (!bytes)
      break;
  }
  if (!bytes || *bytes >= kSizeLimit)
    report(loc, ErrorCode::SizeOverflow,
           what + " has type " + toString(type) + ", of 2^60 bytes or more");
}

void InputVerifier::verifyIterationSpace(linalg::LinalgOp op) {
  std::optional<int64_t> count = 1;
  for (int64_t range : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(range) || range == 0)
      continue;
    count = llvm::checkedMul(*count, range);
    if (!count)
      break;
  }
  if (!count || *count >= kSizeLimit)
    report(op.getLoc(), ErrorCode::SizeOverflow,
           "'" + op->getName().getStringRef() +
               "' has 2^60 iterations or more");
}

/// Whether `op` ends a function, of whatever dialect.
static bool endsFunction(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() && op->getNumSuccessors() == 0 &&
         isa_and_present<FunctionOpInterface>(op->getParentOp());
}

bool InputVerifier::isNormal(Operation *op) const {
  if (endsFunction(op))
    return true;
  if (isa<linalg::GenericOp, linalg::FillOp, linalg::IndexOp, linalg::YieldOp,
          tensor::EmptyOp, tensor::DimOp, tensor::PadOp, tensor::ConcatOp,
          tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp, tensor::ExtractOp, tensor::CastOp,
          tensor::YieldOp, cf::AssertOp, Int4BytesOp, Int4ElementsOp,
          RowGroupsOp, ScanOp, KernelOp, YieldOp, arith::ConstantOp>(op))
    return true;
  auto isScalar = [](Type type) { return !isa<ShapedType>(type); };
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         llvm::all_of(op->getOperandTypes(), isScalar) &&
         llvm::all_of(op->getResultTypes(), isScalar);
}

bool InputVerifier::isSupported(Operation *op) const {
  if (endsFunction(op) || canRaise(op))
    return true;
  // Winograd transforms are what an optimiser makes of a convolution.
  if (isa<linalg::WinogradFilterTransformOp, linalg::WinogradInputTransformOp,
          linalg::WinogradOutputTransformOp, tensor::GatherOp,
          tensor::ParallelInsertSliceOp>(op))
    return false;
  if (isa<cf::AssertOp, affine::AffineApplyOp, affine::AffineMinOp,
          affine::AffineMaxOp>(op))
    return true;
  // Control flow, state and calls to the outside.
  if (isa<tosa::IfOp, tosa::WhileOp, tosa::CustomOp, tosa::ScatterOp>(op) ||
      op->getName().getStringRef().starts_with("tosa.variable"))
    return false;
  return isa_and_present<arith::ArithDialect, FusionDialect,
                         linalg::LinalgDialect, math::MathDialect,
                         tensor::TensorDialect, tosa::TosaDialect>(
      op->getDialect());
}

void InputVerifier::verifyOp(Operation *op) {
  StringRef name = op->getName().getStringRef();
  if (normalForm ? !isNormal(op) : !isSupported(op)) {
    if (isa<func::CallOp>(op))
      report(op->getLoc(), ErrorCode::UnsupportedOp,
             "'func.call' cannot be inlined",
             "call functions that have a body and do not call themselves");
    else
      report(op->getLoc(), ErrorCode::UnsupportedOp,
             "'" + name + "' is not supported",
             "use linalg, tensor, arith, math, tosa and fusion ops without "
             "control flow, on tensors");
    return;
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (index && type && (*index < 0 || *index >= type.getRank()))
      report(op->getLoc(), ErrorCode::InputInvalid,
             "'tensor.dim' asks for dimension " + Twine(*index) +
                 " of a tensor of rank " + Twine(type.getRank()));
  }
  if (std::string read = describeUninitialisedRead(op); !read.empty())
    report(op->getLoc(), ErrorCode::UninitialisedRead, read);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (!linalgOp.hasPureTensorSemantics()) {
      report(op->getLoc(), ErrorCode::UnsupportedOp,
             "'" + name + "' works on memrefs", "use tensors");
      return;
    }
    verifyIterationSpace(linalgOp);
  }
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    verifyValueType(type, op->getLoc(),
                    "result #" + Twine(index) + " of '" + name + "'");
  // What another dialect has in its regions is for its op to say.
  if (canRaise(op))
    return;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        verifyOp(&inner);
}

LogicalResult fusion::verifyInput(Operation *root, bool normalForm) {
  return InputVerifier(normalForm).verify(root);
}

bool fusion::canCompile(Operation *op) {
  return isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperandTypes(),
                      [](Type type) {
                        return isa<RankedTensorType>(type) ||
                               type.isIntOrIndexOrFloat() ||
                               isa<tosa::shapeType>(type);
                      }) &&
         InputVerifier(/*normalForm=*/false, /*isQuiet=*/true).accepts(op);
}

namespace {
struct VerifyInputPass
    : public fusion::impl::VerifyInputPassBase<VerifyInputPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(verifyInput(getOperation(), normalForm)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
