#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks the C and C++ sources against .clang-format with clang-format 22.
#
# Usage: tools/dev/format.sh [-f] [--since=REV] [FILE...]
#   -f            rewrite the files instead of reporting
#   --since=REV   only files that differ from REV, uncommitted ones included
#   FILE...       only these files; without them and --since, every source
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

fix=0 since="" files=()
for argument in "$@"; do
  case $argument in
    -f) fix=1 ;;
    --since=*) since=${argument#--since=} ;;
    -h|--help) sed -n '9,15s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "format.sh: error: unknown option '$argument'" >&2; exit 2 ;;
    *) files+=("$argument") ;;
  esac
done

tool=$(command -v clang-format-22 || echo /usr/lib/llvm-22/bin/clang-format)
if [[ ! -x $tool ]]; then
  echo "format.sh: error: clang-format-22 is not installed" >&2
  echo "  remedy: tools/dev/install_deps.sh" >&2
  exit 1
fi

is_source='\.(c|cc|cpp|h)$'
if [[ -n $since ]]; then
  mapfile -t files < <({ git diff --name-only --diff-filter=d "$since" --
                         git ls-files --others --exclude-standard; } |
                       grep -E "$is_source" | sort -u)
elif ((${#files[@]} == 0)); then
  mapfile -t files < <(find include lib tools test python -type f |
                       grep -E "$is_source" | sort)
fi
if ((${#files[@]} == 0)); then
  echo "No C or C++ files to check."
  exit 0
fi

if ((fix)); then
  printf '%s\0' "${files[@]}" | xargs -0 -n 64 "$tool" -i
  echo "Formatted ${#files[@]} files."
  exit 0
fi

# One line per file that differs; the diffs themselves are what -f is for.
unformatted=()
for file in "${files[@]}"; do
  "$tool" "$file" | cmp -s - "$file" || unformatted+=("$file")
done
if ((${#unformatted[@]})); then
  printf 'not formatted: %s\n' "${unformatted[@]}" >&2
  echo "format.sh: error: ${#unformatted[@]} of ${#files[@]} files differ" \
       "from clang-format 22's output" >&2
  echo "  remedy: tools/dev/format.sh -f" >&2
  exit 1
fi
echo "All ${#files[@]} files are formatted."
