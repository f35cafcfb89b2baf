#!/usr/bin/env bash
# run.sh with programs that only pretend: every verdict, no stop at a failure, the limits of time, what is left of a case that takes its
# process along, a report that programs can read; and pack.sh without its parts.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
wrong() { echo "$1"; failures=$((failures + 1)); }
expect() { # TEXT FILE REASON
  grep -qF -- "$1" "$2" || { wrong "$3: '$1' is not in ${2##*/}:"; tail -n 20 "$2"; }
}
mkdir -p "$work/kit/bin" "$work/kit/lib" "$work/kit/samples/digits/data" "$work/path" "$work/none"
pretend() { printf '#!/bin/bash\n%s\n' "$2" >"$1"; chmod +x "$1"; }
pack() { tar -czf "$work/kit.tar.gz" -C "$work/kit" .; }
report=$work/out/gpu-report.txt json=$work/out/gpu-report.json again=$work/out/gpu-again.txt
run() { # PATH ARGUMENTS...: run.sh in a folder of its own
  local path=$1
  shift
  env -u OUT "PATH=$path:/usr/bin:/bin" GRADLOOM_PATIENCE=1 "$here/run.sh" --kit "$work/kit.tar.gz" --out "$work/out" --before "$work/before" "$@" >"$work/said" 2>&1
}

# The plan: every call within its budget, with time for the files, and all within what a session has.
"$here/run.sh" --plan >"$work/plan"
for budget in "a 150" "b 210" "c 120"; do
  awk -v call="${budget% *}" -v most="${budget#* }" '$1 == call { sum += $3 } END { exit !(sum > most / 2 && sum <= most - 5) }' "$work/plan" ||
    wrong "call ${budget% *} does not fit its ${budget#* } seconds: $(cat "$work/plan")"
done
[ "$(awk '$1 == "b" && $2 != "again" { print $2; exit }' "$work/plan")" = resnet50 ] || wrong "the figure that matters does not come first"

# A program of cases, as GoogleTest has them: "bad" fails, "lost" loses the device, "crash" crashes, "hang" says nothing more.
cat >"$work/cases" <<'CASES'
#!/bin/bash
case $* in *--gtest_list_tests*) printf 'Running main()\nCases/GpuOp.\n  runs/good1  # GetParam() = 1\n  runs/lost\n  runs/good2\n  runs/crash\n  runs/bad\n  runs/hang\n  runs/good3\n'; exit ;; esac
filter=${!#} failed=0
filter=${filter#--gtest_filter=}
IFS=:
for name in $filter; do
  echo "[ RUN      ] $name"
  case $name in
    *lost) [ -z "${GRADLOOM_CUDA_CHECK:-}" ] || echo "error: in layer 'dense1': in kernel 'softmax.bf16': an illegal access"; exit 86 ;;
    *crash) kill -SEGV $$ ;;
    *hang) sleep 60 ;;
    *bad) echo "op_test.cpp:61: Failure"; echo "y[3] is 0.5, but should be 0.25; stages: softmax.bf16"; echo "[  FAILED  ] $name, where GetParam() = bad (3 ms)"; failed=1 ;;
    *) echo "[       OK ] $name (1 ms)" ;;
  esac
done
exit $failed
CASES
install -m 755 "$work/cases" "$work/kit/lib/test_gpu_cuda"
pretend "$work/kit/lib/test_gpu_training" 'case $* in *--gtest_list_tests*) printf "Training.\n  one\n"; exit;; esac; printf "[ RUN      ] Training.one\n[  SKIPPED ] Training.one (0 ms)\n"'
pretend "$work/kit/lib/test_nccl" 'echo "[  PASSED  ] 4 tests."'
pretend "$work/kit/bin/loom" 'case $* in
  doctor*) echo "version loom pretended";;
  *resnet50*) if [ "${GRADLOOM_ENGINES:-}" = ready ]; then echo "{\"ready\": 1}"; else echo "{\"timed\": 1}"; fi
    mkdir -p $XDG_CACHE_HOME/gradloom; cat $XDG_CACHE_HOME/gradloom/engines.json 2>/dev/null; echo "{\"machines\": {}}" >$XDG_CACHE_HOME/gradloom/engines.json;;
  *"--precision f16"*) echo "a \"bad\" line"; exit 5;;
  bench*) echo "{\"samples_per_s\": 1}";; esac'
