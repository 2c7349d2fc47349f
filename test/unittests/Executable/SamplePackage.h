//===- SamplePackage.h - A package for tests ----------------- -*- C++ -*--===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file builds a small, complete package that tests read, write, break and
// launch: y = relu(x @ w + b) over [m, 128], in two launches with a temporary,
// with every kind of step and argument.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TEST_UNITTESTS_EXECUTABLE_SAMPLEPACKAGE_H
#define FUSION_TEST_UNITTESTS_EXECUTABLE_SAMPLEPACKAGE_H

#include "fusion/Executable/Package.h"

namespace fusionpkg {

inline PackageModel makeSamplePackage() {
  PackageModel model;
  model.target = "sm_90a";
  model.ptxVersion = 80;
  model.producer = "fusion test";
  model.modules.push_back({".version 8.0\n.target sm_90a\n", {}, 12000});
  Kernel matmul;
  matmul.name = "matmul";
  matmul.blockX = 128;
  matmul.staticSharedBytes = 1024;
  matmul.predicted = {64, 0, 1024};
  matmul.predictedMicroseconds = 3.5;
  matmul.source = "model.mlir:7";
  Kernel bias = matmul;
  bias.name = "bias_relu";
  bias.dynamicSharedBytes = 4096;
  Kernel biasVector = bias;
  biasVector.name = "bias_relu_v4";
  model.kernels = {matmul, bias, biasVector};
  float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  uint32_t weightId = model.addConstant("b", weights, sizeof(weights));
  model.ledgerJson = "{\"kernels\":2}";

  Entry entry;
  entry.name = "main";
  entry.symbols = {{"m", 0, 0}};
  ExprPool &e = entry.exprs;
  ExprId m = e.symbol(0), c128 = e.constant(128);
  entry.inputs = {{"x", DType::F32, {m, c128}, false},
                  {"w", DType::BF16, {c128, c128}, false},
                  {"scale", DType::F32, {}, true},
                  {"skip", DType::F32, {m, c128}, false}};
  entry.outputs = {{"y", DType::F32, {m, c128}, false},
                   {"copy", DType::F32, {m, c128}, false}};
  entry.requirements = {{e.le(m, e.constant(1 << 20)), "m is at most 2^20"}};
  ExprId bytes = buildStorageBytes(e, DType::F32, {m, c128});
  entry.buffers = {{BufferKind::Input, 0, kNoExpr, "x"},
                   {BufferKind::Input, 1, kNoExpr, "w"},
                   {BufferKind::Input, 3, kNoExpr, "skip"},
                   {BufferKind::Constant, weightId, kNoExpr, "b"},
                   {BufferKind::Output, 0, kNoExpr, "y"},
                   {BufferKind::Output, 1, kNoExpr, "copy"},
                   {BufferKind::Temp, 0, bytes, "acc"}};

  Step fill;
  fill.kind = StepKind::Fill;
  fill.dst = 6;
  fill.fillWidth = 4;
  Step matmulStep;
  matmulStep.variants = {{kNoExpr, 0, e.ceilDiv(m, e.constant(16))}};
  matmulStep.args = {Arg::buffer(0), Arg::buffer(1), Arg::buffer(6),
                     Arg::i64(m)};
  Step biasStep;
  biasStep.variants = {{e.eq(e.mod(m, e.constant(4)), e.constant(0)), 2,
                        e.floorDiv(m, e.constant(4)), kNoExpr, kNoExpr,
                        e.constant(2048)},
                       {kNoExpr, 1, m}};
  biasStep.args = {Arg::buffer(6), Arg::buffer(3, e.constant(16)),
                   Arg::buffer(4), Arg::i32(m),
                   Arg::f32(0.5),  Arg::f64(0.25),
                   Arg::scalar(2)};
  Step copy;
  copy.kind = StepKind::Copy;
  copy.dst = 5;
  copy.src = 2;
  entry.steps = {fill, matmulStep, biasStep, copy};
  entry.summary = {3,
                   2,
                   e.mul(bytes, e.constant(6)),
                   bytes,
                   e.mul(m, e.constant(2 * 128 * 128)),
                   7.0};
  model.entries.push_back(std::move(entry));
  return model;
}

/// The sample with its first kernel in clusters of two and with a tensor map of
/// either kind: of x, and of the temporary as [m, 4, 8, 4] for im2col.
inline PackageModel makeTensorMapPackage() {
  PackageModel model = makeSamplePackage();
  model.kernels[0].clusterX = 2;
  Entry &entry = model.entries[0];
  ExprPool &e = entry.exprs;
  TensorMap tiled;
  tiled.dtype = DType::F32;
  tiled.swizzle = TensorMapSwizzle::B128;
  tiled.tf32 = true;
  tiled.buffer = 0;
  tiled.offset = e.constant(0);
  tiled.sizes = {e.symbol(0), e.constant(128)};
  tiled.strides = {e.constant(512)};
  tiled.box = {64, 32};
  tiled.elementStrides = {2, 1};
  TensorMap im2col;
  im2col.kind = TensorMapKind::Im2col;
  im2col.dtype = DType::I32;
  im2col.swizzle = TensorMapSwizzle::None;
  im2col.buffer = 6;
  im2col.sizes = {e.symbol(0), e.constant(4), e.constant(8), e.constant(4)};
  im2col.lowerCorner = {-1, -2};
  im2col.upperCorner = {-1, 1};
  im2col.channelsPerPixel = 4;
  im2col.pixelsPerColumn = 128;
  entry.tensorMaps = {tiled, im2col};
  entry.steps[1].args.push_back(Arg::tensorMap(0));
  entry.steps[1].args.push_back(Arg::tensorMap(1));
  ExprId blocks = e.mul(e.ceilDiv(e.symbol(0), e.constant(32)), e.constant(2));
  entry.steps[1].variants[0].gridX = blocks;
  return model;
}

} // namespace fusionpkg

#endif // FUSION_TEST_UNITTESTS_EXECUTABLE_SAMPLEPACKAGE_H
