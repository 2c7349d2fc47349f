//===- PackageReader.cpp - Bytes to package content -----------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements reading a package, whoever it comes from: the frame and
// its checksum, then FlatBuffers' verifier, then the rules of verifyPackage.
//
//===----------------------------------------------------------------------===//

#include "PackageLayout.h"
#include "Package_generated.h"
#include "fusion/Executable/Package.h"

#include <cstring>
#include <type_traits>

namespace fusionpkg {

namespace {

/// Copies the verified FlatBuffer into the model. A FlatBuffer may name one
/// vector from many tables, so that a small file could ask for a huge model:
/// every byte copied is charged against the bytes present.
class Reader {
public:
  explicit Reader(uint64_t budget) : budget(budget) {}

  PackageModel read(const fb::Package &package);
  bool isExhausted() const { return exhausted; }
  bool isMisaligned() const { return misaligned; }

private:
  /// Whether `count` elements of `width` bytes may still be copied.
  bool charge(uint64_t count, uint64_t width) {
    if (count > budget / width)
      exhausted = true;
    if (exhausted)
      return false;
    budget -= count * width;
    return true;
  }

  std::string text(const flatbuffers::String *text) {
    return text && charge(text->size(), 1) ? text->str() : std::string();
  }

  /// Appends `read(element)` for every element; an absent vector is empty.
  template <typename Vector, typename Item, typename Fn>
  void all(const Vector *items, std::vector<Item> &out, Fn read) {
    // An element that is a table takes at least its offset and its header.
    using Element = typename Vector::value_type;
    constexpr bool isTable = std::is_base_of<
        flatbuffers::Table,
        std::remove_const_t<std::remove_pointer_t<Element>>>::value;
    constexpr uint64_t width =
        isTable ? 8 : sizeof(std::remove_pointer_t<Element>);
    if (!items || items->size() == 0 || !charge(items->size(), width))
      return;
    // FlatBuffers' verifier leaves the alignment of structs unchecked.
    if (!isTable && reinterpret_cast<uintptr_t>(items->Data()) %
                            alignof(std::remove_pointer_t<Element>) !=
                        0) {
      misaligned = true;
      return;
    }
    out.reserve(items->size());
    for (const auto *item : *items)
      out.push_back(read(*item));
  }

  /// Appends plain numbers.
  template <typename T>
  void numbers(const flatbuffers::Vector<T> *items, std::vector<T> &out) {
    if (items && charge(items->size(), sizeof(T)))
      out.assign(items->begin(), items->end());
  }

  Module module(const fb::Module &m);
  Kernel kernel(const fb::Kernel &k);
  TensorSpec tensor(const fb::Tensor &t);
  Step step(const fb::Step &s);
  TensorMap tensorMap(const fb::TensorMap &m);
  Entry entry(const fb::Entry &e);

