import FieldMergeTesting
import Foundation
import Testing

@testable import FieldMergeClient

/// The shared cases of all clients: stored data, requests and reports.
@Suite struct ModelTests {
    static let cases = SharedCases.model["cases"].arrayValue ?? []

    @Test(.timeLimit(.minutes(5)), arguments: cases.indices)
    func theCase(_ index: Int) async throws {
        let folder = try TemporaryFolder()
        let testCase = Self.cases[index]
        let device = try await CaseDevice(testCase, at: folder.file("store.db"))
        for (number, step) in (testCase["steps"].arrayValue ?? []).enumerated() {
            do {
                try await device.run(step)
            } catch {
                Issue.record("\(testCase["name"]), step \(number), \(step): \(error)")
                break
            }
        }
        await device.kill()
    }

    @Test("The file has cases")
    func count() { #expect(Self.cases.count > 60) }
}
