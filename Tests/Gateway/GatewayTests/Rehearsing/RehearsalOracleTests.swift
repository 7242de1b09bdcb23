import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore
import Testing
import TestSupport

/// The verdicts of a rehearsal, compared with the answers of a gateway that has the new rules.
@Suite struct RehearsalOracleTests {
    /// The answer of a gateway with some rules to a push.
    private struct Answer: Sendable {
        let body: JSON
        /// The entry in the journal, if any.
        let entry: JSON?

        var isMerged: Bool { body["status"]?.text == "merged" }

        /// The outcomes that an answer contains: those of a refused push are conflicts.
        func shown(_ decision: RehearsedDecision) -> [String] {
            if isMerged { return decision.kinds.map(\.rawValue) }
            var kinds: [String] = []
            for outcome in decision.outcomes where outcome.isConflict && !kinds.contains(outcome.kind.rawValue) {
                kinds.append(outcome.kind.rawValue)
            }
            return kinds.isEmpty ? ["unchanged"] : kinds
        }

        /// The different outcomes of some groups of a row, without unchanged groups.
        func kinds(_ section: String, item: Int?, groups: [String?]) -> [String] {
            var kinds: [String] = []
            for outcome in body["outcomes"]?.array ?? [] {
                guard outcome["section"]?.text == section, outcome["id"]?.int == item,
                    groups.contains(outcome["group"]?.text), let kind = outcome["outcome"]?.text, kind != "unchanged",
                    !kinds.contains(kind)
                else { continue }
                kinds.append(kind)
            }
            return kinds.isEmpty ? ["unchanged"] : kinds
        }
    }

    private static let records = 40

    /// Merges all scenes on fresh rows under some rules.
    private static func answers(
        _ scenes: [RehearsalOracle.Scene], _ rules: RehearsalOracle.Rules
    ) async throws -> [Answer] {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: RehearsalOracle.sql)
        try await database.run("BEGIN;" + scenes.map(\.sql).joined() + "COMMIT;")
        return try await RunningGateway.with(database, rules: ["things.yaml": rules.text], journal: .together) {
            gateway async throws in
            try await gateway.client { client in
                var answers: [Answer] = []
                for scene in scenes {
                    let body = try await client.post("/v1/merge/things", scene.body(rules)).json()
                    let found = try await client.get("/v1/journal?resource=things&id=\(scene.id)").json()
                    answers.append(Answer(body: body, entry: found["entries"]?[0]))
                }
                return answers
            }
        }
    }

    private static func resource(_ rules: RehearsalOracle.Rules) async throws -> Resource {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: RehearsalOracle.sql)
        let folder = try TemporaryFolder(files: ["things.yaml": rules.text])
        let engine = try database.engine()
        let outcome = await RulesLoader.load(folder.path, against: engine)
        await engine.close()
        guard case .active(let active, _) = outcome else { throw Shell.Failure(description: "\(outcome)") }
        return try #require(active.catalog["things"])
    }

    @Test("A rehearsal predicts the decisions of the new rules", arguments: 0..<8)
    func prediction(_ seed: Int) async throws {
        var oracle = RehearsalOracle(seed: seed)
        var counts = (same: 0, different: 0, unjudged: 0)
        for _ in 0..<4 {
            let (active, new) = (oracle.rules(), oracle.rules())
            let scenes = (1...Self.records).map { oracle.scene($0) }
            let (before, after) = (try await Self.answers(scenes, active), try await Self.answers(scenes, new))
            let rehearsal = EntryRehearsal(active: try await Self.resource(active), new: try await Self.resource(new))
            for (scene, (recorded, real)) in zip(scenes, zip(before, after)) {
                guard let entry = recorded.entry else { continue }
                let outcomes = entry["outcomes"]?.array ?? []
                for judged in rehearsal.judge(Array(entry.description.utf8), isOfActiveRules: true) {
                    let decided = outcomes.filter { $0["new"] != nil }
                    guard decided.indices.contains(judged.position) else { continue }
                    let outcome = decided[judged.position]
                    let context: Comment = "\(outcome)\n\(active.text)\n\(new.text)\n\(scene.body(new))\n\(real.body)"
                    let fields = judged.group.map { active.fields(of: $0) }
                    let groups: [String?] =
                        fields.map { fields in
                            new.joinsGroups && fields.contains { $0 == "b" || $0 == "c" } ? ["bc"] : fields
                        } ?? [nil]
                    let item = outcome["id"]?.int
                    let kinds = real.kinds(judged.section, item: item, groups: groups)
                    switch judged.verdict {
                    case .unjudged(let reason):
                        counts.unjudged += 1
                        let isExpected =
                            switch reason {
                            case .frozen, .recordPresence, .absentBase, .incompleteGroup: true
                            default: false
                            }
                        #expect(isExpected, "\(reason): \(context)")
                    case .same:
                        counts.same += 1
                        let isShown = real.isMerged || outcome["conflict"] != nil
                        #expect(kinds == [isShown ? outcome["outcome"]?.text ?? "" : "unchanged"], context)
                    case .different(let difference):
                        counts.different += 1
                        #expect(difference.active.kinds.map(\.rawValue) == [outcome["outcome"]?.text ?? ""], context)
                        let isWholeRow = difference.new.outcomes.contains { $0.group == nil }
                        #expect(
                            real.shown(difference.new)
                                == (isWholeRow ? real.kinds(judged.section, item: item, groups: [nil]) : kinds),
                            context)
                        if real.isMerged {
                            Self.compare(difference.new, with: real.body["record"], in: judged.section, context)
                        }
                    }
                }
            }
        }
        // Most outcomes can be judged, and random rules often differ.
        #expect(
            counts.same > 40 && counts.different > 40 && counts.unjudged < counts.same + counts.different, "\(counts)")
    }

    /// Compares the values that the new rules write to the root with the merged record.
    private static func compare(
        _ decision: RehearsedDecision, with record: JSON?, in section: String, _ context: Comment
    ) {
        guard section == "thing", let row = record?["thing"] else { return }
        for outcome in decision.outcomes {
            guard let group = outcome.group, case .group(let written)? = outcome.sides?.written else { continue }
            let names = group == 0 ? ["a"] : written.count == 2 ? ["b", "c"] : [group == 1 ? "b" : "c"]
            for (name, value) in zip(names, written) {
                switch value {
                case .integer(let number): #expect(row[name]?.int == Int(number), context)
                case .text(let text): #expect(row[name]?.text == text.string, context)
                default: #expect(row[name]?.isNull == true, context)
                }
            }
        }
    }
}
