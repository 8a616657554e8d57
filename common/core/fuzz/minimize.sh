#!/bin/sh
# minimize.sh TARGET CORPUS NEW MAX_FILES MAX_BYTES
#
# Replaces CORPUS by inputs from itself and NEW that add to what TARGET covers,
# at most MAX_FILES and MAX_BYTES: an even choice over all sizes, as the small
# ones alone would only show the ways to fail early.
set -eu
target=$1 corpus=$2 new=$3 max_files=$4 max_bytes=$5

merged=$(mktemp -d)
trap 'rm -rf "$merged"' EXIT
mkdir -p "$corpus" "$new"
"$target" -merge=1 -verbosity=0 "$merged" "$corpus" "$new" >/dev/null 2>&1

total=$(find "$merged" -type f | wc -l)
rm -rf "$corpus"
mkdir -p "$corpus"
find "$merged" -type f -printf '%s %f\n' | sort -n |
	awk -v total="$total" -v files="$max_files" -v bytes="$max_bytes" '
		# line i begins a new share of the files allowed
		total <= files || int(NR * files / total) > int((NR - 1) * files / total) {
			if (used + $1 <= bytes) { used += $1; print $2 }
		}' |
	while read -r name; do
		cp "$merged/$name" "$corpus/$name"
	done
echo "$corpus: $(find "$corpus" -type f | wc -l) of $total inputs kept"
