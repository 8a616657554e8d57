#!/bin/bash
# setup.sh build|check|bench|lint|server|deb|citus
#
# Gets what that make target needs and is not there: packages through apt (as
# root or by sudo), and a Python environment in build/.  Where apt cannot be
# used it names what is missing and fails.  Prints the environment's directory.
# `build` is the part of all the others that compilation needs.
#
#   NEIGHBOURS=no   without other people's extensions and programs
set -euo pipefail
. "$(dirname "$0")/common.sh"

what=${1:-}
case $what in
	build | check | bench | lint | server | deb | citus) ;;
	*) die "usage: setup.sh build|check|bench|lint|server|deb|citus" ;;
esac

missing=()

# need PACKAGE COMMAND...: PACKAGE is missing if COMMAND fails.
need()
{
	local package=$1

	shift
	"$@" >/dev/null 2>&1 || missing+=("$package")
}

header()
{
	printf '#include <%s>\n' "$1" | cc -E -x c - >/dev/null
}

offered()
{
	command -v apt-cache >/dev/null && apt-cache show "$1" >/dev/null 2>&1
}

# Other people's extensions for tests/test_neighbours.py, where apt has them for
# the server, sqlsmith and pgbackrest; their tests are skipped without them.
find_missing_neighbours()
{
	local pg_config number libdir names package

	[ "$what" = check ] && [ "${NEIGHBOURS:-}" != no ] && can_be_root || return 0
	for package in sqlsmith pgbackrest; do
		command -v "$package" >/dev/null || ! offered "$package" || missing+=("$package")
	done
	pg_config=$(find_pg_config || true)
	[ "${pg_config#/usr/lib/postgresql/}" != "$pg_config" ] || return 0
	number=$(major "$pg_config")
	libdir=$("$pg_config" --pkglibdir)
	names=$(apt-cache pkgnames "postgresql-$number-" 2>/dev/null || true)
	for package in cron:pg_cron repack:pg_repack hll:hll tdigest:tdigest \
		pgaudit:pgaudit hypopg:hypopg plpgsql-check:plpgsql_check \
		wal2json:wal2json pglogical:pglogical partman:pg_partman_bgw \
		postgis-3:postgis-3 pgvector:vector timescaledb:timescaledb; do
		if grep -qx "postgresql-$number-${package%%:*}" <<<"$names"; then
			need "postgresql-$number-${package%%:*}" test -e "$libdir/${package##*:}.so"
		fi
	done
}

# Packages that lack, by what is looked for rather than by dpkg's word: a
# compiler or server from elsewhere is as good.
find_missing()
{
	local pg_config default

	missing=()
	need gcc command -v cc
	need libc6-dev header stdlib.h
	need make command -v make
	if [ "$what" = deb ]; then
		need dpkg-dev command -v dpkg-buildpackage
		need debhelper command -v dh
		need lintian command -v lintian
		if offered postgresql-common-dev; then
			need postgresql-common-dev command -v pg_buildext
		else
			need postgresql-common command -v pg_buildext
		fi
	fi
	need libzstd-dev header zstd.h
	need liblz4-dev header lz4.h
	need libxxhash-dev header xxhash.h
	need python3-venv python3 -c 'import ensurepip, venv'
	need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
	if [ "$what" = lint ]; then
		need clang command -v clang
		need shellcheck command -v shellcheck
	fi
	find_missing_neighbours
	if [ "$what" = bench ] && can_be_root && offered valgrind; then
		need valgrind command -v valgrind	# counts instructions
	fi
	if [ "$what" = citus ]; then
		need flex command -v flex
		need xz-utils command -v xz
		need libcurl4-openssl-dev header curl/curl.h
		need libicu-dev header unicode/ucol.h
		need libkrb5-dev header krb5.h
		need libpam0g-dev header security/pam_appl.h
		need libreadline-dev header readline/readline.h
		need libselinux1-dev header selinux/selinux.h
		need libssl-dev header openssl/ssl.h
		need libxml2-dev test -e /usr/include/libxml2/libxml/parser.h
		need libxslt1-dev test -e /usr/include/libxslt/xslt.h
		need zlib1g-dev header zlib.h
		return
	fi
	if [ "$what" = server ]; then
		need dpkg-dev command -v dpkg-source
		need bison command -v bison
		need flex command -v flex
		need libreadline-dev header readline/readline.h
		need zlib1g-dev header zlib.h
		need libicu-dev header unicode/ucol.h
		need libssl-dev header openssl/ssl.h
		need pkg-config command -v pkg-config
		return
	fi
	pg_config=$(find_pg_config || true)
	if [ -z "$pg_config" ]; then
		[ -z "${PG_CONFIG:-}" ] || die "PG_CONFIG=$PG_CONFIG: not found"
		default=$(debian_major)
		missing+=("postgresql${default:+-$default}"
			"postgresql-server-dev-${default:-all}")
	else
		need "postgresql-$(major "$pg_config")" \
			test -x "$("$pg_config" --bindir)/initdb"
		need "postgresql-server-dev-$(major "$pg_config")" \
			test -e "$("$pg_config" --includedir-server)/postgres.h"
	fi
}

major()
{
	"$1" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/'
}

install_missing()
{
	if ! command -v apt-get >/dev/null || ! can_be_root; then
		die "missing: ${missing[*]} (names of Debian packages)." \
			"Install them, or run this as root or where sudo asks nothing."
	fi
	step "apt-get install ${missing[*]}"
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
		--no-install-recommends "${missing[@]}" </dev/null >&2
}

# apt's lists are those of the last ten minutes, if this got them.
find_missing
updated=$build/apt-updated
if [ ${#missing[@]} -gt 0 ] && command -v apt-get >/dev/null && can_be_root &&
	[ -z "$(find "$updated" -mmin -10 2>/dev/null)" ]; then
	step "apt-get update"
	as_root apt-get update -q </dev/null >&2
	mkdir -p "$build"
	touch "$updated"
	find_missing
fi
# In two rounds: what goes with a server is known when there is one.
for _ in first second; do
	[ ${#missing[@]} -gt 0 ] || break
	install_missing
	find_missing
done
[ ${#missing[@]} -eq 0 ] || die "still missing: ${missing[*]}"

case $what in build | server | deb | citus) exit 0 ;; esac

# One environment per target and Python; made again when the pins change.
pins=$root/ci/requirements-$what.txt
venv=$build/venv/$what-$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if ! cmp -s "$pins" "$venv/pins.txt"; then
	step "Python environment: $(grep -v '^#' "$pins" | tr '\n' ' ')"
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
		--no-input -r "$pins" </dev/null >&2
	cp "$pins" "$venv/pins.txt"
fi
printf '%s\n' "$venv"
