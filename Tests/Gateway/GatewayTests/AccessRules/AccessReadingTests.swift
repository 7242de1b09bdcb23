import Testing
import TestSupport

/// Clients of different roles read the same rows.
@Suite(.timeLimit(.minutes(5))) struct AccessReadingTests {
    private static func ids(_ client: Rounds.Client, _ gateway: RunningGateway) async throws -> [Int] {
        let page = try await gateway.get("/v1/records/stops", as: client).json()
        return (page["records"]?.array ?? []).compactMap { $0["id"]?.int }
    }

    @Test("Pages contain the rows of the role", arguments: TestEngine.allCases)
    func pages(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            #expect(try await Self.ids(Rounds.ann, gateway) == [1, 2])
            #expect(try await Self.ids(Rounds.bob, gateway) == [3, 5])
            // By characters, not by collation.
            #expect(try await Self.ids(Rounds.kim, gateway) == [1, 3])
            #expect(try await Self.ids(Rounds.lee, gateway) == [1, 2, 3])
            #expect(try await Self.ids(Rounds.eve, gateway) == [1, 2, 5])
            #expect(try await Self.ids(Rounds.sue, gateway) == [4])
            #expect(try await Self.ids(Rounds.boss, gateway) == [1, 2, 3, 4, 5])
            // Page by page the same.
            var after = ""
            var found: [Int] = []
            repeat {
                let page = try await gateway.get("/v1/records/stops?limit=1\(after)", as: Rounds.kim).json()
                found += (page["records"]?.array ?? []).compactMap { $0["id"]?.int }
                after = page["next"]?.text.map { "&after=\($0)" } ?? ""
            } while !after.isEmpty
            #expect(found == [1, 3])
        }
    }

    @Test("Groups and sections without the right are omitted", arguments: TestEngine.allCases)
    func groups(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let ann = try await gateway.get("/v1/records/stops/1", as: Rounds.ann)
            #expect(
                try ann.json()
                    == JSON(
                        #"{"id":1,"stop":{"title":"One","area":1,"price":10,"status":"new","code":"C1","depot":1},"#
                            + #""parcels":[{"id":1,"label":"A"},{"id":2,"label":"B"}]}"#))
            // One role reads this row's groups, another role the groups of other rows. The rights are not combined.
            let lee = try await gateway.get("/v1/records/stops/2", as: Rounds.lee).json()
            #expect(lee["stop"]?["secret"]?.text == "S2" && lee["mark"]?.isNull == true)
            let one = try await gateway.get("/v1/records/stops/1", as: Rounds.lee).json()
            #expect(one["stop"]?["secret"] == nil && one["mark"] == nil && one["parcels"]?[0]?["worth"] == nil)
        }
    }

    @Test("A resource without the right is unknown", arguments: TestEngine.allCases)
    func unknownResource(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            for path in [
                "/v1/records/NAME", "/v1/records/NAME/1", "/v1/changes?since=0&resources=NAME",
                "/v1/snapshot?resources=NAME",
            ] {
                let closed = try await gateway.get(path.replacing("NAME", with: "depots"), as: Rounds.kim)
                let unknown = try await gateway.get(path.replacing("NAME", with: "depoty"), as: Rounds.kim)
                #expect(closed.status == 404 && unknown.status == 404, "\(path): \(closed.text)")
                #expect(closed.text.replacing("depots", with: "depoty") == unknown.text)
            }
            let push = try await gateway.post(
                "/v1/push", #"{"edits": [{"resource": "depots", "id": 1, "changeset": {}}]}"#, as: Rounds.kim)
            #expect(push.status == 403 && push.text.contains(#""code":"no-right""#), "\(push.text)")
            let names = try await gateway.get("/v1/rules", as: Rounds.kim).json()["resources"]?.array.map {
                $0["resource"]?.text
            }
            #expect(names == ["stops"])
            let none = try await gateway.get("/v1/rules", as: Rounds.max).json()
            #expect(none["resources"]?.array.isEmpty == true)
            #expect(try await gateway.get("/v1/rules", as: Rounds.boss).json()["version"] == none["version"])
        }
    }

    @Test("The rules contain the client's rights", arguments: TestEngine.allCases)
    func rules(_ kind: TestEngine) async throws {
        try await Rounds.with(kind) { gateway in
            let rules = try await gateway.get("/v1/rules", as: Rounds.ann)
            #expect(!rules.text.contains("secret") && !rules.text.contains("worth") && !rules.text.contains("remark"))
            let stops = try rules.json()["resources"]?.array.first { $0["resource"]?.text == "stops" }
            #expect(stops?["create"]?.bool == false && stops?["delete"]?.bool == false)
            let status = stops?["sections"]?[0]?["groups"]?.array.first { $0["group"]?.text == "status" }
            #expect(status?["transitions"]?["open"] == (try JSON(#"["closed","new"]"#)))
            #expect(status?["write"]?.bool == true)
        }
    }

    /// Rights belong to a user, and without tokens the user is unknown.
    @Test("Access rules without tokens are refused")
    func noTokens() async throws {
        let database = try await Rounds.database(.sqlite)
        let said = await #expect(throws: Shell.Failure.self) {
            try await RunningGateway.with(database, rules: Rounds.rules) { _ in }
        }
        #expect(said?.description.contains("Start with --tokens or --jwt-keys") == true, "\(String(describing: said))")
    }
}
