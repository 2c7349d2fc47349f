//===- LaunchTest.cpp - Tests of launching --------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SampleLaunch.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>

using namespace fusionrt;
using namespace fusionpkg;

namespace {

class LaunchTest : public SampleLaunch {
protected:
  void expectError(ErrorCode code, const std::string &text) {
    log.lines.clear();
    Error error = launchEntry(*entry, args);
    EXPECT_EQ(error.getCode(), code) << error.str();
    EXPECT_NE(error.getCause().find(text), std::string::npos) << error.str();
    for (const std::string &line : log.lines)
      EXPECT_NE(line.rfind("launch", 0), 0u) << "launched: " << line;
  }
};

} // namespace

TEST_F(LaunchTest, StepsRunInOrderWithTheirArguments) {
  load();
  ASSERT_FALSE(launchEntry(*entry, args));
  // The workspace is the last allocation; the constant blob the one before.
  Address workspace = log.live.rbegin()->first;
  Address constant = std::next(log.live.rbegin())->first;
  auto number = [](uint64_t value) { return std::to_string(value); };
  std::vector<std::string> expected = {
      "allocate 4096 workspace",
      "fill 4 0 4096",
      "launch matmul 1x1x1 128 4096: " + number(0x100000) + " " +
          number(0x200000) + " " + number(workspace) + " 8",
      // m % 4 == 0, so the vector variant with its own shared memory.
      "launch bias_relu_v4 2x1x1 128 2048: " + number(workspace) + " " +
          number(constant + 16) + " " + number(0x400000) + " 8 " +
          number(0x3f000000) + " " + number(0x3fd0000000000000) + " " +
          number(0x3f800000),
      "copy " + number(0x500000) + " <- " + number(0x300000) + " 4096",
  };
  expected[2].replace(expected[2].find("4096"), 4, "0");
  EXPECT_EQ(log.lines, expected);

  // The second launch finds its workspace.
  log.lines.clear();
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines.size(), 4u);
}

TEST_F(LaunchTest, TheFirstVariantWhoseGuardHoldsIsTaken) {
  load();
  setRows(7);
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines[3].rfind("launch bias_relu 7x1x1 128 4096:", 0), 0u)
      << log.lines[3];
}

TEST_F(LaunchTest, EmptyGridsAndTransfersAreSkipped) {
  load();
  setRows(0);
  // Tensors without elements need no address.
  for (FusionRtTensor *tensor :
       {&inputs[0], &inputs[3], &outputs[0], &outputs[1]})
    tensor->address = 0;
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_TRUE(log.lines.empty()) << log.lines[0];
}

TEST_F(LaunchTest, TensorsWithoutElementsGetADummyAddress) {
  PackageModel model = makeSamplePackage();
  // Launch the bias kernel at least once, whatever m is.
  Entry &e = model.entries[0];
  e.steps[2].variants[0].gridX = kNoExpr;
  e.steps[2].args[1] = Arg::buffer(2);
  load(model);
  setRows(0);
  ASSERT_FALSE(launchEntry(*entry, args));
  ASSERT_EQ(log.lines.size(), 1u);
  std::string dummy = " " + std::to_string(device->dummy);
  EXPECT_EQ(log.lines[0].rfind("launch bias_relu_v4 1x1x1 128 2048:" + dummy +
                                   dummy + dummy + " 0",
                               0),
            0u)
      << log.lines[0];
}

