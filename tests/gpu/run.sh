#!/usr/bin/env bash
# Measures on a machine with a GPU what no other can, in three calls that together take less than nine minutes (README.md). None
# stops at a failure, and each leaves what is needed to mend it. The machine needs a driver, cuBLAS and cuDNN 9; network, CMake and
# Debian's libraries it need not have.
#   tests/gpu/run.sh --call a|b|c [--kit FILE] [--out FOLDER] [--before FOLDER] [--seconds S] [--only smoke,ops] [--plan]
# Programs come from the kit that tests/gpu/pack.sh made (build/gpu-kit.tar.gz where none is named), else from build/. FOLDER before:
# what an earlier call left (build/gpu-before where none is named). In FOLDER out ($OUT, else the current folder) it leaves
#   gpu-report.txt        verdict, time and last lines of every section; of what failed, all that was said
#   gpu-report.json       the same verdicts for programs
#   gpu-again.txt         the cases that failed, for call b
#   gpu-engines.json      which engines were timed and taken, so that the next call need not
#   gpu-calibration.json  for `loom plan --calibration` (engine/planner/README.md)
#   gpu-logs.tar.gz       all that was printed
# A section is passed, failed, out of time, or not available, with the reason. Exit code: 0 unless a section failed. --plan prints
# the sections of all calls with their limits, and runs nothing.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
kit=$root/build/gpu-kit.tar.gz out=${OUT:-$PWD} before=$root/build/gpu-before call= seconds= only= plan=
declare -A budgets=([a]=150 [b]=210 [c]=120)
while [ $# -gt 0 ]; do
  case $1 in
    --call) call=$2 ;;
    --kit) kit=$2 ;;
    --out) out=$2 ;;
    --before) before=$2 ;;
    --seconds) seconds=$2 ;;
    --only) only=,$2, ;;
    --plan) plan=1; shift; continue ;;
    *) echo "usage: $0 --call a|b|c [--kit FILE] [--out FOLDER] [--before FOLDER] [--seconds S] [--only SECTION,...] [--plan]" >&2; exit 2 ;;
  esac
  shift 2 || { echo "$0: $1 needs a value" >&2; exit 2; }
done
[ -n "$plan" ] || [ -n "${budgets[${call:-none}]:-}" ] || { echo "$0: --call is a, b or c" >&2; exit 2; }
began=$(date +%s)
work=$(mktemp -d) logs=$work/logs
mkdir "$logs"
trap 'rm -rf "$work"' EXIT
any_failed=0 verdicts= gpu= driver= no_gpu= reserved=0

