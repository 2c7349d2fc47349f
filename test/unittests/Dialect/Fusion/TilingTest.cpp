//===- TilingTest.cpp - Tiles of fusion ops against the whole -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file has upstream tile an example of every op of the dialect that
// computes, alone and together with what reads its result, and compares the
// results of the loops with those of the op, on the CPU reference.
//
//===----------------------------------------------------------------------===//

#include "../../Reference/ReferenceTestUtils.h"
#include "fusion/Dialect/Fusion/FusionOps.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/IR/PatternMatch.h"
#include "gtest/gtest.h"
#include <regex>
#include <set>

using namespace mlir;
using namespace mlir::fusion;

namespace {

/// One op on arguments, with results %r.
struct Example {
  const char *arguments, *op, *results;
  /// Whether sizes may be left open.
  bool mayBeDynamic = true;
  int numResults = 1;

  std::string getText(bool isDynamic) const {
    std::string count = std::to_string(numResults);
    std::string values = "%r";
    if (numResults > 1) {
      values = "%r#0";
      for (int i = 1; i < numResults; ++i)
        values += ", %r#" + std::to_string(i);
    }
    std::string text = "func.func @f(" + std::string(arguments) + ") -> (" +
                       results + ") {\n  %r:" + count + " = " + op +
                       "\n  return " + values + " : " + results + "\n}\n";
    if (isDynamic)
      text = std::regex_replace(text, std::regex("([<x])[0-9]+(?=x)"), "$1?");
    return text;
  }
};

const char kRecurrence[] =
    R"(fusion.scan reverse ins(%x, %y : tensor<3x5x4xf64>, tensor<3x5x4xf64>)
    inits(%one, %zero : f64, f64) axis(1)
    -> tensor<3x5x4xf64>, tensor<3x5x4xf64> {
  ^bb0(%a1: f64, %b1: f64, %a2: f64, %b2: f64):
    %a = arith.mulf %a1, %a2 : f64
    %c = arith.mulf %a2, %b1 : f64
    %b = arith.addf %c, %b2 : f64
    fusion.yield %a, %b : f64, f64
  })";

/// An elementwise op of one tensor.
#define SAME(op)                                                               \
  {"%x: tensor<3x5xf64>", "fusion." op " : tensor<3x5xf64>", "tensor<3x5xf64>"}