TEST_F(LaunchTest, WrongTensorsAreNamed) {
  load();
  args.numInputs = 3;
  expectError(ErrorCode::WrongArity, "takes 4 inputs, got 3");
  setRows(8);
  args.numOutputs = 0;
  expectError(ErrorCode::WrongArity, "takes 2 outputs, got 0");
  setRows(8);
  inputs[1].dtype = FUSION_RT_F16;
  expectError(ErrorCode::DTypeMismatch,
              "input 1 ('w') has element type f16, expected bf16");
  inputs[1].dtype = 77;
  expectError(ErrorCode::DTypeMismatch, "unknown (77)");
  setRows(8);
  outputs[1].dtype = FUSION_RT_I32;
  expectError(ErrorCode::DTypeMismatch, "output 1 ('copy')");
  setRows(8);
  inputs[0].rank = 3;
  expectError(ErrorCode::ShapeMismatch, "has rank 3, expected 2");
  inputs[0].rank = -1;
  expectError(ErrorCode::ShapeMismatch, "has rank -1");
  setRows(8);
  inputs[0].dims = nullptr;
  expectError(ErrorCode::BadArgument, "without its dims");
  setRows(8);
  args.inputs = nullptr;
  expectError(ErrorCode::BadArgument, "array of inputs is null");
}

TEST_F(LaunchTest, SizesThatDisagreeAreNamed) {
  load();
  int64_t other[2] = {9, 128};
  inputs[3].dims = other;
  expectError(ErrorCode::ShapeMismatch,
              "input 3 ('skip'): dimension 0 is 9, expected 8 = m, dimension 0 "
              "of input 0");
  setRows(8);
  int64_t wrongConstant[2] = {128, 127};
  inputs[1].dims = wrongConstant;
  expectError(ErrorCode::ShapeMismatch, "dimension 1 is 127, expected 128");
  setRows(8);
  outputs[0].dims = other;
  expectError(ErrorCode::ShapeMismatch, "output 0 ('y')");
  setRows(-1);
  expectError(ErrorCode::ShapeMismatch, "dimension 0 is -1");
  // Also when the sizes are already known to the entry.
  setRows(8);
  ASSERT_FALSE(launchEntry(*entry, args));
  inputs[3].dims = other;
  expectError(ErrorCode::ShapeMismatch, "dimension 0 is 9");
}

TEST_F(LaunchTest, BadAddressesAreNamed) {
  load();
  inputs[0].address = 0;
  expectError(ErrorCode::NullPointer, "input 0 ('x') has a null address");
  inputs[0].address = 0x100008;
  expectError(ErrorCode::Misaligned, "8 more than a multiple of 16");
  inputs[0].address = ~Address(0) - 15;
  expectError(ErrorCode::BadArgument, "end of the address space");
  setRows(8);
  inputs[2].value = nullptr;
  expectError(ErrorCode::NullPointer, "passed by value but has none");
  setRows(8);
  outputs[0].address = inputs[0].address + 4080;
  expectError(ErrorCode::Overlap, "output 0 ('y') shares memory with input 0");
  outputs[0].address = outputs[1].address;
  expectError(ErrorCode::Overlap, "output 1 ('copy') shares memory with output "
                                  "0");
}

TEST_F(LaunchTest, RequirementsAndOverflowAreNamed) {
  load();
  setRows((1 << 20) + 1);
  expectError(ErrorCode::RequirementFailed,
              "entry 'main' (m = 1048577): m is at most 2^20");
  PackageModel model = makeSamplePackage();
  model.entries[0].requirements.clear();
  load(model);
  setRows(int64_t(1) << 60);
  expectError(ErrorCode::SizeOverflow, "does not fit 64 bits");
  setRows(int64_t(1) << 40);
  expectError(ErrorCode::GridLimit, "blocks along x");
}

TEST_F(LaunchTest, GridLimitsOfTheOtherAxes) {
  PackageModel model = makeSamplePackage();
  Entry &e = model.entries[0];
  e.steps[1].variants[0].gridY = e.exprs.mul(0, e.exprs.constant(10000));
  load(model);
  setRows(6);
  ASSERT_FALSE(launchEntry(*entry, args));
  setRows(7);
  expectError(ErrorCode::GridLimit,
              "step 1: the grid of kernel 'matmul' has 70000 blocks along y");
}

