#!/usr/bin/env bash
# Makes the engine's relocatable bundle: one .tar.gz with loom, every library it needs and the C library it was built with, so that it
# starts on systems that are older than this one and have none of them. The same input gives the same bytes, hence the same hash.
#   installer/bundle.sh PATH-OF-LOOM OUTPUT.tar.gz
# Layout:
#   bin/loom     what is started: this system's own C library where it is new enough, else the bundle's
#   lib/         loom itself and its libraries
#   libc/        the C library and its loader
#   licences/    Gradloom's, and what those who made the libraries want said
# Open MPI, CUDA and NCCL are not in it: they are opened at run time where a machine has them. The modules that are linked with
# Open MPI and CUDA go along, beside loom under either of its names.
set -euo pipefail
loom=$(readlink -f "$1")
output=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/lib" "$work/libc"
install -m 755 "$loom" "$work/lib/loom"
for module in loom_mpi.so loom_cuda.so loom_heif.so; do
  [ -e "$(dirname "$loom")/$module" ] || continue
  install -m 644 "$(dirname "$loom")/$module" "$work/lib/$module"
  ln -s "../lib/$module" "$work/libc/$module"  # where a program below the bundle's own loader finds itself
done

# Libraries as the loader finds them. Those of the C library go apart: they and the loader belong together, and on a newer system
# that system's own are used, so that what is opened later (MPI, a driver) finds the C library it was built with.
while read -r name path; do
  case $name in
    libc.so.*|libm.so.*|libdl.so.*|libpthread.so.*|librt.so.*|libresolv.so.*|libutil.so.*|ld-linux*) install -m 755 "$path" "$work/libc/$name" ;;
    *) install -m 644 "$path" "$work/lib/$name" ;;
  esac
done < <(ldd "$loom" | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 } $1 ~ /^\/.*ld-linux/ { n = split($1, p, "/"); print p[n], $1 }')
loader=$(cd "$work/libc" && ls ld-linux* | head -n 1)
[ -n "$loader" ] || { echo "bundle: $loom names no loader; is it a static program?" >&2; exit 1; }
# What the C library opens by itself, and what libraries built for older ones still ask for by name.
system=$(dirname "$(ldd "$loom" | awk '$1 == "libc.so.6" { print $3 }')")
for name in libdl.so.2 libpthread.so.0 librt.so.1 libutil.so.1 libresolv.so.2 libnss_files.so.2 libnss_dns.so.2; do
  [ -e "$system/$name" ] && install -m 755 "$system/$name" "$work/libc/$name"
done
needed=$(readelf -W --version-info "$work/lib/loom" "$work"/lib/*.so* 2>/dev/null | grep -o 'GLIBC_2\.[0-9]*' | sort -u -t. -k2 -n | tail -n 1 | cut -d. -f2)

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
mkdir "$work/licences"
install -m 644 "$here/LICENSE" "$here/NOTICE" "$work/licences"
if command -v dpkg-query >/dev/null; then
  while read -r package; do
    [ ! -e "/usr/share/doc/$package/copyright" ] || install -m 644 "/usr/share/doc/$package/copyright" "$work/licences/$package"
  done < <(cd "$work" && ls lib libc | sed -n "s|^\\(.*\\.so.*\\)|*/$(basename "$system")/\\1|p" | xargs dpkg-query -S 2>/dev/null | sed 's/[:,].*//' | sort -u)
fi

machine=$(uname -m)
cat >"$work/bin/loom" <<STARTER
#!/bin/sh
# Starts loom with this system's C library where it is 2.$needed or newer, else with the bundle's own.
[ "\$(uname -m)" = $machine ] || {
  echo "loom: this engine is built for $machine, but \$(uname -n) is \$(uname -m): an engine for that is needed here" >&2
  exit 126
}
here=\$(readlink -f "\$0") && here=\${here%/bin/*} || exit 127
# What starts loom again (a job's supervisor, mpirun) is to start this, since loom may run below a loader that has another name.
export GRADLOOM_PROGRAM="\$here/bin/loom"
export GOMP_SPINCOUNT="\${GOMP_SPINCOUNT-10000}"
version=\$(getconf GNU_LIBC_VERSION 2>/dev/null)
minor=\${version#glibc 2.}
case \$minor in ''|*[!0-9]*) minor=0 ;; esac
if [ "\$minor" -ge $needed ]; then
  exec "\$here/lib/loom" "\$@"  # finds its libraries beside itself
fi
exec "\$here/libc/$loader" --library-path "\$here/lib:\$here/libc\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" "\$here/lib/loom" "\$@"
STARTER
chmod 755 "$work/bin/loom"
strip --strip-unneeded "$work/lib/loom" "$work"/lib/*.so* 2>/dev/null || true
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C "$work" -cf - bin lib libc licences | gzip -n -6 >"$output.part"
mv "$output.part" "$output"
echo "bundle: $output, $(($(stat -c %s "$output") >> 20)) MiB, C library 2.$needed or its own"
