import MergeCore
import Testing
import TestSupport

/// The laws of merging texts, over random texts that are hard on them.
@Suite struct TextMergeLawTests {
    private static let pieces = [
        "a", "b", "a", "b", " ", " ", "\n", "\n", "\r\n", "\r", "-", "_", "\u{E9}", "e\u{301}", "\u{301}", "🇩", "🇪",
        "👩", "\u{200D}", "👧", "한", "\u{1100}", "\u{1161}", "\u{94D}", "\u{915}",
    ]

    private static func text(_ random: inout SeededRandom) -> [String] {
        (0..<Int.random(in: 0...14, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
    }

    private static func changed(_ text: [String], _ random: inout SeededRandom) -> [String] {
        var out = text
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let place = Int.random(in: 0...out.count, using: &random)
            let end = min(out.count, place + Int.random(in: 0...2, using: &random))
            out.replaceSubrange(place..<end, with: self.text(&random).prefix(Int.random(in: 0...2, using: &random)))
        }
        return out
    }

    /// The words by `Character`, one after the other.
    private static func words(_ text: String) -> Set<ExactText> {
        var words: [[Character]] = []
        let kind = { (character: Character) in
            character.isLetter || character.isNumber ? 1 : character.isWhitespace ? 2 : 0
        }
        for character in text {
            if let last = words.last?.last, kind(last) == kind(character), kind(last) > 0,
                !["\n", "\r", "\r\n"].contains(last)
            {
                words[words.count - 1].append(character)
            } else {
                words.append([character])
            }
        }
        return Set(words.map { ExactText(String($0)) })
    }

    private static func merge(_ b: String, _ e: String, _ c: String, _ side: MergeSide) -> TextMergeResult {
        TextMerge.merge(base: b, edited: e, current: c, favouring: side)
    }

    @Test(arguments: 0..<200) func lawsHold(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<40 {
            let base = Self.text(&random)
            let (b, e, c) = (base.joined(), Self.changed(base, &random).joined(), Self.changed(base, &random).joined())
            let shown: Comment = "seed \(seed): \(b.debugDescription) \(e.debugDescription) \(c.debugDescription)"
            #expect(Self.merge(b, e, b, .server) == Self.merge(e, e, e, .server), shown)
            #expect(ExactText(Self.merge(b, e, b, .server).text) == ExactText(e), shown)
            #expect(ExactText(Self.merge(b, b, c, .client).text) == ExactText(c), shown)
            #expect(ExactText(Self.merge(b, c, c, .client).text) == ExactText(c), shown)
            let result = Self.merge(b, e, c, .client)
            let mirrored = Self.merge(b, c, e, .server)
            #expect(ExactText(result.text) == ExactText(mirrored.text), shown)
            #expect(result.parts.map(\.edited) == mirrored.parts.map(\.current), shown)
            if result.parts.isEmpty { #expect(result == Self.merge(b, e, c, .server), shown) }
            let known = Self.words(b).union(Self.words(e)).union(Self.words(c))
            #expect(Self.words(result.text).isSubset(of: known), shown)
            for part in result.parts {
                #expect(ExactText(part.written) == ExactText(part.edited), shown)
                #expect(ExactText(part.edited) != ExactText(part.current), shown)
            }
        }
    }

    @Test("An insertion of one side is in the result", arguments: 0..<200)
    func insertions(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            let base = Self.text(&random)
            let sides = ["C", "S"].map { tag in
                var text = Self.changed(base, &random)
                for number in 0..<3 {
                    text.insert("\(tag)\(number)", at: Int.random(in: 0...text.count, using: &random))
                }
                return text.joined()
            }
            let result = Self.merge(base.joined(), sides[0], sides[1], .server)
            let shown: Comment = "seed \(seed): \(base) \(sides) \(result)"
            for number in 0..<3 {
                #expect(result.text.utf8.contains("S\(number)".utf8), shown)
                #expect(
                    ([result.text] + result.parts.map(\.edited)).contains { $0.utf8.contains("C\(number)".utf8) }, shown
                )
            }
        }
    }

    /// Each line belongs to at most one side, and unlike lines leave only one way to align them: the oracle applies
    /// both sides' changes line by line.
    @Test("Changes of different lines are both in the result", arguments: 0..<200)
    func differentLines(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            var (base, edited, current, merged) = ("", "", "", "")
            for number in 0..<Int.random(in: 1...30, using: &random) {
                let line = "line \(number)\n"
                let changes = [line, "", "changed \(number)\n", "new \(number)\r\n" + line]
                let change = changes.randomElement(using: &random) ?? ""
                let isClient = Bool.random(using: &random)
                base += line
                edited += isClient ? change : line
                current += isClient ? line : change
                merged += change
            }
            let result = Self.merge(base, edited, current, .client)
            #expect(ExactText(result.text) == ExactText(merged), "seed \(seed): \(base) \(edited) \(current)")
            #expect(result.parts.isEmpty, "seed \(seed)")
        }
    }

    @Test("Changes of different words are both in the result", arguments: 0..<200)
    func differentWords(seed: Int) {
        var random = SeededRandom(seed: seed)
        for _ in 0..<20 {
            var sides: [[String]] = [[], [], [], []]
            for number in 0..<Int.random(in: 1...30, using: &random) {
                let change = Bool.random(using: &random) ? "changed\(number)" : "word\(number)"
                let isClient = Bool.random(using: &random)
                let words = ["word\(number)", isClient ? change : "word\(number)", isClient ? "word\(number)" : change]
                for (side, word) in (words + [change]).enumerated() { sides[side].append(word) }
            }
            let texts = sides.map { $0.joined(separator: " ") }
            let result = Self.merge(texts[0], texts[1], texts[2], .client)
            #expect(result.text == texts[3] && result.parts.isEmpty, "seed \(seed): \(texts)")
        }
    }
}
