#!/bin/bash
# release.sh VERSION
#
# `make release VERSION=1.1`: makes this checkout that version: control files,
# META.json, CHANGELOG.md, debian/changelog; commits and tags it.  Publishes
# nothing.  An extension needs a script that leads to the version from the one
# before (NAME--1.0--1.1.sql, in its Makefile's DATA or UPDATE).
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/common.sh

version=${1:-}
[[ $version =~ ^[0-9]+\.[0-9]+$ ]] || die "usage: make release VERSION=1.1"
[ -z "$(git status --porcelain --untracked-files=no)" ] || die "there are changes that are not committed"
grep -q '^## Unreleased$' CHANGELOG.md || die "CHANGELOG.md has no section \"Unreleased\""

for extension in $(extensions); do
	old=$(sed -nE "s/^default_version = '(.*)'/\\1/p" "extensions/$extension/$extension.control")
	[ "$old" = "$version" ] || grep -qF " $extension--$old--$version.sql" "extensions/$extension/Makefile" ||
		die "$extension: its Makefile names no script $extension--$old--$version.sql"
done
for extension in $(extensions); do
	control=extensions/$extension/$extension.control
	sed -i "s/^default_version = .*/default_version = '$version'/" "$control"
	sed -i -E "/\"meta-spec\"/,/}/! s/\"version\": \"[0-9.]+\"/\"version\": \"$version.0\"/" "extensions/$extension/META.json"
done
today=$(date -u +%Y-%m-%d)
sed -i "s/^## Unreleased\$/## Unreleased\\n\\n## $version ($today)/" CHANGELOG.md
if [ "$(sed -nE '1s/^strata \(([^-]*)-.*/\1/p' debian/changelog)" != "$version" ]; then
	{
		printf 'strata (%s-0strata1) unstable; urgency=medium\n\n' "$version"
		printf '  * Release %s: see CHANGELOG.md.\n\n' "$version"
		printf ' -- %s  %s\n\n' "$(sed -n 's/^Maintainer: //p' debian/control.in)" \
			"$(LC_ALL=C date -uR)"
		cat debian/changelog
	} >debian/changelog.new
	mv debian/changelog.new debian/changelog
fi
git commit -qam "Release $version"
git tag -a "v$version" -m "Strata $version"
step "v$version: look at it (git show v$version), then make deb, make dist, and push both"
