#!/bin/bash
# server-suite.sh [regress|isolation ...]
#
# Runs the server's own regression and isolation suites with
# default_table_access_method set to each access method of ours, next to a run
# with heap on the same server.  A test file whose output differs from heap's
# must be listed, with the reason, in tests/server-suite/<am>.txt:
#
#     <suite>/<test> [majors]: reason
#
# Fails on a difference that is not listed, and names lines that no longer
# differ.  The diffs stay in build/server-suite/.
#
#   PG_CONFIG=path       server (default: the newest installed)
#   METHODS=names        access methods (default: all of ours)
#   SERVER_SOURCE=dir    its unpacked source (default: Debian's source package)
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

methods=${METHODS-colcompress}
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
rm -rf "$kept"
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
		-c max_connections=60 -c timezone=PST8PDT -c datestyle='postgres, mdy'" start
	export PGHOST=$data PGUSER=postgres
}

stop_cluster()
{
	as_server "$bindir/pg_ctl" -s -w -D "$data/data" -m immediate stop
}

# run SUITE AM: results in $data/out/results.
run()
{
	local suite=$1 am=$2 database=regression driver schedule input

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
		"$bindir/psql" -Xq -d "$database" -c "CREATE EXTENSION $am" \
			-c "ALTER DATABASE $database SET default_table_access_method = $am"
	fi
	input=$work/tests/$suite
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
	grep -aE 'TRAP:|PANIC:|terminated by signal' "$data/log" >&2 && crashed=1
	true
}

# Names of tests whose output of AM differs from heap's.
differing()
{
	local suite=$1 am=$2 result name

	for result in "$work/$suite-heap/out/results"/*.out; do
		name=$(basename "$result" .out)
		if ! diff -u "$result" "$work/$suite-$am/out/results/$name.out" \
			>"$kept/$suite-$name.diff" 2>&1; then
			echo "$suite/$name"
		else
			rm "$kept/$suite-$name.diff"
		fi
	done
}

crashed=0
failed=0
for suite in $suites; do
	step "$suite suite with heap"
	run "$suite" heap
	for am in $methods; do
		step "$suite suite with $am"
		run "$suite" "$am"
		differing "$suite" "$am" >"$work/differs"
		# "suite/test: reason" or "suite/test 17 18: reason"
		awk -v major="$major" -v suite="$suite" '
			/^ *(#|$)/ || index($0, suite "/") != 1 { next }
			{ head = $0; sub(/:.*/, "", head); n = split(head, word, " ")
			  for (i = 2; i <= n; i++) if (word[i] == major) break
			  if (n == 1 || i <= n) print word[1] }' \
			"tests/server-suite/$am.txt" | sort >"$work/listed"
		sort -o "$work/differs" "$work/differs"
		if comm -13 "$work/listed" "$work/differs" | grep .; then
			echo "differ from heap and are not listed in tests/server-suite/$am.txt" >&2
			failed=1
		fi
		comm -23 "$work/listed" "$work/differs" | sed 's/$/: listed, but no longer differs/'
		echo "$suite with $am on PostgreSQL $major: $(wc -l <"$work/differs") differ," \
			"of $(find "$work/$suite-heap/out/results" -name '*.out' | wc -l)"
	done
done
[ "$crashed" = 0 ] || die "a server process crashed"
exit "$failed"
