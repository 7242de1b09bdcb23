internal import CMariaDB
import MergeCore
import RecordStore
import Testing
import TestSupport

@testable import MariaDBStore

/// Values that do not fit into a buffer are fetched once more.
@Suite struct LongValueTests {
    private static func field(_ type: enum_field_types) -> MYSQL_FIELD {
        var field = MYSQL_FIELD()
        field.type = type
        field.length = 65_535
        field.charsetnr = 63
        return field
    }

    /// Buffers whose first row has a longer value than they can contain.
    private static func buffers(_ refetch: @escaping ResultBuffers.Refetch) -> ResultBuffers {
        let buffers = ResultBuffers([WireColumn(field(MYSQL_TYPE_BLOB))], refetch: refetch)
        buffers.binds[0].length.pointee = 1_000
        return buffers
    }

    private static let column = Column(name: "photo", type: .bytes(maximum: nil), isNullable: false)

    private static func value(_ buffers: ResultBuffers) throws(StoreError) -> (Value, UInt64) {
        // Only the functions that are passed in look at the statement.
        let statement = UnsafeMutablePointer<MYSQL_STMT>.allocate(capacity: 1)
        defer { statement.deallocate() }
        return (
            try buffers.value(0, of: column, in: statement),
            try buffers.hash(SipHash.Key(low: 1, high: 2), in: statement)
        )
    }

    @Test("A long value whose second fetch fails is an error")
    func failedFetch() {
        #expect(throws: StoreError.self) { try Self.value(Self.buffers { _, _, _ in false }) }
    }

    @Test("A long value whose second fetch returns less is an error")
    func shorterValue() {
        #expect(throws: StoreError.self) {
            try Self.value(
                Self.buffers { _, bind, _ in
                    bind.length.pointee = 999
                    return true
                })
        }
    }

    @Test("A long value is returned completely")
    func completeValue() throws {
        let (value, _) = try Self.value(
            Self.buffers { _, bind, _ in
                bind.buffer.initializeMemory(as: UInt8.self, repeating: 7, count: Int(bind.buffer_length))
                bind.length.pointee = bind.buffer_length
                return true
            })
        #expect(value == .bytes([UInt8](repeating: 7, count: 1_000)))
    }
}
