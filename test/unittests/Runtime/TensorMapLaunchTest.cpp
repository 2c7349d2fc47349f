//===- TensorMapLaunchTest.cpp - Tensor maps and clusters on devices ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// These tests launch packages whose kernels take tensor maps and run in
// clusters, on the emulator and on a GPU of sm_90 or later where there is one.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Runtime.h"
#include "fusion/Executable/Package.h"

#include <gtest/gtest.h>

using namespace fusionpkg;

/// copy: tiles of 16x32 words from one map through shared memory to another;
/// the parameter between the maps is the number of tiles in a row.
/// columns: one im2col column of 32 pixels and 4 words for each of the 9 taps.
/// ranks: what each block knows of its cluster.
static const char *const kPtx = R"(
.version 8.0
.target sm_90
.address_size 64

.visible .entry copy(.param .align 64 .b8 p0[128], .param .u64 p1,
                     .param .align 64 .b8 p2[128])
{
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>;
  .shared .align 128 .b8 tile[2048];
  .shared .align 8 .b8 full[8];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  ld.param.u32 %r2, [p1];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra DONE;
  mov.u32 %r3, %ctaid.x;
  rem.u32 %r4, %r3, %r2;
  div.u32 %r5, %r3, %r2;
  shl.b32 %r6, %r4, 5;
  shl.b32 %r7, %r5, 4;
  mov.b64 %rd1, p0;
  cvta.param.u64 %rd2, %rd1;
  mov.b64 %rd3, p2;
  cvta.param.u64 %rd4, %rd3;
  mov.u32 %r8, tile;
  mov.u32 %r9, full;
  mbarrier.init.shared::cta.b64 [%r9], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 2048;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r8], [%rd2, {%r6, %r7}], [%r9];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0;
  @!%p3 bra WAIT;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd4, {%r6, %r7}], [%r8];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;
}

.visible .entry columns(.param .u64 p0, .param .align 64 .b8 p1[128])
{
  .reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  .shared .align 128 .b8 column[512];
  .shared .align 8 .b8 loaded[8];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  ld.param.u64 %rd1, [p0];
  mov.u32 %r2, %ctaid.x;
  rem.u32 %r3, %r2, 3;
  div.u32 %r4, %r2, 3;
  cvt.u16.u32 %h1, %r3;
  cvt.u16.u32 %h2, %r4;
  mov.b64 %rd2, p1;
  cvta.param.u64 %rd3, %rd2;
  mov.u32 %r5, column;
  mov.u32 %r6, loaded;
  mov.u32 %r7, 0;
  mov.u32 %r8, -1;
  mbarrier.init.shared::cta.b64 [%r6], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r6], 512;
  cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r5], [%rd3, {%r7, %r8, %r8, %r7}], [%r6], {%h1, %h2};
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r6], 0;
  @!%p2 bra WAIT;
  mul.wide.u32 %rd4, %r2, 512;
  add.s64 %rd5, %rd1, %rd4;
  cp.async.bulk.global.shared::cta.bulk_group [%rd5], [%r5], 512;
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:
  ret;
}

.visible .entry ranks(.param .u64 p0)
{
  .reg .b32 %r<6>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %cluster_ctarank;
  mov.u32 %r3, %cluster_nctarank;
  mad.lo.s32 %r4, %r3, 100, %r2;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r4;
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;
}

.visible .entry waits(.param .u64 p0)
{
  .reg .pred %p1; .reg .b32 %r<5>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [p0];
  mov.u32 %r1, %ctaid.x;
  shr.u32 %r2, %r1, 2;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  mul.wide.u32 %rd4, %r1, 4;
  add.s64 %rd5, %rd1, %rd4;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 ret;
  red.release.gpu.global.add.u32 [%rd3], 1;
again:
  ld.acquire.gpu.global.u32 %r4, [%rd3];
  setp.lt.u32 %p1, %r4, 4;
  @%p1 bra again;
  st.global.u32 [%rd5+32], %r4;
  ret;
}
)";

static uint32_t addKernel(PackageModel &model, const char *name,
                          uint32_t cluster) {
  Kernel kernel;
  kernel.name = name;
  kernel.blockX = 32;
  kernel.clusterX = cluster;
  model.kernels.push_back(kernel);
  return static_cast<uint32_t>(model.kernels.size() - 1);
}

