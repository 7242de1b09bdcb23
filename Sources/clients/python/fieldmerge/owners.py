"""Names of the processes that have a store open, and whether one of them has ended."""

from __future__ import annotations

import os
import socket
import uuid

_open: set[str] = set()
"""The owners of this process."""


def new_owner() -> str:
    """Returns a name for one opening of a store."""
    owner = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4()}"
    _open.add(owner)
    return owner


def end_owner(owner: str) -> None:
    """Notes that a store was closed."""
    _open.discard(owner)


def has_ended(owner: str) -> bool:
    """Returns whether an owner was on this machine, and its process has ended or has closed the store."""
    host, _, rest = owner.partition("/")
    number = rest.partition("/")[0]
    if host != socket.gethostname() or not number.isdigit():
        return False
    if int(number) == os.getpid():
        return owner not in _open
    if os.name != "posix":
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
