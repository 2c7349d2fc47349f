//===- Module.cpp - A parsed module ---------------------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements Module: parse, decode every kernel, keep both.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Parser.h"

#include <atomic>
#include <set>

using namespace fusionemu;

static constexpr size_t maxTextBytes = size_t(32) << 20;

Module::Module() = default;
Module::~Module() = default;
Module::Module(Module &&) noexcept = default;
Module &Module::operator=(Module &&) noexcept = default;

/// Gathers the .global and .const variables.
static Status collectVariables(Program &program) {
  std::set<std::string_view> names;
  uint64_t total = 0;
  for (const VariableSyntax &v : program.syntax.variables) {
    auto refuse = [&](const std::string &why) {
      return Status(ErrorKind::Syntax,
                    "PTX line " + std::to_string(v.line) + ": variable '" +
                        std::string(v.name) + "' " + why,
                    v.line);
    };
    if (v.space != Space::Global && v.space != Space::Const)
      continue;
    if (v.isExtern)
      return refuse("is defined in another module, which is not supported");
    if (!names.insert(v.name).second)
      return refuse("is defined twice");
    total += v.size;
    if (total > (uint64_t(1) << 34))
      return refuse("exceeds 16 GiB of variables");
    program.variables.push_back(
        {std::string(v.name), v.space, v.size, v.align, v.elementSize, v.init});
  }
  return Status();
}

Status Module::parse(std::string_view text, std::string_view fileName,
                     const ParseOptions &options) {
  if (text.size() > maxTextBytes)
    return Status(ErrorKind::Syntax, "the PTX text is larger than 32 MiB");
  static std::atomic<uint64_t> nextId{1};
  auto fresh = std::make_unique<Impl>();
  Program &program = fresh->program;
  program.id = nextId++;
  program.options = options;
  program.fileName = std::string(fileName);
  program.syntax.text = std::make_unique<const std::string>(text);
  auto inFile = [&](const Status &s) {
    // The code is added again by the constructor.
    std::string reason = s.message();
    reason = reason.substr(reason.find(": ") + 2);
    return Status(s.getKind(), std::string(fileName) + ": " + reason,
                  s.getLine());
  };
  if (Status s = Parser(program.syntax).run(); !s.ok())
    return inFile(s);
  if (Status s = collectVariables(program); !s.ok())
    return inFile(s);
  std::set<std::string_view> names;
  for (const FunctionSyntax &function : program.syntax.functions) {
    if (!function.isKernel || !function.hasBody)
      continue;
    if (!names.insert(function.name).second)
      return inFile(Status(ErrorKind::Syntax,
                           "PTX line " + std::to_string(function.line) +
                               ": kernel '" + std::string(function.name) +
                               "' is defined twice",
                           function.line));
    Kernel kernel;
    Decoder decoder(program, function, kernel);
    if (!decoder.run()) {
      if (!decoder.isUnsupported())
        return inFile(Status(ErrorKind::Syntax, decoder.getError(),
                             decoder.getErrorLine()));
      KernelInfo info = kernel.info;
      kernel = Kernel();
      kernel.info = std::move(info);
      kernel.info.unsupported = decoder.getError();
    }
    program.infos.push_back(kernel.info);
    program.kernels.push_back(std::move(kernel));
  }
  impl = std::move(fresh);
  return Status();
}

const std::vector<KernelInfo> &Module::getKernels() const {
  static const std::vector<KernelInfo> none;
  return impl ? impl->program.infos : none;
}

const KernelInfo *Module::findKernel(std::string_view name) const {
  for (const KernelInfo &info : getKernels())
    if (info.name == name)
      return &info;
  return nullptr;
}

const std::string &Module::getTarget() const {
  static const std::string none;
  return impl ? impl->program.syntax.target : none;
}
