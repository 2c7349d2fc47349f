//===- TranslateToPTXTest.cpp - LLVM dialect to PTX -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the translation of a module to PTX.
//
//===----------------------------------------------------------------------===//

#include "fusion/Target/PTX/TranslateToPTX.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <thread>

using namespace mlir;
using namespace mlir::fusion;

static constexpr char program[] = R"(
llvm.func @scale(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
  %i = nvvm.read.ptx.sreg.tid.x : i32
  %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %v = llvm.load %q : !llvm.ptr<1> -> f32
  %y = llvm.fmul %v, %x : f32
  llvm.store %y, %q : f32, !llvm.ptr<1>
  llvm.return
})";

namespace {
class TranslateToPTX : public ::testing::Test {
protected:
  TranslateToPTX() : context(makeRegistry()) {
    module = parseSourceString<ModuleOp>(program, &context);
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registry.insert<gpu::GPUDialect>();
    registerPTXTranslations(registry);
    return registry;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(TranslateToPTX, AcceptsABuiltinModule) {
  ASSERT_TRUE(module);
  FailureOr<std::string> text = translateToPTX(*module, PTXOptions());
  ASSERT_TRUE(succeeded(text));
  EXPECT_NE(text->find(".visible .entry scale("), std::string::npos);
  EXPECT_NE(text->find("mul.rn.f32"), std::string::npos);
}

TEST_F(TranslateToPTX, LeavesTheModuleAlone) {
  std::string before, after;
  llvm::raw_string_ostream beforeStream(before), afterStream(after);
  OpPrintingFlags flags = OpPrintingFlags().enableDebugInfo();
  module->print(beforeStream, flags);
  ASSERT_TRUE(succeeded(translateToPTX(*module, PTXOptions())));
  module->print(afterStream, flags);
  EXPECT_EQ(before, after);
}

TEST_F(TranslateToPTX, IsDeterministicAcrossThreads) {
  FailureOr<std::string> expected = translateToPTX(*module, PTXOptions());
  ASSERT_TRUE(succeeded(expected));
  std::string texts[4];
  std::vector<std::thread> threads;
  for (std::string &text : texts)
    threads.emplace_back([&] {
      if (FailureOr<std::string> result = translateToPTX(*module, PTXOptions());
          succeeded(result))
        text = *result;
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &text : texts)
    EXPECT_EQ(text, *expected);
}

TEST_F(TranslateToPTX, WritesEveryChipItKnows) {
  for (const PTXChip &chip : getPTXChips()) {
    PTXOptions options;
    options.chip = chip.name.str();
    FailureOr<std::string> text = translateToPTX(*module, options);
    ASSERT_TRUE(succeeded(text)) << options.chip;
    EXPECT_NE(text->find(".target " + options.chip + "\n"), std::string::npos)
        << *text;
    std::string version = ".version " +
                          std::to_string(chip.defaultVersion / 10) + "." +
                          std::to_string(chip.defaultVersion % 10);
    EXPECT_NE(text->find(version), std::string::npos) << *text;
    EXPECT_LE(chip.minVersion, chip.defaultVersion);
    EXPECT_EQ(lookupPTXChip(chip.name), &chip);
  }
  EXPECT_EQ(lookupPTXChip("sm_70"), nullptr);
}

TEST_F(TranslateToPTX, WritesAtEveryLevel) {
  for (unsigned level : {0u, 1u, 2u, 3u}) {
    PTXOptions options;
    options.optLevel = level;
    FailureOr<std::string> text = translateToPTX(*module, options);
    ASSERT_TRUE(succeeded(text)) << level;
    EXPECT_NE(text->find("mul.rn.f32"), std::string::npos);
  }
}
