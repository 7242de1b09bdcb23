import MergeCore
import Operations
import Testing
import TestSupport

/// `/openapi.json` describes all answers of the gateway.
@Suite struct OpenAPITests {
    /// Every member of a section that any recorded `/v1/rules` shows is described.
    @Test("Each member of a section is described")
    func sections() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let description = try await RunningGateway.with(database, rules: MergeTests.rules) { gateway async throws in
            try await gateway.client { try await $0.get("/openapi.json").json() }
        }
        let section = description["components"]?["schemas"]?["Section"]?["properties"]
        let described = Set(try #require(section).object.keys)
        var shown: Set<String> = []
        for chapter in Chapter.all {
            let exchanges = try ExchangeReader.read(chapter.path, engines: chapter.engines)
            guard let answer = exchanges.first?.answers.values.first, exchanges.first?.request.label == "rules" else {
                continue
            }
            for resource in try JSON(answer.body.string)["resources"]?.array ?? [] {
                for section in resource["sections"]?.array ?? [] { shown.formUnion(section.object.keys) }
            }
        }
        #expect(shown.contains("clientKeys"))
        #expect(shown.subtracting(described).isEmpty)
    }

    private static func document() async throws -> JSON {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        return try await RunningGateway.with(database, rules: MergeTests.rules) { gateway async throws in
            try await gateway.client { try await $0.get("/openapi.json").json() }
        }
    }

    @Test("The description has the program's version")
    func version() async throws {
        #expect(try await Self.document()["info"]?["version"]?.text == ProgramVersion.text)
    }

    @Test("Each address that needs a token describes the problems of a request without one")
    func problems() async throws {
        let paths = try #require(try await Self.document()["paths"]).object
        #expect(paths.keys.contains("/openapi.json") && paths.keys.contains("/metrics"))
        for (path, item) in paths {
            for (method, operation) in item.object where ["get", "post"].contains(method) {
                let answer = operation["responses"]?["default"]?["$ref"]?.text
                #expect(answer == "#/components/responses/Problem", "\(method) \(path)")
            }
        }
        #expect(paths["/metrics"]?["get"]?["responses"]?["401"] != nil)
    }

    /// Objects of the protocol have the described members only.
    @Test("Objects have no undescribed members")
    func members() async throws {
        let schemas = try #require(try await Self.document()["components"]?["schemas"]).object
        for (name, schema) in schemas where schema["properties"] != nil {
            #expect(schema["additionalProperties"] != nil, "\(name)")
        }
    }

    @Test("Each recorded answer has a described status, media type and members")
    func recordedAnswers() async throws {
        let check = SchemaCheck(document: try await Self.document())
        let paths = check.document["paths"]?.object ?? [:]
        var count = 0
        for chapter in Chapter.all where chapter.engines.contains(.sqlite) && chapter.description != "crowd" {
            for exchange in try ExchangeReader.read(chapter.path, engines: chapter.engines).prefix(150) {
                guard let operation = Self.operation(exchange.request, in: paths),
                    let answer = exchange.answers[.sqlite], let body = try? JSON(answer.body.string)
                else { continue }
                let responses = operation["responses"]
                let response = responses?[String(answer.status)] ?? responses?["default"]
                let isProblem = body["type"]?.text?.hasPrefix("urn:fieldmerge:problem:") == true
                let type = isProblem ? "application/problem+json" : "application/json"
                let place = "\(chapter) \(exchange.request.label): \(answer.status) \(type)"
                guard let content = response.map({ check.resolved($0) })?["content"]?[type] else {
                    Issue.record("\(place) is not described")
                    continue
                }
                let faults = content["schema"].map { check.faults(body, $0) } ?? []
                #expect(faults.isEmpty, "\(place): \(faults.prefix(3))")
                count += 1
            }
        }
        #expect(count > 2_000, "\(count)")
    }

    /// The operation of a recorded request; nil if its address or method is unknown.
    private static func operation(_ request: CorpusRequest, in paths: [String: JSON]) -> JSON? {
        let parts = request.target.split(separator: "?")[0].split(separator: "/").map(String.init)
        let found = paths.first { path, _ in
            let wanted = path.split(separator: "/").map(String.init)
            return wanted.count == parts.count && zip(wanted, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        return found?.value[request.method.rawValue]
    }
}
