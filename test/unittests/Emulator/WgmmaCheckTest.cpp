//===- WgmmaCheckTest.cpp - Wrong uses of wgmma ---------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file plants faults in a small kernel around one wgmma, in both modes of
// asynchrony: registers and shared memory in flight, missing fences, warps that
// disagree, and bad matrix descriptors. Without a fault the kernel is right.
//
//===----------------------------------------------------------------------===//

#include "HopperUtils.h"

using namespace fusionemu;

/// Writes 4096 bytes of ones (bf16) to `tile`, multiplies 64 x 16 of them by
/// 16 x 8 from behind, and stores 16 in each accumulator. Places for faults
/// are marked. %warp is the number of the warp.
static const char *const kernelText = R"(
.visible .entry k(.param .u64 out, .param .u64 in)
  // <directives>
{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b32 %warp; .reg .b32 %lane;
  .reg .b32 %a<8>; .reg .f32 %f<16>; .reg .b64 %d<8>;
  .shared .align 1024 .b8 tile[4096];
  .shared .align 16 .b8 other[1024];
  .shared .align 8 .b64 signal;
  setp.eq.u32 %p0, 0, 0;
  mov.u32 %r0, %tid.x;
  shr.u32 %warp, %r0, 5;
  and.b32 %lane, %r0, 31;
  ld.param.u64 %d4, [out];
  ld.param.u64 %d6, [in];
  cvta.to.global.u64 %d6, %d6;
  mad.wide.u32 %d5, %r0, 16, %d4;
  shl.b32 %r1, %r0, 5;
  mov.u32 %r2, tile;
  add.u32 %r1, %r1, %r2;
  mov.b32 %r3, 0x3f803f80;
  mov.b32 %a0, 0x3f803f80;
  mov.b32 %a1, 0x3f803f80;
  mov.b32 %a2, 0x3f803f80;
  mov.b32 %a3, 0x3f803f80;
  setp.ne.u32 %p1, %r0, 0;
  // <start>
  st.shared.v4.b32 [%r1], {%r3, %r3, %r3, %r3};
  st.shared.v4.b32 [%r1+16], {%r3, %r3, %r3, %r3}; // <stored>
  fence.proxy.async; // <proxy>
  bar.sync 0; // <barrier>
  shr.u32 %r4, %r2, 4;
  cvt.u64.u32 %d0, %r4;
  or.b64 %d0, %d0, 0x1000080000; // <A>
  add.s64 %d1, %d0, 128; // <B>
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  mov.f32 %f4, 0f00000000;
  mov.f32 %f5, 0f00000000;
  mov.f32 %f6, 0f00000000;
  mov.f32 %f7, 0f00000000;
  wgmma.fence.sync.aligned; // <fence>
  // <fenced>
  wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3},
    %d0, %d1, %p0, 1, 1, 0, 0; // <multiply>
  // <issued>
  wgmma.commit_group.sync.aligned; // <commit>
  // <committed>
  wgmma.wait_group.sync.aligned 0; // <wait>
  // <waited>
  st.global.v4.f32 [%d5], {%f0, %f1, %f2, %f3};
  ret;
}
)";

/// The operands of the product with A from registers.
static const char *const fromRegisters =
    "{%a0, %a1, %a2, %a3}, %d1, %p0, 1, 1, 0; // <multiply>";
/// Another product, of the same matrices.
static const char *const nextProduct =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f4, %f5, %f6, %f7}, "
    "%d0, %d1, %p0, 1, 1, 0, 0;";

static Status run(const std::vector<Edit> &edits, Asynchrony asynchrony,
                  uint32_t threads = 128, bool checkResult = false,
                  uint32_t blocks = 1) {
  HopperFixture f;
  Status status = f.parse(plant(kernelText, edits));
  EXPECT_TRUE(status.ok()) << status.message();
  if (!status.ok())
    return status;
  f.options.asynchrony = asynchrony;
  f.options.maxSteps = 10000;
  uint64_t out = f.passEmpty("out", threads * 16);
  f.passBuffer("in", std::vector<uint32_t>(1024, 0x40004000));
  status = f.run({blocks, 1, 1}, {threads, 1, 1});
  if (status.ok() && checkResult)
    for (float x : f.get<float>(out, threads * 4))
      EXPECT_EQ(x, 16.0f);
  return status;
}

namespace {
struct Fault {
  const char *name;
  std::vector<Edit> edits;
  ErrorKind kind;
  const char *text; ///< Part of the report.
};
} // namespace

