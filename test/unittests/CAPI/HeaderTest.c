/* Part of the Fusion project, under the Apache License v2.0 with LLVM
   Exceptions. See LICENSE for license information.
   SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* The header is C: this file compiles as such, and a test calls it. */
#include "fusion-c/Fusion.h"

int headerTestInC(void) {
  FusionDiagnostic diagnostic = {0};
  FusionCompilation *compilation = 0;
  FusionCompileOptions options = {0};
  int code = -1;
  options.structSize = sizeof(options);
  diagnostic.structSize = sizeof(diagnostic);
  if (fusionGetAbiVersion() != FUSION_C_ABI_VERSION)
    return -2;
  if (fusionCompile("module {", 8, &options, &compilation) != FUSION_DIAGNOSED)
    return -3;
  if (fusionCompilationGetDiagnostic(compilation, 0, &diagnostic) == FUSION_OK)
    code = diagnostic.code;
  fusionCompilationDestroy(compilation);
  return code;
}
