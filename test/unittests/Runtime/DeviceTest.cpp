//===- DeviceTest.cpp - The runtime on real devices -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests run hand-written PTX through the C interface on every device that
// there is: always the emulator, and CUDA where the driver finds a GPU.
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Runtime/Cuda/CudaDriver.h"
#include "fusion-rt/Runtime.h"
#include "fusion/Executable/Package.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

extern "C" int embedMain(int argc, char **argv); // The example run.c.

using namespace fusionpkg;

/// y = x * factor; y = x + bias[i mod columns]; a store far off; and a copy
/// through dynamic shared memory that is larger than 48 KiB.
static const char *const kPtx = R"(
.version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];

.visible .entry scale(.param .u64 p0, .param .u64 p1, .param .u64 p2,
                      .param .f32 p3)
{
  .reg .pred %p<2>; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u64 %rd3, [p2];
  ld.param.f32 %f3, [p3];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %rd4, %r4;
  setp.ge.s64 %p1, %rd4, %rd3;
  @%p1 bra DONE;
  shl.b64 %rd5, %rd4, 2;
  add.s64 %rd6, %rd1, %rd5;
  ld.global.f32 %f1, [%rd6];
  mul.rn.f32 %f2, %f1, %f3;
  add.s64 %rd7, %rd2, %rd5;
  st.global.f32 [%rd7], %f2;
DONE:
  ret;
}

.visible .entry bias(.param .u64 p0, .param .u64 p1, .param .u64 p2,
                     .param .u64 p3, .param .u64 p4)
{
  .reg .pred %p<2>; .reg .b32 %r<5>; .reg .f32 %f<4>; .reg .b64 %rd<14>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u64 %rd3, [p2];
  ld.param.u64 %rd4, [p3];
  ld.param.u64 %rd5, [p4];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %rd6, %r4;
  setp.ge.s64 %p1, %rd6, %rd4;
  @%p1 bra DONE;
  rem.s64 %rd7, %rd6, %rd5;
  shl.b64 %rd8, %rd7, 2;
  add.s64 %rd9, %rd2, %rd8;
  ld.global.f32 %f1, [%rd9];
  shl.b64 %rd10, %rd6, 2;
  add.s64 %rd11, %rd1, %rd10;
  ld.global.f32 %f2, [%rd11];
  add.rn.f32 %f3, %f1, %f2;
  add.s64 %rd12, %rd3, %rd10;
  st.global.f32 [%rd12], %f3;
DONE:
  ret;
}

.visible .entry wild(.param .u64 p0, .param .u64 p1)
{
  .reg .b32 %r<2>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  add.s64 %rd3, %rd1, %rd2;
  mov.u32 %r1, 1;
  st.global.u32 [%rd3], %r1;
  ret;
}

.visible .entry shared_copy(.param .u64 p0, .param .u64 p1, .param .u64 p2)
{
  .reg .b32 %r<5>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [p0];
  ld.param.u64 %rd2, [p1];
  ld.param.u64 %rd3, [p2];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.u32 %r2, [%rd5];
  mov.u64 %rd6, dynamic;
  add.s64 %rd7, %rd6, %rd3;
  sub.s64 %rd7, %rd7, %rd4;
  st.shared.u32 [%rd7], %r2;
  bar.sync 0;
  ld.shared.u32 %r3, [%rd7];
  add.s64 %rd8, %rd2, %rd4;
  st.global.u32 [%rd8], %r3;
  ret;
}
)";

static constexpr int64_t kColumns = 5;
static constexpr uint32_t kSharedBytes = 64 * 1024;

