#!/usr/bin/env bash
# Makes the kit that tests/gpu/run.sh takes to a machine with a GPU that has neither our sources' libraries nor a network: loom, its
# modules, the tests that need a GPU, the libraries of this system that they are linked with, and run.sh itself.
#   tests/gpu/pack.sh [--without PART,...] [BUILD [FILE]]     (build, BUILD/gpu-kit.tar.gz; ninja gpu_programs builds what goes in)
# A part that is not there is an error, unless it is named: a section without its part tells nothing, on the only day that it could.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
without=,
if [ "${1:-}" = --without ]; then without=,$2,; shift 2; fi
build=$(cd "${1:-$root/build}" && pwd) file=${2:-$build/gpu-kit.tar.gz}
most=$((60 << 20))  # bytes: what may be carried is 64 MiB, the sources among them
shared=${GRADLOOM_SHARED:-$root/../shared}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
missing=()
# part PATH SECTIONS: whether it goes in.
part() {
  local name=$(basename "$1")
  if [ -e "$1" ]; then return 0; fi
  [[ $without == *,$name,* ]] || missing+=("$name, for $2: $1 is not there")
  return 1
}
mkdir "$work/kit"
if part "$build/bin/loom" "everything"; then
  part "$build/bin/loom_cuda.so" "everything" || true
  "$root/installer/bundle.sh" "$build/bin/loom" "$work/engine.tar.gz" >/dev/null
  tar -xzf "$work/engine.tar.gz" -C "$work/kit"
fi
mkdir -p "$work/kit/lib" "$work/kit/samples"
packed=()
add() { # PATH SECTIONS: a program or module, with its libraries
  part "$1" "$2" || return 0
  install -m 755 "$1" "$work/kit/lib"
  packed+=("$1")
}
add "$build/tests/test_gpu_cuda" "ops, capture and sanitizer"
add "$build/tests/test_gpu_training" "training"
add "$build/tests/test_gpu_ranks" "training"
add "$build/tests/test_nccl" "nccl"
add "$build/tests/gpu_calibrate" "calibration"
add "$build/tests/gpu_profile" "profile"
add "$build/tests/gpu_door" "launcher"
add "$build/bin/loom_nccl.so" "nccl"
# Theirs, as the loader finds them here; not NVIDIA's, which the other machine has, nor the C library, which is newer there or in libc/.
if [ ${#packed[@]} != 0 ]; then
  ldd "${packed[@]}" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u | while read -r name path; do
    case $name in
      libc.so.*|libm.so.*|libdl.so.*|libpthread.so.*|librt.so.*|libcu*|libnccl*|libnv*|libmpi*|libopen-*) continue ;;
    esac
    [ -e "$work/kit/lib/$name" ] || install -m 644 "$path" "$work/kit/lib/$name"
  done
fi
strip --strip-unneeded "$work"/kit/lib/test_* "$work"/kit/lib/gpu_* "$work"/kit/lib/*.so* 2>/dev/null || true
install -m 755 "$here/run.sh" "$work/kit"
install -m 644 "$root/samples/cifar10-speed/cifar10-speed.loom" "$work/kit"
! part "$build/samples/digits/data/train.csv" "launcher" || cp -r "$build/samples/digits" "$work/kit/samples"
peer=$shared/peers/torch_bench.py pictures=$shared/data/cifar10/cifar10-train-jpeg.tar.gz
! part "$peer" "torch" || install -m 644 "$peer" "$work/kit"
! part "$pictures" "speed" || install -m 644 "$pictures" "$work/kit"
if [ ${#missing[@]} != 0 ]; then
  echo "pack: the kit would lack" >&2
  printf '  %s\n' "${missing[@]}" >&2
  echo "Build the target gpu_programs, put shared/ beside the checkout, or say --without $(printf '%s\n' "${missing[@]%%,*}" | paste -s -d,)" >&2
  exit 1
fi
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work/kit" -cf - . | gzip -n -9 >"$file.part"
bytes=$(stat -c %s "$file.part")
[ "$bytes" -le $most ] || { echo "pack: the kit has $((bytes >> 20)) MiB, but only $((most >> 20)) may be carried; leave the pictures out: --without $(basename "$pictures")" >&2; exit 1; }
# What is in it, read from the file that travels.
tar -tzf "$file.part" >"$work/inside"
for one in bin/loom lib/loom lib/loom_cuda.so run.sh cifar10-speed.loom "${packed[@]/#*\//lib/}"; do
  grep -qx "./$one" "$work/inside" || { echo "pack: $file.part lacks $one" >&2; exit 1; }
done
mv "$file.part" "$file"
echo "pack: $file, $((bytes >> 20)) MiB"
