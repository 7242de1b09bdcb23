"""The commands of the guide to recovery, by heading and tags."""

import re
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^```sh(?P<tags>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block: it runs if every tag is one of the run."""

    heading: str
    tags: frozenset
    text: str


class Page:
    """The blocks of the page in their order."""

    def __init__(self, path: Path):
        text = path.read_text(encoding="utf-8")
        starts = [(0, "")] + [(match.start(), match[1]) for match in HEADING.finditer(text)]
        self.blocks = []
        for match in BLOCK.finditer(text):
            heading = [name for start, name in starts if start <= match.start()][-1]
            self.blocks.append(Block(heading, frozenset(match["tags"].split()), match["text"]))
        self.used = set()

    def commands(self, heading: str, tags: set, part: slice = slice(None)) -> list:
        """The blocks of a heading that a run with these tags executes, or some of them."""
        found = [block for block in self.blocks if block.heading == heading and block.tags <= tags][part]
        if not found:
            raise KeyError(f"the page has no commands under “{heading}” for {sorted(tags)}")
        self.used.update(found)
        return [block.text for block in found]

    def unused(self) -> list:
        """The blocks that no case has executed."""
        return [block for block in self.blocks if block not in self.used]
