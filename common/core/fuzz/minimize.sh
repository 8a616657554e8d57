#!/bin/sh
# minimize.sh TARGET CORPUS NEW MAX_FILES MAX_BYTES
#
# Makes CORPUS the smallest set of inputs, from itself and NEW, that covers
# what TARGET's inputs cover, smallest files first, within the two limits.
set -eu
target=$1 corpus=$2 new=$3 max_files=$4 max_bytes=$5

merged=$(mktemp -d)
trap 'rm -rf "$merged"' EXIT
mkdir -p "$corpus" "$new"
"$target" -merge=1 -verbosity=0 "$merged" "$corpus" "$new" >/dev/null 2>&1

rm -rf "$corpus"
mkdir -p "$corpus"
files=0 bytes=0
for name in $(find "$merged" -type f -printf '%s %f\n' | sort -n | cut -d' ' -f2); do
	size=$(stat -c %s "$merged/$name")
	files=$((files + 1))
	bytes=$((bytes + size))
	if [ "$files" -gt "$max_files" ] || [ "$bytes" -gt "$max_bytes" ]; then
		break
	fi
	cp "$merged/$name" "$corpus/$name"
done
echo "$corpus: $(find "$corpus" -type f | wc -l) of $(find "$merged" -type f | wc -l) inputs kept"
