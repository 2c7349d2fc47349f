//===- LoadedPackage.h - A package on a fake device -------------*- C++ -*-===//
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

#ifndef FUSION_UNITTESTS_RUNTIME_LOADEDPACKAGE_H
#define FUSION_UNITTESTS_RUNTIME_LOADEDPACKAGE_H

#include "../Executable/SamplePackage.h"
#include "FakeDevice.h"

#include <gtest/gtest.h>

namespace fusionrt {

/// A package on a device that notes what it is asked for; the notes begin once
/// it is loaded.
class LoadedPackage : public ::testing::Test {
protected:
  void loadModel(const fusionpkg::PackageModel &model) {
    bytes = *writePackage(model);
    package.reset();
    device = std::move(
        *makeDevice(std::make_unique<FakeDevice>(log), /*synchronous=*/false));
    Result<std::unique_ptr<FusionRtPackage>> loaded =
        loadPackage(*device, bytes.data(), bytes.size());
    ASSERT_TRUE(loaded) << loaded.getError().str();
    package = std::move(*loaded);
    log.lines.clear();
    log.maps.clear();
  }

  FakeLog log;
  std::string bytes;
  std::unique_ptr<FusionRtDevice> device;
  std::unique_ptr<FusionRtPackage> package;
};

} // namespace fusionrt

#endif // FUSION_UNITTESTS_RUNTIME_LOADEDPACKAGE_H
