import Foundation
import MergeCore
import MergeWire
import Testing
import TestSupport

/// The words of the contract, which other tests read from a file.
@Suite struct ContractTextTests {
    private static let file = "Tests/Clients/Cases/contract.json"

    @Test(
        "contract.json contains the words of the code",
        .disabled(if: ProcessInfo.processInfo.environment["FIELDMERGE_RECORD"] == "1", "it is being recorded"))
    func fileIsCurrent() throws {
        #expect(
            try Repository.text(Self.file) == ContractText.json,
            "FIELDMERGE_RECORD=1 ./Tests/run --filter ContractTextTests writes it")
    }

    @Test(
        .enabled(if: ProcessInfo.processInfo.environment["FIELDMERGE_RECORD"] == "1", "FIELDMERGE_RECORD=1 writes it"))
    func recorded() throws {
        try Data(ContractText.json.utf8).write(to: URL(filePath: Repository.root + Self.file))
    }

    @Test("Each outcome, merge function and policy is in the guide of rules or of the protocol")
    func guides() throws {
        let guides = try ["API.md", "Protocol.md", "Rules.md"].map {
            try Repository.text("Sources/fieldmerge/Guides/" + $0)
        }.joined()
        let words =
            OutcomeKind.allCases.map(\.rawValue) + MergeFunction.Name.allCases.map(\.rawValue)
            + ConflictPolicy.allCases.map(\.rawValue) + MissingPolicy.allCases.map(\.rawValue)
            + DeleteConflictPolicy.allCases.map(\.rawValue)
        for word in words { #expect(guides.contains("`\(word)`") || guides.contains("`\(word)"), "\(word)") }
    }

    @Test("Each column type is in the guide of values")
    func types() throws {
        let guide = try Repository.text("Sources/fieldmerge/Guides/Values.md")
        for type in TypeName.allCases { #expect(guide.contains("`\(type.rawValue)`"), "\(type.rawValue)") }
    }
}
