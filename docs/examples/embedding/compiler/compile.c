//===- compile.c - Compile a program from a C program ---------------------===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file compiles a function on tensors and writes the package:
//
//   compile PACKAGE.fpk
//
//===----------------------------------------------------------------------===//

#include "fusion-c/Fusion.h"

#include <stdio.h>
#include <string.h>

static const char program[] =
    "func.func @gate(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>)\n"
    "    -> tensor<64x96xf32> {\n"
    "  %silu = fusion.silu %x : tensor<64x96xf32>\n"
    "  %gated = arith.mulf %silu, %y : tensor<64x96xf32>\n"
    "  return %gated : tensor<64x96xf32>\n"
    "}\n";

/// Prints every error and warning: its code, place, cause and remedy.
static void printDiagnostics(const FusionCompilation *compilation) {
  size_t count = fusionCompilationGetNumDiagnostics(compilation);
  for (size_t i = 0; i < count; ++i) {
    FusionDiagnostic found = {sizeof(FusionDiagnostic)};
    if (fusionCompilationGetDiagnostic(compilation, i, &found) == FUSION_OK)
      fprintf(stderr, "%s:%u: FUS-%04d: %s; %s\n", found.fileName, found.line,
              found.code, found.cause, found.remedy);
  }
}

/// Writes the bytes of the package; 0 if the file cannot be written.
static int writePackage(const FusionCompilation *compilation,
                        const char *path) {
  size_t size = 0;
  const char *bytes = fusionCompilationGetOutput(compilation, &size);
  FILE *file = fopen(path, "wb");
  if (!file)
    return 0;
  int written = fwrite(bytes, 1, size, file) == size;
  return fclose(file) == 0 && written;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: compile PACKAGE.fpk\n");
    return 2;
  }
  FusionCompileOptions options = {sizeof(FusionCompileOptions)};
  options.target = "sm_90a";
  options.fileName = "gate.mlir";
  FusionCompilation *compilation = NULL;
  FusionStatus status =
      fusionCompile(program, strlen(program), &options, &compilation);
  printDiagnostics(compilation);
  if (status == FUSION_OK)
    printf("%s", fusionCompilationGetExplanation(compilation));
  int written = status == FUSION_OK && writePackage(compilation, argv[1]);
  fusionCompilationDestroy(compilation);
  return status != FUSION_OK ? (int)status : !written;
}
