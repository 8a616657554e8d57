#!/bin/bash
# bench.sh [full]
#
# `make bench`: sets up, builds every extension, installs them into a private
# copy of the server and runs bench/run there.  Settings are those of bench/run
# (ROWS, SYSTEMS, RUNS, WORKERS ...); PG_CONFIG chooses the server.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

STRATA_STARTED=$(date +%s)
export STRATA_STARTED
venv=$(ci/setup.sh bench)
case " ${DATASETS:-} " in *[\ ,]tpch[\ ,]*)
	[ -x "$venv/bin/tpchgen-cli" ] || "$venv/bin/python" -m pip install --quiet \
		--disable-pip-version-check --no-input tpchgen-cli==4.0.0 </dev/null >&2
	;;
esac
case " ${DATASETS:-} " in *[\ ,]jsonbench[\ ,]*)
	"$venv/bin/python" -c 'import chdb' 2>/dev/null || "$venv/bin/python" -m pip install \
		--quiet --disable-pip-version-check --no-input chdb==4.4.0 </dev/null >&2 ||
		step "chdb cannot be had: without ClickHouse"
	;;
esac
pg_config=$(find_pg_config)
make_workdir bench
build_and_install "$pg_config" "$work/server"

step "benchmark"
export PG_CONFIG=$copy PYTHON=$venv/bin/python STRATA_WORK=$work
STRATA_USER=$(server_user)
export STRATA_USER
bench/run "$@"
