//===- DecodeControl.cpp - Control flow and the warp ----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements the decoding of branches, calls, barriers and
// instructions that cross lanes, and the table of all instructions.
//
//===----------------------------------------------------------------------===//

#include "Async/Async.h"
#include "Decode/Decoder.h"

using namespace fusionemu;

static constexpr unsigned maxCallDepth = 16;

uint32_t Decoder::labelNumber(std::string_view name, bool &found) {
  Symbol *symbol = lookUp(name);
  found = symbol && symbol->kind == Symbol::Kind::Label;
  return found ? uint32_t(symbol->where) : 0;
}

bool Decoder::decodeBra() {
  modifiers->take("uni");
  if (!needOperands(1, 1))
    return false;
  bool found = false;
  Instruction I = make(branch);
  I.target = labelNumber(operand(0).name, found);
  if (!found || operand(0).kind != Operand::Kind::Name)
    return failSyntax("'" + std::string(operand(0).name) +
                      "' is not a label of this scope");
  return emit(I);
}

bool Decoder::decodeBrx() {
  if (!modifiers->take("idx"))
    return failInstruction();
  modifiers->take("uni");
  if (!needOperands(2, 2))
    return false;
  Symbol *symbol = lookUp(operand(1).name);
  if (!symbol || symbol->kind != Symbol::Kind::Targets)
    return failSyntax("'" + std::string(operand(1).name) +
                      "' is no list of .branchtargets");
  const auto &targets = currentFunction->branchTargets[symbol->where];
  Instruction I = make(branchIndexed);
  if (!read(operand(0), Type::U32, I.a))
    return false;
  I.target = uint32_t(kernel.extraOperands.size());
  I.aux = uint32_t(targets.size());
  if (!countDecoded(targets.size()))
    return false;
  for (std::string_view name : targets) {
    bool found = false;
    kernel.extraOperands.push_back(int32_t(labelNumber(name, found)));
    if (!found)
      return failSyntax("'" + std::string(name) +
                        "' is not a label of this scope");
  }
  return emit(I);
}

bool Decoder::decodeExit() {
  modifiers->take("uni");
  if (!needOperands(0, 0))
    return false;
  if (syntax->name == "ret" && returnLabel != noTarget) {
    Instruction I = make(branch);
    I.target = returnLabel;
    return emit(I);
  }
  return emit(make(exitLanes));
}

bool Decoder::decodeTrap() { return emit(make(trap)); }

bool Decoder::decodeNothing() {
  // What only suggests, sleeps or names a line has no effect here.
  modifiers->takeType();
  while (modifiers->takeOneOf({"wait", "launch_dependents"}) >= 0) {
  }
  return emit(make(handlers.special("nop")));
}

