//===- CompileTest.cpp - Tests of the compiler's C interface --------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file tests fusion-c/Fusion.h through the shared library: diagnostics in
// parts, callers with older structs, and faults of the compiler, which must not
// reach this process.
//
//===----------------------------------------------------------------------===//

#include "fusion-c/Fusion.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <pthread.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static const char kGood[] =
    "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %y = arith.addf %x, %x : tensor<4xf32>\n"
    "  return %y : tensor<4xf32>\n"
    "}\n";
/// Breaks a contract of planning: the limit is one kernel.
static const char kContract[] =
    "func.func @f(%x: tensor<8x4xf32>, %y: tensor<3x5xf32>)\n"
    "    -> (tensor<8x4xf32>, tensor<3x5xf32>)\n"
    "    attributes {fusion.max_kernels = 1} {\n"
    "  %a = arith.addf %x, %x : tensor<8x4xf32>\n"
    "  %b = arith.addf %y, %y : tensor<3x5xf32>\n"
    "  return %a, %b : tensor<8x4xf32>, tensor<3x5xf32>\n"
    "}\n";

namespace {
/// One call of the compiler.
class Compiled {
public:
  explicit Compiled(const char *text, FusionCompileOptions options = {}) {
    options.structSize = sizeof(options);
    options.fileName = "p.mlir";
    options.skipPtxas = 1;
    status = fusionCompile(text, std::strlen(text), &options, &handle);
  }
  ~Compiled() { fusionCompilationDestroy(handle); }

  FusionDiagnostic get(size_t index) {
    FusionDiagnostic diagnostic = {};
    diagnostic.structSize = sizeof(diagnostic);
    EXPECT_EQ(fusionCompilationGetDiagnostic(handle, index, &diagnostic),
              FUSION_OK);
    return diagnostic;
  }
  /// All notes of a diagnostic, a line each.
  std::string getNotes(size_t index) {
    std::string text;
    for (uint32_t i = 0, e = get(index).numNotes; i < e; ++i) {
      FusionDiagnostic note = {};
      note.structSize = sizeof(note);
      EXPECT_EQ(fusionCompilationGetNote(handle, index, i, &note), FUSION_OK);
      EXPECT_EQ(note.severity, FUSION_SEVERITY_NOTE);
      text += std::string(note.cause) + "\n";
    }
    return text;
  }
  size_t count() { return fusionCompilationGetNumDiagnostics(handle); }
  std::string output() {
    size_t size;
    const char *bytes = fusionCompilationGetOutput(handle, &size);
    return std::string(bytes, size);
  }

  FusionStatus status;
  FusionCompilation *handle = nullptr;
};

/// A fault in the next compilations of this process, as long as it lives.
class Fault {
public:
  explicit Fault(const char *kind) { setenv("FUSION_TEST_CRASH", kind, 1); }
  ~Fault() { unsetenv("FUSION_TEST_CRASH"); }
};
} // namespace

TEST(CompileTest, CompilesInAProcessOfItsOwnAndInThisOne) {
  Compiled apart(kGood);
  ASSERT_EQ(apart.status, FUSION_OK)
      << fusionCompilationGetDiagnostics(apart.handle);
  EXPECT_EQ(apart.count(), 0u);
  FusionCompileOptions options = {};
  options.inProcess = 1;
  Compiled here(kGood, options);
  ASSERT_EQ(here.status, FUSION_OK);
  EXPECT_FALSE(here.output().empty());
  EXPECT_EQ(apart.output(), here.output());
  EXPECT_STREQ(fusionCompilationGetExplanation(apart.handle),
               fusionCompilationGetExplanation(here.handle));
  EXPECT_STREQ(fusionCompilationGetLedger(apart.handle),
               fusionCompilationGetLedger(here.handle));
}

