import MergeCore
import Testing
import TestSupport

/// Section 2 of Protocol.md: which values each type accepts and refuses.
@Suite struct ValueTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let type: ColumnType
        let sent: Scalar
        /// nil if the value is refused.
        let value: Value?

        var testDescription: String { "\(type.name) \(sent)" }
    }

    private static func number(_ text: String) -> Scalar { ExactDecimal(text).map { .number($0) } ?? .null }
    private static func vast(_ text: String) -> Scalar { JSONNumber.scalar(text.utf8) ?? .null }
    private static func decimal(_ text: String) -> Value { ExactDecimal(text).map { .decimal($0) } ?? .null }
    private static let tiny = ColumnType.integer(-128...127)
    private static let big = ColumnType.integer(0...Int128(UInt64.max))
    private static let money = ColumnType.decimal(precision: 6, scale: 2, isUnsigned: false)
    private static let short = ColumnType.text(TextType(maximumCharacters: 3))
    private static let latin = ColumnType.text(TextType(repertoire: .singleByte(Set(32...255))))
    private static let char = ColumnType.text(TextType(maximumCharacters: 3, isPadded: true))
    private static let guarded = ColumnType.text(TextType(turnsNumbers: true))
    private static let affine = ColumnType.json(TextType(turnsNumbers: true))
    private static let fixed = ColumnType.double(isUnsigned: false, FixedDigits(precision: 10, scale: 2))
    private static let fixedFloat = ColumnType.float(isUnsigned: true, FixedDigits(precision: 7, scale: 2))
    private static let seams = ColumnType.delimitedSet(separator: "||", TextType())
    private static let letters = ColumnType.enumeration([ExactText("a"), ExactText("B")])

    static let integers: [Case] = [
        Case(type: tiny, sent: .integer(127), value: .integer(127)),
        Case(type: tiny, sent: .integer(128), value: nil),
        Case(type: tiny, sent: .text("-128"), value: .integer(-128)),
        Case(type: tiny, sent: .text("1.0"), value: .integer(1)),
        Case(type: tiny, sent: .text("-0"), value: .integer(0)),
        Case(type: tiny, sent: .text("1.5"), value: nil),
        Case(type: tiny, sent: .text("1."), value: nil),
        Case(type: tiny, sent: .text("1e1"), value: nil),
        Case(type: tiny, sent: .text("007"), value: nil),
        Case(type: tiny, sent: .text("-"), value: nil),
        Case(type: tiny, sent: .text(""), value: nil),
        Case(type: tiny, sent: .text(" 1"), value: nil),
        Case(type: tiny, sent: number("12.0"), value: .integer(12)),
        Case(type: tiny, sent: number("12.5"), value: nil),
        Case(type: tiny, sent: .boolean(true), value: nil),
        Case(type: big, sent: number("18446744073709551615"), value: .integer(18_446_744_073_709_551_615)),
        Case(type: big, sent: .text("18446744073709551616"), value: nil),
        Case(type: big, sent: .integer(-1), value: nil),
        Case(type: .bit(3), sent: .integer(7), value: .integer(7)),
        Case(type: .bit(3), sent: .integer(8), value: nil),
        Case(type: .year, sent: .integer(1_900), value: nil),
        Case(type: .year, sent: .integer(0), value: .integer(0)),
        Case(type: .boolean, sent: .integer(1), value: .boolean(true)),
        Case(type: .boolean, sent: .integer(2), value: nil),
    ]

    static let numbers: [Case] = [
        Case(type: money, sent: .text("12.50"), value: decimal("12.5")),
        Case(type: money, sent: number("12.5"), value: decimal("12.50")),
        Case(type: money, sent: .text("9999.99"), value: decimal("9999.99")),
        Case(type: money, sent: .text("10000"), value: nil),
        Case(type: money, sent: .text("0.005"), value: nil),
        Case(type: money, sent: .text("abc"), value: nil),
        Case(type: money, sent: .text("1e2"), value: decimal("100")),
        Case(type: money, sent: .text("1.5E+1"), value: decimal("15")),
        Case(type: money, sent: .text("007"), value: nil),
        Case(type: money, sent: .text("+7"), value: nil),
        Case(type: money, sent: .text(".5"), value: nil),
        Case(type: money, sent: .text("5."), value: nil),
        Case(type: money, sent: .text("1e"), value: nil),
        Case(type: money, sent: .text("1 "), value: nil),
        Case(type: .float(isUnsigned: false), sent: number("0.1"), value: .float(0.1)),
        Case(type: .float(isUnsigned: false), sent: .integer(16_777_217), value: nil),
        Case(type: .double(isUnsigned: false), sent: .integer(9_007_199_254_740_993), value: nil),
        Case(type: .double(isUnsigned: false), sent: number("1e400"), value: nil),
        Case(type: .double(isUnsigned: false), sent: .text("0.1"), value: .double(0.1)),
        Case(type: .double(isUnsigned: false), sent: number("1e-400"), value: nil),
        Case(type: .double(isUnsigned: false), sent: vast("1e-9999"), value: nil),
        Case(type: .double(isUnsigned: false), sent: .text("1e-9999"), value: nil),
        Case(type: tiny, sent: vast("1e-9999"), value: nil),
        Case(type: money, sent: vast("1e-9999"), value: nil),
        Case(type: fixed, sent: number("99999999.99"), value: .double(99_999_999.99)),
        Case(type: fixed, sent: number("1.89"), value: .double(1.89)),
        Case(type: fixed, sent: number("1.005"), value: nil),
        Case(type: fixed, sent: .integer(100_000_000), value: nil),
        Case(type: fixed, sent: number("1e-300"), value: nil),
        Case(type: fixedFloat, sent: number("12.34"), value: .float(12.34)),
        Case(type: fixedFloat, sent: number("1e-38"), value: nil),
        Case(type: fixedFloat, sent: number("-1.5"), value: nil),
        Case(type: affine, sent: vast("-1e-9999"), value: .json(.integer(0))),
        Case(type: affine, sent: vast("1e9999"), value: nil),
        Case(type: affine, sent: number("1.000000000000000005"), value: .json(.integer(1))),
        Case(type: affine, sent: .array([number("1e-999")]), value: .json(.array([.integer(0)]))),
        Case(type: affine, sent: number("1e999"), value: nil),
    ]

    static let texts: [Case] = [
        Case(type: short, sent: .text("äöü"), value: .text(ExactText("äöü"))),
        Case(type: short, sent: .text("abcd"), value: nil),
        Case(type: short, sent: .integer(1), value: nil),
        Case(type: latin, sent: .text("é"), value: .text(ExactText("é"))),
        Case(type: latin, sent: .text("€"), value: nil),
        Case(type: char, sent: .text("a  "), value: .text(ExactText("a"))),
        Case(type: letters, sent: .text("B"), value: .text(ExactText("B"))),
        Case(type: letters, sent: .text("b"), value: nil),
        Case(
            type: seams, sent: .array([.text("a|b"), .text("c")]), value: .members([ExactText("a|b"), ExactText("c")])),
        Case(type: seams, sent: .array([.text("a|"), .text("c")]), value: nil),
        // Clients separate members of a text by commas, whatever the column's separator.
        Case(type: seams, sent: .text("a,c"), value: .members([ExactText("a"), ExactText("c")])),
        Case(type: seams, sent: .text("a||c"), value: .members([ExactText("a"), ExactText("c")])),
        Case(type: seams, sent: .text("a||b,c"), value: nil),
        Case(
            type: .delimitedSet(separator: ", ", TextType()), sent: .text("a, c"),
            value: .members([ExactText("a"), ExactText("c")])),
        Case(
            type: .set([ExactText("x"), ExactText("y")]), sent: .array([.text("y"), .text("x"), .text("y")]),
            value: .members([ExactText("x"), ExactText("y")])),
        Case(type: .bytes(maximum: 2), sent: .text("AQI="), value: .bytes([1, 2])),
        Case(type: .bytes(maximum: 2), sent: .text("AQID"), value: nil),
        Case(type: .bytes(maximum: nil), sent: .text("AQI"), value: nil),
        Case(type: .binary(3), sent: .text("AQ=="), value: .bytes([1, 0, 0])),
    ]

    static let times: [(ColumnType, String, String?)] = [
        (.date, "2026-02-28", "2026-02-28"), (.date, "2026-02-29", nil), (.date, "2024-02-29", "2024-02-29"),
        (.date, "0000-00-00", "0000-00-00"), (.date, "2026-2-8", nil), (.date, "2026-11-20T00:00:00", nil),
        (.dateTime(fraction: 0), "2026-11-20 10:00:00", "2026-11-20T10:00:00"),
        (.dateTime(fraction: 0), "2026-11-20T10:00:00.5", nil),
        (.dateTime(fraction: 2), "2026-11-20T10:00:00.5", "2026-11-20T10:00:00.50"),
        (.dateTime(fraction: 0), "2026-11-20T10:00:00Z", nil), (.dateTime(fraction: 0), "2026-11-20T24:00:00", nil),
        (.timestamp(fraction: 0, nil), "2026-11-20T00:30:00+01:00", "2026-11-19T23:30:00"),
        (.timestamp(fraction: 0, nil), "2026-11-20T10:00:00", nil),
        (.timestamp(fraction: 0, nil), "2024-03-01T00:30:00+01:00", "2024-02-29T23:30:00"),
        (.time(fraction: 0), "-838:59:59", "-838:59:59"), (.time(fraction: 0), "839:00:00", nil),
        (.time(fraction: 1), "10:00:00.5", "10:00:00.5"), (.time(fraction: 0), "10:00", nil),
    ]

    @Test(arguments: integers + numbers + texts) func accepts(_ test: Case) {
        #expect((try? test.type.accept(test.sent)) == test.value)
    }

    @Test(arguments: times) func acceptsTimes(_ type: ColumnType, _ sent: String, _ expected: String?) {
        let value = try? type.accept(.text(sent))
        let text: String? =
            switch value {
            case .date(let date): date.text
            case .dateTime(let moment): moment.text(separator: "T", fraction: type == .dateTime(fraction: 2) ? 2 : 0)
            case .time(let span): span.text(fraction: type == .time(fraction: 1) ? 1 : 0)
            default: nil
            }
        #expect(text == expected)
    }

    @Test("Text is compared by code points")
    func codePoints() {
        #expect(ExactText("\u{E9}") != ExactText("e\u{301}"))
        #expect(ExactText("joe") != ExactText("Joe"))
        #expect(ExactText("a") != ExactText("a "))
        #expect(Set([ExactText("\u{E9}"), ExactText("e\u{301}")]).count == 2)
    }

    /// Texts that SQLite would store as numbers, and texts that only resemble numbers.
    @Test("Texts that are numbers for SQLite are refused")
    func numericTexts() {
        for number in ["5", " 5 ", "+5", "-.5", "5.", "1e5", "1E-999", "\u{B}5\r\n", "007", "1.5e+10\t"] {
            #expect((try? Self.guarded.accept(.text(number))) == nil, "\(number)")
        }
        for text in ["", " ", ".", "-", "1e", "0x1F", "nan", "inf", "5\u{0}", "1 2", "５", "1_0", "--5", "5\u{A0}"] {
            #expect((try? Self.guarded.accept(.text(text))) == .text(ExactText(text)), "\(text)")
        }
        #expect((try? Self.affine.accept(.integer(5))) == .json(.integer(5)))
        #expect(Self.affine.forbidsWriting(.json(.integer(1 << 63))) != nil)
        #expect(Self.affine.forbidsWriting(.json(.array([.integer(1 << 63)]))) == nil)
    }

    /// A number is the same whether it comes from a client or from the text that was written of it.
    @Test("A JSON number is read as it was written", arguments: 0..<100)
    func jsonNumbers(seed: Int) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            func digits(_ most: Int) -> String {
                (0..<Int.random(in: 1...most, using: &random)).map { _ in String(Int.random(in: 0...9, using: &random))
                }
                .joined()
            }
            let text =
                ["", "-"][Int.random(in: 0...1, using: &random)] + String(Int.random(in: 1...9, using: &random))
                + digits(24)
                + ["", "." + digits(30)][Int.random(in: 0...1, using: &random)]
                + ["", "", "e-\(digits(2))", "E+\(digits(2))", "e-\(digits(5))"][Int.random(in: 0...4, using: &random)]
            guard let number = JSONNumber.scalar(text.utf8),
                case .json(let tree)? = try? ColumnType.json(TextType()).accept(number)
            else {
                #expect(Double(text)?.isFinite == false, "seed \(seed): \(text)")
                continue
            }
            #expect(JSONParser.parse(tree.text) == tree, "seed \(seed): \(text)")
            #expect(JSONParser.parse(text) == tree, "seed \(seed): \(text)")
            #expect(Double(tree.text) == Double(text), "seed \(seed): \(text)")
        }
    }

    @Test("Invalid JSON numbers are refused")
    func invalidNumbers() {
        for text in ["", "-", "01", "+1", ".5", "5.", "1e", "1e+", "--1", "1.e5", "0x1", "1e5.0", "NaN"] {
            #expect(JSONNumber.scalar(text.utf8) == nil, "\(text)")
            #expect(JSONParser.parse(text) == nil, "\(text)")
        }
        #expect(JSONNumber.scalar("10e-10000".utf8) == JSONNumber.scalar("1E-9999".utf8))
        #expect(JSONNumber.scalar("-1e9999".utf8) != JSONNumber.scalar("1e9999".utf8))
        #expect(JSONNumber.scalar("0e-99999".utf8) == JSONNumber.scalar("0".utf8))
    }

    @Test("A text of members has each once")
    func members() {
        #expect(Scalar.heldMembers("b,,a,b,", separator: ",") == [ExactText("b"), ExactText("a")])
        #expect(Scalar.heldMembers("", separator: ",").isEmpty)
    }

    @Test("Legacy values are never written")
    func legacyValues() throws {
        #expect(Self.letters.forbidsWriting(try Self.letters.accept(.text(""))) != nil)
        #expect(ColumnType.date.forbidsWriting(try ColumnType.date.accept(.text("2020-00-00"))) != nil)
        #expect(ColumnType.date.forbidsWriting(try ColumnType.date.accept(.text("0000-00-00"))) == nil)
        #expect(ColumnType.date.forbidsWriting(try ColumnType.date.accept(.text("2020-01-01"))) == nil)
    }

    @Test("Decimals keep their value", arguments: 0..<200)
    func decimals(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<50 {
            let units = Int.random(in: -99_999_999...99_999_999, using: &random)
            let scale = Int.random(in: 0...10, using: &random)
            // Leading and trailing zeros, and an exponent that moves the point back, keep the value.
            var digits = String(abs(units))
            while digits.utf8.count <= scale { digits = "0" + digits }
            let point = digits.index(digits.endIndex, offsetBy: -scale)
            let plain = (units < 0 ? "-" : "") + digits[..<point] + (scale > 0 ? "." + digits[point...] : "")
            let padded = (units < 0 ? "-00" : "00") + digits[..<point] + "." + digits[point...] + "000"
            let shifted = "\(units)e-\(scale)"
            let value = ExactDecimal(plain)
            #expect(value != nil, "seed \(seed): \(plain)")
            #expect(value == ExactDecimal(padded), "seed \(seed): \(padded)")
            #expect(value == ExactDecimal(shifted), "seed \(seed): \(shifted)")
            #expect(value.flatMap { Double($0.text) } == Double(plain), "seed \(seed): \(plain)")
        }
    }

    @Test("Days can be converted to numbers and back", arguments: 0..<100)
    func days(seed: Int) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<100 {
            let number = Int.random(in: -719_000...2_900_000, using: &random)
            let date = try #require(CalendarDate(dayNumber: number))
            #expect(date.dayNumber == number)
            // The oracle counts on: the day after has the next number and is the next in the calendar.
            let next = try #require(CalendarDate(dayNumber: number + 1))
            let isNextDay =
                (next.year, next.month, next.day) == (date.year, date.month, date.day + 1)
                || (next.day == 1 && Int(date.day) == CalendarDate.days(inMonth: Int(date.month), year: Int(date.year)))
            #expect(isNextDay, "seed \(seed)")
        }
        #expect(CalendarDate(year: 1970, month: 1, day: 1)?.dayNumber == 0)
    }

    @Test("Base64 can be read as it was written", arguments: 0..<100)
    func base64(seed: Int) {
        var random = SeededRandom(seed: seed)
        let bytes = (0..<Int.random(in: 0...50, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(Base64.decode(String(decoding: Base64.encode(bytes), as: UTF8.self)) == bytes)
    }

    @Test("Invalid base64 is refused")
    func strictBase64() {
        #expect(Base64.decode("AQI=") == [1, 2])
        for wrong in ["AQI", "AQJ=", "A===", "AQ=I", "AQ I", "AQI=\n"] { #expect(Base64.decode(wrong) == nil) }
    }

    @Test func namesAreSuggested() {
        #expect(NearestName.suggestion(for: "adress", among: ["address", "name"]) == "address")
        #expect(NearestName.suggestion(for: "desc", among: ["resource", "description"]) == "description")
        #expect(NearestName.suggestion(for: "zzz", among: ["address", "name"]) == nil)
        #expect(NearestName.suggestion(for: "phone", among: ["address", "telephone"]) == "telephone")
        #expect(NearestName.suggestion(for: "one", among: ["address", "telephone"]) == nil)
    }
}
