//===- fusion-emulate.cpp - Run PTX without a GPU -------------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file implements fusion-emulate, the command line of the PTX emulator.
//
//===----------------------------------------------------------------------===//

#include "fusion-rt/Emulator/Profile.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace fusionemu;

namespace {
enum ExitCode { Success = 0, Diagnosed = 1, Usage = 2, Unsupported = 3 };

/// One --arg: a scalar, or a buffer whose address is passed.
struct Argument {
  std::vector<uint8_t> bytes;
  bool isBuffer = false, isOutput = false;
  std::string name, fill, type;
  uint64_t size = 0, address = 0;
};

struct CommandLine {
  std::string file, kernel;
  bool listKernels = false, counters = false, time = false;
  bool profile = false, profileJson = false;
  ParseOptions parse;
  Dim3 grid, block;
  uint32_t shared = 0;
  Options options;
  std::vector<Argument> arguments;
};
} // namespace

static const char usageText[] =
    R"(usage: fusion-emulate FILE.ptx [options]

Runs a PTX kernel on the built-in emulator, with all checks on.

  --list-kernels        print the kernels of the module and stop
  --kernel=NAME         the kernel to run; may be left out if there is one
  --grid=X[,Y[,Z]]      blocks, 1 each unless said
  --block=X[,Y[,Z]]     threads of a block
  --shared=BYTES        dynamic shared memory
  --arg=ARG             one argument; repeat in order. ARG is one of
        i8:N i16:N i32:N i64:N f32:X f64:X   a scalar
        buf:NAME:BYTES[:FILL]                a buffer
        out:NAME:TYPE:COUNT[:FILL]           a buffer, printed afterwards
      FILL is TYPE=VALUE or TYPE=iota; without it the bytes are uninitialised.
      TYPE is i8, i16, i32, i64, f32 or f64, u8 to u64 as well for out.
  --counters            print what the launch did
  --profile[=json]      print what each instruction did: traffic, sectors of
                        each request, bank conflicts, pipes; as JSON nothing
                        else goes to the standard output
  --payload             replace floats by integers that wrap, so that sums are
                        exact in any order
  --time                print the time it took and the speed
  --threads=N           host threads, 0 for one per processor
  --max-steps=N         instructions that one warp may execute
  --no-check=WHAT       uninitialized, shared-races, global-races or all

Exit code: 0 ran, 1 an error was reported, 2 wrong usage, 3 unsupported.
)";

static std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    parts.push_back(part);
  return parts;
}

static bool parseInteger(const std::string &text, int64_t &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtoll(text.c_str(), &end, 0);
  if (errno == ERANGE) {
    errno = 0;
    value = int64_t(std::strtoull(text.c_str(), &end, 0));
  }
  return !text.empty() && *end == 0 && errno == 0;
}

static bool parseDim(const std::string &text, Dim3 &dim) {
  std::vector<std::string> parts = split(text, ',');
  uint32_t *out[] = {&dim.x, &dim.y, &dim.z};
  if (parts.empty() || parts.size() > 3)
    return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    int64_t value;
    if (!parseInteger(parts[i], value) || value < 0 || value > 0xffffffffll)
      return false;
    *out[i] = uint32_t(value);
  }
  return true;
}

static unsigned sizeOf(const std::string &type) {
  if (type.size() < 2 || std::strchr("iuf", type[0]) == nullptr)
    return 0;
  std::string bits = type.substr(1);
  unsigned bytes = bits == "8"    ? 1
                   : bits == "16" ? 2
                   : bits == "32" ? 4
                   : bits == "64" ? 8
                                  : 0;
  return type[0] == 'f' && bytes < 4 ? 0 : bytes;
}

/// Appends `text` as one value of `type`.
static bool appendValue(const std::string &type, const std::string &text,
                        std::vector<uint8_t> &bytes) {
  unsigned size = sizeOf(type);
  uint64_t bits = 0;
  if (type[0] == 'f') {
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != 0)
      return false;
    if (size == 4) {
      float narrow = float(value);
      std::memcpy(&bits, &narrow, 4);
    } else {
      std::memcpy(&bits, &value, 8);
    }
  } else {
    int64_t value;
    if (!parseInteger(text, value))
      return false;
    bits = uint64_t(value);
  }
  const auto *begin = reinterpret_cast<const uint8_t *>(&bits);
  bytes.insert(bytes.end(), begin, begin + size);
  return true;
}

