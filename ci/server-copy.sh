#!/bin/bash
# server-copy.sh PG_CONFIG DIR
#
# Makes a private copy of an installed server in DIR, to install extensions into
# without touching the original, and prints the copy's pg_config.  PostgreSQL
# finds its files relative to its binaries, so the layout is kept below DIR:
# binaries are copied, directories that `make install` writes to are made anew,
# all other files are symbolic links.  Takes about 15 MB.
set -euo pipefail
. "$(dirname "$0")/common.sh"

[ $# -eq 2 ] || die "usage: server-copy.sh PG_CONFIG DIR"
pg_config=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)

bindir=$("$pg_config" --bindir)
pkglibdir=$("$pg_config" --pkglibdir)
sharedir=$("$pg_config" --sharedir)

# mirror PATH: PATH's entries as links in $dir/PATH, but for those there already
# and for our own extensions, which the original may have installed.
mirror()
{
	local entry name

	mkdir -p "$dir$1"
	for entry in "$1"/*; do
		name=${entry##*/}
		for extension in $ours; do
			case $name in
				"$extension".so | "$extension".control | "$extension"--*.sql)
					continue 2 ;;
			esac
		done
		[ -e "$dir$entry" ] || ln -s "$entry" "$dir$entry"
	done
}

ours=$(extensions)
mkdir -p "$dir$bindir"
cp -RL --preserve=mode,timestamps "$bindir/." "$dir$bindir/"
mkdir -p "$dir$sharedir/extension"
mirror "$sharedir/extension"
mirror "$sharedir"
mirror "$pkglibdir"

# Outer directories first: a link to one covers what is inside of it.
for path in $(printf '%s\n' "$("$pg_config" --libdir)" \
	"$("$pg_config" --includedir)" "$("$pg_config" --pkgincludedir)" \
	"$("$pg_config" --includedir-server)" "$("$pg_config" --localedir)" |
	sort -u); do
	if [ -d "$dir$path" ] && [ ! -L "$dir$path" ]; then
		mirror "$path"
	elif [ -d "$path" ] && [ ! -e "$dir$path" ]; then
		mkdir -p "$(dirname "$dir$path")"
		ln -s "$path" "$dir$path"
	fi
done

copy=$dir$bindir/pg_config
[ "$("$copy" --pkglibdir)" = "$dir$pkglibdir" ] ||
	die "$pg_config is not relocatable: its copy answers $("$copy" --pkglibdir)"
printf '%s\n' "$copy"
