import MergeCore
import Testing

@testable import RecordStore

/// The numbers of the journal's column `code` stay what older gateways wrote and read.
@Suite struct StoredStatusTests {
    @Test(arguments: [(PushStatus.merged, 200), (.partial, 207), (.rejected, 409), (.failed, 422)])
    func eachHasItsNumber(_ status: PushStatus, code: Int) {
        #expect(status.storedCode == code)
        #expect(PushStatus(storedCode: code) == status)
    }

    /// Keys stay in use under a number that nobody wrote.
    @Test func anotherNumberIsAFailure() {
        #expect(PushStatus(storedCode: 0) == .failed)
    }
}
