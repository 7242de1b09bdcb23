"""A small file with the id of a store, `NAME.id`: by it `open` detects that the store was deleted or replaced."""

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
    """The file with the id of a store. A store in memory has none."""

    def __init__(self, path: str) -> None:
        self.path = None if path == ":memory:" else path + ".id"
        self.store: str | None = None
        """The id of the store that this process has opened."""
        self.lost: str | None = None
        """The id of the store that it has replaced."""
        self.unsent: int | None = None
        """The number that this process has tried to write last."""
        self._lock = threading.Lock()
        self._is_removed = False

    def read(self) -> Identity | None:
        """Returns the identity of the earlier store; `None` if there was none."""
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

    def write(self, unsent: int) -> None:
        """Replaces the file at once, unless it belongs to a third store.

        It is not synchronized with the disk: an edit must not wait for that.
        """
        with self._lock:
            self.unsent = unsent
            found = self.read()
            if self.path is None or self.store is None or self._is_removed:
                return
            if found is not None and (found == Identity(self.store, unsent) or self._is_foreign(found)):
                return
            temporary = f"{self.path}-{os.getpid()}"
            try:
                try:
                    with open(temporary, "w", encoding="utf-8") as file:
                        json.dump({"store": self.store, "unsent": unsent}, file)
                    os.replace(temporary, self.path)
                finally:
                    if os.path.exists(temporary):
                        os.unlink(temporary)
            except OSError as error:
                log.warning("%s cannot be written: %s", self.path, error)

    def _is_foreign(self, found: Identity) -> bool:
        return found.store not in (self.store, self.lost, "")

    def remove(self) -> None:
        """Deletes the file after a sign-out, unless it belongs to another store."""
        with self._lock:
            self._is_removed = True
            found = self.read()
            if self.path is None or found is None or self._is_foreign(found):
                return
            try:
                os.unlink(self.path)
            except OSError as error:
                log.warning("%s cannot be deleted: %s", self.path, error)
