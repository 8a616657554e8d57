"""The block of README.md that shows a run of `make bench`: verdict, chart, origin.

    python3 -m bench.readme [bench/results/latest]

puts the block of that run between README's marks, and its chart into docs/.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

from bench import verdict
from bench.config import SUMMARY
from bench.results import Results
from bench.tables import markdown

ROOT = Path(__file__).resolve().parent.parent
BEGIN = "<!-- benchmark: written by python3 -m bench.readme -->"
END = "<!-- end of benchmark -->"
CHART = "docs/benchmark.png"


def block(results: Results) -> str:
    """The verdict of a run as Markdown; ValueError where it is not of `make bench`,
    or of sources that no commit has."""
    meta = results.meta
    if SUMMARY not in meta["run"]["datasets"]:
        raise ValueError("the run is of some data sets only, not of `make bench`")
    if meta["commit"] == "unknown" or meta["commit"].endswith("-dirty"):
        raise ValueError(f"the run is of no commit: {meta['commit']}")
    server = re.match(r"PostgreSQL \S+", meta["server"]).group()
    return "\n\n".join(
        [
            "## Measured",
            *verdict.blocks(results, markdown),
            f"![Times better than heap]({CHART})",
            f"By `make bench` of commit {meta['commit']}: {server}, DuckDB {meta['DuckDB']};"
            f" {meta['machine']}. [What is measured, and how](docs/benchmark.md).",
        ]
    )


def put(readme: str, text: str) -> str:
    """README with the block between its marks."""
    before, found, rest = readme.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not (found and ended):
        raise ValueError("README.md has no place for the benchmark")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def main(folder: Path, root: Path = ROOT) -> None:
    results = Results.from_dict(json.loads((folder / "results.json").read_text()))
    readme = root / "README.md"
    readme.write_text(put(readme.read_text(), block(results)))
    shutil.copyfile(folder / f"{SUMMARY}.png", root / CHART)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "bench/results/latest"))
    except ValueError as problem:
        sys.exit(f"error: {problem}")
