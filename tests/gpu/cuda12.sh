#!/bin/bash
# Compiles and links the CUDA module by CUDA 12: Debian 13's toolkit (12.4), unpacked into a folder; nothing is installed, no GPU is asked.
#   tests/gpu/cuda12.sh FOLDER     1.2 GiB to fetch, 2.5 GiB on the disk, some 150 s of processor time
# cuDNN 9 is the one that is here: CUDNN=/usr/local/cuda, with include/cudnn*.h and lib64/libcudnn.so.
set -euo pipefail
folder=$(realpath -m "${1:?usage: tests/gpu/cuda12.sh FOLDER}")
source=$(cd "$(dirname "$0")/../.." && pwd)
cudnn=${CUDNN:-/usr/local/cuda}
mirror=https://deb.debian.org/debian
mkdir -p "$folder/debs" "$folder/root" "$folder/toolkit/bin" "$folder/toolkit/nvvm" "$folder/cudnn"
[ -f "$cudnn/include/cudnn.h" ] || { echo "cuda12: there is no $cudnn/include/cudnn.h: set CUDNN to the folder of cuDNN 9"; exit 1; }

# The packages of a section whose names are told, as their files.
fetch() {
  local section=$1 file
  shift
  curl -sSf "$mirror/dists/trixie/$section/binary-amd64/Packages.xz" | xz -dc > "$folder/Packages"
  for package in "$@"; do
    file=$(awk -v want="$package" '$1 == "Package:" { name = $2 } $1 == "Filename:" && name == want { print $2 }' "$folder/Packages")
    [ -f "$folder/debs/$(basename "$file")" ] || curl -sSf -o "$folder/debs/$(basename "$file")" "$mirror/$file"
  done
}
fetch non-free nvidia-cuda-toolkit nvidia-cuda-dev libcudart12 libnvvm4 libcublas12 libcublaslt12
fetch main libcu++-dev libcub-dev libthrust-dev
for deb in "$folder"/debs/*.deb; do
  dpkg --fsys-tarfile "$deb" | tar -C "$folder/root" -xf - --exclude='*libcu[bfrs]*_static*' --exclude='*libnpp*' --exclude='*nvjpeg*'
done

# As NVIDIA lays a toolkit out, so that CMake finds it.
from=$folder/root/usr to=$folder/toolkit
cp "$from"/bin/{cudafe++,ptxas,fatbinary,bin2c,nvlink,cuobjdump,__nvcc_device_query} "$from"/lib/nvidia-cuda-toolkit/bin/{nvcc,cicc} "$to/bin"
cp -r "$from/lib/nvidia-cuda-toolkit/bin/crt" "$to/bin"
ln -sfn "$from/include" "$to/include"
ln -sfn "$from/lib/x86_64-linux-gnu" "$to/lib64"
ln -sfn "$from/lib/nvidia-cuda-toolkit/libdevice" "$to/nvvm/libdevice"
cat > "$to/bin/nvcc.profile" <<'PROFILE'
NVVMIR_LIBRARY_DIR = $(_HERE_)/../nvvm/libdevice
PATH += $(_HERE_):
INCLUDES += "-I$(_HERE_)/../include"
LIBRARIES =+ $(_SPACE_) "-L$(_HERE_)/../lib64/stubs" "-L$(_HERE_)/../lib64"
PROFILE
# Its headers alone: beside them may stand another CUDA's.
for header in "$cudnn"/include/cudnn*.h; do ln -sf "$(realpath "$header")" "$folder/cudnn/"; done

cmake -S "$source" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DGRADLOOM_GUI=OFF -DGRADLOOM_TESTS=OFF -DCUDAToolkit_ROOT="$to" \
      -DCMAKE_CUDA_COMPILER="$to/bin/nvcc" -DCUDNN_INCLUDE="$folder/cudnn" -DCUDNN_LIBRARY="$(realpath "$cudnn/lib64/libcudnn.so")" > "$folder/configure.log"
ninja -C "$folder/build" loom_cuda_module
echo "cuda12: kernels with something on the stack:"
"$to/bin/cuobjdump" --dump-resource-usage "$folder/build/bin/loom_cuda.so" | c++filt |
  awk '/arch = / { arch = $3 } / Function / { sub(/.*Function /, ""); sub(/\(loom.*/, ""); name = $0 }
       /REG:/ && !/STACK:0 / { match($0, /STACK:[0-9]+/); print "  " arch " " name " " substr($0, RSTART + 6, RLENGTH - 6) " bytes" }' | sort
