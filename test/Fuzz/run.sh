#!/usr/bin/env bash
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the fuzzers that lie beside this script, with the corpus there, and
# reports what they found.
#
# Usage: run.sh SECONDS JOBS OUT [TARGET...]
#   SECONDS  how long each job runs
#   JOBS     jobs of each target, all at the same time
#   OUT      folder for logs, inputs that crashed, and the grown corpus
#   TARGET   ptx-parser, ptx-exec, package, npy, emulate, program, command-line
#            or python; without one, all
#
# The last line of each target is 'TARGET: N runs in N minutes of processor
# time, N new inputs, N findings'; the exit status is 0 only when nothing was found and every job ran.
set -uo pipefail

if (($# < 3)); then
  sed -n '7,19s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
seconds=$1 jobs=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$3" && out=$(cd "$3" && pwd) || exit 2
targets=("${@:4}")

# MLIR and LLVM are not sanitized. Containers and arenas that both sides touch
# are annotated on one side alone, which looks like an error and is none.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1
ASAN_OPTIONS+=:detect_container_overflow=0:allow_user_poisoning=0
# The C++ library is linked in: its operator new is not the sanitizer's.
ASAN_OPTIONS+=:alloc_dealloc_mismatch=0
export UBSAN_OPTIONS=print_stacktrace=1
# Upstream's parser and the compiler call themselves, in larger frames here.
ulimit -s 65536 2>/dev/null
TIMEFORMAT='%U %S'
pids=()

wants() { ((${#targets[@]} == 0)) || [[ " ${targets[*]} " == *" $1 "* ]]; }

# start TARGET CORPUS OPTION...: one target's jobs, each with a corpus of its
# own that starts from the one that is kept.
start() {
  local target=$1 corpus=$2 job
  shift 2
  for ((job = 0; job < jobs; ++job)); do
    local folder=$out/$target/$job
    mkdir -p "$folder/corpus"
    {
      time "$here/$target" -max_total_time="$seconds" -seed=$((job + 1)) \
        -artifact_prefix="$folder/" -print_final_stats=1 -timeout=60 \
        -rss_limit_mb=4096 -malloc_limit_mb=2048 "$@" \
        "$folder/corpus" "$here/corpus/$corpus" \
        >"$folder/log" 2>&1 </dev/null
    } 2>"$folder/time" &
    pids+=($!)
  done
}

# start_python: the Python package, with packages on the sanitized runtime.
start_python() {
  local job
  for ((job = 0; job < jobs; ++job)); do
    local folder=$out/python/$job
    mkdir -p "$folder"
    # Python and NumPy free little at the end.
    {
      time LD_PRELOAD=$here/python/libclang_rt.asan-x86_64.so \
        ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 \
        FUSION_RT_LIBRARY=$here/python/libfusion-rt.so \
        PYTHONPATH=$here/python PYTHONDONTWRITEBYTECODE=1 \
        python3 "$here/python/hostile.py" --seconds="$seconds" \
          --seed=$((job + 1)) --packages="$here/python/packages" \
          --log="$folder/last" >"$folder/log" 2>&1 </dev/null
      status=$?
      ((status == 0)) || cp "$folder/last" "$folder/crash-status-$status"
    } 2>"$folder/time" &
    pids+=($!)
  done
}

wants ptx-parser &&
  start fusion-ptx-parser-fuzzer parser -max_len=8192 -dict="$here/ptx.dict"
wants ptx-exec && start fusion-ptx-exec-fuzzer exec -max_len=1024
wants ptx-exec && [[ -x $here/fusion-ptx-exec-fuzzer-fast ]] &&
  start fusion-ptx-exec-fuzzer-fast exec -max_len=1024
wants package && start fusion-package-fuzzer package -max_len=32768
wants npy && start fusion-npy-fuzzer npy -max_len=4096
wants emulate &&
  start fusion-emulate-fuzzer emulate -max_len=1024 -dict="$here/emulate.dict"
wants program && start fusion-program-fuzzer program -max_len=8192
wants command-line &&
  start fusion-command-line-fuzzer command-line -max_len=1024 \
    -close_fd_mask=3 -dict="$here/command-line.dict"
wants python && start_python
for pid in "${pids[@]}"; do wait "$pid"; done

status=0
for folder in "$out"/*/; do
  target=$(basename "$folder")
  runs=0
  for log in "$folder"/*/log; do
    n=$(sed -n -e 's/^stat::number_of_executed_units: *//p' \
      -e 's/^\([0-9]*\) calls:.*/\1/p' "$log")
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
  minutes=$(awk '{ t += $1 + $2 } END { printf "%.1f", t / 60 }' \
    "$folder"/*/time)
  echo "$target: $runs runs in $minutes minutes of processor time," \
    "$new new inputs, ${#found[@]} findings"
done
exit $status
