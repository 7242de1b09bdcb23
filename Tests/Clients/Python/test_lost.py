"""A store's file that was deleted or replaced: the next opening reports it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from store_case import StoreCase

import fieldmerge


class LostTests(StoreCase):
    def wipe(self, path: str) -> None:
        for suffix in ("", "-wal", "-shm"):
            Path(path + suffix).unlink(missing_ok=True)

    def rename(self, store: fieldmerge.Store, name: str, record_id: int = 123) -> None:
        with store.edit("shoppers", record_id) as s:
            s.customer.firstName = name

    def losses(self, store: fieldmerge.Store) -> list[Any]:
        found: list[Any] = []
        store.on_lost(found.append)
        return [one.unsent for one in found]

    def killed(self, store: fieldmerge.Store) -> None:
        store._database.close()

    def test_a_store_that_was_deleted_is_lost_with_its_unsent_edits(self) -> None:
        path = self.file()
        store = self.synced(path)
        self.rename(store, "Bob")
        self.rename(store, "Eve", 124)
        store.close()
        self.wipe(path)
        store = self.synced(path)
        self.assertEqual(self.losses(store), [2])
        store.close()
        self.assertEqual(self.losses(self.open(path)), [], "once")

    def test_the_event_waits_for_its_handler(self) -> None:
        path = self.file()
        self.synced(path).close()
        self.wipe(path)
        self.open(path).close()
        self.assertEqual(self.losses(self.open(path)), [0])

    def test_the_event_comes_once_although_the_process_is_killed_before_it_has_written_the_file(self) -> None:
        path = self.file()
        self.synced(path).close()
        identity = Path(path + ".id").read_text()
        self.wipe(path)
        self.assertEqual(self.losses(self.open(path)), [0])
        self.killed(self.stores[-1])
        Path(path + ".id").write_text(identity)
        self.assertEqual(self.losses(self.open(path)), [])

    def test_a_store_in_place_of_another_one(self) -> None:
        one, other = self.file(), self.file("other.db")
        store = self.synced(one)
        self.rename(store, "Bob")
        store.close()
        self.synced(other).close()
        shutil.copy(other, one)
        self.assertEqual(self.losses(self.open(one)), [1])
        self.assertEqual(self.losses(self.open(other)), [])

    def test_nothing_is_lost_by_closing_copying_or_a_kill(self) -> None:
        path, copy = self.file(), self.file("copy.db")
        store = self.synced(path)
        self.rename(store, "Bob")
        self.killed(store)
        shutil.copy(path, copy)
        self.assertEqual([self.losses(self.open(one)) for one in (path, copy)], [[], []])
        self.assertEqual(self.losses(self.open()), [], "in memory")

    def test_without_the_file_nothing_is_known(self) -> None:
        path = self.file()
        self.synced(path).close()
        os.unlink(path + ".id")
        self.assertEqual(self.losses(self.open(path)), [])

    def test_a_damaged_file_has_no_number(self) -> None:
        path = self.file()
        self.synced(path).close()
        Path(path + ".id").write_text("{")
        store = self.open(path)
        self.assertEqual(self.losses(store), [])
        store.close()
        self.wipe(path)
        Path(path + ".id").write_text("")
        self.assertEqual(self.losses(self.open(path)), [None])

    def test_a_process_that_was_killed_has_noted_its_first_unsent_edit(self) -> None:
        path = self.file()
        store = self.synced(path)
        self.rename(store, "Bob")
        self.killed(store)
        self.wipe(path)
        self.assertEqual(self.losses(self.open(path)), [1])

    def test_edits_of_one_second_write_the_number_once(self) -> None:
        path = self.file()
        store = self.synced(path)
        with mock.patch("os.replace", side_effect=os.replace) as writes:
            for number in range(20):
                with store.create("aisles") as aisle:
                    aisle.aisle.name = str(number)
            self.assertEqual(writes.call_count, 1)
            self.clock.advance(1)
            self.rename(store, "Bob")
            self.assertEqual(writes.call_count, 2)
        self.assertEqual(json.loads(Path(path + ".id").read_text())["unsent"], 21)
        store.sync()
        self.assertEqual(json.loads(Path(path + ".id").read_text())["unsent"], 0)

    def test_a_sign_out_loses_nothing(self) -> None:
        path = self.file()
        store, other = self.synced(path), self.open(path)
        self.rename(store, "Bob")
        store.sign_out("discard")
        other.close()
        self.assertEqual(os.listdir(self.folder.name), [])
        self.assertEqual(self.losses(self.open(path)), [])

    def test_a_sign_out_that_was_killed_loses_nothing(self) -> None:
        path = self.file()
        store = self.synced(path)
        with mock.patch.object(store._identity, "remove", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                store.sign_out()
        self.killed(store)
        with mock.patch("fieldmerge.store.SIGN_OUT_SECONDS", 0):
            self.assertEqual(self.losses(self.open(path)), [])

    def test_another_process_sees_the_number_that_this_one_has_changed(self) -> None:
        path = self.file()
        store, other = self.synced(path), self.open(path)
        self.rename(store, "Bob")
        other.sync()
        self.clock.advance(2)
        self.rename(store, "Carl")
        store.close()
        other.close()
        self.assertEqual(json.loads(Path(path + ".id").read_text())["unsent"], 1)

    def test_a_store_leaves_the_file_of_a_later_store(self) -> None:
        path = self.file()
        store, other = self.synced(path), self.open(path)
        store.sign_out()
        later = self.synced(path)
        self.rename(later, "Bob")
        other.close()
        later.close()
        self.assertEqual(json.loads(Path(path + ".id").read_text())["unsent"], 1)

    def test_a_number_that_could_not_be_written_is_written_at_the_next_rest(self) -> None:
        path = self.file()
        store = self.synced(path)
        with mock.patch("os.replace", side_effect=OSError("full")), self.assertLogs("fieldmerge", "WARNING"):
            self.rename(store, "Bob")
        self.assertEqual([name for name in os.listdir(self.folder.name) if name.endswith(f"-{os.getpid()}")], [])
        store.close()
        self.assertEqual(json.loads(Path(path + ".id").read_text())["unsent"], 1)

    def test_a_sign_out_does_not_fail_because_of_the_file(self) -> None:
        path = self.file()
        store = self.synced(path)
        with mock.patch("os.unlink", side_effect=OSError("busy")), self.assertLogs("fieldmerge", "WARNING"):
            store._identity.remove()
        store.sign_out()
        self.assertFalse(os.path.exists(path))

    def test_the_event_of_an_asynchronous_store(self) -> None:
        path = self.file()
        self.synced(path).close()
        self.wipe(path)

        async def first() -> int | None:
            named: Any = {"server": "http://server.test", "user": "test", "transport": self.server}
            async with await fieldmerge.aio.open(path, **named) as store:
                async for lost in store.lost():
                    return int(lost.unsent)
            return None

        self.assertEqual(asyncio.run(first()), 0)

    def test_a_folder_that_cannot_be_written_stops_nothing(self) -> None:
        path = self.file()
        with mock.patch("os.replace", side_effect=OSError("read-only")), self.assertLogs("fieldmerge", "WARNING"):
            store = self.synced(path)
            self.rename(store, "Bob")
        self.assertEqual(store.status.unsent, 1)


if __name__ == "__main__":
    unittest.main()