TEST(CompileTest, WritesThePage) {
  std::string path =
      testing::TempDir() + "page" + std::to_string(getpid()) + ".html";
  FusionCompileOptions options = {};
  options.report = path.c_str();
  Compiled good(kGood, options);
  EXPECT_EQ(good.status, FUSION_OK)
      << fusionCompilationGetDiagnostics(good.handle);
  EXPECT_EQ(good.output(), Compiled(kGood).output());
  std::ifstream file(path);
  std::string page(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(page.find("p.mlir"), std::string::npos);
  std::remove(path.c_str());

  // What is refused leaves none.
  options.report = "/no/such/folder/page.html";
  Compiled unwritten(kGood, options);
  EXPECT_EQ(unwritten.status, FUSION_DIAGNOSED);
  ASSERT_EQ(unwritten.count(), 1u);
  EXPECT_EQ(unwritten.get(0).code, 1009);
  EXPECT_TRUE(unwritten.output().empty());
}

TEST(CompileTest, SaysWhatIsWrongInParts) {
  Compiled wrong("func.func @f(");
  EXPECT_EQ(wrong.status, FUSION_DIAGNOSED);
  ASSERT_EQ(wrong.count(), 1u);
  FusionDiagnostic parse = wrong.get(0);
  EXPECT_EQ(parse.severity, FUSION_SEVERITY_ERROR);
  EXPECT_EQ(parse.code, 1003);
  EXPECT_STREQ(parse.fileName, "p.mlir");
  EXPECT_EQ(parse.line, 1u);
  EXPECT_GT(parse.column, 1u);
  EXPECT_STRNE(parse.cause, "");
  EXPECT_STREQ(parse.remedy, "correct the program at the place shown");

  // An error of a phase, whose message has no remedy: it is the table's.
  Compiled contract(kContract);
  EXPECT_EQ(contract.status, FUSION_DIAGNOSED);
  ASSERT_EQ(contract.count(), 1u);
  FusionDiagnostic broken = contract.get(0);
  EXPECT_EQ(broken.code, 2006);
  EXPECT_EQ(broken.line, 1u);
  EXPECT_EQ(std::string(broken.cause).find("FUS-"), std::string::npos);
  EXPECT_STRNE(broken.remedy, "");
}

TEST(CompileTest, RefusesWhatIsNotThere) {
  Compiled good(kGood);
  FusionDiagnostic diagnostic = {};
  diagnostic.structSize = sizeof(diagnostic);
  EXPECT_EQ(fusionCompilationGetDiagnostic(good.handle, 0, &diagnostic),
            FUSION_USAGE);
  EXPECT_EQ(fusionCompilationGetNote(good.handle, 0, 0, &diagnostic),
            FUSION_USAGE);
  Compiled wrong("func.func @f(");
  FusionDiagnostic unsized = {};
  EXPECT_EQ(fusionCompilationGetDiagnostic(wrong.handle, 0, &unsized),
            FUSION_USAGE);
  EXPECT_EQ(fusionCompile(kGood, sizeof(kGood) - 1, nullptr, nullptr),
            FUSION_USAGE);
  FusionCompilation *handle = nullptr;
  EXPECT_EQ(fusionCompile(nullptr, 4, nullptr, &handle), FUSION_USAGE);
  EXPECT_NE(handle, nullptr);
  fusionCompilationDestroy(handle);
}

/// A caller that was built when the structs ended earlier.
TEST(CompileTest, ServesOlderCallers) {
  FusionCompileOptions options = {};
  options.structSize = offsetof(FusionCompileOptions, timeLimitSeconds);
  options.skipPtxas = 1;
  options.timeLimitSeconds = 0xffffffff; // not the caller's
  options.inProcess = 0x7fffffff;
  FusionCompilation *handle = nullptr;
  EXPECT_EQ(fusionCompile("module {", 8, &options, &handle), FUSION_DIAGNOSED);
  FusionDiagnostic older = {};
  older.structSize = offsetof(FusionDiagnostic, fileName);
  older.line = 77;
  EXPECT_EQ(fusionCompilationGetDiagnostic(handle, 0, &older), FUSION_OK);
  EXPECT_EQ(older.code, 1003);
  EXPECT_EQ(older.line, 77u); // beyond what the caller said it has
  fusionCompilationDestroy(handle);
}

/// A caller that was built when the options had one field more.
TEST(CompileTest, ServesNewerCallersUntilTheySetWhatIsNotKnown) {
  struct {
    FusionCompileOptions known;
    uint64_t added;
  } options = {};
  options.known.structSize = sizeof(options);
  options.known.skipPtxas = 1;
  FusionCompilation *handle = nullptr;
  EXPECT_EQ(fusionCompile(kGood, sizeof(kGood) - 1, &options.known, &handle),
            FUSION_OK);
  fusionCompilationDestroy(handle);
  options.added = 1;
  EXPECT_EQ(fusionCompile(kGood, sizeof(kGood) - 1, &options.known, &handle),
            FUSION_DIAGNOSED);
  FusionDiagnostic error = {};
  error.structSize = sizeof(error);
  ASSERT_EQ(fusionCompilationGetDiagnostic(handle, 0, &error), FUSION_OK);
  EXPECT_EQ(error.code, 1302);
  EXPECT_NE(std::strstr(error.cause, fusionGetVersion()), nullptr);
  fusionCompilationDestroy(handle);

  // The size itself is missing.
  options.known.structSize = 0;
  EXPECT_EQ(fusionCompile(kGood, sizeof(kGood) - 1, &options.known, &handle),
            FUSION_USAGE);
  fusionCompilationDestroy(handle);
}

TEST(CompileTest, ChecksTheVersionOfTheCallersHeader) {
  EXPECT_EQ(FUSION_C_CHECK_VERSION(), nullptr);
  EXPECT_EQ(fusionCheckVersion(FUSION_C_ABI_VERSION, 0), nullptr);
  struct {
    uint32_t abi, api;
  } refused[] = {{FUSION_C_ABI_VERSION, FUSION_C_API_VERSION + 1},
                 {FUSION_C_ABI_VERSION + 1, FUSION_C_API_VERSION},
                 {FUSION_C_ABI_VERSION - 1, FUSION_C_API_VERSION}};
  for (auto [abi, api] : refused) {
    const char *wrong = fusionCheckVersion(abi, api);
    ASSERT_NE(wrong, nullptr);
    std::string pair =
        "ABI " + std::to_string(abi) + ", interface " + std::to_string(api);
    EXPECT_NE(std::strstr(wrong, "FUS-1302"), nullptr) << wrong;
    EXPECT_NE(std::strstr(wrong, pair.c_str()), nullptr) << wrong;
  }
}

TEST(CompileTest, SurvivesEveryFaultOfTheCompiler) {
  for (const char *kind :
       {"assert", "abort", "fatal", "segv", "stack", "exit"}) {
    SCOPED_TRACE(kind);
    Fault fault(kind);
    Compiled crashed(kGood);
    EXPECT_EQ(crashed.status, FUSION_INTERNAL);
    ASSERT_EQ(crashed.count(), 1u);
    FusionDiagnostic error = crashed.get(0);
    EXPECT_EQ(error.code, 1070);
    EXPECT_NE(std::string(error.cause).find("crashed"), std::string::npos);
    EXPECT_TRUE(crashed.output().empty());
    std::string notes = crashed.getNotes(0);
    if (std::strcmp(kind, "exit"))
      EXPECT_NE(notes.find("stack trace:"), std::string::npos) << notes;
    // The reproducer holds the program, whole.
    size_t begin = notes.find("reproducer: ");
    ASSERT_NE(begin, std::string::npos) << notes;
    begin += std::strlen("reproducer: ");
    std::string path = notes.substr(begin, notes.find('\n', begin) - begin);
    std::FILE *file = std::fopen(path.c_str(), "r");
    ASSERT_NE(file, nullptr) << path;
    char text[sizeof(kGood)] = {};
    EXPECT_EQ(std::fread(text, 1, sizeof(kGood) - 1, file), sizeof(kGood) - 1);
    std::fclose(file);
    EXPECT_STREQ(text, kGood);
    std::remove(path.c_str());
  }
  EXPECT_EQ(Compiled(kGood).status, FUSION_OK);
}

TEST(CompileTest, EndsWhatHangsOrHasNoMemory) {
  {
    Fault fault("hang");
    FusionCompileOptions options = {};
    options.timeLimitSeconds = 1;
    Compiled late(kGood, options);
    EXPECT_EQ(late.status, FUSION_DIAGNOSED);
    EXPECT_EQ(late.get(0).code, 1071);
  }
  Fault fault("memory");
  Compiled large(kGood);
  EXPECT_EQ(large.status, FUSION_DIAGNOSED);
  EXPECT_EQ(large.get(0).code, 1013);
}

extern "C" int headerTestInC(void);

TEST(CompileTest, IsCalledFromC) { EXPECT_EQ(headerTestInC(), 1003); }

/// Threads of one process compile at once, some of them with errors.
TEST(CompileTest, ServesThreads) {
  std::thread threads[4];
  for (int i = 0; i < 4; ++i)
    threads[i] = std::thread([i] {
      for (int round = 0; round < 2; ++round) {
        Compiled one(i % 2 ? kGood : kContract);
        EXPECT_EQ(one.status, i % 2 ? FUSION_OK : FUSION_DIAGNOSED);
        EXPECT_EQ(one.count(), i % 2 ? 0u : 1u);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

static std::atomic<unsigned> forking, forksAtOnce;

/// What a library may do before a fork that is not made for two at once.
static void enterFork() {
  unsigned inside = ++forking;
  forksAtOnce = std::max<unsigned>(forksAtOnce, inside);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  --forking;
}

TEST(CompileTest, ForksInOneThreadAtATime) {
  ASSERT_EQ(pthread_atfork(enterFork, nullptr, nullptr), 0);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([] { EXPECT_EQ(Compiled(kGood).status, FUSION_OK); });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(forksAtOnce, 1u);
}