/// A launch of `copy` from rows of `from` to rows of `to`, both [rows, n].
static Step makeCopy(Entry &entry, const TensorMap &from, const TensorMap &to,
                     ExprId rows, ExprId tilesInRow, ExprId grid) {
  Step step;
  step.variants = {{kNoExpr, 0, grid}};
  for (TensorMap map : {from, to}) {
    map.dtype = DType::F32;
    map.sizes = {rows, entry.exprs.symbol(1)};
    map.box = {16, 32};
    step.args.push_back(
        Arg::tensorMap(static_cast<uint32_t>(entry.tensorMaps.size())));
    entry.tensorMaps.push_back(map);
  }
  step.args.insert(step.args.begin() + 1, Arg::i64(tilesInRow));
  return step;
}

/// Entry "tail": y[m - 1, n] is x[m, n] without its first row, through a
/// temporary. With `always`, there is a block even where there is nothing.
static Entry makeTail(const char *name, bool always) {
  Entry entry;
  entry.name = name;
  entry.symbols = {{"m", 0, 0}, {"n", 0, 1}};
  ExprPool &e = entry.exprs;
  ExprId m = e.symbol(0), n = e.symbol(1);
  ExprId rows = e.sub(m, e.constant(1));
  ExprId rowBytes = e.mul(n, e.constant(4));
  entry.inputs = {{"x", DType::F32, {m, n}, false}};
  entry.outputs = {{"y", DType::F32, {rows, n}, false}};
  entry.buffers = {{BufferKind::Input, 0, kNoExpr, "x"},
                   {BufferKind::Output, 0, kNoExpr, "y"},
                   {BufferKind::Temp, 0, e.mul(rows, rowBytes), "t"}};
  TensorMap x, y, t;
  x.offset = rowBytes;
  y.buffer = 1;
  t.buffer = 2;
  ExprId tilesInRow = e.ceilDiv(n, e.constant(32));
  ExprId grid = e.mul(tilesInRow, e.ceilDiv(rows, e.constant(16)));
  if (always) {
    tilesInRow = grid; // 0 where there is nothing; then nothing is copied
    grid = e.max(grid, e.constant(1));
  }
  entry.steps = {makeCopy(entry, x, t, rows, tilesInRow, grid),
                 makeCopy(entry, t, y, rows, tilesInRow, grid)};
  return entry;
}

/// Entry "im2col": y[3, 3, 32, 4] are the pixels under each tap of a 3x3 window
/// with a border of one, the first 32 of x[n, h, w, 4].
static Entry makeIm2col() {
  Entry entry;
  entry.name = "im2col";
  entry.symbols = {{"n", 0, 0}, {"h", 0, 1}, {"w", 0, 2}};
  ExprPool &e = entry.exprs;
  std::vector<ExprId> dims = {e.symbol(0), e.symbol(1), e.symbol(2),
                              e.constant(4)};
  entry.inputs = {{"x", DType::I32, dims, false}};
  entry.outputs = {
      {"y",
       DType::I32,
       {e.constant(3), e.constant(3), e.constant(32), e.constant(4)},
       false}};
  entry.buffers = {{BufferKind::Input, 0, kNoExpr, "x"},
                   {BufferKind::Output, 0, kNoExpr, "y"}};
  TensorMap map;
  map.kind = TensorMapKind::Im2col;
  map.dtype = DType::I32;
  map.sizes = dims;
  map.lowerCorner = {-1, -1};
  map.upperCorner = {-1, -1};
  map.channelsPerPixel = 4;
  map.pixelsPerColumn = 32;
  entry.tensorMaps = {map};
  Step step;
  step.variants = {{kNoExpr, 1, e.constant(9)}};
  step.args = {Arg::buffer(1), Arg::tensorMap(0)};
  entry.steps = {step};
  return entry;
}

/// Entry "ranksN": what 32 blocks in clusters of N say.
static Entry makeRanks(PackageModel &model, uint32_t cluster) {
  Entry entry;
  entry.name = "ranks" + std::to_string(cluster);
  ExprId blocks = entry.exprs.constant(32);
  entry.outputs = {{"y", DType::I32, {blocks}, false}};
  entry.buffers = {{BufferKind::Output, 0, kNoExpr, "y"}};
  Step step;
  step.variants = {{kNoExpr, addKernel(model, "ranks", cluster), blocks}};
  step.args = {Arg::buffer(0)};
  entry.steps = {step};
  return entry;
}

/// Entry "waits": 32 blocks, four of which wait for each other; first how many
/// of each four have come, then what each block has seen of it.
static Entry makeWaits(PackageModel &model) {
  Entry entry;
  entry.name = "waits";
  entry.outputs = {{"y", DType::I32, {entry.exprs.constant(40)}, false}};
  entry.buffers = {{BufferKind::Output, 0, kNoExpr, "y"}};
  Step clear, step;
  clear.kind = StepKind::Fill;
  clear.fillWidth = 4;
  uint32_t kernel = addKernel(model, "waits", 1);
  model.kernels[kernel].together = 4;
  step.variants = {{kNoExpr, kernel, entry.exprs.constant(32)}};
  step.args = {Arg::buffer(0)};
  entry.steps = {clear, step};
  return entry;
}