text() { printf '%s' "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g'; }
write_json() {
  printf '{"report": 2, "call": "%s", "date": "%s", "host": "%s", "gpu": "%s", "driver": "%s", "complete": %s,\n "sections": {%s\n }}\n' \
    "$call" "$(date -u +%FT%TZ)" "$(text "$(uname -n)")" "$(text "$gpu")" "$(text "$driver")" "$1" "$verdicts" >"$out/gpu-report.json.part"
  mv "$out/gpu-report.json.part" "$out/gpu-report.json"
}
# note NAME VERDICT SECONDS REASON [LOG LINES]
note() {
  local log=${5:-} lines=${6:-25}
  [ "$2" != failed ] && [ "$2" != "out of time" ] || any_failed=1
  {
    printf '== %s: %s%s (%s s)\n' "$1" "$2" "${4:+: $4}" "$3"
    [ -z "$log" ] || tail -n "$lines" "$log"
    echo
  } >>"$report"
  verdicts+=${verdicts:+,}$'\n  '"\"$1\": {\"verdict\": \"$2\", \"seconds\": $3, \"reason\": \"$(text "$4")\"}"
  write_json false
  echo "$1: $2${4:+: $4} ($3 s)"
}
# section CALL NAME LIMIT LINES COMMAND...: where there is a GPU, within its limit and what those before it left of theirs, so that none
# takes another's time. Exit code 77: not available, and the last line says why. LINES of its output go into the report.
section() {
  local of=$1 name=$2 limit=$3 lines=$4 log=$logs/$2.txt start code left
  shift 4
  if [ -n "$plan" ]; then echo "$of $name $limit"; return 0; fi
  [ "$of" = "$call" ] && { [ -z "$only" ] || [[ $only == *,$name,* ]]; } || return 0
  reserved=$((reserved + limit))
  if [ -z "$gpu" ] && [ "$name" != machine ]; then note "$name" "not available" 0 "no GPU: $no_gpu"; return 0; fi
  start=$(date +%s)
  left=$((began + reserved - start))
  [ $left -le $((began + seconds - 3 - start)) ] || left=$((began + seconds - 3 - start))
  if [ $left -lt 3 ]; then note "$name" "not available" 0 "no time is left"; return 0; fi
  section=$name timeout --kill-after=3 "$left" "$@" >"$log" 2>&1 </dev/null
  code=$?
  local took=$(($(date +%s) - start))
  gather "$name"
  case $code in
    0) note "$name" passed $took "" "$log" "$lines" ;;
    77) note "$name" "not available" $took "$(tail -n 1 "$log")" ;;
    124 | 137) note "$name" "out of time" $took "more than $left s" "$log" "$lines" ;;
    *) note "$name" failed $took "exit code $code" "$log" "$lines" ;;
  esac
  # What was learnt goes on, whatever comes next.
  [ ! -e "$XDG_CACHE_HOME/gradloom/engines.json" ] || cp "$XDG_CACHE_HOME/gradloom/engines.json" "$out/gpu-engines.json"
}
# Of the cases that a section ran (logs of the form NAME.PROGRAM.K.cases): what failed goes into gpu-again.txt, what was under way when
# time ran out, too, and the whole of what the first three said into the report.
gather() {
  local log program name count=0
  for log in "$logs/$1".*.cases; do
    [ -e "$log" ] || continue
    program=${log#"$logs/$1."} program=${program%%.*}
    # Those that began and did not pass, in their order.
    sed -n 's/^\[ RUN *\] //p' "$log" | grep -vxF -f <(sed -n 's/^\[ *\(OK\|SKIPPED\) *\] \([^ ]*\).*/\2/p' "$log") | sort -u | while read -r name; do
      echo "$program $name" >>"$out/gpu-again.txt"
    done
  done
  [ -s "$out/gpu-again.txt" ] || return 0
  sort -u -o "$out/gpu-again.txt" "$out/gpu-again.txt"
  while read -r program name; do
    for log in "$logs/$1".*.cases; do
      [ -e "$log" ] && grep -qxF "[ RUN      ] $name" "$log" || continue
      [ $((count++)) -lt 3 ] || return 0
      printf '== %s, of %s, said\n' "$name" "$1"
      awk -v begin="[ RUN      ] $name" '$0 == begin { on = 1 } on { print } on && /^\[ +(FAILED|OK) / { exit }' "$log" | cut -c1-400 | head -n 120
      echo
      break
    done
  done <"$out/gpu-again.txt" >>"$report"
}
unavailable() { echo "$*"; exit 77; }

machine() {
  [ -x "$loom" ] || unavailable "$loom is not there: build it, or carry the kit that tests/gpu/pack.sh makes"
  if [ -n "$gpu" ]; then
    nvidia-smi --query-gpu=name,memory.total,clocks.max.sm,clocks.max.mem,power.limit,pcie.link.gen.max,pcie.link.width.max,compute_cap --format=csv
    nvidia-smi
  fi
  env | grep -i -E '^(NVIDIA_|CUBLAS|CUDNN|CUDA_)'
  ls /usr/local/cuda*/lib64/libcublasLt.so.* 2>/dev/null
  "$loom" doctor
}
# First with each launch awaited: what fails then is named. Then as it is meant.
smoke() {
  CUDA_LAUNCH_BLOCKING=1 GRADLOOM_CUDA_CHECK=1 GRADLOOM_ENGINES=ready "$loom" bench mlp --device cuda --seconds 0.5 &&
    "$loom" bench mlp --device cuda --seconds 0.5 &&
    GRADLOOM_ENGINES=ready "$loom" bench mnist-cnn --device cuda --precision bf16 --seconds 0.5
}

# --- Cases of GoogleTest, in several processes beside each other: what cuDNN compiles when it is asked for takes a core for seconds.
kLost=86  # what a program answers whose device is lost (tests/gpu/cuda/lost_device.h)
# Runs a command into FILE; answers 124 where nothing was written for $patience seconds.
watched() {
  local file=$1 process size=-1 now quiet=$SECONDS
  shift
  "$@" >"$file" 2>&1 </dev/null &
  process=$!
  while kill -0 $process 2>/dev/null; do
    sleep 0.1
    now=$(stat -c %s "$file")
    [ "$now" = "$size" ] || { size=$now quiet=$SECONDS; }
    if [ $((SECONDS - quiet)) -ge "$patience" ]; then
      kill -KILL $process
      { wait $process; } 2>/dev/null
      return 124
    fi
  done
  { wait $process; } 2>/dev/null
}
# some PROGRAM LIST LOG [BEFORE...]: the cases of the list in one process; where one takes the process along (a device that is lost, a
# crash, a hang), it is named and the rest goes on in another.
some() {
  local program=$1 list=$2 log=$3 failed=0 code last restarts
  shift 3
  : >"$log"
  for ((restarts = 0; restarts < 6; ++restarts)); do
    watched "$log.now" "$@" "$tests/$program" --gtest_color=no "--gtest_filter=$(paste -s -d: "$list")"
    code=$?
    cat "$log.now" >>"$log"
    [ $code != 0 ] || return $failed
    failed=1
    [ $code = $kLost ] || [ $code -ge 124 ] || return 1
    last=$(sed -n 's/^\[ RUN *\] //p' "$log.now" | tail -n 1)
    [ -n "$last" ] || { echo "$program ends before its first case: exit code $code" | tee -a "$log"; return 1; }
    case $code in
      $kLost) echo "DEVICE LOST in $last" ;;
      124) echo "HANGS: nothing from $last for $patience s" ;;
      *) echo "CRASHED in $last: signal $((code - 128))" ;;
    esac | tee -a "$log"
    grep -vxF -f <(sed -n 's/^\[ RUN *\] //p' "$log.now") "$list" >"$list.rest"
    mv "$list.rest" "$list"
    [ -s "$list" ] || return 1
  done
  echo "$program took itself down $restarts times: $(wc -l <"$list") cases were not run" | tee -a "$log"
  return 1
}
# cases PROGRAM FILTER [BEFORE...]: not available where all was skipped.
cases() {
  local program=$1 filter=$2 shards=${processes:-$(($(nproc) * 3 / 4))} k failed=0
  shift 2
  [ -x "$tests/$program" ] || unavailable "$program was not built (tests/gpu/pack.sh makes the kit)"
  "$tests/$program" --gtest_list_tests "--gtest_filter=$filter" 2>/dev/null |
    awk '/^[^ ]/ { suite = $1; next } NF { print suite $1 }' >"$work/$section.list"
  [ -s "$work/$section.list" ] || { echo "$program has no cases for $filter"; return 1; }
  [ $shards -ge 1 ] || shards=1
  [ $shards -le 12 ] || shards=12
  [ $shards -le "$(wc -l <"$work/$section.list")" ] || shards=$(wc -l <"$work/$section.list")
  for ((k = 0; k < shards; ++k)); do
    awk "NR % $shards == $k" "$work/$section.list" >"$work/$section.$k"
    (some "$program" "$work/$section.$k" "$logs/$section.$program.$k.cases" "$@"; echo $? >"$work/$section.$k.code") &
  done
  wait
  for ((k = 0; k < shards; ++k)); do [ "$(cat "$work/$section.$k.code")" = 0 ] || failed=1; done
  cat "$logs/$section.$program".*.cases >"$work/$section.all"
  echo "$(grep -c '^\[ *OK' "$work/$section.all") of $(wc -l <"$work/$section.list") cases passed"
  if [ $failed = 0 ]; then
    ! grep -q '^\[  SKIPPED' "$work/$section.all" || grep -q '^\[ *OK' "$work/$section.all" ||
      unavailable "all of its tests were skipped: $(grep -m 1 -A 1 ': Skipped' "$work/$section.all" | tail -n 1)"
    return 0
  fi
  grep -h -E '^(DEVICE LOST|HANGS|CRASHED|.* took itself down)|^\[  FAILED  \] [^ ,]*' "$work/$section.all" | sed 's/ (.*//; s/, where.*//' | sort -u
  return 1
}
# Each by itself and slowly, so that an error names kernel, layer and grid, and the libraries say what they were asked; under memcheck,
# too, where that is here.
again() {
  [ -s "$before/gpu-again.txt" ] || { echo "nothing failed before (no $before/gpu-again.txt)"; return 0; }
  local program name failed=0 k=0 tool=$(sanitizer_tool)
  while read -r program name && [ $k -lt 24 ]; do
    echo "$name" >"$work/again.$k"
    (
      export CUDA_LAUNCH_BLOCKING=1 GRADLOOM_CUDA_CHECK=1 CUBLASLT_LOG_LEVEL=2 CUBLASLT_LOG_FILE=$logs/again.$k.cublaslt.txt
      export CUDNN_LOGLEVEL_DBG=2 CUDNN_LOGDEST_DBG=$logs/again.$k.cudnn.txt
      some "$program" "$work/again.$k" "$logs/again.$program.$k.cases" && exit 0
      [ -z "$tool" ] || "$tool" --tool memcheck --kernel-name kns=loom --print-limit 5 "$tests/$program" "--gtest_filter=$name" >"$logs/again.$k.memcheck.txt" 2>&1
      exit 1
    ) &
    k=$((k + 1))
    [ $((k % 8)) != 0 ] || wait
  done <"$before/gpu-again.txt"
  wait
  cat "$logs"/again.*.cases | grep -c '^\[ *OK' | sed "s/$/ of $k pass by themselves/"
  cat "$logs"/again.*.cases | grep -h -E '^(DEVICE LOST|HANGS|CRASHED)|^\[  FAILED  \] [^ ,]*|error: in ' | sort -u
  ! grep -h -A 12 -m 2 '=========.*Invalid\|=========.*misaligned' "$logs"/again.*.memcheck.txt 2>/dev/null
  ! cat "$logs"/again.*.cases | grep -q -E '^(DEVICE LOST|HANGS|CRASHED|\[  FAILED)'
}
# And two ranks that share this GPU through the host, where Open MPI is here.
training() {
  cases test_gpu_training "*"
  local code=$?
  if [ -x "$tests/test_gpu_ranks" ] && command -v mpirun >/dev/null; then
    GRADLOOM_EXPECTED_RANKS=2 timeout 20 mpirun --allow-run-as-root --oversubscribe --bind-to none -n 2 "$tests/test_gpu_ranks" --gtest_filter='*ThatShareAGpu*' >"$logs/training.ranks.txt" 2>&1
    local ranks=$?
    tail -n 4 "$logs/training.ranks.txt"
    [ $ranks = 0 ] || { echo "two ranks on one GPU: exit code $ranks"; code=1; }
  else
    echo "two ranks on one GPU: Open MPI or test_gpu_ranks is not here"
  fi
  return $code
}
# Another process trains from a person's click to the last epoch; while it does, its events arrive.
launcher() {
  [ -x "$tests/gpu_door" ] || unavailable "gpu_door was not built (tests/gpu/pack.sh makes the kit)"
  local folder=$work/launched door live=0 run
  [ -e "$samples/digits/data/train.csv" ] || unavailable "the sample digits, with its data, is not in the kit"
  mkdir -p "$folder/bin"
  printf '#!/bin/sh\nverb=$1\nshift\n[ "$verb" != train ] || set -- "$@" --device cuda\nexec "%s" "$verb" "$@"\n' "$loom" >"$folder/bin/loom"
  chmod +x "$folder/bin/loom"
  "$tests/gpu_door" "$folder/data" "$folder/bin/loom" submit "$samples/digits" --host local --follow --runs "$folder/runs" >"$folder/said.txt" 2>&1 &
  door=$!
  while kill -0 $door 2>/dev/null; do
    run=$(find "$folder/runs" -name events.jsonl 2>/dev/null | head -n 1)
    [ -z "$run" ] || ! grep -q '"step"' "$run" || live=1
    sleep 0.1
  done
  wait $door || { tail -n 30 "$folder/said.txt"; return 1; }
  tail -n 5 "$folder/said.txt"
  [ $live = 1 ] || { echo "no event of a step arrived before the end"; return 1; }
  run=$(find "$folder/runs" -name events.jsonl | head -n 1)
  grep -m 1 -o '"device": *"[^"]*"' "$run"
  grep -q '"device": *"cuda"' "$run" || { echo "it was not trained by the GPU"; return 1; }
  echo "$(grep -c '"step"' "$run") events of steps, the first of which arrived while it was trained"
}

