"""Prints the imports and the mentions of pages that do not fit; Tests/run structure calls this."""

import sys
from pathlib import Path

import imports
import pages

if __name__ == "__main__":
    root = Path(__file__).parents[3]
    found = [*imports.findings(root), *pages.findings(root)]
    print("\n".join(found) or "Imports and pages fit.", file=sys.stderr if found else sys.stdout)
    sys.exit(1 if found else 0)
