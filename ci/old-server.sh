#!/bin/bash
# old-server.sh DIR
#
# Makes a copy of this machine's PostgreSQL in DIR, with the extensions of this
# checkout, that runs on a newer Debian too: all files are copied, with the
# libraries they need, and find those relative to themselves.  What pg_upgrade
# is tested from.  Prints the path of its pg_config below DIR.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

[ $# -eq 1 ] || die "usage: old-server.sh DIR"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
ci/setup.sh check >/dev/null
if ! command -v patchelf >/dev/null; then
	step "apt-get install patchelf"
	as_root apt-get install -y -q --no-install-recommends patchelf </dev/null >&2
fi
pg_config=$(find_pg_config)

step "copy $("$pg_config" --version) with what it needs"
for path in "$("$pg_config" --bindir)" "$("$pg_config" --pkglibdir)" \
	"$("$pg_config" --sharedir)"; do
	mkdir -p "$dir$path"
	cp -RL --preserve=mode,timestamps "$path/." "$dir$path/"
done
for extension in $(extensions); do
	make -s -j "$(nproc)" -C "extensions/$extension" PG_CONFIG="$pg_config" >&2
	make -s -C "extensions/$extension" install PG_CONFIG="$pg_config" \
		DESTDIR="$dir" >&2
done

rm -rf "$dir$("$pg_config" --pkglibdir)"/{llvmjit*,bitcode}
# The C library is the one thing that newer systems have for older programs.
mapfile -t programs < <(find "$dir" -type f \( -perm -u+x -o -name '*.so' \) \
	-exec sh -c 'head -c 4 "$1" | grep -q ELF' sh {} \; -print)
mkdir -p "$dir/needed"
ldd "${programs[@]}" 2>/dev/null | sed -nE 's/.* => (\/[^ ]+) .*/\1/p' | sort -u |
	grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv)\.so|/ld-linux' |
	xargs -r cp -L -t "$dir/needed"
for file in "${programs[@]}" "$dir"/needed/*; do
	patchelf --force-rpath "$file" --set-rpath \
		"\$ORIGIN/$(realpath --relative-to="$(dirname "$file")" "$dir/needed")"
done
printf '%s\n' "${pg_config#/}"