# --- How fast it is. ResNet-50 with batch 256 is the figure that matters: first with what need not be compiled or timed, so that there is one.
resnet50() {
  GRADLOOM_ENGINES=ready timeout 30 "$loom" bench resnet50 --device cuda --precision bf16 --batch 256 --seconds 2 || echo "not with ready engines: exit code $?"
  echo "-- engines timed, from $(date +%T)"
  GRADLOOM_PROFILE=1 "$loom" bench resnet50 --device cuda --precision bf16 --batch 256 --seconds 3 2>"$logs/resnet50.stages.json"
  local code=$?
  echo "-- until $(date +%T)"
  grep -v '^{' "$logs/resnet50.stages.json" | tail -n 5
  return $code
}
bench() {
  local name failed=0
  for name in gpt-mini lstm mlp mnist-cnn resnet20; do
    timeout 20 "$loom" bench $name --device cuda --precision bf16 --seconds 1 || { echo "bench $name in bf16: exit code $?"; failed=1; }
  done
  for name in gpt-mini mlp; do
    timeout 20 "$loom" bench $name --device cuda --precision f32 --seconds 1 || { echo "bench $name in f32: exit code $?"; failed=1; }
  done
  timeout 20 "$loom" bench gpt-mini --device cuda --precision f16 --seconds 1 || { echo "bench gpt-mini in f16: exit code $?"; failed=1; }
  return $failed
}
torch() {
  python3 -c 'import torch, sys; print("torch", torch.__version__, "cuDNN", torch.backends.cudnn.version()); sys.exit(not torch.cuda.is_available())' ||
    unavailable "there is no PyTorch that sees the GPU"
  local peer
  for peer in "$work/kit/torch_bench.py" "$root/../shared/peers/torch_bench.py" "$root/shared/peers/torch_bench.py"; do
    [ -e "$peer" ] || continue
    python3 "$peer" --device cuda --mode eager --precision bf16 --only resnet50,gpt-mini,lstm,mlp,mnist-cnn,resnet20 --seconds 1
    python3 "$peer" --device cuda --mode compile --precision bf16 --only gpt-mini,mlp --seconds 1
    return
  done
  unavailable "torch_bench.py is not there"
}
candidates() {
  [ -e "$XDG_CACHE_HOME/gradloom/engines.json" ] || unavailable "no engine was timed (sections resnet50 and bench do)"
  python3 - "$XDG_CACHE_HOME/gradloom/engines.json" <<'PYTHON' || cat "$XDG_CACHE_HOME/gradloom/engines.json"
import json, sys
for machine, kept in json.load(open(sys.argv[1]))["machines"].items():
    print(machine)
    ways = {what: one for what, one in kept.items() if what.startswith("ways of ")}
    others = [one for what, one in kept.items() if what not in ways and one["place"] != 0]
    print(f"{len(kept) - len(ways)} graphs and products were timed; for {len(others)} another engine than the favourite was taken")
    print(f"{len(ways)} computations could be done in several ways (attention by tiles or products, a bias joined or apart)")
    for what, one in sorted(kept.items(), key=lambda each: (each[0] not in ways, each[0])):
        print(" ", one["engine"], "of", [round(t, 1) for t in one["microseconds"]], "us:", what)
PYTHON
}
# The sample, on the 50,000 JPEG files of the kit, of which the last 5,000 are held out: no network is there to fetch CIFAR-10. Twice: the first
# run decodes them and times engines. Fails below 90 %, where something is broken; whether 94 % was reached, and when, is told.
speed() {
  local archive=$work/kit/cifar10-train-jpeg.tar.gz project=$work/kit/cifar10-speed.loom folder=$work/cifar10 csv run
  [ -e "$archive" ] || archive=$root/../shared/data/cifar10/cifar10-train-jpeg.tar.gz
  [ -e "$archive" ] || unavailable "cifar10-train-jpeg.tar.gz is not in the kit"
  [ -e "$project" ] || project=$root/samples/cifar10-speed/cifar10-speed.loom
  mkdir -p "$folder" && tar -xzf "$archive" -C "$folder" || return 1
  csv=$(find "$folder" -name train.csv | head -n 1)
  sed -e "s|\"csv\": \"data/train/index.csv\"|\"csv\": \"$csv\", \"rows\": 45000|" \
    -e "s|\"csv\": \"data/test/index.csv\"|\"csv\": \"$csv\", \"first_row\": -5000|" "$project" >"$folder/speed.loom"
  for run in first second; do
    "$loom" train "$folder/speed.loom" --device cuda --run "$folder/$run" >"$folder/$run.txt" 2>&1 || { tail -n 20 "$folder/$run.txt"; return 1; }
    echo "-- $run run"
    grep -E '^(done|best)' "$folder/$run.txt"
  done
  python3 - "$folder/second/events.jsonl" <<'PYTHON'
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
began = min(one["time"] for one in events if one["kind"] == "step")
reached = [(one["time"] - began, one["metrics"]["accuracy"]) for one in events if one["kind"] == "validation"]
first = next((time for time, accuracy in reached if accuracy >= 0.94), None)
print("seconds from the first step, and accuracy:", ", ".join(f"{time:.2f} {accuracy:.4f}" for time, accuracy in reached))
print("94 % was not reached" if first is None else f"94 % after {first:.2f} s, validations included")
sys.exit(max(accuracy for _, accuracy in reached) < 0.9)
PYTHON
}
calibration() {
  [ -x "$tests/gpu_calibrate" ] || unavailable "gpu_calibrate was not built (tests/gpu/pack.sh makes the kit)"
  "$tests/gpu_calibrate" "$out/gpu-calibration.json" && cat "$out/gpu-calibration.json"
}
# The stages that take longest, each beside its floor: of the whole machine first, then by ncu where that is here.
profile() {
  [ -x "$tests/gpu_profile" ] || unavailable "gpu_profile was not built (tests/gpu/pack.sh makes the kit)"
  local name failed=0 tool=$(command -v ncu || ls /usr/local/cuda/bin/ncu 2>/dev/null)
  for name in "resnet50 bf16 10 256" "gpt-mini bf16 10" "lstm bf16 10"; do
    # shellcheck disable=SC2086
    GRADLOOM_ENGINES=ready timeout 30 "$tests/gpu_profile" $name || { echo "gpu_profile $name: exit code $?"; failed=1; }
  done
  [ -z "$tool" ] || timeout 20 "$tool" --launch-skip 1200 --launch-count 40 --section SpeedOfLight "$loom" bench gpt-mini --device cuda --precision bf16 --seconds 0.2 ||
    echo "ncu tells nothing here (exit code $?)"
  return $failed
}
sanitizer_tool() { ls "$work/kit/compute-sanitizer/compute-sanitizer" 2>/dev/null || command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null; }
sanitizer() {
  local tool=$(sanitizer_tool) check failed=0
  [ -n "$tool" ] || unavailable "compute-sanitizer is not installed"
  for check in memcheck racecheck synccheck initcheck; do
    # What the vendors' kernels do is theirs; ours are in these ops.
    (section=sanitizer-$check processes=$((($(nproc) + 3) / 4)); cases test_gpu_cuda "$sanitized" "$tool" --tool "$check" --error-exitcode 9 --kernel-name kns=loom --print-limit 20) >"$work/$check.txt" 2>&1 &
  done
  wait
  for check in memcheck racecheck synccheck initcheck; do
    echo "-- $check"
    cat "$work/$check.txt"
    grep -h '^========= ' "$logs/sanitizer-$check".*.cases 2>/dev/null | grep -v 'ERROR SUMMARY: 0\|COMPUTE-SANITIZER$' | sort | uniq -c | sort -rn | head -n 12
    ! grep -q -E 'ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]' "$logs/sanitizer-$check".*.cases 2>/dev/null || failed=1
    ! grep -q '^\[  FAILED\|^DEVICE LOST\|^CRASHED\|^HANGS' "$logs/sanitizer-$check".*.cases 2>/dev/null || failed=1
  done
  return $failed
}
sanitized='*GpuOp*softmax*:*GpuOp*attention*:*GpuOp*batch_norm*:*GpuOp*layer_norm*:*GpuOp*pooling*:*GpuOp*sort*:*GpuOp*embedding*:*GpuOp*reduce*:*GpuOp*update*'
nccl() {
  [ -x "$tests/test_nccl" ] || unavailable "test_nccl was not built (tests/gpu/pack.sh makes the kit)"
  local gpus=$(nvidia-smi -L | wc -l) ranks failed=0
  for ranks in 1 2 4 8; do
    [ "$ranks" -le "$gpus" ] || [ "$ranks" = 2 ] || continue
    echo "-- $ranks ranks on $gpus GPUs"
    if [ "$ranks" = 1 ]; then
      "$tests/test_nccl" --gtest_brief=1 || failed=1
    elif command -v mpirun >/dev/null; then
      mpirun --allow-run-as-root --oversubscribe --bind-to none -n "$ranks" "$tests/test_nccl" --gtest_brief=1 || failed=1
    else
      echo "Open MPI is not there"
    fi
  done
  return $failed
}

