import MergeCore
import Testing
import TestSupport

/// Columns accept computed values that fit their type.
@Suite struct ColumnHoldsTests {
    private static func decimal(_ text: String) -> Value { ExactDecimal(text).map { .decimal($0) } ?? .null }
    private static func members(_ texts: String...) -> Value { .members(texts.map { ExactText($0) }) }
    private static func date(_ year: Int, _ month: Int, _ day: Int) -> Value {
        CalendarDate(year: year, month: month, day: day).map { .date($0) } ?? .null
    }
    private static func start(_ year: Int) -> DateTime? {
        CalendarDate(year: year, month: min(year, 1), day: min(year, 1)).flatMap { DateTime(date: $0, microseconds: 0) }
    }
    private static func moment(_ year: Int, _ microseconds: Int64) -> Value {
        start(year).flatMap { DateTime(date: $0.date, microseconds: microseconds) }.map { .dateTime($0) } ?? .null
    }
    private static func span(_ microseconds: Int64) -> Value {
        TimeSpan(microseconds: microseconds).map { .time($0) } ?? .null
    }
    private static let letters = [ExactText("a"), ExactText("b"), ExactText("c")]
    private static let epoch = start(1970).flatMap { first in start(2038).map { first...$0 } }
    private static let money = ColumnType.decimal(precision: 4, scale: 2, isUnsigned: true)
    private static let tags = ColumnType.delimitedSet(separator: ",", TextType(maximumCharacters: 5))
    private static let colons = ColumnType.delimitedSet(separator: "::", TextType())

    static let cases: [(ColumnType, Value, Bool)] = [
        (.boolean, .boolean(true), true), (.boolean, .integer(1), false), (.integer(0...9), .integer(9), true),
        (.integer(0...9), .integer(10), false), (.bit(3), .integer(7), true), (.bit(3), .integer(8), false),
        (.bit(64), .integer(Int128(UInt64.max)), true), (.bit(64), .integer(-1), false), (.year, .integer(0), true),
        (.year, .integer(1900), false), (.year, .integer(2155), true), (money, decimal("99.99"), true),
        (money, decimal("100"), false), (money, decimal("0.001"), false), (money, decimal("-1"), false),
        (.numeric(scale: nil), decimal("0.1"), true),
        (.numeric(scale: nil), decimal("0.1234567890123456789"), false),
        (.numeric(scale: 1), decimal("0.12"), false), (.float(isUnsigned: true), .float(-1), false),
        (.double(isUnsigned: false), .double(.infinity), false), (.double(isUnsigned: false), .float(1), false),
        (.text(TextType(maximumCharacters: 3)), .text(ExactText("abc")), true),
        (.text(TextType(maximumCharacters: 3)), .text(ExactText("abcd")), false),
        (.text(TextType(isPadded: true)), .text(ExactText("a ")), false),
        (.text(TextType(repertoire: .basicPlane)), .text(ExactText("😀")), false),
        (.text(TextType(turnsNumbers: true)), .text(ExactText("12")), false),
        (.enumeration(letters), .text(ExactText("b")), true), (.enumeration(letters), .text(ExactText("")), false),
        (.set(letters), members("a", "c"), true), (.set(letters), members("c", "a"), false),
        (.set(letters), members("a", "a"), false), (.set(letters), members("x"), false),
        (.set(letters), members(), true),
        (tags, members("a", "b"), true), (tags, members("b", "a"), true), (tags, members("a", "a"), false),
        (tags, members("a,b"), false), (tags, members(""), false), (tags, members("abc", "de"), false),
        (colons, members("a", "b"), true), (colons, members("a:", "b"), false), (.date, date(2026, 2, 3), true),
        (.date, date(2026, 0, 0), false), (.date, date(0, 0, 0), true),
        (.dateTime(fraction: 1), moment(2026, 100_000), true),
        (.dateTime(fraction: 1), moment(2026, 10_000), false),
        (.timestamp(fraction: 6, epoch), moment(2026, 1), true),
        (.timestamp(fraction: 6, epoch), moment(1969, 1), false),
        (.timestamp(fraction: 6, epoch), moment(0, 0), true), (.time(fraction: 0), span(-1_000_000), true),
        (.time(fraction: 0), span(-1), false), (.binary(2), .bytes([1, 2]), true), (.binary(2), .bytes([1]), false),
        (.bytes(maximum: 2), .bytes([1, 2, 3]), false), (.bytes(maximum: nil), .bytes([1, 2, 3]), true),
        (.uuid, .text(ExactText("01234567-89ab-cdef-0123-456789abcdef")), true),
        (.uuid, .text(ExactText("01234567-89AB-cdef-0123-456789abcdef")), false),
        (.wellKnownText, .text(ExactText("POINT(1 1)")), false),
        (.json(TextType(maximumBytes: 2)), .json(.array([])), true),
        (.json(TextType(maximumBytes: 2)), .json(.array([.null])), false),
        (.json(TextType()), .text(ExactText("")), false),
    ]

    @Test(arguments: cases) func holds(_ type: ColumnType, _ value: Value, _ isHeld: Bool) {
        #expect(type.holds(value) == isHeld)
    }

    @Test("Addresses keep their kind")
    func addresses() throws {
        let four = Value.address(try #require(NetworkAddress(version4: "192.0.2.1")))
        let six = Value.address(try #require(NetworkAddress(version6: "::1")))
        #expect(ColumnType.inet4.holds(four) && ColumnType.inet6.holds(six))
        #expect(!ColumnType.inet4.holds(six) && !ColumnType.inet6.holds(four))
    }

    @Test("Sets have the order of the column")
    func sets() {
        let mixed = [ExactText("c"), ExactText("x"), ExactText("a"), ExactText("c")]
        #expect(ColumnType.set(Self.letters).arranged(mixed) == [ExactText("a"), ExactText("c")])
        #expect(Self.tags.arranged(mixed) == [ExactText("c"), ExactText("x"), ExactText("a")])
    }

    /// The oracle is the check for values of clients.
    @Test("A decimal that the column accepts from a client fits", arguments: 0..<200)
    func decimals(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let scale = Int.random(in: 0...4, using: &random)
            let type = ColumnType.decimal(
                precision: scale + Int.random(in: 0...4, using: &random), scale: scale,
                isUnsigned: Bool.random(using: &random))
            let units = Int.random(in: -99_999...99_999, using: &random)
            guard let number = ExactDecimal("\(units)e-\(Int.random(in: 0...6, using: &random))") else { continue }
            let taken = try? type.accept(.number(number))
            #expect(type.holds(.decimal(number)) == (taken != nil), "seed \(seed): \(type) \(number)")
        }
    }
}
