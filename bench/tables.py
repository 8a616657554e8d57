"""Tables of text, the header first, for a terminal and for Markdown."""

from __future__ import annotations


def plain(lines: list[list[str]]) -> str:
    """A table in columns, as the terminal shows it."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def row(cells: list[str]) -> str:
        first, *rest = cells
        return "  ".join(
            [first.ljust(widths[0])]
            + [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        ).rstrip()

    header, *body = lines
    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join([row(header), rule, *map(row, body)])


def markdown(lines: list[list[str]]) -> str:
    """A table in Markdown."""

    def row(cells: list[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    header, *body = lines
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join([row(header), row(rule), *map(row, body)])
