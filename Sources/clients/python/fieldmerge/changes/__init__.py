"""Edits as changes of rows: compared, composed, applied, and encoded. All functions are pure."""

from __future__ import annotations

from .applying import apply
from .comparing import as_written, is_created, is_other, is_seen, left, without_row
from .composing import compose, first_seen, follows
from .differing import difference
from .naming import created_ids, divide, map_ids, used_ids
from .regrouping import check, regroup
from .rows import (
    Json,
    RowChange,
    change_of,
    equal_groups,
    equal_where_known,
    fields_of,
    fill,
    is_creation,
    is_deletion,
    place_of_row,
    row_of,
)
from .unknown import fill_unknown, has_unknown, mark_unknown, unnamed, with_unknown
from .wire import changeset

__all__ = [
    "Json", "RowChange", "apply", "as_written", "change_of", "changeset", "check", "compose", "created_ids",
    "difference", "divide", "equal_groups", "equal_where_known", "fields_of", "fill", "fill_unknown", "first_seen", "follows",
    "has_unknown", "is_created", "is_creation", "is_deletion", "is_other", "is_seen", "left", "map_ids",
    "mark_unknown", "place_of_row", "regroup", "row_of", "unnamed", "used_ids", "with_unknown", "without_row",
]  # fmt: skip
