//===- HopperFaultTest.cpp - Faults planted in whole kernels --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file takes a wait, a fence, a barrier or an argument out of the kernels
// of test/Emulator/Hopper and expects a report in both modes of asynchrony.
//
//===----------------------------------------------------------------------===//

#include "HopperAttention.h"
#include "HopperGemm.h"

using namespace fusionemu;

namespace {
/// What is reported: the kind, and a pattern that names the instructions and
/// the other party.
struct Report {
  ErrorKind kind;
  const char *pattern;
};
struct Fault {
  const char *name;
  std::vector<Edit> edits;
  const Report &late, &early; ///< By Asynchrony.
};
} // namespace

// Each line of a report names who did what to which bytes or registers; these
// are the ways in which the faults below come to light.
static const Report copyInFlight = {
    ErrorKind::InFlight,
    R"('wgmma\.mma_async.* which is still in use by PTX line \d+ )"
    R"('cp\.async\.bulk\.tensor.*' by warp 0$)"};
static const Report copyUnawaited = {
    ErrorKind::SharedRace,
    R"('wgmma\.mma_async.* which an asynchronous operation of warp 0 )"
    R"(wrote with no wait in between$)"};
static const Report copyMissing = {
    ErrorKind::UninitializedShared,
    R"('wgmma\.mma_async.* which nobody has written in this block$)"};
static const Report operandInFlight = {
    ErrorKind::InFlight,
    R"('cp\.async\.bulk\.tensor.* which is still in use by PTX line \d+ )"
    R"('wgmma\.mma_async.*' by warp \d+$)"};
static const Report operandUnreleased = {
    ErrorKind::SharedRace,
    R"('cp\.async\.bulk\.tensor.* which an asynchronous operation of )"
    R"(warp \d+( of block \d of the cluster)? read with no wait in )"
    R"(between$)"};
static const Report stageOverwritten = {
    ErrorKind::SharedRace,
    R"('cp\.async\.bulk\.tensor.* which an asynchronous operation of )"
    R"(warp 0 wrote with no wait in between$)"};
static const Report registerInFlight = {
    ErrorKind::InFlight,
    R"((reads|writes) a register that is still in use by PTX line \d+ )"
    R"('wgmma\.mma_async.*': wgmma\.wait_group is missing in between$)"};
static const Report arrivedTwice = {
    ErrorKind::BarrierMisuse,
    R"('mbarrier\.arrive\.expect_tx.* whose phase expects 0 more of 1$)"};
static const Report waitsForever = {
    ErrorKind::Deadlock,
    R"(is deadlocked: threads .* of warp \d+.* wait for the mbarrier at )"
    R"(\d+ of shared memory \(phase \d+, \d of \d arrivals missing\) at )"
    R"(PTX line)"};
static const Report barrierForever = {
    ErrorKind::Deadlock,
    R"('barrier\.sync'.* is deadlocked: threads 128-159 of warp 4 wait )"
    R"(at PTX line)"};
static const Report barrierUnfenced = {
    ErrorKind::MissingFence,
    R"(lets an asynchronous copy signal the mbarrier at \d+ of shared )"
    R"(memory, whose initialisation at PTX line \d+ 'mbarrier\.init.* no )"
    R"(fence\.mbarrier_init)"};
static const Report barrierUnknown = {
    ErrorKind::SharedRace,
    R"(uses the mbarrier at \d+ of shared memory.*, which warp 0.* )"
    R"(initialised with no barrier in between$)"};
static const Report registerUnfenced = {
    ErrorKind::MissingFence,
    R"('wgmma\.mma_async.* (comes to its first wgmma without a )"
    R"(wgmma\.fence|a register that was written with no wgmma\.fence in )"
    R"(between))"};
static const Report storeUnfenced = {
    ErrorKind::MissingFence,
    R"('cp\.async\.bulk\.tensor\.2d\.global.* part of which warp (4|8) )"
    R"(wrote with no fence\.proxy\.async in between$)"};
static const Report bufferInFlight = {
    ErrorKind::InFlight,
    R"('stmatrix.* which is still in use by PTX line \d+ )"
    R"('cp\.async\.bulk\.tensor\.2d\.global.*' by warp 4$)"};
static const Report rowsUnawaited = {
    ErrorKind::SharedRace,
    R"('cp\.async\.bulk\.tensor\.2d\.global.* which thread \(144,0,0\) of the )"
    R"(same warp wrote with no barrier in between$)"};
