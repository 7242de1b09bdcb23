"""Comments that send a reader to a page: it has to be in the repository."""

import re
from pathlib import Path

from measures import Place

GUIDES = Path("Sources/fieldmerge/Guides")
FOLDERS = ("Sources", "Tests", "Samples")
SUFFIXES = {".swift", ".py", ".c", ".h", ".yaml", ".sql", ""}
MENTION = re.compile(r"([\w./-]+\.md)\b(?:,? section (\d+))?")
# Contracts that are spelled in capitals are pages of somewhere else.
ELSEWHERE = re.compile(r"\b(PROTOCOL|DESIGN)\b")


def findings(root: Path) -> list[Place]:
    """Every mention of a page that is not there, or of a section that the page has not."""
    found = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            # What a build of a sample leaves is no source.
            is_built = ".build" in file.relative_to(root).parts
            is_own = Path(__file__).parent in file.parents
            if not is_built and not is_own and file.suffix in SUFFIXES and file.is_file():
                where = str(file.relative_to(root))
                for line, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                    found += [Place(where, line, words) for words in problems(root, file.parent, text)]
    return found


def problems(root: Path, folder: Path, text: str) -> list[str]:
    """What is wrong with the mentions in one line of a file in the folder."""
    found = [f"“{match[1]}” is no page of the repository" for match in ELSEWHERE.finditer(text)]
    for match in MENTION.finditer(text):
        places = [base / match[1] for base in (folder, root, root / GUIDES)]
        page = next((place for place in places if place.is_file()), None)
        if page is None:
            found.append(f"there is no page {match[1]}")
        elif match[2] and not re.search(rf"^##+ {match[2]}\. ", page.read_text(encoding="utf-8"), re.MULTILINE):
            found.append(f"{match[1]} has no section {match[2]}")
    return found
