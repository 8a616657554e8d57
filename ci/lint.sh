#!/bin/bash
# lint.sh: layers, shell and Python style, and builds in which every warning is
# an error, by gcc and by clang, for the server of $PG_CONFIG.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

venv=$(ci/setup.sh lint)
pg_config=$(find_pg_config)

step "layers"
python3 -B ci/check_layers.py

step "shell scripts"
mapfile -t scripts < <(tracked_files -- . | while read -r file; do
	case $file in *.sh) echo "$file" ;; *) head -c 12 "$file" | grep -aq '^#!/bin/bash' && echo "$file" ;; esac
done)
shellcheck "${scripts[@]}"
echo "${#scripts[@]} scripts"

step "Python"
"$venv/bin/ruff" check --no-cache .
"$venv/bin/ruff" format --no-cache --check .

for compiler in gcc clang; do
	step "build for $("$pg_config" --version) with $compiler, warnings as errors"
	for extension in $(extensions); do
		make -s -j "$(nproc)" -C "extensions/$extension" PG_CONFIG="$pg_config" \
			CC="$compiler" WERROR=1
		build_dir=$(make -s -C "extensions/$extension" print-build-dir \
			PG_CONFIG="$pg_config" CC="$compiler" WERROR=1)
		python3 -B ci/check_symbols.py "$build_dir"
	done
done
step "lint: all clean"