pretend "$work/kit/lib/gpu_calibrate" 'sleep 60'
pack
pretend "$work/path/python3" 'exit 1'
ln -s "$work/path/python3" "$work/none/python3"
pretend "$work/path/nvidia-smi" 'case $* in *query-gpu=name,*) echo "NVIDIA Pretended, 1";; *query-gpu=name*) echo "NVIDIA Pretended";; *driver_version*) echo 580.1;; -L) echo "GPU 0";; esac'

# Call a: cases that take their process along cost themselves alone, in however many processes.
run "$work/path" --call a
[ $? = 1 ] || wrong "a failed section is not told by the exit code"
expect "GPU: NVIDIA Pretended, driver 580.1" "$report" "the machine"
expect "== smoke: passed" "$report" "a section that passes"
expect '{"samples_per_s": 1}' "$report" "its output"
expect "== ops: failed: exit code 1" "$report" "cases that fail"
expect "3 of 7 cases passed" "$report" "those behind one that took its process along"
expect "DEVICE LOST in Cases/GpuOp.runs/lost" "$report" "a device that is lost"
expect "CRASHED in Cases/GpuOp.runs/crash: signal 11" "$report" "a crash"
expect "HANGS: nothing from Cases/GpuOp.runs/hang for 1 s" "$report" "a hang"
expect "y[3] is 0.5, but should be 0.25; stages: softmax.bf16" "$report" "all that a case said that failed"
printf 'test_gpu_cuda Cases/GpuOp.runs/%s\n' bad crash hang lost >"$work/wanted"
sort -u "$again" | diff - "$work/wanted" >"$work/fault" || { wrong "what comes first in call b:"; cat "$work/fault"; }
expect '"training": {"verdict": "not available"' "$json" "tests that were skipped"
expect '"launcher": {"verdict": "not available"' "$json" "a program that is not there"
expect '"complete": true' "$json" "the end"
tar -tzf "$work/out/gpu-logs.tar.gz" >"$work/logs" && expect "./ops.test_gpu_cuda.0.cases" "$work/logs" "the logs"
! grep -q 'resnet50\|sanitizer' "$json" || wrong "sections of another call ran"

# Call b: what failed comes first, by itself and named; ResNet-50 before all else, with a figure before engines are timed; a section that
# hangs takes nobody else's time; engines go from call to call.
mkdir "$work/before" && cp "$again" "$work/before" && echo '{"machines": {"kept": {}}}' >"$work/before/gpu-engines.json"
run "$work/path" --call b --seconds 11 --only again,resnet50,bench,torch,calibration,candidates
expect "== again: failed" "$report" "what failed in call a"
expect "error: in layer 'dense1': in kernel 'softmax.bf16'" "$report" "its kernel and layer"
expect "0 of 4 pass by themselves" "$report" "each by itself"
expect '{"ready": 1}' "$report" "a figure with engines that need no time"
expect '{"timed": 1}' "$report" "and one with those that do"
expect '"kept"' "$report" "engines of the call before"
expect "bench gpt-mini in f16: exit code 5" "$report" "one workload that fails"
expect "== torch: not available: there is no PyTorch that sees the GPU" "$report" "no PyTorch"
expect "== calibration: out of time: more than" "$report" "a section that hangs"
expect '"candidates": {"verdict": "not available", "seconds": 0, "reason": "no time is left"}' "$json" "what comes behind it"
[ -e "$work/out/gpu-engines.json" ] || wrong "engines are not kept"
/usr/bin/python3 -m json.tool "$json" >/dev/null 2>"$work/fault" || { [ ! -x /usr/bin/python3 ] || { wrong "the report is no JSON:"; cat "$work/fault"; }; }

# Call c.
pretend "$work/kit/lib/gpu_profile" '[ $1 != lstm ] || exit 3; echo "$1 $2: 10 stages"'
pack
run "$work/path" --call c
expect "== sanitizer: not available: compute-sanitizer is not installed" "$report" "a tool that is not there"
expect "gpt-mini bf16: 10 stages" "$report" "a profile"
expect "gpu_profile lstm bf16 10: exit code 3" "$report" "one that fails"
expect '"nccl": {"verdict": "passed"' "$json" "the one behind it"
pretend "$work/path/compute-sanitizer" 'shift 8; echo "========= COMPUTE-SANITIZER"; "$@"; echo "========= Invalid __global__ read of size 4 bytes"; echo "========= ERROR SUMMARY: 1 error"; exit 9'
sed 's/runs.lost.n  //; s/  runs.crash.n//; s/  runs.hang.n//' "$work/cases" >"$work/kit/lib/test_gpu_cuda"
pack
run "$work/path" --call c --only sanitizer
expect '"sanitizer": {"verdict": "failed"' "$json" "what a sanitizer finds"
expect "Invalid __global__ read of size 4 bytes" "$report" "and says"

