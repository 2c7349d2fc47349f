//===- HopperClusterTest.cpp - Blocks that share their shared memory ------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file runs the kernels of test/Emulator/Hopper/cluster.cu, and plants
// faults in them.
//
//===----------------------------------------------------------------------===//

#include "HopperUtils.h"

using namespace fusionemu;

static constexpr int clusterSize = 4;

static std::vector<float> makeFloats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float &x : values)
    x = float(int(random() % 2001) - 1000) / 256;
  return values;
}

/// Sums of 3 clusters of 4 blocks of n floats.
static Status runSum(const std::string &text, Mode mode, int n) {
  const int clusters = 3;
  HopperFixture f;
  f.kernel = "cluster_sum";
  f.options.asynchrony = mode.asynchrony;
  f.options.threads = mode.threads;
  f.options.maxSteps = 1 << 20;
  Status status = f.module.parse(text, "cluster.ptx");
  if (!status.ok())
    return status;
  std::vector<float> in = makeFloats(size_t(clusters) * clusterSize * n, 4);
  f.passBuffer("in", in);
  uint64_t out = f.passEmpty("out", clusters * 4);
  f.pass(n);
  status = f.run({clusters * clusterSize, 1, 1}, {96, 1, 1});
  if (!status.ok())
    return status;
  std::vector<float> got = f.get<float>(out, clusters);
  for (int c = 0; c < clusters; ++c) {
    double sum = 0, magnitude = 0;
    for (int i = 0; i < clusterSize * n; ++i) {
      sum += in[size_t(c) * clusterSize * n + i];
      magnitude += std::fabs(in[size_t(c) * clusterSize * n + i]);
    }
    EXPECT_NEAR(got[c], sum, magnitude * clusterSize * n / (1 << 24));
  }
  return status;
}

/// Layer norm of 3 rows of 4 n floats.
static Status runNorm(const std::string &text, Mode mode, int n) {
  const int rows = 3, width = clusterSize * n;
  HopperFixture f;
  f.kernel = "cluster_layer_norm";
  f.options.asynchrony = mode.asynchrony;
  f.options.threads = mode.threads;
  f.options.maxSteps = 1 << 20;
  Status status = f.module.parse(text, "cluster.ptx");
  if (!status.ok())
    return status;
  std::vector<float> in = makeFloats(size_t(rows) * width, 5);
  std::vector<float> gain = makeFloats(width, 6), bias = makeFloats(width, 7);
  f.passBuffer("in", in);
  f.passBuffer("gain", gain);
  f.passBuffer("bias", bias);
  uint64_t out = f.passEmpty("out", in.size() * 4);
  f.pass(n);
  status = f.run({rows * clusterSize, 1, 1}, {64, 1, 1}, uint32_t(n) * 4);
  if (!status.ok())
    return status;
  std::vector<float> got = f.get<float>(out, in.size());
  for (int row = 0; row < rows; ++row) {
    const float *x = &in[size_t(row) * width];
    double mean = 0, variance = 0;
    for (int i = 0; i < width; ++i)
      mean += x[i] / width;
    for (int i = 0; i < width; ++i)
      variance += (x[i] - mean) * (x[i] - mean) / width;
    for (int i = 0; i < width; ++i)
      EXPECT_NEAR(
          got[size_t(row) * width + i],
          (x[i] - mean) / std::sqrt(variance + 1e-5) * gain[i] + bias[i], 2e-5);
  }
  return status;
}

TEST(HopperCluster, Sum) {
  std::string text = readKernel("cluster.ptx", "cluster_sum");
  for (Mode mode : allModes)
    for (int n : {1, 96, 500}) {
      SCOPED_TRACE(describe(mode));
      Status status = runSum(text, mode, n);
      EXPECT_TRUE(status.ok()) << status.message();
    }
}

