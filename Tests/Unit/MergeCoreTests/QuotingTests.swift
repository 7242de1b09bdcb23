import MergeCore
import TestSupport
import Testing

/// Quoted texts are compared with a slow function that reads byte by byte.
@Suite struct QuotingTests {
    /// RFC 8785 section 3.2.2.2, byte by byte.
    private static func quoted(_ text: String) -> [UInt8] {
        var bytes = Array("\"".utf8)
        for byte in text.utf8 {
            switch byte {
            case 0x22, 0x5C: bytes += [0x5C, byte]
            case 0x08: bytes += Array("\\b".utf8)
            case 0x09: bytes += Array("\\t".utf8)
            case 0x0A: bytes += Array("\\n".utf8)
            case 0x0C: bytes += Array("\\f".utf8)
            case 0x0D: bytes += Array("\\r".utf8)
            case 0..<0x20: bytes += Array(("\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)).utf8)
            default: bytes.append(byte)
            }
        }
        return bytes + Array("\"".utf8)
    }

    private static func shown(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONQuoting.append(text, to: &bytes)
        return bytes
    }

    /// Every character of one byte, at every place of a text that is read eight bytes at a time.
    @Test("Each character is escaped at each position")
    func positions() {
        for byte in UInt8(0)..<0x80 {
            for place in 0..<20 {
                for filler in ["a", "\u{7F}", "!", "#", "[", "]"] {
                    var text = Array(repeating: filler, count: 20)
                    text[place] = String(UnicodeScalar(byte))
                    let whole = text.joined()
                    #expect(Self.shown(whole) == Self.quoted(whole))
                }
            }
        }
    }

    @Test("Random texts are quoted like byte by byte")
    func randomTexts() {
        var random = SeededRandom(seed: 17)
        let pieces = [
            "a", "\"", "\\", "\n", "\u{1}", "\u{1F}", " ", "!", "é", "€", "\u{1F600}", "\u{80}", "\u{7F}", "xyz",
        ]
        for _ in 0..<5_000 {
            let count = Int.random(in: 0..<40, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            #expect(Self.shown(text) == Self.quoted(text))
        }
    }
}
