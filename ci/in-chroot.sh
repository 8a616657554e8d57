#!/bin/bash
# in-chroot.sh SUITE COMMAND...
#
# Runs a command in a copy of this checkout inside of a fresh minimal Debian of
# that suite (trixie has PostgreSQL 17, sid has 18; experimental is sid with what
# is to be the next major, 19), made by mmdebstrap in about a minute and removed
# afterwards.  The command finds nothing but a compiler,
# make and Python, and sets up the rest as on any machine.  Needs root.
#
#   CHROOT_CACHE=dir   keep the bare chroots here as archives, for next time
#   OLD_SERVER=dir     made by old-server.sh: goes there too, for tests of pg_upgrade
#   GIVE=dir           is /srv/given there
#   TAKE=path TO=dir   what is at that path of the copy afterwards goes to dir
#   MIRROR=address     of the Debian archive, if not mmdebstrap's own choice
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

[ $# -ge 2 ] || die "usage: in-chroot.sh SUITE COMMAND..."
is_root || die "only root can make a chroot"
suite=$1
shift
if ! command -v mmdebstrap >/dev/null; then
	step "apt-get install mmdebstrap"
	apt-get update -q >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		mmdebstrap >&2
fi

make_workdir "chroot-$suite"
tree=$work/root

unmount()
{
	local point

	for point in proc dev/shm dev; do
		mountpoint -q "$tree/$point" && umount -l "$tree/$point"
	done
	true
}
trap 'unmount; remove_workdir' EXIT

# The next major's packages, and of experimental nothing else.
add_next_major()
{
	local sources=$1/etc/apt/sources.list

	sed -n 's/^\(deb .*\) sid main$/\1 experimental main/p' "$sources" \
		>"$1/etc/apt/sources.list.d/experimental.list"
	printf 'Package: src:postgresql-%s\nPin: release a=experimental\nPin-Priority: 600\n' \
		"$next_major" >"$1/etc/apt/preferences.d/experimental"
}

make_tree()
{
	# Old snapshots of an archive are as good: only signatures count.
	mmdebstrap --quiet --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
		--aptopt='APT::Install-Recommends "false"' \
		--include=ca-certificates,gcc,libc6-dev,make,python3,python3-venv \
		"$base" "$1" ${MIRROR:+"$MIRROR"} >&2
}

step "Debian $suite in $tree"
base=$suite
next_major=
if [ "$suite" = experimental ]; then
	base=sid
	next_major=19
fi
archive=${CHROOT_CACHE:+$CHROOT_CACHE/strata-$base.tar}
if [ -n "$archive" ]; then
	if [ ! -e "$archive" ]; then
		make_tree "${archive%.tar}.$$.tar"
		mv "${archive%.tar}.$$.tar" "$archive"
	fi
	mkdir "$tree"
	tar -xf "$archive" -C "$tree"
else
	make_tree "$tree"
fi

[ -z "$next_major" ] || add_next_major "$tree"

# Machine facts: names, certificates, how pip reaches its index.
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf \
	/etc/ssl/certs/ca-certificates.crt; do
	[ ! -e "$file" ] || cp -L "$file" "$tree$file"
done
mount --bind /dev "$tree/dev"
mkdir -p "$tree/dev/shm"
mount --bind /dev/shm "$tree/dev/shm"
mount -t proc proc "$tree/proc"

mkdir -p "$tree/root/strata"
tracked_files -z | tar -c --null -T - | tar -x -C "$tree/root/strata"
old=
if [ -n "${OLD_SERVER:-}" ]; then
	mkdir -p "$tree/opt/old-server"
	cp -a "$OLD_SERVER/." "$tree/opt/old-server/"
	old=$(cd "$tree" && compgen -G 'opt/old-server/usr/lib/postgresql/*/bin/pg_config')
fi
if [ -n "${GIVE:-}" ]; then
	mkdir -p "$tree/srv/given"
	cp -a "$GIVE/." "$tree/srv/given/"
fi
commit=$(git -c safe.directory="$root" -C "$root" describe --always --dirty 2>/dev/null || true)
step "$* on Debian $suite"
chroot "$tree" env -u PG_CONFIG -u TMPDIR HOME=/root LC_ALL=C.UTF-8 \
	STRATA_COMMIT="$commit" STRATA_OLD_PG_CONFIG="${old:+/$old}" ${next_major:+SERVER_MAJOR=$next_major} \
	sh -c 'cd /root/strata && exec "$@"' sh "$@"
if [ -n "${TAKE:-}" ]; then
	mkdir -p "$TO"
	cp -a "$tree/root/strata/$TAKE/." "$TO/"
fi