static PackageModel makeModel() {
  PackageModel model;
  model.target = "sm_90";
  model.ptxVersion = 80;
  model.modules.push_back({kPtx, {}, 12000});
  addKernel(model, "copy", 1);
  addKernel(model, "columns", 1);
  model.entries = {makeTail("tail", false), makeTail("always", true),
                   makeIm2col()};
  for (uint32_t cluster : {1, 2, 4, 8, 16})
    model.entries.push_back(makeRanks(model, cluster));
  model.entries.push_back(makeWaits(model));
  return model;
}

static std::vector<std::string> getDevices() {
  std::vector<std::string> names = {"emulator"};
  FusionRtDevice *device = nullptr;
  auto info = FUSION_RT_INIT(FusionRtDeviceInfo);
  if (fusionRtDeviceCreate("cuda:0", nullptr, &device) == 0 &&
      fusionRtDeviceGetInfo(device, &info) == 0 && info.computeMajor >= 9)
    names.push_back("cuda:0");
  fusionRtDeviceDestroy(device);
  return names;
}

#define ASSERT_RT(call) ASSERT_EQ((call), 0) << fusionRtGetLastError()

namespace {
class TensorMapDeviceTest : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    ASSERT_RT(fusionRtDeviceCreate(GetParam().c_str(), nullptr, &device));
    std::string bytes = *writePackage(makeModel());
    ASSERT_RT(
        fusionRtPackageLoad(device, bytes.data(), bytes.size(), &package));
  }
  void TearDown() override {
    for (FusionRtAddress address : allocated)
      EXPECT_EQ(fusionRtFree(device, address), 0) << fusionRtGetLastError();
    fusionRtPackageDestroy(package);
    fusionRtDeviceDestroy(device);
  }

  FusionRtAddress allocate(uint64_t bytes, const char *name) {
    FusionRtAddress address = 0;
    EXPECT_EQ(fusionRtMalloc(device, bytes, name, &address), 0)
        << fusionRtGetLastError();
    EXPECT_EQ(fusionRtFill(device, address, 0xff, bytes, nullptr), 0);
    allocated.push_back(address);
    return address;
  }

  /// Launches the entry; `x` and `y` may be null.
  FusionRtStatus launch(const std::string &name, const FusionRtTensor *x,
                        const FusionRtTensor *y) {
    FusionRtEntry *entry = nullptr;
    EXPECT_EQ(fusionRtPackageFindEntry(package, name.c_str(), &entry), 0);
    auto args = FUSION_RT_INIT(FusionRtLaunchArgs);
    args.inputs = x;
    args.outputs = y;
    args.numInputs = x ? 1 : 0;
    args.numOutputs = 1;
    return fusionRtLaunch(entry, &args);
  }

  std::vector<int32_t> read(FusionRtAddress address, size_t count) {
    std::vector<int32_t> words(count);
    EXPECT_EQ(
        fusionRtCopyToHost(device, words.data(), address, 4 * count, nullptr),
        0)
        << fusionRtGetLastError();
    return words;
  }

  /// x[m, n] of numbers from `first` on, and what is beside and behind y.
  void checkTail(const char *entry, int64_t m, int64_t n, int32_t first) {
    size_t count = m * n, left = count - n;
    std::vector<int32_t> host(count);
    for (size_t i = 0; i < count; ++i)
      host[i] = first + static_cast<int32_t>(i);
    int64_t xDims[2] = {m, n}, yDims[2] = {m - 1, n};
    FusionRtTensor x = {allocate(4 * count, "x"), nullptr, xDims, FUSION_RT_F32,
                        2};
    FusionRtTensor y = {allocate(4 * left + 64, "y"), nullptr, yDims,
                        FUSION_RT_F32, 2};
    ASSERT_RT(fusionRtCopyToDevice(device, x.address, host.data(), 4 * count,
                                   nullptr));
    for (int repeat = 0; repeat < 3; ++repeat) {
      ASSERT_RT(fusionRtFill(device, y.address, 0xff, 4 * left + 64, nullptr));
      ASSERT_RT(launch(entry, &x, &y));
      std::vector<int32_t> got = read(y.address, left + 16);
      for (size_t i = 0; i < left; ++i)
        ASSERT_EQ(got[i], host[n + i]) << i << " of " << m << "x" << n;
      for (size_t i = left; i < left + 16; ++i)
        ASSERT_EQ(got[i], -1) << "written behind the end";
    }
  }

  FusionRtDevice *device = nullptr;
  FusionRtPackage *package = nullptr;
  std::vector<FusionRtAddress> allocated;
};
} // namespace

