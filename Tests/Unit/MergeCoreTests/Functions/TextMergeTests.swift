import MergeCore
import Testing
import TestSupport

/// Texts that both sides change: cases.
@Suite struct TextMergeTests {
    struct Case: Sendable {
        let base: String
        let edited: String
        let current: String
        let merged: String
        /// The lines and the words of the client that conflict.
        var parts: [(Int, String)] = []
    }

    /// In each conflict the client is favoured.
    static let cases: [Case] = [
        Case(base: "a\nb\nc\n", edited: "a1\nb\nc\n", current: "a\nb\nc3\n", merged: "a1\nb\nc3\n"),
        Case(base: "a\nb\nc\n", edited: "a1\nb\nc\n", current: "a\nb2\nc\n", merged: "a1\nb2\nc\n"),
        Case(base: "a\nb\n", edited: "x\na\nb\n", current: "a\nb\ny\n", merged: "x\na\nb\ny\n"),
        Case(base: "a\n", edited: "a\nx\n", current: "a\ny\n", merged: "a\nx\n", parts: [(2, "x\n")]),
        Case(base: "a\n", edited: "a\nx\n", current: "a\nx\n", merged: "a\nx\n"),
        Case(base: "a\nb\nc\n", edited: "a\nc\n", current: "a\nb\nc\nd\n", merged: "a\nc\nd\n"),
        Case(base: "a\r\nb\r\nc", edited: "a\r\nB\r\nc", current: "a\r\nb\r\nc\r\nd", merged: "a\r\nB\r\nc\r\nd"),
        Case(base: "a\nb\nc\n", edited: "a\r\nb\r\nc\r\n", current: "a\nb\nc\nd\n", merged: "a\r\nb\r\nc\r\nd\n"),
        Case(base: "a\rb\rc", edited: "A\rb\rc", current: "a\rb\rC", merged: "A\rb\rC"),
        Case(
            base: "the quick brown fox", edited: "the fast brown fox", current: "the quick brown dog",
            merged: "the fast brown dog"),
        Case(base: "one two three", edited: "one TWO three", current: "ONE two three", merged: "ONE TWO three"),
        Case(
            base: "one\ntwo words\n", edited: "one\n2 words\n", current: "zero\n1\nII words\n",
            merged: "zero\n2 words\n", parts: [(2, "2")]),
        Case(base: "", edited: "x", current: "y", merged: "x", parts: [(1, "x")]),
        Case(base: "a b c d", edited: "a c d", current: "a b d", merged: "a d"),
        Case(base: "caf\u{E9} x", edited: "cafe\u{301} x", current: "caf\u{E9} y", merged: "cafe\u{301} y"),
        Case(base: "a\n", edited: "b", current: "a\nz\n", merged: "b", parts: [(1, "b")]),
        Case(base: "x-_y", edited: "x_y", current: "x-y", merged: "x_y", parts: [(1, "_")]),
        Case(base: "👩 b", edited: "👩‍👧 b", current: "👩 c", merged: "👩‍👧 c"),
        Case(
            base: "Ring twice\nDog in yard", edited: "Ring twice", current: "Gate code 12\nRing twice",
            merged: "Gate code 12\nRing twice"),
        Case(base: "one two", edited: "one", current: "zero one", merged: "zero one"),
        Case(base: "milk, tea", edited: "milk", current: "bread, milk", merged: "bread, milk"),
        Case(
            base: "one\ntwo\nthree four", edited: "one\nTWO\nthree", current: "one two three",
            merged: "one TWO three"),
        Case(base: "🇩🇪🇫🇷", edited: "🇩🇪🇫🇷🇮🇹", current: "🇪🇸🇫🇷", merged: "🇪🇸🇫🇷🇮🇹"),
    ]

    @Test(arguments: 0..<cases.count) func merges(index: Int) {
        let test = Self.cases[index]
        let result = TextMerge.merge(
            base: test.base, edited: test.edited, current: test.current, favouring: .client)
        #expect(
            ExactText(result.text) == ExactText(test.merged), "\(Array(result.text.unicodeScalars)) \(result.parts)")
        #expect(result.parts.map(\.line) == test.parts.map(\.0), "\(result.parts)")
        #expect(result.parts.map(\.edited) == test.parts.map(\.1), "\(result.parts)")
        #expect(result.parts.allSatisfy { $0.written == $0.edited })
    }

    @Test("Parts contain both sides")
    func parts() {
        let result = TextMerge.merge(
            base: "a\nred car\n", edited: "a\nblue car\n", current: "a\ngreen car\n", favouring: .server)
        #expect(result.text == "a\ngreen car\n")
        let part = result.parts.first
        #expect(result.parts.count == 1 && part?.line == 2)
        #expect([part?.base, part?.edited, part?.current, part?.written] == ["red", "blue", "green", "green"])
    }
}
