#!/bin/bash
# deb-test.sh [SUITE...]
#
# Builds the packages in a chroot of each Debian suite (default: bookworm, trixie,
# sid, with PostgreSQL 15, 17 and 18; of the first suite twice, which has to give
# the same bytes), installs them by apt from a local repository
# in another bare chroot, runs the SQL of README.md and of the quick starts as it
# stands there, removes them, and looks for what is left.  Needs root.
#
#   CHROOT_CACHE=dir, MIRROR=address   as for in-chroot.sh
#   PACKAGES=dir   of packages that are built already (of one suite)
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

# build SUITE DIR: packages, in a chroot of their own.
build()
{
	TAKE=build/deb TO=$2 ci/in-chroot.sh "$1" ci/deb.sh
}

make_workdir deb-test
again=$work/again
[ $# -gt 0 ] || set -- bookworm trixie sid
for suite; do
	packages=${PACKAGES:-$work/$suite}
	if [ -z "${PACKAGES:-}" ]; then
		build "$suite" "$packages"
	fi
	if [ -z "${PACKAGES:-}" ] && [ ! -e "$again" ]; then
		build "$suite" "$again"
		for file in "$packages"/*.deb "$packages"/*.dsc "$packages"/*.tar.*; do
			cmp "$file" "$again/$(basename "$file")" || die "two builds differ"
		done
	fi
	GIVE=$packages ci/in-chroot.sh "$suite" ci/deb-install.sh /srv/given
done
step "packages: all well"
