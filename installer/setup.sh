#!/usr/bin/env bash
# Installs what Gradloom is built and tested with, from Debian's own packages (Debian 12 and 13, bookworm and trixie). Safe to
# run again: what is there is left alone, and with everything there it does nothing and needs no root.
#   installer/setup.sh            install what is missing (as root, or through sudo)
#   installer/setup.sh --check    only say what is missing; exit 1 when something is
#   installer/setup.sh --list     print the packages
# CUDA, cuDNN and NCCL are not installed here: they are found where they are, and nothing needs them.
set -euo pipefail

packages=(
  # building
  build-essential cmake ninja-build ccache mold pkg-config git ca-certificates
  # the engine
  libdnnl-dev ocl-icd-opencl-dev opencl-c-headers nlohmann-json3-dev libfmt-dev libcli11-dev libmuparser-dev
  libpng-dev libjpeg62-turbo-dev zlib1g-dev libdeflate-dev libsndfile1-dev libwebp-dev libtiff-dev libgif-dev
  libheif-dev libheif1 libxxhash-dev libssl-dev libopenmpi-dev openmpi-bin libdlib-dev libeigen3-dev
  # ONNX: its schema as libonnx-dev packages it (onnx.proto), compiled here; nothing of libonnx is linked
  libonnx-dev libprotobuf-dev protobuf-compiler
  # the IDE: Qt 6 with charts, SVG and both window systems; fonts
  qt6-base-dev qt6-charts-dev qt6-declarative-dev qt6-svg-dev libgl-dev libvulkan-dev qt6-wayland
  qt6-qpa-plugins libsqlite3-dev libssh-dev fonts-inter fonts-jetbrains-mono fonts-noto-core fonts-dejavu-core fontconfig
  # tests
  libgtest-dev libgmock-dev xvfb xauth xdotool dbus-daemon openssh-server openssh-client iproute2 slurm-wlm munge tcsh
)
# What has another name, or is part of another package, from one release to the next; a release that is not known is taken for a
# newer one.
release=$(. /etc/os-release 2>/dev/null && echo "${ID:-}-${VERSION_ID:-}") || release=
case $release in
  debian-12) packages+=(libqt6opengl6-dev) ;;
  *) packages+=(libheif-plugin-libde265 libheif-plugin-dav1d) ;;  # its codecs stand in libheif itself before Debian 13
esac

missing() {
  local package
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
  done
}

case "${1:-}" in
  --list) printf '%s\n' "${packages[@]}"; exit 0 ;;
  --check) lacking=$(missing); [ -z "$lacking" ] || { echo "Missing packages:" $lacking; exit 1; }; exit 0 ;;
  "") ;;
  *) echo "usage: $0 [--check | --list]" >&2; exit 2 ;;
esac

command -v dpkg-query >/dev/null || { echo "setup: this is not a Debian system; install these by hand: ${packages[*]}" >&2; exit 1; }
lacking=$(missing)
if [ -z "$lacking" ]; then
  echo "setup: all ${#packages[@]} packages are installed"
  exit 0
fi
as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: root is needed once, to install these packages, and there is no sudo. As root run:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends" $lacking >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "setup: installing" $lacking
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $lacking >/tmp/gradloom-setup.$$.log 2>&1 || {
  echo "setup: apt-get could not install them; its last lines:" >&2
  tail -n 20 /tmp/gradloom-setup.$$.log >&2
  exit 1
}
rm -f /tmp/gradloom-setup.$$.log
still=$(missing)
[ -z "$still" ] || { echo "setup: still missing:" $still >&2; exit 1; }
echo "setup: done"
