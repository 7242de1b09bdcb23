import MergeCore
import Testing

@testable import MergeService

/// The keys of new rows.
@Suite struct CreatedKeysTests {
    private static let a = TemporaryID("tmp:a")
    private static let b = TemporaryID("tmp:b")

    private static func creation(of id: RowID, naming other: TemporaryID? = nil) -> RowEdit {
        let pending = other.map { [PendingReference(position: 0, id: $0)] } ?? []
        return RowEdit(
            section: 0, id: id,
            action: .create(FieldValues(fields: [0], values: [.null], pending: pending)), path: WirePath("row"))
    }

    @Test("An id is settled when each of its parts has a key")
    func settled() {
        var keys = CreatedKeys()
        let id = RowID(parts: [.temporary(Self.a), .value(.integer(2))])
        #expect(keys.settled(id) == nil)
        keys.name(Self.a, RecordKey([.integer(7)]))
        #expect(keys.settled(id) == RecordKey([.integer(7), .integer(2)]))
        #expect(keys.settled(RowID(parts: [.generated], temporary: Self.b)) == nil)
        #expect(keys.settled(RowID(RecordKey([.integer(3)]))) == RecordKey([.integer(3)]))
    }

    @Test("Other rows refer to a row by the last part of its key")
    func reference() {
        var keys = CreatedKeys()
        keys.name(Self.a, RecordKey([.integer(7), .integer(9)]))
        #expect(keys.reference(Self.a) == .integer(9))
        #expect(keys.reference(Self.b) == nil)
    }

    @Test("An edit depends on a missing row until the row that it names has a key")
    func missing() {
        var keys = CreatedKeys()
        let named = Self.creation(of: RowID(parts: [.generated], temporary: Self.b), naming: Self.a)
        let part = Self.creation(of: RowID(parts: [.temporary(Self.a), .generated]))
        let free = Self.creation(of: RowID(parts: [.generated], temporary: Self.b))
        #expect([named, part, free].map { keys.areMissing(for: $0) } == [true, true, false])
        keys.name(Self.a, RecordKey([.integer(7)]))
        #expect([named, part, free].map { keys.areMissing(for: $0) } == [false, false, false])
    }
}
