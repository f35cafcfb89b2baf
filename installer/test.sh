#!/usr/bin/env bash
# Installs what is missing, builds, runs every test. The last line is "N passed, N failed, N skipped".
#   installer/test.sh                 the Release build and all tests
#   installer/test.sh --sanitizers    and the engine's tests again under AddressSanitizer and UBSan (what CI runs)
#   installer/test.sh -R REGEX ...    further arguments go to ctest
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
sanitizers=no
[ "${1:-}" = --sanitizers ] && { sanitizers=yes; shift; }
set_up_if_needed

passed=0 failed=0 skipped=0 failures=()

# run_tests FOLDER ctest-arguments...: adds the cases of every executable to the totals. An executable that ended without
# a report (a crash, a time-out) counts as one failure.
run_tests() {
  local folder=$1 results=$1/results name status tests bad skips
  shift
  rm -rf "$results"
  mkdir -p "$results"
  ctest --test-dir "$folder" --parallel "$(($(nproc) + 1))" --output-on-failure --no-tests=error "$@" --output-junit "$results/ctest.xml" >"$folder/ctest.log" 2>&1 || true
  sed -n '/Test *#\|\*\*\*Failed\|\*\*\*Timeout\|\*\*\*Exception/p' "$folder/ctest.log"
  while read -r name status; do
    if [ -s "$results/$name.xml" ]; then
      read -r tests bad skips < <(awk '
        # One line a suite; a test suites line only repeats their sum.
        /<testsuite / { t += value("tests"); f += value("failures") + value("errors"); s += value("skipped") + value("disabled") }
        function value(key,  text) { return match($0, " " key "=\"[0-9]+\"") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 4) : 0 }
        END { print t + 0, f + 0, s + 0 }' "$results/$name.xml")
    else
      tests=1 bad=0 skips=0
      [ "$status" = notrun ] && skips=1
    fi
    if [ "$status" = fail ] && [ "$bad" = 0 ]; then bad=1; [ "$tests" = 0 ] && tests=1; fi
    passed=$((passed + tests - bad - skips)) failed=$((failed + bad)) skipped=$((skipped + skips))
    [ "$bad" = 0 ] || failures+=("${folder##*/}/$name")
  done < <(awk 'match($0, /<testcase name="[^"]*"/) {
                  name = substr($0, RSTART + 16, RLENGTH - 17)
                  match($0, /status="[^"]*"/); print name, substr($0, RSTART + 8, RLENGTH - 9) }' "$results/ctest.xml")
  if [ "${#failures[@]}" != 0 ]; then sed -n '/\*\*\*/,/^ *Start/p' "$folder/ctest.log" | tail -n 150; fi
}

build_gradloom "$build" -DCMAKE_BUILD_TYPE=Release -DGRADLOOM_GUI=ON -DGRADLOOM_TESTS=ON
if [ $sanitizers = yes ]; then
  # Tests wait about as much as they compute: meanwhile the second build takes what they leave. Its own group, so that it ends with this script.
  set -m
  (
    renice -n 19 -p "$BASHPID" >/dev/null
    # What UBSan finds ends the program with a trap, of which AddressSanitizer tells the function: its own messages are two thirds of each
    # object file and a fifth of compiling. They come in a build that is configured by hand with GRADLOOM_SANITIZE alone.
    build_gradloom "$build-sanitizers" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
      "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -fsanitize-undefined-trap-on-error" -DGRADLOOM_GUI=OFF \
      -DGRADLOOM_TESTS=ON "-DGRADLOOM_SANITIZE=address;undefined"
  ) &
  sanitized=$!
  set +m
  trap 'kill -- "-$sanitized" 2>/dev/null || true' EXIT
fi
run_tests "$build" "$@"
if [ $sanitizers = yes ]; then
  wait "$sanitized"
  trap - EXIT
  ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0:handle_sigill=1 run_tests "$build-sanitizers" -L engine "$@"
fi

[ "${#failures[@]}" = 0 ] || printf 'failed: %s\n' "${failures[@]}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
