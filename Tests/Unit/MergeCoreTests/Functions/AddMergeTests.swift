import MergeCore
import Testing
import TestSupport

/// Amounts to which both sides add.
@Suite struct AddMergeTests {
    struct Case: Sendable {
        let type: ColumnType
        let base: Value
        let edited: Value
        let current: Value
        let sum: Value?
    }

    private static func decimal(_ text: String) -> Value { ExactDecimal(text).map { .decimal($0) } ?? .null }
    private static let money = ColumnType.decimal(precision: 4, scale: 2, isUnsigned: true)
    private static let tiny = ColumnType.integer(-128...127)
    private static let big = ColumnType.integer(0...Int128(UInt64.max))
    private static let double = ColumnType.double(isUnsigned: false)
    private static let float = ColumnType.float(isUnsigned: true)

    static let cases: [Case] = [
        Case(type: tiny, base: .integer(10), edited: .integer(8), current: .integer(5), sum: .integer(3)),
        Case(type: tiny, base: .integer(0), edited: .integer(100), current: .integer(100), sum: nil),
        Case(type: tiny, base: .integer(.min), edited: .integer(.max), current: .integer(1), sum: nil),
        Case(
            type: big, base: .integer(0), edited: .integer(1), current: .integer(Int128(UInt64.max) - 1),
            sum: .integer(Int128(UInt64.max))),
        Case(type: big, base: .integer(3), edited: .integer(1), current: .integer(1), sum: nil),
        Case(type: .year, base: .integer(2000), edited: .integer(2001), current: .integer(2155), sum: nil),
        Case(type: .bit(8), base: .integer(1), edited: .integer(2), current: .integer(3), sum: nil),
        Case(type: .boolean, base: .boolean(false), edited: .boolean(true), current: .boolean(false), sum: nil),
        Case(type: money, base: decimal("1.5"), edited: decimal("2"), current: decimal("3.25"), sum: decimal("3.75")),
        Case(type: money, base: decimal("0"), edited: decimal("50"), current: decimal("50"), sum: nil),
        Case(type: money, base: decimal("5"), edited: decimal("0"), current: decimal("4.99"), sum: nil),
        Case(type: money, base: .null, edited: decimal("0"), current: decimal("4.99"), sum: nil),
        Case(type: double, base: .double(0.1), edited: .double(0.3), current: .double(0.1), sum: .double(0.3)),
        Case(type: double, base: .double(0), edited: .double(1), current: .double(9_007_199_254_740_992), sum: nil),
        Case(type: double, base: .double(0), edited: .double(1e-300), current: .double(1e300), sum: nil),
        Case(type: double, base: .double(-1e308), edited: .double(1e308), current: .double(1e308), sum: nil),
        Case(type: double, base: .double(0), edited: .double(.nan), current: .double(1), sum: nil),
        Case(type: float, base: .float(0.1), edited: .float(0.2), current: .float(0.7), sum: .float(0.8)),
        Case(type: float, base: .float(1), edited: .float(0), current: .float(0.5), sum: nil),
        Case(
            type: .numeric(scale: nil), base: decimal("1"), edited: decimal("2"),
            current: decimal("9007199254740993.5"), sum: nil),
        Case(
            type: .numeric(scale: 2), base: decimal("1"), edited: decimal("2"), current: decimal("999"),
            sum: decimal("1000")),
        Case(
            type: .numeric(scale: 2), base: decimal("1"), edited: decimal("2"), current: decimal("0.05"),
            sum: decimal("1.05")),
        Case(type: .date, base: .integer(1), edited: .integer(2), current: .integer(3), sum: nil),
    ]

    @Test(arguments: cases) func addsUp(_ test: Case) {
        let sum = AddMerge.merge(base: test.base, edited: test.edited, current: test.current, type: test.type)
        #expect(sum == test.sum)
    }

    private static func value(_ type: ColumnType, _ random: inout SeededRandom) -> Value {
        let units = Int.random(in: -9_999...9_999, using: &random)
        guard let number = ExactDecimal("\(units)e-2") else { return .null }
        return switch type {
        case .integer: .integer(Int128(units))
        case .double: Double(number.text).map { .double($0) } ?? .null
        case .float: Float(number.text).map { .float($0) } ?? .null
        default: .decimal(number)
        }
    }

    static let types: [ColumnType] = [
        .integer(-1_000_000...1_000_000), .decimal(precision: 10, scale: 2, isUnsigned: false), double,
        .float(isUnsigned: false), .numeric(scale: nil),
    ]

    @Test(arguments: 0..<200) func additionsCommute(seed: Int) throws {
        var random = SeededRandom(seed: seed)
        for type in Self.types {
            for _ in 0..<10 {
                let base = Self.value(type, &random)
                let clients = (0..<3).map { _ in Self.value(type, &random) }
                let sums = try [clients, clients.reversed(), [clients[1], clients[2], clients[0]]].map { order in
                    try order.reduce(base) { current, edited in
                        try #require(
                            AddMerge.merge(base: base, edited: edited, current: current, type: type), "seed \(seed)")
                    }
                }
                #expect(sums[0] == sums[1] && sums[1] == sums[2], "seed \(seed): \(base), \(clients)")
            }
        }
    }

    @Test(arguments: 0..<200) func lawsHold(seed: Int) {
        var random = SeededRandom(seed: seed)
        for type in Self.types {
            let (b, e, c) = (Self.value(type, &random), Self.value(type, &random), Self.value(type, &random))
            #expect(AddMerge.merge(base: b, edited: e, current: b, type: type) == e, "seed \(seed)")
            #expect(AddMerge.merge(base: b, edited: b, current: c, type: type) == c, "seed \(seed)")
            let swapped = AddMerge.merge(base: b, edited: c, current: e, type: type)
            #expect(AddMerge.merge(base: b, edited: e, current: c, type: type) == swapped, "seed \(seed)")
        }
    }
}
