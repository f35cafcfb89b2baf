#!/usr/bin/env bash
# Makes the kit that tests/gpu/run.sh takes to a machine with a GPU that has neither our sources' libraries nor a network: loom, its
# modules, the tests that need a GPU, and the libraries of this system that they are linked with.
#   tests/gpu/pack.sh [BUILD [FILE]]     (build, BUILD/gpu-kit.tar.gz; programs must have been built: ninja gpu_programs)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=$(cd "${1:-$root/build}" && pwd) file=${2:-$build/gpu-kit.tar.gz}
most=$((60 << 20))  # bytes: what may be carried is 64 MiB, the sources among them
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$build/bin/loom" ] || { echo "pack: $build/bin/loom is not there; build the target gpu_programs" >&2; exit 1; }
"$root/installer/bundle.sh" "$build/bin/loom" "$work/engine.tar.gz" >/dev/null
mkdir "$work/kit"
tar -xzf "$work/engine.tar.gz" -C "$work/kit"
packed=()
for program in "$build/tests/test_gpu_cuda" "$build/tests/test_nccl" "$build/tests/gpu_calibrate" "$build/bin/loom_nccl.so"; do
  if [ ! -e "$program" ]; then
    echo "pack: without $(basename "$program"), which was not built"
    continue
  fi
  install -m 755 "$program" "$work/kit/lib"
  packed+=("$program")
done
# Theirs, as the loader finds them here; not NVIDIA's, which the other machine has, nor the C library, which is newer there or in libc/.
if [ ${#packed[@]} != 0 ]; then
  ldd "${packed[@]}" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u | while read -r name path; do
    case $name in
      libc.so.*|libm.so.*|libdl.so.*|libpthread.so.*|librt.so.*|libcu*|libnccl*|libnv*|libmpi*|libopen-*) continue ;;
    esac
    [ -e "$work/kit/lib/$name" ] || install -m 644 "$path" "$work/kit/lib/$name"
  done
fi
strip --strip-unneeded "$work"/kit/lib/test_* "$work"/kit/lib/gpu_* "$work"/kit/lib/*.so* 2>/dev/null || true
peer=$root/../shared/peers/torch_bench.py
[ ! -e "$peer" ] || install -m 644 "$peer" "$work/kit"
install -m 644 "$root/samples/cifar10-speed/cifar10-speed.loom" "$work/kit"
pictures=$root/../shared/data/cifar10/cifar10-train-jpeg.tar.gz
[ ! -e "$pictures" ] || install -m 644 "$pictures" "$work/kit"
compress() { tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work/kit" -cf - . | gzip -n -9 >"$file.part" && bytes=$(stat -c %s "$file.part"); }
compress
if [ "$bytes" -gt $most ] && [ -e "$work/kit/$(basename "$pictures")" ]; then
  echo "pack: without the pictures of section speed, for which $((most >> 20)) MiB are too few"
  rm "$work/kit/$(basename "$pictures")"
  compress
fi
[ "$bytes" -le $most ] || { echo "pack: the kit has $((bytes >> 20)) MiB, but only $((most >> 20)) may be carried" >&2; exit 1; }
mv "$file.part" "$file"
echo "pack: $file, $((bytes >> 20)) MiB"
