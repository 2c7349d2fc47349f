//===- Doctor.cpp - What is here and what is missing ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the checks of fusion-doctor. No finding is an error: a
// compiler without a GPU, ptxas or Python still compiles and emulates.
//
//===----------------------------------------------------------------------===//

#include "fusion/Tools/Doctor.h"

#include "fusion-rt/Runtime.h"
#include "fusion/Analysis/TargetInfo.h"
#include "fusion/Tools/CompileTool.h"
#include "fusion/Tools/Session.h"
#include "fusion/Tools/ToolSupport.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace mlir::fusion;

/// What `program` prints on its standard output; nullopt if it cannot be run
/// or fails.
static std::optional<std::string> capture(StringRef program,
                                          ArrayRef<StringRef> arguments) {
  SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("fusion-doctor", "txt", path))
    return std::nullopt;
  llvm::FileRemover remover(path);
  SmallVector<StringRef> command{program};
  command.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(path),
                                          StringRef("")};
  if (llvm::sys::ExecuteAndWait(program, command, std::nullopt, redirects,
                                /*SecondsToWait=*/20))
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return std::nullopt;
  return (*buffer)->getBuffer().trim().str();
}

static Finding examineCompiler() {
  return {true, "compiler", getVersionString("fusion"), ""};
}

static Finding examineTargets() {
  std::string names;
  for (const TargetInfo &target : getKnownTargets())
    names += (names.empty() ? "" : ", ") + target.name.str();
  LLVMInitializeNVPTXTargetInfo();
  std::string error;
  if (!llvm::TargetRegistry::lookupTarget("nvptx64", error))
    return {false, "targets", "LLVM has no NVPTX target",
            "install an LLVM that was built with NVPTX"};
  return {true, "targets", names, ""};
}

static Finding examinePtxas() {
  auto path = llvm::sys::findProgramByName("ptxas");
  if (!path)
    return {false, "ptxas", "not found",
            "optional: install the CUDA toolkit to have kernels assembled "
            "ahead of time and their registers read back"};
  std::optional<std::string> text = capture(*path, {"--version"});
  if (!text)
    return {false, "ptxas", *path + " cannot be run",
            "reinstall the CUDA "
            "toolkit"};
  // "Cuda compilation tools, release 13.0, V13.0.88"
  StringRef version = StringRef(*text).rsplit(", V").second;
  return {true, "ptxas",
          version.take_until([](char c) { return c == '\n'; }).str() + " at " +
              *path,
          ""};
}

static Finding examineNvdisasm() {
  auto path = llvm::sys::findProgramByName("nvdisasm");
  if (!path)
    return {false, "nvdisasm", "not found",
            "optional: install the CUDA toolkit to have fusion-package "
            "disassemble print machine code"};
  return {true, "nvdisasm", *path, ""};
}

static std::string formatDriverVersion(int32_t version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

/// The driver, and one finding for each device.
static void examineDevices(std::vector<Finding> &findings) {
  int32_t count = 0;
  FusionRtStatus status = fusionRtGetCudaDeviceCount(&count);
  if (status && !isWithoutGpu(status)) {
    findings.push_back({false, "driver",
                        std::string(fusionRtGetLastErrorCause()) + " (FUS-" +
                            std::to_string(status) +
                            "): using the built-in emulator",
                        fusionRtGetLastErrorRemedy()});
    return;
  }
  if (status) {
    findings.push_back({false, "driver",
                        "no CUDA driver: using the built-in emulator (" +
                            std::string(fusionRtGetLastErrorCause()) + ")",
                        "to run on a GPU, install the NVIDIA driver"});
    return;
  }
  if (count == 0)
    findings.push_back({false, "driver",
                        "no CUDA device: using the built-in emulator",
                        "check the GPU with nvidia-smi"});
  for (int32_t i = 0; i < count; ++i) {
    std::string name = "cuda:" + std::to_string(i);
    FusionRtDevice *device = nullptr;
    auto info = FUSION_RT_INIT(FusionRtDeviceInfo);
    if (fusionRtDeviceCreate(name.c_str(), nullptr, &device) ||
        fusionRtDeviceGetInfo(device, &info)) {
      findings.push_back({false, name, fusionRtGetLastErrorCause(),
                          fusionRtGetLastErrorRemedy()});
    } else {
      if (i == 0)
        findings.push_back({true, "driver",
                            "CUDA " + formatDriverVersion(info.driverVersion),
                            ""});
      findings.push_back({true, name,
                          std::string(info.name) + ", compute capability " +
                              std::to_string(info.computeMajor) + "." +
                              std::to_string(info.computeMinor) + ", " +
                              formatBytes(double(info.memoryBytes)) + ", " +
                              formatBytes(double(info.memoryFreeBytes)) +
                              " free",
                          ""});
    }
    if (device)
      fusionRtDeviceDestroy(device);
  }
}

static Finding examineEmulator() {
  FusionRtDevice *device = nullptr;
  if (fusionRtDeviceCreate("emulator", nullptr, &device))
    return {false, "emulator", fusionRtGetLastErrorCause(),
            fusionRtGetLastErrorRemedy()};
  fusionRtDeviceDestroy(device);
  return {true, "emulator", "ready", ""};
}

static Finding examinePython() {
  auto path = llvm::sys::findProgramByName("python3");
  if (!path)
    return {false, "python", "not found",
            "optional: install python3 and numpy to use the fusion package"};
  std::optional<std::string> version = capture(
      *path, {"-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"});
  std::optional<std::string> numpy =
      capture(*path, {"-c", "import numpy; print(numpy.__version__)"});
  if (!version)
    return {false, "python", *path + " cannot be run", "reinstall python3"};
  if (!numpy)
    return {false, "python", *version + " without numpy",
            "optional: install numpy (python3-numpy) to use the fusion "
            "package"};
  return {true, "python", *version + " with numpy " + *numpy, ""};
}

std::vector<Finding> fusion::examine() {
  std::vector<Finding> findings{examineCompiler(), examineTargets(),
                                examinePtxas(), examineNvdisasm()};
  examineDevices(findings);
  findings.push_back(examineEmulator());
  findings.push_back(examinePython());
  return findings;
}

void fusion::printFindings(ArrayRef<Finding> findings, raw_ostream &os) {
  for (const Finding &finding : findings) {
    assert(finding.ok == finding.remedy.empty() &&
           "a warning says what to do, and nothing else does");
    os << (finding.ok ? "[ok]   " : "[warn] ") << finding.subject << ": "
       << finding.detail;
    if (!finding.remedy.empty())
      os << "; " << finding.remedy;
    os << "\n";
  }
}