/// Entry "main": y = x * factor + bias over [m, 5] in two launches, a copy of
/// x, and m 64-bit numbers from a fill. Entry "wild": a store out of bounds.
/// Entry "shared": a copy of 32 numbers.
static PackageModel makeModel() {
  PackageModel model;
  model.target = "sm_80";
  model.ptxVersion = 70;
  model.modules.push_back({kPtx, {}, 11000});
  for (const char *name : {"scale", "bias", "wild", "shared_copy"}) {
    Kernel kernel;
    kernel.name = name;
    kernel.blockX = 128;
    model.kernels.push_back(kernel);
  }
  model.kernels[2].blockX = 1;
  model.kernels[3].blockX = 32;
  model.kernels[3].dynamicSharedBytes = kSharedBytes;
  float bias[kColumns] = {10, 20, 30, 40, 50};
  uint32_t biasId = model.addConstant("bias", bias, sizeof(bias));

  Entry entry;
  entry.name = "main";
  entry.symbols = {{"m", 0, 0}};
  ExprPool &e = entry.exprs;
  ExprId m = e.symbol(0), columns = e.constant(kColumns);
  ExprId count = e.mul(m, columns);
  entry.inputs = {{"x", DType::F32, {m, columns}, false},
                  {"factor", DType::F32, {}, true}};
  entry.outputs = {{"y", DType::F32, {m, columns}, false},
                   {"copy", DType::F32, {m, columns}, false},
                   {"marks", DType::I64, {m}, false}};
  entry.buffers = {{BufferKind::Input, 0, kNoExpr, "x"},
                   {BufferKind::Constant, biasId, kNoExpr, "bias"},
                   {BufferKind::Output, 0, kNoExpr, "y"},
                   {BufferKind::Output, 1, kNoExpr, "copy"},
                   {BufferKind::Output, 2, kNoExpr, "marks"},
                   {BufferKind::Temp, 0, e.mul(count, e.constant(4)), "t"}};
  ExprId grid = e.ceilDiv(count, e.constant(128));
  Step scale, bias2, copy, fill;
  scale.variants = {{kNoExpr, 0, grid}};
  scale.args = {Arg::buffer(0), Arg::buffer(5), Arg::i64(count),
                Arg::scalar(1)};
  bias2.variants = {{kNoExpr, 1, grid}};
  bias2.args = {Arg::buffer(5), Arg::buffer(1), Arg::buffer(2), Arg::i64(count),
                Arg::i64(columns)};
  copy.kind = StepKind::Copy;
  copy.dst = 3;
  copy.src = 0;
  fill.kind = StepKind::Fill;
  fill.dst = 4;
  fill.fillWidth = 8;
  fill.fillBits = 0x1122334455667788;
  entry.steps = {scale, bias2, copy, fill};
  model.entries.push_back(entry);

  Entry wild;
  wild.name = "wild";
  wild.outputs = {{"y", DType::I32, {wild.exprs.constant(4)}, false}};
  wild.buffers = {{BufferKind::Output, 0, kNoExpr, "y"}};
  Step store;
  store.variants = {{kNoExpr, 2, kNoExpr}};
  store.args = {Arg::buffer(0),
                Arg::i64(wild.exprs.constant(int64_t(1) << 44))};
  wild.steps = {store};
  model.entries.push_back(wild);

  Entry shared;
  shared.name = "shared";
  ExprId lanes = shared.exprs.constant(32);
  shared.inputs = {{"x", DType::I32, {lanes}, false}};
  shared.outputs = {{"y", DType::I32, {lanes}, false}};
  shared.buffers = {{BufferKind::Input, 0, kNoExpr, "x"},
                    {BufferKind::Output, 0, kNoExpr, "y"}};
  Step through;
  through.variants = {{kNoExpr, 3, kNoExpr}};
  // The last word of the shared memory is used, so all of it must be there.
  through.args = {Arg::buffer(0), Arg::buffer(1),
                  Arg::i64(shared.exprs.constant(kSharedBytes - 4))};
  shared.steps = {through};
  model.entries.push_back(shared);
  return model;
}

/// The first kernel alone: x = factor * x where it lies, and y a copy of that.
static PackageModel makeOverwritingModel() {
  PackageModel model = makeModel();
  model.entries.clear();
  Entry entry;
  entry.name = "in_place";
  ExprId number = entry.exprs.constant(40);
  entry.inputs = {{"x", DType::F32, {number}, false},
                  {"factor", DType::F32, {}, true}};
  entry.outputs = {{"x", DType::F32, {number}, false, 0},
                   {"y", DType::F32, {number}, false}};
  entry.buffers = {{BufferKind::Input, 0, kNoExpr, "x"},
                   {BufferKind::Output, 1, kNoExpr, "y"}};
  Step scale, copy;
  scale.variants = {{kNoExpr, 0, kNoExpr}};
  scale.args = {Arg::buffer(0), Arg::buffer(0), Arg::i64(number),
                Arg::scalar(1)};
  copy.kind = StepKind::Copy;
  copy.dst = 1;
  copy.src = 0;
  entry.steps = {scale, copy};
  model.entries.push_back(entry);
  return model;
}

