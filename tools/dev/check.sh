#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every gate of the project in one command: installs what the tests need,
# builds the release preset, checks formatting and the sizes of functions and
# classes, runs the lit suite (unit tests included), the Python tests and 300
# random programs. The last line is 'N passed, N failed'; the exit status is 0
# only when nothing failed.
#
# Usage: tools/dev/check.sh [--no-install] [LIT-FILTER]
#   --no-install   use the machine as it is
#   LIT-FILTER     regular expression on lit's test names; runs only those
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

install=1 filter=""
for argument in "$@"; do
  case $argument in
    --no-install) install=0 ;;
    -h|--help) sed -n '7,16s/^# \{0,1\}//p' "$0"; exit 0 ;;
    -*) echo "check.sh: error: unknown option '$argument'" >&2; exit 2 ;;
    *) filter=$argument ;;
  esac
done

step() { printf '\n== %s (%s)\n' "$1" "$(date -u +%H:%M:%S)"; }
give_up() {
  echo "check.sh: error: $1 failed; no test was run" >&2
  echo "0 passed, 1 failed"
  exit 1
}

if ((install)); then
  step "Install what is missing"
  tools/dev/install_deps.sh || give_up "the installation"
  tools/dev/install_python.sh >/dev/null || give_up "the installation"
fi

step "Build"
tools/dev/build.sh || give_up "the build"

status=0
step "Format"
tools/dev/format.sh || status=1
python3 tools/dev/check_sizes.py || status=1
# The linters of Python, where tools/dev/install_python.sh put them.
if [[ -x build/venv/bin/ruff ]]; then
  build/venv/bin/ruff check --quiet --config python/pyproject.toml python ||
    status=1
  (cd python && ../build/venv/bin/mypy --config-file pyproject.toml >&2) ||
    status=1
fi

# The first Python 3 that has NumPy: with the frameworks whose programs are
# imported, where that was installed, else the user's own or Debian's.
python=""
for candidate in "$PWD/build/venv/bin/python" python3 /usr/bin/python3; do
  if "$candidate" -c 'import numpy' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [[ -z $python ]]; then
  echo "check.sh: error: no Python 3 with NumPy" >&2
  echo "  remedy: apt-get install python3-numpy" >&2
  python=/usr/bin/python3 status=1
fi

step "Tests"
lit=$(command -v /usr/lib/llvm-22/bin/lit || command -v lit-22 || command -v lit)
results=build/test-results
rm -rf "$results"
mkdir -p "$results"
lit_options=(-s -v --no-progress-bar -j "$(nproc)" -o "$results/lit.json")
[[ -n $filter ]] && lit_options+=(--filter "$filter")
# Every folder with a site configuration is a suite: IR tests, examples, units.
mapfile -t suites < <(find build/test -name lit.site.cfg.py -printf '%h\n' |
                      sort)
# The limit is for a hung test, not a budget: the whole suite takes minutes.
timeout --kill-after=10 2400 "$lit" "${lit_options[@]}" "${suites[@]}" \
  </dev/null || status=1

result_files=("$results/lit.json")
if [[ -z $filter ]]; then
  result_files+=("$results/python.json")
  step "Python tests"
  FUSION_BUILD_DIR=$PWD/build PYTHONPATH=$PWD/python \
    timeout --kill-after=10 2400 "$python" python/tests/run.py \
      --results "$results/python.json" </dev/null || status=1

  # 300 programs that nobody has seen, others for each commit.
  result_files+=("$results/fuzz.json")
  step "Random programs"
  seed=$(git rev-parse --short=12 HEAD 2>/dev/null) || seed=0
  timeout --kill-after=10 1200 "$python" python/fuzz/run.py --count=300 \
    --seed="$seed" --out="$results/fuzz" --results="$results/fuzz.json" \
    </dev/null || status=1
fi

step "Result"
"$python" tools/dev/count_tests.py "${result_files[@]}" || status=1
exit "$status"
