//===- CompilerTest.cpp - Tests of the compiler as a function -------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests what packages say of the programs they were compiled from.
//
//===----------------------------------------------------------------------===//

#include "fusion/Pipelines/Compiler.h"
#include "fusion/Executable/Package.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/ThreadPool.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;
using fusionpkg::BufferKind;
using fusionpkg::StepKind;

namespace {
/// A program, compiled without ptxas.
class Compiled {
public:
  explicit Compiled(StringRef text, CompileOptions options = {},
                    llvm::ThreadPoolInterface *pool = nullptr)
      : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    if (pool)
      context.setThreadPool(*pool);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return;
    options.runPtxas = false;
    FailureOr<std::string> result = compileToPackage(*module, options, &report);
    if (failed(result))
      return;
    bytes = std::move(*result);
    if (bytes.empty())
      return;
    fusionpkg::Result<fusionpkg::PackageModel> read =
        fusionpkg::readPackage(bytes);
    if (read)
      model = std::move(*read);
    else
      errors += read.getError().str();
  }

  /// The only entry, or an empty one after an error.
  fusionpkg::Entry getEntry() const {
    return model.entries.size() == 1 ? model.entries.front()
                                     : fusionpkg::Entry();
  }
  /// The steps by their first letters: "LLC" is two launches and a copy.
  std::string getSteps() const {
    std::string letters;
    for (const fusionpkg::Step &step : getEntry().steps)
      letters += step.kind == StepKind::Launch ? 'L'
                 : step.kind == StepKind::Copy ? 'C'
                                               : 'F';
    return letters;
  }
  unsigned count(BufferKind kind) const {
    unsigned number = 0;
    for (const fusionpkg::Buffer &buffer : getEntry().buffers)
      number += buffer.kind == kind;
    return number;
  }
  /// The value of `id` when the symbols have these values.
  std::optional<int64_t> evaluate(fusionpkg::ExprId id,
                                  std::vector<int64_t> symbols) const {
    fusionpkg::Entry entry = getEntry();
    return fusionpkg::ExprValues(entry.exprs.getNodes(), symbols.data(),
                                 symbols.size())
        .get(id);
  }

  std::string errors, bytes;
  fusionpkg::PackageModel model;
  CompileReport report;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllForTools(registry);
    return registry;
  }
};
} // namespace

static constexpr char kAddTwice[] = R"(
func.func @add_twice(%x: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %0 = arith.addf %x, %x : tensor<64x32xf32>
  %1 = arith.addf %0, %x : tensor<64x32xf32>
  return %1 : tensor<64x32xf32>
}
)";

TEST(CompilerTest, WritesResultsStraightIntoOutputs) {
  Compiled compiled(kAddTwice);
  ASSERT_EQ(compiled.errors, "");
  fusionpkg::Entry entry = compiled.getEntry();
  EXPECT_EQ(entry.name, "add_twice");
  EXPECT_EQ(compiled.getSteps(), "L");
  EXPECT_EQ(compiled.count(BufferKind::Temp), 0u);
  ASSERT_EQ(entry.steps[0].args.size(), 2u);
  EXPECT_EQ(entry.buffers[entry.steps[0].args[0].index].kind,
            BufferKind::Input);
  EXPECT_EQ(entry.buffers[entry.steps[0].args[1].index].kind,
            BufferKind::Output);
  EXPECT_EQ(entry.summary.kernelsBefore, 2u);
  EXPECT_EQ(entry.summary.kernelsAfter, 1u);
  // x is read and the result written, once each.
  EXPECT_EQ(compiled.evaluate(entry.summary.bytesAfter, {}), 2 * 64 * 32 * 4);
  EXPECT_EQ(compiled.model.target, "sm_90a");
  ASSERT_EQ(compiled.model.kernels.size(), 1u);
  EXPECT_NE(compiled.model.modules[0].ptx.find(".entry " +
                                               compiled.model.kernels[0].name),
            std::string::npos);
}

TEST(CompilerTest, IsDeterministic) {
  Compiled first(kAddTwice), second(kAddTwice);
  ASSERT_FALSE(first.bytes.empty());
  EXPECT_EQ(first.bytes, second.bytes);
}