const Example kExamples[] = {
    SAME("relu %x"),
    SAME("relu6 %x"),
    SAME("sigmoid %x"),
    SAME("log_sigmoid %x"),
    SAME("silu %x"),
    SAME("mish %x"),
    SAME("hard_swish %x"),
    SAME("hard_sigmoid %x {alpha = 0.2 : f64}"),
    SAME("gelu tanh %x"),
    SAME("softplus %x {beta = 2.0 : f64}"),
    SAME("elu %x {alpha = 0.5 : f64}"),
    SAME("selu %x"),
    SAME("leaky_relu %x {slope = 0.2 : f64}"),
    SAME("softmax %x axis(0)"),
    SAME("log_softmax %x axis(1)"),
    {"%x: tensor<3x5xf64>, %seed: i64",
     "fusion.dropout %x, %seed probability(0.3) op_id(7) : tensor<3x5xf64>",
     "tensor<3x5xf64>"},
    {"%x: tensor<3x2x5x4xf64>, %c: tensor<5x2xf64>, %s: tensor<5x2xf64>",
     "fusion.rope %x, %c, %s seq_axis(2) : tensor<3x2x5x4xf64>, "
     "tensor<5x2xf64>, tensor<5x2xf64>",
     "tensor<3x2x5x4xf64>"},
    {"%x: tensor<3x5x2x4xf64>, %c: tensor<3x5x2xf64>, %s: tensor<3x5x2xf64>",
     "fusion.rope interleaved %x, %c, %s seq_axis(1) : tensor<3x5x2x4xf64>, "
     "tensor<3x5x2xf64>, tensor<3x5x2xf64>",
     "tensor<3x5x2x4xf64>"},
    {"%x: tensor<3x5x4xf64>, %s: tensor<5x4xf64>, %b: tensor<5x4xf64>",
     "fusion.layer_norm %x scale(%s) bias(%b) axis(1) eps(1.0e-5) : "
     "(tensor<3x5x4xf64>, tensor<5x4xf64>, tensor<5x4xf64>) -> "
     "tensor<3x5x4xf64>",
     "tensor<3x5x4xf64>"},
    {"%x: tensor<3x5x4xf64>, %b: tensor<4xf64>",
     "fusion.rms_norm %x bias(%b) axis(2) eps(1.0e-5) : (tensor<3x5x4xf64>, "
     "tensor<4xf64>) -> tensor<3x5x4xf64>",
     "tensor<3x5x4xf64>"},
    {"%x: tensor<3x6x4xf64>, %s: tensor<6xf64>",
     "fusion.group_norm %x scale(%s) groups(2) eps(1.0e-5) : "
     "(tensor<3x6x4xf64>, tensor<6xf64>) -> tensor<3x6x4xf64>",
     "tensor<3x6x4xf64>"},
    {"%x: tensor<3x5x4xf64>, %s: tensor<5xf64>, %b: tensor<5xf64>",
     "fusion.instance_norm %x scale(%s) bias(%b) eps(1.0e-5) : "
     "(tensor<3x5x4xf64>, tensor<5xf64>, tensor<5xf64>) -> tensor<3x5x4xf64>",
     "tensor<3x5x4xf64>"},
    {"%x: tensor<3x5x4xf64>, %m: tensor<5xf64>, %v: tensor<5xf64>, "
     "%s: tensor<5xf64>",
     "fusion.batch_norm %x, %m, %v scale(%s) channel_axis(1) eps(4.0) : "
     "(tensor<3x5x4xf64>, tensor<5xf64>, tensor<5xf64>, tensor<5xf64>) -> "
     "tensor<3x5x4xf64>",
     "tensor<3x5x4xf64>"},
    {"%x: tensor<3x5x4xf64>, %b: tensor<5xf64>",
     "fusion.batch_norm_training %x bias(%b) channel_axis(1) eps(1.0e-5) : "
     "(tensor<3x5x4xf64>, tensor<5xf64>) -> (tensor<3x5x4xf64>, "
     "tensor<5xf64>, tensor<5xf64>)",
     "tensor<3x5x4xf64>, tensor<5xf64>, tensor<5xf64>", true, 3},
    {"%x: tensor<3x4x5xf64>, %t: tensor<3x5xi64>",
     "fusion.cross_entropy none %x, %t axis(1) {ignore_index = 1 : i64, "
     "label_smoothing = 0.1 : f64} : (tensor<3x4x5xf64>, tensor<3x5xi64>) -> "
     "tensor<3x5xf64>",
     "tensor<3x5xf64>"},
    {"%x: tensor<3x4xf64>, %t: tensor<3xi64>",
     "fusion.cross_entropy mean %x, %t axis(1) : (tensor<3x4xf64>, "
     "tensor<3xi64>) -> tensor<f64>",
     "tensor<f64>"},
    {"%x: tensor<5x3xf64>, %w: tensor<4x3xf64>, %t: tensor<5xi64>, "
     "%b: tensor<4xf64>",
     "fusion.linear_cross_entropy none %x, %w, %t bias(%b) : "
     "(tensor<5x3xf64>, tensor<4x3xf64>, tensor<5xi64>, tensor<4xf64>) -> "
     "tensor<5xf64>",
     "tensor<5xf64>"},
    {"%x: tensor<3x5xf64>, %s: tensor<5xf64>, %z: tensor<5xi8>",
     "fusion.quantize uint8 %x scale(%s) zero_point(%z) {axis = 1 : i64} : "
     "(tensor<3x5xf64>, tensor<5xf64>, tensor<5xi8>) -> tensor<3x5xi8>",
     "tensor<3x5xi8>"},
    {"%x: tensor<3x10xf64>, %s: tensor<10xf64>",
     "fusion.quantize int4 %x scale(%s) {axis = 1 : i64} : "
     "(tensor<3x10xf64>, tensor<10xf64>) -> tensor<3x5xi8>",
     "tensor<3x5xi8>"},
    {"%x: tensor<9x5xf64>, %s: tensor<3x5xf64>",
     "fusion.quantize int8 %x scale(%s) {axis = 0 : i64, group_size = 3 : "
     "i64} : (tensor<9x5xf64>, tensor<3x5xf64>) -> tensor<9x5xi8>",
     "tensor<9x5xi8>"},
    {"%x: tensor<5x6xi8>, %s: tensor<f64>",
     "fusion.dequantize int4 %x scale(%s) : (tensor<5x6xi8>, tensor<f64>) -> "
     "tensor<5x12xf64>",
     "tensor<5x12xf64>"},
    {"%x: tensor<5x6xi8>, %s: tensor<5x3xf64>, %z: tensor<5x3xi8>",
     "fusion.dequantize uint4 %x scale(%s) zero_point(%z) {axis = 1 : i64, "
     "group_size = 4 : i64} : (tensor<5x6xi8>, tensor<5x3xf64>, "
     "tensor<5x3xi8>) -> tensor<5x12xf64>",
     "tensor<5x12xf64>"},
    {"%x: tensor<5x6xi8>, %s: tensor<5x4xf64>",
     "fusion.dequantize int4 %x scale(%s) {axis = 1 : i64, group_size = 3 : "
     "i64} : (tensor<5x6xi8>, tensor<5x4xf64>) -> tensor<5x12xf64>",
     "tensor<5x12xf64>"},
    {"%x: tensor<3x7x5xf64>, %i: tensor<3x4xi64>",
     "fusion.gather %x, %i axis(1) : (tensor<3x7x5xf64>, tensor<3x4xi64>) -> "
     "tensor<3x3x4x5xf64>",
     "tensor<3x3x4x5xf64>"},
    {"%x: tensor<3x5x4xf64>, %y: tensor<3x5x4xf64>, %one: f64, %zero: f64",
     kRecurrence, "tensor<3x5x4xf64>, tensor<3x5x4xf64>", true, 2},
    {"%o: tensor<4xi32>",
     "fusion.row_groups %o : tensor<4xi32> -> tensor<5xi32>", "tensor<5xi32>",
     false},
    {"%x: tensor<5x4xf64>, %w: tensor<3x4x7xf64>, %o: tensor<4xi32>, "
     "%b: tensor<3x7xf64>",
     "fusion.grouped_matmul %x, %w offsets(%o) bias(%b) : (tensor<5x4xf64>, "
     "tensor<3x4x7xf64>, tensor<4xi32>, tensor<3x7xf64>) -> tensor<5x7xf64>",
     "tensor<5x7xf64>"},
    {"%x: tensor<5x4xf64>, %w: tensor<3x7x4xf64>, %o: tensor<4xi32>",
     "fusion.grouped_matmul %x, %w offsets(%o) transposed : (tensor<5x4xf64>, "
     "tensor<3x7x4xf64>, tensor<4xi32>) -> tensor<5x7xf64>",
     "tensor<5x7xf64>"},
    {"%q: tensor<2x3x5x4xf64>, %k: tensor<2x3x7x4xf64>, "
     "%v: tensor<2x3x7x6xf64>, %b: tensor<3x1x7xf64>",
     "fusion.attention %q, %k, %v bias(%b) : (tensor<2x3x5x4xf64>, "
     "tensor<2x3x7x4xf64>, tensor<2x3x7x6xf64>, tensor<3x1x7xf64>) -> "
     "tensor<2x3x5x6xf64>",
     "tensor<2x3x5x6xf64>", false},
    {"%q: tensor<3x5x4xf64>, %k: tensor<3x7x4xf64>, %v: tensor<3x7x6xf64>, "
     "%m: tensor<5x7xi1>",
     "fusion.attention %q, %k, %v mask(%m) : (tensor<3x5x4xf64>, "
     "tensor<3x7x4xf64>, tensor<3x7x6xf64>, tensor<5x7xi1>) -> "
     "tensor<3x5x6xf64>",
     "tensor<3x5x6xf64>"},
    // Query heads in groups, under a causal mask.
    {"%q: tensor<3x6x5x4xf64>, %k: tensor<3x2x7x4xf64>, "
     "%v: tensor<3x2x7x5xf64>, %b: tensor<6x5x7xf64>",
     "fusion.attention %q, %k, %v bias(%b) causal(bottom_right) {scale = 0.5 "
     ": f64} : (tensor<3x6x5x4xf64>, tensor<3x2x7x4xf64>, "
     "tensor<3x2x7x5xf64>, tensor<6x5x7xf64>) -> tensor<3x6x5x5xf64>",
     "tensor<3x6x5x5xf64>", false},
    // Weights that depend on the row.
    {"%q: tensor<3x5x4xf64>, %k: tensor<3x7x4xf64>, %v: tensor<3x7x6xf64>",
     R"(fusion.attention %q, %k, %v : (tensor<3x5x4xf64>, tensor<3x7x4xf64>,
        tensor<3x7x6xf64>) -> tensor<3x5x6xf64> {
     ^bb0(%s: f64, %h: index, %i: index, %j: index):
       %d = arith.subi %i, %j : index
       %n = arith.index_cast %d : index to i64
       %a = arith.sitofp %n : i64 to f64
       %t = arith.addf %s, %a : f64
       fusion.yield %t : f64
     })",
     "tensor<3x5x6xf64>"},
    {"%q: tensor<3x5x4xf64>, %k: tensor<3x7x4xf64>, %v: tensor<3x7x5xf64>, "
     "%seed: i64",
     "fusion.attention %q, %k, %v seed(%seed) {dropout = 0.3 : f64} : "
     "(tensor<3x5x4xf64>, tensor<3x7x4xf64>, tensor<3x7x5xf64>, i64) -> "
     "tensor<3x5x5xf64>",
     "tensor<3x5x5xf64>"},
    {"%x: tensor<3x2x9x8xf64>, %w: tensor<5x2x3x2xf64>, %b: tensor<5xf64>",
     "fusion.conv nchw %x, %w bias(%b) {strides = array<i64: 2, 1>, dilations "
     "= array<i64: 1, 2>} : (tensor<3x2x9x8xf64>, tensor<5x2x3x2xf64>, "
     "tensor<5xf64>) -> tensor<3x5x4x6xf64>",
     "tensor<3x5x4x6xf64>", false},
    {"%x: tensor<3x9x4xf64>, %w: tensor<6x3x2xf64>",
     "fusion.conv nhwc %x, %w {groups = 2 : i64, padding = array<i64: 1, 1>} "
     ": (tensor<3x9x4xf64>, tensor<6x3x2xf64>) -> tensor<3x9x6xf64>",
     "tensor<3x9x6xf64>"},
    {"%x: tensor<3x2x5xf64>, %w: tensor<2x5x3xf64>",
     "fusion.conv nchw transposed %x, %w {strides = array<i64: 2>} : "
     "(tensor<3x2x5xf64>, tensor<2x5x3xf64>) -> tensor<3x5x11xf64>",
     "tensor<3x5x11xf64>", false},
    {"%x: tensor<3x5x9x8xf64>",
     "fusion.pool avg nchw %x window [3, 3] {strides = array<i64: 2, 1>, "
     "padding = array<i64: 0, 0, 1, 1>} : (tensor<3x5x9x8xf64>) -> "
     "tensor<3x5x4x8xf64>",
     "tensor<3x5x4x8xf64>"},
    {"%x: tensor<3x9x5xf64>",
     "fusion.pool max nhwc %x window [2] {dilations = array<i64: 3>} : "
     "(tensor<3x9x5xf64>) -> tensor<3x6x5xf64>",
     "tensor<3x6x5xf64>"},
};

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