/// A call becomes the body of what it calls: names are bound to the caller's
/// variables, `ret` is a branch behind the body.
bool Decoder::decodeCall() {
  modifiers->take("uni");
  const InstructionSyntax *call = syntax;
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
    return failSyntax("expected the name of a function");
  std::string_view name = call->operands[i++].name;
  if (isList(i))
    for (const Operand &o : call->operands[i++].elements)
      arguments.push_back(&o);
  if (i != call->operands.size())
    return failUnsupported("an indirect call is not supported");
  const FunctionSyntax *callee = nullptr;
  auto known = program.functionIndex.find(name);
  if (known != program.functionIndex.end())
    callee = &program.syntax.functions[known->second];
  if (!callee || callee->isKernel)
    return failUnsupported("a call of '" + std::string(name) +
                           "', which is no function of the module, is not "
                           "supported");
  if (!callee->hasBody)
    return decodeExternalCall(name, results, arguments);
  if (callDepth >= maxCallDepth)
    return failUnsupported("calls nested more than " +
                           std::to_string(maxCallDepth) +
                           " deep, or recursive, are not supported");
  if (results.size() != callee->results.size() ||
      arguments.size() != callee->parameters.size())
    return failSyntax("the call does not match the parameters of '" +
                      std::string(name) + "'");

  std::map<std::string_view, Symbol> bound;
  auto bind = [&](const Operand &actual, const VariableSyntax &formal) {
    Symbol *symbol =
        actual.kind == Operand::Kind::Name ? lookUp(actual.name) : nullptr;
    if (!symbol || symbol->kind != Symbol::Kind::Variable ||
        symbol->space != Space::Local || formal.space != Space::Param)
      return failUnsupported("a call that passes anything but .param "
                             "variables is not supported");
    if (symbol->size < formal.size)
      return failSyntax("an argument is smaller than its parameter");
    bound[formal.name] = *symbol;
    return true;
  };
  for (size_t k = 0; k < results.size(); ++k)
    if (!bind(*results[k], callee->results[k]))
      return false;
  for (size_t k = 0; k < arguments.size(); ++k)
    if (!bind(*arguments[k], callee->parameters[k]))
      return false;

  uint32_t after = uint32_t(labelPlaces.size());
  labelPlaces.push_back(noTarget);
  if (guard != truePredicate || guardXor != 0) {
    Instruction skip = make(branch);
    skip.guardXor = ~guardXor;
    skip.target = after;
    skip.counted = 0;
    if (!emit(skip))
      return false;
  }
  size_t savedVisible = firstVisibleScope;
  uint32_t savedReturn = returnLabel;
  const FunctionSyntax *savedFunction = currentFunction;
  Modifiers *savedModifiers = modifiers;
  firstVisibleScope = scopes.size();
  scopes.push_back(std::move(bound));
  returnLabel = after;
  currentFunction = callee;
  ++callDepth;
  bool fine = decodeBody(*callee);
  --callDepth;
  scopes.resize(firstVisibleScope);
  firstVisibleScope = savedVisible;
  returnLabel = savedReturn;
  currentFunction = savedFunction;
  modifiers = savedModifiers;
  syntax = call;
  labelPlaces[after] = uint32_t(kernel.code.size());
  return fine;
}

bool Decoder::decodeBarrier() {
  // bar is barrier.aligned by definition.
  bool isBar = syntax->name == "bar";
  if (modifiers->take("warp")) {
    if (!modifiers->take("sync"))
      return failInstruction();
    Instruction I = make(warpBarrier);
    if (!needOperands(1, 1) || !read(operand(0), Type::U32, I.a))
      return false;
    return emit(I);
  }
  if (modifiers->take("cluster"))
    return decodeClusterBarrier();
  modifiers->take("cta");
  int kind = modifiers->takeOneOf({"sync", "arrive", "red"});
  if (kind < 0)
    return failInstruction();
  bool aligned = modifiers->take("aligned") || isBar;
  Instruction I = make(blockBarrier);
  I.aux = aligned ? barrierAligned : 0;
  I.b = -1;
  size_t next = 0;
  if (kind == 2) {
    int op = modifiers->takeOneOf({"popc", "and", "or"});
    Type type = modifiers->takeType();
    if (op < 0 || type != (op == 0 ? Type::U32 : Type::Pred))
      return failInstruction();
    I.aux |= barrierReduce | (op == 0   ? barrierPopc
                              : op == 1 ? barrierAnd
                                        : barrierOr);
    if (!needOperands(3, 4))
      return false;
    bool negated = false;
    const Operand &last = operand(syntax->operands.size() - 1);
    if (!readPredicate(last, I.c, negated))
      return false;
    if (negated)
      I.aux |= barrierNegate;
    // The result is written when the barrier opens, by the waiting
    // instruction's own description, so that it cannot be resized.
    Symbol *symbol = registerOf(operand(0));
    if (!symbol || symbol->isPredicate != (op != 0) ||
        (op == 0 && symbol->bytes != 4))
      return failSyntax("the destination does not fit");
    I.dst = int32_t(symbol->where);
    next = 1;
    if (!read(operand(1), Type::U32, I.a) ||
        (syntax->operands.size() == 4 && !read(operand(2), Type::U32, I.b)))
      return false;
    return emit(I);
  }
  if (!needOperands(1, 2) || !read(operand(next), Type::U32, I.a) ||
      (syntax->operands.size() == 2 && !read(operand(1), Type::U32, I.b)))
    return false;
  if (kind == 1) {
    I.aux |= barrierArrive;
    if (syntax->operands.size() != 2)
      return failSyntax("an arrive needs the number of threads");
  }
  return emit(I);
}