static const Report bufferUnwritten = {
    ErrorKind::UninitializedShared,
    R"('cp\.async\.bulk\.tensor\.2d\.global.* which nobody has written )"
    R"(in this block$)"};
static const Report bufferUnawaited = {
    ErrorKind::SharedRace,
    R"('cp\.async\.bulk\.tensor\.2d\.global.* which warp 11 wrote with )"
    R"(no barrier in between$)"};
static const Report storeUnawaited = {
    ErrorKind::InFlight,
    R"(exits before its bulk copy has read shared memory: )"
    R"(cp\.async\.bulk\.wait_group\.read is missing$)"};
static const Report badMask = {
    ErrorKind::BadDescriptor,
    R"(sends a multicast to blocks 7 \(a bit for each\) of a cluster of )"
    R"(2$)"};
static const Report exitsEarly = {
    ErrorKind::UseAfterFree,
    R"(its block may exit before warp \d+ of block \d of the cluster has )"
    R"(used their shared memory)"};
static const Report phaseUnordered = {
    ErrorKind::BarrierMisuse,
    R"('barrier\.(sync|arrive)'.* arrives at barrier \d, while nothing )"
    R"(orders it behind the arrival of warp \d+ in the phase before)"};

/// A fault that this mode does not show: the copies of one warp share a clock,
/// so that with Asynchrony::Early a wait for a later copy covers earlier ones.
static const Report nothing = {ErrorKind::None, ""};

/// `run` launches the text of a kernel and returns its status.
template <typename F>
static void expectFaults(const std::string &text,
                         const std::vector<Fault> &faults, F run) {
  for (const Fault &fault : faults)
    for (Asynchrony asynchrony : {Asynchrony::Late, Asynchrony::Early}) {
      bool isLate = asynchrony == Asynchrony::Late;
      SCOPED_TRACE(std::string(fault.name) + (isLate ? ", late" : ", early"));
      const Report &report = isLate ? fault.late : fault.early;
      Status status = run(plant(text, fault.edits), Mode{asynchrony, 1});
      EXPECT_EQ(status.getKind(), report.kind) << status.message();
      EXPECT_TRUE(
          std::regex_search(status.message(), std::regex(report.pattern)))
          << "expected " << report.pattern << "\nfound " << status.message();
      EXPECT_EQ(status.getLine() == 0, status.ok()) << status.message();
    }
}

static void expectGemmFaults(const GemmKernel &kernel, GemmSize size,
                             const std::vector<Fault> &faults) {
  GemmProblem problem(kernel, size);
  expectFaults(readKernel("gemm.ptx", kernel.name), faults,
               [&](const std::string &text, Mode mode) {
                 HopperFixture f;
                 uint64_t C = 0;
                 return problem.run(f, text, mode, C);
               });
}

static void expectAttentionFaults(const std::vector<Fault> &faults) {
  AttentionProblem problem({"attention_d64", 64, false}, 1, 256);
  expectFaults(readKernel("attention.ptx", problem.kernel.name), faults,
               [&](const std::string &text, Mode mode) {
                 HopperFixture f;
                 uint64_t O = 0;
                 return problem.run(f, text, mode, O);
               });
}

static const GemmKernel plain = {
    "gemm_bf16_n64", Element::BF16, 64, 128, 4, false, 1};
static const GemmKernel clustered = {
    "gemm_cluster", Element::BF16, 128, 128, 3, false, 2};

// Changes that are made more than once.
static const char *const anyParity = "(.*\\], )(%r\\d+)(;.*)";
static const char *const turnParity =
    ".reg .b32 turned;\nxor.b32 turned, $2, 1;\n$1turned$3";
static const char *const pass = "setp.eq.u32 done, 0, 0;";

