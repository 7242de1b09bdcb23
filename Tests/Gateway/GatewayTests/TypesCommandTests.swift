import Foundation
import Testing
import TestSupport

/// `fieldmerge types`, with the rules of files and those of a running gateway.
@Suite(.timeLimit(.minutes(5))) struct TypesCommandTests {
    private static let rules = [
        "orders.yaml": """
        resource: orders
        sections:
          order:
            table: orders
            groups:
              title: title
              state: {column: state, transitions: {open: [done]}}
              total: total
              due: due
              class: class
              customer: customer_id
            read-only: {changed: changed}
            stamp: {changed: now}
            lookups: {customerName: {along: customer_id, column: name}}
        access:
          office: {read: all, write: all, create: true, delete: true}
          driver: {read: all, write: [order.state], create: [order.title]}
        """,
        // Another resource on the same table.
        "order-titles.yaml": """
        resource: order-titles
        sections: {order: {table: orders, groups: {title: title}}}
        access: {office: {read: all, write: all}, driver: {read: all}}
        """,
        "customers.yaml": """
        resource: customers
        sections: {customer: {table: customers, groups: {name: name}}}
        access: {office: {read: all, write: all}, driver: {read: all}}
        """,
    ]

    private static func database(_ kind: TestEngine) async throws -> TestDatabase {
        func tables(_ key: String, _ state: String) -> String {
            """
            CREATE TABLE customers (id \(key), name VARCHAR(20) NOT NULL);
            CREATE TABLE orders (id \(key), title VARCHAR(20) NOT NULL, state \(state) NOT NULL DEFAULT 'open',
              total DECIMAL(10,2), due DATE, class VARCHAR(5), customer_id INTEGER, changed DATETIME,
              FOREIGN KEY (customer_id) REFERENCES customers (id));
            """
        }
        return try await TestDatabase(
            kind, mariadb: tables("INTEGER PRIMARY KEY AUTO_INCREMENT", "ENUM('open', 'done')"),
            sqlite: tables("INTEGER PRIMARY KEY", "VARCHAR(5)"))
    }

    private static func types(_ arguments: [String]) async throws -> (status: Int32, output: String, errors: String) {
        try await Shell.capture([CommandLineTests.program, "types"] + arguments)
    }

    private static let driver = Rounds.Client("driver", ["driver"])

    @Test("Rule files and a running gateway have the same types for a role", arguments: TestEngine.allCases)
    func filesAndServer(_ kind: TestEngine) async throws {
        let database = try await Self.database(kind)
        let folder = try TemporaryFolder(files: Self.rules)
        let token = try TemporaryFolder(files: ["token": Self.driver.secret + "\n"])
        try await RunningGateway.with(database, rules: Self.rules, tokens: Self.driver.line) { gateway async throws in
            for language in ["typescript", "swift", "python"] {
                let served = try await Self.types([
                    "--language", language, "--server", "http://127.0.0.1:\(gateway.port)/", "--token-file",
                    token.path + "/token",
                ])
                let read = try await Self.types([
                    "--language", language, "--rules", folder.path, "--database", database.url, "--as", "driver",
                ])
                #expect(served.status == 0 && read.status == 0, "\(served.errors)\(read.errors)")
                #expect(served.output == read.output)
            }
            let refused = try await Self.types(["--language", "swift", "--server", "http://127.0.0.1:\(gateway.port)"])
            #expect(refused.status != 0 && refused.errors.contains("--token-file"), "\(refused.errors)")
        }
    }

    @Test("The types follow the schema, the role and the lookups", arguments: TestEngine.allCases)
    func lines(_ kind: TestEngine) async throws {
        let database = try await Self.database(kind)
        let folder = try TemporaryFolder(files: Self.rules)
        let common = ["--language", "typescript", "--rules", folder.path, "--database", database.url]
        let all = try await Self.types(common)
        #expect(all.status == 0, "\(all.errors)")
        let state = kind == .mariadb ? "OrderOrderState" : "string"
        for line in [
            "export interface OrderTitle extends TypedRecord<\"order-titles\"> {", "  title: string;",
            "  state: \(state);",
            "  total: Decimal | null;", "  class: string | null;", "  readonly changed?: LocalDateTime | null;",
            "  customer: number | string | null;", "  readonly customerName?: string | null;",
        ] { #expect(all.output.contains(line + "\n"), "\(line) in \(all.output)") }
        if kind == .mariadb {
            #expect(all.output.contains(#"export type OrderOrderState = "open" | "done";"#))
            #expect(all.output.contains("  due: CalendarDate | null;\n"))
        }
        let driver = try await Self.types(common + ["--as", "driver"])
        for line in ["  readonly total?: Decimal | null;", "  title: string;", "  state: \(state);"] {
            #expect(driver.output.contains(line + "\n"), "\(line) in \(driver.output)")
        }
    }

    @Test("Wrong options and a server that does not answer are errors with a hint")
    func faults() async throws {
        let database = try await Self.database(.sqlite)
        let folder = try TemporaryFolder(files: Self.rules)
        let files = ["--rules", folder.path, "--database", database.url]
        for (arguments, hint) in [
            (["--language", "cobol"] + files, "typescript"), (["--language", "swift"], "--rules"),
            (["--language", "swift", "--server", "http://127.0.0.1:1"] + files, "--server is used without"),
            (["--language", "swift", "--server", "http://127.0.0.1:1"], "nothing answers"),
            (["--language", "swift", "--server", "localhost"], "https://sync.example.com"),
            (["--language", "swift", "--name", "ordrs=X"] + files, "did you mean “orders”?"),
            (["--language", "swift", "--name", "orders=customers"] + files, "--name orders=NAME"),
            (["--language", "swift", "--out", folder.path + "/none/x"] + files, "cannot be written"),
        ] {
            let answer = try await Self.types(arguments)
            #expect(answer.status != 0 && answer.errors.contains(hint), "\(arguments): \(answer.errors)")
        }
        let out = folder.path + "/orders.py"
        let written = try await Self.types(
            ["--language", "python", "--name", "orders=purchases", "--out", out] + files)
        #expect(written.status == 0 && written.output.isEmpty)
        #expect(
            try String(contentsOf: URL(filePath: out), encoding: .utf8).contains(
                "Purchases = ResourceType(\"orders\", Purchase)"))
    }
}