bool Decoder::decodeFence() {
  if (syntax->name == "membar") {
    int level = modifiers->takeOneOf({"cta", "gl", "sys"});
    if (level < 0)
      return failInstruction();
    kernel.ordersBlocks |= level > 0;
    Instruction I = make(fenceProxy);
    I.aux = fenceBlockScope | (level > 0 ? fenceClusterScope : 0);
    return emit(I);
  }
  if (modifiers->take("proxy") || modifiers->has("mbarrier_init"))
    return decodeProxyFence();
  modifiers->takeOneOf({"sc", "acq_rel", "acquire", "release"});
  int scope = modifiers->takeOneOf({"cta", "cluster", "gpu", "sys"});
  if (scope < 0)
    return failInstruction();
  kernel.ordersBlocks |= scope > 1;
  Instruction I = make(fenceProxy);
  I.aux = fenceBlockScope | (scope > 0 ? fenceClusterScope : 0);
  return emit(I);
}

bool Decoder::decodeShfl() {
  if (!modifiers->take("sync"))
    return failUnsupported("shfl without .sync is not supported");
  int mode = modifiers->takeOneOf({"up", "down", "bfly", "idx"});
  Type type = modifiers->takeType();
  static const char *const names[] = {"shfl.up", "shfl.down", "shfl.bfly",
                                      "shfl.idx"};
  if (mode < 0 || type != Type::U32)
    return failInstruction();
  if (!needOperands(5, 5))
    return false;
  Instruction I = make(handlers.special(names[mode]));
  int32_t predicate = int32_t(sinkPredicate);
  if (!read(operand(1), type, I.a) || !read(operand(2), type, I.b) ||
      !read(operand(3), type, I.c) || !read(operand(4), type, I.d) ||
      !write(operand(0), type, I.dst) ||
      (!operand(0).second.empty() &&
       !writePredicate(operand(0).second[0], predicate)))
    return false;
  I.aux = uint32_t(predicate);
  return emitAll(I);
}

bool Decoder::decodeVote() {
  if (!modifiers->take("sync"))
    return failUnsupported("vote without .sync is not supported");
  int mode = modifiers->takeOneOf({"all", "any", "uni", "ballot"});
  Type type = modifiers->takeType();
  static const char *const names[] = {"vote.all", "vote.any", "vote.uni",
                                      "vote.ballot"};
  if (mode < 0 || type != (mode == 3 ? Type::U32 : Type::Pred))
    return failInstruction();
  if (!needOperands(3, 3))
    return false;
  Instruction I = make(handlers.special(names[mode]));
  bool negated = false;
  if (!readPredicate(operand(1), I.a, negated) ||
      !read(operand(2), Type::U32, I.d) ||
      !(mode == 3 ? write(operand(0), type, I.dst)
                  : writePredicate(operand(0), I.dst)))
    return false;
  I.aux = negated ? 1 : 0;
  return emitAll(I);
}

bool Decoder::decodeMatch() {
  int mode = modifiers->takeOneOf({"any", "all"});
  bool sync = modifiers->take("sync");
  Type type = modifiers->takeType();
  if (mode < 0 || !sync || (type != Type::U32 && type != Type::U64))
    return failInstruction();
  if (!needOperands(3, 3))
    return false;
  std::string name = std::string("match.") + (mode == 0 ? "any" : "all") +
                     (type == Type::U32 ? ".b32" : ".b64");
  Instruction I = make(handlers.special(name));
  int32_t predicate = int32_t(sinkPredicate);
  if (!read(operand(1), type, I.a) || !read(operand(2), Type::U32, I.d) ||
      !write(operand(0), Type::U32, I.dst) ||
      (!operand(0).second.empty() &&
       !writePredicate(operand(0).second[0], predicate)))
    return false;
  I.aux = uint32_t(predicate);
  return emitAll(I);
}