TEST_F(LaunchTest, ArgumentsThatDoNotFitAreNamed) {
  PackageModel model = makeSamplePackage();
  Entry &e = model.entries[0];
  e.steps[2].args[3] = Arg::i32(e.exprs.mul(0, e.exprs.constant(1 << 28)));
  load(model);
  setRows(7);
  ASSERT_FALSE(launchEntry(*entry, args));
  setRows(8);
  expectError(ErrorCode::SizeOverflow, "does not fit the kernel's 32 bits");
}

TEST_F(LaunchTest, StepsThatLeaveTheirBuffersAreRefused) {
  auto expectOutOfBounds = [&](const std::function<void(Entry &)> &change,
                               const std::string &text) {
    PackageModel model = makeSamplePackage();
    change(model.entries[0]);
    load(model);
    expectError(ErrorCode::OutOfBounds, text);
  };
  expectOutOfBounds(
      [](Entry &e) { e.steps[2].args[1].expr = e.exprs.constant(33); },
      "argument 1 begins outside its buffer");
  expectOutOfBounds(
      [](Entry &e) { e.steps[2].args[1].expr = e.exprs.constant(-1); },
      "argument 1 begins outside its buffer");
  expectOutOfBounds([](Entry &e) { e.steps[3].bytes = e.exprs.constant(4097); },
                    "a transfer of 4097 bytes leaves its buffer");
  expectOutOfBounds(
      [](Entry &e) { e.steps[3].srcOffset = e.exprs.constant(16); },
      "a transfer of 4096 bytes leaves its buffer");
  expectOutOfBounds([](Entry &e) { e.steps[0].bytes = e.exprs.constant(6); },
                    "not a whole number of patterns");
  expectOutOfBounds(
      [](Entry &e) {
        e.steps[2].variants[0].sharedBytes = e.exprs.constant(4097);
      },
      "is given 4097 bytes of shared memory");
  expectOutOfBounds(
      [](Entry &e) { e.steps[0].dstOffset = e.exprs.constant(5000); },
      "the destination begins outside its buffer");
}

TEST_F(LaunchTest, NoVariantForTheSizes) {
  PackageModel model = makeSamplePackage();
  model.entries[0].steps[2].variants.pop_back();
  load(model);
  ASSERT_FALSE(launchEntry(*entry, args));
  setRows(7);
  expectError(ErrorCode::NoVariant, "step 2: no kernel was compiled");
}

TEST_F(LaunchTest, CallersWorkspaceIsUsedAndChecked) {
  load();
  args.workspace = log.live.begin()->first + 256;
  args.workspaceBytes = 4095;
  expectError(ErrorCode::WorkspaceTooSmall, "needs a workspace of 4096 bytes");
  args.workspace = 0x600010;
  args.workspaceBytes = 4096;
  expectError(ErrorCode::Misaligned, "workspace");
  Address mine = 0;
  ASSERT_FALSE(device->device->allocate(4096, "mine", mine));
  args.workspace = mine;
  log.lines.clear();
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines.size(), 4u);
  EXPECT_NE(log.lines[1].find(" " + std::to_string(mine) + " 8"),
            std::string::npos);
}

/// The sample package, whose first kernel takes signals as well.
static PackageModel makePackageWithSignals() {
  PackageModel model = makeSamplePackage();
  Entry &entry = model.entries[0];
  for (Step &step : entry.steps)
    if (step.kind == StepKind::Launch) {
      step.args.push_back(Arg::buffer(entry.buffers.size()));
      break;
    }
  entry.buffers.push_back({BufferKind::Signals, 0, kNoExpr, "signals"});
  return model;
}

TEST_F(LaunchTest, SignalsAreZeroedOnceForAStream) {
  load(makePackageWithSignals());
  auto count = [&](const std::string &text) {
    return std::count(log.lines.begin(), log.lines.end(), text);
  };
  ASSERT_FALSE(launchEntry(*entry, args));
  // Those of the stream, and some for a capture that may follow.
  EXPECT_EQ(count("copyIn " + std::to_string(kSignalBytes)), 2);
  log.lines.clear();
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines.size(), 4u);
  // A capture gets these, and leaves none to the next.
  log.capture = 7;
  ASSERT_FALSE(device->workspaces.reserve(4096 + kSignalBytes));
  log.lines.clear();
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines.size(), 4u);
}

