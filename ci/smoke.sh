#!/bin/bash
# smoke.sh [pytest arguments]
#
# What has to hold on every kind of processor: unit tests and golden bytes of
# common/core, and on a throwaway server the SQL of each extension, every type
# beside heap, and a data directory (tests/test_carried.py); of what runs for both
# store formats one has it, as in `make check`.
#
#   CPU=qemu64   the unit tests alone, on such a processor of this architecture, which
#                qemu-user emulates: this one is the oldest of amd64, without AVX
#   GOLDEN=file  gets what the unit tests say of golden bytes
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

if [ -n "${CPU:-}" ]; then
	program=qemu-$(uname -m)-static
	command -v "$program" >/dev/null || die "missing: qemu-user-static (a Debian package)"
	export EMULATOR="$program -cpu $CPU"
fi
export NEIGHBOURS=no
ci/setup.sh check >/dev/null

step "unit tests and golden bytes on ${CPU:-$(cc -dumpmachine)}"
make_workdir smoke
make -s -j "$(nproc)" -C common/core BUILDDIR="build/$(cc -dumpmachine)" check-opt |
	tee "$work/log" >&2
[ -z "${GOLDEN:-}" ] || grep golden "$work/log" >"$GOLDEN" || true

# qemu 7.2 runs no server of amd64 on amd64, with or without extensions.
[ -z "${CPU:-}" ] || exit 0
if [ $# -eq 0 ]; then
	ci/check.sh tests/test_carried.py
	set -- --quick tests/test_types.py tests/test_build.py tests/test_regress.py \
		-k "not isolation and not core_library and not uninstall"
fi
ci/check.sh "$@"
