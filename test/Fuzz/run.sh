#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the fuzzers that lie beside this script, with the corpus there, and
# reports what they found.
#
# Usage: run.sh SECONDS JOBS OUT
#   SECONDS  how long each job runs
#   JOBS     jobs of each target, all at the same time
#   OUT      folder for logs, inputs that crashed, and the grown corpus
#
# The last line of each target is 'TARGET: N runs, N new inputs, N findings';
# the exit status is 0 only when nothing was found and every job ran.
set -uo pipefail

if (($# != 3)); then
  sed -n '7,16s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
seconds=$1 jobs=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$3" && out=$(cd "$3" && pwd) || exit 2

export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
pids=()

# start TARGET CORPUS OPTION...: one target's jobs, each with a corpus of its
# own that starts from the one that is kept.
start() {
  local target=$1 corpus=$2 job
  shift 2
  for ((job = 0; job < jobs; ++job)); do
    local folder=$out/$target/$job
    mkdir -p "$folder/corpus"
    "$here/$target" -max_total_time="$seconds" -seed=$((job + 1)) \
      -artifact_prefix="$folder/" -print_final_stats=1 -timeout=60 \
      -rss_limit_mb=4096 -malloc_limit_mb=2048 "$@" \
      "$folder/corpus" "$here/corpus/$corpus" \
      >"$folder/log" 2>&1 </dev/null &
    pids+=($!)
  done
}

start fusion-ptx-parser-fuzzer parser -max_len=8192 -dict="$here/ptx.dict"
start fusion-ptx-exec-fuzzer exec -max_len=1024
[[ -x $here/fusion-ptx-exec-fuzzer-fast ]] &&
  start fusion-ptx-exec-fuzzer-fast exec -max_len=1024
for pid in "${pids[@]}"; do wait "$pid"; done

status=0
for folder in "$out"/*/; do
  target=$(basename "$folder")
  runs=0
  for log in "$folder"/*/log; do
    n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [[ -z $n ]]; then
      echo "$target: a job stopped early: $log" >&2
      status=1
    fi
    runs=$((runs + ${n:-0}))
  done
  new=$(find "$folder" -path '*/corpus/*' -type f | wc -l)
  mapfile -t found < <(find "$folder" -type f \( -name 'crash-*' -o \
    -name 'timeout-*' -o -name 'oom-*' -o -name 'leak-*' \) | sort)
  for input in "${found[@]}"; do
    echo "found: $input" >&2
    status=1
  done
  echo "$target: $runs runs, $new new inputs, ${#found[@]} findings"
done
exit $status
