"""The modules that a target may import: the table in the guide to the architecture, compared with the sources."""

import re
from dataclasses import dataclass
from pathlib import Path

TABLE = Path("Sources/fieldmerge/Guides/Architecture.md")
IMPORT = re.compile(
    r"^\s*(?:@\w+\s+)*(?:(?P<level>public|package|internal|fileprivate|private)\s+)?"
    r"import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(?P<module>\w+)",
    re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """The modules of a target: those that its public and package declarations may name, and those that they may not."""

    outside: frozenset[str]
    inside: frozenset[str]


def findings(root: Path) -> list[str]:
    """Returns every import that the table does not allow, and every target that has no row or no sources."""
    rows = table((root / TABLE).read_text(encoding="utf-8"))
    targets = folders(root)
    found = [f"{TABLE}:1: the table has no row for {name}" for name in targets if name not in rows]
    found += [f"{TABLE}:1: there is no target {name}" for name in rows if name not in targets]
    for name in targets.keys() & rows.keys():
        for file in sorted(targets[name].rglob("*.swift")):
            # Code of a tutorial is a file of an app.
            if any(folder.suffix == ".docc" for folder in file.parents):
                continue
            text = file.read_text(encoding="utf-8")
            for item in IMPORT.finditer(text):
                if reason := refusal(item["module"], item["level"], rows[name]):
                    line = text.count("\n", 0, item.start("module")) + 1
                    found.append(f"{file.relative_to(root)}:{line}: {name} {reason}; {TABLE} has the table")
    return sorted(found)


def refusal(module: str, level: str | None, row: Row) -> str | None:
    """Returns the reason why a row does not allow an import; None if it does."""
    if module in row.outside:
        return None
    if module not in row.inside:
        return f"may not import {module}"
    if level in ("public", "package"):
        return f"keeps {module} inside, so it imports it without “package” and “public”"
    return None


def folders(root: Path) -> dict[str, Path]:
    """Returns the folder of each target: the one of its name in Sources, or the one that the manifest names."""
    manifest = root / "Package.swift"
    text = manifest.read_text(encoding="utf-8") if manifest.exists() else ""
    found = {name: root / path for name, path in re.findall(r'name:\s*"(\w+)",\s*path:\s*"(Sources/[^"]+)"', text)}
    for folder in sorted((root / "Sources").iterdir()):
        is_named = any(folder == path or folder in path.parents for path in found.values())
        if not is_named and folder.is_dir() and any(folder.rglob("*.swift")):
            found[folder.name] = folder
    return dict(sorted(found.items()))


def table(guide: str) -> dict[str, Row]:
    """Returns the rows of the table whose head is “target … may import”."""
    rows: dict[str, Row] = {}
    is_within = False
    for line in guide.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            is_within = False
        elif cells[0] == "target" and cells[-1] == "may import":
            is_within = True
        elif is_within and not set(cells[0]) <= set("-: "):
            outside, _, inside = cells[-1].partition("inside")
            row = Row(frozenset(names(outside)), frozenset(names(inside)))
            rows.update({name: row for name in names(cells[0])})
    return rows


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)
