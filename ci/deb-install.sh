#!/bin/bash
# deb-install.sh DIR
#
# The second half of deb-test.sh, on a machine that may be spoiled: installs the
# packages of DIR by apt, runs the SQL of the documents with them, removes them.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

dir=$1
export DEBIAN_FRONTEND=noninteractive
major=$(cd "$dir" && compgen -G 'postgresql-*-colcompress_*.deb' | sed -E 's/^postgresql-([0-9]+).*/\1/')
packages=(colcompress rowcompress sorted-heap zson-dict)
packages=("${packages[@]/#/postgresql-$major-}")

# Without the program that makes an index: dpkg knows what apt asks for.
index()
{
	local deb

	for deb in "$dir"/*.deb; do
		dpkg-deb --field "$deb"
		printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "$(basename "$deb")" \
			"$(stat -c %s "$deb")" "$(sha256sum "$deb" | cut -d' ' -f1)"
	done
}

# All files but those that any installation changes.
files()
{
	find / -xdev \( -path /proc -o -path /dev -o -path /root -o -path /tmp \
		-o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/cache \
		-o -path /var/log -o -path "/var/lib/postgresql" \
		-o -path "/run" \) -prune -o -print | sort
}

as_postgres()
{
	(cd / && runuser -u postgres -- "$@")
}

# run FILE: its SQL blocks, in a database of their own; as many errors come as
# the page shows.
run()
{
	local output errors

	step "SQL of $1"
	as_postgres createdb check
	output=$(awk '/^```sql/ { on = 1; next } /^```/ { on = 0 } on' "$1" |
		as_postgres psql -X -q -d check 2>&1)
	printf '%s\n' "$output"
	errors=$(grep -c '^ERROR:' "$1" || true)
	[ "$(grep -c 'ERROR:' <<<"$output" || true)" = "$errors" ] ||
		die "$1: there should be $errors errors"
	as_postgres dropdb check
}

step "apt-get install ${packages[*]}"
index >"$dir/Packages"
echo "deb [trusted=yes] file:$dir ./" >/etc/apt/sources.list.d/strata.list
apt-get update -q >&2
apt-get install -y -q --no-install-recommends "postgresql-$major" >&2
files >/tmp/before
apt-get install -y -q --no-install-recommends "${packages[@]}" >&2

pg_ctlcluster "$major" main start
for page in README.md docs/quickstart-*.md; do
	[ ! -e "$page" ] || run "$page"
done
pg_ctlcluster "$major" main stop

step "apt-get purge"
apt-get purge -y -q --autoremove "${packages[@]}" >&2
files >/tmp/after
diff /tmp/before /tmp/after || die "removal left something, or took too much"
step "nothing is left of ${packages[*]}"
