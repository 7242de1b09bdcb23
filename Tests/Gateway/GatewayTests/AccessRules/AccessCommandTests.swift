import Foundation
import Testing
import TestSupport

/// Rules of access on the command line.
@Suite(.timeLimit(.minutes(5))) struct AccessCommandTests {
    private static func run(
        _ arguments: [String], _ database: TestDatabase, as client: Rounds.Client
    ) async throws -> (status: Int32, output: String, errors: String) {
        let folder = try TemporaryFolder(
            files: Rounds.rules.merging(["tokens.txt": Rounds.tokens, "own.token": client.secret + "\n"]) { $1 })
        let arguments = arguments.map { $0.replacing("FOLDER", with: folder.path) }
        return try await Shell.capture(
            [CommandLineTests.program] + arguments,
            environment: ["FIELDMERGE_DATABASE": database.url, "FIELDMERGE_RULES": folder.path])
    }

    private static func explain(_ record: String, as client: Rounds.Client, _ database: TestDatabase) async throws
        -> String
    {
        let said = try await run(
            [
                "access", "explain", "--tokens", "FOLDER/tokens.txt", "--token-file", "FOLDER/own.token", "--record",
                record,
            ],
            database, as: client)
        #expect(said.status == 0, "\(said)")
        return said.output
    }

    @Test("The rights of a token are explained", arguments: TestEngine.allCases)
    func explanation(_ kind: TestEngine) async throws {
        let database = try await Rounds.database(kind)
        let seen = try await Self.explain("stops/1", as: Rounds.ann, database)
        #expect(seen.contains("the token of “ann”, roles: driver\nstops/1: seen as “driver” (stops.yaml:"), "\(seen)")
        #expect(seen.contains("reads  stop.title, stop.area") && seen.contains("creates records: no"), "\(seen)")
        let hidden = try await Self.explain("stops/3", as: Rounds.ann, database)
        #expect(hidden.contains("stops/3: hidden: no role of the token applies to the row"), "\(hidden)")
        #expect(hidden.contains("column “area”: the row does not meet its condition"), "\(hidden)")
        #expect(try await Self.explain("stops/1", as: Rounds.max, database).contains("has none of the roles"))
        #expect(try await Self.explain("stops/77", as: Rounds.boss, database).contains("the record does not exist"))
    }

    /// An app can be shipped with a snapshot for the role of its users.
    @Test("A snapshot is made for a role")
    func snapshot() async throws {
        let database = try await Rounds.database(.sqlite)
        let folder = try TemporaryFolder()
        let file = folder.path + "/all.ndjson"
        let plain = ["snapshot", "--journal", database.journalURL, "--out", file]
        _ = try await Self.run(["journal", "init", "--journal", database.journalURL], database, as: Rounds.ann)
        let refused = try await Self.run(plain, database, as: Rounds.ann)
        #expect(
            refused.status != 0 && refused.errors.contains("name the roles of the snapshot with --as"), "\(refused)")
        let made = try await Self.run(
            plain + ["--as", "driver", "--claims", #"{"areas": [1, 2]}"#], database, as: Rounds.ann)
        #expect(made.status == 0, "\(made)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains(#""title":"One""#) && !text.contains("Three") && !text.contains("S1"), "\(text)")
    }
}
