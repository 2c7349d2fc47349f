# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts all mutants into one build, in a copy of the tree.

Each edit becomes a choice that the program makes when it runs, once for each
place, by the environment:

    FUSION_MUTANT=NAME          the mutant to be, none if unset
    FUSION_MUTANT_TRACE=FILE    add the names of the mutants whose places the
                                run has reached, a line each

The tree itself and its build contain nothing of this.
"""

import re
import shutil
import subprocess

# Stands at the head of each file that has a mutant, once for those that include
# another. Every place asks once.
HEAD = r"""#ifndef FUSION_MUTANT
#include <cstdio>
#include <cstdlib>
#include <cstring>
[[maybe_unused]] static bool fusionIsMutant(const char *name) {
  if (const char *trace = std::getenv("FUSION_MUTANT_TRACE"))
    if (std::FILE *file = std::fopen(trace, "a")) {
      std::fprintf(file, "%s\n", name);
      std::fclose(file);
    }
  const char *chosen = std::getenv("FUSION_MUTANT");
  return chosen && std::strcmp(chosen, name) == 0;
}
#define FUSION_MUTANT(name)                                                    \
  ([]() -> bool {                                                              \
    static const bool isChosen = fusionIsMutant(name);                         \
    return isChosen;                                                           \
  }())
#endif
#line 1
"""
# What of a build's cache a build of the copy takes over.
CACHED = re.compile(r"^(CMAKE_(?:C|CXX)_COMPILER(?:_LAUNCHER)?|CMAKE_BUILD_TYPE"
                    r"|MLIR_DIR|LLVM_DIR|FUSION_\w+):\w+=(.*)$", re.MULTILINE)


def plant(text, mutant):
    """`text` with both ways in it."""
    if text.count(mutant.before) != 1:
        raise SystemExit(f"{mutant.name}: its text is "
                         f"{text.count(mutant.before)} times in {mutant.path}")
    test = f'FUSION_MUTANT("{mutant.name}")'
    if mutant.before.rstrip().endswith((";", "}")):
        both = (f"if ({test}) {{ {mutant.after} }} "
                f"else {{ {mutant.before} }}\n")
    else:
        both = f"({test} ? ({mutant.after}) : ({mutant.before}))"
    return text.replace(mutant.before, both)


def plant_all(root, mutants):
    """{path: text} of the files of `root` that have mutants, with all of them.
    Edits of one file must not overlap."""
    planted = {}
    for mutant in mutants:
        text = planted.get(mutant.path) or (root / mutant.path).read_text()
        planted[mutant.path] = plant(text, mutant)
    return {path: HEAD + text for path, text in planted.items()}


def copy_tree(root, folder, changed):
    """Copies what git tracks, with the texts of `changed`, by path. Files that
    are the same already keep their time."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True,
                           capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        source, target = root / name, folder / name
        if not source.exists():
            continue
        data = changed[name].encode() if name in changed else \
            source.read_bytes()
        if target.exists() and target.read_bytes() == data:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        shutil.copymode(source, target)


def build(root, built, folder, mutants):
    """Builds fusion-run and fusion-opt with all mutants below `folder`,
    configured as the build folder `built` is, and returns their folder."""
    tree = folder / "tree"
    tree.mkdir(parents=True, exist_ok=True)
    copy_tree(root, tree, plant_all(root, mutants))
    cache = (built / "CMakeCache.txt").read_text()
    options = [f"-D{name}={value}" for name, value in CACHED.findall(cache)]
    subprocess.run(["cmake", "-G", "Ninja", "-S", tree, "-B", folder / "build",
                    *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder / "build", "--target",
                    "fusion-run", "fusion-opt"], check=True)
    return folder / "build" / "bin"