static std::vector<std::string> getDevices() {
  std::vector<std::string> names = {"emulator"};
  int32_t count = 0;
  if (fusionRtGetCudaDeviceCount(&count) == 0 && count > 0)
    names.push_back("cuda:0");
  return names;
}

/// Fails the test with the runtime's message.
#define ASSERT_RT(call) ASSERT_EQ((call), 0) << fusionRtGetLastError()

namespace {

class DeviceTest : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    ASSERT_RT(fusionRtDeviceCreate(GetParam().c_str(), nullptr, &device));
    load(makeModel());
  }
  void TearDown() override {
    for (FusionRtAddress address : allocated)
      EXPECT_EQ(fusionRtFree(device, address), 0) << fusionRtGetLastError();
    fusionRtPackageDestroy(package);
    fusionRtDeviceDestroy(device);
  }

  void load(const PackageModel &model) {
    std::string bytes = *writePackage(model);
    fusionRtPackageDestroy(package);
    package = nullptr;
    ASSERT_RT(
        fusionRtPackageLoad(device, bytes.data(), bytes.size(), &package));
  }
  FusionRtAddress allocate(uint64_t bytes, const char *name) {
    FusionRtAddress address = 0;
    EXPECT_EQ(fusionRtMalloc(device, bytes, name, &address), 0)
        << fusionRtGetLastError();
    allocated.push_back(address);
    return address;
  }
  /// Arguments of "main" for m rows, with x = 0, 1, 2, ...
  void prepare(int64_t m) {
    rows[0] = m;
    host.resize(m * kColumns);
    for (size_t i = 0; i < host.size(); ++i)
      host[i] = static_cast<float>(i);
    uint64_t bytes = host.size() * sizeof(float);
    inputs[0] = {allocate(bytes, "x"), nullptr, rows, FUSION_RT_F32, 2};
    inputs[1] = {0, &factor, nullptr, FUSION_RT_F32, 0};
    ASSERT_RT(fusionRtCopyToDevice(device, inputs[0].address, host.data(),
                                   bytes, nullptr));
    outputs[0] = {allocate(bytes, "y"), nullptr, rows, FUSION_RT_F32, 2};
    outputs[1] = {allocate(bytes, "copy"), nullptr, rows, FUSION_RT_F32, 2};
    outputs[2] = {allocate(m * 8, "marks"), nullptr, rows, FUSION_RT_I64, 1};
    args = FUSION_RT_INIT(FusionRtLaunchArgs);
    args.inputs = inputs;
    args.outputs = outputs;
    args.numInputs = 2;
    args.numOutputs = 3;
  }
  /// Overwrites the outputs, so that a launch that did nothing is noticed.
  void clearOutputs() {
    for (int i = 0; i < 2; ++i)
      ASSERT_RT(fusionRtFill(device, outputs[i].address, 0xff,
                             host.size() * sizeof(float), args.stream));
    ASSERT_RT(fusionRtFill(device, outputs[2].address, 0xff, rows[0] * 8,
                           args.stream));
  }
  void checkOutputs() {
    std::vector<float> y(host.size()), copy(host.size());
    std::vector<uint64_t> marks(rows[0]);
    uint64_t bytes = host.size() * sizeof(float);
    ASSERT_RT(fusionRtCopyToHost(device, y.data(), outputs[0].address, bytes,
                                 args.stream));
    ASSERT_RT(fusionRtCopyToHost(device, copy.data(), outputs[1].address, bytes,
                                 args.stream));
    ASSERT_RT(fusionRtCopyToHost(device, marks.data(), outputs[2].address,
                                 marks.size() * 8, args.stream));
    for (size_t i = 0; i < host.size(); ++i) {
      ASSERT_EQ(y[i], host[i] * factor + 10.0f * (i % kColumns + 1)) << i;
      ASSERT_EQ(copy[i], host[i]) << i;
    }
    for (uint64_t mark : marks)
      ASSERT_EQ(mark, 0x1122334455667788u);
  }

  FusionRtEntry *find(const char *name) {
    FusionRtEntry *entry = nullptr;
    EXPECT_EQ(fusionRtPackageFindEntry(package, name, &entry), 0);
    return entry;
  }

  FusionRtDevice *device = nullptr;
  FusionRtPackage *package = nullptr;
  std::vector<FusionRtAddress> allocated;
  int64_t rows[2] = {0, kColumns};
  float factor = 0.5f;
  std::vector<float> host;
  FusionRtTensor inputs[2], outputs[3];
  FusionRtLaunchArgs args;
};

} // namespace