  uint64_t budget;
  bool exhausted = false, misaligned = false;
};

} // namespace

Module Reader::module(const fb::Module &m) {
  Module module;
  module.ptx = text(m.ptx());
  numbers(m.cubin(), module.cubin);
  module.minDriverVersion = m.min_driver();
  return module;
}

Kernel Reader::kernel(const fb::Kernel &k) {
  Kernel kernel;
  kernel.name = text(k.name());
  kernel.module = k.module_index();
  kernel.blockX = k.block_x();
  kernel.staticSharedBytes = k.static_shared();
  kernel.dynamicSharedBytes = k.dynamic_shared();
  kernel.predicted = {k.predicted_registers(), k.predicted_spill_bytes(),
                      k.predicted_shared_bytes()};
  kernel.measured = {k.measured_registers(), k.measured_spill_bytes(),
                     k.measured_shared_bytes()};
  kernel.predictedMicroseconds = k.predicted_us();
  kernel.source = text(k.source());
  kernel.clusterX = k.cluster_x();
  kernel.together = k.together();
  return kernel;
}

TensorSpec Reader::tensor(const fb::Tensor &t) {
  TensorSpec tensor;
  tensor.name = text(t.name());
  tensor.dtype = static_cast<DType>(t.dtype());
  numbers(t.dims(), tensor.dims);
  tensor.byValue = t.by_value();
  if (t.overwrites() != kNoExpr)
    tensor.overwrites = t.overwrites();
  return tensor;
}

Step Reader::step(const fb::Step &s) {
  Step step;
  step.kind = static_cast<StepKind>(s.kind());
  all(s.variants(), step.variants, [&](const fb::Variant &v) {
    LaunchVariant variant;
    variant.guard = v.guard();
    variant.kernel = v.kernel();
    variant.gridX = v.grid_x();
    variant.gridY = v.grid_y();
    variant.gridZ = v.grid_z();
    variant.sharedBytes = v.shared_bytes();
    return variant;
  });
  all(s.args(), step.args, [&](const fb::Arg &a) {
    return Arg{static_cast<ArgKind>(a.kind()), a.index(), a.expr(), a.number()};
  });
  step.dst = s.dst();
  step.src = s.src();
  step.dstOffset = s.dst_offset();
  step.srcOffset = s.src_offset();
  step.bytes = s.bytes();
  step.fillWidth = s.fill_width();
  step.fillBits = s.fill_bits();
  return step;
}

TensorMap Reader::tensorMap(const fb::TensorMap &m) {
  TensorMap map;
  map.kind = static_cast<TensorMapKind>(m.kind());
  map.dtype = static_cast<DType>(m.dtype());
  map.swizzle = static_cast<TensorMapSwizzle>(m.swizzle());
  map.tf32 = m.tf32();
  map.buffer = m.buffer();
  map.offset = m.offset();
  numbers(m.sizes(), map.sizes);
  numbers(m.strides(), map.strides);
  numbers(m.element_strides(), map.elementStrides);
  numbers(m.box(), map.box);
  numbers(m.lower_corner(), map.lowerCorner);
  numbers(m.upper_corner(), map.upperCorner);
  map.channelsPerPixel = m.channels();
  map.pixelsPerColumn = m.pixels();
  return map;
}

Entry Reader::entry(const fb::Entry &e) {
  Entry entry;
  entry.name = text(e.name());
  all(e.symbols(), entry.symbols, [&](const fb::Symbol &s) {
    return Symbol{text(s.name()), s.input(), s.dim()};
  });
  std::vector<ExprNode> nodes;
  all(e.exprs(), nodes, [&](const fb::Expr &n) {
    return ExprNode{static_cast<ExprOp>(n.op()), n.lhs(), n.rhs(), n.value()};
  });
  entry.exprs.setNodes(std::move(nodes));
  all(e.inputs(), entry.inputs, [&](const fb::Tensor &t) { return tensor(t); });
  all(e.outputs(), entry.outputs,
      [&](const fb::Tensor &t) { return tensor(t); });
  all(e.requirements(), entry.requirements, [&](const fb::Requirement &r) {
    return Requirement{r.condition(), text(r.message())};
  });
  all(e.buffers(), entry.buffers, [&](const fb::Buffer &b) {
    return Buffer{static_cast<BufferKind>(b.kind()), b.index(), b.bytes(),
                  text(b.name())};
  });
  all(e.steps(), entry.steps, [&](const fb::Step &s) { return step(s); });
  if (const fb::Summary *s = e.summary())
    entry.summary = {s->kernels_before(), s->kernels_after(),
                     s->bytes_before(),   s->bytes_after(),
                     s->flops(),          s->predicted_us()};
  all(e.tensor_maps(), entry.tensorMaps,
      [&](const fb::TensorMap &m) { return tensorMap(m); });
  return entry;
}

PackageModel Reader::read(const fb::Package &package) {
  PackageModel model;
  model.target = text(package.target());
  model.ptxVersion = package.ptx_version();
  model.producer = text(package.producer());
  all(package.modules(), model.modules,
      [&](const fb::Module &m) { return module(m); });
  all(package.kernels(), model.kernels,
      [&](const fb::Kernel &k) { return kernel(k); });
  all(package.constants(), model.constants,
      [](const fb::Constant &c) { return Constant{"", c.offset(), c.size()}; });
  if (const auto *names = package.constant_names())
    for (size_t i = 0; i < model.constants.size() && i < names->size(); ++i)
      model.constants[i].name =
          text(names->Get(static_cast<flatbuffers::uoffset_t>(i)));
  all(package.entries(), model.entries,
      [&](const fb::Entry &e) { return entry(e); });
  model.ledgerJson = text(package.ledger());
  return model;
}

/// Checks the frame: magic, version, sizes, checksum.
static Error checkFrame(const uint8_t *bytes, size_t size, FileHeader &header) {
  if (!looksLikePackage(bytes, size))
    return Error(ErrorCode::PackageNotAPackage,
                 "the data does not begin like a package");
  if (size < kHeaderBytes)
    return Error(ErrorCode::PackageTruncated,
                 "the data ends within the package's header");
  header = decodeHeader(bytes);
  if (header.version < kOldestVersion || header.version > kFormatVersion)
    return Error(
        ErrorCode::PackageVersion,
        "the package has format version " + std::to_string(header.version) +
            ", this build reads versions " + std::to_string(kOldestVersion) +
            " to " + std::to_string(kFormatVersion));
  if (header.totalBytes != size)
    return Error(header.totalBytes > size ? ErrorCode::PackageTruncated
                                          : ErrorCode::PackageCorrupt,
                 "the package states " + std::to_string(header.totalBytes) +
                     " bytes but has " + std::to_string(size));

  uint8_t checksum[kChecksumBytes];
  computeChecksum(bytes, size, checksum);
  if (std::memcmp(checksum, bytes + kChecksumOffset, kChecksumBytes) != 0)
    return Error(ErrorCode::PackageCorrupt,
                 "the package's checksum does not match its content");

  // A checksum is no proof of good will: the sizes are still a stranger's.
  uint64_t room = size - kHeaderBytes;
  if (header.reserved != 0 || header.metaBytes > room ||
      header.constantsOffset < kHeaderBytes + header.metaBytes ||
      header.constantsOffset % kSectionAlignment != 0 ||
      header.constantsOffset > size ||
      header.constantsBytes != size - header.constantsOffset)
    return Error(ErrorCode::PackageInvalid,
                 "the sections of the package do not lie inside it");
  return {};
}

Result<PackageModel> readPackage(const void *data, size_t size) {
  const auto *bytes = static_cast<const uint8_t *>(data);
  FileHeader header;
  if (Error error = checkFrame(bytes, size, header))
    return error;

  // The FlatBuffer holds 8-byte numbers in place; the caller's bytes may lie
  // anywhere.
  const uint8_t *meta = bytes + kHeaderBytes;
  std::vector<uint64_t> aligned;
  if (reinterpret_cast<uintptr_t>(meta) % alignof(uint64_t) != 0) {
    aligned.resize(header.metaBytes / sizeof(uint64_t) + 1);
    std::memcpy(aligned.data(), meta, header.metaBytes);
    meta = reinterpret_cast<const uint8_t *>(aligned.data());
  }
  constexpr flatbuffers::uoffset_t kMaxDepth = 16, kMaxTables = 1u << 24;
  flatbuffers::Verifier verifier(meta, header.metaBytes, kMaxDepth, kMaxTables);
  // FlatBuffers addresses 2 GiB; a longer section cannot be one.
  if (header.metaBytes >= FLATBUFFERS_MAX_BUFFER_SIZE ||
      !fb::VerifyPackageBuffer(verifier))
    return Error(ErrorCode::PackageInvalid,
                 "the package's metadata is not well formed");
  const fb::Package &package = *fb::GetPackage(meta);

  Reader reader(header.metaBytes);
  PackageModel model = reader.read(package);
  if (reader.isMisaligned())
    return Error(ErrorCode::PackageInvalid,
                 "the package's metadata is not aligned");
  if (reader.isExhausted())
    return Error(ErrorCode::PackageInvalid,
                 "the package's metadata refers to one part many times");
  model.constantData.assign(bytes + header.constantsOffset, bytes + size);
  if (Error error = verifyPackage(model))
    return error;
  return model;
}

} // namespace fusionpkg
