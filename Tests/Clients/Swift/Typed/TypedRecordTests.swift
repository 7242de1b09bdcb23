import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// Records in the types that `fieldmerge types` has written for the shared rules.
@Suite(.timeLimit(.minutes(2))) struct TypedRecordTests {
    private static func store() async throws -> (MemoryGateway, FieldMergeStore) {
        let gateway = try StoreTests.gateway()
        return (gateway, try await StoreTests.synced(gateway))
    }

    @Test("A record is read in its type, with its lists")
    func reading() async throws {
        let (_, store) = try await Self.store()
        let shopper = try #require(try await store.of(Shoppers).record(123))
        #expect(shopper.customer.firstName == "Joe" && shopper.customer.points == 5)
        #expect(shopper.groceries.map(\.name) == ["Beans", "Tea"] && shopper.groceries[0].aisle == 5)
        #expect(shopper.customer.modified?.date != nil && shopper.card == nil)
        #expect(try await store.of(Shoppers).record(99) == nil)
        #expect(try await store.of(Shoppers).records().count == 2)
        let found = try await store.of(Shoppers).query(where: [.equals("groceries.name", "Tea")], limit: 5)
        #expect(found.map(\.id) == [123] && found.next == nil)
    }

    @Test("An edit sends only the groups that it changed")
    func editing() async throws {
        let (gateway, store) = try await Self.store()
        let ticket = try await store.of(Shoppers).edit(123) { shopper in
            shopper.customer.street = "2 High St"
            shopper.groceries[0].quantity = nil
            shopper.groceries.append(ShopperGrocery(name: "Rice", aisle: 5))
            shopper.groceries.remove(at: 1)
            shopper.card = ShopperCard(number: "7")
        }
        let edit = try #require(try await store.unsent().first?.edits.first)
        #expect(edit.changeset["customer"].objectValue?.keys.sorted() == ["address"], "\(edit.changeset)")
        try await store.sync()
        #expect(await ticket.outcome.status == .merged)
        let record = try #require(gateway.record("shoppers", 123))
        #expect(record["customer"]["street"] == "2 High St" && record["card"]["number"] == "7")
        #expect(record["groceries"][0]["quantity"] == .null)
        #expect((record["groceries"].arrayValue ?? []).map { $0["name"] } == ["Beans", "Rice"])
        try await store.of(Shoppers).edit(123) { $0.card = nil }
        try await store.sync()
        #expect(gateway.record("shoppers", 123)?["card"] == .null)
    }

    @Test("An edit without a change sends nothing")
    func noChange() async throws {
        let (_, store) = try await Self.store()
        try await store.of(Shoppers).edit(123) { $0.customer.firstName = "Joe" }
        #expect(try await store.unsent().isEmpty)
    }

    @Test("A new record omits nil values, and its id becomes the gateway's")
    func creating() async throws {
        let (gateway, store) = try await Self.store()
        let new = Shopper(
            customer: ShopperCustomer(firstName: "Kim", points: 0), groceries: [ShopperGrocery(name: "Rice")])
        let ticket = try await store.of(Shoppers).create(new)
        let edit = try #require(try await store.unsent().first?.edits.first)
        #expect(
            edit.changeset["customer"]["new"].objectValue?.keys.sorted() == ["firstName", "points"], "\(edit.changeset)"
        )
        // The record is readable before the gateway has answered.
        #expect(try await store.of(Shoppers).record(TypedID(ticket.id))?.customer.firstName == "Kim")
        try await store.sync()
        let id = try #require(await ticket.outcome.record?.id)
        #expect(gateway.record("shoppers", id)?["groceries"][0]["name"] == "Rice")
        #expect(try await store.of(Shoppers).record(TypedID(ticket.id))?.id == TypedID(id))
        try await store.of(Shoppers).delete(TypedID(id))
        try await store.sync()
        #expect(gateway.record("shoppers", id) == nil)
    }

    @Test("Typed records of two resources are one push in a transaction")
    func transaction() async throws {
        let (gateway, store) = try await Self.store()
        try await store.transaction { t in
            let aisle = try t.create(Aisles, Aisle(aisle: AisleAisle(name: "Oils")))
            try t.edit(Shoppers, 124) { $0.groceries.append(ShopperGrocery(name: "Olive oil", aisle: aisle)) }
        }
        #expect(try await store.unsent().count == 1)
        try await store.sync()
        let aisle = try #require(gateway.record("shoppers", 124)?["groceries"][0]["aisle"])
        #expect(gateway.record("aisles", aisle)?["aisle"]["name"] == "Oils")
    }

    @Test("A live query and an observed record have typed values")
    func live() async throws {
        let (_, store) = try await Self.store()
        var live = try store.of(Shoppers).live(sort: ["-id"], limit: 1).makeAsyncIterator()
        #expect(try await live.next()?.first?.id == 124)
        var seen = try store.of(Shoppers).observe(123).makeAsyncIterator()
        #expect(try await seen.next()??.customer.firstName == "Joe")
        try await store.of(Shoppers).edit(123) { $0.customer.firstName = "Bob" }
        #expect(try await seen.next()??.customer.firstName == "Bob")
    }

    @Test("Followed records have their type")
    func followed() async throws {
        let (_, store) = try await Self.store()
        let (shoppers, aisles) = (try await store.records("shoppers"), try await store.records("aisles"))
        let aisle = try #require(aisles.first)
        let result = QueryResult(Array(shoppers.prefix(2)), followed: [["aisle": aisle], [:]])
        let typed = try TypedResult<Shopper>(result).followed("aisle", as: Aisles)
        #expect(typed.count == 2 && typed[1] == nil)
        #expect(typed[0]?.aisle.name == aisle["aisle", "name"].stringValue)
    }

    // MARK: Values

    private struct Values: Codable, Equatable {
        var wide: Int
        var unsigned: UInt64?
        var amount: Decimal
        var bytes: Data
        var day: CalendarDate
        var extra: JSONValue?
    }

    @Test("Values that JSON has as texts keep every digit")
    func digits() throws {
        let json: JSONValue = [
            "wide": "9007199254740993", "unsigned": "18446744073709551615", "bytes": "AAH/", "day": "0000-00-00",
            "amount": "12345678901234567890123456789012345.678", "extra": ["a": [1, nil]],
        ]
        let values = try ValueDecoder(json).decode(Values.self)
        #expect(values.wide == 9_007_199_254_740_993 && values.unsigned == .max && values.bytes == Data([0, 1, 255]))
        #expect(values.day.date() == nil && values.extra == ["a": [1, nil]])
        let row = try RowEncoder.encode(values, using: JSONEncoder())
        #expect(row["amount"] == json["amount"] && row["wide"] == 9_007_199_254_740_993 && row["day"] == json["day"])
        #expect(throws: DecodingError.self) { try ValueDecoder(["wide": "x"]).decode(Values.self) }
        #expect(throws: DecodingError.self) { try ValueDecoder(["wide": 1.5]).decode(Values.self) }
    }

    @Test("Dates and times become moments and texts again")
    func times() throws {
        let moment = try #require(Timestamp(rawValue: "2026-11-20T10:00:00.250Z").date)
        #expect(Timestamp(moment).rawValue == "2026-11-20T10:00:00Z")
        #expect(Timestamp(moment, fraction: 2).rawValue == "2026-11-20T10:00:00.25Z")
        let zone = try #require(TimeZone(secondsFromGMT: 3_600))
        #expect(CalendarDate(moment, in: zone).rawValue == "2026-11-20")
        #expect(LocalDateTime(moment, in: zone).rawValue == "2026-11-20T11:00:00")
        #expect(
            LocalDateTime(rawValue: "2026-11-20T11:00:00").date(in: zone)
                == Timestamp(rawValue: "2026-11-20T10:00:00Z").date)
        #expect(TimeSpan(rawValue: "-838:59:59").duration == .seconds(-3_020_399))
        #expect(TimeSpan(.seconds(-3_020_399)).rawValue == "-838:59:59")
        for text in ["2026-02-30", "0000-00-00", "2026-11", ""] { #expect(CalendarDate(rawValue: text).date() == nil) }
        #expect(TypedID<Shopper>(7) == "7")
    }
}
