//===- Session.h - A package on a device ------------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the use of the runtime on host tensors: a device, a package
// loaded on it, one entry.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_TOOLS_SESSION_H
#define FUSION_TOOLS_SESSION_H

#include "fusion-rt/Emulator/Profile.h"
#include "fusion-rt/Runtime.h"
#include "fusion/Reference/Signature.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlir::fusion {

/// Whether an error of the driver only says that this machine has none, or no
/// GPU; any other means that there is a driver that does not work.
bool isWithoutGpu(FusionRtStatus status);

/// One entry of a package on a device. Errors carry the runtime's text, with
/// its code and remedy.
class Session {
public:
  /// Opens "cuda", "cuda:N", "emulator", or "auto": CUDA where there is a
  /// driver with a device, else the emulator, with a warning if there is a
  /// driver that does not work.
  static llvm::Expected<std::unique_ptr<Session>>
  open(StringRef device, const FusionRtDeviceOptions *deviceOptions = nullptr);
  ~Session();

  /// Adds what every launch from now on does to `report`; null stops it. The
  /// emulator only, opened with the option `profile`.
  llvm::Error setProfile(fusionemu::ProfileReport *report);

  /// Loads a package and chooses an entry; an empty name means the only one.
  llvm::Error load(StringRef package, StringRef entry);

  bool isEmulator() const { return info.isEmulator; }
  const FusionRtDeviceInfo &getDeviceInfo() const { return info; }
  /// "emulator" or the name of the GPU.
  std::string getDeviceName() const;
  /// The target that fits the device best, empty on the emulator.
  std::string getTarget() const;

  /// After load().
  const Signature &getSignature() const { return signature; }
  std::string getEntryName() const;
  /// The chip that the package was compiled for.
  std::string getPackageTarget() const;
  /// The decisions of the compiler, as JSON; empty if there are none.
  std::string getLedger() const;
  /// Whether some size of the entry is only known when it is run.
  bool hasDynamicSizes() const;

  /// Copies `inputs` to the device, runs the entry, and copies its outputs
  /// back. Outputs are poisoned before the run.
  llvm::Expected<SmallVector<HostTensor>> run(ArrayRef<HostTensor> inputs);

  /// Times the entry. CUDA only.
  llvm::Expected<FusionRtBenchResult> bench(ArrayRef<HostTensor> inputs);

  /// Traffic and work for the sizes of `inputs`.
  llvm::Expected<FusionRtFigures> getFigures(ArrayRef<HostTensor> inputs);

private:
  Session() = default;
  class Launch;
  llvm::Error readSignature();

  FusionRtDevice *device = nullptr;
  FusionRtPackage *package = nullptr;
  FusionRtEntry *entry = nullptr;
  FusionRtDeviceInfo info = {};
  Signature signature;
  /// Of each output the input whose memory it is, if it is one's.
  std::vector<std::optional<uint32_t>> overwritten;
};

} // namespace mlir::fusion

#endif // FUSION_TOOLS_SESSION_H
