import Testing
import TestSupport

@testable import MariaDBStore

/// The values of a statement that are sent in separate packets.
@Suite struct PacketSizeTests {
    @Test("A statement that fits into a packet is sent as one", arguments: [[], [1], [8, 8, 8], [100, 200]])
    func short(_ lengths: [Int]) {
        #expect(PacketSize(bytes: 4_096).separateValues(of: lengths) == [])
    }

    @Test("The longest values are sent separately, until the rest fits")
    func long() {
        let packet = PacketSize(bytes: 4_096)
        #expect(packet.separateValues(of: [3_000, 8, 2_000]) == [0])
        #expect(packet.separateValues(of: [3_500, 3_400, 3_580]) == [0, 2])
        #expect(packet.separateValues(of: [10, 20, 3_000, 900]) == [2])
    }

    @Test("Whatever the values are, the rest fits, and no value is sent separately without need")
    func anyValues() {
        var random = SeededRandom(seed: 4)
        for _ in 0..<2_000 {
            let packet = PacketSize(bytes: Int.random(in: 2_048...65_536, using: &random))
            let lengths = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                Int.random(in: 9...Int.random(in: 9...packet.longestValue, using: &random), using: &random)
            }
            let separate = packet.separateValues(of: lengths)
            let rest =
                lengths.count * 16 + lengths.indices.filter { !separate.contains($0) }.reduce(0) { $0 + lengths[$1] }
            #expect(rest <= packet.longestValue)
            let whole = lengths.count * 16 + lengths.reduce(0, +)
            #expect(separate.isEmpty == (whole <= packet.longestValue))
            if let least = separate.map({ lengths[$0] }).min() { #expect(rest + least > packet.longestValue) }
        }
    }
}
