//===- Timeline.cpp - Ranges on a profiler's timeline ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the side of NVTX that a program has: it loads the
// library that NVTX_INJECTION64_PATH names and hands it tables, into which the
// library puts the functions that are to be called. NVIDIA's headers do the
// same; the runtime builds without them.
//
//===----------------------------------------------------------------------===//

#include "Timeline.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>

namespace fusionrt {

//===----------------------------------------------------------------------===//
// The binary interface of NVTX 3
//===----------------------------------------------------------------------===//

namespace {
using AnyFunction = void (*)();

/// The numbers that the interface gives to what is used of it.
enum : uint32_t { kCallbacks = 1, kVersionInfo = 3 }; // tables
enum : uint32_t { kCoreModule = 1, kLastModule = 6 };
enum : uint32_t { kRangePush = 9, kRangePop = 11, kCoreSize = 16 };
constexpr uint32_t kNvtxVersion = 3;
/// More than any other module has.
constexpr uint32_t kMostFunctions = 64;

struct CallbackTable {
  size_t structSize;
  int (*getModuleTable)(uint32_t module, AnyFunction ***table, uint32_t *size);
};

struct VersionTable {
  size_t structSize;
  uint32_t version, reserved;
  void (*setInjectionVersion)(uint32_t version);
};

using GetExportTable = const void *(*)(uint32_t table);
using InitializeInjection = int (*)(GetExportTable getTable);

/// What the library fills in: the functions of the core, and those of modules
/// that are never called.
struct Functions {
  Functions() {
    for (uint32_t i = 0; i < kMostFunctions; ++i) {
      corePlaces[i] = &core[i];
      otherPlaces[i] = &others[i];
    }
  }
  AnyFunction core[kMostFunctions] = {}, others[kMostFunctions] = {};
  AnyFunction *corePlaces[kMostFunctions], *otherPlaces[kMostFunctions];
};
} // namespace

static Functions &getFunctions() {
  static Functions functions;
  return functions;
}

static int getModuleTable(uint32_t module, AnyFunction ***table,
                          uint32_t *size) {
  if (module < kCoreModule || module > kLastModule)
    return 0;
  bool isCore = module == kCoreModule;
  Functions &functions = getFunctions();
  if (table)
    *table = isCore ? functions.corePlaces : functions.otherPlaces;
  if (size)
    *size = isCore ? kCoreSize : kMostFunctions;
  return 1;
}

static void ignoreVersion(uint32_t) {}

static const void *getExportTable(uint32_t table) {
  static const CallbackTable callbacks = {sizeof(CallbackTable),
                                          getModuleTable};
  static const VersionTable version = {sizeof(VersionTable), kNvtxVersion, 0,
                                       ignoreVersion};
  if (table == kCallbacks)
    return &callbacks;
  return table == kVersionInfo ? &version : nullptr;
}

//===----------------------------------------------------------------------===//
// The timeline
//===----------------------------------------------------------------------===//

/// Loads the profiler's library, if there is one that takes ranges.
static Timeline loadTimeline() {
  const char *path = std::getenv("NVTX_INJECTION64_PATH");
  if (!path || !*path)
    return {};
  // A profiler that is not there is no reason not to run. What is loaded stays.
  void *library = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    return {};
  auto initialize = reinterpret_cast<InitializeInjection>(
      ::dlsym(library, "InitializeInjectionNvtx2"));
  if (!initialize || initialize(getExportTable) != 1)
    return {};
  Functions &functions = getFunctions();
  Timeline timeline;
  timeline.push =
      reinterpret_cast<int (*)(const char *)>(functions.core[kRangePush]);
  timeline.pop = reinterpret_cast<int (*)()>(functions.core[kRangePop]);
  return timeline;
}

const Timeline *getTimeline() {
  static const Timeline timeline = loadTimeline();
  return timeline.push && timeline.pop ? &timeline : nullptr;
}

} // namespace fusionrt
