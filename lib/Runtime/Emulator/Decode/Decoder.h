//===- Decoder.h - Syntax to instructions -----------------------*- C++ -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the decoder: names become slots of a register file,
// modifiers become a choice of handler, calls become copies of the body.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_LIB_RUNTIME_EMULATOR_DECODER_H
#define FUSION_LIB_RUNTIME_EMULATOR_DECODER_H

#include "Machine/Context.h"
#include "Operations.h"

#include <map>
#include <unordered_map>

namespace fusionemu {

/// What a name means in a scope of a function.
struct Symbol {
  enum class Kind : uint8_t { Register, Range, Variable, Label, Targets };
  Kind kind = Kind::Register;
  bool isPredicate = false;
  uint8_t bytes = 0; ///< Of a register.
  /// A register's slot or predicate; a variable's offset in its space, or its
  /// index in Program::variables; a label's number.
  int64_t where = 0;
  uint32_t count = 0; ///< Of a range.
  Space space = Space::None;
  uint64_t size = 0; ///< Of a variable.
};

/// The modifiers of one instruction. Each must be taken by who understands it,
/// so that nothing that matters is ever ignored.
class Modifiers {
public:
  explicit Modifiers(const std::vector<std::string_view> &list)
      : list(list), used(list.size(), false) {}
  bool take(std::string_view name);
  /// Takes the first that is in `names`; its index, or -1.
  int takeOneOf(std::initializer_list<std::string_view> names);
  /// Takes all that start with `prefix`; true if there were any.
  bool takePrefix(std::string_view prefix);
  /// Takes the next type in order, or None.
  Type takeType();
  /// Takes the next in order that names the type of a matrix, or None.
  MatrixType takeMatrixType();
  /// Takes .m16n8k16 and the like.
  bool takeMatrixShape(unsigned &m, unsigned &n, unsigned &k);
  /// Takes .rn, .rz, .rm, .rp; true if there was one.
  bool takeRound(Round &round);
  bool has(std::string_view name) const;
  bool allTaken() const;

private:
  const std::vector<std::string_view> &list;
  std::vector<bool> used;
};

/// A load to registers or a store of registers.
struct RegisterAccess {
  Instruction I;
  Space space = Space::None;
  Type type = Type::None;
  std::vector<const Operand *> parts; ///< Its registers.
  unsigned registerBytes = 0;         ///< Of each of them.
};

/// Turns one kernel's syntax into a Kernel.
class Decoder {
public:
  /// `moduleDecoded` counts what the kernels of one module were decoded to.
  Decoder(const Program &program, const FunctionSyntax &function,
          Kernel &kernel, size_t &moduleDecoded);
  /// False on error: see getError() and isUnsupported().
  bool run();
  /// "PTX line 12: ...".
  const std::string &getError() const { return error; }
  unsigned getErrorLine() const { return errorLine; }
  /// The error is about something valid that is not implemented.
  bool isUnsupported() const { return unsupportedError; }

private:
  using Method = bool (Decoder::*)();
  static const std::unordered_map<std::string_view, Method> &getMethods();

  // Errors. Each returns false.
  bool failSyntax(std::string reason);
  bool failUnsupported(std::string reason);
  bool failInstruction();

  // Structure, in Decoder.cpp.
  bool decodeBody(const FunctionSyntax &f);
  bool openScope(const FunctionSyntax &f, size_t firstItem);
  bool declareRegister(const RegisterSyntax &reg);
  bool declareVariable(const VariableSyntax &variable);
  bool placeShared(const VariableSyntax &variable, Symbol &symbol);
  bool decodeInstruction(const InstructionSyntax &instruction);
  /// Counts work; false when a kernel or the module asks for too much.
  bool countDecoded(size_t steps);
  bool layOutParameters();
  bool finish();

  // Control flow graph, in ControlFlow.cpp.
  void placeReconvergence();

