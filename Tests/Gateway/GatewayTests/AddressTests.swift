import MergeService
import Operations
import Testing
import TestSupport

@testable import Gateway

/// Each address has its methods, and its members of the query.
@Suite(.serialized) struct AddressTests {
    /// An address with the methods that `Allow` names and the members of its query.
    struct Address: Sendable, CustomTestStringConvertible {
        let path: String
        /// The path in `/openapi.json`; nil if it is not described there.
        let documented: String?
        let allow: String
        let query: [String]

        init(_ path: String, as documented: String? = nil, _ allow: String, query: [String] = []) {
            self.path = path
            self.documented = documented
            self.allow = allow
            self.query = query
        }

        var testDescription: String { path }
    }

    static let addresses = [
        Address("/v1/rules", as: "/v1/rules", "GET, HEAD"),
        Address("/v1/records/people", as: "/v1/records/{resource}", "GET, HEAD", query: ["limit", "after"]),
        Address("/v1/records/people/1", as: "/v1/records/{resource}/{id}", "GET, HEAD"),
        Address("/v1/merge/people", as: "/v1/merge/{resource}", "POST", query: ["preview", "by"]),
        Address("/v1/push", as: "/v1/push", "POST", query: ["preview", "by"]),
        Address(
            "/v1/journal", as: "/v1/journal", "GET, HEAD",
            query: [
                "resource", "id", "group", "field", "who", "device", "outcome", "code", "since", "until", "after",
                "limit", "refused", "settled", "conflicts", "order",
            ]),
        Address("/v1/journal/1", as: "/v1/journal/{number}", "GET, HEAD"),
        Address("/v1/journal/1/undo", as: "/v1/journal/{number}/undo", "POST", query: ["preview"]),
        Address("/v1/journal/1/resend", as: "/v1/journal/{number}/resend", "POST", query: ["preview"]),
        Address("/v1/journal/1/drop", as: "/v1/journal/{number}/drop", "POST"),
        Address("/v1/operations/console", as: "/v1/operations/console", "GET, HEAD"),
        Address("/v1/operations/activity", as: "/v1/operations/activity", "GET, HEAD", query: ["minutes"]),
        Address("/v1/operations/clients", as: "/v1/operations/clients", "GET, HEAD", query: ["limit", "after"]),
        Address("/v1/operations/rules", as: "/v1/operations/rules", "GET, HEAD"),
        Address("/v1/operations/health", as: "/v1/operations/health", "GET, HEAD"),
        Address("/v1/operations/explain", as: "/v1/operations/explain", "POST"),
        Address("/v1/operations/rehearse", as: "/v1/operations/rehearse", "POST"),
        Address("/v1/token", as: "/v1/token", "POST"),
        Address("/v1/operations/maintenance", as: "/v1/operations/maintenance", "POST"),
        Address("/healthz", as: "/healthz", "GET, HEAD"),
        Address("/readyz", as: "/readyz", "GET, HEAD"),
        Address("/metrics", as: "/metrics", "GET, HEAD"),
        Address("/client/fieldmerge.js", as: "/client/{file}", "GET, HEAD"),
        Address("/client/v1/fieldmerge.js", as: "/client/v1/{name}", "GET, HEAD"),
        Address(
            "/client/v1/\(ClientController().version)/store.js", as: "/client/v1/{name}/{file}", "GET, HEAD"),
        Address("/openapi.json", as: "/openapi.json", "GET, HEAD"),
        Address("/v1/sync", as: "/v1/sync", "POST", query: ["by"]),
        Address(
            "/v1/changes", as: "/v1/changes", "GET, HEAD",
            query: ["since", "feed", "resources", "limit", "wait", "filter"]),
        Address("/v1/snapshot", as: "/v1/snapshot", "GET, HEAD", query: ["resources", "after", "filter", "unless"]),
    ]

