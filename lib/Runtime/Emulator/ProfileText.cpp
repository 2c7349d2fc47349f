//===- ProfileText.cpp - Profiles as text and JSON ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the report of a profile: launches added up by kernel,
// tables for people, and JSON.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Emulator/Profile.h"
#include "fusion/Executable/JsonText.h"
#include "fusion/Executable/TextTable.h"

#include <algorithm>
#include <cstdio>

using namespace fusionemu;
using fusionpkg::JsonObject;
using fusionpkg::quoteJson;
using fusionpkg::TextTable;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

KernelProfile &ProfileReport::getKernel(std::string_view name) {
  for (KernelProfile &kernel : kernels)
    if (kernel.name == name)
      return kernel;
  kernels.emplace_back().name = std::string(name);
  return kernels.back();
}

void ProfileReport::addLaunch(std::string_view name, Dim3 grid, Dim3 block,
                              const Counters &counters,
                              const Profile &profile) {
  KernelProfile &kernel = getKernel(name);
  ++kernel.launches;
  kernel.grid = grid;
  kernel.block = block;
  kernel.counters += counters;
  std::vector<InstructionProfile> &own = kernel.profile.instructions;
  // The same kernel has the same instructions every time.
  if (own.size() != profile.instructions.size())
    own = profile.instructions;
  else
    for (size_t i = 0; i < own.size(); ++i)
      own[i].counts += profile.instructions[i].counts;
}

void ProfileReport::setPrediction(std::string_view name, int64_t bytes) {
  for (KernelProfile &kernel : kernels)
    if (kernel.name == name)
      kernel.predictedBytes = bytes;
}

KernelProfile ProfileReport::getTotal() const {
  KernelProfile total;
  total.name = "total";
  for (const KernelProfile &kernel : kernels) {
    total.launches += kernel.launches;
    total.counters += kernel.counters;
  }
  total.predictedBytes = predictedBytes;
  return total;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// `numerator / denominator` with `digits` behind the point, or "-".
static std::string formatRatio(double numerator, double denominator,
                               int digits) {
  if (denominator == 0)
    return "-";
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, numerator / denominator);
  return text;
}

uint64_t fusionemu::getTraffic(const Counters &n) {
  return n.distinctLoadBytes + n.distinctStoreBytes;
}

static std::vector<std::string> makeRow(const KernelProfile &kernel) {
  const Counters &n = kernel.counters;
  bool isKnown = kernel.predictedBytes >= 0;
  return {
      kernel.name,
      std::to_string(kernel.launches),
      std::to_string(n.instructions),
      formatRatio(double(n.globalLoadSectors), double(n.globalLoadRequests), 2),
      formatRatio(double(n.globalStoreSectors), double(n.globalStoreRequests),
                  2),
      std::to_string(n.distinctLoadBytes),
      std::to_string(n.distinctStoreBytes),
      std::to_string(getTraffic(n)),
      isKnown ? std::to_string(kernel.predictedBytes) : "-",
      std::to_string(n.sharedLoadRequests + n.sharedStoreRequests +
                     n.sharedAtomicRequests),
      std::to_string(n.bankConflicts),
      std::to_string(n.barriers)};
}

static std::vector<std::string> makeMixRow(const KernelProfile &kernel) {
  std::vector<std::string> row = {kernel.name};
  for (uint64_t count : kernel.counters.pipes)
    row.push_back(formatRatio(100.0 * double(count),
                              double(kernel.counters.instructions), 1));
  return row;
}

/// A row for each way of copying that was used.
static void addCopyRows(TextTable &table, const KernelProfile &kernel) {
  const Counters &n = kernel.counters;
  const std::pair<const char *, uint64_t> paths[] = {
      {"cp.async", n.cpAsyncBytes},         {"bulk load", n.bulkLoadBytes},
      {"bulk store", n.bulkStoreBytes},     {"tensor load", n.tensorLoadBytes},
      {"tensor store", n.tensorStoreBytes}, {"atomics", n.globalAtomicBytes},
      {"loads", n.globalLoadBytes},         {"stores", n.globalStoreBytes},
  };
  for (const auto &[name, bytes] : paths)
    if (bytes)
      table.add({kernel.name, name, std::to_string(bytes)});
}

