import Operations
import Testing
import TestSupport

/// Groups that a role may set in new rows only (`create: [SECTION.GROUP]`).
@Suite(.timeLimit(.minutes(5))) struct InitialGroupTests {
    private static func tables(_ key: String) -> String {
        """
        CREATE TABLE customers (id \(key), name VARCHAR(20), email VARCHAR(40) UNIQUE, tier VARCHAR(10), owner VARCHAR(20));
        CREATE TABLE cards (id \(key), customer INTEGER, label VARCHAR(20), number VARCHAR(20));
        INSERT INTO customers VALUES (1, 'Ann', 'a@x', 'gold', 'boss');
        INSERT INTO cards VALUES (1, 1, 'first', '11');
        """
    }

    private static let rules = [
        "customers.yaml": """
        resource: customers
        sections:
          customer:
            table: customers
            identity: [email]
            groups: {name: name, email: email, tier: tier, owner: owner}
          cards: {list: true, table: cards, parent: customer, groups: {label: label, number: number}}
        access:
          shop:
            read: all
            write: [customer.name, cards.label]
            create: [customer.email, customer.owner, cards.number]
            rows: all
            set: {owner: {claim: who}}
          office: {read: all, write: all, create: true, delete: true, rows: all}
        """
    ]

    private static let shop = Rounds.Client("shop", ["shop"])

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(
            kind, mariadb: tables("INTEGER PRIMARY KEY AUTO_INCREMENT"), sqlite: tables("INTEGER PRIMARY KEY"))
        try await RunningGateway.with(
            database, rules: rules, tokens: shop.line, journal: .together, body)
    }

    private static func merge(
        _ gateway: RunningGateway, _ id: String, _ changeset: String
    ) async throws -> HTTPClient.Answer {
        try await gateway.post("/v1/merge/customers", #"{"id":\#(id),"changeset":\#(changeset)}"#, as: shop)
    }

    @Test("A creation may set the groups of create and those of write", arguments: TestEngine.allCases)
    func creating(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let made = try await Self.merge(
                gateway, "\"tmp:a\"",
                #"{"customer":{"old":null,"new":{"name":"Bob","email":"b@x"}},"#
                    + #""cards":[{"id":"tmp:c","old":null,"new":{"label":"new","number":"22"}}]}"#)
            #expect(made.status == 200, "\(made.text)")
            let row = try await gateway.database.run("SELECT name, email, owner FROM customers WHERE id = 2;")
            #expect(row == "Bob\tb@x\tshop\n")
            for (field, path) in [("tier", "tier"), ("owner", "owner")] {
                let refused = try await Self.merge(
                    gateway, "\"tmp:b\"", #"{"customer":{"old":null,"new":{"name":"Cid","\#(field)":"x"}}}"#)
                let problem = try refused.json()["problem"]
                #expect(refused.status == 403 && problem?["code"]?.text == "no-right", "\(refused.text)")
                #expect(problem?["path"]?.text == "changeset.customer.new.\(path)", "\(refused.text)")
            }
        }
    }

    @Test("A later edit of these groups has no right", arguments: TestEngine.allCases)
    func editing(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let edits = [
                (#"{"customer":{"email":{"old":"a@x","new":"c@x"}}}"#, "changeset.customer.email"),
                (
                    #"{"cards":[{"id":1,"number":{"old":"11","new":"12"}}]}"#, "changeset.cards[0].number"
                ),
                (#"{"cards":[{"id":1,"old":{"label":"first"},"new":null}]}"#, "changeset.cards[0]"),
            ]
            for (changeset, path) in edits {
                let refused = try await Self.merge(gateway, "1", changeset)
                let problem = try refused.json()["problem"]
                #expect(refused.status == 403 && problem?["code"]?.text == "no-right", "\(refused.text)")
                #expect(problem?["path"]?.text == path, "\(refused.text)")
            }
            // A creation that finds its row is an edit.
            let found = try await Self.merge(
                gateway, "\"tmp:a\"", #"{"customer":{"old":null,"new":{"name":"Ann","email":"a@x"}}}"#)
            #expect(found.status == 403, "\(found.text)")
            let renamed = try await Self.merge(gateway, "1", #"{"customer":{"name":{"old":"Ann","new":"Anna"}}}"#)
            #expect(renamed.status == 200, "\(renamed.text)")
            let added = try await Self.merge(
                gateway, "1", #"{"cards":[{"id":"tmp:c","old":null,"new":{"label":"new","number":"22"}}]}"#)
            #expect(added.status == 200, "\(added.text)")
        }
    }

    @Test("The rules name these groups, and the access report too", arguments: TestEngine.allCases)
    func rules(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway in
            let rules = try await gateway.get("/v1/rules", as: Self.shop).json()["resources"]?[0]
            #expect(rules?["create"]?.bool == true)
            let groups = rules?["sections"]?[0]?["groups"]?.array ?? []
            let rights = groups.map {
                "\($0["group"]?.text ?? "") \($0["write"]?.bool ?? false) \($0["create"]?.bool ?? false)"
            }
            #expect(rights == ["name true false", "email false true", "tier false false", "owner false false"])
        }
    }
}
