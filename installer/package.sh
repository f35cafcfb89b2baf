#!/usr/bin/env bash
# Makes the Debian package of the system that it runs on: builds, then packs all of it into one .deb, which
# `apt install ./gradloom_*.deb` installs with everything it needs. Gradloom is built for Debian 12 on 12, for 13 on 13.
#   installer/package.sh [FOLDER]              into FOLDER (the build folder, where none is named)
#   installer/package.sh --pack BUILD FOLDER   packs what was built in BUILD
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
umask 022

# pack BUILD FOLDER
pack() {
  local from=$1 to=$2 work stage version architecture field depends recommends package release
  work=$(mktemp -d)
  trap "rm -rf '$work'" EXIT
  stage=$work/stage
  DESTDIR=$stage cmake --install "$from" --prefix /usr --strip >"$work/install.log" || { tail -n 20 "$work/install.log" >&2; return 1; }
  [ -e "$stage/usr/share/gradloom/samples/digits/data/train.csv" ] || {
    echo "package: the images of the samples are missing; build the target samples" >&2
    return 1
  }
  # dpkg writes each file through to the disk, and minutes go by over 17,000 small images. They go as one file, and the package
  # itself unpacks them.
  local shared=/usr/share/gradloom
  (cd "$stage$shared" && tar --sort=name --owner=0 --group=0 --numeric-owner -czf images.tar.gz samples/*/data && rm -r samples/*/data)
  mkdir "$stage/DEBIAN"
  cat >"$stage/DEBIAN/postinst" <<SCRIPT
#!/bin/sh
set -e
if [ "\$1" = configure ]; then tar -xzf $shared/images.tar.gz -C $shared; fi
SCRIPT
  cat >"$stage/DEBIAN/prerm" <<SCRIPT
#!/bin/sh
set -e
rm -rf $shared/samples/*/data
SCRIPT
  chmod 755 "$stage/DEBIAN/postinst" "$stage/DEBIAN/prerm"
  {
    cat "$root/installer/NOTICE"
    printf '\nOn Debian systems the Apache License, Version 2.0, stands in /usr/share/common-licenses/Apache-2.0.\n'
  } >"$stage/usr/share/doc/gradloom/copyright"

  # What the programs are linked with is needed; Open MPI is opened where there is one, and only for several ranks. So are NVIDIA's
  # libraries, of which Debian's packages know nothing.
  mkdir "$work/debian"
  printf 'Source: gradloom\n\nPackage: gradloom\nArchitecture: any\n' >"$work/debian/control"
  local programs=("$stage/usr/bin/loom" "$stage/usr/bin/gradloom") modules=()
  depends=fonts-inter,\ fonts-jetbrains-mono,\ shared-mime-info recommends=qt6-wayland,\ fonts-noto-core
  if [ -e "$stage/usr/lib/gradloom/loom_mpi.so" ]; then
    recommends+=", openmpi-bin"
    modules=("$stage/usr/lib/gradloom/loom_mpi.so")
  fi
  for module in loom_heif.so loom_dlib.so; do
    if [ -e "$stage/usr/lib/gradloom/$module" ]; then modules+=("$stage/usr/lib/gradloom/$module"); fi
  done
  while IFS='=' read -r field package; do
    case $field in
      shlibs:Depends) depends="$package, $depends" ;;
      shlibs:Recommends) recommends="$package, $recommends" ;;
    esac
  done < <(cd "$work" && dpkg-shlibdeps -O -dDepends "${programs[@]/#/-e}" -dRecommends "${modules[@]/#/-e}" 2>"$work/shlibdeps.log")
  case $depends in *libc6*) ;; *) cat "$work/shlibdeps.log" >&2; return 1 ;; esac

  # That of a newer Debian is the newer one, so that it comes with an upgrade of the system.
  release=$(. /etc/os-release && echo "${VERSION_ID:-${VERSION_CODENAME:-0}}")
  version=$(sed -n 's/^CMAKE_PROJECT_VERSION:[^=]*=//p' "$from/CMakeCache.txt")+deb$release
  architecture=$(dpkg --print-architecture)
  cat >"$stage/DEBIAN/control" <<CONTROL
Package: gradloom
Version: $version
Architecture: $architecture
Maintainer: Gradloom maintainers <maintainers@gradloom.example>
Section: science
Priority: optional
Installed-Size: $(du -sk --apparent-size "$stage/usr" | cut -f1)
Depends: $depends
Recommends: $recommends
Description: desktop IDE for deep learning with a training engine of its own
 Draw a network, attach a CSV, press Train, watch loss and accuracy arrive step
 by step, then lay runs over each other. Training runs here, on other machines
 over SSH, or under Slurm; "loom" does the same in a terminal.
CONTROL
  package=$to/gradloom_${version}_$architecture.deb
  mkdir -p "$to"
  dpkg-deb --root-owner-group --build "$stage" "$package.part" >/dev/null
  mv "$package.part" "$package"
  echo "package: $package, $(($(stat -c %s "$package") >> 20)) MiB"
}

if [ "${1:-}" = --pack ]; then
  [ $# = 3 ] || { echo "usage: $0 [FOLDER] | --pack BUILD FOLDER" >&2; exit 2; }
  pack "$2" "$3"
  exit
fi
set_up_if_needed
build_gradloom "$build" -DCMAKE_BUILD_TYPE=Release -DGRADLOOM_GUI=ON -DGRADLOOM_TESTS=OFF -- gradloom loom samples engine_bundle
pack "$build" "${1:-$build}"
