//===- EmulatorBench.cpp - Speed of the PTX emulator ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file measures how many instructions of single lanes the emulator runs
// in a second on one core of the host, with all checks and without any.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Emulator/Emulator.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

using namespace fusionemu;

/// Every kernel starts with: %r0 the thread of the grid, %r1 the thread of the
/// block, %r2 = n > 0, %x0 = in + 4 * %r0, %x1 = out + 4 * %r0.
static const char *const prologue = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
  .reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %x<8>; .reg .f32 %f<16>;
  .shared .align 16 .b8 tile[16384];
  mov.u32 %r1, %tid.x;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r0, %r0, %r2, %r1;
  ld.param.u32 %r2, [n];
  ld.param.u64 %x0, [in];
  ld.param.u64 %x1, [out];
  mul.wide.u32 %x2, %r0, 4;
  add.u64 %x0, %x0, %x2;
  add.u64 %x1, %x1, %x2;
  mov.u32 %r3, 0;
  cvt.rn.f32.u32 %f1, %r0;
  mov.f32 %f2, 0f3F000000;
  mov.f32 %f3, %f1;
)";

static const char *const epilogue = R"(
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p0, %r3, %r2;
  @%p0 bra LOOP;
  add.f32 %f1, %f1, %f3;
  st.global.f32 [%x1], %f1;
  ret;
}
)";

static const char *const fmaLoop = R"(LOOP:
  fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f3, %f3, %f2, %f2;
  fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f3, %f3, %f2, %f2;
  fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f3, %f3, %f2, %f2;
  fma.rn.f32 %f1, %f1, %f2, %f2; fma.rn.f32 %f3, %f3, %f2, %f2;
)";

static const char *const integerLoop = R"(LOOP:
  mad.lo.u32 %r4, %r4, 1664525, %r0; shr.u32 %r5, %r4, 7;
  xor.b32 %r4, %r4, %r5; add.u32 %r6, %r6, %r4;
  and.b32 %r7, %r6, 0xffff; mul.wide.u32 %x4, %r7, 4;
  popc.b32 %r8, %r4; shf.l.wrap.b32 %r6, %r6, %r8, 5;
)";

/// Reads and writes one row of the buffers after the other.
static const char *const streamLoop = R"(
  mov.u64 %x4, %x0; mov.u64 %x5, %x1;
  mov.u32 %r4, %nctaid.x; mov.u32 %r5, %ntid.x;
  mul.lo.u32 %r4, %r4, %r5; mul.wide.u32 %x6, %r4, 4;
LOOP:
  ld.global.f32 %f4, [%x4]; add.f32 %f4, %f4, %f2;
  st.global.f32 [%x5], %f4;
  add.u64 %x4, %x4, %x6; add.u64 %x5, %x5, %x6;
)";

static const char *const sharedLoop = R"(
  shl.b32 %r4, %r1, 2; mov.u32 %r5, tile; add.u32 %r4, %r4, %r5;
  st.shared.f32 [%r4], %f1;
  xor.b32 %r6, %r1, 33; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r5;
LOOP:
  bar.sync 0;
  ld.shared.f32 %f4, [%r6]; add.f32 %f1, %f1, %f4;
  bar.sync 0;
  st.shared.f32 [%r4], %f1;
)";

static const char *const divergentLoop = R"(LOOP:
  xor.b32 %r4, %r3, %r1; and.b32 %r4, %r4, 3;
  setp.eq.u32 %p1, %r4, 0; @%p1 bra FIRST;
  setp.eq.u32 %p2, %r4, 1; @%p2 bra SECOND;
  add.f32 %f1, %f1, %f2; mul.f32 %f3, %f3, %f2; bra MEET;
FIRST: sub.f32 %f1, %f1, %f2; fma.rn.f32 %f3, %f3, %f2, %f1; bra MEET;
SECOND: fma.rn.f32 %f1, %f1, %f2, %f3;
MEET:
)";

static void runKernel(benchmark::State &state, const char *body, uint32_t n,
                      uint32_t rows) {
  constexpr uint32_t blocks = 16, threads = 256;
  Module module;
  std::string text = std::string(prologue) + body + epilogue;
  if (Status s = module.parse(text); !s.ok())
    return state.SkipWithError(s.message().c_str());
  Memory memory;
  uint64_t in = 0, out = 0;
  std::vector<float> contents(size_t(blocks) * threads * rows, 1.0f);
  if (!memory.allocate(contents.size() * 4, "in", in).ok() ||
      !memory.allocate(contents.size() * 4, "out", out).ok() ||
      !memory.write(in, contents.data(), contents.size() * 4).ok())
    return state.SkipWithError("no memory");
  const void *pointers[] = {&in, &out, &n};
  std::vector<uint8_t> arguments =
      packArguments(*module.findKernel("k"), pointers);
  Options options;
  options.threads = 1;
  if (state.range(0) == 0) {
    options.checks = {false, false, false, false};
    options.countMemory = false;
  }
  uint64_t laneInstructions = 0;
  for (auto _ : state) {
    Counters counters;
    Status s = launch(memory, module, "k", {blocks, 1, 1}, {threads, 1, 1}, 0,
                      arguments.data(), arguments.size(), options, &counters);
    if (!s.ok())
      return state.SkipWithError(s.message().c_str());
    laneInstructions += counters.laneInstructions;
  }
  state.counters["lane_instructions"] =
      benchmark::Counter(double(laneInstructions), benchmark::Counter::kIsRate);
}

static void fma(benchmark::State &s) { runKernel(s, fmaLoop, 400, 1); }
static void integer(benchmark::State &s) { runKernel(s, integerLoop, 400, 1); }
static void stream(benchmark::State &s) { runKernel(s, streamLoop, 64, 64); }
static void shared(benchmark::State &s) { runKernel(s, sharedLoop, 100, 1); }
static void divergent(benchmark::State &s) {
  runKernel(s, divergentLoop, 100, 1);
}

/// Whether the checks are on.
#define FUSION_BENCHMARK(name)                                                 \
  BENCHMARK(name)->ArgName("checks")->Arg(1)->Arg(0)->Unit(                    \
      benchmark::kMillisecond)
FUSION_BENCHMARK(fma);
FUSION_BENCHMARK(integer);
FUSION_BENCHMARK(stream);
FUSION_BENCHMARK(shared);
FUSION_BENCHMARK(divergent);

BENCHMARK_MAIN();
