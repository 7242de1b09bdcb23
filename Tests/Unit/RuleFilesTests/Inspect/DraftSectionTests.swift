import MergeCore
import RecordStore
import Testing

@testable import RuleFiles

/// Tables that are sections of the record of another table.
@Suite struct DraftSectionTests: InspectSuite {
    @Test("Tables with equal keys and related names are one record")
    func oneToOne() throws {
        let number = ColumnSchema(
            name: "customers_id", declared: DeclaredType("int", types: [Self.number]), isNullable: false,
            filling: ColumnFilling(hasDefault: true, isAutoIncrement: true, serverOwned: nil))
        let (catalog, inspection) = try Self.inspect([
            Self.table("customers", key: ["customers_id"], [number, Self.column("name")]),
            Self.table(
                "customers_info", key: ["customers_info_id"], [Self.id("customers_info_id"), Self.column("logons")]),
            Self.table("visits", key: ["day", "route"], [Self.id("day"), Self.id("route"), Self.column("note")]),
            Self.table(
                "visit_reports", key: ["day", "route"], [Self.id("day"), Self.id("route"), Self.column("text")]),
            Self.table(
                "other_visits", key: ["day", "route"], [Self.id("day"), Self.id("route"), Self.column("text")]),
        ])
        #expect(catalog.resources.map(\.name).sorted() == ["customers", "other-visits", "visits"])
        let parts = catalog.resources.flatMap { $0.sections.dropFirst() }
        #expect(parts.map(\.name).sorted() == ["customersInfo", "visitReports"])
        #expect(parts.allSatisfy { $0.kind == .singleton })
        #expect(inspection.summary.guesses.contains { $0.contains("“customers_info” is a part of “customers”") })
    }

    /// As a part, the row would be deleted with the lookup.
    @Test("A table that refers to a lookup is not its part")
    func lookupTables() throws {
        let formats = Self.table("address_format", [Self.id(), Self.column("summary")])
        let countries = Self.table(
            "countries", [Self.id(), Self.column("name"), Self.column("format", Self.number, nullable: false)],
            to: [(["format"], "address_format", ["id"])])
        let made = try Self.inspect([formats, countries]).catalog
        #expect(made.resources.map(\.name) == ["address-format", "countries"])
        #expect(made.resources.allSatisfy { $0.sections.count == 1 })
        // Without foreign keys.
        let guessed = try Self.inspect([
            Self.table("address_format", key: ["address_format_id"], [Self.id("address_format_id"), Self.column("a")]),
            Self.table(
                "countries", key: ["countries_id"],
                [Self.id("countries_id"), Self.column("name"), Self.id("address_format_id")]),
        ]).catalog
        #expect(guessed.resources.map(\.name) == ["address-format", "countries"])
    }

    @Test("A table that has another table's name as prefix, or its key in the primary key, is its part")
    func partsOfLookups() throws {
        let groups = Self.table("user_groups", [Self.id(), Self.column("note"), Self.column("other")])
        let members = Self.table(
            "user_group_members", [Self.id(), Self.column("name"), Self.id("group_id")],
            to: [(["group_id"], "user_groups", ["id"])])
        let marks = Self.table(
            "marks", key: ["group_id", "no"], [Self.id("group_id"), Self.id("no"), Self.column("mark")],
            to: [(["group_id"], "user_groups", ["id"])])
        let made = try Self.inspect([groups, members, marks]).catalog
        #expect(made.resources.map(\.name) == ["user-groups"] && made.resources[0].sections.count == 3)
    }

