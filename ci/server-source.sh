#!/bin/bash
# server-source.sh DIR [MAJOR]
#
# Unpacks the server's source into DIR from Debian's source package; MAJOR
# defaults to this Debian's own.  Needs a deb-src line, and adds one in a file of
# its own where there is none and this runs as root.  A major that this Debian
# does not have comes from sid or experimental, by an apt configuration of this
# script alone: the machine's stays as it is.
set -euo pipefail
. "$(dirname "$0")/common.sh"

[ $# -ge 1 ] || die "usage: server-source.sh DIR [MAJOR]"
mkdir -p "$1"
dir=$(cd "$1" && pwd)
major=${2:-$(debian_major)}
[ -n "$major" ] || die "apt knows no package postgresql: say which MAJOR"
package=postgresql-$major

# Makes apt look at the source packages of sid and experimental, here alone.
look_further()
{
	local keys=/usr/share/keyrings/debian-archive-keyring.gpg

	apt_dir=$(mktemp -d)
	trap 'rm -rf "$apt_dir"' EXIT
	chmod 755 "$apt_dir"
	mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial"
	printf 'deb-src [signed-by=%s] %s %s main\n' \
		"$keys" "${MIRROR:-http://deb.debian.org/debian}" sid \
		"$keys" "${MIRROR:-http://deb.debian.org/debian}" experimental \
		>"$apt_dir/sources.list"
	printf '%s "%s";\n' Dir::Etc::sourcelist "$apt_dir/sources.list" \
		Dir::Etc::sourceparts - Dir::State::Lists "$apt_dir/lists" \
		Dir::Cache "$apt_dir/cache" >"$apt_dir/apt.conf"
	export APT_CONFIG=$apt_dir/apt.conf
	apt-get update -q </dev/null >&2
}

knows() { apt-cache showsrc "$package" 2>/dev/null | grep '^Version: ' >/dev/null; }

if ! knows; then
	if [ "$major" = "$(debian_major)" ]; then add_source_line; else look_further; fi
fi
knows || die "neither this Debian nor sid or experimental has a source package $package"
step "source of $package"
cd "$dir"
# The newest version that the mirror has: one that was just replaced is listed
# for a while after its files are gone.
while read -r version; do
	apt-get source -q --tar-only --download-only "$package=$version" >&2 && break
done < <(apt-cache showsrc "$package" | sed -n 's/^Version: //p' | sort -Vru)
compgen -G "$package"_*.orig.tar.* >/dev/null ||
	die "the archive lists $package and does not have its source any more"
# tar calls it
command -v bzip2 >/dev/null ||
	as_root apt-get install -qy --no-install-recommends bzip2 </dev/null >&2
tar -xf "$package"_*.orig.tar.* --strip-components=1
rm -f "$package"_*
