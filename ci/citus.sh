#!/bin/bash
# citus.sh [pytest arguments]
#
# Builds Citus for a private copy of the server, beside our extensions, and runs
# tests/test_citus.py there: a coordinator and two workers.  Citus is not part of
# this repository, nor of Debian.
#
#   CITUS=path       its source: a directory, an archive, or a directory that has
#                    a citus-*.tar.* (default: ../shared/peers)
#   PG_CONFIG=path   server to test on, 16 to 18 (default: the newest installed)
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

source=${CITUS:-$root/../shared/peers}
if [ -d "$source" ] && [ ! -e "$source/configure" ]; then
	source=$(compgen -G "$source/citus-*.tar.*" | tail -n 1 || true)
fi
[ -e "$source" ] || die "no source of Citus: set CITUS to its directory or archive"

ci/setup.sh citus
venv=$(ci/setup.sh check)
pg_config=$(find_pg_config)
make_workdir citus
build_and_install "$pg_config" "$work/server"

step "Citus of $source"
mkdir "$work/citus"
if [ -d "$source" ]; then
	cp -R "$source/." "$work/citus/"
else
	tar -xf "$source" -C "$work/citus"
fi
(
	cd "$work/citus"
	# a wrapper in front of the compiler is more than its configure can take
	compiler=$("$pg_config" --cc)
	env PG_CONFIG="$pg_config" CC="${compiler##* }" \
		./configure --without-pg-version-check >configure.out 2>&1 ||
		{ tail -n 5 configure.out >&2; exit 1; }
	{ make -s -j "$(nproc)" && make -s install DESTDIR="$work/server"; } >make.out 2>&1 ||
		{ tail -n 20 make.out >&2; exit 1; }
)

step "tests"
export PG_CONFIG=$copy STRATA_BUILD_PG_CONFIG=$pg_config
STRATA_USER=$(server_user) STRATA_WORK=$work \
	"$venv/bin/python" -B -m pytest -c tests/pytest.ini --rootdir tests \
	tests/test_citus.py "$@"