    @Test("A table with one parent is a list")
    func lists() throws {
        let lines = Self.table(
            "order_lines", key: ["order_no", "line"], [Self.column("order_no", nullable: false), Self.id("line")],
            to: [(["order_no"], "orders", ["no"])])
        #expect(
            try Self.shape([Self.customers, Self.orders, lines]) == [
                "customers.customers root", "orders.orders root", "orders.orderLines list order_no=no",
            ])
    }

    @Test("A table with two parents, an optional parent or itself as parent is a resource")
    func otherTables() throws {
        let things = Self.table("things", [Self.id()])
        let both = Self.child("both", of: [("customer", "customers"), ("thing", "things")])
        let junction = Self.child("junction", key: ["a", "b"], of: [("a", "customers"), ("b", "things")])
        let loose = Self.child("loose", nullable: true, of: [("customer", "customers")])
        let tree = Self.child("tree", of: [("up", "tree")])
        #expect(
            try Self.shape([both, Self.customers, junction, loose, things, tree]) == [
                "both.both root", "customers.customers root", "junction.junction root", "loose.loose root",
                "things.things root", "tree.tree root",
            ])
    }

    @Test(
        "Of several parents, the name of a table selects one",
        arguments: ["customer_lines", "CustomerLine", "customerlines"])
    func severalParents(_ name: String) throws {
        let things = Self.table("things", [Self.id(), Self.column("name")])
        let lines = Self.child(name, of: [("thing", "things"), ("customer", "customers")])
        let section = NameWords(name).words
        let camel = section[0] + section.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        #expect(
            try Self.shape([lines, Self.customers, things]) == [
                "customers.customers root", "customers.\(camel) list customer=id", "things.things root",
            ])
        // A table that only links two tables is a resource.
        let links = Self.table(
            name, key: ["customer", "thing"], [Self.id("customer"), Self.id("thing")],
            to: [(["customer"], "customers", ["id"]), (["thing"], "things", ["id"])])
        #expect(try Self.shape([links, Self.customers, things]).count { $0.hasSuffix(" root") } == 3)
    }

    @Test("Without foreign keys, the name of a table also selects its parent")
    func severalGuessedParents() throws {
        let languages = Self.table("languages", key: ["language_id"], [Self.id("language_id"), Self.column("name")])
        let key = ["customer_id", "language_id"]
        let texts = Self.table("customers_texts", key: key, key.map { Self.id($0) } + [Self.column("text")])
        #expect(
            try Self.shape([Self.customers, languages, texts]) == [
                "customers.customers root", "customers.customersTexts list customer_id=id", "languages.languages root",
            ])
        let links = Self.table("customers_texts", key: key, key.map { Self.id($0) })
        #expect(try Self.shape([Self.customers, languages, links]).count { $0.hasSuffix(" root") } == 3)
    }

    @Test("A table with one row for each record is a singleton")
    func singletons() throws {
        let photo = Self.child("photos", key: ["customer"], of: [("customer", "customers")])
        let badge = Self.child("badges", unique: [["customer"]], of: [("customer", "customers")])
        #expect(
            try Self.shape([Self.customers, photo, badge]) == [
                "customers.customers root", "customers.badges singleton customer=id",
                "customers.photos singleton customer=id",
            ])
    }

    @Test("All columns of a composite foreign key link a section")
    func compositeForeignKey() throws {
        let pairs = Self.table("pairs", key: ["a", "b"], [Self.id("a"), Self.id("b")])
        let parts = Self.table(
            "parts", [Self.id(), Self.id("x"), Self.id("y"), Self.column("text")],
            to: [(["x", "y"], "pairs", ["a", "b"])])
        #expect(try Self.shape([pairs, parts]) == ["pairs.pairs root", "pairs.parts list x=a y=b"])
        let loose = Self.table(
            "loose", [Self.id(), Self.column("x", Self.number), Self.column("text"), Self.column("y", Self.number)],
            to: [(["x", "y"], "pairs", ["a", "b"])])
        let root = try #require(try Self.inspect([pairs, loose]).catalog["loose"]?.root)
        #expect(root.groups.map(\.fields.count) == [2, 1])
    }

    @Test("Without foreign keys, sections are guessed from names")
    func guesses() throws {
        let people = Self.table("people", key: ["person_no"], [Self.id("person_no"), Self.column("name")])
        let log = Self.table("log", key: ["log_no"], [Self.id("log_no"), Self.id("person_no")])
        let notes = Self.table("notes", [Self.id(), Self.id("customer_id")])
        let details = Self.table("people_details", key: ["person_no"], [Self.id("person_no"), Self.column("size")])
        let maybe = Self.table("maybe", [Self.id(), Self.column("customer_id", Self.number)])
        let (_, inspection) = try Self.inspect([people, log, notes, Self.customers, details, maybe])
        #expect(
            try Self.shape([people, log, notes, Self.customers, details, maybe]) == [
                "customers.customers root", "customers.notes list customer_id=id", "maybe.maybe root",
                "people.people root", "people.log list person_no=person_no",
                "people.peopleDetails singleton person_no=person_no",
            ])
        #expect(
            inspection.files.filter { $0.text.contains("A guess") }.map(\.name) == ["customers.yaml", "people.yaml"])
        #expect(inspection.files[1].text.contains("perhaps a key of customers"))
        #expect(inspection.summary.guesses.count == 3)
    }
}
