#!/usr/bin/env bash
# Measures on a machine with a GPU what no other can: one call of at most ten minutes that never stops at a failure and writes
# one report. The machine needs a driver, cuBLAS and cuDNN 9; network, CMake and Debian's libraries it need not have.
#   tests/gpu/run.sh [--kit FILE] [--out FOLDER] [--seconds 570] [--only smoke,bench]
# Programs come from the kit that tests/gpu/pack.sh made (build/gpu-kit.tar.gz where none is named), else from build/. In FOLDER
# (where none is named: $OUT, else the current folder) it leaves
#   gpu-report.txt        verdict, time and last lines of every section
#   gpu-report.json       the same verdicts for programs
#   gpu-calibration.json  for `loom plan --calibration` (engine/planner/README.md)
#   gpu-logs.tar.gz       all that was printed
# A section is passed, failed, out of time, or not available, with the reason. Exit code: 0 unless a section failed.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
kit=$root/build/gpu-kit.tar.gz out=${OUT:-$PWD} seconds=570 only=
while [ $# -gt 0 ]; do
  case $1 in
    --kit) kit=$2 ;;
    --out) out=$2 ;;
    --seconds) seconds=$2 ;;
    --only) only=,$2, ;;
    *) echo "usage: $0 [--kit FILE] [--out FOLDER] [--seconds S] [--only SECTION,...]" >&2; exit 2 ;;
  esac
  shift 2 || { echo "$0: $1 needs a value" >&2; exit 2; }
done
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
work=$(mktemp -d) logs=$work/logs
mkdir "$logs"
trap 'rm -rf "$work"' EXIT
report=$out/gpu-report.txt
began=$(date +%s)
any_failed=0
verdicts=

text() { printf '%s' "$1" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g'; }
write_json() {
  printf '{"report": 1, "date": "%s", "host": "%s", "gpu": "%s", "driver": "%s", "complete": %s,\n "sections": {%s\n }}\n' \
    "$(date -u +%FT%TZ)" "$(text "$(uname -n)")" "$(text "$gpu")" "$(text "$driver")" "$1" "$verdicts" >"$out/gpu-report.json.part"
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
wanted() { [ -z "$only" ] || [[ $only == *,$1,* ]]; }
# section NAME LIMIT LINES COMMAND...: where there is a GPU, within LIMIT seconds and what is left of the whole. Exit code 77: not available, and the
# last line says why. LINES of its output go into the report.
section() {
  local name=$1 limit=$2 lines=$3 log=$logs/$1.txt start code left
  shift 3
  wanted "$name" || return 0
  if [ -z "$gpu" ] && [ "$name" != machine ]; then note "$name" "not available" 0 "no GPU: $no_gpu"; return 0; fi
  left=$((began + seconds - $(date +%s)))
  if [ "$left" -lt 5 ]; then note "$name" "not available" 0 "no time is left"; return 0; fi
  [ "$left" -ge "$limit" ] || limit=$left
  start=$(date +%s)
  timeout --kill-after=5 "$limit" "$@" >"$log" 2>&1 </dev/null
  code=$?
  local took=$(($(date +%s) - start))
  case $code in
    0) note "$name" passed $took "" "$log" "$lines" ;;
    77) note "$name" "not available" $took "$(tail -n 1 "$log")" ;;
    124 | 137) note "$name" "out of time" $took "more than $limit s" "$log" "$lines" ;;
    *) note "$name" failed $took "exit code $code" "$log" "$lines" ;;
  esac
}
unavailable() { echo "$*"; exit 77; }

# --- What there is.
gpu= driver= no_gpu=
if ! command -v nvidia-smi >/dev/null; then
  no_gpu="nvidia-smi is not there, hence no driver"
elif ! gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>"$logs/smi.txt" | head -n 1) || [ -z "$gpu" ]; then
  gpu= no_gpu="nvidia-smi tells none: $(head -n 1 "$logs/smi.txt")"
else
  driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
fi
# Programs: each section asks for its own.
bin=$root/build/bin tests=$root/build/tests modules=$root/build/bin
if [ -e "$kit" ]; then
  mkdir "$work/kit"
  tar -xzf "$kit" -C "$work/kit" && bin=$work/kit/bin tests=$work/kit/lib modules=$work/kit/lib
fi
loom=$bin/loom
# NVIDIA's libraries where installers and pip put them; those that the loader knows come first anyway.
libraries=$(python3 -c 'import glob, sysconfig; print(":".join(sorted(glob.glob(sysconfig.get_paths()["purelib"] + "/nvidia/*/lib"))))' 2>/dev/null)
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}${libraries:+:$libraries}:/usr/local/cuda/lib64
export GRADLOOM_CUDA_MODULE=$modules/loom_cuda.so GRADLOOM_NCCL_MODULE=$modules/loom_nccl.so GRADLOOM_MPI_MODULE=$modules/loom_mpi.so
export XDG_CACHE_HOME=$work/cache PYTHONUNBUFFERED=1 LC_ALL=C.UTF-8
{
  echo "Gradloom on a GPU, $(date -u +'%F %T') UTC, $(uname -n), $(uname -sr)"
  echo "GPU: ${gpu:-none ($no_gpu)}${driver:+, driver $driver}"
  echo "programs: $([ -e "$kit" ] && echo "$kit" || echo "$root/build")"
  echo "processor: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
  echo
} >"$report"
write_json false