TEST(HopperFault, MBarriers) {
  expectGemmFaults(
      plain, {256, 64, 384, 1},
      {
          {"wait for full removed",
           {{"// wait: full", 0, pass}},
           copyInFlight,
           copyUnawaited},
          {"wait for empty removed",
           {{"// wait: empty", 0, pass}},
           arrivedTwice,
           stageOverwritten},
          {"parity of full turned",
           {{"// wait: full", 0, turnParity, anyParity}},
           copyInFlight,
           waitsForever},
          {"parity of empty turned",
           {{"// wait: empty", 0, turnParity, anyParity}},
           waitsForever,
           waitsForever},
          {"arrival at empty removed",
           {{"// arrive: empty", 0, ""}},
           waitsForever,
           waitsForever},
          {"last arrival at empty removed",
           {{"// arrive: empty", 1, ""}},
           waitsForever,
           waitsForever},
          {"too few arrivals counted",
           {{"mbarrier.init", 1, "], 1;", "\\], .*"}},
           waitsForever,
           waitsForever},
          {"too many arrivals counted",
           {{"mbarrier.init", 1, "], 3;", "\\], .*"}},
           waitsForever,
           waitsForever},
          {"too few bytes expected",
           {{"// expect: full", 0, "], 16384;", "\\], .*"}},
           copyInFlight,
           copyUnawaited},
          {"too many bytes expected",
           {{"// expect: full", 0, "], 32768;", "\\], .*"}},
           waitsForever,
           waitsForever},
          {"no bytes expected",
           {{"// expect: full", 0, "mbarrier.arrive.shared::cta.b64 _, $1;",
             ".*(\\[.*\\]).*"}},
           copyInFlight,
           copyUnawaited},
          {"fence of barriers removed",
           {{"fence.mbarrier_init", 0, ""}},
           barrierUnfenced,
           barrierUnfenced},
          {"first barrier removed",
           {{"bar.sync", 0, ""}},
           barrierUnknown,
           barrierUnknown},
      });
}

TEST(HopperFault, Wgmma) {
  expectGemmFaults(
      plain, {256, 64, 384, 1},
      {
          {"released before the wait",
           {{"wgmma.wait_group.sync.aligned 1;", 0, ""},
            {"wgmma.fence", 0, "wgmma.wait_group.sync.aligned 1;\n$&"}},
           operandInFlight,
           operandUnreleased},
          {"wait raised",
           {{"wgmma.wait_group.sync.aligned 1;", 0,
             "wgmma.wait_group.sync.aligned 2;"}},
           operandInFlight,
           operandUnreleased},
          {"wait removed",
           {{"wgmma.wait_group.sync.aligned 1;", 0, ""}},
           operandInFlight,
           operandInFlight},
          {"last wait removed",
           {{"wgmma.wait_group.sync.aligned 0;", 0, ""}},
           operandInFlight,
           operandInFlight},
          {"last wait raised",
           {{"wgmma.wait_group.sync.aligned 0;", 0,
             "wgmma.wait_group.sync.aligned 1;"}},
           operandInFlight,
           operandInFlight},
          {"fence removed",
           {{"wgmma.fence", 0, ""}},
           registerUnfenced,
           registerUnfenced},
          {"commit removed",
           {{"wgmma.commit", 0, ""}},
           operandInFlight,
           operandInFlight},
      });
  expectGemmFaults(plain, {128, 64, 64, 1},
                   {
                       {"one step: last wait removed",
                        {{"wgmma.wait_group.sync.aligned 0;", 0, ""}},
                        registerInFlight,
                        registerInFlight},
                       {"one step: last wait raised",
                        {{"wgmma.wait_group.sync.aligned 0;", 0,
                          "wgmma.wait_group.sync.aligned 1;"}},
                        registerInFlight,
                        registerInFlight},
                       {"one step: commit removed",
                        {{"wgmma.commit", 0, ""}},
                        registerInFlight,
                        registerInFlight},
                   });
}

