#!/usr/bin/env bash
# run.sh with programs that only pretend: every verdict, no stop at a failure, the limits of time, a report that programs can read.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
expect() { # TEXT FILE REASON
  grep -qF -- "$1" "$2" || { echo "$3: '$1' is not in $2:"; cat "$2"; failures=$((failures + 1)); }
}
mkdir -p "$work/kit/bin" "$work/kit/lib" "$work/path" "$work/none"
pretend() { printf '#!/bin/bash\n%s\n' "$2" >"$1"; chmod +x "$1"; }
pretend "$work/kit/bin/loom" 'case $* in doctor*) echo "version loom pretended";; "bench --device cuda --precision f32"*) echo "a \"bad\" line"; exit 5;; *resnet50*) sleep 60;; bench*) echo "{\"samples_per_s\": 1}";; esac'
pretend "$work/kit/lib/test_gpu_cuda" 'echo "[  PASSED  ] 0 tests."'
pretend "$work/kit/lib/test_nccl" 'echo "[  PASSED  ] 4 tests."'
tar -czf "$work/kit.tar.gz" -C "$work/kit" .
pretend "$work/path/python3" 'exit 1'
ln -s "$work/path/python3" "$work/none/python3"
run() { # PATH ARGUMENTS...: run.sh in a folder of its own
  local path=$1
  shift
  env -u OUT "PATH=$path:/usr/bin:/bin" "$here/run.sh" --kit "$work/kit.tar.gz" --out "$work/out" "$@" >"$work/said" 2>&1
}

# A GPU, and 9 seconds.
pretend "$work/path/nvidia-smi" 'case $* in *query-gpu=name,*) echo "NVIDIA Pretended, 1";; *query-gpu=name*) echo "NVIDIA Pretended";; *driver_version*) echo 580.1;; -L) echo "GPU 0";; esac'
run "$work/path" --seconds 9
[ $? = 1 ] || { echo "a failed section is not told by the exit code"; failures=$((failures + 1)); }
report=$work/out/gpu-report.txt json=$work/out/gpu-report.json
expect "GPU: NVIDIA Pretended, driver 580.1" "$report" "the machine"
expect "== smoke: passed" "$report" "a section that passes"
expect '{"samples_per_s": 1}' "$report" "its output"
expect "== ops: not available: all of its tests were skipped" "$report" "tests that were skipped"
expect "== bench: out of time: more than" "$report" "a section that takes too long"
expect '"nccl": {"verdict": "not available", "seconds": 0, "reason": "no time is left"}' "$json" "what comes behind it"
expect '"complete": true' "$json" "the end"
tar -tzf "$work/out/gpu-logs.tar.gz" >"$work/logs" && expect "./smoke.txt" "$work/logs" "the logs"
/usr/bin/python3 -m json.tool "$json" >/dev/null 2>"$work/fault" || { [ ! -x /usr/bin/python3 ] || { cat "$work/fault"; failures=$((failures + 1)); }; }
# Failures stop nothing.
pretend "$work/kit/bin/loom" 'case $* in *mlp*) echo "no such device"; exit 5;; *) echo fine;; esac'
tar -czf "$work/kit.tar.gz" -C "$work/kit" .
run "$work/path" --only smoke,nccl
expect '"smoke": {"verdict": "failed"' "$json" "a section that fails"
expect '"nccl": {"verdict": "passed"' "$json" "the one behind it"
# The sample: its pictures come from the kit, and what it reached is told; a run that learns nothing is a failure.
mkdir "$work/pictures" && echo "x:image,y:label" >"$work/pictures/train.csv" && tar -czf "$work/kit/cifar10-train-jpeg.tar.gz" -C "$work/pictures" train.csv
cp "$here/../../samples/cifar10-speed/cifar10-speed.loom" "$work/kit"
learn() { # ACCURACY: a loom whose runs say so after 3 seconds
  pretend "$work/kit/bin/loom" "[ \$1 = train ] || exit 0
    grep -q 'train.csv\", \"rows\": 45000' \$2 && grep -q 'train.csv\", \"first_row\": -5000' \$2 || exit 9
    mkdir -p \$6 && echo 'best      accuracy $1 at epoch 24'
    echo '{\"kind\": \"step\", \"time\": 100.0}' >\$6/events.jsonl
    echo '{\"kind\": \"validation\", \"time\": 103.0, \"metrics\": {\"accuracy\": $1}}' >>\$6/events.jsonl"
  tar -czf "$work/kit.tar.gz" -C "$work/kit" .
}
if [ -x /usr/bin/python3 ]; then
  rm "$work/path/python3"
  learn 0.9412
  run "$work/path" --only speed
  expect "94 % after 3.00 s" "$report" "the sample reaches it"
  expect "best      accuracy 0.9412" "$report" "the second run's end"
  learn 0.91
  run "$work/path" --only speed
  expect "94 % was not reached" "$report" "the sample does not reach it"
  expect '"speed": {"verdict": "passed"' "$json" "which is no failure"
  learn 0.3
  run "$work/path" --only speed
  expect '"speed": {"verdict": "failed"' "$json" "a sample that learns nothing"
fi
# No GPU.
run "$work/none"
[ $? = 0 ] || { echo "a machine without a GPU is a failure"; failures=$((failures + 1)); }
expect '"ops": {"verdict": "not available", "seconds": 0, "reason": "no GPU: nvidia-smi is not there, hence no driver"}' "$json" "no GPU"
expect '"machine": {"verdict": "passed"' "$json" "what the machine is, still"
[ $failures = 0 ] && echo "run.sh: all verdicts as they should be"
exit $((failures > 0))
