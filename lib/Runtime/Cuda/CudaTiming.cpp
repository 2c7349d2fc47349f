//===- CudaTiming.cpp - Timing launches on a GPU --------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements timing with events: warm-up, an optional write over the
// L2 cache before each sample, and one captured graph per sample, so that the
// host's own time to launch does not count.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"
#include "CudaScope.h"

#include <algorithm>

namespace fusionrt {
namespace cuda {

namespace {

/// What a measurement holds; released in whatever state it ends.
class Bench {
public:
  explicit Bench(const Driver &driver) : driver(driver) {}
  ~Bench() {
    for (CUevent event : events)
      driver.cuEventDestroy(event);
    if (exec)
      driver.cuGraphExecDestroy(exec);
    if (graph)
      driver.cuGraphDestroy(graph);
    if (flush)
      driver.cuMemFree(flush);
    if (stream)
      driver.cuStreamDestroy(stream);
  }

  const Driver &driver;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUdeviceptr flush = 0;
  uint64_t flushBytes = 0;
  std::vector<CUevent> events; // begin and end of each sample
};

} // namespace

Error CudaDevice::time(const std::function<Error(Stream)> &enqueue,
                       const FusionRtBenchOptions &options,
                       FusionRtBenchResult &result) {
  if (Error error = checkAlive())
    return error;
  Scope scope(*this);
  Bench bench(driver);
  if (Error error =
          check(driver.cuStreamCreate(&bench.stream, kStreamNonBlocking),
                "cuStreamCreate"))
    return error;
  // The caller may have prepared the inputs on the default stream, which a
  // non-blocking stream does not wait for.
  if (Error error = synchronize(nullptr))
    return error;
  for (uint32_t i = 0; i < 2 * options.repeats; ++i) {
    CUevent event = nullptr;
    if (Error error = check(driver.cuEventCreate(&event, 0), "cuEventCreate"))
      return error;
    bench.events.push_back(event);
  }
  if (!options.keepL2) {
    constexpr uint64_t kLeastFlushBytes = 64 << 20;
    bench.flushBytes = std::max<uint64_t>(
        2 * static_cast<uint64_t>(std::max(getAttribute(kDeviceL2Bytes), 0)),
        kLeastFlushBytes);
    if (Error error = check(driver.cuMemAlloc(&bench.flush, bench.flushBytes),
                            "cuMemAlloc for the cache flush"))
      return error;
  }

  // One launch outside of any graph first: its error is the clearest.
  if (Error error = enqueue(bench.stream))
    return error;
  if (Error error = synchronize(bench.stream))
    return error;
  if (!options.noGraph) {
    if (Error error = check(
            driver.cuStreamBeginCapture(bench.stream, kCaptureThreadLocal),
            "cuStreamBeginCapture"))
      return error;
    Error inside;
    for (uint32_t i = 0; i < options.batch && !inside; ++i)
      inside = enqueue(bench.stream);
    // The capture must end also after an error.
    Error end = check(driver.cuStreamEndCapture(bench.stream, &bench.graph),
                      "cuStreamEndCapture");
    if (inside)
      return inside;
    if (end)
      return end;
    if (Error error =
            check(driver.cuGraphInstantiate(&bench.exec, bench.graph, 0),
                  "cuGraphInstantiate"))
      return error;
  }

  auto runOnce = [&]() -> Error {
    if (bench.exec)
      return check(driver.cuGraphLaunch(bench.exec, bench.stream),
                   "cuGraphLaunch");
    for (uint32_t i = 0; i < options.batch; ++i)
      if (Error error = enqueue(bench.stream))
        return error;
    return {};
  };
  for (uint32_t i = 0; i < options.warmup; ++i)
    if (Error error = runOnce())
      return error;
  for (uint32_t i = 0; i < options.repeats; ++i) {
    if (bench.flush)
      if (Error error = check(
              driver.cuMemsetD8Async(bench.flush, static_cast<unsigned char>(i),
                                     bench.flushBytes, bench.stream),
              "cuMemsetD8Async"))
        return error;
    if (Error error =
            check(driver.cuEventRecord(bench.events[2 * i], bench.stream),
                  "cuEventRecord"))
      return error;
    if (Error error = runOnce())
      return error;
    if (Error error =
            check(driver.cuEventRecord(bench.events[2 * i + 1], bench.stream),
                  "cuEventRecord"))
      return error;
  }
  if (Error error = synchronize(bench.stream))
    return error;

  std::vector<double> samples;
  for (uint32_t i = 0; i < options.repeats; ++i) {
    float milliseconds = 0;
    if (Error error =
            check(driver.cuEventElapsedTime(&milliseconds, bench.events[2 * i],
                                            bench.events[2 * i + 1]),
                  "cuEventElapsedTime"))
      return error;
    samples.push_back(milliseconds * 1000.0 / options.batch);
  }
  std::sort(samples.begin(), samples.end());
  size_t middle = samples.size() / 2;
  result.minMicroseconds = samples.front();
  result.maxMicroseconds = samples.back();
  result.medianMicroseconds = samples.size() % 2
                                  ? samples[middle]
                                  : (samples[middle - 1] + samples[middle]) / 2;
  result.samples = static_cast<uint32_t>(samples.size());
  result.usedGraph = bench.exec != nullptr;
  return {};
}

} // namespace cuda
} // namespace fusionrt