TEST(HopperFault, Stores) {
  expectGemmFaults(
      plain, {512, 64, 64, 1},
      {
          {"proxy fence removed",
           {{"fence.proxy.async", 0, ""}},
           storeUnfenced,
           storeUnfenced},
          {"wait removed",
           {{"cp.async.bulk.wait_group.read 1", 0, ""}},
           bufferInFlight,
           bufferInFlight},
          {"wait raised",
           {{"cp.async.bulk.wait_group.read 1", 0,
             "cp.async.bulk.wait_group.read 2;"}},
           bufferInFlight,
           bufferInFlight},
          {"last wait removed",
           {{"cp.async.bulk.wait_group.read 0", 0, ""}},
           storeUnawaited,
           storeUnawaited},
          {"commit removed",
           {{"cp.async.bulk.commit_group", 0, ""}},
           bufferInFlight,
           bufferInFlight},
          {"barrier before the store removed",
           {{"// sync: stored", 0, ""}},
           bufferUnwritten,
           bufferUnwritten},
          {"barrier of the buffer removed",
           {{"// sync: buffer", 0, ""}},
           bufferInFlight,
           bufferInFlight},
          {"one warp skips a barrier",
           {{"// sync: stored", 0,
             "{ .reg .pred skips; .reg .b32 warp; shr.u32 warp, %r1, 5; "
             "setp.eq.u32 skips, warp, 6; @!skips $& \n }"}},
           barrierForever,
           barrierForever},
          {"one warp at another barrier",
           {{"// sync: stored", 0,
             "{ .reg .pred other; .reg .b32 warp; shr.u32 warp, %r1, 5; "
             "setp.eq.u32 other, warp, 6; @other barrier.sync 5, 128; @!other "
             "$& \n }"}},
           barrierForever,
           barrierForever},
          {"barriers exchanged",
           {{"// sync: stored", 0,
             "{ .reg .b32 id; sub.u32 id, 3, $1; barrier.sync id, 128; }",
             ".*(%r\\d+), 128.*"}},
           phaseUnordered,
           phaseUnordered},
      });
}
TEST(HopperFault, Cluster) {
  expectGemmFaults(
      clustered, {256, 128, 512, 2},
      {
          {"wait for full removed",
           {{"// wait: full", 0, pass}},
           copyInFlight,
           copyUnawaited},
          {"wait for empty removed",
           {{"// wait: empty", 0, pass}},
           arrivedTwice,
           arrivedTwice},
          {"mask without the other",
           {{"complete_tx::bytes.multicast", 0,
             "{ .reg .b16 mask; .reg .b16 rank; mov.b16 mask, 1; $1mask; }",
             "(.*, )%rs\\d+;"}},
           waitsForever,
           waitsForever},
          {"mask beyond the cluster",
           {{"complete_tx::bytes.multicast", 0,
             "{ .reg .b16 mask; mov.b16 mask, 7; $1mask; }", "(.*, )%rs\\d+;"}},
           badMask,
           badMask},
          {"release to one block only",
           {{"mapa", 0, "$1 0;", "(.*,.*,).*"}},
           waitsForever,
           operandUnreleased},
          {"release to itself only",
           {{"mapa", 0, ".reg .b32 me; mov.u32 me, %cluster_ctarank;\n$1 me;",
             "(.*,.*,).*"}},
           operandUnreleased,
           operandUnreleased},
          {"first cluster barrier removed",
           {{"barrier.cluster.arrive.release; // start", 0, ""},
            {"barrier.cluster.wait.acquire; // start", 0, "bar.sync 0;"}},
           barrierUnknown,
           barrierUnknown},
          {"last cluster barrier removed",
           {{"barrier.cluster.arrive.release; // end", 0, ""},
            {"barrier.cluster.wait.acquire; // end", 0, ""}},
           exitsEarly,
           exitsEarly},
          {"last cluster wait removed",
           {{"barrier.cluster.wait.acquire; // end", 0, ""}},
           exitsEarly,
           exitsEarly},
          {"proxy fence removed",
           {{"fence.proxy.async", 0, ""}},
           storeUnfenced,
           storeUnfenced},
          {"released before the wait",
           {{"wgmma.wait_group.sync.aligned 1;", 0, ""},
            {"wgmma.fence", 0, "wgmma.wait_group.sync.aligned 1;\n$&"}},
           operandInFlight,
           operandUnreleased},
          {"too few bytes expected",
           {{"// expect: full", 0, "], 24576;", "\\], .*"}},
           copyInFlight,
           copyMissing},
          {"too few arrivals counted",
           {{"mbarrier.init", 1, "], 2;", "\\], .*"}},
           waitsForever,
           operandUnreleased},
      });
}