TEST_P(DeviceTest, OnePackageRunsAtManySizes) {
  for (int64_t m : {1, 7, 26, 1000, 0, 7}) {
    prepare(m);
    clearOutputs();
    ASSERT_RT(fusionRtLaunch(find("main"), &args));
    ASSERT_RT(fusionRtSynchronize(device, nullptr));
    checkOutputs();
  }
}

namespace {
/// What only the emulator does, by the options that it is opened with.
class EmulatorOptionsTest : public DeviceTest {
protected:
  void SetUp() override {
    auto options = FUSION_RT_INIT(FusionRtDeviceOptions);
    options.profile = 1;
    options.payload = 1;
    ASSERT_RT(fusionRtDeviceCreate(GetParam().c_str(), &options, &device));
    load(makeModel());
  }
};

/// What a callback saw of one launch.
struct Seen {
  std::string kernel;
  uint64_t instructions, pipes, loads, executions, sectors;
};
} // namespace

static void recordLaunch(const FusionRtLaunchReport *report, void *userData) {
  Seen seen = {report->kernel, report->instructions, 0, 0, 0, 0};
  for (uint64_t count : report->pipes)
    seen.pipes += count;
  for (uint64_t i = 0; i < report->numInstructionReports; ++i) {
    const FusionRtInstructionReport &one = *report->instructionReports[i];
    EXPECT_EQ(one.structSize, sizeof(FusionRtInstructionReport));
    seen.executions += one.executions;
    if (std::string(one.text) != "ld.global.f32")
      continue;
    EXPECT_EQ(one.pipe, FUSION_RT_PIPE_LSU);
    EXPECT_GT(one.ptxLine, 0u);
    ++seen.loads;
    seen.sectors += one.globalSectors;
  }
  static_cast<std::vector<Seen> *>(userData)->push_back(seen);
}

TEST_P(EmulatorOptionsTest, CountsInstructionsAndTakesFloatsForIntegers) {
  // 64 rows: 320 elements in ten warps.
  prepare(64);
  clearOutputs();
  std::vector<Seen> seen;
  ASSERT_RT(fusionRtDeviceSetLaunchCallback(device, recordLaunch, &seen));
  ASSERT_RT(fusionRtLaunch(find("main"), &args));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].kernel, "scale");
  EXPECT_EQ(seen[0].loads, 1u);
  EXPECT_EQ(seen[0].sectors, 40u);
  EXPECT_EQ(seen[1].kernel, "bias");
  EXPECT_EQ(seen[1].loads, 2u);
  for (const Seen &launch : seen) {
    EXPECT_EQ(launch.pipes, launch.instructions);
    EXPECT_EQ(launch.executions, launch.instructions);
  }

  // The same bits, multiplied and added as integers.
  std::vector<uint32_t> y(host.size());
  ASSERT_RT(fusionRtCopyToHost(device, y.data(), outputs[0].address,
                               y.size() * sizeof(float), nullptr));
  auto getBits = [](float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  };
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y[i], getBits(host[i]) * getBits(factor) +
                        getBits(10.0f * (i % kColumns + 1)))
        << i;
}

INSTANTIATE_TEST_SUITE_P(Emulator, EmulatorOptionsTest,
                         ::testing::Values("emulator"));

TEST_P(DeviceTest, CallersStreamAndWorkspace) {
  prepare(100);
  ASSERT_RT(fusionRtStreamCreate(device, &args.stream));
  clearOutputs();
  ASSERT_RT(
      fusionRtQueryWorkspace(find("main"), inputs, 2, &args.workspaceBytes));
  EXPECT_EQ(args.workspaceBytes, 2048u);
  args.workspace = allocate(args.workspaceBytes, "my workspace");
  ASSERT_RT(fusionRtLaunch(find("main"), &args));
  checkOutputs();
  fusionRtStreamDestroy(device, args.stream);
}

