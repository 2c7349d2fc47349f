/* Part of the Fusion project, under the Apache License v2.0 with LLVM
 * Exceptions. See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */

/* A library as NVTX_INJECTION64_PATH names one: it writes each range that is
 * pushed, by its depth, and how many were popped, to the file that the
 * environment variable RANGES names. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*Function)(void);

struct Callbacks {
  size_t size;
  int (*getModuleTable)(uint32_t module, Function ***table, uint32_t *size);
};
struct Version {
  size_t size;
  uint32_t version, reserved;
  void (*setInjectionVersion)(uint32_t version);
};

static FILE *file;
static int depth, popped;

static int push(const char *name) {
  fprintf(file, "%*s%s\n", 2 * depth, "", name);
  return depth++;
}

static int pop(void) {
  ++popped;
  return --depth;
}

static void finish(void) {
  fprintf(file, "popped %d, open %d\n", popped, depth);
  fclose(file);
}

int InitializeInjectionNvtx2(const void *(*getTable)(uint32_t)) {
  const struct Version *version = getTable(3);
  const struct Callbacks *callbacks = getTable(1);
  Function **table = NULL;
  uint32_t size = 0;
  if (!version || version->version < 3 || !callbacks || getTable(2))
    return 0;
  version->setInjectionVersion(3);
  /* As listeners do that take the functions of every module. */
  for (uint32_t module = 2; module <= 6; ++module)
    if (callbacks->getModuleTable(module, &table, &size))
      for (uint32_t i = 1; i < size; ++i)
        *table[i] = (Function)abort;
  if (callbacks->getModuleTable(0, &table, &size) ||
      !callbacks->getModuleTable(1, &table, &size) || size != 16)
    return 0;
  *table[9] = (Function)push;
  *table[11] = (Function)pop;
  file = fopen(getenv("RANGES"), "w");
  atexit(finish);
  return file != NULL;
}