    private static func with(
        tokens: String? = nil, _ body: @escaping @Sendable (RunningGateway, HTTPClient.Session) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        try await RunningGateway.with(
            database, rules: MergeTests.rules, tokens: tokens, journal: .together,
            configure: { $0.console = .readOnly }
        ) { gateway async throws in
            try await gateway.client { client async throws in
                // Something for the journal.
                _ = try await client.post(
                    "/v1/merge/people", #"{"id":2,"changeset":{"person":{"name":{"old":"Bob","new":"Rob"}}}}"#)
                try await body(gateway, client)
            }
        }
    }

    /// Everything that a request may have written.
    private static func rows(_ database: TestDatabase) async throws -> String {
        try await database.run("SELECT * FROM people ORDER BY id;")
            + database.runOnJournal("SELECT COUNT(*) FROM entries;")
    }

    @Test("Another method is refused with the allowed methods", arguments: addresses)
    func otherMethod(_ address: Address) async throws {
        try await Self.with { gateway, client async throws in
            let before = try await Self.rows(gateway.database)
            let allowed = Set(address.allow.split(separator: ", ").map { $0.lowercased() })
            for method in HTTPClient.Method.allCases where !allowed.contains(method.rawValue) {
                let answer = try await client.send(
                    method, address.path, ["Content-Type": "application/json"],
                    method == .get || method == .head ? nil : Array("{}".utf8))
                #expect(answer.status == 405, "\(method): \(answer.text)")
                #expect(answer.headers["allow"] == address.allow)
                if method == .head {
                    #expect(answer.body.isEmpty)
                } else {
                    #expect(try answer.json()["code"]?.text == "method-not-allowed")
                    #expect(answer.headers["content-type"] == "application/problem+json")
                }
            }
            #expect(try await Self.rows(gateway.database) == before)
        }
    }

    @Test("An unknown address is not found, whatever the method")
    func unknownAddress() async throws {
        try await Self.with { _, client async throws in
            for path in ["/", "/v2", "/v1", "/v1/records", "/v1/records/people/1/2", "/v1/journal/1/redo", "/V1/rules"]
            {
                for method in HTTPClient.Method.allCases {
                    let answer = try await client.send(method, path, [:], nil)
                    #expect(answer.status == 404, "\(method) \(path)")
                    #expect(answer.headers["allow"] == nil)
                }
            }
        }
    }

    @Test("An unknown member of the query is refused", arguments: addresses)
    func unknownQueryMember(_ address: Address) async throws {
        try await Self.with { gateway, client async throws in
            let before = try await Self.rows(gateway.database)
            let edit = #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Eve"}}}}"#
            let bodies = [
                "/v1/merge/people": edit, "/v1/push": #"{"edits":[{"resource":"people",\#(edit.dropFirst())]}"#,
            ]
            for method in address.allow.split(separator: ", ").compactMap({
                HTTPClient.Method(rawValue: $0.lowercased())
            }) {
                var wrong = ["Preview=true", "nonsense", "=1", "%7a=1", "by%20=1", "%zz=1", "preview+=true"]
                wrong += address.query.map { $0.uppercased() + "=1" } + address.query.map { $0 + "x=1" }
                for member in wrong {
                    let answer = try await client.send(
                        method, address.path + "?" + member, ["Content-Type": "application/json"],
                        method == .post ? Array((bodies[address.path] ?? "{}").utf8) : nil)
                    #expect(answer.status == 400, "\(member): \(answer.text)")
                    if method == .head { continue }
                    #expect(try answer.json()["code"]?.text == "unknown-query")
                }
                for member in address.query {
                    let answer = try await client.send(
                        method, address.path + "?\(member)=1&\(member)=1", ["Content-Type": "application/json"],
                        method == .post ? Array((bodies[address.path] ?? "{}").utf8) : nil)
                    #expect(answer.status == 400, "\(member) twice: \(answer.text)")
                    if method != .head { #expect(try answer.json()["code"]?.text == "duplicate-query") }
                }
            }
            #expect(try await Self.rows(gateway.database) == before)
        }
    }

    @Test(
        "The problem names the most similar member",
        arguments: [
            ("/v1/push?Preview=true", "“Preview” is not a member of this address's query; did you mean “preview”?"),
            ("/v1/push?perview=true", "“perview” is not a member of this address's query; did you mean “preview”?"),
            ("/v1/push?x=1", "“x” is not a member of this address's query."),
            ("/v1/journal/1/undo?by=true", "“by” is not a member of this address's query."),
        ])
    func nearestMember(_ path: String, _ detail: String) async throws {
        try await Self.with { _, client async throws in
            #expect(try await client.post(path, #"{"edits":[]}"#).json()["detail"]?.text == detail)
        }
        try await Self.with { _, client async throws in
            let answer = try await client.get("/v1/records/people/1?limit=3")
            #expect(
                try answer.json()["detail"]?.text == "“limit” is not a member of this address's query, which has none.")
        }
    }

    @Test("A flag is true or false, and any other value writes nothing")
    func flags() async throws {
        try await Self.with { gateway, client async throws in
            let before = try await Self.rows(gateway.database)
            let edit = #"{"id":1,"changeset":{"person":{"name":{"old":"Ann","new":"Eve"}}}}"#
            for value in ["", "=", "=TRUE", "=True", "=1", "=yes", "=true%20", "=%zzrue", "=%2574rue", "=true;x"] {
                for flag in ["preview", "by"] {
                    #expect(try await client.post("/v1/merge/people?\(flag)\(value)", edit).status == 400, "\(value)")
                }
                #expect(try await client.post("/v1/journal/1/undo?preview\(value)", "{}").status == 400)
                #expect(try await client.get("/v1/journal?refused\(value)").status == 400)
            }
            // An escaped name is the same name, and an escaped value the same value.
            #expect(try await client.post("/v1/merge/people?pre%76iew=true", edit).status == 200)
            #expect(try await client.post("/v1/merge/people?preview=%74rue", edit).status == 200)
            let page = try await client.get("/v1/records/people?limit=1")
            #expect(try await client.get("/v1/records/people?limit=%31").body == page.body)
            #expect(page.status == 200)
            #expect(try await client.post("/v1/merge/people?preview=true&by=false&", edit).status == 200)
            #expect(try await Self.rows(gateway.database) == before)
            #expect(try await client.post("/v1/merge/people?preview=false&by=false", edit).status == 200)
            #expect(try await Self.rows(gateway.database) != before)
        }
    }

    @Test(
        "HEAD has the headers of GET and no body, and the connection remains usable",
        arguments: addresses.filter { $0.allow == "GET, HEAD" })
    func head(_ address: Address) async throws {
        try await Self.with { gateway, client async throws in
            func reported(_ answer: HTTPClient.Answer) -> [String: String] {
                answer.headers.filter { !["date", "x-request-id"].contains($0.key) }
            }
            for headers in [[:], ["Accept-Encoding": "gzip"], ["Accept": "text/plain"]] {
                // Metrics change with each request, so the lengths of their bodies differ.
                let get = try await client.send(.get, address.path, headers, nil)
                let head = try await client.send(.head, address.path, headers, nil)
                #expect(head.status == get.status)
                #expect(head.body.isEmpty)
                if address.path == "/metrics" {
                    #expect(head.headers["content-length"].flatMap { Int($0) } ?? 0 > 0)
                } else {
                    #expect(reported(head) == reported(get))
                }
            }
            if let tag = try await client.send(.head, address.path, [:], nil).headers["etag"] {
                let same = try await client.send(.head, address.path, ["If-None-Match": tag], nil)
                #expect(same.status == 304 && same.body.isEmpty)
            }
            #expect(try await client.get("/healthz").text == #"{"status":"ok"}"#)
        }
    }

    @Test("HEAD of a missing record has no body")
    func headOfMissing() async throws {
        try await Self.with { _, client async throws in
            for (path, status) in [("/v1/records/people/99", 404), ("/v1/records/nobody", 404), ("/nowhere", 404)] {
                let get = try await client.get(path)
                let head = try await client.send(.head, path, [:], nil)
                #expect(get.status == status && head.status == status)
                #expect(head.body.isEmpty)
                #expect(head.headers["content-length"] == get.headers["content-length"])
            }
        }
    }

    /// Clients of another library accept the answers, also a page in chunks.
    @Test("curl continues on the connection after HEAD")
    func curlAfterHead() async throws {
        try await Self.with { gateway, _ async throws in
            let rows = (3...400).map { "(\($0), 'Name \($0)', 1)" }.joined(separator: ",")
            try await gateway.database.run("INSERT INTO people (id, name, credit) VALUES \(rows);")
            let url = "http://127.0.0.1:\(gateway.port)"
            for (path, mark) in [("/v1/records/people?limit=400", "chunked"), ("/v1/records/people/1", "ength: ")] {
                for version in ["--http1.1", "--http1.0"] {
                    let said = try await Shell.run([
                        "curl", "-sSv", version, "-I", url + path, "--next", "-sSv", version, url + "/healthz",
                    ])
                    #expect(said.hasSuffix("{\"status\":\"ok\"}"), "\(said)")
                    if version == "--http1.1" { #expect(said.contains(mark), "\(said)") }
                }
                let (_, _, notes) = try await Shell.capture([
                    "curl", "-sSv", "-I", url + path, "--next", "-sSv", url + "/healthz",
                ])
                #expect(notes.lowercased().contains("re-using existing"), "\(notes)")
            }
        }
    }

    @Test("Without a token the only problem is the token; with one, errors of the request come before rights")
    func withoutToken() async throws {
        let reader = AccessToken.make()
        let line = reader.line(name: "r", rights: [.read])
        try await Self.with(tokens: line) { gateway, client async throws in
            for (method, path) in [
                (HTTPClient.Method.put, "/v1/rules"), (.get, "/v1/rules?x=1"), (.post, "/v1/push?Preview=true"),
                (.head, "/v1/rules"), (.get, "/nowhere"), (.options, "/v1/push"),
            ] {
                #expect(try await client.send(method, path, [:], nil).status == 401, "\(method) \(path)")
            }
            try await gateway.client(token: reader.secret) { client async throws in
                for (method, path, status) in [
                    (HTTPClient.Method.put, "/v1/rules", 405), (.get, "/v1/rules?x=1", 400),
                    (.post, "/v1/push?Preview=true", 400), (.head, "/v1/rules", 200), (.get, "/nowhere", 404),
                    (.post, "/nowhere", 404), (.post, "/v1/push", 403), (.post, "/v1/push?preview=true", 403),
                    (.post, "/healthz", 405),
                ] {
                    #expect(try await client.send(method, path, [:], nil).status == status, "\(method) \(path)")
                }
            }
        }
    }

    /// The description for tools names just the addresses, methods and query members that are served.
    @Test("The description has all addresses, methods and members")
    func description() throws {
        let document = try JSON(String(decoding: OpenAPI.document, as: UTF8.self))
        let paths = document["paths"]?.object ?? [:]
        #expect(Set(paths.keys) == Set(Self.addresses.compactMap(\.documented)))
        for address in Self.addresses {
            guard let path = address.documented.flatMap({ paths[$0] }) else { continue }
            let method = address.allow == "POST" ? "post" : "get"
            #expect(Set(path.object.keys).subtracting(["parameters"]) == [method], "\(address.path)")
            let parameters = (path[method]?["parameters"]?.array ?? []).map { parameter in
                let name = parameter["$ref"]?.text?.split(separator: "/").last.map(String.init)
                return name.flatMap { document["components"]?["parameters"]?[$0] } ?? parameter
            }
            let names = parameters.filter { $0["in"]?.text == "query" }.compactMap { $0["name"]?.text }
            #expect(names.sorted() == address.query.sorted(), "\(address.path)")
        }
    }
}
