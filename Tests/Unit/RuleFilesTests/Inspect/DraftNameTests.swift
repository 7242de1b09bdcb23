import MergeCore
import RecordStore
import Testing

@testable import RuleFiles

/// The names of fields and resources, and their quotes in YAML.
@Suite struct DraftNameTests: InspectSuite {
    @Test(
        "Fields have names in camel case",
        arguments: [
            ("first_name", "firstName"), ("FIRST_NAME", "firstName"), ("firstName", "firstName"), ("Tel No.", "telNo"),
            ("AISLE_ID", "aisleId"), ("HTTPServer", "httpServer"), ("address2", "address2"), ("größe", "größe"),
            ("id", "idValue"), ("old", "oldValue"), ("NEW", "newValue"), ("old_hash", "oldHashValue"),
            ("***", "column"),
            ("1", "1"),
        ]) func fieldNames(_ column: String, _ name: String)
    {
        var names = ClientNames()
        #expect(names.take(column) == name)
    }

    @Test(
        "Resources have names for URLs",
        arguments: [
            ("film_actor", "film-actor"), ("OrderLines", "order-lines"), ("größe", "gr-e"), ("_x_", "x"),
            ("日本", "table"),
            ("Tel No.", "tel-no"),
        ]) func resourceNames(_ table: String, _ name: String)
    {
        var names = ClientNames()
        #expect(names.takeResource(table) == name)
        #expect(names.takeResource(table) == name + "-2")
    }

    @Test("Names are unique and have at most 60 characters") func limits() {
        var names = ClientNames()
        let taken = ["a b", "a_b", "A B", "aB"].map { names.take($0) }
        #expect(taken == ["aB", "aB2", "aB3", "aB4"])
        #expect(names.take(String(repeating: "x", count: 5_000)).count == 60)
    }

    @Test(
        "A scalar has quotes only if YAML needs them",
        arguments: [
            ("plain_name", "plain_name"), ("yes", "\"yes\""), ("No", "\"No\""), ("null", "\"null\""), ("12", "\"12\""),
            ("a: b", "\"a: b\""), ("a \"b\"", "\"a \\\"b\\\"\""), ("\\", "\"\\\\\""), ("a\nb", "\"a\\nb\""),
            ("\u{85}", "\"\\u0085\""), ("größe", "\"größe\""),
        ]) func scalars(_ text: String, _ scalar: String)
    {
        #expect(YAMLText.scalar(text) == scalar)
    }

    @Test("Tables and columns with hostile names are bound again") func hostileNames() throws {
        let names = [
            "yes", "no", "null", "true", "~", "1", "1e3", "0x1F", "a b", "a:b", "a: b", "a#b", "a #b", "#", "- x", "?",
            "? x", "{a: b}", "[a]", "'", "\"", "`", "\\", "''", "*a", "&a", "!t", "%", "@", "|", ">", "größe", "日本",
            "👩‍👩‍👧", " lead", "trail ", "tab\tx", "line\nbreak", "bell\u{7}", "nel\u{85}x", "ls\u{2028}x", "bom\u{FEFF}x",
            "old", "new", "oldHash", "=", "<<", ".inf", "---", "...",
        ]
        let tables = names.map { name in
            Self.table("t " + name, key: [name + " key"], [Self.id(name + " key")] + names.map { Self.column($0) })
        }
        let catalog = try Self.inspect(tables, takesSecrets: true).catalog
        #expect(catalog.resources.count == names.count)
        for resource in catalog.resources {
            let written = resource.root.fields.map { resource.root.columns[$0.column].name }
            #expect(Set(written) == Set(names) && written.count == names.count, "\(Set(names).subtracting(written))")
        }
    }
}
