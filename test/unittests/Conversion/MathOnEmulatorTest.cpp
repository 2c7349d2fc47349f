//===- MathOnEmulatorTest.cpp - Math as PTX -------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs the PTX of expanded math operations on the emulator and holds
// it to the same bounds as the expansion itself.
//
//===----------------------------------------------------------------------===//

#include "MathFunctions.h"

#include "fusion-rt/Emulator/Emulator.h"
#include "fusion/Conversion/MathExpansion/Passes.h"
#include "fusion/Target/PTX/TranslateToPTX.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

using namespace mlir;

/// PTX of a kernel that reads f32 from its first argument, applies math.NAME
/// and writes to its second, one number a thread.
static std::string kernelFor(const std::string &name) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, arith::ArithDialect, math::MathDialect,
                  scf::SCFDialect, vector::VectorDialect>();
  fusion::registerPTXTranslations(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      "llvm.func @k(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes "
      "{nvvm.kernel} {\n"
      "  %t = nvvm.read.ptx.sreg.tid.x : i32\n"
      "  %b = nvvm.read.ptx.sreg.ctaid.x : i32\n"
      "  %n = nvvm.read.ptx.sreg.ntid.x : i32\n"
      "  %m = llvm.mul %b, %n : i32\n"
      "  %i = llvm.add %m, %t : i32\n"
      "  %pi = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> "
      "!llvm.ptr<1>, f32\n"
      "  %qi = llvm.getelementptr %q[%i] : (!llvm.ptr<1>, i32) -> "
      "!llvm.ptr<1>, f32\n"
      "  %x = llvm.load %pi : !llvm.ptr<1> -> f32\n"
      "  %y = math." +
          name +
          " %x : f32\n"
          "  llvm.store %y, %qi : f32, !llvm.ptr<1>\n"
          "  llvm.return\n}",
      &context);
  if (!module)
    return {};
  PassManager passes(&context);
  passes.addPass(fusion::createExpandMathPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (failed(passes.run(*module)))
    return {};
  FailureOr<std::string> text =
      fusion::translateToPTX(*module, fusion::PTXOptions());
  return succeeded(text) ? *text : std::string();
}

static constexpr uint32_t count = 1 << 15;

class MathOnEmulator : public ::testing::TestWithParam<Function> {};

TEST_P(MathOnEmulator, F32) {
  const Function &function = GetParam();
  std::string text = kernelFor(function.name);
  ASSERT_FALSE(text.empty());
  fusionemu::Module module;
  fusionemu::Status status = module.parse(text);
  ASSERT_TRUE(status.ok()) << status.message();

  std::vector<float> input(count), output(count);
  for (uint32_t i = 0; i < count; ++i) {
    // Every exponent, both signs, endings that differ.
    uint32_t bits = i * (uint32_t(-1) / count) + i % 131;
    std::memcpy(&input[i], &bits, sizeof bits);
  }
  fusionemu::Memory memory;
  uint64_t source = 0, target = 0;
  ASSERT_TRUE(memory.allocate(count * 4, "input", source).ok());
  ASSERT_TRUE(memory.allocate(count * 4, "output", target).ok());
  ASSERT_TRUE(memory.write(source, input.data(), count * 4).ok());
  const void *parameters[] = {&source, &target};
  std::vector<uint8_t> arguments =
      fusionemu::packArguments(*module.findKernel("k"), parameters);
  status = fusionemu::launch(memory, module, "k", {count / 256}, {256}, 0,
                             arguments.data(), arguments.size());
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(memory.read(target, output.data(), count * 4).ok());
  for (uint32_t i = 0; i < count; ++i)
    ASSERT_LE(ulps(output[i], function.reference(input[i]), function.flushes),
              function.f32Worst)
        << function.name << " of " << input[i] << " is " << output[i];
}

INSTANTIATE_TEST_SUITE_P(Functions, MathOnEmulator,
                         ::testing::ValuesIn(functions), [](const auto &info) {
                           return std::string(info.param.name);
                         });
