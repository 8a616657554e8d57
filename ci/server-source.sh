#!/bin/bash
# server-source.sh DIR [MAJOR]
#
# Unpacks the server's source into DIR from Debian's source package; MAJOR
# defaults to this Debian's own.  Needs a deb-src line, and adds one in a file of
# its own where there is none and this runs as root.
set -euo pipefail
. "$(dirname "$0")/common.sh"

[ $# -ge 1 ] || die "usage: server-source.sh DIR [MAJOR]"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
major=${2:-$(debian_major)}
[ -n "$major" ] || die "apt knows no package postgresql: say which MAJOR"
package=postgresql-$major

apt-cache showsrc "$package" >/dev/null 2>&1 || add_source_line
step "source of $package"
cd "$dir"
# The newest version that the mirror has: one that was just replaced is listed
# for a while after its files are gone.
while read -r version; do
	apt-get source -q --tar-only --download-only "$package=$version" >&2 && break
done < <(apt-cache showsrc "$package" | sed -n 's/^Version: //p' | sort -Vru)
# tar calls it
command -v bzip2 >/dev/null ||
	as_root apt-get install -qy --no-install-recommends bzip2 </dev/null >&2
tar -xf "$package"_*.orig.tar.* --strip-components=1
rm -f "$package"_*
