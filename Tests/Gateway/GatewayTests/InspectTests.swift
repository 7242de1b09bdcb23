import Foundation
import RecordStore
import RuleFiles
import Testing
import TestSupport

/// `fieldmerge inspect` on whole databases.
///
/// Its drafts pass `check` and are served without a change.
@Suite(.serialized) struct InspectTests {
    private static let program = Repository.root + ".build/debug/fieldmerge"

    /// A well-known sample database, which is not in this repository.
    private static let sakila = Repository.root + "../shared/data/sakila/"

    static var hasSakila: Bool {
        ["schema.sql", "data.sql"].allSatisfy { FileManager.default.fileExists(atPath: sakila + $0) }
    }

    /// The files of an inspection by name, and its output.
    static func inspect(
        _ database: TestDatabase, _ options: String...
    ) async throws -> (files: [String: String], said: String) {
        let folder = try TemporaryFolder()
        let out = folder.path + "/rules"
        let ran = try await Shell.capture(
            [program, "inspect", "--database", database.url, "--out", out] + options)
        #expect(ran.status == 0 && ran.output == "", "\(ran.output)\(ran.errors)")
        let checked = try await Shell.capture([
            program, "check", "--rules", out, "--database", database.url, "--journal", "off",
        ])
        #expect(
            checked.status == 0 && checked.output.contains("0 errors, "),
            "\(checked.output)\(checked.errors)")
        var files: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: out) {
            files[name] = try String(contentsOfFile: out + "/" + name, encoding: .utf8)
        }
        return (files, ran.errors)
    }

    @Test("The drafts for the shop are served", arguments: TestEngine.allCases)
    func shop(_ kind: TestEngine) async throws {
        let database = try await TestDatabase.shop(kind)
        let (files, said) = try await Self.inspect(database)
        #expect(files.keys.sorted() == ["aisles.yaml", "articles.yaml", "customers.yaml", "orders.yaml"])
        #expect(said.hasPrefix("4 resources, 8 sections, 40 groups\n"), "\(said)\(files)")
        #expect(said.contains("“customers_log” is a part of “customers”, by the name of column customer_id"))
        let customers = try #require(files["customers.yaml"])
        #expect(customers.contains("fields: {street: street, county: county, postCode: post_code}"))
        #expect(customers.contains("telNo: \"Tel No.\"\n"))
        #expect(customers.contains("wantsNews: {column: wants_news, type: boolean}"))
        #expect(customers.contains("aisleId: aisle_id # refers to aisles"))
        #expect(files["orders.yaml"]?.contains("key: [order_no, line_no]\n    parent: {order_no: order_no}") == true)
        try await RunningGateway.with(database, rules: files) { gateway async throws in
            try await gateway.client { client async throws in
                let record = try await client.get("/v1/records/customers/123")
                #expect(record.status == 200)
                #expect(try record.json()["customers"]?["firstName"]?.text == "Joe")
                #expect(try record.json()["groceries"]?[0]?["name"]?.text == "Beans")
            }
        }
        try await WholeDatabase.prove(database, files)
    }

    static func sakilaDatabase() async throws -> TestDatabase {
        let schema = try String(contentsOfFile: sakila + "schema.sql", encoding: .utf8)
        let data = try String(contentsOfFile: sakila + "data.sql", encoding: .utf8)
        // Uses the test's database, not the one that the files drop and create.
        let sql = (schema + "\n" + data).split(whereSeparator: \.isNewline)
            .filter { !["DROP SCHEMA", "CREATE SCHEMA", "USE sakila"].contains(where: $0.hasPrefix) }
            .joined(separator: "\n").replacing("sakila.", with: "")
        return try await TestDatabase(.mariadb, mariadb: sql, sqlite: "")
    }

    @Test(
        "The drafts for Sakila are served", .tags(.mariadb), .needsMariaDB,
        .enabled(if: hasSakila, "the sample database is not there"))
    func sakilaDatabase() async throws {
        let database = try await Self.sakilaDatabase()
        let (files, said) = try await Self.inspect(database)
        let tables = [
            "actor", "address", "category", "city", "country", "customer", "film", "film-actor", "film-category",
            "inventory", "language", "payment", "rental", "staff", "store",
        ]
        #expect(Set(files.keys) == Set(tables.map { $0 + ".yaml" }))
        #expect(files["film-actor.yaml"]?.contains("key: [actor_id, film_id]") == true)
        #expect(files["film-category.yaml"]?.contains("key: [film_id, category_id]") == true)
        #expect(files["film.yaml"]?.contains("filmText:\n    # A guess") == true)
        for view in ["actor_info", "customer_list", "film_list", "sales_by_store", "staff_list"] {
            #expect(said.contains("table “\(view)”: it is a view"))
        }
        try await RunningGateway.with(database, rules: files) { gateway async throws in
            try await gateway.client { client async throws in
                let film = try await client.get("/v1/records/film/1")
                #expect(film.status == 200)
                #expect(try film.json()["film"]?["releaseYear"]?.int == 2006)
                #expect(try film.json()["film"]?["rating"]?.text == "PG")
                #expect(
                    try film.json()["film"]?["specialFeatures"]?.array.compactMap(\.text)
                        == ["Deleted Scenes", "Behind the Scenes"])
                for path in ["film-actor/1,1", "film-category/1,6", "rental/1", "payment/1", "staff/1", "store/1"] {
                    #expect(try await client.get("/v1/records/" + path).status == 200, "\(path)")
                }
            }
        }
        try await WholeDatabase.prove(database, files)
    }

    @Test("Drafts are printed or written, and never overwrite a file")
    func files() async throws {
        let database = try await TestDatabase.shop(.sqlite)
        let inspect = [Self.program, "inspect", "--database", database.url]
        let printed = try await Shell.capture(inspect + ["--table", "orders", "--table", "order_lines"])
        #expect(printed.status == 0)
        #expect(printed.output.hasPrefix("# file: orders.yaml\n"))
        #expect(printed.output.contains("refers to table “customers”, which has no rules here"))
        #expect(RuleFolder(texts: [("orders.yaml", printed.output)]).findings.all.isEmpty)
        let folder = try TemporaryFolder()
        let out = folder.path + "/a/b"
        #expect(try await Shell.capture(inspect + ["--out", out, "--table", "orders"]).status == 0)
        let before = try String(contentsOfFile: out + "/orders.yaml", encoding: .utf8)
        let again = try await Shell.capture(inspect + ["--out", out])
        #expect(again.status == 1)
        #expect(again.errors.contains("orders.yaml exists already and is not overwritten; nothing was written"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: out) == ["orders.yaml"])
        #expect(try String(contentsOfFile: out + "/orders.yaml", encoding: .utf8) == before)
        let missing = try await Shell.capture(inspect + ["--table", "ordres"])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("the database has no table “ordres”; did you mean “orders”?"))
    }
}
