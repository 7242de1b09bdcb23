"""Counts how the sources are written; Tests/words calls this."""

import argparse
import json
import sys
from pathlib import Path

import imports
import pages
from measures import Measure, all_measures, ceiling

CEILINGS = Path(__file__).with_name("ceilings.json")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="Tests/words",
        description="Counts how the functions, labels and comments of the sources and tests are written, and prints a table.")
    parser.add_argument("--check", action="store_true", help="exits with 1 where a value is over its bar and ceiling, an "
                        "import is not in the table of the guide, or a comment names a page that is not there")
    parser.add_argument("--list", metavar="NAME", help="prints the places that a measure counts, such as unlabelled")
    parser.add_argument("--lower", action="store_true", help="lowers the ceilings to what the sources are now")
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[2], help=argparse.SUPPRESS)
    options = parser.parse_args()

    found = all_measures(options.root)
    ceilings = json.loads(CEILINGS.read_text()) if CEILINGS.exists() else {}
    if options.list:
        return list_places(found, options.list)
    if options.lower:
        CEILINGS.write_text(json.dumps(lowered(found, ceilings), indent=2) + "\n")
        return 0
    print(table(found, ceilings))
    return check(found, ceilings, options.root) if options.check else 0


def list_places(found: list[Measure], name: str) -> int:
    measure = next((measure for measure in found if measure.name == name), None)
    if measure is None:
        print(f"“{name}” is no measure; there are {', '.join(item.name for item in found)}", file=sys.stderr)
        return 2
    print("\n".join(map(str, measure.places)))
    return 0


def lowered(found: list[Measure], ceilings: dict[str, float]) -> dict[str, float]:
    """The ceilings that are still needed; one that exists never rises."""
    return {
        measure.name: min(ceiling(measure.value), ceilings.get(measure.name, ceiling(measure.value)))
        for measure in found if measure.value > measure.bar
    }


def table(found: list[Measure], ceilings: dict[str, float]) -> str:
    rows = [("measure", "", "today", "bar", "ceiling", "")]
    for measure in found:
        limit = measure.limit(ceilings)
        rows.append((
            measure.name, measure.title, number(measure.value) + measure.unit, number(measure.bar) + measure.unit,
            number(limit) + measure.unit if limit > measure.bar else "", measure.detail))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if 2 <= column <= 4 else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def check(found: list[Measure], ceilings: dict[str, float], root: Path) -> int:
    """Says what is broken; the exit code."""
    broken = [measure for measure in found if measure.value > measure.limit(ceilings)]
    for measure in broken:
        print(
            f"\n{measure.title}: {number(measure.value)}{measure.unit} is more than the "
            f"{number(measure.limit(ceilings))}{measure.unit} allowed; Tests/words --list {measure.name} names them",
            file=sys.stderr)
    places = [*imports.findings(root), *pages.findings(root)]
    for place in places:
        print(place, file=sys.stderr)
    return 1 if broken or places else 0


if __name__ == "__main__":
    sys.exit(main())
