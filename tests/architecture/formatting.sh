#!/usr/bin/env bash
# Every C++ file of the repository stands as .clang-format lays it out. Run where clang-format has the major version that
# .clang-format names in its first line, since versions lay lines out differently; elsewhere it is skipped (77) and says why.
set -euo pipefail
cd "$1"
wanted=$(sed -n '1s/^# clang-format \([0-9]*\).*/\1/p' .clang-format)
[ -n "$wanted" ] || { echo "the first line of .clang-format names no major version"; exit 1; }
program=$(command -v "clang-format-$wanted" || command -v clang-format || true)
[ -n "$program" ] || { echo "skipped: there is no clang-format here"; exit 77; }
found=$("$program" --version | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
[ "$found" = "$wanted" ] || { echo "skipped: clang-format $found is here, and the project is laid out by $wanted"; exit 77; }
files=$(git ls-files '*.h' '*.cpp' '*.cu' '*.cuh' 2>/dev/null) || { echo "skipped: this is no checkout of git"; exit 77; }
if ! xargs -P 2 -n 64 "$program" --dry-run -Werror <<<"$files" >/tmp/formatting.$$ 2>&1; then
  sed -n 's/: error: code should be clang-formatted.*//p' /tmp/formatting.$$ | sort -u | head -n 20
  rm -f /tmp/formatting.$$
  echo "these places are not laid out as .clang-format says: $program -i FILE mends them"
  exit 1
fi
rm -f /tmp/formatting.$$
