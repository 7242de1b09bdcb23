import MergeCore
import RecordStore
import Testing

@testable import RuleFiles

/// The comments, read-only columns and omitted tables of a draft.
@Suite struct DraftTests: InspectSuite {
    @Test("Comments propose booleans, stamps and numbers, and warn of BLOBs in lists")
    func hints() throws {
        let letter = ColumnType.text(TextType(maximumCharacters: 1))
        let answer = ColumnType.enumeration([ExactText("N"), ExactText("Y")])
        let (text, summary) = try Self.file([
            Self.table(
                "orders",
                [
                    Self.id(), Self.column("is_paid", letter), Self.column("grade", letter),
                    Self.column("wants", answer),
                    Self.column("last_modified", Self.moment), Self.column("due", Self.moment),
                    Self.column("logo", .bytes(maximum: 65_535)),
                ]),
            Self.table(
                "order_photos", key: ["order_id", "photo_no"],
                [Self.id("order_id"), Self.id("photo_no"), Self.column("picture", .bytes(maximum: 65_535))],
                to: [(["order_id"], "orders", ["id"])]),
        ])
        let yes =
            #"perhaps a boolean; if so, write {column: is_paid, type: boolean, values: {"true": "Y", "false": "N"}}"#
        #expect(text.contains(yes) && summary.contains(yes), "\(text)")
        #expect(text.contains(#"{column: wants, type: boolean, values: {"true": "Y", "false": "N"}}"#))
        #expect(!text.contains("column: grade"))
        #expect(text.contains("“stamp: {last_modified: now}”") && !text.contains("stamp: {due"))
        #expect(summary.contains("order-photos") == false && summary.contains("orderPhotos: picture: a BLOB in a list"))
        #expect(!summary.contains("logo"))
        #expect(text.contains("# clients number “photo_no” themselves"))
    }

    @Test("TINYINT(1) is a boolean")
    func booleans() throws {
        let columns = [
            Self.column("wants", Self.flag, declared: "tinyint(1)"),
            Self.column("small", Self.flag, declared: "tinyint(4)"),
        ]
        let root = try #require(try Self.inspect([Self.table("t", [Self.id()] + columns)]).catalog["t"]?.root)
        #expect(root.fields.map { root.columns[$0.column].type } == [.boolean, Self.flag])
    }

    @Test("Columns that the server fills are read-only")
    func serverColumns() throws {
        let columns = [
            Self.column("total", owned: "it is generated"),
            Self.column("seq", Self.number, nullable: false, isAutoIncrement: true),
            Self.column("updated_at", Self.moment, nullable: false, hasDefault: true),
            Self.column("created", Self.moment, nullable: false),
            Self.column("created_by", nullable: false, hasDefault: true),
            Self.column("modified", Self.moment), Self.column("shape", nil, declared: "geometry"),
        ]
        let (catalog, inspection) = try Self.inspect([Self.table("t", [Self.id()] + columns)])
        let root = try #require(catalog["t"]?.root)
        #expect(root.readOnly.map(\.name) == ["total", "seq", "updatedAt"])
        #expect(root.groups.flatMap { root.fields[$0.fields] }.map(\.name) == ["created", "createdBy", "modified"])
        #expect(inspection.files[0].text.contains("total: total # it is generated"))
        #expect(inspection.files[0].text.contains("# left out: “shape”: its type geometry is not supported yet"))
        #expect(inspection.summary.leftOut == ["column “shape” of table “t”: its type geometry is not supported yet"])
        #expect(inspection.summary.guesses.contains { $0.contains("updated_at is read-only") })
    }

    @Test("A foreign key results in a reference and a comment")
    func foreignKeys() throws {
        let (catalog, inspection) = try Self.inspect([Self.customers, Self.orders])
        // The only table that refers to customers, so it is a list of theirs.
        #expect(catalog["customers"]?.sections.count == 2)
        #expect(inspection.summary.lines.first == "1 resource, 2 sections, 1 group")
        let shouting = Self.table(
            "loose", [Self.id(), Self.column("customer", Self.number)], to: [(["customer"], "CUSTOMERS", ["ID"])])
        let other = try Self.inspect([Self.customers, shouting])
        #expect(
            other.catalog["loose"]?.root.fields.first?.reference
                == SectionReference(resource: "customers", section: "customers"))
        #expect(other.inspection.files[1].text.contains("# refers to customers"))
    }

    @Test("Each table that cannot be served is named with a reason")
    func omittedTables() {
        let tables = [
            Self.table("seen", [Self.id()], isView: true), Self.table("isam", [Self.id()], isTransactional: false),
            Self.table("bare", key: [], [Self.column("a")], unique: [["a"]]),
            Self.table("odd", key: ["g"], [Self.column("g", nil, declared: "geometry", nullable: false)]),
            Self.table("keyed", key: [], [Self.id("a"), Self.id("b")], unique: [["a", "b"], ["b"]]),
        ]
        let inspection = Inspection(Self.schema(tables))
        #expect(inspection.files.map(\.name) == ["keyed.yaml"])
        #expect(inspection.files[0].text.contains("key: b\n"))
        let leftOut = inspection.summary.leftOut
        #expect(leftOut.count == 4)
        #expect(leftOut.contains { $0.hasPrefix("table “bare”: it has no primary key") })
        #expect(leftOut.contains { $0.hasPrefix("table “isam”: its engine MyISAM has no transactions") })
        #expect(leftOut.contains { $0.hasPrefix("table “odd”: its key has the column “g”") })
        #expect(leftOut.contains { $0.hasPrefix("table “seen”: it is a view") })
        let all = Inspection(Self.schema(tables), allowsNonTransactional: true)
        #expect(all.files.map(\.name) == ["isam.yaml", "keyed.yaml"])
        #expect(all.files[0].text.contains("\nnon-transactional: allow\n"))
    }
}
