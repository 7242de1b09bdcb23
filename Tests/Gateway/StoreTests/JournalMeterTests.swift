import MergeCore
import Testing

@testable import RecordStore

/// Pushes leave rows in the journal: packed if they are long, and counted for their sender.
@Suite struct JournalMeterTests {
    private static func draft(_ who: String, _ body: [UInt8]) -> JournalDraft {
        JournalDraft(
            sender: Sender(who: who, device: nil), key: "k", name: [1],
            answer: KeptAnswer(request: [2], status: .merged, body: body),
            refused: RefusedBody(address: "/v1/push", body: body, reason: "check"),
            entries: [
                JournalEntry(
                    resource: "r", record: "1", status: "merged", outcomes: ",applied,", rules: "v", body: body,
                    changed: [])
            ])
    }

    @Test("Packed bodies can be unpacked", arguments: [0, 1, 2_047, 2_048, 100_000, 3_000_000])
    func packed(_ count: Int) {
        let body = (0..<count).map { UInt8(truncatingIfNeeded: 32 + $0 % 60) }
        let packed = PackedBytes.pack(body)
        #expect(PackedBytes.unpack(packed) == body)
        #expect(count < 2_048 ? packed == body : packed.count < body.count / 4)
    }

    /// Bodies that cannot be packed are stored unchanged, and damaged bodies are an error.
    @Test("Random bodies are not packed")
    func noise() {
        var random = SystemRandomNumberGenerator()
        let noise = (0..<10_000).map { _ in UInt8.random(in: 0...255, using: &random) }
        #expect(PackedBytes.unpack(PackedBytes.pack(noise)) == noise)
        let broken = Array(PackedBytes.pack([UInt8](repeating: 65, count: 10_000)).dropLast(3))
        #expect(PackedBytes.unpack(broken) == broken)
    }

    @Test("Each long part is packed")
    func longParts() {
        let long = [UInt8](repeating: 65, count: 1_000_000)
        #expect(Self.draft("a", long).packed.byteCount < 20_000)
        let short = Self.draft("a", [UInt8](repeating: 65, count: 100))
        #expect(short.packed == short)
    }

    @Test("Each sender has a share for each day")
    func shares() {
        let meter = JournalMeter()
        let start = ContinuousClock.now
        meter.add(600, for: "a", at: start)
        #expect(meter.wait(of: "a", past: 1_000, at: start) == nil)
        meter.add(400, for: "a", at: start.advanced(by: .seconds(3_600)))
        #expect(meter.wait(of: "a", past: 1_000, at: start.advanced(by: .seconds(3_600))) == .seconds(82_800))
        #expect(meter.wait(of: "b", past: 1_000, at: start) == nil)
        let later = start.advanced(by: .seconds(86_400))
        #expect(meter.wait(of: "a", past: 1_000, at: later) == nil)
        meter.add(10, for: "a", at: later)
        #expect(meter.wait(of: "a", past: 1_000, at: later) == nil && meter.total == 1_010)
    }
}
