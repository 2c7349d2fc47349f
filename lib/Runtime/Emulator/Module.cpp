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

#include "Decode/KernelDecoder.h"
#include "Parse/Parser.h"
#include "Support.h"

#include <atomic>
#include <utility>

using namespace fusionemu;

static constexpr size_t maxTextBytes = size_t(32) << 20;
/// Each takes mappings of the host, of which a process has some 65000.
static constexpr size_t maxVariables = 8192;

Module::Module() = default;
Module::~Module() = default;
Module::Module(Module &&) noexcept = default;
Module &Module::operator=(Module &&) noexcept = default;

static Status refuse(const VariableSyntax &v, const std::string &why) {
  return Status(ErrorKind::Syntax,
                "PTX line " + std::to_string(v.line) + ": variable '" +
                    std::string(v.name) + "' " + why,
                v.line);
}

/// Gathers the .global and .const variables and indexes the names of the
/// module.
static Status collectVariables(Program &program) {
  uint64_t total = 0;
  std::vector<VariableSyntax> &variables = program.syntax.variables;
  for (uint32_t i = 0; i < variables.size(); ++i) {
    VariableSyntax &v = variables[i];
    if (v.space == Space::Shared) {
      program.sharedIndex.emplace(v.name, i);
      continue;
    }
    if (v.isExtern)
      return refuse(v, "is defined in another module, which is not supported");
    if (program.variables.size() == maxVariables)
      return refuse(v, "is one too many: a module may have " +
                           std::to_string(maxVariables));
    if (!program.variableIndex
             .emplace(v.name, uint32_t(program.variables.size()))
             .second)
      return refuse(v, "is defined twice");
    total += v.size;
    if (total > (uint64_t(1) << 34))
      return refuse(v, "exceeds 16 GiB of variables");
    program.variables.push_back({std::string(v.name),
                                 v.space,
                                 v.size,
                                 v.align,
                                 v.elementSize,
                                 std::move(v.init),
                                 {}});
  }
  return Status();
}

static Status collectFunctions(Program &program) {
  const std::vector<FunctionSyntax> &functions = program.syntax.functions;
  for (uint32_t i = 0; i < functions.size(); ++i) {
    auto [known, isNew] = program.functionIndex.emplace(functions[i].name, i);
    if (isNew || !functions[i].hasBody)
      continue;
    if (functions[known->second].hasBody)
      return Status(
          ErrorKind::Syntax,
          "PTX line " + std::to_string(functions[i].line) +
              (functions[i].isKernel ? ": kernel '" : ": function '") +
              std::string(functions[i].name) + "' is defined twice",
          functions[i].line);
    // A definition counts more than a declaration.
    known->second = i;
  }
  for (const auto &[alias, name] : program.syntax.aliases) {
    auto function = program.functionIndex.find(name);
    if (function == program.functionIndex.end() ||
        !functions[function->second].hasBody)
      return Status(ErrorKind::Syntax, "alias '" + std::string(alias) +
                                           "' of '" + std::string(name) +
                                           "', which is not defined");
    program.functionIndex[alias] = function->second;
  }
  return Status();
}

/// Finds what the addresses in initial values belong to.
static Status resolveAddresses(Program &program) {
  size_t next = 0;
  for (const VariableSyntax &v : program.syntax.variables) {
    if (v.space == Space::Shared)
      continue;
    ModuleVariable &variable = program.variables[next++];
    for (const InitialAddress &a : v.initAddresses) {
      ModuleAddress address = {a.offset, a.size, a.shift, ~uint32_t(0),
                               a.addend};
      auto known = program.variableIndex.find(a.symbol);
      auto function = program.functionIndex.find(a.symbol);
      if (known != program.variableIndex.end())
        address.variable = known->second;
      else if (function != program.functionIndex.end())
        address.addend += functionWindow + uint64_t(function->second) * 16;
      else
        return Status(ErrorKind::Syntax,
                      "PTX line " + std::to_string(a.line) + ": '" +
                          std::string(a.symbol) +
                          "' is no variable in .global or .const memory and "
                          "no function",
                      a.line);
      variable.initAddresses.push_back(address);
    }
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
    return Status(s.getKind(), std::string(fileName) + ": " + getReason(s),
                  s.getLine());
  };
  if (Status s = Parser(program.syntax).run(); !s.ok())
    return inFile(s);
  if (Status s = collectVariables(program); !s.ok())
    return inFile(s);
  if (Status s = collectFunctions(program); !s.ok())
    return inFile(s);
  if (Status s = resolveAddresses(program); !s.ok())
    return inFile(s);
  size_t decoded = 0;
  for (const FunctionSyntax &function : program.syntax.functions) {
    if (!function.isKernel || !function.hasBody)
      continue;
    Kernel kernel;
    KernelDecoder decoder(program, function, kernel, decoded);
    if (!decoder.run()) {
      const DecodeErrors &errors = decoder.getErrors();
      if (!errors.isUnsupported())
        return inFile(Status(ErrorKind::Syntax, errors.getError(),
                             errors.getErrorLine()));
      KernelInfo info = kernel.info;
      kernel = Kernel();
      kernel.info = std::move(info);
      kernel.info.unsupported = errors.getError();
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