/// Every fault is reported in both modes.
static void expectFaults(const std::vector<Fault> &faults,
                         uint32_t threads = 128) {
  for (const Fault &fault : faults)
    for (Asynchrony asynchrony : {Asynchrony::Late, Asynchrony::Early}) {
      SCOPED_TRACE(std::string(fault.name) +
                   (asynchrony == Asynchrony::Late ? ", late" : ", early"));
      Status status = run(fault.edits, asynchrony, threads);
      EXPECT_EQ(status.getKind(), fault.kind) << status.message();
      EXPECT_NE(status.message().find(fault.text), std::string::npos)
          << status.message();
    }
}

static void expectRight(const std::vector<std::vector<Edit>> &variants,
                        uint32_t threads = 128) {
  for (const std::vector<Edit> &edits : variants)
    for (Asynchrony asynchrony : {Asynchrony::Late, Asynchrony::Early}) {
      SCOPED_TRACE(edits.empty() ? "as it is" : edits[0].replacement);
      Status status = run(edits, asynchrony, threads, true);
      EXPECT_TRUE(status.ok()) << status.message();
    }
}

TEST(WgmmaCheck, Right) {
  std::string twice =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, "
      "%f3}, %d0, %d1, %p3, 1, 1, 0, 0;";
  expectRight({
      {},
      {{"<multiply>", 0, fromRegisters}},
      // The accumulators of one shape follow each other without a wait.
      {{"<issued>", 0, "setp.ne.u32 %p3, 0, 0;\n" + twice}},
      // Two groups, of which one may stay while the other is read.
      {{"<wait>", 0,
        std::string(nextProduct) + "wgmma.commit_group.sync.aligned;\n"
                                   "wgmma.wait_group.sync.aligned 1;\n"
                                   "add.f32 %f0, %f0, 0f00000000;\n$&"}},
      // A is still read, but not written.
      {{"<multiply>", 0, fromRegisters},
       {"<committed>", 0, "add.u32 %r5, %a0, %a1;"}},
      // Or read between the fence and the product; copies are one with their
      // source.
      {{"<multiply>", 0, fromRegisters},
       {"<fenced>", 0, "add.u32 %r5, %a0, %a1;"}},
      {{"<fenced>", 0, "mov.f32 %f8, %f0;"}},
      // Shared memory in flight may be read, and others written.
      {{"<committed>", 0, "ld.shared.b32 %r5, [%r1];"}},
      {{"<committed>", 0, "st.shared.b32 [other], 1;"}},
      // The fence and the barrier make a write visible in this order, too.
      {{"<proxy>", 0, ""}, {"<barrier>", 0, "$&\nfence.proxy.async;"}},
  });
  // Two warpgroups of one block.
  Status status = run({{"<start>", 0,
                        "shl.b32 %r1, %r0, 4;\n"
                        "add.u32 %r1, %r1, %r2;\n"
                        "and.b32 %r1, %r1, -32;\n"
                        "and.b32 %r6, %r0, 1;\n"
                        "setp.eq.u32 %p2, %r6, 0;"},
                       {"<stored>", 0, "$&"}},
                      Asynchrony::Late, 256, true);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST(WgmmaCheck, RegistersInFlight) {
  std::string inFlight = "a register that is still in use by PTX line";
  expectFaults({
      {"read after commit",
       {{"<committed>", 0, "add.f32 %f8, %f0, %f0;"}},
       ErrorKind::InFlight,
       "reads a register that is still in use by PTX line"},
      {"read before commit",
       {{"<issued>", 0, "st.global.f32 [%d5], %f3;"}},
       ErrorKind::InFlight,
       "reads a register that is still in use by PTX line"},
      {"write of an accumulator",
       {{"<committed>", 0, "mov.f32 %f2, 0f3f800000;"}},
       ErrorKind::InFlight,
       "writes a register that is still in use by PTX line"},
      {"loaded into an accumulator",
       {{"<committed>", 0, "ld.global.f32 %f1, [%d6];"}},
       ErrorKind::InFlight,
       "writes a register that is still in use by PTX line"},
      {"write of A",
       {{"<multiply>", 0, fromRegisters},
        {"<committed>", 0, "mov.b32 %a3, 0;"}},
       ErrorKind::InFlight,
       "writes a register that is still in use by PTX line"},
      {"commit removed",
       {{"<commit>", 0, ""}},
       ErrorKind::InFlight,
       "wgmma.wait_group is missing"},
      {"wait removed",
       {{"<wait>", 0, ""}},
       ErrorKind::InFlight,
       "wgmma.wait_group is missing"},
      {"wait for all but one",
       {{"<wait>", 0, "wgmma.wait_group.sync.aligned 1;"}},
       ErrorKind::InFlight,
       "wgmma.wait_group is missing"},
      {"accumulators of another shape",
       {{"<issued>", 0,
         "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%f0, %f1, "
         "%f2, %f3, %f4, %f5, %f6, %f7}, %d0, %d1, %p0, 1, 1, 0, 0;"}},
       ErrorKind::InFlight,
       "another shape"},
      {"accumulators in another order",
       {{"<issued>", 0,
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f0, %f2, "
         "%f3}, %d0, %d1, %p0, 1, 1, 0, 0;"}},
       ErrorKind::InFlight,
       "in flight"},
      {"accumulators that a wgmma reads as A",
       {{"<issued>", 0,
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f4, %f5, %f6, "
         "%f7}, {%f0, %f1, %f2, %f3}, %d1, %p0, 1, 1, 0;"}},
       ErrorKind::InFlight,
       "in flight"},
      {"exit",
       {{"<wait>", 0, "ret;"}},
       ErrorKind::InFlight,
       "exits with a wgmma in flight"},
  });
}

TEST(WgmmaCheck, SharedMemoryInFlight) {
  const char *text = "which is still in use by PTX line";
  expectFaults({
      {"store to A",
       {{"<committed>", 0, "st.shared.b32 [%r1], 0;"}},
       ErrorKind::InFlight,
       text},
      {"store to B before commit",
       {{"<issued>", 0, "st.shared.b32 [tile+2048], 0;"}},
       ErrorKind::InFlight,
       text},
      {"store behind a wait that leaves it",
       {{"<wait>", 0,
         "wgmma.wait_group.sync.aligned 1;\nst.shared.b32 [tile+2064], "
         "0;\n$&"}},
       ErrorKind::InFlight,
       text},
      {"atomic operation on A",
       {{"<committed>", 0, "red.shared.add.u32 [tile+512], 1;"}},
       ErrorKind::InFlight,
       text},
      {"stmatrix over A",
       {{"<committed>", 0,
         "stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile], {%r3};"}},
       ErrorKind::InFlight,
       text},
      {"cp.async over B",
       {{"<committed>", 0,
         "cp.async.ca.shared.global [tile+2048], [%d6], 16;"}},
       ErrorKind::InFlight,
       text},
      {"bulk copy over A",
       {{"<committed>", 0,
         "@%p1 bra skip;\n"
         "mbarrier.init.shared.b64 [signal], 1;\n"
         "fence.mbarrier_init.release.cluster;\n"
         "fence.proxy.async;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [signal], 64;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
         "[tile+64], [%d6], 64, [signal];\n"
         "skip:"}},
       ErrorKind::InFlight,
       text},
  });
}

TEST(WgmmaCheck, MissingWgmmaFence) {
  expectFaults({
      {"no fence at all",
       {{"<fence>", 0, ""}},
       ErrorKind::MissingFence,
       "wgmma.fence"},
      {"accumulator written behind the fence",
       {{"<fenced>", 0, "mov.f32 %f1, 0f00000000;"}},
       ErrorKind::MissingFence,
       "accumulates into a register that was written with no wgmma.fence"},
      {"accumulator loaded behind the fence",
       {{"<fenced>", 0, "ld.global.f32 %f3, [%d6];"}},
       ErrorKind::MissingFence,
       "accumulates into a register that was written with no wgmma.fence"},
      {"accumulator read behind the fence",
       {{"<fenced>", 0, "add.f32 %f8, %f1, %f1;"}},
       ErrorKind::MissingFence,
       "accumulates into a register that was read with no wgmma.fence"},
      {"accumulators stored between two products",
       {{"<waited>", 0,
         "st.global.f32 [%d5], %f2;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, "
         "%f3}, %d0, %d1, %p0, 1, 1, 0, 0;\n"
         "wgmma.commit_group.sync.aligned;\n"
         "wgmma.wait_group.sync.aligned 0;"}},
       ErrorKind::MissingFence,
       "accumulates into a register that was read with no wgmma.fence"},
      {"A written behind the fence",
       {{"<multiply>", 0, fromRegisters},
        {"<fenced>", 0, "cvt.rn.bf16x2.f32 %a2, %f8, %f9;"}},
       ErrorKind::MissingFence,
       "takes fragments of A from a register that was written with no"},
      {"A packed from a shuffle behind the fence",
       {{"<multiply>", 0, fromRegisters},
        {"<fenced>", 0, "shfl.sync.bfly.b32 %a1, %a1, 1, 31, -1;"}},
       ErrorKind::MissingFence,
       "takes fragments of A from a register that was written with no"},
      {"accumulators scaled between two products",
       {{"<waited>", 0,
         "mul.f32 %f0, %f0, 0f3f000000;\n"
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, "
         "%f3}, %d0, %d1, %p0, 1, 1, 0, 0;\n"
         "wgmma.commit_group.sync.aligned;\n"
         "wgmma.wait_group.sync.aligned 0;"}},
       ErrorKind::MissingFence,
       "accumulates into a register that was written with no wgmma.fence"},
      {"first fence behind the product",
       {{"<fence>", 0, ""}, {"<issued>", 0, "wgmma.fence.sync.aligned;"}},
       ErrorKind::MissingFence,
       "wgmma.fence"},
  });
}

TEST(WgmmaCheck, MissingProxyFence) {
  const char *text = "wrote with no fence.proxy.async in between";
  expectFaults({
      {"fence removed", {{"<proxy>", 0, ""}}, ErrorKind::MissingFence, text},
      {"a fence of the generic proxy",
       {{"<proxy>", 0, "fence.acq_rel.cta;"}},
       ErrorKind::MissingFence,
       text},
      {"fence before the stores",
       {{"<proxy>", 0, ""}, {"<start>", 0, "fence.proxy.async;"}},
       ErrorKind::MissingFence,
       text},
      {"fence by one of the writers alone",
       {{"<proxy>", 0, "setp.ne.u32 %p2, %warp, 0;\n@!%p2 fence.proxy.async;"}},
       ErrorKind::MissingFence,
       text},
      {"a last store behind the fence",
       {{"<proxy>", 0, "$&\nst.shared.b32 [%r1], %r3;"}},
       ErrorKind::MissingFence,
       text},
      {"stmatrix behind the fence",
       {{"<proxy>", 0,
         "$&\nadd.u32 %r6, %r2, 1024;\n"
         "shl.b32 %r7, %lane, 4;\nadd.u32 %r6, %r6, %r7;\n"
         "setp.eq.u32 %p2, %warp, 0;\n"
         "@%p2 stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r6], {%r3};"}},
       ErrorKind::MissingFence,
       text},
      {"cp.async behind the fence",
       {{"<proxy>", 0,
         "$&\n@!%p1 cp.async.ca.shared.global [%r1], [%d6], 16;\n"
         "cp.async.wait_all;"}},
       ErrorKind::MissingFence,
       text},
  });
}

TEST(WgmmaCheck, WarpsDisagree) {
  expectFaults({
      {"another descriptor in one warp",
       {{"<B>", 0,
         "$&\nsetp.eq.u32 %p2, %warp, 2;\n@%p2 add.s64 %d1, %d1, 16;"}},
       ErrorKind::BarrierDivergence,
       "another wgmma than the other warps of its warpgroup"},
      {"another scale-d in one warp",
       {{"<B>", 0, "$&\nsetp.ne.u32 %p0, %warp, 3;"}},
       ErrorKind::BarrierDivergence,
       "another wgmma than the other warps of its warpgroup"},
      {"another descriptor in one lane",
       {{"<A>", 0,
         "$&\nsetp.eq.u32 %p2, %lane, 7;\n@%p2 add.s64 %d0, %d0, 8;"}},
       ErrorKind::BarrierDivergence,
       "another matrix descriptor than the first thread of its warp"},
      {"another scale-d in one lane",
       {{"<B>", 0, "$&\nsetp.ne.u32 %p0, %lane, 5;"}},
       ErrorKind::BarrierDivergence,
       "another scale-d than the first thread of its warp"},
      {"half of a warp",
       {{"<fenced>", 0, "setp.gt.u32 %p2, %lane, 15;\n@%p2 bra skip;"},
        {"<issued>", 0, "skip:"}},
       ErrorKind::BarrierDivergence,
       "waiting for each other at different places"},
      {"a thread that has exited",
       {{"<fenced>", 0, "@!%p1 ret;"}},
       ErrorKind::BarrierDivergence,
       "some have exited"},
      {"a warp that has exited",
       {{"<fenced>", 0, "setp.eq.u32 %p2, %warp, 1;\n@%p2 ret;"}},
       ErrorKind::Deadlock,
       "warp"},
      {"a warp that skips the product",
       {{"<fenced>", 0, "setp.eq.u32 %p2, %warp, 1;\n@%p2 bra skip;"},
        {"<issued>", 0, "skip:"}},
       ErrorKind::Deadlock,
       "warp"},
      {"a warp with one product more",
       {{"<issued>", 0,
         "setp.ne.u32 %p2, %warp, 1;\n@%p2 bra skip;\n" +
             std::string(nextProduct) + "\nskip:"}},
       ErrorKind::Deadlock,
       "warp"},
      {"products in another order",
       {{"<fenced>", 0, "setp.eq.u32 %p2, %warp, 3;\n@%p2 bra swapped;"},
        {"<issued>", 0,
         std::string(nextProduct) + "\nbra done;\nswapped:\n" + nextProduct +
             "\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1,"
             " %f2, %f3}, %d0, %d1, %p0, 1, 1, 0, 0;\ndone:"}},
       ErrorKind::BarrierDivergence,
       "another wgmma than the other warps of its warpgroup"},
  });
  expectFaults({{"three warps",
                 {},
                 ErrorKind::BarrierDivergence,
                 "is not in a warpgroup of four warps"}},
               96);
}

// In a cluster a block's own addresses have bits above their 18: what comes of
// them in a descriptor is found whether or not the product reads its fields.
TEST(WgmmaCheck, AddressesInAClusterAreMasked) {
  Edit cluster = {"<directives>", 0, ".reqnctapercluster 2, 1, 1"};
  Edit masked = {
      "<A>", 0,
      "and.b32 %r4, %r4, 0x3fff;\ncvt.u64.u32 %d0, %r4;\nor.b64 %d0, %d0, "
      "0x1000080000;"};
  for (Asynchrony asynchrony : {Asynchrony::Late, Asynchrony::Early}) {
    Status status = run({cluster, masked}, asynchrony, 128, true, 2);
    EXPECT_TRUE(status.ok()) << status.message();
    status = run({cluster}, asynchrony, 128, true, 2);
    EXPECT_EQ(status.getKind(), ErrorKind::BadDescriptor) << status.message();
    EXPECT_NE(status.message().find("reserved bits"), std::string::npos)
        << status.message();
    // Alone, a block has no such bits.
    status = run({}, asynchrony, 128, true);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST(WgmmaCheck, Descriptors) {
  expectFaults({
      {"the address itself",
       {{"<A>", 0, "cvt.u64.u32 %d0, %r2;\nor.b64 %d0, %d0, 0x100008c000;"}},
       ErrorKind::BadDescriptor,
       "reserved bits"},
      {"a reserved bit of the swizzle",
       {{"<B>", 0, "$&\nor.b64 %d1, %d1, 0x2000000000000000;"}},
       ErrorKind::BadDescriptor,
       "descriptor of B"},
      {"A behind shared memory",
       {{"<A>", 0, "$&\nadd.s64 %d2, %d0, 128;\nadd.s64 %d0, %d0, 1024;"},
        {"<B>", 0, "mov.b64 %d1, %d2;"}},
       ErrorKind::OutOfBounds,
       "multiplies a matrix A that reaches byte"},
      {"B behind shared memory",
       {{"<B>", 0, "add.s64 %d1, %d0, 8192;"}},
       ErrorKind::OutOfBounds,
       "multiplies a matrix B that reaches byte"},
      {"a stride too large",
       {{"<A>", 0,
         "$&\nadd.s64 %d2, %d0, 128;\nor.b64 %d0, %d0, 0x20000000000;"},
        {"<B>", 0, "mov.b64 %d1, %d2;"}},
       ErrorKind::OutOfBounds,
       "multiplies a matrix A that reaches byte"},
      {"a leading offset too large",
       {{"<B>", 0, "$&\nor.b64 %d1, %d1, 0x30000000;"}},
       ErrorKind::OutOfBounds,
       "multiplies a matrix B that reaches byte"},
  });
  // What nobody wrote is found as such.
  expectFaults({{"B where nothing is",
                 {{"<B>", 0, "add.s64 %d1, %d0, 256;"}},
                 ErrorKind::UninitializedShared,
                 "bytes"}});
}
