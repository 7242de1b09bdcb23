"""A small file beside a store, `NAME.id`: by it `open` detects that the store was deleted or replaced."""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import dataclass

log = logging.getLogger("fieldmerge")


@dataclass(frozen=True)
class Identity:
    """The id of a store, and the last known number of its unsent edits."""

    store: str
    unsent: int | None


UNREADABLE = Identity("", None)
"""The identity in a file that is damaged."""


class IdentityFile:
    """The file beside a store. A store in memory has none."""

    def __init__(self, path: str) -> None:
        self.path = None if path == ":memory:" else path + ".id"
        self.last: Identity | None = None
        """The identity that this process has written."""
        self._lock = threading.Lock()
        self._is_removed = False

    def read(self) -> Identity | None:
        """Returns the identity of the store that was here; `None` if there was none."""
        if self.path is None:
            return None
        try:
            with open(self.path, encoding="utf-8") as file:
                told = json.load(file)
            return Identity(str(told["store"]), int(told["unsent"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            return UNREADABLE

    def write(self, identity: Identity) -> None:
        """Replaces the file at once. It is not synchronized with the disk: an edit must not wait for that."""
        with self._lock:
            if self.path is None or self._is_removed or identity == self.last:
                return
            temporary = f"{self.path}-{os.getpid()}"
            try:
                with open(temporary, "w", encoding="utf-8") as file:
                    json.dump({"store": identity.store, "unsent": identity.unsent}, file)
                os.replace(temporary, self.path)
            except OSError as error:
                log.warning("%s cannot be written: %s", self.path, error)
            self.last = identity

    def remove(self) -> None:
        """Deletes the file for good: the store is signed out."""
        with self._lock:
            self._is_removed = True
            if self.path is not None and os.path.exists(self.path):
                os.unlink(self.path)