TEST(HopperCluster, LayerNorm) {
  std::string text = readKernel("cluster.ptx", "cluster_layer_norm");
  for (Mode mode : allModes)
    for (int n : {64, 250}) {
      SCOPED_TRACE(describe(mode));
      Status status = runNorm(text, mode, n);
      EXPECT_TRUE(status.ok()) << status.message();
    }
}

TEST(HopperCluster, Faults) {
  std::string sum = readKernel("cluster.ptx", "cluster_sum");
  std::string norm = readKernel("cluster.ptx", "cluster_layer_norm");
  struct {
    const char *name;
    std::string text;
    std::vector<Edit> edits;
    ErrorKind late, early;
    const char *pattern;
  } cases[] = {
      {"wait for the parts removed",
       sum,
       {{"// wait: parts", 0, "setp.eq.u32 done, 0, 0;"}},
       ErrorKind::InFlight,
       ErrorKind::SharedRace,
       "'ld.shared.*(still in use by PTX line .* 'st.async.* by|asynchronous "
       "operation of) warp 0"},
      {"too few bytes expected",
       sum,
       {{"// expect: parts", 0, "], 12;", "\\], .*"}},
       ErrorKind::InFlight,
       ErrorKind::SharedRace,
       "'ld.shared.* (still in use by PTX line .* 'st.async.* by warp 0|of "
       "warp 0 of block 3 of the cluster wrote with no wait)"},
      {"too many bytes expected",
       sum,
       {{"// expect: parts", 0, "], 20;", "\\], .*"}},
       ErrorKind::Deadlock,
       ErrorKind::Deadlock,
       "0 of 1 arrivals and 4 bytes missing"},
      {"sent to a block that is not there",
       sum,
       {{"mapa", 0, "$1 4;", "(.*,.*,).*"}},
       ErrorKind::BadDescriptor,
       ErrorKind::BadDescriptor,
       "'mapa.* maps an address to block 4 of a cluster of 4"},
      {"no cluster barrier at the start",
       sum,
       {{"barrier.cluster.arrive.release; // start", 0, ""},
        {"barrier.cluster.wait.acquire; // start", 0, ""}},
       ErrorKind::SharedRace,
       ErrorKind::SharedRace,
       "'st.async.* which warp 0 of block 0 of the cluster initialised with no "
       "barrier"},
      {"moments not awaited",
       norm,
       {{"barrier.cluster.arrive.release; // moments", 0, ""},
        {"barrier.cluster.wait.acquire; // moments", 0, ""}},
       ErrorKind::SharedRace,
       ErrorKind::SharedRace,
       "'ld.shared::cluster.* thread .0,0,0. of the same warp wrote"},
      {"arrival without a wait",
       norm,
       {{"barrier.cluster.wait.acquire; // moments", 1, ""}},
       ErrorKind::SharedRace,
       ErrorKind::SharedRace,
       "'ld.shared::cluster.* thread .0,0,0. of the same warp wrote"},
      {"no cluster barrier at the end",
       norm,
       {{"barrier.cluster.arrive.release; // end", 0, ""},
        {"barrier.cluster.wait.acquire; // end", 0, ""}},
       ErrorKind::UseAfterFree,
       ErrorKind::UseAfterFree,
       "its block may exit before warp 1 of block 3 of the cluster has used"},
  };
  for (const auto &c : cases)
    for (Asynchrony asynchrony : {Asynchrony::Late, Asynchrony::Early}) {
      bool isLate = asynchrony == Asynchrony::Late;
      SCOPED_TRACE(std::string(c.name) + (isLate ? ", late" : ", early"));
      std::string text = plant(c.text, c.edits);
      Status status = c.text == sum ? runSum(text, {asynchrony, 1}, 96)
                                    : runNorm(text, {asynchrony, 1}, 64);
      EXPECT_EQ(status.getKind(), isLate ? c.late : c.early)
          << status.message();
      EXPECT_TRUE(std::regex_search(status.message(), std::regex(c.pattern)))
          << status.message();
    }
}