/// Makes the contents of a buffer from TYPE=VALUE or TYPE=iota.
static bool makeFill(const std::string &fill, uint64_t size,
                     std::vector<uint8_t> &bytes) {
  size_t equals = fill.find('=');
  if (equals == std::string::npos)
    return false;
  std::string type = fill.substr(0, equals), value = fill.substr(equals + 1);
  unsigned element = sizeOf(type);
  if (element == 0 || size % element != 0)
    return false;
  for (uint64_t i = 0; i < size / element; ++i)
    if (!appendValue(type, value == "iota" ? std::to_string(i) : value, bytes))
      return false;
  return true;
}

static bool parseArgument(const std::string &text, Argument &argument) {
  std::vector<std::string> parts = split(text, ':');
  if (parts.size() == 2 && parts[0] != "buf" && parts[0] != "out")
    return sizeOf(parts[0]) != 0 &&
           appendValue(parts[0], parts[1], argument.bytes);
  argument.isBuffer = true;
  int64_t count;
  if (parts.size() >= 3 && parts.size() <= 4 && parts[0] == "buf") {
    argument.name = parts[1];
    if (!parseInteger(parts[2], count) || count < 0)
      return false;
    argument.size = uint64_t(count);
    argument.fill = parts.size() == 4 ? parts[3] : "";
    return true;
  }
  if (parts.size() >= 4 && parts.size() <= 5 && parts[0] == "out") {
    argument.isOutput = true;
    argument.name = parts[1];
    argument.type = parts[2];
    unsigned element = sizeOf(argument.type);
    if (element == 0 || !parseInteger(parts[3], count) || count < 0 ||
        count > (int64_t(1) << 32))
      return false;
    argument.size = uint64_t(count) * element;
    argument.fill = parts.size() == 5 ? parts[4] : "";
    return true;
  }
  return false;
}

static bool fail(const std::string &text) {
  std::cerr << "fusion-emulate: " << text << "\n";
  return false;
}

static bool parseCommandLine(int argc, char **argv, CommandLine &line) {
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    size_t equals = arg.find('=');
    std::string name = arg.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : arg.substr(equals + 1);
    int64_t number = 0;
    bool isNumber = parseInteger(value, number) && number >= 0;
    if (arg == "--list-kernels") {
      line.listKernels = true;
    } else if (arg == "--counters") {
      line.counters = true;
    } else if (arg == "--profile" || arg == "--profile=json") {
      line.profile = true;
      line.profileJson = arg != "--profile";
    } else if (arg == "--payload") {
      line.parse.payload = true;
    } else if (arg == "--time") {
      line.time = true;
    } else if (name == "--kernel") {
      line.kernel = value;
    } else if (name == "--grid" || name == "--block") {
      if (!parseDim(value, name == "--grid" ? line.grid : line.block))
        return fail("'" + arg + "' is not of the form " + name + "=X,Y,Z");
    } else if (name == "--shared" && isNumber && number <= 0xffffffffll) {
      line.shared = uint32_t(number);
    } else if (name == "--threads" && isNumber && number <= 1024) {
      line.options.threads = unsigned(number);
    } else if (name == "--max-steps" && isNumber) {
      line.options.maxSteps = uint64_t(number);
    } else if (name == "--no-check") {
      Checks &checks = line.options.checks;
      bool all = value == "all";
      if (!all && value != "uninitialized" && value != "shared-races" &&
          value != "global-races")
        return fail("'" + value + "' is not a check");
      checks.uninitialized &= !all && value != "uninitialized";
      checks.sharedRaces &= !all && value != "shared-races";
      checks.globalRaces &= !all && value != "global-races";
    } else if (name == "--arg") {
      line.arguments.emplace_back();
      if (!parseArgument(value, line.arguments.back()))
        return fail("cannot read the argument '" + value + "'");
    } else if (arg[0] != '-' && line.file.empty()) {
      line.file = arg;
    } else {
      return fail("cannot read '" + arg + "'");
    }
  }
  return !line.file.empty() || fail("expected a PTX file");
}

