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

/// A measurement. What it holds is released in whatever state it ends.
class CudaDevice::Bench {
public:
  using Enqueue = std::function<Error(Stream)>;

  Bench(CudaDevice &device, const Driver &driver, const Enqueue &enqueue,
        const FusionRtBenchOptions &options)
      : device(device), driver(driver), enqueue(enqueue), options(options) {}
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

  /// Makes the stream, the events, and memory that is written between samples.
  Error prepare(uint64_t l2Bytes);
  /// Runs what is timed once, outside of any graph: its error is the clearest.
  Error tryOnce();
  /// Makes a graph of a batch.
  Error capture();
  /// Runs all samples.
  Error measure();
  /// The microseconds of each sample, in increasing order.
  Error readSamples(std::vector<double> &samples);
  bool usesGraph() const { return exec != nullptr; }

private:
  Error check(CUresult result, const char *call) {
    return device.check(result, call);
  }
  Error runBatch();
  Error record(uint32_t event) {
    return check(driver.cuEventRecord(events[event], stream), "cuEventRecord");
  }

  CudaDevice &device;
  const Driver &driver;
  const Enqueue &enqueue;
  const FusionRtBenchOptions &options;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUdeviceptr flush = 0;
  uint64_t flushBytes = 0;
  std::vector<CUevent> events; // begin and end of each sample
};

Error CudaDevice::Bench::prepare(uint64_t l2Bytes) {
  if (Error error = check(driver.cuStreamCreate(&stream, kStreamNonBlocking),
                          "cuStreamCreate"))
    return error;
  // The caller may have prepared the inputs on the default stream, which a
  // non-blocking stream does not wait for.
  if (Error error = device.synchronize(nullptr))
    return error;
  for (uint32_t i = 0; i < 2 * options.repeats; ++i) {
    CUevent event = nullptr;
    if (Error error = check(driver.cuEventCreate(&event, 0), "cuEventCreate"))
      return error;
    events.push_back(event);
  }
  if (options.keepL2)
    return {};
  constexpr uint64_t kLeastFlushBytes = 64 << 20;
  flushBytes = std::max<uint64_t>(2 * l2Bytes, kLeastFlushBytes);
  return check(driver.cuMemAlloc(&flush, flushBytes),
               "cuMemAlloc for the cache flush");
}

Error CudaDevice::Bench::tryOnce() {
  if (Error error = enqueue(stream))
    return error;
  return device.synchronize(stream);
}

Error CudaDevice::Bench::capture() {
  if (Error error =
          check(driver.cuStreamBeginCapture(stream, kCaptureThreadLocal),
                "cuStreamBeginCapture"))
    return error;
  Error inside;
  for (uint32_t i = 0; i < options.batch && !inside; ++i)
    inside = enqueue(stream);
  // The capture must end also after an error.
  Error end =
      check(driver.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  if (inside)
    return inside;
  if (end)
    return end;
  return check(driver.cuGraphInstantiate(&exec, graph, 0),
               "cuGraphInstantiate");
}

Error CudaDevice::Bench::runBatch() {
  if (exec)
    return check(driver.cuGraphLaunch(exec, stream), "cuGraphLaunch");
  for (uint32_t i = 0; i < options.batch; ++i)
    if (Error error = enqueue(stream))
      return error;
  return {};
}

Error CudaDevice::Bench::measure() {
  for (uint32_t i = 0; i < options.warmup; ++i)
    if (Error error = runBatch())
      return error;
  for (uint32_t i = 0; i < options.repeats; ++i) {
    if (flush)
      if (Error error =
              check(driver.cuMemsetD8Async(flush, static_cast<unsigned char>(i),
                                           flushBytes, stream),
                    "cuMemsetD8Async"))
        return error;
    if (Error error = record(2 * i))
      return error;
    if (Error error = runBatch())
      return error;
    if (Error error = record(2 * i + 1))
      return error;
  }
  return device.synchronize(stream);
}

Error CudaDevice::Bench::readSamples(std::vector<double> &samples) {
  for (uint32_t i = 0; i < options.repeats; ++i) {
    float milliseconds = 0;
    if (Error error =
            check(driver.cuEventElapsedTime(&milliseconds, events[2 * i],
                                            events[2 * i + 1]),
                  "cuEventElapsedTime"))
      return error;
    samples.push_back(milliseconds * 1000.0 / options.batch);
  }
  std::sort(samples.begin(), samples.end());
  return {};
}

Error CudaDevice::time(const std::function<Error(Stream)> &enqueue,
                       const FusionRtBenchOptions &options,
                       FusionRtBenchResult &result) {
  if (Error error = checkAlive())
    return error;
  Scope scope(*this);
  Bench bench(*this, driver, enqueue, options);
  int64_t l2Bytes = std::max(getAttribute(kDeviceL2Bytes), 0);
  if (Error error = bench.prepare(static_cast<uint64_t>(l2Bytes)))
    return error;
  if (Error error = bench.tryOnce())
    return error;
  if (!options.noGraph)
    if (Error error = bench.capture())
      return error;
  if (Error error = bench.measure())
    return error;
  std::vector<double> samples;
  if (Error error = bench.readSamples(samples))
    return error;
  size_t middle = samples.size() / 2;
  result.minMicroseconds = samples.front();
  result.maxMicroseconds = samples.back();
  result.medianMicroseconds = samples.size() % 2
                                  ? samples[middle]
                                  : (samples[middle - 1] + samples[middle]) / 2;
  result.samples = static_cast<uint32_t>(samples.size());
  result.usedGraph = bench.usesGraph();
  return {};
}

} // namespace cuda
} // namespace fusionrt
