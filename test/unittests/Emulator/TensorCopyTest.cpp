//===- TensorCopyTest.cpp - Tensor copies in kernels ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs the conformance kernels for tensor copies on random boxes and
// compares all of shared or global memory with a walk over the elements.
//
//===----------------------------------------------------------------------===//

#include "TensorReference.h"
#include "TestUtils.h"

#include <fstream>
#include <functional>
#include <sstream>

using namespace fusionemu;

namespace {
class TensorCopyTest : public testing::TestWithParam<Asynchrony> {
public:
  void SetUp() override {
    parse({});
    options.asynchrony = GetParam();
  }

  void parse(const ParseOptions &parseOptions) {
    std::ifstream stream(FUSION_TEST_PTX_DIR "/Conformance/tensor.ptx");
    std::ostringstream text;
    text << stream.rdbuf();
    Status status = module.parse(text.str(), "tensor.ptx", parseOptions);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  /// Fills in the address of new memory of `bytes` random bytes.
  std::vector<uint8_t> create(const char *name, size_t bytes,
                              uint64_t &address) {
    std::vector<uint8_t> contents(bytes);
    for (uint8_t &byte : contents)
      byte = uint8_t(random());
    EXPECT_TRUE(memory.allocate(bytes, name, address).ok());
    EXPECT_TRUE(memory.write(address, contents.data(), bytes).ok());
    return contents;
  }

  std::vector<uint8_t> read(uint64_t address, size_t bytes) {
    std::vector<uint8_t> contents(bytes);
    EXPECT_TRUE(memory.read(address, contents.data(), bytes).ok());
    return contents;
  }

  Status run(const std::string &kernel, const TensorMapInfo &map, uint64_t data,
             uint64_t other, const Coordinates &at,
             std::vector<uint32_t> values, uint32_t sharedBytes) {
    uint8_t encoded[tensorMapBytes];
    EXPECT_TRUE(encodeTensorMap(map, encoded).ok());
    std::vector<const void *> parameters = {encoded, &data, &other};
    for (const int32_t &c : at)
      parameters.push_back(&c);
    for (const uint32_t &value : values)
      parameters.push_back(&value);
    const KernelInfo &info = *module.findKernel(kernel);
    EXPECT_EQ(info.parameters.size(), parameters.size());
    std::vector<uint8_t> block = packArguments(info, parameters.data());
    return launch(memory, module, kernel, {1, 1, 1}, {128, 1, 1}, sharedBytes,
                  block.data(), block.size(), options);
  }

  Memory memory;
  Module module;
  Options options;
  std::mt19937_64 random{5};
};
} // namespace

INSTANTIATE_TEST_SUITE_P(Modes, TensorCopyTest,
                         testing::Values(Asynchrony::Late, Asynchrony::Early));

/// The bytes that the tensor reaches over.
static size_t getTensorBytes(const TensorMapInfo &info) {
  // A store fills up the last 16 bytes of a row.
  uint64_t bytes =
      (info.dims[0] * getElementBits(info.type) / 8 + 15) / 16 * 16;
  for (uint32_t i = 1; i < info.rank; ++i)
    bytes += (info.dims[i] - 1) * info.strides[i - 1];
  return bytes;
}

static void setBox(TensorMapInfo &info, uint32_t inner,
                   std::mt19937_64 &random) {
  info.box[0] = inner;
  for (uint32_t i = 1; i < info.rank; ++i)
    info.box[i] = uint32_t(pick(random, 1, info.rank > 3 ? 4 : 7));
}

TEST_P(TensorCopyTest, LoadsMatchElements) {
  for (int n = 0; n < 200; ++n) {
    uint32_t inner;
    TensorMapInfo info =
        pickTensor(random, uint32_t(pick(random, 1, 5)), inner);
    setBox(info, inner, random);
    if (info.type >= TensorMapType::TF32)
      info.type = TensorMapType::F32; // Changes no bits.
    bool isFloat = info.type >= TensorMapType::F16;
    if (isFloat && random() % 2)
      info.fill = TensorMapFill::NaN;
    Coordinates at = {};
    for (uint32_t i = 0; i < info.rank; ++i)
      at[i] = int32_t(pick(random, -int64_t(info.box[i]), info.dims[i]));
    at[0] = alignStart(info, at[0]);
    uint64_t data = 0, out = 0;
    std::vector<uint8_t> tensor = create("data", getTensorBytes(info), data);
    info.globalAddress = data;
    uint32_t offset = uint32_t(random() % 8) * 128;
    uint32_t bytes = uint32_t(getBoxBytes(info));
    uint32_t extent = uint32_t(getBoxExtent(info));
    uint32_t words = ((extent + 127) / 128 * 128 + offset) / 4;
    ASSERT_TRUE(memory.allocate(4 * words + 4, "out", out).ok());
    Status status = run("load_" + std::to_string(info.rank) + "d", info, data,
                        out, at, {bytes, offset, words}, 4 * words);
    ASSERT_TRUE(status.ok()) << status.message();

    // Dynamic memory begins at a multiple of 1024, where no line is flipped.
    std::vector<uint8_t> expected(4 * words + 4);
    for (uint32_t i = 0; i < words; ++i) {
      uint32_t pattern = 0xc0de0000u + i;
      std::memcpy(&expected[4 * i], &pattern, 4);
    }
    expected[4 * words] = 1; // The wait succeeded.
    for (auto [shared, from] : walkTile(info, at, offset))
      expected[shared] = from != outside ? tensor[from - data]
                         : info.fill == TensorMapFill::Zero ? 0
                         : shared % 2                       ? 0x7f
                                                            : 0xf7;
    ASSERT_EQ(read(out, 4 * words + 4), expected);
  }
}

TEST_P(TensorCopyTest, StoresMatchElements) {
  for (int n = 0; n < 200; ++n) {
    uint32_t inner;
    TensorMapInfo info =
        pickTensor(random, uint32_t(pick(random, 1, 5)), inner);
    setBox(info, inner, random);
    Coordinates at = {};
    for (uint32_t i = 0; i < info.rank; ++i)
      at[i] = int32_t(pick(random, 0, int64_t(info.dims[i])));
    at[0] = alignStart(info, at[0]);
    uint64_t data = 0, source = 0;
    std::vector<uint8_t> tensor = create("data", getTensorBytes(info), data);
    info.globalAddress = data;
    uint32_t offset = uint32_t(random() % 8) * 128;
    uint32_t extent = uint32_t(getBoxExtent(info));
    uint32_t words = ((extent + 127) / 128 * 128 + offset) / 4;
    std::vector<uint8_t> contents = create("source", 4 * words, source);
    Status status = run("store_" + std::to_string(info.rank) + "d", info, data,
                        source, at, {offset, words}, 4 * words);
    ASSERT_TRUE(status.ok()) << status.message();
    for (auto [shared, to] : walkTile(info, at, offset, /*isStore=*/true))
      if (to != outside)
        tensor[to - data] = contents[shared];
    ASSERT_EQ(read(data, tensor.size()), tensor);
  }
}

/// Adds a box of 8 x 2 elements to a tensor of 8 x 2 of them.
static void expectSum(TensorCopyTest &test, const char *type, uint32_t size,
                      std::function<uint32_t(uint32_t, uint32_t)> add) {
  TensorMapInfo info;
  ASSERT_TRUE(parseTensorMap(std::string(type) + ":8,2:8,2", info).ok());
  uint64_t data = 0, source = 0;
  std::vector<uint8_t> sum = test.create("data", 16 * size, data);
  std::vector<uint8_t> added = test.create("source", 16 * size, source);
  info.globalAddress = data;
  Status status =
      test.run("reduce_add_2d", info, data, source, {}, {0, 4 * size}, 1024);
  ASSERT_TRUE(status.ok()) << status.message();
  for (uint32_t i = 0; i < sum.size(); i += size) {
    uint32_t a = 0, b = 0;
    std::memcpy(&a, &sum[i], size);
    std::memcpy(&b, &added[i], size);
    a = add(a, b);
    std::memcpy(&sum[i], &a, size);
  }
  EXPECT_EQ(test.read(data, sum.size()), sum) << type;
}

TEST_P(TensorCopyTest, ReducesByTheTypeOfTheMap) {
  expectSum(*this, "u32", 4, [](uint32_t a, uint32_t b) { return a + b; });
  // In payload mode floats are integers, which nothing rounds.
  parse({/*payload=*/true});
  expectSum(*this, "f32", 4, [](uint32_t a, uint32_t b) { return a + b; });
  expectSum(*this, "bf16", 2, [](uint32_t a, uint32_t b) { return a + b; });
}

TEST_P(TensorCopyTest, RoundsToTF32UnlessFloatsAreIntegers) {
  TensorMapInfo info;
  ASSERT_TRUE(parseTensorMap("tf32:32:32", info).ok());
  uint64_t data = 0, out = 0;
  std::vector<uint8_t> tensor = create("data", 128, data);
  ASSERT_TRUE(memory.allocate(132, "out", out).ok());
  info.globalAddress = data;
  Status status = run("load_1d", info, data, out, {}, {128, 0, 32}, 1024);
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<uint8_t> loaded = read(out, 128);
  EXPECT_NE(loaded, tensor);
  std::vector<uint8_t> rounded = tensor;
  convertLoaded(info, rounded.data(), 128);
  EXPECT_EQ(loaded, rounded);

  parse({/*payload=*/true});
  status = run("load_1d", info, data, out, {}, {128, 0, 32}, 1024);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(read(out, 128), tensor);
}

/// A store reads no more of shared memory than lies in the tensor: the rest of
/// the tile may be uninitialised.
TEST_P(TensorCopyTest, StoreLeavesTheOutsideAlone) {
  TensorMapInfo info;
  ASSERT_TRUE(parseTensorMap("f32:32,5:32,8", info).ok());
  uint64_t data = 0, source = 0;
  create("data", getTensorBytes(info), data);
  create("source", 1024, source);
  info.globalAddress = data;
  // Three rows are written and two of them stored.
  Status status = run("store_2d", info, data, source, {0, 3}, {0, 96}, 1024);
  EXPECT_TRUE(status.ok()) << status.message();
  status = run("store_2d", info, data, source, {0, 1}, {0, 96}, 1024);
  EXPECT_EQ(status.getKind(), ErrorKind::UninitializedShared)
      << status.message();
}

TEST_P(TensorCopyTest, BoxLeavesSharedMemory) {
  TensorMapInfo info;
  ASSERT_TRUE(parseTensorMap("f32:64,16:4,9:swizzle=128", info).ok());
  uint64_t data = 0, out = 0;
  create("data", getTensorBytes(info), data);
  ASSERT_TRUE(memory.allocate(4096, "out", out).ok());
  info.globalAddress = data;
  // Each of the nine rows of 16 bytes has 128 bytes to itself.
  Status status = run("load_2d", info, data, out, {0, 0}, {144, 0, 256}, 1024);
  EXPECT_EQ(status.getKind(), ErrorKind::OutOfBounds) << status.message();
  status = run("load_2d", info, data, out, {0, 0}, {144, 0, 288}, 1152);
  EXPECT_TRUE(status.ok()) << status.message();
}