/// An example, alone or between elementwise ops, and what it computes.
class Tiled {
public:
  Tiled(const Example &example, bool isDynamic)
      : program(example.getText(isDynamic)), whole(example.getText(false)) {
    if (failed(parsed()))
      return;
    op = *getFunction().getOps<TileMapInterface>().begin();
    map = op.getTileMap();
  }

  LogicalResult parsed() {
    return success(program.getErrors().empty() && whole.getErrors().empty());
  }
  func::FuncOp getFunction() { return find(program); }
  std::string getErrors() { return program.getErrors() + whole.getErrors(); }
  std::string print() { return program.print(); }

  /// Lets fusion.relu read a tensor, here and in the program that is compared
  /// with.
  void readFirstResult() {
    for (Program *each : {&program, &whole})
      addReader(find(*each));
  }
  /// Lets the program return two values, to compare them.
  void returnBoth(Value one, Value other) {
    func::FuncOp function = getFunction();
    function.getBody().front().getTerminator()->setOperands({one, other});
    function.setType(FunctionType::get(function.getContext(),
                                       function.getArgumentTypes(),
                                       {one.getType(), other.getType()}));
  }
  void expectResultsAlike() {
    SCOPED_TRACE(print());
    auto reference = program.compile("f");
    ASSERT_TRUE(reference) << getErrors();
    auto got = evaluate(*reference, makeInputs(reference->getSignature()));
    ASSERT_EQ(got.size(), 2u) << getErrors();
    expectEqual(got[0], got[1]);
  }

