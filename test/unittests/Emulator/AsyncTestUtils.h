//===- AsyncTestUtils.h - Kernels that do not wait --------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the kernels around the bodies that the tests of
// asynchronous operations run.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_EMULATOR_ASYNCTESTUTILS_H
#define FUSION_TEST_UNITTESTS_EMULATOR_ASYNCTESTUTILS_H

#include "TestUtils.h"

namespace fusionemu {

/// A launch of one body.
struct AsyncLaunch {
  Dim3 grid{1, 1, 1}, block{64, 1, 1}, cluster{1, 1, 1};
  unsigned inWords = 4096, outWords = 4096;
};

/// A kernel with buffers `in` and `out`, shared memory `tile` of 4096 bytes at
/// %s and `bars` of 8 words of 64 bits at %bar. %t, %w, %c and %rank are
/// thread, warp, block and rank, %one says thread 0, %first warp 0, %x0 and %x1
/// are in and out at the thread's word. Registers %r<20>, %x<10>, %p<8>, %h<4>
/// and %f<4> are free.
inline std::string asyncKernel(const std::string &body) {
  return header() + R"(
.file 1 "model.mlir"
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .shared .align 1024 .b8 tile[4096];
  .shared .align 8 .b64 bars[8];
  .reg .b64 %in, %out, %x<10>, %state; .reg .b16 %h<4>; .reg .f32 %f<4>;
  .reg .b32 %t, %c, %w, %lane, %rank, %s, %bar, %my, %r<20>;
  .reg .pred %p<8>, %one, %first, %done;
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %lane, %laneid;
  mov.u32 %rank, %cluster_ctarank;
  shr.u32 %w, %t, 5; mov.u32 %s, tile; mov.u32 %bar, bars;
  shl.b32 %my, %t, 2; add.u32 %my, %my, %s;
  setp.eq.u32 %one, %t, 0; setp.eq.u32 %first, %w, 0;
  mad.wide.u32 %x0, %t, 4, %in; mad.wide.u32 %x1, %t, 4, %out;
  .loc 1 17 3
)" + body +
         "\n  ret;\n}\n";
}

/// Initialises mbarrier `index` for `count` arrivals, visibly to everybody.
inline std::string initBarrier(unsigned index, unsigned count) {
  return "@%one mbarrier.init.shared.b64 [%bar+" + std::to_string(8 * index) +
         "], " + std::to_string(count) +
         ";\n@%one fence.mbarrier_init.release.cluster;\n"
         "@%one fence.proxy.async;\nbar.sync 0;\n";
}

/// Waits for the phase of `parity` of mbarrier `index`. `label` is the text's
/// own.
inline std::string waitFor(const std::string &label, unsigned index,
                           const std::string &parity) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %done, [%bar+" +
         std::to_string(8 * index) + "], " + parity + ";\n@!%done bra " +
         label + ";\n";
}

/// Thread 0 expects `bytes` and loads them from `in` to `tile`.
inline std::string loadTile(unsigned index, unsigned bytes,
                            const std::string &guard = "@%one ") {
  std::string bar = "[%bar+" + std::to_string(8 * index) + "]";
  return guard + "mbarrier.arrive.expect_tx.shared.b64 _, " + bar + ", " +
         std::to_string(bytes) + ";\n" + guard +
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
         "[%s], [%in], " +
         std::to_string(bytes) + ", " + bar + ";\n";
}

/// Runs a body; `in` holds 0, 1, 2, ..., `out` 0xaaaaaaaa. The words of out
/// come back in `out` when it succeeds.
inline Status runAsync(const std::string &body, const AsyncLaunch &launch,
                       Asynchrony mode, unsigned threads,
                       std::vector<uint32_t> *out = nullptr) {
  Fixture f;
  Status s = f.parse(asyncKernel(body));
  if (!s.ok())
    return s;
  std::vector<uint32_t> in(launch.inWords);
  for (unsigned i = 0; i < launch.inWords; ++i)
    in[i] = i;
  f.passBuffer("source", in);
  uint64_t address = f.passBuffer(
      "result", std::vector<uint32_t>(launch.outWords, 0xaaaaaaaa));
  f.options.asynchrony = mode;
  f.options.threads = threads;
  f.options.cluster = launch.cluster;
  s = f.run(launch.grid, launch.block);
  if (s.ok() && out)
    *out = f.get<uint32_t>(address, launch.outWords);
  return s;
}

/// Runs a body in both modes on one and on two host threads, and compares the
/// words of out with a function of their index. Words for which it is
/// 0xaaaaaaaa must not have been written.
template <typename F>
void expectAsync(const std::string &body, const AsyncLaunch &launch, F f) {
  for (Asynchrony mode : {Asynchrony::Late, Asynchrony::Early})
    for (unsigned threads : {1u, 2u}) {
      std::vector<uint32_t> out;
      Status s = runAsync(body, launch, mode, threads, &out);
      const char *name = mode == Asynchrony::Late ? "late" : "early";
      ASSERT_TRUE(s.ok()) << name << ": " << s.message() << "\n" << body;
      for (unsigned i = 0; i < out.size(); ++i)
        ASSERT_EQ(out[i], uint32_t(f(i)))
            << name << ", " << threads << " threads, word " << i << "\n"
            << body;
    }
}

constexpr uint32_t untouched = 0xaaaaaaaa;

/// A planted fault and its repair. `late` and `early` are what is reported in
/// the two modes.
struct AsyncFault {
  const char *name;
  ErrorKind late, early;
  std::string faulty, repaired;
  /// What the report in late mode must say.
  std::vector<std::string> says;
  AsyncLaunch launch{};
};
inline void expectReports(const std::vector<AsyncFault> &faults) {
  EXPECT_GE(faults.size(), 5u);
  for (const AsyncFault &fault : faults)
    for (Asynchrony mode : {Asynchrony::Late, Asynchrony::Early}) {
      bool isLate = mode == Asynchrony::Late;
      std::string name = fault.name + std::string(isLate ? " late" : " early");
      Status s = runAsync(fault.faulty, fault.launch, mode, 1);
      EXPECT_EQ(s.getKind(), isLate ? fault.late : fault.early)
          << name << ": " << s.message();
      for (const std::string &text : fault.says)
        EXPECT_TRUE(!isLate || s.message().find(text) != std::string::npos)
            << name << ": no '" << text << "' in: " << s.message();
      // Every report names the kernel, the PTX line and the source line.
      for (const char *text : {"kernel 'k'", "PTX line ", "model.mlir:17"})
        EXPECT_TRUE(s.ok() || s.message().find(text) != std::string::npos)
            << name << ": " << s.message();
      s = runAsync(fault.repaired, fault.launch, mode, 1);
      EXPECT_TRUE(s.ok()) << name << " repaired: " << s.message();
    }
}

} // namespace fusionemu

#endif // FUSION_TEST_UNITTESTS_EMULATOR_ASYNCTESTUTILS_H
