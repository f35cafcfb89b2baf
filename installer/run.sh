#!/usr/bin/env bash
# Everything a newcomer needs: installs what is missing, builds, and opens the IDE on the digits sample. With no display it
# trains that sample in the terminal. Further arguments go to the IDE (a project, --theme dark, ...).
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
set_up_if_needed

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  build_gradloom "$build" -DCMAKE_BUILD_TYPE=Release -DGRADLOOM_GUI=ON -DGRADLOOM_TESTS=OFF -- gradloom loom samples engine_bundle
  project=$build/samples/digits/digits.loom
  [ $# -gt 0 ] && [ -e "$1" ] && { project=$1; shift; }
  exec "$build/bin/gradloom" "$@" "$project"
fi
echo "No display: training samples/digits here in the terminal."
build_gradloom "$build" -DCMAKE_BUILD_TYPE=Release -DGRADLOOM_GUI=OFF -DGRADLOOM_TESTS=OFF -- loom samples
# A copy of one's own: training leaves runs and a cache beside its project.
mkdir -p "$build/projects"
cp -ru "$build/samples/digits" "$build/projects"
exec "$build/bin/loom" train "$build/projects/digits/digits.loom" "$@"
