#!/usr/bin/env python3
"""check_symbols.py BUILD_DIR...: symbols of built extensions.

BUILD_DIR is what `make print-build-dir` says in an extension's directory.

- A library shows only what the server looks up: Pg_magic_func, _PG_init, the
  C functions that its SQL scripts declare, their pg_finfo_ records, and entry
  points of background workers (*_worker_main).
- It shows what released SQL scripts declared, too (released_symbols.txt).
- It needs no symbol of ours from outside.
- Global names start with st_, sf_ or vx_ in common/ and with the extension's own prefix
  in the extension, so that nothing clashes where archives are linked.

Prints every breach; exits 1 if any.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PREFIXES = {
    "colcompress": ("cc_",),
    "rowcompress": ("rc_",),
    "sorted_heap": ("sh_", "zm_"),
    "zson_dict": ("zs",),
}
COMMON = ("st_", "sf_", "vx_")
ENTRY_POINTS = {"Pg_magic_func", "_PG_init"}

FUNCTION = re.compile(
    r"\b(?:FUNCTION|PROCEDURE)\s+([\w.\"]+)\s*\(.*?;", re.IGNORECASE | re.DOTALL
)
C_SYMBOL = re.compile(r"'MODULE_PATHNAME'\s*(?:,\s*'(\w+)')?", re.IGNORECASE)


def symbols(path: Path, *options: str) -> set[str]:
    out = subprocess.run(
        ["nm", *options, path], check=True, capture_output=True, text=True
    ).stdout
    return {
        fields[-1]
        for line in out.splitlines()
        if len(fields := line.split()) >= 2 and len(fields[-2]) == 1
    }


def declared(extension: Path) -> set[str]:
    """C symbols that the extension's SQL scripts name."""
    found = set()
    for script in [*extension.glob("*.sql"), *extension.glob("build/*.sql")]:
        for statement in FUNCTION.finditer(script.read_text()):
            symbol = C_SYMBOL.search(statement.group())
            if symbol:
                name = statement.group(1).split(".")[-1].strip('"')
                found.add(symbol.group(1) or name)
    return found


def released(name: str) -> set[str]:
    """C symbols that databases made with a released script of an extension call."""
    lines = (ROOT / "ci" / "released_symbols.txt").read_text().splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#")]
    return {symbol for extension, symbol in pairs if extension == name}


def breaches(build: Path) -> Iterator[str]:
    """`build` is extensions/<name>/build/<key>."""
    extension = build.parent.parent
    name = extension.name
    library = extension / f"{name}.so"
    prefixes = PREFIXES[name]
    shown = symbols(library, "-D", "--defined-only")
    functions = declared(extension) | released(name)
    wanted = ENTRY_POINTS | functions | {f"pg_finfo_{f}" for f in functions}
    workers = {symbol for symbol in shown if symbol.endswith("_worker_main")}
    for symbol in sorted(shown - wanted - workers):
        yield f"{library.name}: shows {symbol}, which no SQL script declares"
    for symbol in sorted(wanted - shown - ENTRY_POINTS):
        yield f"{library.name}: lacks {symbol}, which a SQL script declares, or a released one did"
    for symbol in sorted(symbols(library, "-D", "--undefined-only")):
        if symbol.startswith(sum(PREFIXES.values(), COMMON)):
            yield f"{library.name}: needs {symbol} from outside"
    for path in sorted(build.rglob("*.o")):
        for symbol in sorted(symbols(path, "--defined-only", "--extern-only")):
            plain = symbol.removeprefix("pg_finfo_")
            if symbol not in ENTRY_POINTS and not plain.startswith(prefixes):
                yield f"{path.name}: global name {symbol} does not start with {' or '.join(prefixes)}"
    for archive in sorted((ROOT / "common" / "build" / build.name).glob("*.a")):
        for symbol in sorted(symbols(archive, "--defined-only", "--extern-only")):
            if not symbol.startswith(COMMON):
                yield f"{archive.name}: global name {symbol} does not start with {' or '.join(COMMON)}"


def main(arguments: list[str]) -> int:
    found = [breach for argument in arguments for breach in breaches(Path(argument))]
    for breach in found:
        print(breach)
    print(f"symbols: {len(arguments)} libraries, {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
