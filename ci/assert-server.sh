#!/bin/bash
# assert-server.sh DIR [MAJOR]
#
# Builds a server with assertions, debug symbols and contrib from Debian's source
# package into DIR (about five minutes on two cores).  Use it by
# PG_CONFIG=DIR/bin/pg_config.  MAJOR defaults to this Debian's own.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

[ $# -ge 1 ] || die "usage: assert-server.sh DIR [MAJOR]"
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
ci/setup.sh server
make_workdir assert
ci/server-source.sh "$work/source" ${2:+"$2"}

step "configure"
cd "$work/source"
./configure -q --prefix="$prefix" --enable-cassert --enable-debug --with-icu \
	--with-lz4 --with-zstd --with-openssl \
	CFLAGS="-O1 -g -fno-omit-frame-pointer" >&2
step "make"
make -s -j "$(nproc)" world-bin >&2
step "make install"
make -s install-world-bin >&2
make -s -C src/test/regress install >&2
make -s -C src/test/isolation all install >&2
"$prefix/bin/pg_config" --version
echo "PG_CONFIG=$prefix/bin/pg_config"
