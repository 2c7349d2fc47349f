//===- Profile.cpp - Counting what instructions do ------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the counts of a launch and of each instruction, and the
// choice of pipes.
//
//===----------------------------------------------------------------------===//

#include "ProfileImpl.h"

#include <algorithm>
#include <unordered_map>

using namespace fusionemu;

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Counters &Counters::operator+=(const Counters &other) {
  static constexpr uint64_t Counters::*const fields[] = {
      &Counters::instructions,         &Counters::laneInstructions,
      &Counters::globalLoadRequests,   &Counters::globalStoreRequests,
      &Counters::globalAtomicRequests, &Counters::globalLoadSectors,
      &Counters::globalStoreSectors,   &Counters::globalAtomicSectors,
      &Counters::globalLoadBytes,      &Counters::globalStoreBytes,
      &Counters::globalAtomicBytes,    &Counters::distinctLoadBytes,
      &Counters::distinctStoreBytes,   &Counters::sharedLoadRequests,
      &Counters::sharedStoreRequests,  &Counters::sharedAtomicRequests,
      &Counters::bankConflicts,        &Counters::barriers,
      &Counters::divergentBranches,    &Counters::cpAsyncBytes,
      &Counters::bulkLoadBytes,        &Counters::bulkStoreBytes,
      &Counters::tensorLoadBytes,      &Counters::tensorStoreBytes,
  };
  // A field that is added to Counters has to be added here.
  static_assert(sizeof(Counters) == sizeof(fields) + sizeof(pipes),
                "every counter is summed");
  for (auto field : fields)
    this->*field += other.*field;
  for (unsigned i = 0; i < numPipes; ++i)
    pipes[i] += other.pipes[i];
  return *this;
}

InstructionCounts &
InstructionCounts::operator+=(const InstructionCounts &other) {
  executions += other.executions;
  lanes += other.lanes;
  globalRequests += other.globalRequests;
  globalSectors += other.globalSectors;
  globalBytes += other.globalBytes;
  sharedRequests += other.sharedRequests;
  bankConflicts += other.bankConflicts;
  copyBytes += other.copyBytes;
  return *this;
}

void fusionemu::addProfile(std::vector<InstructionCounts> &to,
                           const std::vector<InstructionCounts> &from) {
  to.resize(std::max(to.size(), from.size()));
  for (size_t i = 0; i < from.size(); ++i)
    to[i] += from[i];
}

//===----------------------------------------------------------------------===//
// Pipes
//===----------------------------------------------------------------------===//

const char *fusionemu::getPipeName(Pipe pipe) {
  static const char *const names[] = {
      "fma", "alu", "fp64", "xu", "lsu", "tensor", "copy", "control", "other"};
  static_assert(std::size(names) == numPipes, "every pipe has a name");
  unsigned index = unsigned(pipe);
  return index < numPipes ? names[index] : "other";
}

namespace {
/// By what an instruction's name decides on its pipe; the modifiers may decide
/// besides.
enum class Rule : uint8_t {
  Alu,
  FloatAlu, ///< Alu, but f64 has a pipe of its own.
  Fma,      ///< For all types but f64.
  AddSub,   ///< Fma for floats, Alu for integers.
  Xu,
  Lsu,
  LoadStore, ///< Parameters and constants come another way.
  AsyncCopy,
  Wgmma,
  Tensor,
  Control,
  Other,
};
} // namespace

/// The instructions of each rule.
static const std::pair<Rule, std::vector<std::string_view>> kRules[] = {
    {Rule::Alu, {"activemask", "addc",     "and",   "bfe",   "bfi",      "bmsk",
                 "cnot",       "copysign", "cvta",  "elect", "isspacep", "lop3",
                 "mapa",       "match",    "mov",   "not",   "or",       "prmt",
                 "redux",      "sad",      "selp",  "shf",   "shl",      "shr",
                 "slct",       "subc",     "szext", "vote",  "xor"}},
    {Rule::FloatAlu, {"abs", "max", "min", "neg", "set", "setp", "testp"}},
    {Rule::Fma,
     {"dp2a", "dp4a", "fma", "mad", "mad24", "madc", "mul", "mul24"}},
    {Rule::AddSub, {"add", "sub"}},
    {Rule::Xu,
     {"bfind", "brev", "clz", "cos", "cvt", "div", "ex2", "lg2", "popc", "rcp",
      "rem", "rsqrt", "sin", "sqrt", "tanh"}},
    {Rule::Lsu,
     {"atom", "ldmatrix", "ldu", "mbarrier", "movmatrix", "multimem",
      "prefetch", "prefetchu", "red", "shfl", "stmatrix"}},
    {Rule::LoadStore, {"ld", "st"}},
    {Rule::AsyncCopy, {"cp"}},
    {Rule::Wgmma, {"wgmma"}},
    {Rule::Tensor, {"mma", "wmma"}},
    {Rule::Control,
     {"bar", "barrier", "bra", "brx", "call", "exit", "fence", "griddepcontrol",
      "membar", "nanosleep", "ret", "setmaxnreg", "trap"}},
};