static int report(const Status &status) {
  std::cerr << "error: " << status.message() << "\n";
  return status.getKind() == ErrorKind::Unsupported ? Unsupported : Diagnosed;
}

static void listKernels(const Module &module) {
  for (const KernelInfo &k : module.getKernels()) {
    std::cout << k.name << "(";
    for (size_t i = 0; i < k.parameters.size(); ++i)
      std::cout << (i ? ", " : "") << k.parameters[i].size << " bytes";
    std::cout << ") shared " << k.staticSharedBytes
              << (k.usesDynamicShared ? "+dynamic" : "") << " local "
              << k.localBytes << " instructions " << k.instructions;
    if (k.reqntid.x)
      std::cout << " reqntid " << k.reqntid.x << "," << k.reqntid.y << ","
                << k.reqntid.z;
    if (!k.unsupported.empty())
      std::cout << " unsupported: " << k.unsupported;
    std::cout << "\n";
  }
}

template <typename T>
static void printAs(const std::vector<uint8_t> &bytes, const char *format,
                    std::FILE *file) {
  for (size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + i, sizeof(T));
    std::fprintf(file, format, value);
  }
}

static void printBuffer(const Argument &a, const std::vector<uint8_t> &bytes,
                        std::FILE *file) {
  std::fprintf(file, "%s:", a.name.c_str());
  if (a.type == "f32") {
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      float value;
      std::memcpy(&value, bytes.data() + i, 4);
      std::fprintf(file, " %.9g", double(value));
    }
  } else if (a.type == "f64") {
    printAs<double>(bytes, " %.17g", file);
  } else if (a.type == "i8") {
    printAs<int8_t>(bytes, " %d", file);
  } else if (a.type == "u8") {
    printAs<uint8_t>(bytes, " %u", file);
  } else if (a.type == "i16") {
    printAs<int16_t>(bytes, " %d", file);
  } else if (a.type == "u16") {
    printAs<uint16_t>(bytes, " %u", file);
  } else if (a.type == "i32") {
    printAs<int32_t>(bytes, " %d", file);
  } else if (a.type == "u32") {
    printAs<uint32_t>(bytes, " %u", file);
  } else if (a.type == "i64") {
    printAs<long long>(bytes, " %lld", file);
  } else {
    printAs<unsigned long long>(bytes, " %llu", file);
  }
  std::fprintf(file, "\n");
}

static void printCounters(const Counters &n, std::FILE *file) {
  auto line = [file](const char *name, uint64_t value) {
    std::fprintf(file, "%s: %llu\n", name, (unsigned long long)value);
  };
  line("instructions", n.instructions);
  line("lane-instructions", n.laneInstructions);
  line("global-load-requests", n.globalLoadRequests);
  line("global-load-sectors", n.globalLoadSectors);
  line("global-load-bytes", n.globalLoadBytes);
  line("distinct-load-bytes", n.distinctLoadBytes);
  line("global-store-requests", n.globalStoreRequests);
  line("global-store-sectors", n.globalStoreSectors);
  line("global-store-bytes", n.globalStoreBytes);
  line("distinct-store-bytes", n.distinctStoreBytes);
  line("global-atomic-requests", n.globalAtomicRequests);
  line("global-atomic-sectors", n.globalAtomicSectors);
  line("global-atomic-bytes", n.globalAtomicBytes);
  line("shared-load-requests", n.sharedLoadRequests);
  line("shared-store-requests", n.sharedStoreRequests);
  line("shared-atomic-requests", n.sharedAtomicRequests);
  line("bank-conflicts", n.bankConflicts);
  line("barriers", n.barriers);
  line("divergent-branches", n.divergentBranches);
}