TEST(HopperFault, Attention) {
  expectAttentionFaults({
      {"wait for Q removed", {{"// wait: Q", 0, pass}}, copyInFlight, nothing},
      {"wait for first keys removed",
       {{"// wait: keys", 0, pass}},
       copyInFlight,
       copyUnawaited},
      {"wait for keys removed",
       {{"// wait: keys", 1, pass}},
       copyInFlight,
       copyUnawaited},
      {"wait for values removed",
       {{"// wait: values", 0, pass}},
       copyInFlight,
       nothing},
      {"wait for empty keys removed",
       {{"// wait: keys empty", 0, pass}},
       arrivedTwice,
       stageOverwritten},
      {"wait for empty values removed",
       {{"// wait: values empty", 0, pass}},
       arrivedTwice,
       stageOverwritten},
      {"parity of keys turned",
       {{"// wait: keys", 1, turnParity, anyParity}},
       copyInFlight,
       waitsForever},
      {"first wait for scores removed",
       {{"wgmma.wait_group.sync.aligned 0", 0, ""}},
       registerInFlight,
       registerInFlight},
      {"wait for scores removed",
       {{"wgmma.wait_group.sync.aligned 1", 0, ""}},
       registerInFlight,
       registerInFlight},
      {"wait for output removed",
       {{"wgmma.wait_group.sync.aligned 0", 1, ""}},
       registerInFlight,
       registerInFlight},
      {"last wait for output removed",
       {{"wgmma.wait_group.sync.aligned 0", 2, ""}},
       registerInFlight,
       registerInFlight},
      {"wait for output raised",
       {{"wgmma.wait_group.sync.aligned 0", 1,
         "wgmma.wait_group.sync.aligned 1;"}},
       registerInFlight,
       registerInFlight},
      {"fence before scores removed",
       {{"wgmma.fence", 1, ""}},
       registerUnfenced,
       registerUnfenced},

      {"fence before last output removed",
       {{"wgmma.fence", 3, ""}},
       registerUnfenced,
       registerUnfenced},
      {"commit of scores removed",
       {{"wgmma.commit", 1, ""}},
       registerInFlight,
       registerInFlight},
      {"commit of output removed",
       {{"wgmma.commit", 2, ""}},
       registerInFlight,
       registerInFlight},
      {"turn not passed",
       {{"// arrive: turn", 1, ""}},
       waitsForever,
       waitsForever},
      {"turn not awaited",
       {{"// sync: turn", 1, ""}},
       phaseUnordered,
       phaseUnordered},

      {"first turn not given",
       {{"// arrive: turn", 0, ""}},
       waitsForever,
       waitsForever},
      {"proxy fence removed",
       {{"fence.proxy.async", 0, ""}},
       storeUnfenced,
       storeUnfenced},
      {"barrier before the store removed",
       {{"// sync: stored", 0, ""}},
       bufferUnawaited,
       rowsUnawaited},
      {"wait for the store removed",
       {{"cp.async.bulk.wait_group.read", 0, ""}},
       storeUnawaited,
       storeUnawaited},
      {"too few bytes of Q",
       {{"// expect: Q", 0, "], 8192;", "\\], .*"}},
       waitsForever,
       waitsForever},
      {"keys not given back",
       {{"// arrive: empty", 1, ""}},
       waitsForever,
       waitsForever},
  });
}

// Copies and products that do not agree on a layout.
TEST(HopperFault, Swizzles) {
  GemmProblem problem(plain, {128, 64, 64, 1});
  std::string text = readKernel("gemm.ptx", plain.name);
  // Of a descriptor: 64 bytes, or none, where 128 are right.
  auto describe = [&](unsigned occurrence, const char *number) {
    const char *right = "4611686293305360384";
    return plant(text, Edit{right, occurrence, number, right});
  };
  constexpr int none = -1;
  struct {
    std::string text;
    MapChange maps;
    const char *pattern;
  } cases[] = {
      {describe(0, "9223372311732748288"),
       {},
       "of A with a swizzle of 64 .* "
       "tile with a swizzle of 128"},
      {describe(1, "9223372311732748288"),
       {},
       "of B with a swizzle of 64 .* "
       "tile with a swizzle of 128"},
      {describe(0, "274877972480"),
       {},
       "of A with no swizzle .* 'cp.async.bulk"},
      {text,
       {none, 0, 0},
       "of A with a swizzle of 128 .* tile with no swizzle"},
      {text,
       {0, none, 0},
       "of B with a swizzle of 128 .* tile with no swizzle"},
  };
  for (const auto &c : cases)
    for (Asynchrony asynchrony : {Asynchrony::Late, Asynchrony::Early}) {
      HopperFixture f;
      uint64_t C = 0;
      Status status = problem.run(f, c.text, {asynchrony, 1}, C, c.maps);
      EXPECT_EQ(status.getKind(), ErrorKind::BadDescriptor);
      EXPECT_TRUE(std::regex_search(status.message(), std::regex(c.pattern)))
          << status.message();
    }
  // What stores of threads have laid out for a copy is not known: the numbers
  // are wrong.
  for (Asynchrony asynchrony : {Asynchrony::Late, Asynchrony::Early}) {
    HopperFixture f;
    uint64_t C = 0;
    Status status =
        problem.run(f, text, {asynchrony, 1}, C, MapChange{0, 0, none});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_GT(problem.countWrong(f.getBF16(C, 128, 64)), 128 * 64 / 2);
  }
}
