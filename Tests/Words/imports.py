"""Which modules a target may import: the table in the guide to the architecture, held against the sources."""

import re
from dataclasses import dataclass
from pathlib import Path

from lexer import Token, tokens
from measures import Place

TABLE = Path("Sources/fieldmerge/Guides/Architecture.md")
LEVELS = {"public", "package", "internal", "fileprivate", "private"}


@dataclass(frozen=True)
class Allowed:
    """The modules of one row: what other targets may meet in its declarations, and what it keeps inside."""

    outside: frozenset[str]
    inside: frozenset[str]


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    shown: bool
    """Its types may stand in declarations that other targets use."""


def findings(root: Path) -> list[Place]:
    """Every import that the table does not allow, and every target that it forgets or that is not there."""
    rows = table((root / TABLE).read_text(encoding="utf-8"))
    targets = folders(root)
    found = [Place(str(TABLE), 1, f"the table has no row for {name}") for name in targets if name not in rows]
    found += [Place(str(TABLE), 1, f"there is no target {name}") for name in rows if name not in targets]
    for name, folder in targets.items():
        for file in sorted(folder.rglob("*.swift")):
            where = str(file.relative_to(root))
            for item in imports(tokens(file.read_text(encoding="utf-8"))):
                if reason := refusal(item, rows.get(name)):
                    found.append(Place(where, item.line, f"{name} {reason}; the table stands in {TABLE}"))
    return found


def folders(root: Path) -> dict[str, Path]:
    """The folder of each target: that of its name in Sources, or the one that the manifest says."""
    manifest = root / "Package.swift"
    text = manifest.read_text(encoding="utf-8") if manifest.exists() else ""
    found = {name: root / path for name, path in re.findall(r'name:\s*"(\w+)",\s*path:\s*"(Sources/[^"]+)"', text)}
    for folder in sorted((root / "Sources").iterdir()):
        if any(folder in path.parents for path in found.values()):
            continue
        if folder.is_dir() and any(folder.rglob("*.swift")):
            found[folder.name] = folder
    return dict(sorted(found.items()))


def refusal(item: Import, row: Allowed | None) -> str | None:
    """Why a row does not allow an import; None where it does, or where there is no row."""
    if row is None or item.module in row.outside:
        return None
    if item.module not in row.inside:
        return f"may not import {item.module}"
    return f"keeps {item.module} inside, so it imports it without “package” and “public”" if item.shown else None


def table(guide: str) -> dict[str, Allowed]:
    """The rows of the table whose head is “target … may import”; behind “inside” stands what is kept inside."""
    rows: dict[str, Allowed] = {}
    within = False
    for line in guide.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            within = False
        elif cells[0] == "target" and cells[-1] == "may import":
            within = True
        elif within and not set(cells[0]) <= set("-: "):
            outside, _, inside = cells[-1].partition("inside")
            allowed = Allowed(frozenset(names(outside)), frozenset(names(inside)))
            rows.update({name: allowed for name in names(cells[0])})
    return rows


def names(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def imports(found: list[Token]) -> list[Import]:
    """The imports of a file, also those of a single declaration and those under a condition of the compiler."""
    result, depth = [], 0
    for index, token in enumerate(found):
        if token.kind == "mark" and token.text in "{}":
            depth += 1 if token.text == "{" else -1
        if token.kind != "word" or token.text != "import" or depth:
            continue
        path = [item for item in found[index + 1 : index + 3] if item.kind in ("word", "name")]
        kinds = {"struct", "class", "enum", "protocol", "typealias", "func", "let", "var"}
        module = path[1] if path[0].text in kinds and path[1].line == token.line else path[0]
        before = found[index - 1] if index else None
        level = before.text if before and before.line == token.line and before.text in LEVELS else "internal"
        result.append(Import(module.text.strip("`"), token.line, level in ("public", "package")))
    return result