/// The rule of the instruction `name`.
static Rule findRule(std::string_view name) {
  static const std::unordered_map<std::string_view, Rule> rules = [] {
    std::unordered_map<std::string_view, Rule> byName;
    for (const auto &[rule, names] : kRules)
      for (std::string_view each : names)
        byName.emplace(each, rule);
    return byName;
  }();
  auto found = rules.find(name);
  return found == rules.end() ? Rule::Other : found->second;
}

Pipe fusionemu::choosePipe(const InstructionSyntax &syntax) {
  auto has = [&](std::string_view name) {
    return std::find(syntax.modifiers.begin(), syntax.modifiers.end(), name) !=
           syntax.modifiers.end();
  };
  auto starts = [&](std::string_view prefix) {
    return std::any_of(syntax.modifiers.begin(), syntax.modifiers.end(),
                       [&](std::string_view m) {
                         return m.substr(0, prefix.size()) == prefix;
                       });
  };
  bool isDouble = has("f64");
  switch (findRule(syntax.name)) {
  case Rule::Alu:
    return Pipe::Alu;
  case Rule::FloatAlu:
    return isDouble ? Pipe::Fp64 : Pipe::Alu;
  case Rule::Fma:
    return isDouble ? Pipe::Fp64 : Pipe::Fma;
  case Rule::AddSub:
    return isDouble                        ? Pipe::Fp64
           : starts("f") || starts("bf16") ? Pipe::Fma
                                           : Pipe::Alu;
  case Rule::Xu:
    // The multiplications by which f64 divides run on its own pipe.
    return isDouble && syntax.name != "cvt" ? Pipe::Fp64 : Pipe::Xu;
  case Rule::Lsu:
    return Pipe::Lsu;
  case Rule::LoadStore:
    return starts("param") || has("const") ? Pipe::Other : Pipe::Lsu;
  case Rule::AsyncCopy:
    if (starts("wait_") || has("commit_group"))
      return Pipe::Control;
    return has("bulk") ? Pipe::Copy : Pipe::Lsu;
  case Rule::Wgmma:
    return has("mma_async") ? Pipe::Tensor : Pipe::Control;
  case Rule::Tensor:
    return has("load") || has("store") ? Pipe::Lsu : Pipe::Tensor;
  case Rule::Control:
    return Pipe::Control;
  case Rule::Other:
    return Pipe::Other;
  }
  return Pipe::Other;
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

Next fusionemu::runCounted(Context &c, const Instruction &I) {
  uint32_t pc = c.here();
  InstructionCounts &n = c.profile[pc];
  n.executions += I.counted;
  n.lanes += unsigned(__builtin_popcount(c.exec)) * I.counted;
  Pipe pipe = c.kernel->infos[pc].pipe;
  if (pipe != Pipe::Lsu && pipe != Pipe::Copy)
    return I.handler(c, I);
  auto globalRequests = [&] {
    const Counters &k = c.counters;
    return k.globalLoadRequests + k.globalStoreRequests +
           k.globalAtomicRequests;
  };
  auto globalSectors = [&] {
    const Counters &k = c.counters;
    return k.globalLoadSectors + k.globalStoreSectors + k.globalAtomicSectors;
  };
  auto globalBytes = [&] {
    const Counters &k = c.counters;
    return k.globalLoadBytes + k.globalStoreBytes + k.globalAtomicBytes;
  };
  auto sharedRequests = [&] {
    const Counters &k = c.counters;
    return k.sharedLoadRequests + k.sharedStoreRequests +
           k.sharedAtomicRequests;
  };
  auto copyBytes = [&] {
    const Counters &k = c.counters;
    return k.cpAsyncBytes + k.bulkLoadBytes + k.bulkStoreBytes +
           k.tensorLoadBytes + k.tensorStoreBytes;
  };
  // Unsigned arithmetic wraps: take away what was there before.
  n.globalRequests -= globalRequests();
  n.globalSectors -= globalSectors();
  n.globalBytes -= globalBytes();
  n.sharedRequests -= sharedRequests();
  n.bankConflicts -= c.counters.bankConflicts;
  n.copyBytes -= copyBytes();
  Next next = I.handler(c, I);
  n.globalRequests += globalRequests();
  n.globalSectors += globalSectors();
  n.globalBytes += globalBytes();
  n.sharedRequests += sharedRequests();
  n.bankConflicts += c.counters.bankConflicts;
  n.copyBytes += copyBytes();
  return next;
}

Profile fusionemu::makeProfile(const Program &program, const Kernel &kernel,
                               const std::vector<InstructionCounts> &counts,
                               Counters &counters) {
  Profile profile;
  // One instruction of the text may have become several, and a function's is
  // there once for each call.
  std::unordered_map<const char *, size_t> places;
  for (size_t pc = 0; pc < kernel.code.size(); ++pc) {
    const InstructionInfo &info = kernel.infos[pc];
    if (!kernel.code[pc].counted)
      continue;
    auto [place, isNew] =
        places.try_emplace(info.spelling.data(), profile.instructions.size());
    if (isNew) {
      InstructionProfile &p = profile.instructions.emplace_back();
      p.line = info.line;
      p.source = describeSource(program, info.loc);
      p.text = std::string(info.spelling);
      p.pipe = info.pipe;
    }
    if (pc >= counts.size())
      continue;
    profile.instructions[place->second].counts += counts[pc];
    counters.pipes[unsigned(info.pipe)] += counts[pc].executions;
  }
  return profile;
}
