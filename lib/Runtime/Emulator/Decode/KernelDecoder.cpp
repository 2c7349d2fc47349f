//===- KernelDecoder.cpp - Syntax to instructions -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the structure of decoding: parameters, bodies, branches
// and calls.
//
//===----------------------------------------------------------------------===//

#include "Decode/KernelDecoder.h"
#include "Support.h"

#include <algorithm>
#include <utility>

using namespace fusionemu;

static constexpr size_t maxInstructions = size_t(1) << 20;
static constexpr unsigned maxCallDepth = 16;

/// The decoders of all families.
static const DecodeTable &getDecoders() {
  static const DecodeTable decoders = [] {
    DecodeTable table;
    addIntegerDecoders(table);
    addRareDecoders(table);
    addFloatDecoders(table);
    addMemoryDecoders(table);
    addControlDecoders(table);
    addMatrixDecoders(table);
    addWgmmaDecoders(table);
    addAsyncDecoders(table);
    return table;
  }();
  return decoders;
}

KernelDecoder::KernelDecoder(const Program &program,
                             const FunctionSyntax &function, Kernel &kernel,
                             size_t &moduleDecoded)
    : program(program), function(function), kernel(kernel), errors(function),
      slots(kernel, errors), symbols(program, kernel, slots, errors),
      d(program, kernel, errors, slots, symbols, moduleDecoded) {}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

void KernelDecoder::describe() {
  kernel.info.name = std::string(function.name);
  kernel.info.reqntid = {function.reqntid[0], function.reqntid[1],
                         function.reqntid[2]};
  kernel.info.maxntid = {function.maxntid[0], function.maxntid[1],
                         function.maxntid[2]};
  const uint32_t (&cluster)[3] = function.reqnctapercluster;
  if (cluster[0] != 0)
    kernel.info.cluster = {cluster[0], std::max(cluster[1], 1u),
                           std::max(cluster[2], 1u)};
  if (uint64_t(cluster[0]) * kernel.info.cluster.y * kernel.info.cluster.z > 1)
    kernel.ownSharedBits = ownSharedBits;
  kernel.info.gridOfClusters = function.blocksAreClusters;
}

bool KernelDecoder::layOutParameters() {
  uint64_t offset = 0;
  for (const VariableSyntax &p : function.parameters) {
    offset = alignUp(offset, p.align);
    kernel.info.parameters.push_back(
        {std::string(p.name), uint32_t(p.size), p.align, uint32_t(offset)});
    if (!symbols.declareParameter(p, offset))
      return false;
    offset += p.size;
  }
  if (offset > 65536)
    return errors.failSyntax("the parameters are larger than 64 KiB");
  kernel.info.argumentBytes = uint32_t(offset);
  return true;
}

bool KernelDecoder::run() {
  describe();
  symbols.openParameters();
  if (!layOutParameters())
    return false;
  if (!function.unsupported.empty())
    return errors.failFunction(function.unsupported);
  // The sink is the first of all registers.
  slots.getSink();
  currentFunction = &function;
  if (!decodeBody(function))
    return false;
  errors.setInstruction(nullptr);
  return finish();
}

bool KernelDecoder::decodeBody(const FunctionSyntax &f) {
  if (!symbols.openScope(f, 0))
    return false;
  for (size_t i = 0; i < f.body.size(); ++i)
    if (!decodeItem(f, i))
      return false;
  symbols.closeScope();
  return true;
}

bool KernelDecoder::decodeItem(const FunctionSyntax &f, size_t number) {
  const BodyItem &item = f.body[number];
  if (item.kind != BodyItem::Kind::Instruction && !d.countDecoded(1))
    return false;
  switch (item.kind) {
  case BodyItem::Kind::OpenScope:
    return symbols.openScope(f, number + 1);
  case BodyItem::Kind::CloseScope:
    symbols.closeScope();
    return true;
  case BodyItem::Kind::Label:
    symbols.placeLabel(item.name);
    return true;
  case BodyItem::Kind::BranchTargets:
    return true;
  case BodyItem::Kind::Register:
    return symbols.declareRegister(f.registers[item.index]);
  case BodyItem::Kind::Variable:
    return symbols.declareVariable(f.variables[item.index]);
  case BodyItem::Kind::Instruction:
    return decodeInstruction(f.instructions[item.index]);
  }
  return false;
}