TEST_P(DeviceTest, SharedMemoryBeyondTheDefaultLimit) {
  int64_t lanes[1] = {32};
  std::vector<int32_t> numbers(32), result(32);
  for (int i = 0; i < 32; ++i)
    numbers[i] = 3 * i;
  FusionRtTensor x = {allocate(128, "x"), nullptr, lanes, FUSION_RT_I32, 1};
  FusionRtTensor y = {allocate(128, "y"), nullptr, lanes, FUSION_RT_I32, 1};
  ASSERT_RT(
      fusionRtCopyToDevice(device, x.address, numbers.data(), 128, nullptr));
  args = FUSION_RT_INIT(FusionRtLaunchArgs);
  args.inputs = &x;
  args.outputs = &y;
  args.numInputs = args.numOutputs = 1;
  ASSERT_RT(fusionRtLaunch(find("shared"), &args));
  ASSERT_RT(fusionRtCopyToHost(device, result.data(), y.address, 128, nullptr));
  EXPECT_EQ(result, numbers);
}

TEST_P(DeviceTest, OutputsOverwriteInputs) {
  load(makeOverwritingModel());
  int64_t size[1] = {40};
  std::vector<float> numbers(40, 8), y(40);
  inputs[0] = {allocate(160, "x"), nullptr, size, FUSION_RT_F32, 1};
  inputs[1] = {0, &factor, nullptr, FUSION_RT_F32, 0};
  outputs[0] = {0, nullptr, size, FUSION_RT_F32, 1};
  outputs[1] = {allocate(160, "y"), nullptr, size, FUSION_RT_F32, 1};
  ASSERT_RT(fusionRtCopyToDevice(device, inputs[0].address, numbers.data(), 160,
                                 nullptr));
  args = FUSION_RT_INIT(FusionRtLaunchArgs);
  args.inputs = inputs;
  args.outputs = outputs;
  args.numInputs = args.numOutputs = 2;
  FusionRtEntry *entry = find("in_place");

  // Once with the input's address, once without one.
  ASSERT_RT(fusionRtLaunch(entry, &args));
  outputs[0].address = inputs[0].address;
  ASSERT_RT(fusionRtLaunch(entry, &args));
  for (FusionRtAddress address : {inputs[0].address, outputs[1].address}) {
    ASSERT_RT(fusionRtCopyToHost(device, y.data(), address, 160, nullptr));
    EXPECT_EQ(y, std::vector<float>(40, 2));
  }

  outputs[0].address = outputs[1].address;
  EXPECT_EQ(fusionRtLaunch(entry, &args), 6001);
  EXPECT_NE(std::string(fusionRtGetLastError())
                .find("output 0 ('x') is the memory of input 0"),
            std::string::npos)
      << fusionRtGetLastError();
  outputs[0].address = 0;
  outputs[1].address = inputs[0].address;
  EXPECT_EQ(fusionRtLaunch(entry, &args), 6016);

  auto info = FUSION_RT_INIT(FusionRtTensorInfo);
  ASSERT_RT(fusionRtEntryGetOutput(entry, 0, &info));
  EXPECT_NE(info.overwritesInput, 0);
  EXPECT_EQ(info.overwrittenInput, 0u);
  ASSERT_RT(fusionRtEntryGetOutput(entry, 1, &info));
  EXPECT_EQ(info.overwritesInput, 0);
}

TEST_P(DeviceTest, BadPtxAndWrongParametersAreErrors) {
  PackageModel model = makeModel();
  model.modules[0].ptx = ".version 7.0\n.target sm_80\n.address_size 64\n"
                         ".visible .entry scale() { nonsense %r1; }\n";
  std::string bytes = *writePackage(model);
  FusionRtPackage *other = nullptr;
  EXPECT_NE(fusionRtPackageLoad(device, bytes.data(), bytes.size(), &other), 0);
  EXPECT_NE(std::string(fusionRtGetLastErrorCause()), "");

  model = makeModel();
  model.kernels[0].name = "absent";
  bytes = *writePackage(model);
  EXPECT_EQ(fusionRtPackageLoad(device, bytes.data(), bytes.size(), &other),
            6106);
  EXPECT_NE(std::string(fusionRtGetLastError()).find("'absent'"),
            std::string::npos);

  model = makeModel();
  model.entries[0].steps[0].args.pop_back();
  bytes = *writePackage(model);
  FusionRtStatus status =
      fusionRtPackageLoad(device, bytes.data(), bytes.size(), &other);
  if (status == 0) {
    // A driver before 12.4 cannot tell the parameters; then the launch fails.
    auto info = FUSION_RT_INIT(FusionRtDeviceInfo);
    ASSERT_RT(fusionRtDeviceGetInfo(device, &info));
    EXPECT_EQ(info.isEmulator, 0);
    EXPECT_LT(info.driverVersion, 12040);
    fusionRtPackageDestroy(other);
    return;
  }
  EXPECT_EQ(status, 6106) << fusionRtGetLastError();
  EXPECT_EQ(other, nullptr);
}

