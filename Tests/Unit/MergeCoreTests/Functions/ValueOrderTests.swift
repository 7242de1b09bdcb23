import MergeCore
import Testing
import TestSupport

/// The order of the values of one column.
@Suite struct ValueOrderTests {
    private static func decimal(_ text: String) -> Value { ExactDecimal(text).map { .decimal($0) } ?? .null }
    private static func texts(_ texts: String...) -> [Value] { texts.map { .text(ExactText($0)) } }
    private static func sent(_ type: ColumnType, _ texts: String...) -> [Value] {
        texts.map { (try? type.accept(.text($0))) ?? .null }
    }
    private static let size = ColumnType.enumeration([ExactText("small"), ExactText("large"), ExactText("huge")])
    private static let moment = ColumnType.dateTime(fraction: 6)

    /// Values of each type in ascending order.
    static let ascending: [(ColumnType, [Value])] = [
        (.boolean, [.boolean(false), .boolean(true)]),
        (.integer(-9...9), [.integer(-9), .integer(-1), .integer(0), .integer(9)]),
        (.bit(8), [.integer(0), .integer(255)]), (.year, [.integer(0), .integer(1999), .integer(2000)]),
        (
            .decimal(precision: 9, scale: 2, isUnsigned: false),
            ["-100", "-99.99", "-9", "-0.1", "0", "0.05", "0.5", "9.99", "10", "10.01", "100"].map { decimal($0) }
        ), (.numeric(scale: nil), [decimal("-1"), decimal("0.5"), decimal("3")]),
        (.float(isUnsigned: false), [.float(-1.5), .float(0), .float(0.1)]),
        (.double(isUnsigned: false), [.double(-1e300), .double(-0.1), .double(0), .double(1e-300), .double(1e300)]),
        (.text(TextType()), texts("", "A", "Z", "a", "a ", "aa", "e\u{301}", "\u{E9}", "\u{FFFD}", "\u{1F600}")),
        (size, texts("", "small", "large", "huge")),
        (.date, sent(.date, "0000-00-00", "2020-00-00", "2020-01-31", "2020-02-01")),
        (moment, sent(moment, "2020-01-01T00:00:00", "2020-01-01T00:00:00.000001", "2020-01-02T00:00:00")),
        (.time(fraction: 0), sent(.time(fraction: 0), "-838:59:59", "-00:00:01", "00:00:00", "10:00:00")),
        (.bytes(maximum: nil), [.bytes([]), .bytes([0]), .bytes([0, 1]), .bytes([1]), .bytes([255])]),
        (.uuid, texts("00000000-0000-0000-0000-000000000001", "f0000000-0000-0000-0000-000000000000")),
        (.inet4, sent(.inet4, "1.2.3.4", "9.0.0.0", "10.0.0.0", "192.0.2.1")),
        (.inet6, sent(.inet6, "::", "::1", "2001:db8::1", "ff00::")),
    ]

    @Test("The order is total", arguments: ascending)
    func totalOrder(_ type: ColumnType, _ values: [Value]) {
        #expect(type.isOrdered)
        for (i, a) in values.enumerated() {
            for (j, b) in values.enumerated() { #expect(a.precedes(b, in: type) == (i < j), "\(a) and \(b)") }
        }
    }

    @Test("Other types have no order")
    func unordered() throws {
        let four = Value.address(try #require(NetworkAddress(version4: "1.2.3.4")))
        let six = Value.address(try #require(NetworkAddress(version6: "::1")))
        let none: [(ColumnType, Value, Value)] = [
            (.integer(0...9), .integer(1), .null), (.integer(0...9), .null, .null),
            (.integer(0...9), .integer(1), .text(ExactText("a"))), (.text(TextType()), .integer(1), .integer(2)),
            (.json(TextType()), .json(.integer(1)), .json(.integer(2))), (.set([]), .members([]), .members([])),
            (.wellKnownText, .text(ExactText("a")), .text(ExactText("b"))),
            (Self.size, .text(ExactText("small")), .text(ExactText("other"))),
            (.double(isUnsigned: false), .double(.nan), .double(1)), (.inet6, four, six),
        ]
        for (type, a, b) in none { #expect(a.precedes(b, in: type) == nil, "\(type.name)") }
    }

    @Test("Only numbers can be added")
    func numbers() {
        let numbers: [ColumnType] = [
            .integer(0...1), .year, .decimal(precision: 1, scale: 0, isUnsigned: false),
            .numeric(scale: nil), .float(isUnsigned: false), .double(isUnsigned: false),
        ]
        #expect(numbers.allSatisfy { $0.isNumber && $0.isOrdered })
        #expect(![ColumnType.bit(2), .boolean, .date, .text(TextType()), .json(TextType())].contains { $0.isNumber })
    }

    /// The sorted values have the order of their numbers, whatever their first order.
    @Test("The greatest and least values are those of the numbers", arguments: 0..<200)
    func extremes(seed: Int) throws {
        var random = SeededRandom(seed: seed)
        let type = ColumnType.decimal(precision: 20, scale: 6, isUnsigned: false)
        let units = (0..<30).map { _ in Int.random(in: -9_999...9_999, using: &random) }
        let values = units.map { Self.decimal("\($0)e-3") }
        let greatest = values.dropFirst().reduce(values[0]) { $0.precedes($1, in: type) == true ? $1 : $0 }
        let least = values.dropFirst().reduce(values[0]) { $1.precedes($0, in: type) == true ? $1 : $0 }
        #expect(greatest == Self.decimal("\(try #require(units.max()))e-3"), "seed \(seed)")
        #expect(least == Self.decimal("\(try #require(units.min()))e-3"), "seed \(seed)")
        for (x, a) in zip(units, values) {
            for (y, b) in zip(units, values) { #expect(a.precedes(b, in: type) == (x < y), "seed \(seed): \(a), \(b)") }
        }
    }
}