  /// Compares the results of both programs.
  void expectEqual() {
    SCOPED_TRACE(print());
    auto tiled = program.compile("f"), reference = whole.compile("f");
    ASSERT_TRUE(tiled && reference) << getErrors();
    std::vector<HostTensor> inputs = makeInputs(reference->getSignature());
    auto got = evaluate(*tiled, inputs), want = evaluate(*reference, inputs);
    ASSERT_FALSE(got.empty()) << getErrors();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i)
      expectEqual(got[i], want[i]);
  }

  TileMapInterface op;
  TileMap map;

private:
  static func::FuncOp find(Program &in) {
    return *in.getModule().getOps<func::FuncOp>().begin();
  }
  static void addReader(func::FuncOp function) {
    auto returned =
        cast<func::ReturnOp>(function.getBody().front().getTerminator());
    OpBuilder b(returned);
    returned->setOperand(
        0, ReluOp::create(b, b.getUnknownLoc(), returned->getOperand(0)));
  }
  static void expectEqual(const HostTensor &got, const HostTensor &want) {
    ASSERT_EQ(got.getDims(), want.getDims());
    for (int64_t i = 0; i < got.getNumElements(); ++i) {
      double x = got.getDouble(i), y = want.getDouble(i);
      EXPECT_TRUE(x == y || (std::isnan(x) && std::isnan(y)))
          << x << " for " << y << " at " << i;
    }
  }
  /// Floats at random; i32 as offsets, i64 as indices, others of all bits.
  static std::vector<HostTensor> makeInputs(const Signature &signature) {
    std::vector<HostTensor> inputs;
    for (const TensorSignature &input : signature.inputs) {
      inputs.push_back(randomTensor(input.dtype, input.shape, inputs.size()));
      HostTensor &tensor = inputs.back();
      if (isFloat(tensor))
        continue;
      for (int64_t i = 0; i < tensor.getNumElements(); ++i)
        tensor.setInteger(i, input.dtype == DType::I32   ? 2 * i - 1
                             : input.dtype == DType::I64 ? 5 * i % 3
                             : input.dtype == DType::I1  ? (5 * i % 3 != 0)
                                                         : 37 * i % 256 - 128);
    }
    return inputs;
  }

  Program program, whole;
};

