"""Records as the dataclasses that `fieldmerge types` has written for the shared rules."""

from __future__ import annotations

import asyncio
import datetime
import unittest
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

from store_case import StoreCase  # isort: skip  (it finds the library)
from model_types import Aisle, AisleAisle, Aisles, Shopper, ShopperCard, ShopperCustomer, ShopperGrocery, Shoppers

import fieldmerge
from fieldmerge.typed import CalendarDate, LocalDateTime, TimeSpan, Timestamp, TypedRow, _read_row, _write_row, from_base64


class Values(TypedRow):
    wide: int
    total: Decimal
    data: bytes
    day: CalendarDate
    from_: str | None
    unknown: int

    _fields = {
        "wide": ("wide", int, "write"),
        "total": ("total", Decimal, "write"),
        "data": ("bytes", from_base64, "write"),
        "day": ("day", CalendarDate, "write"),
        "from_": ("from", None, "write"),
        "unknown": ("unknown", int, "write"),
    }


class TypedRecordTests(StoreCase):
    def test_a_record_is_read_in_its_type(self) -> None:
        shoppers = self.synced().of(Shoppers)
        shopper = shoppers.record(123)
        assert shopper is not None
        self.assertEqual((shopper.id, shopper.customer.firstName, shopper.customer.points), (123, "Joe", 5))
        self.assertEqual([one.name for one in shopper.groceries], ["Beans", "Tea"])
        self.assertIsInstance(shopper.customer.modified, Timestamp)
        self.assertIsNone(shopper.card)
        self.assertIsNone(shoppers.record(99))
        self.assertEqual(len(shoppers.records()), 2)
        found = shoppers.query(where={"groceries.name": "Tea"}, limit=5)
        self.assertEqual(([one.id for one in found], found.next), ([123], None))
        self.assertEqual(shopper, shoppers.record(123))

    def test_an_edit_sends_the_groups_that_it_changed(self) -> None:
        store = self.synced()
        with store.of(Shoppers).edit(123) as shopper:
            shopper.customer.street = "2 High St"
            shopper.groceries[0].quantity = None
            shopper.groceries.append(ShopperGrocery(name="Rice", aisle=5))
            del shopper.groceries[1]
            shopper.card = ShopperCard(number="7")
        (edit,) = store.unsent()[0].edits
        self.assertEqual(list(edit.changeset["customer"]), ["address"])
        store.sync()
        ticket = shopper.ticket
        assert ticket is not None
        self.assertEqual(ticket.outcome(timeout=5).status, "merged")
        record = store.record("shoppers", 123)
        self.assertEqual((record.customer.street, record.card.number), ("2 High St", "7"))
        self.assertEqual([one.name for one in record.groceries], ["Beans", "Rice"])
        self.assertIsNone(record.groceries[0].quantity)
        with store.of(Shoppers).edit(123) as shopper:
            shopper.card = None
        store.sync()
        self.assertIsNone(store.record("shoppers", 123).card)

    def test_an_edit_without_a_change_or_with_an_exception_stores_nothing(self) -> None:
        store = self.synced()
        with store.of(Shoppers).edit(123) as shopper:
            shopper.customer.firstName = "Joe"
        with self.assertRaises(KeyError), store.of(Shoppers).edit(123) as shopper:
            shopper.customer.firstName = "Bob"
            raise KeyError
        self.assertEqual(store.unsent(), [])

    def test_a_new_record_leaves_out_what_is_none(self) -> None:
        store = self.synced()
        new = Shopper(customer=ShopperCustomer(firstName="Kim", points=0), groceries=[ShopperGrocery(name="Rice")])
        ticket = store.of(Shoppers).create(new)
        (edit,) = store.unsent()[0].edits
        self.assertEqual(edit.changeset["customer"]["new"], {"firstName": "Kim", "points": 0})
        unanswered = store.of(Shoppers).record(ticket.id)
        assert unanswered is not None
        self.assertEqual((unanswered.customer.firstName, unanswered.customer.modified), ("Kim", None))
        store.sync()
        shopper = store.of(Shoppers).record(ticket.id)
        assert shopper is not None
        self.assertEqual([one.name for one in shopper.groceries], ["Rice"])
        store.of(Shoppers).delete(shopper.id)
        store.sync()
        self.assertIsNone(store.of(Shoppers).record(shopper.id))

    def test_a_base_is_a_record_that_was_read(self) -> None:
        store = self.synced()
        base = store.of(Shoppers).record(123)
        with store.edit("shoppers", 123) as plain:
            plain.customer.firstName = "Bob"
        with store.of(Shoppers).edit(123, base=base) as shopper:
            self.assertEqual(shopper.customer.firstName, "Joe")
            shopper.customer.lastName = "Ray"
        record = store.record("shoppers", 123)
        self.assertEqual((record.customer.firstName, record.customer.lastName), ("Bob", "Ray"))
        own = Shopper(id=123, customer=ShopperCustomer(firstName="Joe", points=5))
        with self.assertRaises(fieldmerge.NotPossible):
            store.of(Shoppers).edit(123, base=own)

    def test_a_live_query_and_an_observed_record_are_typed(self) -> None:
        store = self.synced()
        seen: list[str] = []
        end = store.of(Shoppers).observe(123, lambda one: seen.append("" if one is None else one.customer.firstName))
        with store.of(Shoppers).edit(123) as shopper:
            shopper.customer.firstName = "Bob"
        self.assertEqual(seen[-1], "Bob")
        end()
        with store.of(Shoppers).live(sort=["-id"], limit=1) as live:
            for found in live:
                self.assertEqual([one.id for one in found], [124])
                break

    def test_followed_records_are_typed(self) -> None:
        store = self.synced()
        found = store.of(Shoppers).query(sort=["id"])
        plain = store.records("aisles")[0]
        found.followed = [{"aisle": plain}, {"aisle": None}]
        first, second = found.followed_as("aisle", Aisles)
        self.assertIsInstance(first, Aisle)
        self.assertEqual((first and first.aisle.name, second), (plain.aisle.name, None))

    def test_asyncio(self) -> None:
        async def story(store: fieldmerge.aio.AsyncStore) -> None:
            shoppers = store.of(Shoppers)
            base = await shoppers.record(123)
            async with shoppers.edit(123, base=base) as shopper:
                shopper.customer.firstName = "Bob"
            assert shopper.ticket is not None
            ticket = await shoppers.create(Shopper(customer=ShopperCustomer(firstName="Kim", points=0)))
            async for seen in shoppers.observe(123):
                self.assertEqual(seen and seen.customer.firstName, "Bob")
                break
            async with await shoppers.live(sort=["-id"], limit=1) as live:
                async for value in live:
                    self.assertEqual(len(value), 1)
                    self.assertIsInstance(value[0], Shopper)
                    break
            await store.sync()
            outcomes = [await one.outcome(5) for one in (shopper.ticket, ticket)]
            self.assertEqual([one.status for one in outcomes], ["merged", "merged"])
            found = await shoppers.query(where={"customer.firstName": "Kim"})
            self.assertEqual([one.id for one in found], [ticket.id])
            count = await shoppers.count()
            await shoppers.delete(ticket.id)
            self.assertEqual((len(await shoppers.records()), count), (count - 1, count))

        blocking = self.synced()
        with ThreadPoolExecutor(2) as pool:
            asyncio.run(story(fieldmerge.aio.AsyncStore(blocking, pool)))

    def test_two_resources(self) -> None:
        store = self.synced()
        aisle = store.of(Aisles).create(Aisle(aisle=AisleAisle(name="Oils")))
        with store.of(Shoppers).edit(124) as shopper:
            shopper.groceries.append(ShopperGrocery(name="Olive oil", aisle=aisle.id))
        store.sync()
        kept = store.of(Shoppers).record(124)
        assert kept is not None
        found = store.of(Aisles).record(kept.groceries[0].aisle)
        assert found is not None
        self.assertEqual(found.aisle.name, "Oils")