TEST_P(TensorMapDeviceTest, OnePackageRunsAtManySizesAndAddresses) {
  int32_t first = 1;
  for (auto [m, n] : {std::pair<int64_t, int64_t>(17, 32),
                      {2, 4},
                      {50, 100},
                      {1, 8},
                      {50, 100},
                      {130, 36},
                      {3, 0}})
    checkTail("tail", m, n, first += 1000);
}

/// A kernel may be launched although a tensor has no elements.
TEST_P(TensorMapDeviceTest, EmptyTensorsHaveMapsToo) {
  checkTail("always", 1, 8, 5);
  checkTail("always", 17, 32, 7);
}

TEST_P(TensorMapDeviceTest, SizesThatTensorCopiesCannotAddressAreRefused) {
  int64_t xDims[2] = {5, 7}, yDims[2] = {4, 7};
  FusionRtTensor x = {allocate(140, "x"), nullptr, xDims, FUSION_RT_F32, 2};
  FusionRtTensor y = {allocate(140, "y"), nullptr, yDims, FUSION_RT_F32, 2};
  EXPECT_EQ(launch("tail", &x, &y), 6017);
  EXPECT_NE(std::string(fusionRtGetLastError()).find("a multiple of 16"),
            std::string::npos)
      << fusionRtGetLastError();
  for (int32_t word : read(y.address, 28))
    EXPECT_EQ(word, -1);
}

TEST_P(TensorMapDeviceTest, Im2colTakesThePixelsUnderATap) {
  for (auto [n, h, w] :
       {std::array<int64_t, 3>{2, 4, 5}, {1, 8, 8}, {3, 3, 4}}) {
    int64_t dims[4] = {n, h, w, 4}, yDims[4] = {3, 3, 32, 4};
    size_t count = n * h * w * 4;
    std::vector<int32_t> host(count);
    for (size_t i = 0; i < count; ++i)
      host[i] = static_cast<int32_t>(i) + 1;
    FusionRtTensor x = {allocate(4 * count, "x"), nullptr, dims, FUSION_RT_I32,
                        4};
    FusionRtTensor y = {allocate(9 * 512, "y"), nullptr, yDims, FUSION_RT_I32,
                        4};
    ASSERT_RT(fusionRtCopyToDevice(device, x.address, host.data(), 4 * count,
                                   nullptr));
    ASSERT_RT(launch("im2col", &x, &y));
    std::vector<int32_t> got = read(y.address, 9 * 128);
    for (int64_t tap = 0; tap < 9; ++tap)
      for (int64_t pixel = 0; pixel < 32; ++pixel)
        for (int64_t c = 0; c < 4; ++c) {
          int64_t image = pixel / (h * w);
          int64_t row = pixel / w % h + tap / 3 - 1;
          int64_t column = pixel % w + tap % 3 - 1;
          int32_t expected = 0;
          if (image < n && row >= 0 && row < h && column >= 0 && column < w)
            expected = host[((image * h + row) * w + column) * 4 + c];
          ASSERT_EQ(got[(tap * 32 + pixel) * 4 + c], expected)
              << "tap " << tap << ", pixel " << pixel << ", channel " << c;
        }
  }
}

TEST_P(TensorMapDeviceTest, KernelsRunInTheirClusters) {
  for (int cluster : {1, 2, 4, 8, 16}) {
    int64_t dims[1] = {32};
    FusionRtTensor y = {allocate(128, "y"), nullptr, dims, FUSION_RT_I32, 1};
    ASSERT_RT(launch("ranks" + std::to_string(cluster), nullptr, &y));
    std::vector<int32_t> got = read(y.address, 32);
    for (int block = 0; block < 32; ++block)
      ASSERT_EQ(got[block], 100 * cluster + block % cluster) << block;
  }
}

TEST_P(TensorMapDeviceTest, BlocksThatWaitForEachOtherRunTogether) {
  int64_t dims[1] = {40};
  FusionRtTensor y = {allocate(160, "y"), nullptr, dims, FUSION_RT_I32, 1};
  ASSERT_RT(launch("waits", nullptr, &y));
  std::vector<int32_t> got = read(y.address, 40);
  for (int32_t seen : got)
    ASSERT_EQ(seen, 4);
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorMapDeviceTest,
                         ::testing::ValuesIn(getDevices()),
                         [](const ::testing::TestParamInfo<std::string> &info) {
                           return info.param == "emulator" ? "emulator"
                                                           : "cuda";
                         });
