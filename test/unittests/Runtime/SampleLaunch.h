//===- SampleLaunch.h - Launches of the sample package ----------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines what tests of launches begin with.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_UNITTESTS_RUNTIME_SAMPLELAUNCH_H
#define FUSION_UNITTESTS_RUNTIME_SAMPLELAUNCH_H

#include "LoadedPackage.h"

namespace fusionrt {

/// The sample package on a fake device, with arguments that fit m = 8.
class SampleLaunch : public LoadedPackage {
protected:
  void
  load(const fusionpkg::PackageModel &model = fusionpkg::makeSamplePackage()) {
    ASSERT_NO_FATAL_FAILURE(loadModel(model));
    entry = package->entries[0].get();
    setRows(8);
  }

  /// Arguments for m rows; the addresses need not exist.
  void setRows(int64_t m) {
    xDims[0] = m;
    inputs[0] = {0x100000, nullptr, xDims, FUSION_RT_F32, 2};
    inputs[1] = {0x200000, nullptr, wDims, FUSION_RT_BF16, 2};
    inputs[2] = {0, &scale, nullptr, FUSION_RT_F32, 0};
    inputs[3] = {0x300000, nullptr, xDims, FUSION_RT_F32, 2};
    outputs[0] = {0x400000, nullptr, xDims, FUSION_RT_F32, 2};
    outputs[1] = {0x500000, nullptr, xDims, FUSION_RT_F32, 2};
    args = FUSION_RT_INIT(FusionRtLaunchArgs);
    args.inputs = inputs;
    args.outputs = outputs;
    args.numInputs = 4;
    args.numOutputs = 2;
  }

  FusionRtEntry *entry = nullptr;
  int64_t xDims[2] = {8, 128}, wDims[2] = {128, 128};
  float scale = 1.0f;
  FusionRtTensor inputs[4], outputs[2];
  FusionRtLaunchArgs args;
};

} // namespace fusionrt

#endif // FUSION_UNITTESTS_RUNTIME_SAMPLELAUNCH_H