/// True for what decodes to a branch, or to the body of another function.
static bool isFlow(std::string_view name) {
  return name == "bra" || name == "brx" || name == "call" || name == "exit" ||
         name == "ret";
}

bool KernelDecoder::decodeInstruction(const InstructionSyntax &instruction) {
  Modifiers modifiers(instruction.modifiers);
  d.resume(instruction, modifiers);
  // Instructions of many operands take more memory than others.
  if (!d.countDecoded(1 + instruction.operands.size() / 8))
    return false;
  auto decoder = getDecoders().find(instruction.name);
  bool isKnown = decoder != getDecoders().end();
  if (!isKnown && !isFlow(instruction.name))
    return d.failInstruction();
  if (!d.begin(instruction, modifiers))
    return false;
  size_t firstCode = kernel.code.size();
  if (!(isKnown ? decoder->second(d) : decodeFlow(instruction.name)))
    return false;
  d.recordUses(firstCode);
  if (!modifiers.allTaken())
    return d.failInstruction();
  if (kernel.code.size() > maxInstructions)
    return d.failSyntax("the kernel has too many instructions");
  return !d.hasFailed();
}

bool KernelDecoder::finish() {
  // Running off the end of a kernel ends it.
  Instruction end;
  end.handler = exitLanes;
  end.counted = 0;
  kernel.code.push_back(end);
  kernel.infos.push_back(kernel.infos.empty() ? InstructionInfo()
                                              : kernel.infos.back());
  for (Instruction &I : kernel.code)
    if (I.handler == branch)
      I.target = symbols.getPlace(I.target);
    else if (I.handler == branchIndexed)
      for (uint32_t i = 0; i < I.aux; ++i) {
        int32_t &label = kernel.extraOperands[I.target + i];
        label = int32_t(symbols.getPlace(uint32_t(label)));
      }
  placeReconvergence(kernel);
  if (!slots.finish())
    return false;
  for (const BulkForm &form : kernel.bulkForms)
    kernel.overwritesShared |=
        !form.isPrefetch && form.direction != BulkForm::Direction::Store;
  if (!kernel.usesWgmma && !kernel.overwritesShared)
    kernel.registerUses = {};
  uint32_t counted = 0;
  for (const Instruction &I : kernel.code)
    counted += I.counted;
  kernel.info.instructions = counted;
  return true;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

bool KernelDecoder::decodeFlow(std::string_view name) {
  if (name == "bra")
    return decodeBra();
  if (name == "brx")
    return decodeBrx();
  if (name == "call")
    return decodeCall();
  return decodeExit(/*returns=*/name == "ret");
}

bool KernelDecoder::decodeBra() {
  d.getModifiers().take("uni");
  if (!d.needOperands(1, 1))
    return false;
  Instruction I = d.make(branch);
  I.target = symbols.findLabel(d.operand(0).name);
  if (I.target == noTarget || d.operand(0).kind != Operand::Kind::Name)
    return d.failSyntax("'" + std::string(d.operand(0).name) +
                        "' is not a label of this scope");
  return d.emit(I);
}

bool KernelDecoder::decodeBrx() {
  if (!d.getModifiers().take("idx"))
    return d.failInstruction();
  d.getModifiers().take("uni");
  if (!d.needOperands(2, 2))
    return false;
  Symbol *symbol = d.lookUp(d.operand(1).name);
  if (!symbol || symbol->kind != Symbol::Kind::Targets)
    return d.failSyntax("'" + std::string(d.operand(1).name) +
                        "' is no list of .branchtargets");
  const auto &targets = currentFunction->branchTargets[symbol->where];
  Instruction I = d.make(branchIndexed);
  if (!d.read(d.operand(0), Type::U32, I.a))
    return false;
  I.target = uint32_t(kernel.extraOperands.size());
  I.aux = uint32_t(targets.size());
  if (!d.countDecoded(targets.size()))
    return false;
  for (std::string_view name : targets) {
    uint32_t label = symbols.findLabel(name);
    kernel.extraOperands.push_back(int32_t(label));
    if (label == noTarget)
      return d.failSyntax("'" + std::string(name) +
                          "' is not a label of this scope");
  }
  return d.emit(I);
}

bool KernelDecoder::decodeExit(bool returns) {
  d.getModifiers().take("uni");
  if (!d.needOperands(0, 0))
    return false;
  if (!returns || returnLabel == noTarget)
    return d.emit(d.make(exitLanes));
  Instruction I = d.make(branch);
  I.target = returnLabel;
  return d.emit(I);
}

bool KernelDecoder::bind(const Operand &actual, const VariableSyntax &formal,
                         SymbolTable::Scope &parameters) {
  Symbol *symbol =
      actual.kind == Operand::Kind::Name ? d.lookUp(actual.name) : nullptr;
  if (!symbol || symbol->kind != Symbol::Kind::Variable ||
      symbol->space != Space::Local || formal.space != Space::Param)
    return d.failUnsupported("a call that passes anything but .param "
                             "variables is not supported");
  if (symbol->size < formal.size)
    return d.failSyntax("an argument is smaller than its parameter");
  parameters[formal.name] = *symbol;
  return true;
}

bool KernelDecoder::decodeCallee(const FunctionSyntax &callee,
                                 SymbolTable::Scope parameters) {
  const InstructionSyntax &call = d.getSyntax();
  Modifiers &modifiers = d.getModifiers();
  uint32_t after = symbols.addLabel();
  if (d.isGuarded()) {
    Instruction skip = d.make(branch);
    skip.guardXor = ~skip.guardXor;
    skip.target = after;
    skip.counted = 0;
    if (!d.emit(skip))
      return false;
  }
  uint32_t savedReturn = std::exchange(returnLabel, after);
  const FunctionSyntax *savedFunction = std::exchange(currentFunction, &callee);
  size_t entered = symbols.enterCall(std::move(parameters));
  bool fine = decodeBody(callee);
  symbols.leaveCall(entered);
  returnLabel = savedReturn;
  currentFunction = savedFunction;
  d.resume(call, modifiers);
  symbols.placeLabel(after);
  return fine;
}

/// A call becomes the body of what it calls: names are bound to the caller's
/// variables, `ret` is a branch behind the body.
bool KernelDecoder::decodeCall() {
  d.getModifiers().take("uni");
  const InstructionSyntax *call = &d.getSyntax();
  std::vector<const Operand *> results, arguments;
  size_t i = 0;
  auto isList = [&](size_t k) {
    return k < call->operands.size() &&
           call->operands[k].kind == Operand::Kind::List;
  };
  if (isList(i))
    for (const Operand &o : call->operands[i++].elements)
      results.push_back(&o);
  if (i >= call->operands.size() ||
      call->operands[i].kind != Operand::Kind::Name)
    return d.failSyntax("expected the name of a function");
  std::string_view name = call->operands[i++].name;
  if (isList(i))
    for (const Operand &o : call->operands[i++].elements)
      arguments.push_back(&o);
  if (i != call->operands.size())
    return d.failUnsupported("an indirect call is not supported");
  const FunctionSyntax *callee = nullptr;
  auto known = program.functionIndex.find(name);
  if (known != program.functionIndex.end())
    callee = &program.syntax.functions[known->second];
  if (!callee || callee->isKernel)
    return d.failUnsupported("a call of '" + std::string(name) +
                             "', which is no function of the module, is not "
                             "supported");
  if (!callee->hasBody)
    return decodeExternalCall(d, name, results, arguments);
  if (symbols.getCallDepth() >= maxCallDepth)
    return d.failUnsupported("calls nested more than " +
                             std::to_string(maxCallDepth) +
                             " deep, or recursive, are not supported");
  if (results.size() != callee->results.size() ||
      arguments.size() != callee->parameters.size())
    return d.failSyntax("the call does not match the parameters of '" +
                        std::string(name) + "'");
  SymbolTable::Scope parameters;
  for (size_t k = 0; k < results.size(); ++k)
    if (!bind(*results[k], callee->results[k], parameters))
      return false;
  for (size_t k = 0; k < arguments.size(); ++k)
    if (!bind(*arguments[k], callee->parameters[k], parameters))
      return false;
  return decodeCallee(*callee, std::move(parameters));
}