TEST(CompilerTest, CopiesWhatNoKernelComputes) {
  // An input, a value twice, a reshaped input and a constant.
  Compiled compiled(R"(
func.func @f(%x: tensor<8x4xf32>)
    -> (tensor<8x4xf32>, tensor<8x4xf32>, tensor<32xf32>, tensor<8x4xf32>,
        tensor<2xi1>) {
  %0 = arith.addf %x, %x : tensor<8x4xf32>
  %1 = tensor.collapse_shape %x [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>
  %2 = arith.constant dense<[true, false]> : tensor<2xi1>
  return %0, %0, %1, %x, %2
      : tensor<8x4xf32>, tensor<8x4xf32>, tensor<32xf32>, tensor<8x4xf32>,
        tensor<2xi1>
}
)");
  ASSERT_EQ(compiled.errors, "");
  EXPECT_EQ(compiled.getSteps(), "LCCCC");
  EXPECT_EQ(compiled.count(BufferKind::Temp), 0u);
  const fusionpkg::PackageModel &model = compiled.model;
  ASSERT_EQ(model.constants.size(), 1u);
  auto getBytes = [&](const fusionpkg::Constant &constant) {
    auto begin = model.constantData.begin() + constant.offset;
    return std::vector<uint8_t>(begin, begin + constant.size);
  };
  EXPECT_EQ(getBytes(model.constants[0]), (std::vector<uint8_t>{1, 0}));
}

TEST(CompilerTest, SharesEqualKernels) {
  // Two layers of one network.
  Compiled compiled(R"(
func.func @f(%x: tensor<16x16xf32>, %a: tensor<16x16xf32>,
             %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<16x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<16x16xf32>)
      -> tensor<16x16xf32>
  %0 = linalg.matmul ins(%x, %a : tensor<16x16xf32>, tensor<16x16xf32>)
      outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul ins(%0, %b : tensor<16x16xf32>, tensor<16x16xf32>)
      outs(%init : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}
)");
  ASSERT_EQ(compiled.errors, "");
  EXPECT_EQ(compiled.getSteps(), "LL");
  EXPECT_EQ(compiled.count(BufferKind::Temp), 1u);
  EXPECT_EQ(compiled.model.kernels.size(), 1u);
  EXPECT_EQ(compiled.model.modules.size(), 1u);
  // The second reads what the first wrote.
  fusionpkg::Entry entry = compiled.getEntry();
  EXPECT_EQ(entry.steps[0].args[2].index, entry.steps[1].args[0].index);
  EXPECT_EQ(entry.buffers[entry.steps[1].args[2].index].kind,
            BufferKind::Output);
}

TEST(CompilerTest, FillsUniformOutputs) {
  Compiled compiled(R"(
func.func @f() -> (tensor<8xbf16>, tensor<9xi8>, tensor<4xi1>) {
  %0 = arith.constant dense<1.0> : tensor<8xbf16>
  %1 = arith.constant dense<-2> : tensor<9xi8>
  %2 = arith.constant dense<true> : tensor<4xi1>
  return %0, %1, %2 : tensor<8xbf16>, tensor<9xi8>, tensor<4xi1>
}
)");
  ASSERT_EQ(compiled.errors, "");
  ASSERT_EQ(compiled.getSteps(), "FFF");
  fusionpkg::Entry entry = compiled.getEntry();
  EXPECT_EQ(entry.steps[0].fillWidth, 2u);
  EXPECT_EQ(entry.steps[0].fillBits, 0x3f80u);
  EXPECT_EQ(entry.steps[1].fillWidth, 1u);
  EXPECT_EQ(entry.steps[1].fillBits, 0xfeu);
  EXPECT_EQ(entry.steps[2].fillWidth, 1u);
  EXPECT_EQ(entry.steps[2].fillBits, 1u);
}

static constexpr char kDynamic[] = R"(
func.func @f(%x: tensor<?x?xf32> {fusion.dims = ["m", "n"]},
             %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = arith.addf %x, %y : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
)";

TEST(CompilerTest, ComputesSizesAtLaunch) {
  Compiled compiled(kDynamic);
  ASSERT_EQ(compiled.errors, "");
  fusionpkg::Entry entry = compiled.getEntry();
  ASSERT_EQ(entry.symbols.size(), 4u);
  EXPECT_EQ(entry.symbols[0].name, "m");
  EXPECT_EQ(entry.symbols[2].name, "arg1.0");
  ASSERT_EQ(entry.outputs.size(), 1u);
  std::vector<int64_t> sizes = {300, 70, 300, 70};
  EXPECT_EQ(compiled.evaluate(entry.outputs[0].dims[0], sizes), 300);
  EXPECT_EQ(compiled.evaluate(entry.outputs[0].dims[1], sizes), 70);
  ASSERT_EQ(compiled.getSteps(), "L");
  // Enough blocks for large sizes, none for nothing.
  fusionpkg::ExprId grid = entry.steps[0].variants[0].gridX;
  EXPECT_GT(*compiled.evaluate(grid, sizes), 0);
  EXPECT_EQ(compiled.evaluate(grid, {0, 70, 0, 70}), 0);
}

TEST(CompilerTest, RequiresEqualSizes) {
  Compiled compiled(kDynamic);
  ASSERT_EQ(compiled.errors, "");
  fusionpkg::Entry entry = compiled.getEntry();
  auto holds = [&](std::vector<int64_t> sizes) {
    for (const fusionpkg::Requirement &requirement : entry.requirements)
      if (compiled.evaluate(requirement.condition, sizes) != 1)
        return false;
    return true;
  };
  EXPECT_TRUE(holds({300, 70, 300, 70}));
  EXPECT_FALSE(holds({300, 70, 299, 70}));
  EXPECT_FALSE(holds({300, 70, 300, 71}));
}

TEST(CompilerTest, RequiresEvenSplits) {
  Compiled compiled(R"(
func.func @f(%x: tensor<?xf32> {fusion.dims = ["n"]}) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %rows = arith.divui %n, %c4 : index
  %0 = arith.addf %x, %x : tensor<?xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [%rows, 4]
      : tensor<?xf32> into tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
)");
  ASSERT_EQ(compiled.errors, "");
  fusionpkg::Entry entry = compiled.getEntry();
  // The kernel writes the output under its other shape.
  EXPECT_EQ(compiled.getSteps(), "L");
  ASSERT_EQ(entry.requirements.size(), 1u);
  fusionpkg::ExprId condition = entry.requirements[0].condition;
  EXPECT_EQ(compiled.evaluate(condition, {12}), 1);
  EXPECT_EQ(compiled.evaluate(condition, {13}), 0);
  EXPECT_NE(entry.requirements[0].message.find("n"), std::string::npos);
}

TEST(CompilerTest, StopsAfterAPhase) {
  CompileOptions options;
  options.compileTo = "plan";
  Compiled compiled(kAddTwice, options);
  EXPECT_EQ(compiled.errors, "");
  EXPECT_EQ(compiled.bytes, "");
  EXPECT_EQ(compiled.report.ptx, "");
  EXPECT_EQ(compiled.report.kernelsAfter, 1);
  std::string text;
  llvm::raw_string_ostream(text) << *compiled.module;
  EXPECT_NE(text.find("fusion.kernel"), std::string::npos);
  EXPECT_EQ(text.find("schedule"), std::string::npos);
}

TEST(CompilerTest, RefusesUnknownNames) {
  CompileOptions options;
  options.compileTo = "paln";
  EXPECT_EQ(Compiled(kAddTwice, options).errors,
            "FUS-1006: 'paln' is no phase; choose a phase that fusion-opt "
            "--list-phases prints\n");
  options.compileTo = "";
  options.target = "sm_10";
  EXPECT_EQ(Compiled(kAddTwice, options).errors.find("FUS-2001"), 0u);
}

TEST(CompilerTest, RefusesModulesWithoutFunctions) {
  Compiled compiled("module {}");
  EXPECT_EQ(compiled.errors.find("FUS-1005"), 0u);
  EXPECT_EQ(compiled.bytes, "");
}

TEST(CompilerTest, TakesTheTargetOfTheModule) {
  CompileOptions options;
  options.target = "";
  std::string program =
      std::string("module attributes {fusion.target = #fusion.target<chip = "
                  "\"sm_80\">} {") +
      kAddTwice + "}";
  Compiled compiled(program, options);
  ASSERT_EQ(compiled.errors, "");
  EXPECT_EQ(compiled.model.target, "sm_80");
  EXPECT_NE(compiled.report.ptx.find(".target sm_80"), std::string::npos);
}

// What later matches of a rewrite will be is guessed, to decide on several at
// once: here large images are laid out anew, and small ones are not.
TEST(CompilerTest, ThreadsDoNotChangePackages) {
  std::string types[] = {"tensor<1x8x4x4xbf16>", "tensor<64x256x56x56xbf16>"};
  std::string filters[] = {"tensor<8x8x1x1xbf16>", "tensor<256x256x1x1xbf16>"};
  std::string last[] = {"%small", "%large"}, arguments, body;
  for (int i = 0; i < 12; ++i) {
    bool isLarge = i % 5 < 3;
    std::string number = std::to_string(i), &image = last[isLarge];
    arguments += ", %w" + number + ": " + filters[isLarge];
    body += "  %v" + number + " = fusion.conv nchw " + image + ", %w" + number +
            " : (" + types[isLarge] + ", " + filters[isLarge] + ") -> " +
            types[isLarge] + "\n";
    image = "%v" + number;
  }
  std::string text = "func.func @main(%small: " + types[0] +
                     ", %large: " + types[1] + arguments + ") -> (" + types[0] +
                     ", " + types[1] + ") {\n" + body + "  return " + last[0] +
                     ", " + last[1] + " : " + types[0] + ", " + types[1] +
                     "\n}";
  CompileOptions options;
  options.target = "sm_90a";
  Compiled alone(text, options);
  ASSERT_EQ(alone.errors, "");
  ASSERT_FALSE(alone.bytes.empty());
  for (unsigned threads : {2, 7}) {
    llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
    Compiled together(text, options, &pool);
    EXPECT_EQ(together.errors, "");
    EXPECT_EQ(together.bytes, alone.bytes);
  }
}