bool Decoder::decodeRedux() {
  bool sync = modifiers->take("sync");
  int op = modifiers->takeOneOf({"add", "min", "max", "and", "or", "xor"});
  static const char *const ops[] = {"add", "min", "max", "and", "or", "xor"};
  Type type = modifiers->takeType();
  bool isFloat = type == Type::F32 && (op == 1 || op == 2);
  if (!sync || op < 0 || (type != Type::U32 && type != Type::S32 && !isFloat))
    return failInstruction();
  uint32_t aux = 0;
  if (isFloat)
    aux = (modifiers->take("abs") ? 1 : 0) | (modifiers->take("NaN") ? 2 : 0);
  if (!needOperands(3, 3))
    return false;
  const char *suffix = op >= 3             ? ".b32"
                       : isFloat           ? ".f32"
                       : type == Type::S32 ? ".s32"
                                           : ".u32";
  Instruction I =
      make(handlers.special(std::string("redux.") + ops[op] + suffix));
  I.aux = aux;
  if (!read(operand(1), type, I.a) || !read(operand(2), Type::U32, I.d) ||
      !write(operand(0), type, I.dst))
    return false;
  return emitAll(I);
}

bool Decoder::decodeActivemask() {
  Type type = modifiers->takeType();
  Instruction I = make(handlers.special("activemask"));
  if (type != Type::U32)
    return failInstruction();
  if (!needOperands(1, 1) || !write(operand(0), type, I.dst))
    return false;
  return emitAll(I);
}

bool Decoder::decodeElect() {
  if (!modifiers->take("sync"))
    return failInstruction();
  if (!needOperands(2, 2))
    return false;
  Instruction I = make(handlers.special("elect"));
  int32_t predicate = int32_t(sinkPredicate);
  if (!read(operand(1), Type::U32, I.d) ||
      !write(operand(0), Type::U32, I.dst) ||
      (!operand(0).second.empty() &&
       !writePredicate(operand(0).second[0], predicate)))
    return false;
  I.aux = uint32_t(predicate);
  return emitAll(I);
}