class WireTextTests(unittest.TestCase):
    def test_dates_and_times(self) -> None:
        self.assertEqual(CalendarDate.of(datetime.date(2026, 11, 20)), "2026-11-20")
        self.assertEqual(CalendarDate("2026-11-20").date(), datetime.date(2026, 11, 20))
        self.assertIsNone(CalendarDate("0000-00-00").date())
        time = datetime.datetime(2026, 11, 20, 10, 0, 0, 250000)
        self.assertEqual(LocalDateTime.of(time), "2026-11-20T10:00:00.250000")
        self.assertEqual(LocalDateTime("2026-11-20T10:00:00.25").datetime(), time)
        moment = time.replace(tzinfo=datetime.timezone.utc)
        self.assertEqual(Timestamp.of(moment), "2026-11-20T10:00:00.250000Z")
        self.assertEqual(Timestamp("2026-11-20T10:00:00.25Z").datetime(), moment)
        span = datetime.timedelta(hours=-838, minutes=-59, seconds=-59)
        self.assertEqual((TimeSpan.of(span), TimeSpan("-838:59:59").timedelta()), ("-838:59:59", span))
        self.assertEqual(TimeSpan.of(datetime.time(9, 30)), "09:30:00")
        self.assertEqual(repr(CalendarDate("2026-11-20")), "CalendarDate('2026-11-20')")
        with self.assertRaises(ValueError):
            Timestamp.of(time)

    def test_values_that_json_has_as_texts_keep_every_digit(self) -> None:
        wire = {"wide": "9007199254740993", "total": "12.50", "bytes": "AAH/", "day": "0000-00-00", "from": None}
        row = _read_row(Values, wire)
        self.assertEqual((row.wide, row.total, row.data), (2**53 + 1, Decimal("12.50"), b"\x00\x01\xff"))
        self.assertIsNone(row.day.date())
        self.assertFalse(hasattr(row, "unknown"))
        self.assertEqual(str(_write_row(row, is_new=False)["total"]), "12.50")
        self.assertNotIn("from", _write_row(row, is_new=True))
        self.assertEqual(row, _read_row(Values, wire))


if __name__ == "__main__":
    unittest.main()
