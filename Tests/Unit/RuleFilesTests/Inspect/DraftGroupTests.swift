import MergeCore
import RecordStore
import Testing

@testable import RuleFiles

/// Columns that have a common meaning are one group.
@Suite struct DraftGroupTests: InspectSuite {
    @Test(
        "Columns with related names are proposed as one group",
        arguments: [
            (["name", "email"], ["name: name", "email: email"]),
            (["billing_street", "x", "billing_city"], ["billing: billing_street billing_city", "x: x"]),
            (["street", "county", "post_code", "phone"], ["address: street county post_code", "phone: phone"]),
            (["address", "address2", "zip"], ["postalAddress: address address2 zip"]),
            (["city", "phone", "zip"], ["city: city", "phone: phone", "zip: zip"]),
            (["valid_from", "valid_until"], ["valid: valid_from valid_until"]),
            (["start_date", "end_date"], ["period: start_date end_date"]),
            (
                ["lease_start", "lease_end", "lease_note", "x"],
                ["lease: lease_start lease_end", "leaseNote: lease_note", "x: x"]
            ),
            (["from", "to"], ["period: from to"]),
            (["lat", "lng"], ["position: lat lng"]),
            (["coupon_start_date", "coupon_expire_date"], ["couponDate: coupon_start_date coupon_expire_date"]),
            (["major", "minor"], ["version: major minor"]),
            (["from_name", "to_name"], ["fromName: from_name", "toName: to_name"]),
            (["first_name", "first_seen"], ["firstName: first_name", "firstSeen: first_seen"]),
            (["thing_name", "thing_size", "x"], ["thingName: thing_name", "thingSize: thing_size", "x: x"]),
            (["c_name", "c_street", "c_city"], ["cName: c_name", "address: c_street c_city"]),
        ]) func relatedColumns(_ columns: [String], _ groups: [String]) throws
    {
        #expect(try Self.groups(columns.map { Self.column($0) }) == groups)
    }

    @Test("An amount and its currency are one group") func currency() throws {
        let amount = Self.column("amount", Self.money)
        let price = Self.column("price", Self.money)
        #expect(
            try Self.groups([amount, Self.column("note"), Self.column("currency")]) == [
                "money: amount currency", "note: note",
            ])
        #expect(
            try Self.groups([amount, price, Self.column("price_currency")]) == [
                "amount: amount", "priceDetails: price price_currency",
            ])
        #expect(try Self.groups([Self.column("currency")]) == ["currency: currency"])
        // A tax rate is not an amount.
        #expect(
            try Self.groups([amount, Self.column("currency"), Self.column("shipping_tax_rate", Self.money)]) == [
                "money: amount currency", "shippingTaxRate: shipping_tax_rate",
            ])
    }

    @Test("Each boolean is a group, though its prefix is shared") func switches() throws {
        let switches = ["status_mobile", "status_footer"].map { Self.column($0, Self.flag, declared: "tinyint(4)") }
        let note = Self.column("note")
        #expect(try Self.groups(switches + [note]).count == 3)
        #expect(try Self.groups(switches + [Self.column("status_text"), note]).count == 2)
    }

    @Test("A prefix that is a word of the table's name makes no group") func prefixOfTable() throws {
        let columns = [Self.column("coupon_name"), Self.column("coupon_description")]
        #expect(try Self.groups(columns, in: "coupons_description").count == 2)
        #expect(try Self.groups(columns, in: "vouchers").count == 1)
    }
}