/// Creates the buffers and lays the arguments out as the kernel wants them.
static int prepareArguments(CommandLine &line, const KernelInfo &kernel,
                            Memory &memory, std::vector<uint8_t> &block) {
  if (line.arguments.size() != kernel.parameters.size()) {
    fail("kernel '" + kernel.name + "' takes " +
         std::to_string(kernel.parameters.size()) + " arguments, " +
         std::to_string(line.arguments.size()) + " are given");
    return Usage;
  }
  block.assign(kernel.argumentBytes, 0);
  for (size_t i = 0; i < line.arguments.size(); ++i) {
    Argument &a = line.arguments[i];
    if (a.isBuffer) {
      if (Status s = memory.allocate(a.size, a.name, a.address); !s.ok())
        return report(s);
      std::vector<uint8_t> contents;
      if (!a.fill.empty()) {
        if (!makeFill(a.fill, a.size, contents)) {
          fail("cannot fill '" + a.name + "' with '" + a.fill + "'");
          return Usage;
        }
        if (Status s = memory.write(a.address, contents.data(), a.size);
            !s.ok())
          return report(s);
      }
      const auto *begin = reinterpret_cast<const uint8_t *>(&a.address);
      a.bytes.assign(begin, begin + 8);
    }
    const ParameterInfo &p = kernel.parameters[i];
    if (a.bytes.size() != p.size) {
      fail("argument " + std::to_string(i) + " has " +
           std::to_string(a.bytes.size()) + " bytes, the kernel takes " +
           std::to_string(p.size));
      return Usage;
    }
    std::memcpy(block.data() + p.offset, a.bytes.data(), p.size);
  }
  return Success;
}

static int runTool(CommandLine &line) {
  std::ifstream stream(line.file, std::ios::binary);
  if (!stream) {
    fail("cannot open '" + line.file + "'");
    return Diagnosed;
  }
  std::ostringstream text;
  text << stream.rdbuf();
  Module module;
  size_t slash = line.file.rfind('/');
  std::string shortName =
      slash == std::string::npos ? line.file : line.file.substr(slash + 1);
  if (Status s = module.parse(text.str(), shortName, line.parse); !s.ok())
    return report(s);
  if (line.listKernels) {
    listKernels(module);
    return Success;
  }
  if (line.kernel.empty() && module.getKernels().size() == 1)
    line.kernel = module.getKernels()[0].name;
  const KernelInfo *kernel = module.findKernel(line.kernel);
  if (!kernel) {
    std::string names;
    for (const KernelInfo &k : module.getKernels())
      names += (names.empty() ? "" : ", ") + k.name;
    fail("the module has no kernel '" + line.kernel + "', only: " + names);
    return Usage;
  }
  Memory memory;
  std::vector<uint8_t> block;
  if (int code = prepareArguments(line, *kernel, memory, block))
    return code;
  Counters counters;
  Profile profile;
  if (line.profile)
    line.options.profile = &profile;
  auto begin = std::chrono::steady_clock::now();
  Status status =
      launch(memory, module, line.kernel, line.grid, line.block, line.shared,
             block.data(), block.size(), line.options, &counters);
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  if (!status.ok())
    return report(status);
  std::FILE *file = line.profileJson ? stderr : stdout;
  for (const Argument &a : line.arguments) {
    if (!a.isOutput)
      continue;
    std::vector<uint8_t> contents(a.size);
    if (Status s = memory.read(a.address, contents.data(), a.size); !s.ok())
      return report(s);
    printBuffer(a, contents, file);
  }
  if (line.counters)
    printCounters(counters, file);
  if (line.time)
    std::fprintf(file,
                 "milliseconds: %.3f\nmillion-lane-instructions-per-second: "
                 "%.0f\n",
                 seconds.count() * 1e3,
                 double(counters.laneInstructions) / seconds.count() / 1e6);
  if (line.profile) {
    ProfileReport profiles;
    profiles.addLaunch(line.kernel, line.grid, line.block, counters, profile);
    std::cout << (line.profileJson ? profiles.toJson() : profiles.toText());
  }
  return Success;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--help") == 0) {
      std::cout << usageText;
      return Success;
    }
  CommandLine line;
  if (!parseCommandLine(argc, argv, line)) {
    std::cerr << "try --help\n";
    return Usage;
  }
  return runTool(line);
}