TEST_P(DeviceTest, OutOfMemoryLeavesTheDeviceUsable) {
  FusionRtAddress address = 0;
  EXPECT_EQ(fusionRtMalloc(device, uint64_t(1) << 46, "too big", &address),
            6104);
  EXPECT_EQ(address, 0u);
  EXPECT_NE(std::string(fusionRtGetLastError()).find("70368744177664"),
            std::string::npos)
      << fusionRtGetLastError();
  prepare(7);
  clearOutputs();
  ASSERT_RT(fusionRtLaunch(find("main"), &args));
  checkOutputs();
}

TEST_P(DeviceTest, DescribesItselfAndItsKernels) {
  auto info = FUSION_RT_INIT(FusionRtDeviceInfo);
  ASSERT_RT(fusionRtDeviceGetInfo(device, &info));
  EXPECT_EQ(info.isEmulator, GetParam() == "emulator");
  EXPECT_NE(std::string(info.name), "");
  EXPECT_GE(info.sharedBytesPerBlock, 48u * 1024);
  auto kernel = FUSION_RT_INIT(FusionRtKernelInfo);
  ASSERT_RT(fusionRtPackageGetKernel(package, 0, &kernel));
  EXPECT_EQ(kernel.loadedLocalBytes, 0);
  if (!info.isEmulator) {
    EXPECT_GT(kernel.loadedRegisters, 0);
    EXPECT_GT(info.multiprocessors, 0);
    EXPECT_GT(info.memoryBytes, 0u);
    EXPECT_GT(info.l2Bytes, 0u);
  }
}

TEST_P(DeviceTest, TimesOrSaysThatItCannot) {
  prepare(1000);
  clearOutputs();
  auto result = FUSION_RT_INIT(FusionRtBenchResult);
  FusionRtStatus status = fusionRtBench(find("main"), &args, nullptr, &result);
  if (GetParam() == "emulator") {
    EXPECT_EQ(status, 6111);
    return;
  }
  ASSERT_EQ(status, 0) << fusionRtGetLastError();
  checkOutputs();
  EXPECT_EQ(result.samples, 30u);
  EXPECT_EQ(result.usedGraph, 1);
  EXPECT_GT(result.minMicroseconds, 0);
  EXPECT_LE(result.minMicroseconds, result.medianMicroseconds);
  EXPECT_LE(result.medianMicroseconds, result.maxMicroseconds);
  auto options = FUSION_RT_INIT(FusionRtBenchOptions);
  options.keepL2 = options.noGraph = 1;
  options.batch = 10;
  options.repeats = 4;
  ASSERT_RT(fusionRtBench(find("main"), &args, &options, &result));
  EXPECT_EQ(result.samples, 4u);
  EXPECT_EQ(result.usedGraph, 0);
}

TEST_P(DeviceTest, LaunchesCanBeCaptured) {
  if (GetParam() == "emulator")
    return; // Streams and graphs are CUDA's.
  prepare(300);
  ASSERT_RT(fusionRtStreamCreate(device, &args.stream));
  const fusionrt::cuda::Driver &driver = **fusionrt::cuda::getDriver();
  auto stream = static_cast<fusionrt::cuda::CUstream>(args.stream);
  // What is captured is only recorded, so the outputs are cleared before.
  clearOutputs();
  ASSERT_RT(fusionRtSynchronize(device, args.stream));

  // The test itself calls the driver, as a caller with a context does; the
  // runtime leaves no context behind.
  fusionrt::cuda::CUcontext context = nullptr;
  ASSERT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 0), 0);
  ASSERT_EQ(driver.cuCtxPushCurrent(context), 0);
  fusionrt::cuda::CUgraph graph = nullptr;
  ASSERT_EQ(driver.cuStreamBeginCapture(stream, 1), 0);
  EXPECT_EQ(fusionRtLaunch(find("main"), &args), 6014);
  ASSERT_EQ(driver.cuStreamEndCapture(stream, &graph), 0);
  driver.cuGraphDestroy(graph);

  ASSERT_RT(fusionRtReserveWorkspace(find("main"), inputs, 2));
  ASSERT_EQ(driver.cuStreamBeginCapture(stream, 1), 0);
  FusionRtStatus captured = fusionRtLaunch(find("main"), &args);
  ASSERT_EQ(driver.cuStreamEndCapture(stream, &graph), 0);
  ASSERT_EQ(captured, 0) << fusionRtGetLastError();
  fusionrt::cuda::CUgraphExec exec = nullptr;
  ASSERT_EQ(driver.cuGraphInstantiate(&exec, graph, 0), 0);
  for (int replay = 0; replay < 3; ++replay) {
    clearOutputs();
    ASSERT_EQ(driver.cuGraphLaunch(exec, stream), 0);
    ASSERT_RT(fusionRtSynchronize(device, args.stream));
    checkOutputs();
  }
  driver.cuGraphExecDestroy(exec);
  driver.cuGraphDestroy(graph);
  driver.cuCtxPopCurrent(&context);
  driver.cuDevicePrimaryCtxRelease(0);
  fusionRtStreamDestroy(device, args.stream);
}