namespace {
struct HotLine {
  const KernelProfile *kernel;
  const InstructionProfile *instruction;
  size_t order; ///< In the program, for equal counts.
};
} // namespace

/// The instructions with the most of `field`, at most `count` of them.
static std::vector<HotLine>
findHotLines(const std::vector<KernelProfile> &kernels,
             uint64_t InstructionCounts::*field, unsigned count) {
  std::vector<HotLine> lines;
  for (const KernelProfile &kernel : kernels)
    for (const InstructionProfile &instruction : kernel.profile.instructions)
      if (instruction.counts.*field)
        lines.push_back({&kernel, &instruction, lines.size()});
  std::sort(lines.begin(), lines.end(),
            [&](const HotLine &a, const HotLine &b) {
              uint64_t left = a.instruction->counts.*field;
              uint64_t right = b.instruction->counts.*field;
              return left != right ? left > right : a.order < b.order;
            });
  lines.resize(std::min<size_t>(lines.size(), count));
  return lines;
}

static std::vector<std::string> makePlace(const HotLine &line) {
  const InstructionProfile &p = *line.instruction;
  return {line.kernel->name, std::to_string(p.line),
          p.source.empty() ? "-" : p.source, p.text};
}

static std::vector<std::string> operator+(std::vector<std::string> left,
                                          std::vector<std::string> right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

std::string ProfileReport::toText(unsigned hotLines) const {
  KernelProfile total = getTotal();
  TextTable main(1);
  main.add({"kernel", "launches", "instructions", "sect/load", "sect/store",
            "read B", "written B", "traffic B", "predicted B", "shared",
            "conflicts", "barriers"});
  for (const KernelProfile &kernel : kernels)
    main.add(makeRow(kernel));
  main.add(makeRow(total));
  std::string text = "profile (sectors of 32 bytes for each request of a warp, "
                     "distinct bytes of DRAM):\n" +
                     main.str();

  TextTable mix(1);
  std::vector<std::string> names = {"kernel"};
  for (unsigned i = 0; i < numPipes; ++i)
    names.push_back(getPipeName(Pipe(i)));
  mix.add(std::move(names));
  for (const KernelProfile &kernel : kernels)
    mix.add(makeMixRow(kernel));
  mix.add(makeMixRow(total));
  text += "instructions by pipe, in percent:\n" + mix.str();

  TextTable copies(2);
  copies.add({"kernel", "path", "bytes"});
  for (const KernelProfile &kernel : kernels)
    addCopyRows(copies, kernel);
  text += "global memory by path, as asked for:\n" + copies.str();

  TextTable sectors(4);
  sectors.add({"kernel", "PTX line", "source", "instruction", "requests",
               "sectors", "sect/request"});
  for (const HotLine &line :
       findHotLines(kernels, &InstructionCounts::globalSectors, hotLines)) {
    const InstructionCounts &n = line.instruction->counts;
    sectors.add(
        makePlace(line) +
        std::vector<std::string>{
            std::to_string(n.globalRequests), std::to_string(n.globalSectors),
            formatRatio(double(n.globalSectors), double(n.globalRequests), 2)});
  }
  text += "hot lines by sectors:\n" + sectors.str();

  std::vector<HotLine> conflicting =
      findHotLines(kernels, &InstructionCounts::bankConflicts, hotLines);
  if (conflicting.empty())
    return text;
  TextTable conflicts(4);
  conflicts.add({"kernel", "PTX line", "source", "instruction", "requests",
                 "conflicts", "conflicts/request"});
  for (const HotLine &line : conflicting) {
    const InstructionCounts &n = line.instruction->counts;
    conflicts.add(
        makePlace(line) +
        std::vector<std::string>{
            std::to_string(n.sharedRequests), std::to_string(n.bankConflicts),
            formatRatio(double(n.bankConflicts), double(n.sharedRequests), 2)});
  }
  return text + "hot lines by bank conflicts:\n" + conflicts.str();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// A ratio, or null.
static std::string toJsonRatio(uint64_t numerator, uint64_t denominator) {
  return denominator ? formatRatio(double(numerator), double(denominator), 4)
                     : "null";
}

static std::string toJson(Dim3 d) {
  return "[" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " +
         std::to_string(d.z) + "]";
}

static std::string makeAccess(uint64_t requests, uint64_t sectors,
                              uint64_t bytes) {
  JsonObject object;
  object.add("requests", requests);
  object.add("sectors", sectors);
  object.add("sectors_per_request", toJsonRatio(sectors, requests));
  object.add("bytes", bytes);
  return object.str();
}

static void addCounters(JsonObject &object, const Counters &n,
                        int64_t predictedBytes) {
  object.add("instructions", n.instructions);
  object.add("lane_instructions", n.laneInstructions);
  JsonObject pipes;
  for (unsigned i = 0; i < numPipes; ++i)
    pipes.add(getPipeName(Pipe(i)), n.pipes[i]);
  object.add("pipes", pipes.str());
  object.add(
      "global_loads",
      makeAccess(n.globalLoadRequests, n.globalLoadSectors, n.globalLoadBytes));
  object.add("global_stores",
             makeAccess(n.globalStoreRequests, n.globalStoreSectors,
                        n.globalStoreBytes));
  object.add("global_atomics",
             makeAccess(n.globalAtomicRequests, n.globalAtomicSectors,
                        n.globalAtomicBytes));
  object.add("distinct_load_bytes", n.distinctLoadBytes);
  object.add("distinct_store_bytes", n.distinctStoreBytes);
  object.add("traffic_bytes", getTraffic(n));
  object.add("predicted_bytes",
             predictedBytes < 0 ? "null" : std::to_string(predictedBytes));
  JsonObject shared;
  shared.add("load_requests", n.sharedLoadRequests);
  shared.add("store_requests", n.sharedStoreRequests);
  shared.add("atomic_requests", n.sharedAtomicRequests);
  shared.add("bank_conflicts", n.bankConflicts);
  object.add("shared", shared.str());
  JsonObject copies;
  copies.add("cp_async_bytes", n.cpAsyncBytes);
  copies.add("bulk_load_bytes", n.bulkLoadBytes);
  copies.add("bulk_store_bytes", n.bulkStoreBytes);
  copies.add("tensor_load_bytes", n.tensorLoadBytes);
  copies.add("tensor_store_bytes", n.tensorStoreBytes);
  object.add("copies", copies.str());
  object.add("barriers", n.barriers);
  object.add("divergent_branches", n.divergentBranches);
}

static std::string toJson(const InstructionProfile &instruction) {
  const InstructionCounts &n = instruction.counts;
  JsonObject object;
  object.add("ptx_line", instruction.line);
  object.add("source", instruction.source.empty()
                           ? "null"
                           : quoteJson(instruction.source));
  object.add("instruction", quoteJson(instruction.text));
  object.add("pipe", quoteJson(getPipeName(instruction.pipe)));
  object.add("executions", n.executions);
  object.add("lanes", n.lanes);
  if (n.globalRequests)
    object.add("global",
               makeAccess(n.globalRequests, n.globalSectors, n.globalBytes));
  if (n.sharedRequests) {
    JsonObject shared;
    shared.add("requests", n.sharedRequests);
    shared.add("bank_conflicts", n.bankConflicts);
    object.add("shared", shared.str());
  }
  if (n.copyBytes)
    object.add("copy_bytes", n.copyBytes);
  return object.str();
}

std::string ProfileReport::toJson() const {
  std::string text = "{\"version\": 1,\n \"kernels\": [";
  bool isFirst = true;
  for (const KernelProfile &kernel : kernels) {
    JsonObject object;
    object.add("name", quoteJson(kernel.name));
    object.add("launches", kernel.launches);
    object.add("grid", ::toJson(kernel.grid));
    object.add("block", ::toJson(kernel.block));
    addCounters(object, kernel.counters, kernel.predictedBytes);
    std::string lines;
    for (const InstructionProfile &p : kernel.profile.instructions)
      lines += (lines.empty() ? "\n   " : ",\n   ") + ::toJson(p);
    object.add("lines", "[" + lines + "]");
    text += (isFirst ? "\n  " : ",\n  ") + object.str();
    isFirst = false;
  }
  KernelProfile total = getTotal();
  JsonObject object;
  object.add("launches", total.launches);
  addCounters(object, total.counters, total.predictedBytes);
  return text + "],\n \"total\": " + object.str() + "}\n";
}
