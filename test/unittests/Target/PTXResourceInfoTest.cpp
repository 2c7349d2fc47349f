//===- PTXResourceInfoTest.cpp - Reading what ptxas says ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests the read-back of a kernel's resources from ptxas.
//
//===----------------------------------------------------------------------===//

#include "fusion/Target/PTX/PTXResourceInfo.h"

#include "gtest/gtest.h"

using namespace mlir::fusion;

TEST(PTXResourceInfo, ParsesEachKernel) {
  PTXResourceInfo info = parsePTXAssemblerLog(R"(
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources in the function 'gemm'
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'softmax' for 'sm_90a'
ptxas info    : Function properties for softmax
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 4112 bytes smem
ptxas info    : Compile time = 32.402 ms
ptxas info    : Compiling entry function 'gemm' for 'sm_90a'
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Function properties for gemm
    96 bytes stack frame, 92 bytes spill stores, 104 bytes spill loads
ptxas info    : Used 168 registers, used 3 barriers, 96 bytes cumulative stack size, 380 bytes cmem[0]
)");
  ASSERT_EQ(info.kernels.size(), 2u);
  const PTXKernelResources *softmax = info.lookup("softmax");
  ASSERT_NE(softmax, nullptr);
  EXPECT_EQ(softmax->registers, 40u);
  EXPECT_EQ(softmax->barriers, 1u);
  EXPECT_EQ(softmax->staticSharedBytes, 4112u);
  EXPECT_FALSE(softmax->spills());
  EXPECT_TRUE(softmax->advisories.empty());

  const PTXKernelResources *gemm = info.lookup("gemm");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->registers, 168u);
  EXPECT_EQ(gemm->barriers, 3u);
  EXPECT_EQ(gemm->stackBytes, 96u);
  EXPECT_EQ(gemm->spillStoreBytes, 92u);
  EXPECT_EQ(gemm->spillLoadBytes, 104u);
  EXPECT_EQ(gemm->staticSharedBytes, 0u);
  EXPECT_TRUE(gemm->spills());
  ASSERT_EQ(gemm->advisories.size(), 1u);
  EXPECT_EQ(gemm->advisories[0].rfind("(C7510) Potential Performance Loss", 0),
            0u);
  ASSERT_EQ(info.advisories.size(), 1u);
  EXPECT_EQ(info.advisories[0].rfind("(C7508)", 0), 0u);
  EXPECT_EQ(info.lookup("helper"), nullptr);
}

TEST(PTXResourceInfo, SurvivesForeignText) {
  EXPECT_TRUE(parsePTXAssemblerLog("").kernels.empty());
  PTXResourceInfo info = parsePTXAssemblerLog(
      "Compiling entry function without quotes\nUsed many registers\n"
      "99999999999999999999999 bytes stack frame\n");
  ASSERT_EQ(info.kernels.size(), 1u);
  EXPECT_EQ(info.kernels[0].registers, 0u);
  EXPECT_EQ(info.kernels[0].stackBytes, 0u);
}

static constexpr char emptyKernel[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry k() { ret; }\n";

TEST(PTXResourceInfo, ReadsAKernelWherePtxasIs) {
  PTXAssemblerOptions options;
  options.keepCubin = true;
  auto info = readPTXResources(emptyKernel, options);
  ASSERT_TRUE(bool(info)) << llvm::toString(info.takeError());
  ASSERT_EQ(info->has_value(), !findPTXAssembler().empty());
  if (!*info)
    return;
  ASSERT_NE((*info)->lookup("k"), nullptr);
  EXPECT_GT((*info)->lookup("k")->registers, 0u);
  ASSERT_GT((*info)->cubin.size(), 4u);
  EXPECT_EQ(std::string((*info)->cubin.data() + 1, 3), "ELF");
}

TEST(PTXResourceInfo, ReportsWhatPtxasRefuses) {
  if (findPTXAssembler().empty())
    return;
  auto info = readPTXResources("no PTX", PTXAssemblerOptions());
  ASSERT_FALSE(bool(info));
  std::string text = llvm::toString(info.takeError());
  EXPECT_NE(text.find("FUS-0711: ptxas refused the PTX for sm_90a"),
            std::string::npos)
      << text;
}

TEST(PTXResourceInfo, ReportsAnAssemblerThatIsNone) {
  PTXAssemblerOptions options;
  options.assembler = "/nonexistent/ptxas";
  auto info = readPTXResources(emptyKernel, options);
  ASSERT_FALSE(bool(info));
  EXPECT_NE(llvm::toString(info.takeError()).find("FUS-0711"),
            std::string::npos);
}
