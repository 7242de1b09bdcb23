import Foundation
import RuleFiles
import Testing
import TestSupport

/// The examples of the README and the guides work: sessions run, and rule files are read.
@Suite struct GuideTests {
    private static let guides = "Sources/fieldmerge/Guides/"

    /// The fenced blocks of one language, of a whole file or of one section of it.
    private static func blocks(_ language: String, in file: String, under heading: String? = nil) throws -> [String] {
        var blocks: [String] = []
        var open: (isWanted: Bool, lines: [Substring])?
        var isUnderHeading = heading == nil
        for line in try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: false) {
            if let block = open {
                open?.lines.append(line)
                guard line == "```" else { continue }
                if block.isWanted { blocks.append(block.lines.joined(separator: "\n")) }
                open = nil
            } else if line.hasPrefix("```") {
                open = (isUnderHeading && line == "```" + language, [])
            } else if let heading, line.hasPrefix("## ") {
                isUnderHeading = line == "## " + heading
            }
        }
        return blocks
    }

    @Test(
        "The sessions return the printed answers",
        arguments: [("README.md", "client-won"), (guides + "API.md", "inserted")])
    func sessions(_ file: String, _ outcome: String) async throws {
        let script = try Self.blocks("sh", in: file).filter { $0.contains("url=") || $0.contains("curl ") }
            .filter { !$0.contains("sudo") }
        #expect(script.count >= 4)
        try await RunningGateway.with(try await TestDatabase.shop(.sqlite), journal: .together) {
            gateway async throws in
            let text = script.joined(separator: "\necho\n").replacing(
                "127.0.0.1:8080", with: "127.0.0.1:\(gateway.port)")
            let (status, output, errors) = try await Shell.capture(["bash", "-eu"], input: text)
            #expect(status == 0, "\(errors)")
            #expect(output.contains("\"outcome\":\"\(outcome)\""))
            #expect(!output.contains("\"status\":400") && !output.contains("\"status\":404"), "\(output)")
            #expect(!output.contains("\"status\":50"), "\(output)")
            if file.hasSuffix("API.md") {
                #expect(output.lowercased().components(separatedBy: "idempotent-replayed: true").count == 2)
                #expect(
                    try await gateway.database.run("SELECT last_name FROM customers WHERE customer_id = 124;")
                        == "Penrose\n")
            }
        }
    }

    @Test("The commands of the guide to sync run")
    func sync() async throws {
        let script = try Self.blocks("sh", in: Self.guides + "Sync.md")
        try await RunningGateway.with(try await TestDatabase.shop(.sqlite), journal: .together) {
            gateway async throws in
            let text =
                "cd \"$(mktemp -d)\"\n"
                + script.joined(separator: "\necho\n").replacing("127.0.0.1:8080", with: "127.0.0.1:\(gateway.port)")
            let output = try await Shell.run(["bash", "-eu"], input: text)
            for line in [#"{"snapshot":{"feed":""#, #"{"end":{"records":169}}"#, #""more":false"#, "event: changes"] {
                #expect(output.contains(line), "\(output)")
            }
            #expect(output.contains(#"{"results":[{"key":"5f0e-1","status":"merged""#), "\(output)")
        }
    }

    /// Commands and output are those of the guide, except times and versions.
    @Test("The commands of the guide to the journal print its output")
    func journal() async throws {
        let guide = Self.guides + "Journal.md"
        let headings = ["Looking", "Refused pushes", "Taking back"]
        let script = try headings.flatMap { try Self.blocks("sh", in: guide, under: $0) }
            .filter { !$0.contains("fieldmerge serve") }
        let shown = try headings.flatMap { try Self.blocks("", in: guide, under: $0) }.joined(separator: "\n") + "\n"
        try await RunningGateway.with(try await TestDatabase.shop(.sqlite), journal: .together) {
            gateway async throws in
            let text = script.joined(separator: "\n").replacing("127.0.0.1:8080", with: "127.0.0.1:\(gateway.port)")
                .replacing("curl -s ", with: "curl -s -o /dev/null ")
                .replacing("FIELDMERGE_RULES=MergeRules", with: "FIELDMERGE_RULES=\(Repository.root)MergeRules")
                .replacing("shop.sqlite", with: gateway.database.name)
            let path = "PATH=\(Repository.root).build/debug:$PATH\n"
            let output = try await Shell.run(["bash", "-eu"], input: path + text)
            let changing = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|[0-9a-f]{32}/
            #expect(output.replacing(changing, with: "*") == shown.replacing(changing, with: "*"))
        }
    }

    @Test("The rule files of the guides are read", arguments: ["README.md", guides + "Rules.md"])
    func ruleFiles(_ file: String) throws {
        let files = try Self.blocks("yaml", in: file).filter { $0.hasPrefix("resource:") }
        #expect(!files.isEmpty)
        for text in files {
            #expect(RuleFolder(texts: [(file, text)]).findings.all.isEmpty)
        }
    }

    /// The rule files that are about the sample shop fit it, and every record that they show can be sent back.
    @Test("The rule files of the guides fit the shop", arguments: TestEngine.allCases)
    func shopRules(_ kind: TestEngine) async throws {
        let files = try Self.blocks("yaml", in: Self.guides + "Rules.md").filter { text in
            // The shop has no table without transactions, and none of the products that the trial is about.
            text.hasPrefix("resource:") && !text.contains("non-transactional:") && !text.contains("resource: products")
        }
        #expect(files.count >= 9)
        for text in files {
            let database = try await TestDatabase.shop(kind)
            // Roles need tokens. The test's token has all rights.
            let office = Rounds.Client("office", ["office"])
            let tokens = text.contains("\naccess:") ? office.line : nil
            if tokens != nil {
                try await RunningGateway.with(database, rules: ["guide.yaml": text], tokens: tokens) {
                    gateway async throws in
                    #expect(
                        try await gateway.get("/v1/records/orders", as: office).json()["records"]?.array.isEmpty
                            == false)
                }
                continue
            }
            try await RunningGateway.with(database, rules: ["guide.yaml": text]) { gateway async throws in
                #expect(try await Echo.sendBackEverything(gateway) > 0)
            }
        }
    }

    /// The rules, the three records and the table of the guide belong together.
    @Test("The trial has the result of the guide")
    func trial() async throws {
        func blocks(_ language: String) throws -> [String] {
            try Self.blocks(language, in: Self.guides + "Rules.md", under: "Trying rules")
        }
        let folder = try TemporaryFolder()
        let names = ["rules/products.yaml", "base.json", "current.json", "edited.json"]
        let texts = try blocks("yaml") + blocks("json")
        #expect(texts.count == names.count)
        try FileManager.default.createDirectory(atPath: folder.path + "/rules", withIntermediateDirectories: true)
        for (name, text) in zip(names, texts) {
            try text.write(toFile: folder.path + "/" + name, atomically: true, encoding: .utf8)
        }
        let commands = ["cd \(folder.path)", "PATH=\(Repository.root).build/debug:$PATH"] + (try blocks("sh"))
        let output = try await Shell.run(["bash", "-eu"], input: commands.joined(separator: "\n"))
        #expect(try blocks("").map { $0 + "\n" } == [output])
    }

    @Test(
        "Links lead to existing files",
        arguments: [
            "README.md", "Samples/README.md", guides + "API.md", guides + "Rules.md", guides + "Values.md",
            guides + "Operation.md", guides + "Journal.md", guides + "Recovery.md", guides + "Speed.md",
            guides + "Upgrading.md", guides + "Protocol.md",
            guides + "Architecture.md", guides + "Access.md", guides + "Security.md", ".github/CONTRIBUTING.md",
            "Tests/Load/Benchmarks/README.md",
        ])
    func links(_ file: String) throws {
        let folder = file.split(separator: "/").dropLast().joined(separator: "/")
        let parts = try Repository.text(file).split(separator: "](").dropFirst()
        for part in parts {
            let target = String(part.prefix { $0 != ")" && $0 != "#" })
            if target.isEmpty || target.hasPrefix("http") { continue }
            let path = Repository.root + (folder.isEmpty ? "" : folder + "/") + target
            #expect(FileManager.default.fileExists(atPath: path), "\(file) links to \(target)")
        }
    }
}
