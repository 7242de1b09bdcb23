import MergeService
import Testing

/// Long records are read few at a time.
@Suite struct PieceSizeTests {
    private static func pieces(_ bytes: [Int], mayBeLong: Bool = true) -> [Int] {
        var size = PieceSize(mayBeLong: mayBeLong)
        return bytes.map { each in
            let count = size.records
            size.note(records: count, bytes: count * each)
            return count
        }
    }

    @Test("Many short records are read at once")
    func shortRecords() {
        #expect(Self.pieces([200, 200, 200], mayBeLong: false) == [128, 128, 128])
        #expect(Self.pieces([200, 200, 200, 200, 200, 200]) == [1, 2, 4, 8, 16, 32])
    }

    @Test("Few long records are read at once")
    func longRecords() {
        #expect(Self.pieces([100_000, 100_000, 100_000, 8_000_000, 8_000_000]) == [1, 2, 4, 8, 1])
    }

    /// Short records before long records do not make the next piece unlimited.
    @Test("The number of records in a piece doubles at most")
    func growth() {
        #expect(Self.pieces([8_000_000, 1, 1, 1]) == [1, 1, 2, 4])
    }

    @Test("Known lengths decide the size of the first piece")
    func firstPiece() {
        #expect(PieceSize(mayBeLong: true, mean: 8_000_000).records == 1)
        #expect(PieceSize(mayBeLong: true, mean: 100_000).records == 5)
        #expect(PieceSize(mayBeLong: true, mean: 200).records == 128)
        #expect(PieceSize(mayBeLong: true, mean: 0).records == 128)
        #expect(PieceSize(mayBeLong: false, mean: 8_000_000).records == 128)
    }

    @Test("A piece without records does not change the size")
    func noRecords() {
        var size = PieceSize(mayBeLong: true)
        size.note(records: 0, bytes: 0)
        #expect(size.records == 1)
    }
}
