//===- PackageWriter.cpp - Package content to bytes -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements writing a package. The same model gives the same bytes.
//
//===----------------------------------------------------------------------===//

#include "PackageLayout.h"
#include "Package_generated.h"
#include "fusion/Executable/Package.h"

#include <cstring>

namespace fusionpkg {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

/// Builds a vector of tables, one call of `make` per element of `items`.
template <typename T, typename Item, typename Fn>
static Offset<flatbuffers::Vector<Offset<T>>>
makeTables(FlatBufferBuilder &b, const std::vector<Item> &items, Fn make) {
  std::vector<Offset<T>> offsets;
  offsets.reserve(items.size());
  for (const Item &item : items)
    offsets.push_back(make(item));
  return b.CreateVector(offsets);
}

/// Builds a vector of structs; every padding byte is zero because FlatBuffers
/// clears the struct in its constructor.
template <typename T, typename Item, typename Fn>
static Offset<flatbuffers::Vector<const T *>>
makeStructs(FlatBufferBuilder &b, const std::vector<Item> &items, Fn make) {
  std::vector<T> structs;
  structs.reserve(items.size());
  for (const Item &item : items)
    structs.push_back(make(item));
  return b.CreateVectorOfStructs(structs);
}

static Offset<fb::Module> writeModule(FlatBufferBuilder &b, const Module &m) {
  auto ptx = b.CreateString(m.ptx);
  auto cubin = b.CreateVector(m.cubin);
  return fb::CreateModule(b, ptx, cubin, m.minDriverVersion);
}

static Offset<fb::Kernel> writeKernel(FlatBufferBuilder &b, const Kernel &k) {
  auto name = b.CreateString(k.name);
  auto source = b.CreateString(k.source);
  return fb::CreateKernel(
      b, name, k.module, k.blockX, k.staticSharedBytes, k.dynamicSharedBytes,
      k.predicted.registers, k.predicted.spillBytes, k.predicted.sharedBytes,
      k.measured.registers, k.measured.spillBytes, k.measured.sharedBytes,
      k.predictedMicroseconds, source, k.clusterX, k.together);
}

static Offset<fb::Tensor> writeTensor(FlatBufferBuilder &b,
                                      const TensorSpec &t) {
  auto name = b.CreateString(t.name);
  auto dims = b.CreateVector(t.dims);
  return fb::CreateTensor(b, name, static_cast<uint8_t>(t.dtype), dims,
                          t.byValue, t.overwrites.value_or(kNoExpr));
}

static Offset<fb::Step> writeStep(FlatBufferBuilder &b, const Step &step) {
  auto variants =
      makeStructs<fb::Variant>(b, step.variants, [](const LaunchVariant &v) {
        return fb::Variant(v.guard, v.kernel, v.gridX, v.gridY, v.gridZ,
                           v.sharedBytes);
      });
  auto args = makeStructs<fb::Arg>(b, step.args, [](const Arg &a) {
    return fb::Arg(a.number, a.index, a.expr, static_cast<uint8_t>(a.kind));
  });
  return fb::CreateStep(b, static_cast<uint8_t>(step.kind), variants, args,
                        step.dst, step.src, step.dstOffset, step.srcOffset,
                        step.bytes, step.fillWidth, step.fillBits);
}

static Offset<fb::TensorMap> writeTensorMap(FlatBufferBuilder &b,
                                            const TensorMap &m) {
  auto sizes = b.CreateVector(m.sizes);
  auto strides = b.CreateVector(m.strides);
  auto elementStrides = b.CreateVector(m.elementStrides);
  auto box = b.CreateVector(m.box);
  auto lower = b.CreateVector(m.lowerCorner);
  auto upper = b.CreateVector(m.upperCorner);
  return fb::CreateTensorMap(
      b, static_cast<uint8_t>(m.kind), static_cast<uint8_t>(m.dtype),
      static_cast<uint8_t>(m.swizzle), m.tf32, m.buffer, m.offset, sizes,
      strides, elementStrides, box, lower, upper, m.channelsPerPixel,
      m.pixelsPerColumn);
}

static Offset<fb::Entry> writeEntry(FlatBufferBuilder &b, const Entry &entry) {
  auto name = b.CreateString(entry.name);
  auto symbols = makeTables<fb::Symbol>(b, entry.symbols, [&](const Symbol &s) {
    auto symbolName = b.CreateString(s.name);
    return fb::CreateSymbol(b, symbolName, s.input, s.dim);
  });
  auto exprs =
      makeStructs<fb::Expr>(b, entry.exprs.getNodes(), [](const ExprNode &n) {
        return fb::Expr(n.value, n.lhs, n.rhs, static_cast<uint8_t>(n.op));
      });
  auto tensor = [&](const TensorSpec &t) { return writeTensor(b, t); };
  auto inputs = makeTables<fb::Tensor>(b, entry.inputs, tensor);
  auto outputs = makeTables<fb::Tensor>(b, entry.outputs, tensor);
  auto requirements = makeTables<fb::Requirement>(
      b, entry.requirements, [&](const Requirement &r) {
        auto message = b.CreateString(r.message);
        return fb::CreateRequirement(b, r.condition, message);
      });
  auto buffers =
      makeTables<fb::Buffer>(b, entry.buffers, [&](const Buffer &buffer) {
        auto bufferName = b.CreateString(buffer.name);
        return fb::CreateBuffer(b, static_cast<uint8_t>(buffer.kind),
                                buffer.index, buffer.bytes, bufferName);
      });
  auto steps = makeTables<fb::Step>(
      b, entry.steps, [&](const Step &s) { return writeStep(b, s); });
  const Summary &s = entry.summary;
  auto summary =
      fb::CreateSummary(b, s.kernelsBefore, s.kernelsAfter, s.bytesBefore,
                        s.bytesAfter, s.flops, s.predictedMicroseconds);
  // Left out when empty, so that packages without maps stay as they were.
  Offset<flatbuffers::Vector<Offset<fb::TensorMap>>> maps;
  if (!entry.tensorMaps.empty())
    maps =
        makeTables<fb::TensorMap>(b, entry.tensorMaps, [&](const TensorMap &m) {
          return writeTensorMap(b, m);
        });
  return fb::CreateEntry(b, name, symbols, exprs, inputs, outputs, requirements,
                         buffers, steps, summary, maps);
}

/// The oldest format version whose readers understand `model`.
static uint32_t getFormatVersion(const PackageModel &model) {
  for (const Entry &entry : model.entries)
    for (const TensorSpec &output : entry.outputs)
      if (output.overwrites)
        return kFormatVersion;
  for (const Kernel &kernel : model.kernels)
    if (kernel.together > 1)
      return kTogetherVersion;
  for (const Kernel &kernel : model.kernels)
    if (kernel.clusterX > 1)
      return kClusterVersion;
  for (const Entry &entry : model.entries)
    if (!entry.tensorMaps.empty())
      return kClusterVersion;
  return kOldestVersion;
}

/// A lower bound on the size of the metadata, to refuse before FlatBuffers'
/// own limit of 2 GiB would be an assertion.
static uint64_t estimateMetaBytes(const PackageModel &model) {
  uint64_t bytes = model.ledgerJson.size();
  for (const Module &module : model.modules)
    bytes += module.ptx.size() + module.cubin.size() + 64;
  bytes += model.kernels.size() * 256 + model.constants.size() * 32;
  for (const Entry &entry : model.entries) {
    bytes += entry.exprs.size() * sizeof(fb::Expr);
    for (const Step &step : entry.steps)
      bytes += 128 + step.args.size() * sizeof(fb::Arg) +
               step.variants.size() * sizeof(fb::Variant);
    for (const Buffer &buffer : entry.buffers)
      bytes += 64 + buffer.name.size();
    bytes += entry.tensorMaps.size() * 128;
  }
  return bytes;
}

Result<std::string> writePackage(const PackageModel &model) {
  if (Error error = verifyPackage(model))
    return error;
  constexpr uint64_t kMaxMetaBytes = uint64_t(1) << 30;
  if (estimateMetaBytes(model) > kMaxMetaBytes)
    return Error(ErrorCode::PackageTooLarge,
                 "the kernels, plan and ledger take more than 1 GiB");

  FlatBufferBuilder b(1 << 16);
  auto target = b.CreateString(model.target);
  auto producer = b.CreateString(model.producer);
  auto modules = makeTables<fb::Module>(
      b, model.modules, [&](const Module &m) { return writeModule(b, m); });
  auto kernels = makeTables<fb::Kernel>(
      b, model.kernels, [&](const Kernel &k) { return writeKernel(b, k); });
  auto constants =
      makeStructs<fb::Constant>(b, model.constants, [](const Constant &c) {
        return fb::Constant(c.offset, c.size);
      });
  auto constantNames = makeTables<flatbuffers::String>(
      b, model.constants,
      [&](const Constant &c) { return b.CreateString(c.name); });
  auto entries = makeTables<fb::Entry>(
      b, model.entries, [&](const Entry &e) { return writeEntry(b, e); });
  auto ledger = b.CreateString(model.ledgerJson);
  fb::FinishPackageBuffer(
      b, fb::CreatePackage(b, target, model.ptxVersion, producer, modules,
                           kernels, constants, constantNames, entries, ledger));

  FileHeader header;
  header.version = getFormatVersion(model);
  header.metaBytes = b.GetSize();
  header.constantsOffset =
      (kHeaderBytes + header.metaBytes + kSectionAlignment - 1) /
      kSectionAlignment * kSectionAlignment;
  header.constantsBytes = model.constantData.size();
  header.totalBytes = header.constantsOffset + header.constantsBytes;

  std::string bytes(header.totalBytes, '\0');
  auto *out = reinterpret_cast<uint8_t *>(bytes.data());
  encodeHeader(header, out);
  std::memcpy(out + kHeaderBytes, b.GetBufferPointer(), b.GetSize());
  if (!model.constantData.empty())
    std::memcpy(out + header.constantsOffset, model.constantData.data(),
                model.constantData.size());
  computeChecksum(out, bytes.size(), out + kChecksumOffset);
  return bytes;
}

} // namespace fusionpkg
