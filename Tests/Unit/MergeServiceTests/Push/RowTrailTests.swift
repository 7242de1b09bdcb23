import MergeCore
import Testing

@testable import MergeService

/// Events of a deleted row in the journal, from the newest entry back to its deletion.
@Suite struct RowTrailTests {
    private static func value(_ number: Int) -> [Int: Value] { [0: .integer(Int128(number))] }

    @Test("The newest value of a field counts")
    func newestValue() {
        var trail = RowTrail()
        trail.add([.fields(Self.value(1)), .fields(Self.value(2))], of: 9)
        trail.add([.fields([0: .integer(3), 1: .integer(4)])], of: 8)
        #expect(trail.fields[0]?.value == .integer(2))
        #expect(trail.fields[1]?.value == .integer(4))
        #expect(trail.fields[1]?.entry == 8)
        #expect(!trail.isWhole)
    }

    @Test("Nothing before a deletion counts")
    func deletion() {
        var trail = RowTrail()
        let row = RawRow(values: [])
        trail.add([.fields(Self.value(1)), .whole(Self.value(2), row), .fields([1: .integer(5)])], of: 9)
        #expect(trail.isWhole)
        #expect(trail.deletion?.entry == 9)
        #expect(trail.fields[0]?.value == .integer(2))
        #expect(trail.fields[1]?.value == .integer(5))
    }

    @Test("An entry that the client may not read ends the search")
    func foreignEntry() {
        var trail = RowTrail()
        trail.foreign = 7
        #expect(trail.isWhole)
    }
}