# The worst that can be learnt comes first. Limits of a call add up to less than its budget.
sections() {
  section a machine 10 60 bash -c machine
  section a smoke 20 15 bash -c smoke
  section a ops 55 40 bash -c 'cases test_gpu_cuda "*GpuOp*"'
  section a capture 20 40 bash -c 'cases test_gpu_cuda "*GpuNetwork*"'
  section a training 25 40 bash -c training
  section a launcher 15 15 bash -c launcher
  section b again 25 60 bash -c again
  section b resnet50 50 15 bash -c resnet50
  section b bench 35 30 bash -c bench
  section b torch 30 30 bash -c torch
  section b speed 45 30 bash -c speed
  section b calibration 15 30 bash -c calibration
  section b candidates 5 200 bash -c candidates
  section c sanitizer 50 60 bash -c sanitizer
  section c profile 40 80 bash -c profile
  section c nccl 20 25 bash -c nccl
}
if [ -n "$plan" ]; then
  sections
  exit 0
fi

# --- What there is.
seconds=${seconds:-${budgets[$call]}}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
report=$out/gpu-report.txt
rm -f "$out/gpu-again.txt"
if ! command -v nvidia-smi >/dev/null; then
  no_gpu="nvidia-smi is not there, hence no driver"
elif ! gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>"$logs/smi.txt" | head -n 1) || [ -z "$gpu" ]; then
  gpu= no_gpu="nvidia-smi tells none: $(head -n 1 "$logs/smi.txt")"
