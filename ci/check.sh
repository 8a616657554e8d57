#!/bin/bash
# check.sh [pytest arguments]
#
# `make check`: sets up, builds every extension, installs them into a private
# copy of the server and runs all tests there.  The last line counts them.
#
#   PG_CONFIG=path   server to test on (default: the newest installed)
#   JOBS=n           parallel test workers (default: CPUs, at most 4)
#   KEEP=1           keep the work directory, for a look at what failed
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

venv=$(ci/setup.sh check)
pg_config=$(find_pg_config)
make_workdir check

build_and_install "$pg_config" "$work/server"

step "tests"
jobs=${JOBS:-$(n=$(nproc); echo $((n > 4 ? 4 : n)))}
export PG_CONFIG=$copy STRATA_BUILD_PG_CONFIG=$pg_config
STRATA_USER=$(server_user) STRATA_WORK=$work \
	"$venv/bin/python" -B -m pytest -c tests/pytest.ini --rootdir tests \
	-n "$jobs" "${@:-tests}"
