#!/bin/bash
# arm64.sh [pytest arguments]
#
# Tests on arm64, emulated: builds everything by a cross compiler, and has qemu-user
# run the unit tests and the server (ci/smoke.sh), out of the unpacked packages of
# this machine's Debian for arm64.  Golden bytes have to be those of this machine,
# and a data directory goes from here to there and back: each reads what the other
# wrote.  Needs root, on an amd64 machine with that Debian's PostgreSQL.
#
# qemu stays registered for programs of arm64 until the machine starts anew.
#
#   SYSROOT=dir   unpack there, or use what is there from the last time
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

is_root || die "only root can register qemu"
need=(arch-test binfmt-support gcc-aarch64-linux-gnu mmdebstrap qemu-user-static)
if ! dpkg --status "${need[@]}" >/dev/null 2>&1; then
	step "apt-get install ${need[*]}"
	apt-get update -q >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		"${need[@]}" >&2
fi
if [ ! -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
	mountpoint -q /proc/sys/fs/binfmt_misc ||
		mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
	update-binfmts --enable qemu-aarch64
fi

make_workdir arm64
triplet=aarch64-linux-gnu
major=$(debian_major)
sysroot=${SYSROOT:-$work/sysroot}

# The server's headers are unpacked alone: their package depends on compilers.
if [ ! -e "$sysroot/usr/include/postgresql" ]; then
	step "Debian's PostgreSQL $major for arm64, in $sysroot"
	cat >"$work/headers" <<-END
		#!/bin/sh
		set -e
		cd "\$1/tmp"
		APT_CONFIG=\$MMDEBSTRAP_APT_CONFIG apt-get download -q postgresql-server-dev-$major
		dpkg -x ./postgresql-server-dev-*.deb "\$1"
		rm ./postgresql-server-dev-*.deb
	END
	chmod 755 "$work/headers"
	mmdebstrap --quiet --variant=extract --architectures=arm64 \
		--aptopt='APT::Install-Recommends "false"' --extract-hook="$work/headers" \
		--include="libc6-dev,libgcc-$(gcc -dumpversion)-dev,liblz4-dev,libxxhash-dev,libzstd-dev,postgresql-$major" \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$sysroot" >&2
fi

# What builds here by the usual names builds for arm64.
mkdir "$work/bin" "$work/here" "$work/there"
for tool in ar as ld nm objdump ranlib strip; do
	ln -s "/usr/bin/$triplet-$tool" "$work/bin/$tool"
done
printf '#!/bin/sh\nexec %s-gcc --sysroot=%s "$@"\n' "$triplet" "$sysroot" >"$work/bin/gcc"
chmod 755 "$work/bin/gcc"
ln -s gcc "$work/bin/cc"

export PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
CARRY_TO=$work/here/data GOLDEN=$work/here/golden ci/smoke.sh tests/test_carried.py
env PATH="$work/bin:$PATH" QEMU_LD_PREFIX="$sysroot" SUITE_SECONDS=7200 \
	PG_CONFIG="$sysroot$PG_CONFIG" GOLDEN="$work/there/golden" \
	CARRY_FROM="$work/here/data" CARRY_TO="$work/there/data" ci/smoke.sh "$@"
CARRY_FROM=$work/there/data ci/check.sh tests/test_carried.py
diff "$work/here/golden" "$work/there/golden" || die "golden bytes differ"
step "arm64: all well"