# From a click to the last epoch: events must arrive before the end, and by the GPU.
echo "x" >"$work/kit/samples/digits/data/train.csv"
launch() { # DEVICE BETWEEN: a door that starts the program it is given
  pretend "$work/kit/lib/gpu_door" '"$2" train project --run "$9/one"'
  pretend "$work/kit/bin/loom" "folder=\$4; mkdir -p \$folder; case \$* in *'--device cuda') ;; *) exit 9;; esac
    echo '{\"kind\": \"start\", \"device\": \"$1\"}' >\$folder/events.jsonl; $2
    echo '{\"kind\": \"step\"}' >>\$folder/events.jsonl; $3"
  pack
  run "$work/path" --call a --only launcher
}
launch cuda true "sleep 0.5"
expect '"launcher": {"verdict": "passed"' "$json" "a run through the launcher"
launch cpu true "sleep 0.5"
expect "it was not trained by the GPU" "$report" "a run on the processor"
launch cuda "sleep 0.3" true
expect '"launcher": {"verdict": "' "$json" "a run that ends with its first event"

# The sample: its pictures come from the kit, and what it reached is told; a run that learns nothing is a failure.
mkdir "$work/pictures" && echo "x:image,y:label" >"$work/pictures/train.csv" && tar -czf "$work/kit/cifar10-train-jpeg.tar.gz" -C "$work/pictures" train.csv
cp "$here/../../samples/cifar10-speed/cifar10-speed.loom" "$work/kit"
learn() { # ACCURACY: a loom whose runs say so after 3 seconds
  pretend "$work/kit/bin/loom" "[ \$1 = train ] || exit 0
    grep -q 'train.csv\", \"rows\": 45000' \$2 && grep -q 'train.csv\", \"first_row\": -5000' \$2 || exit 9
    mkdir -p \$6 && echo 'best      accuracy $1 at epoch 24'
    echo '{\"kind\": \"step\", \"time\": 100.0}' >\$6/events.jsonl
    echo '{\"kind\": \"validation\", \"time\": 103.0, \"metrics\": {\"accuracy\": $1}}' >>\$6/events.jsonl"
  pack
}
if [ -x /usr/bin/python3 ]; then
  rm "$work/path/python3"
  learn 0.9412
  run "$work/path" --call b --only speed
  expect "94 % after 3.00 s" "$report" "the sample reaches it"
  expect "best      accuracy 0.9412" "$report" "the second run's end"
  learn 0.91
  run "$work/path" --call b --only speed
  expect "94 % was not reached" "$report" "the sample does not reach it"
  expect '"speed": {"verdict": "passed"' "$json" "which is no failure"
  learn 0.3
  run "$work/path" --call b --only speed
  expect '"speed": {"verdict": "failed"' "$json" "a sample that learns nothing"
fi
# No GPU.
run "$work/none" --call a
[ $? = 0 ] || wrong "a machine without a GPU is a failure"
expect '"ops": {"verdict": "not available", "seconds": 0, "reason": "no GPU: nvidia-smi is not there, hence no driver"}' "$json" "no GPU"
expect '"machine": {"verdict": "passed"' "$json" "what the machine is, still"

# A kit without its parts is none, and says which.
mkdir -p "$work/build/bin" "$work/build/tests"
! GRADLOOM_SHARED=$work/nowhere "$here/pack.sh" "$work/build" >"$work/said" 2>&1 || wrong "a kit without anything was made"
for part in "loom, for everything" "test_gpu_training, for training" "torch_bench.py, for torch" "cifar10-train-jpeg.tar.gz, for speed" "gpu_door, for launcher"; do
  expect "$part" "$work/said" "a kit without its parts"
done
! ls "$work"/build/*.tar.gz >/dev/null 2>&1 || wrong "it left a kit behind"
[ $failures = 0 ] && echo "run.sh: all verdicts as they should be"
exit $((failures > 0))