  // Operands, in Operands.cpp.
  Symbol *lookUp(std::string_view name);
  bool needOperands(size_t least, size_t most);
  const Operand &operand(size_t i) const { return syntax->operands[i]; }
  int32_t allocateRegister(unsigned bytes);
  int32_t constantSlot(unsigned bytes, uint64_t low, uint64_t high = 0);
  int32_t addressSlot(uint32_t variable, unsigned bytes, uint64_t addend);
  /// A slot with the offset of the dynamic shared memory, plus `addend`.
  int32_t dynamicSharedSlot(unsigned bytes, uint64_t addend);
  bool specialSlot(std::string_view name, unsigned &bytes, int32_t &slot);
  /// A slot with the value of an operand, `getSize(type)` bytes wide.
  bool read(const Operand &operand, Type type, int32_t &slot);
  bool readSized(const Operand &operand, unsigned bytes, bool isSigned,
                 bool isFloat, int32_t &slot);
  /// A slot to write; a register of another size is filled afterwards.
  bool write(const Operand &operand, Type type, int32_t &slot);
  bool writeSized(const Operand &operand, unsigned bytes, bool isSigned,
                  int32_t &slot);
  /// Replaces `slot` by one with its value in `to` bytes instead of `from`,
  /// computed before this instruction, whatever its guard.
  bool resizeSlot(int32_t &slot, unsigned from, unsigned to, bool isSigned);
  /// Appends slots to Kernel::extraOperands; the index of the first.
  uint32_t keepSlots(const std::vector<int32_t> &slots);
  /// The elements of {a, b, ...}, or the operand itself.
  static std::vector<const Operand *> partsOf(const Operand &operand);
  bool readPredicate(const Operand &operand, int32_t &predicate, bool &negated);
  bool writePredicate(const Operand &operand, int32_t &predicate);
  bool readImmediate(const Operand &operand, uint64_t &value);
  /// The register operand `operand`, or null: its symbol.
  Symbol *registerOf(const Operand &operand);
  bool resolveAddress(const Operand &operand, Instruction &I, Space space);

  // Emission.
  Instruction make(Handler handler);
  bool emit(const Instruction &I);
  bool emitAll(const Instruction &I);
  void recordUses(size_t firstCode);
  /// Decodes handler(dst, a[, b[, c]]) with one type for all operands.
  bool emitSimple(Handler handler, Type type, unsigned sources,
                  uint32_t aux = 0);

  // Families: DecodeInteger.cpp.
  bool decodeAddSub();
  bool decodeMul();
  bool decodeMad();
  bool decodeMul24();
  bool decodeDiv();
  bool decodeRem();
  bool decodeUnary();
  bool decodeMinMax();
  bool decodeLogic();
  bool decodeShift();
  bool decodeBits();
  bool decodeBitField();
  bool decodePrmt();
  bool decodeShf();
  bool decodeLop3();
  bool decodeSad();
  bool decodeDot();
  bool decodeBmsk();
  bool decodeCarry(Op op, bool isMad);
  // DecodeRare.cpp.
  bool decodeFns();
  bool decodeMadSaturated();
  bool decodeCvtPack();
  bool decodeVideo();
  bool decodeCreatePolicy();
  // DecodeFloat.cpp.
  bool decodeFloatBinary(Op op, Type type);
  bool decodeFma();
  bool decodeFunction();
  bool decodeCopysign();
  bool decodeTestp();
  bool decodeSetp();
  bool decodeSet();
  bool decodeSelp();
  bool decodeSlct();
  bool decodeCvt();
  // DecodeMemory.cpp.
  bool decodeMov();
  bool decodeLoad();
  bool decodeStore();
  bool decodeAtomic();
  bool decodeCvta();
  bool decodeIsspacep();
  bool decodePrefetch();
  void noteReduction(Op op, Type type, bool dropped);
  bool finishAccess(Instruction &I, Type type, unsigned count);
  bool beginAccess(RegisterAccess &access, size_t data);
  bool endAccess(RegisterAccess &access, const std::vector<int32_t> &slots);
  bool finishVectorAtomic(Instruction &I, Type type, unsigned count,
                          bool isReduction);
  // DecodeControl.cpp.
  bool decodeBra();
  bool decodeBrx();
  bool decodeExit();
  bool decodeTrap();
  bool decodeCall();
  bool decodeExternalCall(std::string_view name,
                          const std::vector<const Operand *> &results,
                          const std::vector<const Operand *> &arguments);
  bool decodeBarrier();
  bool decodeFence();
  bool decodeNothing();
  bool decodeShfl();
  bool decodeVote();
  bool decodeMatch();
  bool decodeRedux();
  bool decodeActivemask();
  bool decodeElect();
  // DecodeMatrix.cpp and DecodeWgmma.cpp.
  bool decodeMatrixMove();
  bool decodeMma();
  bool decodeWgmma();
  bool decodeWgmmaMultiply();
  /// Reads or writes `count` registers {a, b, ...} and appends their slots to
  /// extraOperands, from `first`.
  bool takeMatrixRegisters(const Operand &operand, unsigned count,
                           unsigned bytes, bool writes, uint32_t &first);
  // DecodeAsync.cpp and DecodeBulk.cpp.
  bool decodeMBarrier();
  bool decodeMBarrierInit(bool isInit);
  bool decodeMBarrierArrive(bool isDrop, bool expects);
  bool decodeMBarrierWait(bool isTry);
  bool decodeCp();
  bool decodeThreadCopy();
  bool decodeProxyFence();
  bool decodeClusterBarrier();
  bool decodeMapa();
  bool decodeStoreAsync(bool reduces);
  bool decodeGetctarank();
  bool decodeSetmaxnreg();
  bool decodeBulk(bool reduces);
  bool decodeBulkPlain(BulkForm form);
  bool decodeBulkTensor(BulkForm form);
  bool takeBulkSpaces(BulkForm &form);
  bool takeBulkReduction(BulkForm &form);
  bool finishBulk(const BulkForm &form, std::vector<int32_t> slots,
                  size_t next);
  bool readTensorOperand(const Operand &operand, const BulkForm &form,
                         std::vector<int32_t> &slots, size_t at);
  bool readIm2colOffsets(const BulkForm &form, std::vector<int32_t> &slots,
                         size_t &next);
  bool readGroupCount(const Operand &operand, uint32_t &count);
  /// A slot of 64 bits with the address [...], computed before this
  /// instruction.
  bool readAddress(const Operand &operand, Space space, int32_t &slot);
  bool readPlainAddress(const Operand &operand, Type type, Space space,
                        int32_t &slot);
  Space takeSharedSpace();
  uint32_t labelNumber(std::string_view name, bool &found);
  bool takeConditions(Modifiers &m, Compare &op, BoolOp &boolOp);
  uint32_t halfAux(FloatMode mode) const;
  /// The second type of arithmetic on f32 whose factors are f16 or bf16.
  Type takeNarrowType(Type type);
  /// Decodes handler(dst, a[, b], c) with `count` operands of the narrow type,
  /// which are widened first, and c of f32.
  bool emitMixed(Handler handler, Type narrow, unsigned count, uint32_t aux);

