import MergeCore
import RecordStore
import Testing

@testable import RuleFiles

/// The columns of an address, which are one group.
@Suite struct DraftAddressTests: InspectSuite {
    @Test(
        "The parts of an address are one group, whatever their names",
        arguments: [
            ["address", "city", "state_province", "zip_postal_code", "country_region"],
            ["address", "address2", "district", "postal_code"], ["address_1", "address_2", "city", "postcode"],
            ["AddressLine1", "AddressLine2", "City", "CountryCode"],
            ["street_line_1", "zip", "city_name", "state_abbr"],
            ["house_number", "street", "post_code", "town"],
        ]) func wholeAddress(_ columns: [String]) throws
    {
        let groups = try Self.groups([Self.column("email")] + columns.map { Self.column($0) } + [Self.column("phone")])
        let name = columns.contains("address") ? "postalAddress" : "address"
        #expect(groups == ["email: email", "\(name): \(columns.joined(separator: " "))", "phone: phone"])
    }

    @Test("A reference to a table of towns is a part of the address") func townReference() throws {
        let people = Self.table(
            "people", [Self.id(), Self.column("street"), Self.column("city_id", Self.number), Self.column("postcode")],
            to: [(["city_id"], "cities", ["id"])])
        let cities = Self.table("cities", [Self.id(), Self.column("city"), Self.column("country")])
        let catalog = try Self.inspect([people, cities]).catalog
        // A table of towns has no address.
        #expect(catalog["cities"]?.root.groups.count == 2)
        let root = try #require(catalog["people"]?.root)
        #expect(root.groups.map(\.name) == ["address"] && root.groups[0].fields.count == 3)
    }

    @Test("Email and IP addresses are not postal addresses") func otherAddresses() throws {
        let groups = try Self.groups(["email_address", "ip_address", "city"].map { Self.column($0) })
        #expect(groups.count == 3, "\(groups)")
    }

    @Test("A comment suggests a check of a column before an address") func neighbours() throws {
        let columns = ["company", "street", "city", "notes"].map { Self.column($0) }
        let made = try Self.inspect([Self.table("things", [Self.id()] + columns)]).inspection
        let question = "company # a part of the address beside it? then put it there"
        #expect(made.files[0].text.contains(question), "\(made.files[0].text)")
        #expect(!made.files[0].text.contains("notes #"))
        #expect(made.summary.lines.contains { $0.contains("company: a part of the address beside it?") })
    }

    @Test(
        "A part of an address may be one column away, unless the address has this part",
        arguments: [
            (["city", "phone", "line", "street", "zip"], ["address: city street zip", "line: line", "phone: phone"]),
            (["street", "zip", "phone", "country"], ["address: street zip country", "phone: phone"]),
            (["city", "a", "b", "c", "street", "zip"], ["a: a", "address: street zip", "b: b", "c: c", "city: city"]),
            (["city", "phone", "street", "city_name"], ["address: street city_name", "city: city", "phone: phone"]),
        ]) func distantParts(_ columns: [String], _ groups: [String]) throws
    {
        #expect(try Self.groups(columns.map { Self.column($0) }).sorted() == groups)
    }

    @Test("A telephone number is not a part of an address with a prefix") func contacts() throws {
        let columns = ["name", "street", "city", "telephone", "email_address", "address_format_id"]
        #expect(
            try Self.groups(columns.map { Self.column("billing_" + $0) } + [Self.column("note")]) == [
                "billing: billing_name billing_street billing_city billing_address_format_id",
                "billingTelephone: billing_telephone", "billingEmailAddress: billing_email_address", "note: note",
            ])
        // Without parts of an address, columns with a common prefix are one group.
        #expect(
            try Self.groups(["payer_email", "payer_id"].map { Self.column($0) }) == ["payer: payer_email payer_id"])
    }
}
