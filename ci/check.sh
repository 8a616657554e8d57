#!/bin/bash
# check.sh [pytest arguments]
#
# `make check`: sets up, builds every extension, installs them into a private
# copy of the server and runs tests there: those that its arguments name (`tests`
# is all of them, `make check-all`), without arguments a part that takes minutes.
# The last line counts them.
#
#   PG_CONFIG=path   server to test on (default: the newest installed)
#   JOBS=n           parallel test workers (default: one more than there are CPUs, since
#                    each waits for a clock now and then; at most 4)
#   KEEP=1           keep the work directory, for a look at what failed
#   TMPDIR=dir       where that is (default: in memory, if there is room; /tmp for
#                    runs that are long, or kept)
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

ci/setup.sh build
pg_config=$(find_pg_config)
if [ -z "${SLOW:-}${SOAK_MINUTES:-}${KEEP:-}" ]; then
	TMPDIR=${TMPDIR:-$(memory_dir)}
fi
make_workdir check

# What the tests alone need comes while compilers run.
ci/setup.sh check >"$work/venv" 2>"$work/setup.log" &
setup=$!
build_extensions "$pg_config"
if ! wait "$setup"; then
	cat "$work/setup.log" >&2
	exit 1
fi
venv=$(cat "$work/venv")
install_copy "$pg_config" "$work/server"

step "tests"
if [ $# -eq 0 ]; then
	set -- --quick tests
	export STORM_POINTS=${STORM_POINTS:-4} UNIQUE_ROUNDS=${UNIQUE_ROUNDS:-10}
	export RANDOM_QUERIES=${RANDOM_QUERIES:-0.2}
	export ZSON_DOCUMENTS=${ZSON_DOCUMENTS:-500} RACES=${RACES:-0.3}
fi
jobs=${JOBS:-$(n=$(($(nproc) + 1)); echo $((n > 4 ? 4 : n)))}
export PG_CONFIG=$copy STRATA_BUILD_PG_CONFIG=$pg_config
STRATA_USER=$(server_user) STRATA_WORK=$work \
	"$venv/bin/python" -B -m pytest -c tests/pytest.ini --rootdir tests \
	-n "$jobs" --dist worksteal "$@"
