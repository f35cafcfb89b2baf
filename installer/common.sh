# Shared by run.sh and test.sh: where things are, set-up if needed, a build. Sourced, not run.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${GRADLOOM_BUILD:-$root/build}

set_up_if_needed() {
  "$root/installer/setup.sh" --check >/dev/null 2>&1 || "$root/installer/setup.sh"
}

# build_gradloom FOLDER [cmake option or -- target ...]
build_gradloom() {
  local folder=$1 log
  shift
  local options=() targets=()
  while [ $# -gt 0 ]; do
    if [ "$1" = -- ]; then shift; targets=("$@"); break; fi
    options+=("$1"); shift
  done
  log=$folder/build.log
  mkdir -p "$folder"
  echo "Building in ${folder#"$root"/} (log: ${log#"$root"/})"
  # Several files at a time are compiled as one: three times as fast from nothing. Who works on single files configures without it.
  if ! cmake -S "$root" -B "$folder" -G Ninja "-DCMAKE_UNITY_BUILD=${GRADLOOM_UNITY:-ON}" "${options[@]}" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    return 1
  fi
  # On a terminal ninja's own line shows progress; otherwise only a failure is worth reading.
  if [ -t 1 ]; then
    NINJA_STATUS='[%f/%t] ' ninja -C "$folder" "${targets[@]}"
  elif ! ninja -C "$folder" "${targets[@]}" >>"$log" 2>&1; then
    grep -E -A 12 '^FAILED|error:' "$log" | tail -n 60 >&2 || tail -n 40 "$log" >&2
    return 1
  fi
}
