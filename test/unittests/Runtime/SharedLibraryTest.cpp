//===- SharedLibraryTest.cpp - Tests of libfusion-rt.so -------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Runtime.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

TEST(SharedLibraryTest, OnlyTheCInterfaceIsVisible) {
  void *library = ::dlopen(FUSION_RT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  auto getVersion = reinterpret_cast<uint32_t (*)()>(
      ::dlsym(library, "fusionRtGetAbiVersion"));
  ASSERT_NE(getVersion, nullptr);
  EXPECT_EQ(getVersion(), uint32_t(FUSION_RT_ABI_VERSION));
  for (const char *name :
       {"fusionRtDeviceCreate", "fusionRtPackageLoad", "fusionRtLaunch",
        "fusionRtBench", "fusionRtGetLastError", "fusionRtInferShapes",
        "fusionRtReserveWorkspace", "fusionRtDeviceSetLaunchCallback",
        "fusionRtEncodeTensorMap"})
    EXPECT_NE(::dlvsym(library, name, "FUSION_RT_1"), nullptr) << name;

  // A C++ symbol of the library, which must stay inside.
  EXPECT_EQ(::dlsym(library, "_ZN9fusionpkg15looksLikePackageEPKvm"), nullptr);

  // Its errors are its own, not those of the copy linked into this test.
  auto create = reinterpret_cast<decltype(&fusionRtDeviceCreate)>(
      ::dlsym(library, "fusionRtDeviceCreate"));
  auto getLast = reinterpret_cast<decltype(&fusionRtGetLastError)>(
      ::dlsym(library, "fusionRtGetLastError"));
  FusionRtDevice *device = nullptr;
  EXPECT_EQ(create("toaster", nullptr, &device), 6001);
  EXPECT_NE(std::string(getLast()).find("toaster"), std::string::npos);
}