TEST_F(LaunchTest, SignalsOfACaptureMayLieInItsWorkspace) {
  load(makePackageWithSignals());
  uint64_t bytes = 4096 + kSignalBytes;
  ASSERT_FALSE(device->device->allocate(bytes, "mine", args.workspace));
  args.workspaceBytes = bytes;
  log.capture = 7;
  log.lines.clear();
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines[0], "fill 8 0 " + std::to_string(kSignalBytes));
  EXPECT_NE(log.lines[2].find(" " + std::to_string(args.workspace + 4096)),
            std::string::npos);
  args.workspaceBytes = bytes - 1;
  expectError(ErrorCode::WorkspaceTooSmall, std::to_string(bytes) + " bytes");
}

TEST_F(LaunchTest, CheckedDevicesGetOneAllocationPerTemporary) {
  log.isChecked = true;
  load();
  size_t before = log.live.size();
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines[0], "allocate 4096 temporary 'acc'");
  EXPECT_EQ(log.live.size(), before);
}

TEST_F(LaunchTest, EveryFailureIsReportedAndNothingLeaks) {
  // Make each device call fail in turn, through opening, loading, launching
  // and destroying, for both ways of placing temporaries.
  for (bool isChecked : {false, true}) {
    std::string data = *writePackage(makeSamplePackage());
    unsigned failures = 0;
    for (unsigned at = 0; at < 100; ++at) {
      FakeLog local;
      local.failAt = at;
      local.failWith = ErrorCode::DriverCall;
      local.isChecked = isChecked;
      bool failed = false;
      {
        Result<std::unique_ptr<FusionRtDevice>> opened =
            makeDevice(std::make_unique<FakeDevice>(local), true);
        failed = !opened;
        if (opened) {
          Result<std::unique_ptr<FusionRtPackage>> loaded =
              loadPackage(**opened, data.data(), data.size());
          failed = !loaded;
          if (loaded) {
            entry = (*loaded)->entries[0].get();
            setRows(8);
            Error error = launchEntry(*entry, args);
            failed = static_cast<bool>(error);
            if (error) {
              EXPECT_NE(error.getCause().find("was made to fail"),
                        std::string::npos);
              // Not a sticky error: the next launch works.
              EXPECT_FALSE(launchEntry(*entry, args));
            }
          }
        }
      }
      EXPECT_TRUE(local.live.empty()) << "leak when call " << at << " fails";
      failures += failed;
      if (!failed) {
        EXPECT_LE(local.calls, at + 1);
        break;
      }
    }
    EXPECT_GT(failures, 12u);
  }
}

TEST_F(LaunchTest, OutOfMemoryGivesBackWorkspacesAndTriesAgain) {
  load();
  ASSERT_FALSE(launchEntry(*entry, args)); // a workspace of 4096
  log.failAt = log.calls;
  Address address = 0;
  log.lines.clear();
  ASSERT_FALSE(device->allocate(1000, "big", address));
  EXPECT_EQ(log.live.count(address), 1u);
  // The pool's block is gone, so the next launch allocates again.
  ASSERT_FALSE(launchEntry(*entry, args));
  EXPECT_EQ(log.lines[1], "allocate 4096 workspace");
}

TEST_F(LaunchTest, ErrorsNameStepAndKernel) {
  load();
  log.failAt = log.calls + 2; // workspace, fill, then the first launch
  log.failWith = ErrorCode::LaunchFailed;
  Error error = launchEntry(*entry, args);
  EXPECT_EQ(error.getCode(), ErrorCode::LaunchFailed);
  EXPECT_EQ(error.getCause(), "entry 'main', step 1, kernel 'matmul' from "
                              "model.mlir:7: launch was made to fail");
}