/// Tiles that cut every loop that can be cut, most of them not evenly.
SmallVector<OpFoldResult> chooseTiles(const TileMap &map, OpBuilder &b) {
  return llvm::map_to_vector(map.loops, [&](TileLoop loop) -> OpFoldResult {
    return b.getIndexAttr(loop == TileLoop::Free       ? 2
                          : loop == TileLoop::Constant ? 1
                                                       : 0);
  });
}

/// Runs `check` on every example, with static sizes and with dynamic ones.
void forEachExample(llvm::function_ref<void(Tiled &)> check) {
  for (const Example &example : kExamples)
    for (bool isDynamic : {false, true}) {
      if (isDynamic && !example.mayBeDynamic)
        continue;
      Tiled tiled(example, isDynamic);
      SCOPED_TRACE(example.getText(isDynamic));
      ASSERT_TRUE(succeeded(tiled.parsed())) << tiled.getErrors();
      check(tiled);
    }
}

bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Tiles `op` and puts the loops in its place.
FailureOr<SmallVector<LoopLikeOpInterface>> tile(Operation *op,
                                                 ArrayRef<OpFoldResult> sizes) {
  IRRewriter rewriter(op);
  scf::SCFTilingOptions options;
  options.setTileSizes(sizes);
  FailureOr<scf::SCFTilingResult> result =
      scf::tileUsingSCF(rewriter, cast<TilingInterface>(op), options);
  if (failed(result))
    return failure();
  rewriter.replaceOp(op, result->replacements);
  return result->loops;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

TEST(TilingTest, EveryOpHasAnExample) {
  std::set<std::string> seen;
  for (const Example &example : kExamples)
    seen.insert(Tiled(example, false).op->getName().getStringRef().str());
  Program program("module {}");
  MLIRContext *context = program.getModule().getContext();
  for (RegisteredOperationName name :
       context->getRegisteredOperationsByDialect("fusion")) {
    EXPECT_EQ(name.hasInterface<TileMapInterface>(),
              name.hasInterface<TilingInterface>());
    if (name.hasInterface<TileMapInterface>())
      EXPECT_TRUE(seen.count(name.getStringRef().str()))
          << name.getStringRef().str();
  }
}

TEST(TilingTest, TilesComputeTheWhole) {
  forEachExample([](Tiled &tiled) {
    OpBuilder b(tiled.op);
    bool isCut = llvm::any_of(
        tiled.map.loops, [](TileLoop loop) { return loop != TileLoop::Whole; });
    auto loops = tile(tiled.op, chooseTiles(tiled.map, b));
    ASSERT_TRUE(succeeded(loops)) << tiled.getErrors();
    EXPECT_EQ(!loops->empty(), isCut);
    tiled.expectEqual();
  });
}

TEST(TilingTest, PartsOfWhatIsWholeAreRefused) {
  forEachExample([](Tiled &tiled) {
    for (auto [cut, kind] : llvm::enumerate(tiled.map.loops)) {
      if (kind != TileLoop::Whole)
        continue;
      OpBuilder b(tiled.op);
      SmallVector<OpFoldResult> sizes(tiled.map.loops.size(),
                                      b.getIndexAttr(0));
      sizes[cut] = b.getIndexAttr(1);
      OwningOpRef<Operation *> copy =
          tiled.getFunction()->getParentOp()->clone();
      copy->walk([&, cut = cut](TileMapInterface op) {
        EXPECT_TRUE(failed(tile(op, sizes))) << "loop " << cut;
        return WalkResult::interrupt();
      });
    }
  });
}

TEST(TilingTest, OpsFuseWithTheirReaders) {
  forEachExample([](Tiled &tiled) {
    if (!isFloatTensor(tiled.op->getResult(0)))
      return;
    tiled.readFirstResult();
    Operation *reader = *tiled.op->getResult(0).getUsers().begin();
    IRRewriter rewriter(reader);
    // Three elements are no whole number of pairs.
    SmallVector<OpFoldResult> sizes = llvm::map_to_vector(
        tiled.map.results.front(), [&](TiledDim tied) -> OpFoldResult {
          return rewriter.getIndexAttr(
              tiled.map.loops[tied.loop] == TileLoop::Free ? 3 : 0);
        });
    scf::SCFTileAndFuseOptions options;
    options.tilingOptions.setTileSizes(sizes);
    FailureOr<scf::SCFTileAndFuseResult> result =
        scf::tileConsumerAndFuseProducersUsingSCF(
            rewriter, cast<TilingInterface>(reader), options);
    ASSERT_TRUE(succeeded(result)) << tiled.getErrors();
    StringRef name = tiled.op->getName().getStringRef();
    if (!result->loops.empty()) {
      bool isFused = false;
      result->loops.front()->walk([&](TileMapInterface op) {
        isFused |= op->getName().getStringRef() == name && op != reader;
      });
      EXPECT_TRUE(isFused) << tiled.print();
    }
    for (auto [from, to] : result->replacements)
      rewriter.replaceAllUsesWith(from, to);
    tiled.expectEqual();
  });
}

// What upstream asks an op that it moves into the loops of a writer of
// operands.
TEST(TilingTest, TilesOfOperandsGiveTilesOfResults) {
  forEachExample([](Tiled &tiled) {
    auto type = dyn_cast<RankedTensorType>(tiled.op->getOperand(0).getType());
    if (!type || !type.hasStaticShape())
      return;
    auto returned = cast<func::ReturnOp>(
        tiled.getFunction().getBody().front().getTerminator());
    OpBuilder b(returned);
    SmallVector<OpFoldResult> offsets, sizes;
    for (auto [dim, tied] : llvm::enumerate(tiled.map.operands.front())) {
      bool isCut =
          tied.isPlain() && tiled.map.loops[tied.loop] == TileLoop::Free;
      offsets.push_back(b.getIndexAttr(isCut ? 1 : 0));
      sizes.push_back(b.getIndexAttr(type.getDimSize(dim) - (isCut ? 1 : 0)));
    }
    auto op = cast<TilingInterface>(tiled.op.getOperation());
    EXPECT_TRUE(op.isOpFusableWithProducerSlices({0}, {offsets}, {sizes}));
    SmallVector<OpFoldResult> domainOffsets, domainSizes, at, extents;
    ASSERT_TRUE(succeeded(op.getIterationDomainTileFromOperandTiles(
        b, {0}, {offsets}, {sizes}, domainOffsets, domainSizes)));
    FailureOr<TilingResult> result =
        op.getTiledImplementationFromOperandTiles(b, {0}, {offsets}, {sizes});
    ASSERT_TRUE(succeeded(result)) << tiled.print();
    ASSERT_TRUE(succeeded(op.getResultTilePosition(b, 0, domainOffsets,
                                                   domainSizes, at, extents)));
    SmallVector<OpFoldResult> strides(at.size(), b.getIndexAttr(1));
    Value slice = tensor::ExtractSliceOp::create(
        b, op.getLoc(), op->getResult(0), at, extents, strides);
    tiled.returnBoth(result->tiledValues.front(), slice);
    tiled.expectResultsAlike();
  });
}

} // namespace
