# shellcheck shell=bash
#
# Sourced by the scripts of this directory: where things are, how to speak, how
# to find a server.  Sets $root (the checkout) and $build (what git ignores).

# What the caller's shell says of servers is not meant for ours.
for name in "${!PG@}"; do
	case $name in PG_CONFIG | PGBENCH) ;; *) unset "$name" ;; esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034
build=$root/build

# Progress goes to stderr, so that a script's stdout can be its result.
step()
{
	printf '\n== %s\n' "$*" >&2
}

die()
{
	printf 'error: %s\n' "$*" >&2
	exit 1
}

is_root()
{
	[ "$(id -u)" -eq 0 ]
}

# Runs a command as root, directly or by a sudo that asks nothing.
as_root()
{
	if is_root; then
		"$@"
	else
		sudo -n "$@"
	fi
}

can_be_root()
{
	is_root || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

# A pg_config with server headers: $PG_CONFIG, else the newest one of Debian's,
# else that of the PATH.  Prints its path, or nothing.
find_pg_config()
{
	local candidate

	if [ -n "${PG_CONFIG:-}" ]; then
		command -v "$PG_CONFIG"
		return
	fi
	while read -r candidate; do
		if [ -e "$("$candidate" --includedir-server)/postgres.h" ]; then
			printf '%s\n' "$candidate"
			return
		fi
	done < <(compgen -G '/usr/lib/postgresql/*/bin/pg_config' | sort -t/ -k5,5nr;
		command -v pg_config)
}

# SERVER_MAJOR, or the major that this Debian calls "postgresql"; nothing where
# apt cannot tell.
debian_major()
{
	if [ -n "${SERVER_MAJOR:-}" ]; then
		printf '%s\n' "$SERVER_MAJOR"
		return
	fi
	{ apt-cache depends postgresql 2>/dev/null || true; } |
		sed -nE 's/^ *Depends: postgresql-([0-9]+)$/\1/p' | head -n 1
}

# Makes apt know the source packages of the suites it has: the same stanzas and
# lines again, as deb-src.  (Keys and all: apt refuses a suite under two keys.)
add_source_line()
{
	local file

	can_be_root || die "apt has no deb-src line, and this is not root"
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -e "$file" ] || continue
		step "add deb-src to apt, for $file"
		sed 's/^Types:.*/Types: deb-src/' "$file" |
			as_root tee "${file%.sources}-strata-src.sources" >/dev/null
	done
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		grep -q '^deb ' "$file" 2>/dev/null || continue
		step "add deb-src to apt, for $file"
		sed -n 's/^deb /deb-src /p' "$file" | as_root tee \
			"/etc/apt/sources.list.d/$(basename "$file" .list)-strata-src.list" \
			>/dev/null
	done
	as_root apt-get update -q </dev/null >&2
}

# Files of this checkout that git knows, whoever owns it; of a copy without git
# all but what was built.  -z: ended by NUL, not by newline.
tracked_files()
{
	if [ -e "$root/.git" ]; then
		git -c safe.directory="$root" -C "$root" ls-files "$@"
	else
		(cd "$root" && find . -name build -prune -o -type f -printf '%P\0') |
			if [ "${1:-}" = -z ]; then cat; else tr '\0' '\n'; fi
	fi
}

# The extensions of this checkout, by name.
extensions()
{
	local makefile

	for makefile in "$root"/extensions/*/Makefile; do
		[ -e "$makefile" ] && basename "$(dirname "$makefile")"
	done
}

# build_extensions PG_CONFIG: every extension, for that server.
build_extensions()
{
	local extension

	step "build for $("$1" --version)"
	for extension in $(extensions); do
		make -s -j "$(nproc)" -C "$root/extensions/$extension" PG_CONFIG="$1" >&2
	done
}

# install_copy PG_CONFIG DIR: what was built for that server, into a private copy
# of it in DIR.  Sets $copy, the copy's pg_config.
install_copy()
{
	local extension

	step "install into a private copy of the server"
	# shellcheck disable=SC2034
	copy=$("$root/ci/server-copy.sh" "$1" "$2")
	for extension in $(extensions); do
		make -s -C "$root/extensions/$extension" install PG_CONFIG="$1" \
			DESTDIR="$2" >&2
	done
}

build_and_install()
{
	build_extensions "$1"
	install_copy "$1" "$2"
}

# The user that may run a server: this one, or where this one is root,
# $STRATA_USER, postgres or nobody.
server_user()
{
	local user

	if ! is_root; then
		id -un
		return
	fi
	for user in ${STRATA_USER:-} postgres nobody; do
		if id "$user" >/dev/null 2>&1; then
			printf '%s\n' "$user"
			return
		fi
	done
	die "no user to run the server as: create one, or set STRATA_USER"
}

# A directory in memory, if there is room for the data of a test run, some gigabytes.
# Tests make and remove so many files that they take half as long again on disk.
memory_dir()
{
	local dir=/dev/shm room memory

	room=$(df --output=avail -k "$dir" 2>/dev/null | tail -n 1)
	memory=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
	if [ "${room:-0}" -ge $((8 << 20)) ] && [ "${memory:-0}" -ge $((12 << 20)) ] &&
		! findmnt -no OPTIONS -T "$dir" | grep -qw noexec; then
		printf '%s\n' "$dir"
	fi
}

# A work directory of this run that the server's user can read, removed at exit
# (set KEEP=1 to keep it), together with any server that still runs in it.
make_workdir()
{
	work=$(mktemp -d "${TMPDIR:-/tmp}/strata-$1.XXXXXX")
	chmod 755 "$work"
	trap remove_workdir EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
}

remove_workdir()
{
	local pidfile pid

	trap '' INT TERM HUP
	while read -r pidfile; do
		pid=$(head -n 1 "$pidfile")
		kill -QUIT "$pid" 2>/dev/null || true
	done < <(find "$work" -name postmaster.pid 2>/dev/null)
	if [ -n "${KEEP:-}" ]; then
		printf 'kept: %s\n' "$work" >&2
	else
		rm -rf --one-file-system "$work" 2>/dev/null ||
			{ sleep 1; rm -rf --one-file-system "$work"; }
	fi
}
