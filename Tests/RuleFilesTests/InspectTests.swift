import MergeCore
import RecordStore
@testable import RuleFiles
import Testing

/// The drafts that `fieldmerge inspect` makes of a schema: tables that belong together, their columns and names.
@Suite struct InspectTests {
    private static let text = ColumnType.text(TextType())
    private static let number = ColumnType.integer(-1_000...1_000)
    private static let flag = ColumnType.integer(-128...127)
    private static let money = ColumnType.decimal(precision: 9, scale: 2, isUnsigned: false)
    private static let moment = ColumnType.dateTime(fraction: 0)

    private static func column(
        _ name: String, _ type: ColumnType? = text, declared: String = "varchar(9)", nullable: Bool = true,
        hasDefault: Bool? = nil, isAutoIncrement: Bool = false, owned: String? = nil
    ) -> ColumnSchema {
        ColumnSchema(
            name: name,
            declared: DeclaredType(declared, types: type.map { $0 == flag ? [$0, .boolean] : [$0] } ?? []),
            isNullable: nullable,
            filling: ColumnFilling(
                hasDefault: hasDefault ?? nullable, isAutoIncrement: isAutoIncrement, serverOwned: owned))
    }

    private static func id(_ name: String = "id") -> ColumnSchema { column(name, number, nullable: false) }

    private static func table(
        _ name: String, key: [String] = ["id"], _ columns: [ColumnSchema], unique: [[String]] = [],
        to keys: [([String], String, [String])] = [], isView: Bool = false,
        isTransactional: Bool = true
    ) -> TableSchema {
        TableSchema(
            name: TableName(name: name), form: isView ? .view(isUpdatable: true) : .table,
            storage: StorageEngine(isTransactional ? "InnoDB" : "MyISAM", isTransactional: isTransactional),
            columns: columns,
            constraints: TableConstraints(
                primaryKey: key,
                uniqueIndexes: unique.map { UniqueIndex(name: $0.joined(separator: "_"), columns: $0) },
                foreignKeys: keys.map {
                    ForeignKey(
                        name: "fk_" + $0.0.joined(separator: "_"), columns: $0.0, target: TableName(name: $0.1),
                        targetColumns: $0.2)
                }))
    }

