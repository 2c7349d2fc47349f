//===- Operations.cpp - Types and the choice of handlers ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the types of PTX and the choice of the handlers that
// fit this processor.
//
//===----------------------------------------------------------------------===//

#include "Operations.h"

#include <atomic>
#include <cstdlib>
#include <vector>

using namespace fusionemu;

namespace fusionemu {
namespace isa_base {
extern const HandlerTable table, payloadTable;
}
#ifdef FUSIONEMU_HAS_V3
namespace isa_v3 {
extern const HandlerTable table, payloadTable;
}
#endif
} // namespace fusionemu

namespace {
/// The handlers of one instruction set of the host.
struct HandlerSet {
  const HandlerTable *plain, *payload;
};
} // namespace

#ifdef FUSIONEMU_HAS_V3
static bool canRunV3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt");
}
#endif

static const HandlerSet baseHandlers = {&isa_base::table,
                                        &isa_base::payloadTable};
#ifdef FUSIONEMU_HAS_V3
static const HandlerSet v3Handlers = {&isa_v3::table, &isa_v3::payloadTable};
#endif

/// What of this build this processor can run, the fastest first.
static std::vector<const HandlerSet *> listHandlers() {
  std::vector<const HandlerSet *> sets;
#ifdef FUSIONEMU_HAS_V3
  if (canRunV3())
    sets.push_back(&v3Handlers);
#endif
  sets.push_back(&baseHandlers);
  return sets;
}

static std::atomic<const HandlerSet *> &selectedHandlers() {
  // The variable lets the tools compare two builds on one processor.
  static std::atomic<const HandlerSet *> selected{
      std::getenv("FUSION_EMULATOR_BASELINE") ? &baseHandlers
                                              : listHandlers().front()};
  return selected;
}

const HandlerTable &fusionemu::getHandlers(bool payload) {
  const HandlerSet *set = selectedHandlers().load(std::memory_order_relaxed);
  return payload ? *set->payload : *set->plain;
}

bool fusionemu::selectHandlers(std::string_view name) {
  for (const HandlerSet *set : listHandlers())
    if (set->plain->name == name) {
      selectedHandlers() = set;
      return true;
    }
  return false;
}

unsigned fusionemu::getSize(Type type) {
  switch (type) {
  case Type::None:
  case Type::Pred:
    return 0;
  case Type::U8:
  case Type::S8:
    return 1;
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
  case Type::E4M3:
  case Type::E5M2:
    return 2;
  case Type::U32:
  case Type::S32:
  case Type::F32:
  case Type::TF32:
  case Type::U16x2:
  case Type::S16x2:
  case Type::F16x2:
  case Type::BF16x2:
    return 4;
  case Type::U64:
  case Type::S64:
  case Type::F64:
  case Type::F32x2:
    return 8;
  case Type::B128:
    return 16;
  }
  return 0;
}

bool fusionemu::isSigned(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 ||
         type == Type::S64;
}

bool fusionemu::isInteger(Type type) {
  switch (type) {
  case Type::U8:
  case Type::S8:
  case Type::U16:
  case Type::S16:
  case Type::U32:
  case Type::S32:
  case Type::U64:
  case Type::S64:
  case Type::U16x2:
  case Type::S16x2:
    return true;
  default:
    return false;
  }
}

Type fusionemu::parseType(std::string_view s) {
  struct Entry {
    const char *name;
    Type type;
  };
  static const Entry entries[] = {
      {"pred", Type::Pred},   {"u8", Type::U8},         {"b8", Type::U8},
      {"s8", Type::S8},       {"u16", Type::U16},       {"b16", Type::U16},
      {"s16", Type::S16},     {"u32", Type::U32},       {"b32", Type::U32},
      {"s32", Type::S32},     {"u64", Type::U64},       {"b64", Type::U64},
      {"s64", Type::S64},     {"b128", Type::B128},     {"f16", Type::F16},
      {"bf16", Type::BF16},   {"f32", Type::F32},       {"f64", Type::F64},
      {"tf32", Type::TF32},   {"u16x2", Type::U16x2},   {"s16x2", Type::S16x2},
      {"f16x2", Type::F16x2}, {"bf16x2", Type::BF16x2}, {"f32x2", Type::F32x2},
      {"e4m3x2", Type::E4M3}, {"e5m2x2", Type::E5M2},
  };
  for (const Entry &entry : entries)
    if (s == entry.name)
      return entry.type;
  return Type::None;
}
