#!/usr/bin/env python3
"""Devices edit the same records while offline, then sync in turn; in the end two of them keep all records.

Each device is a store of the Python client library, Sources/clients/python. Runs against a gateway that serves
Samples/shop with the rules in MergeRules. It works on a shopper and articles of its own, which it deletes at the end.
The exit code is 0 only if every merge came out right.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Sources" / "clients" / "python"))

import replica_story
import report
import shopper_story
import stock_story
from fieldmerge import FieldMergeError
from story import Shop, Unexpected


def main() -> int:
    options = arguments()
    shop = Shop(options.url, options.token)
    try:
        shopper_story.tell(shop)
        stock_story.tell(shop)
        replica_story.tell(shop, options.till)
    except (FieldMergeError, Unexpected, ValueError) as error:
        report.failure(f"demo: {error}")
        return 1
    finally:
        shop.close()
    print("\nEvery merge came out as expected.")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Clients edit the same records offline, then merge.")
    parser.add_argument("--url", default="http://127.0.0.1:8080", help="the gateway (%(default)s)")
    token = os.environ.get("DEMO_TOKEN")
    parser.add_argument("--token", default=token, help="a bearer token (or DEMO_TOKEN)")
    parser.add_argument(
        "--till", metavar="FILE", help="the SQLite file of the shop, to which the old till writes by itself"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
