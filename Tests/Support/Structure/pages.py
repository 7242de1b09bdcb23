"""The pages that comments name: the repository must contain them."""

import re
from pathlib import Path

GUIDES = Path("Sources/fieldmerge/Guides")
FOLDERS = ("Sources", "Tests", "Samples")
SUFFIXES = {".swift", ".py", ".c", ".h", ".yaml", ".sql", ""}
MENTION = re.compile(r"([\w./-]+\.md)\b(?:,? section (\d+))?")
# Contracts with names in capitals are not pages of the repository.
ELSEWHERE = re.compile(r"\b(PROTOCOL|DESIGN)\b")


def findings(root: Path) -> list[str]:
    """Returns every mention of a page, or of a section, that does not exist."""
    found = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            # The build of a sample leaves copies.
            is_built = ".build" in file.relative_to(root).parts
            is_own = Path(__file__).parent in file.parents
            if not is_built and not is_own and file.suffix in SUFFIXES and file.is_file():
                for line, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                    found += [f"{file.relative_to(root)}:{line}: {words}" for words in problems(root, file.parent, text)]
    return found


def problems(root: Path, folder: Path, text: str) -> list[str]:
    """Returns the faults of the mentions in one line of a file in the folder."""
    found = [f"“{match[1]}” is no page of the repository" for match in ELSEWHERE.finditer(text)]
    for match in MENTION.finditer(text):
        candidates = [base / match[1] for base in (folder, root, root / GUIDES)]
        page = next((page for page in candidates if page.is_file()), None)
        if page is None:
            found.append(f"there is no page {match[1]}")
        elif match[2] and not re.search(rf"^##+ {match[2]}\. ", page.read_text(encoding="utf-8"), re.MULTILINE):
            found.append(f"{match[1]} has no section {match[2]}")
    return found
