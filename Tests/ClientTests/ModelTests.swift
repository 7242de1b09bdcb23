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
        let told = Self.cases[index]
        let device = try await CaseDevice(told, at: folder.file("store.db"))
        for (number, step) in (told["steps"].arrayValue ?? []).enumerated() {
            do {
                try await device.run(step)
            } catch {
                Issue.record("\(told["name"]), step \(number), \(step): \(error)")
                break
            }
        }
        await device.kill()
    }

    @Test func thereAreCases() { #expect(Self.cases.count > 60) }
}
