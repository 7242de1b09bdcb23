import MergeCore
import Testing

@testable import MergeService

/// The values that references led to before a push.
@Suite struct ReferredValuesTests {
    private static let number = ColumnType.integer(0...100)
    private static let own = Column(name: "order_id", type: number, isNullable: true)
    private static let step = ReferenceStep(
        along: own, to: TableName(name: "orders"), key: Column(name: "id", type: number, isNullable: false),
        column: Column(name: "technician", type: .text(TextType()), isNullable: true))
    private static let columns = [Column(name: "id", type: number, isNullable: false), own, .lookup(step)]

    private static func name(_ text: String) -> Value { .text(ExactText(text)) }

    private static func photo(_ order: Int128?, _ technician: String?) -> [Value] {
        [.integer(1), order.map { .integer($0) } ?? .null, technician.map { name($0) } ?? .null]
    }

    private static func key(_ value: Value, _ type: ColumnType = number) -> RawValue {
        RawValue(column: Column(name: "order_id", type: type, isNullable: true), value: value)
    }

    private static func recording(_ values: [(key: Int128, value: Value)]) -> ReferredValues {
        var referred = ReferredValues()
        for (key, value) in values { referred.record(value, of: step, at: Self.key(.integer(key))) }
        return referred
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let recorded: [(key: Int128, value: Value)]
        let row: [Value]
        let original: [Value]?
    }

    private static let cases = [
        Case(testDescription: "no write", recorded: [], row: photo(5, "ann"), original: nil),
        Case(
            testDescription: "the row has another technician now", recorded: [(5, name("ann"))], row: photo(5, "bob"),
            original: photo(5, "ann")),
        Case(
            testDescription: "there and back", recorded: [(5, name("ann"))], row: photo(5, "ann"), original: nil),
        Case(
            testDescription: "the first value counts", recorded: [(5, name("ann")), (5, name("bob"))],
            row: photo(5, "cid"), original: photo(5, "ann")),
        Case(
            testDescription: "the row was inserted", recorded: [(5, .null)], row: photo(5, "bob"),
            original: photo(5, nil)),
        Case(
            testDescription: "the reference was NULL", recorded: [], row: photo(nil, "bob"),
            original: photo(nil, nil)),
        Case(
            testDescription: "another row was written", recorded: [(6, name("ann"))], row: photo(5, "bob"),
            original: nil),
    ]

    @Test("A row has the value of its reference before the push", arguments: cases)
    func original(_ example: Case) {
        let found = Self.recording(example.recorded).original(of: example.row, in: Self.columns)
        #expect(found == example.original)
    }

    @Test("Keys of equal value are one key")
    func keys() throws {
        var referred = ReferredValues()
        let decimal = ColumnType.decimal(precision: 5, scale: 0, isUnsigned: false)
        referred.record(
            Self.name("ann"), of: Self.step, at: Self.key(.decimal(try #require(ExactDecimal("5"))), decimal))
        #expect(referred.value(of: Self.step, at: Self.key(.integer(5))) == Self.name("ann"))
        #expect(referred.value(of: Self.step, at: Self.key(.integer(6))) == nil)
        #expect(referred.value(of: Self.step, at: Self.key(.null)) == .null)
    }
}
