import MergeCore
import Testing

@testable import RecordStore

/// The numbers of the journal's column `code` are those of older gateways.
@Suite struct StoredStatusTests {
    @Test(
        "Each status has its number",
        arguments: [(PushStatus.merged, 200), (.partial, 207), (.rejected, 409), (.failed, 422)])
    func numbers(_ status: PushStatus, code: Int) {
        #expect(status.storedCode == code)
        #expect(PushStatus(storedCode: code) == status)
    }

    /// A key with an unknown number remains used.
    @Test("An unknown number is a failure")
    func unknownNumber() {
        #expect(PushStatus(storedCode: 0) == .failed)
    }
}
