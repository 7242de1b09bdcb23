import MergeCore
import Testing
import TestSupport

/// The fast paths of usual cases return the result of the general path.
@Suite struct FastPathTests {
    /// A number with an exponent is read the long way.
    @Test("Both ways to read decimals return the same value", arguments: 0..<20)
    func decimals(seed: Int) throws {
        var random = SeededRandom(seed: seed)
        for _ in 0..<500 {
            func digits(_ most: Int) -> String {
                String(
                    (0..<Int.random(in: 0...most, using: &random)).map { _ in
                        "0012345".randomElement(using: &random) ?? "0"
                    })
            }
            let sign = ["", "", "-"].randomElement(using: &random) ?? ""
            let point = ["", ".", "."].randomElement(using: &random) ?? ""
            let text = sign + digits(6) + point + (point.isEmpty ? "" : digits(5))
            #expect(ExactDecimal(text)?.text == ExactDecimal(text + "e0")?.text, "seed \(seed): \(text)")
        }
        #expect(ExactDecimal("-0.00")?.text == "0")
        #expect(ExactDecimal("12.50")?.text == "12.5")
    }

    @Test("Keys are ordered, and each is contained once", arguments: 0..<20)
    func keys(seed: Int) {
        var random = SeededRandom(seed: seed)
        let isNumber = seed % 2 == 0
        let keys = (0..<200).map { _ in
            let number = Int128(Int.random(in: -40...40, using: &random))
            return RecordKey(isNumber ? [.integer(number)] : [.text(ExactText("k\(number)")), .integer(number % 3)])
        }
        let ordered = RecordKey.ordered(keys)
        #expect(Set(ordered) == Set(keys) && ordered.count == Set(keys).count, "seed \(seed)")
        for (a, b) in zip(ordered, ordered.dropFirst()) { #expect(a.precedes(b) && !b.precedes(a), "seed \(seed)") }
        // The same keys in another order have the same order of locks.
        #expect(RecordKey.ordered(keys.shuffled(using: &random)) == ordered, "seed \(seed)")
    }

    @Test("Texts are compared by bytes", arguments: 0..<10)
    func texts(seed: Int) {
        var random = SeededRandom(seed: seed)
        // The last is two ways to spell one letter.
        let letters = ["a", "b", "ß", "日", "\u{e9}", "e\u{301}"]
        let texts = (0..<60).map { _ in
            (0..<Int.random(in: 0...9, using: &random)).map { _ in letters.randomElement(using: &random) ?? "" }
                .joined()
        }
        for a in texts {
            for b in texts {
                #expect((ExactText(a) == ExactText(b)) == (Array(a.utf8) == Array(b.utf8)), "seed \(seed): \(a), \(b)")
            }
        }
        #expect(Set(texts.map { ExactText($0) }).count == Set(texts.map { Array($0.utf8) }).count, "seed \(seed)")
    }

    @Test("Equal keys have equal hashes")
    func hashes() {
        let one = RecordKey([.integer(5)])
        #expect(one == RecordKey([.integer(5)]) && one.hashValue == RecordKey([.integer(5)]).hashValue)
        #expect(one != RecordKey([.integer(5), .integer(5)]) && one != RecordKey([.text(ExactText("5"))]))
        #expect(RecordKey([.integer(1 << 64)]) != RecordKey([.integer(0)]))
    }
}
