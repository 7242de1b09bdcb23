"""Queries over the records of a store, live queries, and indexes."""

from __future__ import annotations

from .live import LiveQuery
from .rows import Results

__all__ = ["LiveQuery", "Results"]