    private static func schema(_ tables: [TableSchema]) -> DatabaseSchema {
        DatabaseSchema(
            tables: Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) }), allNames: tables.map(\.name.name))
    }

    /// Inspects tables and binds what comes of it to the same tables: there must never be an error.
    private static func inspect(
        _ tables: [TableSchema], takesSecrets: Bool = false
    ) throws -> (catalog: Catalog, inspection: Inspection) {
        let schema = schema(tables)
        let inspection = Inspection(schema, takesSecrets: takesSecrets)
        let folder = RuleFolder(texts: inspection.files.map { ($0.name, $0.text) })
        let bound = RuleBinder.bind(folder, to: schema)
        let findings = bound.findings.sorted.map(\.description).joined(separator: "\n")
        let texts = inspection.files.map(\.text).joined()
        return (try #require(bound.catalog, "\(findings)\n\(texts)"), inspection)
    }

    /// Groups as `name: fields`, of one table with a key `id` and these columns.
    private static func groups(_ columns: [ColumnSchema], in name: String = "things") throws -> [String] {
        let root = try #require(try inspect([table(name, [id()] + columns)]).catalog.resources.first?.root)
        return root.groups.map { group in
            group.name + ": " + root.fields[group.fields].map { root.columns[$0.column].name }.joined(separator: " ")
        }
    }

    // MARK: Hints

    private static func file(_ tables: [TableSchema]) throws -> (text: String, summary: String) {
        let inspection = try inspect(tables).inspection
        return (
            inspection.files.map(\.text).joined(separator: "\n"), inspection.summary.lines.joined(separator: "\n")
        )
    }

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

    @Test(
        "Payment data is left out", arguments: ["cc_number", "ccOwner", "card_no", "credit_card", "iban", "cc_expires"])
    func payment(_ name: String) throws {
        let (text, summary) = try Self.file([
            Self.table("orders", [Self.id(), Self.column(name), Self.column("card_text"), Self.column("account_no")])
        ])
        #expect(text.contains("payment data, by its name") && summary.contains("“\(name)”"), "\(text)")
        #expect(text.contains("card_text") && !text.contains("left out: “card_text”") && text.contains(": account_no"))
    }

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

    // MARK: Addresses, secrets and lookups

    /// A whole address stays whole, whatever its parts are called.
    @Test(arguments: [
        ["address", "city", "state_province", "zip_postal_code", "country_region"],
        ["address", "address2", "district", "postal_code"], ["address_1", "address_2", "city", "postcode"],
        ["AddressLine1", "AddressLine2", "City", "CountryCode"], ["street_line_1", "zip", "city_name", "state_abbr"],
        ["house_number", "street", "post_code", "town"],
    ]) func aWholeAddressStaysWhole(_ columns: [String]) throws {
        let groups = try Self.groups([Self.column("email")] + columns.map { Self.column($0) } + [Self.column("phone")])
        let name = columns.contains("address") ? "postalAddress" : "address"
        #expect(groups == ["email: email", "\(name): \(columns.joined(separator: " "))", "phone: phone"])
    }

    /// A town that is a row of another table is a part of the address all the same.
    @Test func aTownElsewhereBelongsToTheAddress() throws {
        let people = Self.table(
            "people", [Self.id(), Self.column("street"), Self.column("city_id", Self.number), Self.column("postcode")],
            to: [(["city_id"], "cities", ["id"])])
        let cities = Self.table("cities", [Self.id(), Self.column("city"), Self.column("country")])
        let catalog = try Self.inspect([people, cities]).catalog
        // In a table of towns they are what it is about.
        #expect(catalog["cities"]?.root.groups.count == 2)
        let root = try #require(catalog["people"]?.root)
        #expect(root.groups.map(\.name) == ["address"] && root.groups[0].fields.count == 3)
    }

    @Test func emailAndIPAreNoAddresses() throws {
        let groups = try Self.groups(["email_address", "ip_address", "city"].map { Self.column($0) })
        #expect(groups.count == 3, "\(groups)")
    }

    /// What stands beside an address and may belong to it is asked about.
    @Test func aNeighbourOfAnAddressIsAskedAbout() throws {
        let columns = ["company", "street", "city", "notes"].map { Self.column($0) }
        let made = try Self.inspect([Self.table("things", [Self.id()] + columns)]).inspection
        let question = "company # a part of the address beside it? then put it there"
        #expect(made.files[0].text.contains(question), "\(made.files[0].text)")
        #expect(!made.files[0].text.contains("notes #"))
        #expect(made.summary.lines.contains { $0.contains("company: a part of the address beside it?") })
    }

    @Test(arguments: [
        "password", "user_passwd", "pwd", "api_key", "apiToken", "reset_token", "password_hash", "salt", "pin",
        "admin_pass", "prev_pass2", "mfa", "cc_cvv",
    ]) func secretsAreLeftOut(_ name: String) throws {
        let table = Self.table("users", [Self.id(), Self.column("name"), Self.column(name)])
        let made = try Self.inspect([table])
        #expect(made.catalog.resources[0].root.groups.map(\.name) == ["name"])
        let reason = "left out: “\(name)”: a secret, by its name; --secrets takes it in"
        #expect(made.inspection.files[0].text.contains(reason), "\(made.inspection.files[0].text)")
        let asked = Inspection(Self.schema([table]), takesSecrets: true)
        #expect(!asked.files[0].text.contains("left out") && asked.files[0].text.contains(": \(name)\n"))
    }

    @Test(arguments: ["pinned", "compass", "hashtag", "passenger", "pass_count"])
    func wordsThatOnlyLookLikeSecretsAreNone(
        _ name: String
    ) throws {
        #expect(try Self.groups([Self.column(name)]).map { $0.split(separator: " ").last.map(String.init) } == [name])
    }

    /// When a password was changed, or whether there is one, opens nothing.
    @Test func whatIsToldOfASecretIsNone() throws {
        let columns = [
            Self.column("pwd_last_change_date", Self.moment, declared: "datetime"),
            Self.column("has_password", Self.flag, declared: "tinyint(1)"),
        ]
        #expect(
            try Self.groups(columns) == ["pwdLastChangeDate: pwd_last_change_date", "hasPassword: has_password"])
    }

    /// A part of the only address of a table may stand apart, but not far away, nor where the address has it already.
    @Test(arguments: [
        (["city", "phone", "line", "street", "zip"], ["address: city street zip", "line: line", "phone: phone"]),
        (["street", "zip", "phone", "country"], ["address: street zip country", "phone: phone"]),
        (["city", "a", "b", "c", "street", "zip"], ["a: a", "address: street zip", "b: b", "c: c", "city: city"]),
        (["city", "phone", "street", "city_name"], ["address: street city_name", "city: city", "phone: phone"]),
    ]) func aPartThatStandsApartBelongsToTheAddress(_ columns: [String], _ groups: [String]) throws {
        #expect(try Self.groups(columns.map { Self.column($0) }).sorted() == groups)
    }

    /// The way to reach whom a bill goes to is no part of where it goes.
    @Test func contactsAreNoPartOfAnAddressBlock() throws {
        let columns = ["name", "street", "city", "telephone", "email_address", "address_format_id"]
        #expect(
            try Self.groups(columns.map { Self.column("billing_" + $0) } + [Self.column("note")]) == [
                "billing: billing_name billing_street billing_city billing_address_format_id",
                "billingTelephone: billing_telephone", "billingEmailAddress: billing_email_address", "note: note",
            ])
        // Where nothing of it is an address, the word that they begin with is all there is.
        #expect(
            try Self.groups(["payer_email", "payer_id"].map { Self.column($0) }) == ["payer: payer_email payer_id"])
    }

    @Test func switchesStandAlone() throws {
        let switches = ["status_mobile", "status_footer"].map { Self.column($0, Self.flag, declared: "tinyint(4)") }
        let note = Self.column("note")
        #expect(try Self.groups(switches + [note]).count == 3)
        #expect(try Self.groups(switches + [Self.column("status_text"), note]).count == 2)
    }

    @Test func everyWordOfATablesNameIsItsOwn() throws {
        let columns = [Self.column("coupon_name"), Self.column("coupon_description")]
        #expect(try Self.groups(columns, in: "coupons_description").count == 2)
        #expect(try Self.groups(columns, in: "vouchers").count == 1)
    }

    /// A row that merely refers to a lookup is no part of it: deleting the lookup would delete it.
    @Test func aLookupHasNoParts() throws {
        let formats = Self.table("address_format", [Self.id(), Self.column("summary")])
        let countries = Self.table(
            "countries", [Self.id(), Self.column("name"), Self.column("format", Self.number, nullable: false)],
            to: [(["format"], "address_format", ["id"])])
        let made = try Self.inspect([formats, countries]).catalog
        #expect(made.resources.map(\.name) == ["address-format", "countries"])
        #expect(made.resources.allSatisfy { $0.sections.count == 1 })
        // By names alone as well.
        let guessed = try Self.inspect([
            Self.table("address_format", key: ["address_format_id"], [Self.id("address_format_id"), Self.column("a")]),
            Self.table(
                "countries", key: ["countries_id"],
                [Self.id("countries_id"), Self.column("name"), Self.id("address_format_id")]),
        ]).catalog
        #expect(guessed.resources.map(\.name) == ["address-format", "countries"])
    }

    /// What is called after a table, or has its key in its own, is its part however that one is called.
    @Test func partsOfWhatIsCalledLikeALookupStay() throws {
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

    // MARK: Names

    @Test(arguments: [
        ("first_name", "firstName"), ("FIRST_NAME", "firstName"), ("firstName", "firstName"), ("Tel No.", "telNo"),
        ("AISLE_ID", "aisleId"), ("HTTPServer", "httpServer"), ("address2", "address2"), ("größe", "größe"),
        ("id", "idValue"), ("old", "oldValue"), ("NEW", "newValue"), ("old_hash", "oldHashValue"), ("***", "column"),
        ("1", "1"),
    ]) func columnsGetNamesForClients(_ column: String, _ name: String) {
        var names = ClientNames()
        #expect(names.take(column) == name)
    }

    @Test(arguments: [
        ("film_actor", "film-actor"), ("OrderLines", "order-lines"), ("größe", "gr-e"), ("_x_", "x"), ("日本", "table"),
        ("Tel No.", "tel-no"),
    ]) func tablesGetNamesForURLs(_ table: String, _ name: String) {
        var names = ClientNames()
        #expect(names.takeResource(table) == name)
        #expect(names.takeResource(table) == name + "-2")
    }

    @Test func namesAreUniqueAndShort() {
        var names = ClientNames()
        let taken = ["a b", "a_b", "A B", "aB"].map { names.take($0) }
        #expect(taken == ["aB", "aB2", "aB3", "aB4"])
        #expect(names.take(String(repeating: "x", count: 5_000)).count == 60)
    }

    // MARK: Quoting

    @Test(arguments: [
        ("plain_name", "plain_name"), ("yes", "\"yes\""), ("No", "\"No\""), ("null", "\"null\""), ("12", "\"12\""),
        ("a: b", "\"a: b\""), ("a \"b\"", "\"a \\\"b\\\"\""), ("\\", "\"\\\\\""), ("a\nb", "\"a\\nb\""),
        ("\u{85}", "\"\\u0085\""), ("größe", "\"größe\""),
    ]) func scalarsAreQuotedWhereNeeded(_ text: String, _ scalar: String) {
        #expect(YAMLText.scalar(text) == scalar)
    }

    @Test func hostileNamesComeBackAsTheyAre() throws {
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

    // MARK: Groups

    @Test(arguments: [
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
    ]) func columnsThatBelongTogetherAreProposed(_ columns: [String], _ groups: [String]) throws {
        #expect(try Self.groups(columns.map { Self.column($0) }) == groups)
    }

    @Test func anAmountGoesWithItsCurrency() throws {
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
        // A rate of tax is no amount.
        #expect(
            try Self.groups([amount, Self.column("currency"), Self.column("shipping_tax_rate", Self.money)]) == [
                "money: amount currency", "shippingTaxRate: shipping_tax_rate",
            ])
    }

    @Test func tinyIntegersAreTruthValues() throws {
        let columns = [
            Self.column("wants", Self.flag, declared: "tinyint(1)"),
            Self.column("small", Self.flag, declared: "tinyint(4)"),
        ]
        let root = try #require(try Self.inspect([Self.table("t", [Self.id()] + columns)]).catalog["t"]?.root)
        #expect(root.fields.map { root.columns[$0.column].type } == [.boolean, Self.flag])
    }

    @Test func whatTheServerOwnsIsReadOnly() throws {
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

    // MARK: Tables

    /// `resource.section kind parent columns` for every section.
    private static func shape(_ tables: [TableSchema]) throws -> [String] {
        try inspect(tables).catalog.resources.flatMap { resource in
            resource.sections.map { section in
                let links = section.parent.map {
                    " \(section.columns[$0.column].name)=\(resource.root.columns[$0.rootColumn].name)"
                }
                return "\(resource.name).\(section.name) \(section.kind.rawValue)" + links.joined()
            }
        }
    }

    private static let orders = table(
        "orders", key: ["no"], [column("no", nullable: false), id("customer")],
        to: [(["customer"], "customers", ["id"])])
    private static let customers = table("customers", [id(), column("name")])

    private static func child(
        _ name: String, key: [String] = ["id"], nullable: Bool = false, unique: [[String]] = [],
        of parents: [(String, String)]
    ) -> TableSchema {
        let links = parents.map { column($0.0, number, nullable: nullable) }
        return table(
            name, key: key, (key == ["id"] ? [id()] : []) + links + [column("text")], unique: unique,
            to: parents.map { ([$0.0], $0.1, ["id"]) })
    }

    @Test func aTableWithOneParentIsAList() throws {
        let lines = Self.table(
            "order_lines", key: ["order_no", "line"], [Self.column("order_no", nullable: false), Self.id("line")],
            to: [(["order_no"], "orders", ["no"])])
        #expect(
            try Self.shape([Self.customers, Self.orders, lines]) == [
                "customers.customers root", "orders.orders root", "orders.orderLines list order_no=no",
            ])
    }

    @Test func otherTablesAreResources() throws {
        let things = Self.table("things", [Self.id()])
        // Two parents, one that may be missing, and itself.
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

    /// Of several parents a table is a part of the one that it is called after.
    @Test(arguments: ["customer_lines", "CustomerLine", "customerlines"])
    func aTableIsAPartOfWhatItIsCalledAfter(_ name: String) throws {
        let things = Self.table("things", [Self.id(), Self.column("name")])
        let lines = Self.child(name, of: [("thing", "things"), ("customer", "customers")])
        let section = NameWords(name).words
        let camel = section[0] + section.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        #expect(
            try Self.shape([lines, Self.customers, things]) == [
                "customers.customers root", "customers.\(camel) list customer=id", "things.things root",
            ])
        // One that says no more than which rows go together is nobody's part.
        let links = Self.table(
            name, key: ["customer", "thing"], [Self.id("customer"), Self.id("thing")],
            to: [(["customer"], "customers", ["id"]), (["thing"], "things", ["id"])])
        #expect(try Self.shape([links, Self.customers, things]).count { $0.hasSuffix(" root") } == 3)
    }

    /// By names alone as well.
    @Test func aTableIsAPartOfWhatItSeemsToBeCalledAfter() throws {
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

    @Test func oneRowPerRecordIsASingleton() throws {
        let photo = Self.child("photos", key: ["customer"], of: [("customer", "customers")])
        let badge = Self.child("badges", unique: [["customer"]], of: [("customer", "customers")])
        #expect(
            try Self.shape([Self.customers, photo, badge]) == [
                "customers.customers root", "customers.badges singleton customer=id",
                "customers.photos singleton customer=id",
            ])
    }

    @Test func aForeignKeyOfSeveralColumnsTiesAsOne() throws {
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

    @Test func withoutForeignKeysNamesAreGuesses() throws {
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

    @Test func foreignKeysAreSaid() throws {
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

    @Test func whatCannotBeServedIsNamed() {
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