const std::unordered_map<std::string_view, Decoder::Method> &
Decoder::getMethods() {
  static const std::unordered_map<std::string_view, Method> methods = {
      {"abs", &Decoder::decodeUnary},
      {"activemask", &Decoder::decodeActivemask},
      {"add", &Decoder::decodeAddSub},
      {"and", &Decoder::decodeLogic},
      {"applypriority", &Decoder::decodePrefetch},
      {"atom", &Decoder::decodeAtomic},
      {"bar", &Decoder::decodeBarrier},
      {"barrier", &Decoder::decodeBarrier},
      {"bfe", &Decoder::decodeBitField},
      {"bfi", &Decoder::decodeBitField},
      {"bfind", &Decoder::decodeBits},
      {"bmsk", &Decoder::decodeBmsk},
      {"bra", &Decoder::decodeBra},
      {"brev", &Decoder::decodeBits},
      {"brx", &Decoder::decodeBrx},
      {"call", &Decoder::decodeCall},
      {"clz", &Decoder::decodeBits},
      {"cnot", &Decoder::decodeUnary},
      {"copysign", &Decoder::decodeCopysign},
      {"cos", &Decoder::decodeFunction},
      {"cp", &Decoder::decodeCp},
      {"createpolicy", &Decoder::decodeCreatePolicy},
      {"cvt", &Decoder::decodeCvt},
      {"cvta", &Decoder::decodeCvta},
      {"discard", &Decoder::decodePrefetch},
      {"div", &Decoder::decodeDiv},
      {"dp2a", &Decoder::decodeDot},
      {"dp4a", &Decoder::decodeDot},
      {"elect", &Decoder::decodeElect},
      {"ex2", &Decoder::decodeFunction},
      {"exit", &Decoder::decodeExit},
      {"fence", &Decoder::decodeFence},
      {"fma", &Decoder::decodeFma},
      {"fns", &Decoder::decodeFns},
      {"getctarank", &Decoder::decodeGetctarank},
      {"griddepcontrol", &Decoder::decodeNothing},
      {"isspacep", &Decoder::decodeIsspacep},
      {"ld", &Decoder::decodeLoad},
      {"ldmatrix", &Decoder::decodeMatrixMove},
      {"ldu", &Decoder::decodeLoad},
      {"lg2", &Decoder::decodeFunction},
      {"lop3", &Decoder::decodeLop3},
      {"mad", &Decoder::decodeMad},
      {"mad24", &Decoder::decodeMul24},
      {"madc", &Decoder::decodeMad},
      {"mapa", &Decoder::decodeMapa},
      {"match", &Decoder::decodeMatch},
      {"max", &Decoder::decodeMinMax},
      {"mbarrier", &Decoder::decodeMBarrier},
      {"membar", &Decoder::decodeFence},
      {"min", &Decoder::decodeMinMax},
      {"mma", &Decoder::decodeMma},
      {"mov", &Decoder::decodeMov},
      {"movmatrix", &Decoder::decodeMatrixMove},
      {"mul", &Decoder::decodeMul},
      {"mul24", &Decoder::decodeMul24},
      {"nanosleep", &Decoder::decodeNothing},
      {"neg", &Decoder::decodeUnary},
      {"not", &Decoder::decodeLogic},
      {"or", &Decoder::decodeLogic},
      {"pmevent", &Decoder::decodeNothing},
      {"popc", &Decoder::decodeBits},
      {"prefetch", &Decoder::decodePrefetch},
      {"prefetchu", &Decoder::decodePrefetch},
      {"prmt", &Decoder::decodePrmt},
      {"rcp", &Decoder::decodeFunction},
      {"red", &Decoder::decodeAtomic},
      {"redux", &Decoder::decodeRedux},
      {"rem", &Decoder::decodeRem},
      {"ret", &Decoder::decodeExit},
      {"rsqrt", &Decoder::decodeFunction},
      {"sad", &Decoder::decodeSad},
      {"selp", &Decoder::decodeSelp},
      {"set", &Decoder::decodeSet},
      {"setmaxnreg", &Decoder::decodeSetmaxnreg},
      {"setp", &Decoder::decodeSetp},
      {"shf", &Decoder::decodeShf},
      {"shfl", &Decoder::decodeShfl},
      {"shl", &Decoder::decodeShift},
      {"shr", &Decoder::decodeShift},
      {"sin", &Decoder::decodeFunction},
      {"slct", &Decoder::decodeSlct},
      {"sqrt", &Decoder::decodeFunction},
      {"st", &Decoder::decodeStore},
      {"stmatrix", &Decoder::decodeMatrixMove},
      {"sub", &Decoder::decodeAddSub},
      {"szext", &Decoder::decodeBmsk},
      {"tanh", &Decoder::decodeFunction},
      {"testp", &Decoder::decodeTestp},
      {"trap", &Decoder::decodeTrap},
      {"vabsdiff2", &Decoder::decodeVideo},
      {"vabsdiff4", &Decoder::decodeVideo},
      {"vadd2", &Decoder::decodeVideo},
      {"vadd4", &Decoder::decodeVideo},
      {"vmax2", &Decoder::decodeVideo},
      {"vmax4", &Decoder::decodeVideo},
      {"vmin2", &Decoder::decodeVideo},
      {"vmin4", &Decoder::decodeVideo},
      {"vote", &Decoder::decodeVote},
      {"vsub2", &Decoder::decodeVideo},
      {"vsub4", &Decoder::decodeVideo},
      {"wgmma", &Decoder::decodeWgmma},
      {"xor", &Decoder::decodeLogic},
      // The carry forms.
      {"addc", &Decoder::decodeAddSub},
      {"subc", &Decoder::decodeAddSub},
  };
  return methods;
}
