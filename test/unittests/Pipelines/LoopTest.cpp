//===- LoopTest.cpp - Compiling and running again and again ---------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process that compiles and runs all day must not grow, whether its calls
// succeed or fail. These tests compare the bytes that are allocated after some
// rounds and after more; with the address sanitizer, unreachable ones are
// reported at the end as well.
//
//===----------------------------------------------------------------------===//

#include "fusion-c/Fusion.h"
#include "fusion-rt/Runtime.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <malloc.h>
#include <string>
#include <vector>
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUSION_HAS_ADDRESS_SANITIZER
#include <sanitizer/allocator_interface.h>
#endif
#endif

static const char kProgram[] =
    "func.func @f(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {\n"
    "  %y = arith.addf %x, %x : tensor<?x8xf32>\n"
    "  return %y : tensor<?x8xf32>\n"
    "}\n";

/// Bytes that the process has allocated and not freed.
static size_t getAllocatedBytes() {
#ifdef FUSION_HAS_ADDRESS_SANITIZER
  return __sanitizer_get_current_allocated_bytes();
#else
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

/// Runs `body` until its caches are full, then checks that `rounds` more leave
/// nothing behind.
static void expectNoGrowth(unsigned rounds, std::function<void()> body) {
  for (unsigned i = 0; i < 5; ++i)
    body();
  size_t before = getAllocatedBytes();
  for (unsigned i = 0; i < rounds; ++i)
    body();
  size_t after = getAllocatedBytes();
  // The allocator keeps some of what is freed; a program, a package or a device
  // that stays takes more.
  EXPECT_LT(after, before + (rounds << 14)) << rounds << " rounds";
}

static std::string compile(const char *text, const char *target,
                           FusionStatus expected) {
  FusionCompileOptions options = {};
  options.structSize = sizeof(options);
  options.target = target;
  options.skipPtxas = 1;
  options.inProcess = 1; // whose memory is looked at
  FusionCompilation *compilation = nullptr;
  EXPECT_EQ(fusionCompile(text, std::strlen(text), &options, &compilation),
            expected)
      << fusionCompilationGetDiagnostics(compilation);
  size_t size = 0;
  const char *bytes = fusionCompilationGetOutput(compilation, &size);
  std::string output(bytes, size);
  fusionCompilationDestroy(compilation);
  return output;
}

TEST(LoopTest, CompilingLeavesNothingBehind) {
  expectNoGrowth(
      12, [] { EXPECT_FALSE(compile(kProgram, "sm_90a", FUSION_OK).empty()); });
}

TEST(LoopTest, RefusalsLeaveNothingBehind) {
  expectNoGrowth(20, [] {
    compile("func.func @f(", "sm_90a", FUSION_DIAGNOSED);
    compile("func.func @f(%x: tensor<*xf32>) { return }", "sm_90a",
            FUSION_UNSUPPORTED);
    compile("\"some.op\"() : () -> ()", "sm_90a", FUSION_DIAGNOSED);
  });
}

namespace {
/// One device with one package and its tensors.
class Runner {
public:
  explicit Runner(const std::string &package) {
    EXPECT_EQ(fusionRtDeviceCreate("emulator", nullptr, &device), 0);
    EXPECT_EQ(
        fusionRtPackageLoad(device, package.data(), package.size(), &loaded),
        0);
    EXPECT_EQ(fusionRtPackageFindEntry(loaded, nullptr, &entry), 0);
    for (FusionRtTensor *tensor : {&input, &output}) {
      tensor->dims = dims;
      tensor->rank = 2;
      tensor->dtype = FUSION_RT_F32;
      EXPECT_EQ(fusionRtMalloc(device, sizeof(values), "x", &tensor->address),
                0);
    }
    EXPECT_EQ(fusionRtCopyToDevice(device, input.address, values,
                                   sizeof(values), nullptr),
              0);
  }
  ~Runner() {
    EXPECT_EQ(fusionRtFree(device, input.address), 0);
    EXPECT_EQ(fusionRtFree(device, output.address), 0);
    fusionRtPackageDestroy(loaded);
    fusionRtDeviceDestroy(device);
  }

  FusionRtStatus launch() {
    auto args = FUSION_RT_INIT(FusionRtLaunchArgs);
    args.inputs = &input;
    args.outputs = &output;
    args.numInputs = args.numOutputs = 1;
    return fusionRtLaunch(entry, &args);
  }

  FusionRtTensor input = {}, output = {};
  FusionRtDevice *device = nullptr;

private:
  int64_t dims[2] = {5, 8};
  float values[40] = {};
  FusionRtPackage *loaded = nullptr;
  FusionRtEntry *entry = nullptr;
};
} // namespace

TEST(LoopTest, RunningLeavesNothingBehind) {
  std::string package = compile(kProgram, "sm_90a", FUSION_OK);
  expectNoGrowth(40, [&] {
    Runner runner(package);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(runner.launch(), 0);
  });
}

TEST(LoopTest, ErrorsOfRunningLeaveNothingBehind) {
  std::string package = compile(kProgram, "sm_90a", FUSION_OK);
  std::string altered = package;
  altered[altered.size() / 2] ^= 1;
  expectNoGrowth(40, [&] {
    Runner runner(package);
    FusionRtPackage *none = nullptr;
    EXPECT_EQ(fusionRtPackageLoad(runner.device, altered.data(), altered.size(),
                                  &none),
              5005);
    FusionRtAddress address = runner.input.address;
    runner.input.address = 0;
    EXPECT_EQ(runner.launch(), 6007);
    // Memory that nobody has.
    runner.input.address = 4096;
    EXPECT_EQ(runner.launch(), 7005);
    runner.input.address = address;
    runner.input.dtype = FUSION_RT_I4;
    EXPECT_EQ(runner.launch(), 6005);
  });
}
