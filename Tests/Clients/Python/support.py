"""Helpers of all tests of the Python client."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "Sources" / "clients" / "python"))
CASES = ROOT / "Tests" / "Clients" / "Cases"


def cases(name: str) -> Any:
    """Returns a file of the cases that all clients share."""
    return json.loads((CASES / name).read_text(encoding="utf-8"))


def program() -> str | None:
    """Returns the path of the gateway's program, if it was built."""
    named = os.environ.get("FIELDMERGE_PROGRAM")
    candidates = [named] if named else [str(ROOT / ".build" / kind / "fieldmerge") for kind in ("release", "debug")]
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)


def seeds(ordinary: int) -> range:
    """The seeds of random tests. FIELDMERGE_SEEDS changes their number."""
    first = int(os.environ.get("FIELDMERGE_FIRST_SEED", "0"))
    return range(first, first + int(os.environ.get("FIELDMERGE_SEEDS", str(ordinary))))