machine() {
  [ -x "$loom" ] || unavailable "$loom is not there: build it, or carry the kit that tests/gpu/pack.sh makes"
  if [ -n "$gpu" ]; then
    nvidia-smi
    nvidia-smi --query-gpu=name,memory.total,clocks.max.sm,clocks.max.mem,power.limit,pcie.link.gen.max,pcie.link.width.max,compute_cap --format=csv
  fi
  nvcc --version 2>/dev/null | tail -n 2
  python3 -c 'import torch; print("torch", torch.__version__, "cuDNN", torch.backends.cudnn.version(), "NCCL", torch.cuda.nccl.version())' 2>&1 | tail -n 1
  "$loom" doctor
}
smoke() { "$loom" bench mlp --device cuda --seconds 1 && "$loom" bench mnist-cnn --device cuda --precision bf16 --seconds 1; }
# gtest PROGRAM FILTER [BEFORE...]: not available where all was skipped.
gtest() {
  local program=$1 filter=$2
  shift 2
  [ -x "$tests/$program" ] || unavailable "$program was not built (tests/gpu/pack.sh makes the kit)"
  local log=$work/$program.$$.out code
  "$@" "$tests/$program" --gtest_brief=1 --gtest_color=no "--gtest_filter=$filter" 2>&1 | tee "$log"
  code=${PIPESTATUS[0]}
  grep -q '\[  PASSED  \] 0 tests' "$log" && [ "$code" = 0 ] && unavailable "all of its tests were skipped: $(grep -m 1 -A 1 ': Skipped' "$log" | tail -n 1)"
  return "$code"
}
# The same in several processes beside each other: what cuDNN compiles when it is asked for takes a core for seconds.
sharded() {
  local shards=$(($(nproc) / 2)) k failed=0 missing=0
  [ "$shards" -ge 1 ] || shards=1
  [ "$shards" -le 8 ] || shards=8
  for ((k = 0; k < shards; ++k)); do
    ( (export GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$k; gtest "$@") >"$work/shard$k" 2>&1; echo $? >"$work/shard$k.code") &
  done
  wait
  for ((k = 0; k < shards; ++k)); do
    echo "-- part $((k + 1)) of $shards"
    cat "$work/shard$k"
    case $(cat "$work/shard$k.code") in 0) ;; 77) missing=$((missing + 1)) ;; *) failed=1 ;; esac
  done
  [ $missing -lt "$shards" ] || exit 77
  return $failed
}
sanitizer() {
  local tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
  [ -n "$tool" ] || unavailable "compute-sanitizer is not installed"
  local check failed=0
  for check in memcheck racecheck synccheck initcheck; do
    echo "-- $check"
    # What the vendors' kernels do is theirs; ours are in these ops.
    gtest test_gpu_cuda "$sanitized" "$tool" --tool "$check" --error-exitcode 9 --kernel-name kns=loom --print-limit 20 || failed=1
  done
  return $failed
}
sanitized='*GpuOp*softmax*:*GpuOp*attention*:*GpuOp*batch_norm*:*GpuOp*layer_norm*:*GpuOp*pooling*:*GpuOp*sort*:*GpuOp*embedding*:*GpuOp*reduce*:*GpuOp*update*'
bench() {
  local precision failed=0
  for precision in bf16 f32 f16; do
    "$loom" bench --device cuda --precision $precision --seconds 2 || failed=1
  done
  "$loom" bench resnet50 --device cuda --precision bf16 --batch 256 --seconds 4 || failed=1
  return $failed
}
torch() {
  python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null || unavailable "there is no PyTorch that sees the GPU"
  local peer
  for peer in "$work/kit/torch_bench.py" "$root/../shared/peers/torch_bench.py" "$root/shared/peers/torch_bench.py"; do
    [ -e "$peer" ] || continue
    python3 "$peer" --device cuda --mode eager,compile --precision bf16,f32 --seconds 2
    return
  done
  unavailable "torch_bench.py is not there"
}
candidates() {
  [ -e "$XDG_CACHE_HOME/gradloom/engines.json" ] || unavailable "no engine was timed (sections smoke and bench do)"
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

export root work tests loom out gpu sanitized
export -f machine smoke gtest sharded sanitizer bench torch speed candidates calibration nccl unavailable
section machine 30 60 bash -c machine
section smoke 60 10 bash -c smoke
section ops 150 25 bash -c 'sharded test_gpu_cuda "*GpuOp*"'
section capture 60 25 bash -c 'gtest test_gpu_cuda "*GpuNetwork*"'
section bench 150 30 bash -c bench
section torch 120 30 bash -c torch
section speed 60 30 bash -c speed
section calibration 40 30 bash -c calibration
section candidates 10 200 bash -c candidates
section nccl 30 25 bash -c nccl
section sanitizer 120 60 bash -c sanitizer
tar -czf "$out/gpu-logs.tar.gz" -C "$logs" .
write_json true
echo "report: $report"
exit $any_failed
