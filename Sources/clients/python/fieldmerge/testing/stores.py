"""Stores for tests."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from ..store import Store, open_store
from .clock import ManualClock
from .scripted import ScriptedServer


def memory_store(
    server: ScriptedServer,
    *,
    path: str = ":memory:",
    clock: ManualClock | None = None,
    user: str = "test",
    token: str | Callable[[], str | None] | None = None,
    seed: int = 0,
    **more: Any,
) -> Store:
    """Opens a store (in memory, unless it has a path) that uses a scripted server and a stopped clock."""
    return open_store(
        path,
        server="http://server.test",
        user=user,
        token=token,
        transport=server,
        clock=clock or ManualClock(),
        randomness=random.Random(seed),
        **more,
    )
