#!/bin/bash
# server-suite.sh [regress|isolation ...]
#
# Runs the server's own regression and isolation suites with
# default_table_access_method set to each access method of ours, next to a run
# with heap on the same server.  A test file whose output differs from heap's
# must be listed, with the kind of difference (ci/suite_diff.py tells them apart)
# and the reason, in tests/server-suite/<am>.txt:
#
#     <suite>/<test> <kinds> [majors]: reason
#
# Fails on a difference that is not listed, and names what is listed and not
# seen.  Outputs and diffs stay in build/server-suite/<major>/.
#
#   PG_CONFIG=path       server (default: the newest installed)
#   METHODS=names        access methods (default: all of ours); NAME-adopted: tables
#                        are made as heap, and adopted by NAME at once
#   SERVER_SOURCE=dir    its unpacked source (default: Debian's source package)
#   REUSE=1              take outputs that an earlier run left, and make the others
#   STRATA_OPTIONS=...   more options of the server, as for postgres
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

methods=${METHODS:-colcompress rowcompress sorted_heap}
suites=${*:-regress isolation}

ci/setup.sh check >/dev/null
pg_config=$(find_pg_config)
major=$("$pg_config" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
make_workdir suite
source=${SERVER_SOURCE:-$work/source}
[ -n "${SERVER_SOURCE:-}" ] || ci/server-source.sh "$source" "$major"
mkdir "$work/tests"
cp -R "$source/src/test/regress" "$source/src/test/isolation" "$work/tests/"
build_and_install "$pg_config" "$work/server"

user=$(server_user)
bindir=$("$copy" --bindir)
pgxs_test=$(dirname "$("$copy" --pgxs)")/../test
libdir=$("$copy" --pkglibdir)
# C functions of the regression suite, which not every package brings along.
# shellcheck disable=SC2046
[ -e "$libdir/regress.so" ] || cc -O1 -w -fPIC -shared -o "$libdir/regress.so" \
	$("$copy" --cppflags) -I"$("$copy" --includedir-server)" \
	"$work/tests/regress/regress.c"
kept=$build/server-suite/$major
[ -n "${REUSE:-}" ] || rm -rf "$kept"
mkdir -p "$kept"

as_server()
{
	if is_root; then
		(cd / && runuser -u "$user" -- env LC_ALL=C "$@")
	else
		(cd / && LC_ALL=C "$@")
	fi
}

# A fresh cluster per run: tests leave roles and tablespaces behind.
start_cluster()
{
	data=$work/$1
	mkdir -p "$data/out"
	[ "$user" = "$(id -un)" ] || chown -R "$user" "$data"
	as_server "$bindir/initdb" -D "$data/data" -U postgres -A trust -E UTF8 \
		--no-locale --no-sync -k >/dev/null
	as_server "$bindir/pg_ctl" -s -w -D "$data/data" -l "$data/log" -o \
		"-c listen_addresses= -k $data -c fsync=off -c max_prepared_transactions=10 \
		-c max_connections=60 -c timezone=PST8PDT -c datestyle='postgres, mdy' ${STRATA_OPTIONS:-}" start
	export PGHOST=$data PGUSER=postgres
}

stop_cluster()
{
	as_server "$bindir/pg_ctl" -s -w -D "$data/data" -m immediate stop
}

# Tables that any command makes are adopted at its end.
adopt_at_once()
{
	"$bindir/psql" -Xq -d "$1" <<-SQL
		CREATE FUNCTION $2.adopt_at_once() RETURNS event_trigger LANGUAGE plpgsql AS \$\$
		DECLARE made record;
		BEGIN
			FOR made IN SELECT c.oid FROM pg_catalog.pg_event_trigger_ddl_commands() d
				JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) d.objid
				JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.relam
				WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
				AND d.command_tag IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO',
					'CREATE MATERIALIZED VIEW')
				AND NOT d.in_extension AND c.relkind IN ('r', 'm') AND a.amname OPERATOR(pg_catalog.=) 'heap'
			LOOP
				PERFORM $2.adopt(made.oid);
			END LOOP;
		END \$\$;
		CREATE EVENT TRIGGER adopt_at_once ON ddl_command_end EXECUTE FUNCTION $2.adopt_at_once();
	SQL
}

# run SUITE METHOD: outputs in $kept/SUITE-METHOD.
run()
{
	local suite=$1 am=$2 extension=${2%-adopted} database=regression driver schedule input

	step "$suite suite with $am"
	[ "$suite" = regress ] || database=isolation_regression
	start_cluster "$suite-$am"
	"$bindir/psql" -Xq -d postgres <<-SQL
		CREATE DATABASE $database TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C';
		ALTER DATABASE $database SET lc_messages TO 'C';
		ALTER DATABASE $database SET lc_monetary TO 'C';
		ALTER DATABASE $database SET lc_numeric TO 'C';
		ALTER DATABASE $database SET lc_time TO 'C';
		ALTER DATABASE $database SET bytea_output TO 'hex';
		ALTER DATABASE $database SET timezone_abbreviations TO 'Default';
	SQL
	if [ "$am" != heap ]; then
		"$bindir/psql" -Xq -d "$database" -c "CREATE EXTENSION $extension"
	fi
	if [ "$am" != "$extension" ]; then
		adopt_at_once "$database" "$extension"
	elif [ "$am" != heap ]; then
		"$bindir/psql" -Xq -d "$database" \
			-c "ALTER DATABASE $database SET default_table_access_method = $am"
	fi
	input=$work/tests/$suite-$am
	cp -R "$work/tests/$suite" "$input"
	[ "$am" = heap ] || python3 -B ci/suite_diff.py "tests/server-suite/$am.txt" \
		"$suite" "$major" move "$input"
	if [ "$suite" = regress ]; then
		driver=$pgxs_test/regress/pg_regress
		schedule=$input/parallel_schedule
	else
		driver=$pgxs_test/isolation/pg_isolation_regress
		schedule=$input/isolation_schedule
	fi
	as_server env PGHOST="$data" PGUSER=postgres "$driver" --inputdir="$input" \
		--outputdir="$data/out" --bindir="$bindir" --dlpath="$libdir" \
		--use-existing --dbname="$database" --max-concurrent-tests=20 \
		--schedule="$schedule" >"$kept/$suite-$am.log" 2>&1 || true
	grep -E '^(ok|not ok|test|     )' "$kept/$suite-$am.log" | tail -n 3 >&2
	stop_cluster
	rm -rf "${kept:?}/$suite-$am"
	cp -R "$data/out/results" "$kept/$suite-$am"
	cp "$data/log" "$kept/$suite-$am.serverlog"
	grep -aE 'TRAP:|PANIC:|terminated by signal' "$data/log" >&2 && crashed=1
	true
}

reusable()
{
	[ -n "${REUSE:-}" ] && [ -d "$kept/$1" ]
}

crashed=0
failed=0
for suite in $suites; do
	reusable "$suite-heap" || run "$suite" heap
	for am in $methods; do
		reusable "$suite-$am" || run "$suite" "$am"
		step "differences of the $suite suite with $am from heap, on PostgreSQL $major"
		rm -rf "$kept/$suite-$am.diffs"
		mkdir "$kept/$suite-$am.diffs"
		python3 -B ci/suite_diff.py "tests/server-suite/$am.txt" "$suite" "$major" \
			"$kept/$suite-heap" "$kept/$suite-$am" "$kept/$suite-$am.diffs" \
			"$source/src/test/$suite/expected" || failed=1
	done
done
[ "$crashed" = 0 ] || die "a server process crashed"
exit "$failed"