  const Program &program;
  const FunctionSyntax &function;
  Kernel &kernel;
  const HandlerTable &handlers;

  std::vector<std::map<std::string_view, Symbol>> scopes;
  /// scopes below this one are invisible, in a function called from here.
  size_t firstVisibleScope = 0;
  std::vector<uint32_t> labelPlaces;
  /// Where `ret` goes, in a called function; noTarget in the kernel.
  uint32_t returnLabel = noTarget;
  unsigned callDepth = 0;
  const FunctionSyntax *currentFunction = nullptr;

  const InstructionSyntax *syntax = nullptr;
  Modifiers *modifiers = nullptr;
  uint32_t guard = truePredicate, guardXor = 0;
  std::vector<Instruction> pending;
  /// Registers that the instruction has named so far.
  std::vector<RegisterUse> uses;

  std::map<std::pair<unsigned, std::pair<uint64_t, uint64_t>>, int32_t>
      constants;
  std::map<std::string_view, std::pair<unsigned, int32_t>> specials;
  /// Shared variables of the module that were named, once placed.
  std::map<std::string_view, Symbol> moduleShared;
  /// The slots of addresses, so that decoding stays linear in the text.
  std::map<std::pair<uint32_t, std::pair<unsigned, uint64_t>>, int32_t>
      addressSlots;
  /// Steps of bodies decoded, those of called functions each time.
  size_t decoded = 0;
  size_t &moduleDecoded;
  /// Constants that wait for the offset of the dynamic shared memory; `low`
  /// is what to add to it.
  std::vector<Constant> dynamicShared;
  uint32_t constantBytes = 0;
  uint32_t sharedEnd = 0, sharedAlign = 1;
  uint64_t localEnd = 0;
  /// The last reduction into global memory, see noteReduction(); 0 for none.
  uint32_t globalReduction = 0;
  int32_t sinkSlot = -1;

  std::string error;
  unsigned errorLine = 0;
  bool unsupportedError = false;
};

/// Marks a slot of the constant part of the register file until its place is
/// known.
constexpr int32_t constantFlag = int32_t(1) << 30;

} // namespace fusionemu

#endif // FUSION_LIB_RUNTIME_EMULATOR_DECODER_H