TEST_P(DeviceTest, TheExampleOfTheDocsRuns) {
  PackageModel model = makeModel();
  model.entries.resize(1);
  char path[] = "/tmp/fusion-embed-XXXXXX";
  int fd = ::mkstemp(path);
  ASSERT_GE(fd, 0);
  ::close(fd);
  ASSERT_FALSE(writeFileAtomically(path, *writePackage(model)));
  std::string program = "embed", device = GetParam(), size = "11";
  char *arguments[] = {program.data(), path, device.data(), size.data()};
  ::testing::internal::CaptureStdout();
  int status = embedMain(4, arguments);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(),
            "output 0: 11 5\noutput 1: 11 5\noutput 2: 11\n");
  EXPECT_EQ(status, 0);
  ::unlink(path);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(embedMain(4, arguments), 1);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("FUS-5001"),
            std::string::npos);
}

/// Launches "wild" and ends the process: 0 if the device then refuses all work
/// with the first cause (CUDA), or goes on working (emulator).
static void launchWildAndExit(const std::string &name) {
  auto fail = [](const char *what) {
    std::fprintf(stderr, "%s: %s\n", what, fusionRtGetLastError());
    std::exit(1);
  };
  FusionRtDevice *device = nullptr;
  FusionRtPackage *package = nullptr;
  FusionRtEntry *entry = nullptr;
  FusionRtAddress address = 0;
  std::string bytes = *writePackage(makeModel());
  if (fusionRtDeviceCreate(name.c_str(), nullptr, &device) ||
      fusionRtPackageLoad(device, bytes.data(), bytes.size(), &package) ||
      fusionRtPackageFindEntry(package, "wild", &entry) ||
      fusionRtMalloc(device, 16, "y", &address))
    fail("setup");
  int64_t dims[1] = {4};
  FusionRtTensor y = {address, nullptr, dims, FUSION_RT_I32, 1};
  auto args = FUSION_RT_INIT(FusionRtLaunchArgs);
  args.outputs = &y;
  args.numOutputs = 1;
  FusionRtStatus status = fusionRtLaunch(entry, &args);
  if (status == 0)
    status = fusionRtSynchronize(device, nullptr);
  std::string cause = fusionRtGetLastErrorCause();
  if (cause.find("wild") == std::string::npos)
    fail("the error does not name the kernel");
  if (name == "emulator") {
    if (status < 7000 || fusionRtMalloc(device, 16, "again", &address))
      fail("the emulator is not usable afterwards");
    std::exit(0);
  }
  if (status != 6108 || fusionRtMalloc(device, 16, "again", &address) != 6108 ||
      fusionRtLaunch(entry, &args) != 6108)
    fail("the device is not lost");
  if (cause != fusionRtGetLastErrorCause())
    fail("the first cause is lost");
  fusionRtPackageDestroy(package);
  fusionRtDeviceDestroy(device);
  std::exit(0);
}

// A broken context stays broken, so this happens in a process of its own.
using DeviceDeathTest = DeviceTest;
TEST_P(DeviceDeathTest, AStoreOutOfBoundsIsFoundAndNamed) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(launchWildAndExit(GetParam()), ::testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest, ::testing::ValuesIn(getDevices()),
                         [](const auto &info) {
                           return info.param.substr(0, info.param.find(':'));
                         });
INSTANTIATE_TEST_SUITE_P(Devices, DeviceDeathTest,
                         ::testing::ValuesIn(getDevices()),
                         [](const auto &info) {
                           return info.param.substr(0, info.param.find(':'));
                         });
