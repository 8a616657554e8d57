#!/usr/bin/env python3
"""Layers of the C code (docs/design.md, section 2): includes go right only.

    executor -> planner -> access -> format -> common/pg -> common/core

Files right under an extension's src/ may include everything.  Beside that:
PG_VERSION_NUM stands in common/pg/st_compat.* only; nothing in common/
registers a GUC, a hook or a name; common/core knows nothing of the server;
base names are unique in the tree.  Prints every breach; exits 1 if any.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# From right to left: a file may include its own layer and those before it.
CORE, PG, FORMAT, ACCESS, PLANNER, EXECUTOR, TOP = range(7)
FOLDERS = {
    "types": FORMAT,
    "format": FORMAT,
    "access": ACCESS,
    "planner": PLANNER,
    "executor": EXECUTOR,
    "src": TOP,
}

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
REGISTERS = re.compile(
    r"\b(DefineCustom\w+Variable|MarkGUCPrefixReserved|EmitWarningsOnPlaceholders"
    r"|RegisterCustomScanMethods|RegisterExtensibleNodeMethods"
    r"|register_\w+_provider|RegisterCustomRmgr|\w+_hook\s*=[^=])"
)
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


def layer(path: Path, root: Path) -> tuple[str, int]:
    """The extension ("" for common/) and the layer of a file."""
    parts = path.relative_to(root).parts
    if parts[0] == "common":
        return "", {"core": CORE, "pg": PG}[parts[1]]
    return parts[1], FOLDERS[parts[-2]]


def breaches(root: Path = ROOT) -> Iterator[str]:
    files = sources(root)
    names = defaultdict(list)
    for path in files:
        names[path.name].append(path)
    for name, paths in names.items():
        if len(paths) > 1:
            yield f"{name}: more than one file has this name: {paths}"
    for path in files:
        text = path.read_text()
        code = COMMENT.sub(" ", text)
        where = path.relative_to(root)
        owner, rank = layer(path, root)
        for include in INCLUDE.findall(text):
            target = names.get(Path(include).name)
            if target and (include == target[0].name or "/" not in include):
                other, other_rank = layer(target[0], root)
                if other not in ("", owner) or other_rank > rank:
                    yield f"{where}: includes {include}, which is to its left"
            elif rank == CORE and include == "postgres.h":
                yield f"{where}: the core library includes postgres.h"
        if "PG_VERSION_NUM" in code and path.stem != "st_compat":
            yield f"{where}: PG_VERSION_NUM outside of st_compat"
        if owner == "":
            for match in REGISTERS.finditer(code):
                yield f"{where}: registers something: {match.group().strip()}"
        if rank == CORE:
            for word in sorted(set(SERVER.findall(code))):
                yield f"{where}: the core library says {word}"


def main() -> int:
    found = list(breaches())
    for breach in found:
        print(breach)
    print(f"layers: {len(sources(ROOT))} files, {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
