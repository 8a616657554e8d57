#!/bin/bash
# deb.sh [DIR]
#
# `make deb`: Debian packages of every extension, source and binary, for every
# server from 15 to 18 whose headers are installed (or for MAJORS="15 17"), in
# DIR (default: build/deb).  The packages are of what git has here, built in a
# directory of their own: the same commit gives the same bytes.  lintian looks
# at them, where it is installed; its complaints are errors.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

ci/setup.sh deb
out=${1:-$build/deb}
if [ -z "${MAJORS:-}" ]; then
	MAJORS=$(while read -r candidate; do
		[ ! -e "$("$candidate" --includedir-server)/postgres.h" ] || basename "$(dirname "$(dirname "$candidate")")"
	done < <(compgen -G '/usr/lib/postgresql/1[5-8]/bin/pg_config'))
fi
[ -n "$MAJORS" ] || die "no server of Debian's with its headers is installed"
export PG_SUPPORTED_VERSIONS=${MAJORS//$'\n'/ }

# What the server's own environment has must not reach the packages.
export LC_ALL=C.UTF-8 TZ=UTC
umask 022
version=$(dpkg-parsechangelog -S Version)
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp)
export SOURCE_DATE_EPOCH

make_workdir deb
upstream=strata-${version%-*}
mkdir "$work/$upstream"
tracked_files -z | tar -c --null -T - | tar -x -C "$work/$upstream"
chmod -R u=rwX,go=rX "$work/$upstream"
tar -c --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
	--exclude="$upstream/debian" -C "$work" "$upstream" |
	gzip -9n >"$work/strata_${version%-*}.orig.tar.gz"

step "packages of $version for PostgreSQL $PG_SUPPORTED_VERSIONS"
cd "$work/$upstream"
pg_buildext updatecontrol
# Without the check of Build-Depends, which ask for headers of all servers.
dpkg-buildpackage -us -uc -d -J"$(nproc)" >"$work/log" 2>&1 || { tail -n 50 "$work/log"; exit 1; }
cd ..
if command -v lintian >/dev/null; then
	step "lintian"
	lintian --allow-root --fail-on error,warning ./*.changes
fi
mkdir -p "$out"
rm -f "$out"/*strata* "$out"/postgresql-*
cp ./*.deb ./*.dsc ./*.tar.* ./*.changes ./*.buildinfo "$out/"
step "packages are in $out"
(cd "$out" && ls -- *.deb)