TEST_F(LaunchTest, ALostDeviceFailsFastWithTheFirstCause) {
  load();
  log.failAt = log.calls + 2;
  log.loseOnFailure = true;
  EXPECT_EQ(launchEntry(*entry, args).getCode(), ErrorCode::DeviceLost);
  log.failAt = UINT32_MAX;
  expectError(ErrorCode::DeviceLost, "launch broke the device");
  EXPECT_TRUE(log.lines.empty());
  Result<std::unique_ptr<FusionRtPackage>> again =
      loadPackage(*device, bytes.data(), bytes.size());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.getError().getCode(), ErrorCode::DeviceLost);
}

TEST_F(LaunchTest, ManySizesDoNotPileUp) {
  load();
  for (int64_t m = 1; m <= 200; ++m) {
    setRows(m);
    ASSERT_FALSE(launchEntry(*entry, args));
    EXPECT_EQ(log.lines.back(), "copy " + std::to_string(0x500000) + " <- " +
                                    std::to_string(0x300000) + " " +
                                    std::to_string(m * 512));
  }
}

TEST_F(LaunchTest, SynchronousDevicesWaitExceptInsideACapture) {
  load();
  device->synchronous = true;
  auto countWaits = [&] {
    log.lines.clear();
    EXPECT_FALSE(launchEntry(*entry, args));
    return std::count(log.lines.begin(), log.lines.end(), "synchronize");
  };
  EXPECT_EQ(countWaits(), 4);
  ASSERT_FALSE(device->workspaces.reserve(4096));
  log.capture = 7;
  EXPECT_EQ(countWaits(), 0);
}

TEST_F(LaunchTest, ThreadsLaunchOneEntryAtOnce) {
  load();
  constexpr int kThreads = 4, kLaunches = 300;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      // All threads use one stream and meet the same sizes in another order.
      for (int i = 0; i < kLaunches; ++i) {
        int64_t dims[2] = {1 + (i * (t + 1)) % 100, 128};
        FusionRtTensor in[4] = {inputs[0], inputs[1], inputs[2], inputs[3]};
        FusionRtTensor out[2] = {outputs[0], outputs[1]};
        in[0].dims = in[3].dims = out[0].dims = out[1].dims = dims;
        FusionRtLaunchArgs own = args;
        own.inputs = in;
        own.outputs = out;
        failures += static_cast<bool>(launchEntry(*entry, own));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(failures.load(), 0);
  size_t launches = 0;
  for (const std::string &line : log.lines)
    launches += line.rfind("launch", 0) == 0;
  EXPECT_EQ(launches, size_t(2 * kThreads * kLaunches));
}

TEST_F(LaunchTest, ByValueIntegersCanBeSizes) {
  PackageModel model = makeSamplePackage();
  Entry &e = model.entries[0];
  e.symbols.push_back({"n", 4, Symbol::kFromScalar});
  e.inputs.push_back({"n", DType::I32, {}, true});
  e.outputs[1].dims = {e.exprs.symbol(1)};
  e.steps.pop_back();
  load(model);
  int32_t n = 5;
  FusionRtTensor more[5] = {inputs[0],
                            inputs[1],
                            inputs[2],
                            inputs[3],
                            {0, &n, nullptr, FUSION_RT_I32, 0}};
  int64_t dims[1] = {5};
  args.inputs = more;
  args.numInputs = 5;
  outputs[1].rank = 1;
  outputs[1].dims = dims;
  EXPECT_FALSE(launchEntry(*entry, args));
  n = 6;
  expectError(ErrorCode::ShapeMismatch,
              "dimension 0 is 5, expected 6 = n, the value of input 4");
  n = -6;
  expectError(ErrorCode::ShapeMismatch, "is -6");
  more[4].value = nullptr;
  expectError(ErrorCode::NullPointer, "passed by value");
}
