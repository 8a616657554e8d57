#!/bin/bash
# deb-test.sh [SUITE...]
#
# Builds the packages in a chroot of each Debian suite (default: bookworm, trixie,
# sid, with PostgreSQL 15, 17 and 18), installs them by apt from a local repository
# in another bare chroot, runs the SQL of README.md and of the quick starts as it
# stands there, removes them, and looks for what is left.  Needs root.
#
#   CHROOT_CACHE=dir, MIRROR=address   as for in-chroot.sh
#   PACKAGES=dir   of packages that are built already (of one suite)
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

make_workdir deb-test
[ $# -gt 0 ] || set -- bookworm trixie sid
for suite; do
	packages=${PACKAGES:-$work/$suite}
	if [ -z "${PACKAGES:-}" ]; then
		TAKE=build/deb TO=$packages ci/in-chroot.sh "$suite" ci/deb.sh
	fi
	GIVE=$packages ci/in-chroot.sh "$suite" ci/deb-install.sh /srv/given
done
step "packages: all well"