else
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
fi
# Programs: each section asks for its own.
bin=$root/build/bin tests=$root/build/tests modules=$root/build/bin samples=$root/build/samples
if [ -e "$kit" ]; then
  mkdir "$work/kit"
  tar -xzf "$kit" -C "$work/kit" && bin=$work/kit/bin tests=$work/kit/lib modules=$work/kit/lib samples=$work/kit/samples
fi
loom=$bin/loom
# NVIDIA's libraries where installers and pip put them; those that the loader knows come first anyway.
libraries=$(python3 -c 'import glob, sysconfig; print(":".join(sorted(glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib"))))' 2>/dev/null)
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${libraries:+$libraries:}/usr/local/cuda/lib64
export GRADLOOM_CUDA_MODULE=$modules/loom_cuda.so GRADLOOM_NCCL_MODULE=$modules/loom_nccl.so GRADLOOM_MPI_MODULE=$modules/loom_mpi.so
export XDG_CACHE_HOME=$work/cache PYTHONUNBUFFERED=1 LC_ALL=C.UTF-8 patience=${GRADLOOM_PATIENCE:-25}
if [ -e "$before/gpu-engines.json" ]; then
  mkdir -p "$XDG_CACHE_HOME/gradloom" && cp "$before/gpu-engines.json" "$XDG_CACHE_HOME/gradloom/engines.json"
fi
{
  echo "Gradloom on a GPU, call $call, $(date -u +'%F %T') UTC, $(uname -n), $(uname -sr)"
  echo "GPU: ${gpu:-none ($no_gpu)}${driver:+, driver $driver}"
  echo "programs: $([ -e "$kit" ] && echo "$kit" || echo "$root/build")"
  echo "processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
  echo
} >"$report"
write_json false
export root work logs tests loom out before gpu samples sanitized kLost
export -f machine smoke watched some cases training again launcher resnet50 bench torch candidates speed calibration profile sanitizer_tool sanitizer nccl unavailable
sections
tar -czf "$out/gpu-logs.tar.gz" -C "$logs" --exclude='*.now' .
write_json true
echo "report: $report"
exit $any_failed
