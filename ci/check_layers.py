#!/usr/bin/env python3
"""Layers of the C code (docs/design.md, section 2): includes go right only.

    executor -> planner -> access -> format -> common/format -> common/vector -> common/pg -> common/core

Files right under an extension's src/ may include everything.  Extensions that
ROOMS names have folders of their own, in an order of their own; so have
common/core, common/pg and common/vector.  What holds for includes holds for calls, too: a
file uses functions of its own folder and of those to its right only.  A room of
common/pg has one header for the others (PUBLIC); its others are its own.

Files that use each other in a circle are three at most.  No folder has more
than 25 C files side by side.  docs/map.txt, which shows who uses whom in
common/, is up to date (`ci/check_layers.py --map > docs/map.txt`).  Beside that:
PG_VERSION_NUM stands in common/pg/server/st_compat.* only; nothing in common/ but
sf_library, which does so for an extension, registers a GUC, a hook or a name; common/core knows nothing of the server;
only st_callbacks takes a slot for relcache callbacks; base names are unique in
the tree.  Prints every breach; exits 1 if any.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# From right to left: a file may include its own layer and those before it.
CORE, PG, VECTOR, SHARED_FORMAT, FORMAT, ACCESS, PLANNER, EXECUTOR, TOP = range(9)
# Folders of common/core, likewise.
CORE_ROOMS = ("core", "bits", "codec", "int", "float", "string", "zson")
# Folders of common/pg, likewise; "pg" is st_store.h, the contract.
PG_ROOMS = (
    "server",
    "pg",
    "options",
    "prune",
    "file",
    "visibility",
    "space",
    "write",
    "read",
    "lock",
    "modify",
    "compact",
    "am",
    "verify",
)
# What other rooms may include of a room; all headers of a room not named here.
PUBLIC = {
    "file": {"st_file.h"},
    "visibility": {"st_visibility.h"},
    "space": {"st_space.h"},
    "write": {"st_write.h"},
    "lock": {"st_lock.h"},
    "modify": {"st_modify.h", "st_mow.h"},
    "compact": {"st_compact.h"},
    "am": {"st_bitmap_scan.h", "st_policy.h", "st_switch.h"},
}
# Folders of common/vector, likewise; vx_engine.* is on top of them.
VECTOR_ROOMS = (
    "vector",
    "plan",
    "regex",
    "expr",
    "filter",
    "scan",
    "agg",
    "join",
    "sort",
    "window",
)
FOLDERS = {
    "types": FORMAT,
    "format": FORMAT,
    "access": ACCESS,
    "planner": PLANNER,
    "executor": EXECUTOR,
    "src": TOP,
}
# Extensions with folders of their own, from right to left; "": the init file.
ROOMS = {
    "sorted_heap": (
        "zonemap/page",
        "zonemap/heap",
        "zonemap/tree",
        "zonemap/write",
        "zonemap/create",
        "zonemap/vacuum",
        "zonemap/scan",
        "zonemap/plan",
        "zonemap/am",
        "sorted_heap",
        "",
    ),
}

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
REGISTERS = re.compile(
    r"\b(DefineCustom\w+Variable|MarkGUCPrefixReserved|EmitWarningsOnPlaceholders"
    r"|RegisterCustomScanMethods|RegisterExtensibleNodeMethods"
    r"|register_\w+_provider|RegisterCustomRmgr|\w+_hook\s*=[^=])"
)
DEFINED = re.compile(
    r"^(?P<type>[A-Za-z_][^\n;(]*)\n(?P<name>(?:st|vx)_\w+)\([^;{}]*\)\s*\n\{",
    re.MULTILINE,
)
USED = re.compile(r"\b(?:st|vx)_\w+\b")
MAX_CYCLE = 3
MAX_FILES = 25
# Folders whose functions call themselves through other files, because what they
# work on nests: expressions; documents and the templates of their strings.
RECURSIVE = {"common/vector/expr", "common/core/zson"}
MAP = "docs/map.txt"
SERVER = re.compile(r"\b(palloc\w*|pfree|repalloc|elog|ereport|Datum)\b")


def sources(root: Path) -> list[Path]:
    """C files of libraries and extensions, their tests aside."""
    files = []
    for base in (root / "common", root / "extensions"):
        for path in sorted(base.rglob("*.[ch]")):
            parts = path.relative_to(root).parts
            if not {"test", "fuzz", "build"} & set(parts):
                files.append(path)
    return files


def layer(path: Path, root: Path) -> tuple[str, float]:
    """The extension ("" for common/) and the layer of a file."""
    parts = path.relative_to(root).parts
    if parts[:2] == ("common", "vector"):
        rooms = len(VECTOR_ROOMS)
        room = rooms if path.stem == "vx_engine" else VECTOR_ROOMS.index(parts[-2])
        return "", VECTOR + room / (rooms + 1)
    if parts[:2] == ("common", "pg"):
        return "", PG + PG_ROOMS.index(parts[-2]) / len(PG_ROOMS)
    if parts[:2] == ("common", "format"):
        return "", SHARED_FORMAT
    if parts[0] == "common":
        return "", CORE + CORE_ROOMS.index(parts[-2]) / len(CORE_ROOMS)
    if parts[1] in ROOMS:
        return parts[1], FORMAT + ROOMS[parts[1]].index("/".join(parts[3:-1]))
    return parts[1], FOLDERS[parts[-2]]


def uses(files: list[Path], codes: dict[Path, str]) -> dict[Path, dict[Path, str]]:
    """By file: the files whose functions it names, and one of these each."""
    defined = {}
    for path in files:
        if path.suffix == ".c":
            for match in DEFINED.finditer(codes[path]):
                if not match["type"].startswith("static"):
                    defined[match["name"]] = path
    graph = {}
    for path in files:
        graph[path] = {}
        if path.suffix == ".c":
            for name in sorted(set(USED.findall(codes[path]))):
                target = defined.get(name)
                if target not in (None, path):
                    graph[path].setdefault(target, name)
    return graph


def cycles(graph: dict[Path, dict[Path, str]]) -> Iterator[list[Path]]:
    """Files that use each other, directly or not (Tarjan)."""
    order: dict[Path, int] = {}
    low: dict[Path, int] = {}
    stack: list[Path] = []

    def visit(path: Path) -> Iterator[list[Path]]:
        order[path] = low[path] = len(order)
        stack.append(path)
        for target in graph[path]:
            if target not in order:
                yield from visit(target)
                low[path] = min(low[path], low[target])
            elif target in stack:
                low[path] = min(low[path], order[target])
        if low[path] == order[path]:
            found = stack[stack.index(path) :]
            del stack[stack.index(path) :]
            if len(found) > 1:
                yield sorted(found)

    for path in graph:
        if path not in order:
            yield from visit(path)


def draw_map(root: Path = ROOT) -> str:
    """The folders of common/pg and common/vector, and which ones each uses."""
    files = [
        path
        for path in sources(root)
        if path.relative_to(root).parts[:2] in (("common", "pg"), ("common", "vector"))
    ]
    codes = {path: COMMENT.sub(" ", path.read_text()) for path in files}

    def folder(path: Path) -> tuple[float, str]:
        name = "/".join(path.relative_to(root).parts[1:-1])
        if path.stem == "vx_engine":
            name += "/vx_engine"
        return layer(path, root)[1], name

    lines: dict[tuple[float, str], set] = {
        folder(path): set() for path in files if path.suffix == ".c"
    }
    for path, targets in uses(files, codes).items():
        if targets:
            lines[folder(path)] |= {folder(target) for target in targets}
    text = "A folder uses functions of the folders behind its arrow, which stand below it.\n\n"
    for name in sorted(lines, reverse=True):
        below = [other[1] for other in sorted(lines[name] - {name}, reverse=True)]
        text += f"{name[1]:<16} -> {', '.join(below)}".rstrip(" ->") + "\n"
    return text


def structure(root: Path, files: list[Path], codes: dict[Path, str]) -> Iterator[str]:
    """Breaches that show in calls, and in what lies side by side."""
    graph = uses(files, codes)
    for path, targets in graph.items():
        owner, rank = layer(path, root)
        for target, name in targets.items():
            other, other_rank = layer(target, root)
            if other == "" and other_rank > rank:
                yield (
                    f"{path.relative_to(root)}: uses {name} of "
                    f"{target.relative_to(root)}, which is to its left"
                )
    for found in cycles(graph):
        folders = {path.parent.relative_to(root).as_posix() for path in found}
        if len(found) > MAX_CYCLE and not (len(folders) == 1 and folders <= RECURSIVE):
            names = ", ".join(path.stem for path in found)
            yield f"cycle: {len(found)} files use each other: {names}"
    side_by_side = defaultdict(int)
    for path in files:
        side_by_side[path.parent.relative_to(root).as_posix()] += path.suffix == ".c"
    for name, n in side_by_side.items():
        if n > MAX_FILES:
            yield f"{name}: {n} C files side by side"
    drawn = root / MAP
    if not drawn.exists() or drawn.read_text() != draw_map(root):
        yield f"{MAP}: not up to date, ci/check_layers.py --map > {MAP}"


def is_private(header: Path, path: Path) -> bool:
    """Is it a header of another room of common/pg, that is not for others?"""
    room = header.parent.name
    return (
        header.parent.parent.name == "pg"
        and header.parent != path.parent
        and header.name not in PUBLIC.get(room, {header.name})
    )


def breaches(root: Path = ROOT) -> Iterator[str]:
    files = sources(root)
    codes = {path: COMMENT.sub(" ", path.read_text()) for path in files}
    names = defaultdict(list)
    for path in files:
        names[path.name].append(path)
    for name, paths in names.items():
        if len(paths) > 1:
            yield f"{name}: more than one file has this name: {paths}"
    for path in files:
        text = path.read_text()
        code = codes[path]
        where = path.relative_to(root)
        owner, rank = layer(path, root)
        for include in INCLUDE.findall(text):
            target = names.get(Path(include).name)
            if target and (include == target[0].name or "/" not in include):
                other, other_rank = layer(target[0], root)
                if other not in ("", owner) or other_rank > rank:
                    yield f"{where}: includes {include}, which is to its left"
                elif is_private(target[0], path):
                    yield f"{where}: includes {include}, a room's own header"
            elif rank < PG and include == "postgres.h":
                yield f"{where}: the core library includes postgres.h"
        if "PG_VERSION_NUM" in code and path.stem != "st_compat":
            yield f"{where}: PG_VERSION_NUM outside of st_compat"
        if "CacheRegisterRelcacheCallback" in code and path.stem != "st_callbacks":
            yield f"{where}: takes a slot for relcache callbacks"
        if owner == "" and path.stem != "sf_library":
            for match in REGISTERS.finditer(code):
                yield f"{where}: registers something: {match.group().strip()}"
        if rank < PG:
            for word in sorted(set(SERVER.findall(code))):
                yield f"{where}: the core library says {word}"
    yield from structure(root, files, codes)


def main() -> int:
    if sys.argv[1:] == ["--map"]:
        print(draw_map(), end="")
        return 0
    found = list(breaches())
    for breach in found:
        print(breach)
    print(f"layers: {len(sources(ROOT))} files, {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
