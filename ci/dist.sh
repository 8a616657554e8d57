#!/bin/bash
# dist.sh [DIR]
#
# `make dist`: a zip of each extension for PGXN, in DIR (default: build/dist): the
# extension, common/ and what builds them, with the extension's META.json and
# README.md at the top.  Of what git has here; the same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

out=${1:-$build/dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
make_workdir dist
time=$(git -c safe.directory="$root" log -1 --format=%ct 2>/dev/null || echo 1767225600)

for extension in $(extensions); do
	version=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["version"])' \
		<"extensions/$extension/META.json")
	name=$extension-$version
	tree=$work/$name
	mkdir "$tree"
	tracked_files -z | grep -zE "^(common/|ci/common\\.sh$|extensions/$extension/|Makefile$|LICENSE$|CHANGELOG\\.md$|docs/(limits|reference|glossary)\\.md$)" |
		tar -c --null -T - | tar -x -C "$tree"
	cp "extensions/$extension/META.json" "extensions/$extension/README.md" "$tree/"
	rm -f "$out/$extension"-*.zip
	python3 -B - "$tree" "$out/$name.zip" "$time" <<'PYTHON'
import sys
import time
import zipfile
from pathlib import Path

tree, out, seconds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
stamp = time.gmtime(seconds)[:6]
with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sorted(p for p in tree.rglob("*") if p.is_file()):
        entry = zipfile.ZipInfo(str(path.relative_to(tree.parent)), stamp)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o755 if path.stat().st_mode & 0o100 else 0o644) << 16
        archive.writestr(entry, path.read_bytes())
PYTHON
	echo "$out/$name.zip"
done
