//===- TensorMapsTest.cpp - Tests of tensor maps of kernels ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests what packages make of the tensor maps and the cluster that
// the code of a kernel states.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Pipelines/PackageBuilder.h"
#include "fusion/Executable/Package.h"
#include "fusion/Pipelines/Compiler.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::fusion;
using fusionpkg::ArgKind;
using fusionpkg::DType;

namespace {
/// A program of one kernel that takes x[m, 64] and y[m, 64] of bf16, m, and two
/// tensor maps that `maps` states.
class Built {
public:
  explicit Built(const std::string &maps)
      : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
    std::string text = R"(
module {
  func.func @main(%x: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
    %y = fusion.kernel @copy ins(%x : tensor<?x64xbf16>)
        -> (tensor<?x64xbf16>) attributes {program = @k} {
    ^bb0(%in: tensor<?x64xbf16>):
      %twice = linalg.add
          ins(%in, %in : tensor<?x64xbf16>, tensor<?x64xbf16>)
          outs(%in : tensor<?x64xbf16>) -> tensor<?x64xbf16>
      fusion.yield %twice : tensor<?x64xbf16>
    }
    return %y : tensor<?x64xbf16>
  }
  gpu.module @k attributes {fusion_tile.ptx = "ptx"} {
    llvm.func @k(
        %x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %m: i64,
        %a: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>,
                       llvm.align = 64 : i64, nvvm.grid_constant},
        %b: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>,
                       llvm.align = 64 : i64, nvvm.grid_constant})
        attributes {nvvm.kernel, nvvm.reqntid = array<i32: 160, 1, 1>,
                    fusion_tile.cluster = 2 : i64, fusion_tile.shared_bytes = 1024 : i64,
                    fusion_tile.size_arguments = array<i64: 0>,
                    fusion_tile.grid = affine_map<()[m] -> (m ceildiv 64 * 2)>,
                    fusion_tile.tensor_maps = [)" +
                       maps + R"(]} {
      llvm.return
    }
  }
})";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return;
    FailureOr<fusionpkg::PackageModel> built =
        buildPackageModel(*module, "sm_90a");
    if (succeeded(built))
      model = std::move(*built);
  }

  MLIRContext context;
  std::optional<fusionpkg::PackageModel> model;
  std::string errors;

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllForTools(registry);
    return registry;
  }
};
} // namespace

static const char *const kFirst = R"({
    parameter = 0 : i64, base = 0 : i64, element = bf16,
    shape = affine_map<()[m] -> (m, 64)>, box = array<i64: 32, 64>,
    element_strides = array<i64: 2, 1>, swizzle = 3 : i32})";
static const char *const kSecond = R"({
    parameter = 1 : i64, base = 1 : i64, element = bf16,
    shape = affine_map<()[m] -> (1, m, 8, 8)>,
    im2col = {lower = array<i64: -1, -2>, upper = array<i64: 1, 0>,
              channels = 8 : i64, pixels = 128 : i64},
    swizzle = 0 : i32})";

TEST(TensorMapsTest, APackageSaysWhatTheKernelStates) {
  Built built(std::string(kFirst) + "," + kSecond);
  ASSERT_TRUE(built.model) << built.errors;
  const fusionpkg::Kernel &kernel = built.model->kernels[0];
  EXPECT_EQ(kernel.clusterX, 2u);
  EXPECT_EQ(kernel.blockX, 160u);
  const fusionpkg::Entry &entry = built.model->entries[0];
  const fusionpkg::Step &step = entry.steps[0];
  ASSERT_EQ(step.args.size(), 5u);
  EXPECT_EQ(step.args[3].kind, ArgKind::TensorMap);
  EXPECT_EQ(step.args[4].kind, ArgKind::TensorMap);
  EXPECT_EQ(step.args[4].index, 1u);
  ASSERT_EQ(entry.tensorMaps.size(), 2u);

  const fusionpkg::TensorMap &first = entry.tensorMaps[0];
  EXPECT_EQ(first.kind, fusionpkg::TensorMapKind::Tiled);
  EXPECT_EQ(first.dtype, DType::BF16);
  EXPECT_EQ(first.swizzle, fusionpkg::TensorMapSwizzle::B128);
  EXPECT_EQ(first.buffer, step.args[0].index);
  EXPECT_EQ(entry.exprs.print(first.sizes[0], {"m"}), "m");
  EXPECT_EQ(entry.exprs.getConstant(first.sizes[1]), 64);
  EXPECT_EQ(first.box, (std::vector<uint32_t>{32, 64}));
  EXPECT_EQ(first.elementStrides, (std::vector<uint32_t>{2, 1}));
  EXPECT_TRUE(first.strides.empty());

  const fusionpkg::TensorMap &second = entry.tensorMaps[1];
  EXPECT_EQ(second.kind, fusionpkg::TensorMapKind::Im2col);
  EXPECT_EQ(second.buffer, step.args[1].index);
  EXPECT_EQ(second.lowerCorner, (std::vector<int32_t>{-1, -2}));
  EXPECT_EQ(second.upperCorner, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(second.channelsPerPixel, 8u);
  EXPECT_EQ(second.pixelsPerColumn, 128u);
  EXPECT_TRUE(fusionpkg::writePackage(*built.model));
}

/// `text` with `from` replaced by `to`.
static std::string with(std::string text, const std::string &from,
                        const std::string &to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TensorMapsTest, ElementsOfTf32AreF32ThatLoadsRound) {
  Built built(with(kFirst, "element = bf16", "element = tf32") + "," + kSecond);
  ASSERT_TRUE(built.model) << built.errors;
  EXPECT_EQ(built.model->entries[0].tensorMaps[0].dtype, DType::F32);
  EXPECT_TRUE(built.model->entries[0].tensorMaps[0].tf32);
  EXPECT_FALSE(built.model->entries[0].tensorMaps[1].tf32);
}

TEST(TensorMapsTest, MapsThatDoNotFitTheLaunchAreRefused) {
  auto expectError = [](const std::string &maps, const std::string &text) {
    Built built(maps);
    EXPECT_FALSE(built.model) << text;
    EXPECT_NE(built.errors.find("FUS-4006"), std::string::npos) << built.errors;
    EXPECT_NE(built.errors.find(text), std::string::npos) << built.errors;
  };
  std::string second = std::string(",") + kSecond;
  expectError(kFirst, "takes 5 parameters where the launch has 4");
  expectError("3 : i64" + second, "says nothing");
  expectError(with(kFirst, "base = 0", "base = 2") + second,
              "no address among the parameters");
  expectError(with(kFirst, "base = 0", "base = 9") + second,
              "no address among the parameters");
  expectError(with(kFirst, "element = bf16", "element = i4") + second,
              "tensor map of 'i4', which tensor copies do not know");
  expectError(with(kFirst, "element = bf16", "element = complex<f32>") + second,
              "which tensor copies do not know");
  expectError(with(kFirst, "()[m] -> (m, 64)", "()[m, n] -> (m, n)") + second,
              "no shape over the symbols");
}
