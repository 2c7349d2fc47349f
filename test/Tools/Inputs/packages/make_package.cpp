//===- make_package.cpp - A package by an earlier writer ------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements what make_packages.sh builds with the package library of
// an earlier release: it writes y = 2 x over [n], in blocks of 128 threads, and
// with CLUSTERS in clusters of two blocks.
//
//===----------------------------------------------------------------------===//

#include "fusion/Executable/Package.h"

#include <cstdio>

using namespace fusionpkg;

static const char ptx[] = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry twice(.param .u64 x, .param .u64 y, .param .u64 n) {
  .reg .pred %p; .reg .f32 %f; .reg .b32 %r<4>; .reg .b64 %d<6>;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  ld.param.u64 %d2, [n];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  mad.lo.u32 %r2, %r0, 128, %r1;
  cvt.u64.u32 %d3, %r2;
  setp.ge.u64 %p, %d3, %d2;
  @%p bra done;
  shl.b64 %d4, %d3, 2;
  add.u64 %d0, %d0, %d4;
  add.u64 %d1, %d1, %d4;
  ld.global.f32 %f, [%d0];
  add.f32 %f, %f, %f;
  st.global.f32 [%d1], %f;
done:
  ret;
}
)";

int main(int argc, char **argv) {
  PackageModel model;
  model.target = "sm_90a";
  model.ptxVersion = 80;
  model.producer = "fusion, as it was";
  model.modules.push_back({ptx, {}, 12000});
  Kernel kernel;
  kernel.name = "twice";
  kernel.blockX = 128;
  kernel.predicted = {8, 0, 0};
  kernel.predictedMicroseconds = 2;
  kernel.source = "twice.mlir:1";
#ifdef CLUSTERS
  kernel.clusterX = 2;
  const int64_t blocks = 2;
#else
  const int64_t blocks = 1;
#endif
  model.kernels = {kernel};
  model.ledgerJson = "{}";
  Entry entry;
  entry.name = "twice";
  entry.symbols = {{"n", 0, 0}};
  ExprPool &e = entry.exprs;
  ExprId n = e.symbol(0);
  entry.inputs = {{"x", DType::F32, {n}, false}};
  entry.outputs = {{"y", DType::F32, {n}, false}};
  entry.buffers = {{BufferKind::Input, 0, kNoExpr, "x"},
                   {BufferKind::Output, 0, kNoExpr, "y"}};
  Step step;
  step.variants = {
      {kNoExpr, 0,
       e.mul(e.ceilDiv(n, e.constant(128 * blocks)), e.constant(blocks))}};
  step.args = {Arg::buffer(0), Arg::buffer(1), Arg::i64(n)};
  entry.steps = {step};
  entry.summary.kernelsBefore = entry.summary.kernelsAfter = 1;
  ExprId bytes = e.mul(n, e.constant(8));
  entry.summary.bytesBefore = entry.summary.bytesAfter = bytes;
  entry.summary.flops = n;
  entry.summary.predictedMicroseconds = 2;
  model.entries.push_back(std::move(entry));
  Result<std::string> written = writePackage(model);
  if (!written) {
    std::fprintf(stderr, "%s\n", written.getError().str().c_str());
    return 1;
  }
  if (Error error = writeFileAtomically(argv[1], *written)) {
    std::fprintf(stderr, "%s\n", error.str().c_str());
    return 1;
  }
  return 0;
}
