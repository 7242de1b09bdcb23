/// The number of records of a page that one query reads.
///
/// Pieces of long records are small, so that they need no more memory than short records.
package struct PieceSize: Sendable {
    /// The number of records of the next piece.
    package private(set) var records: Int

    private static let most = 128
    private static let bytes = 2 << 20

    /// Creates the size of a page's first piece.
    ///
    /// - Parameters:
    ///   - mayBeLong: true if the records may contain long values.
    ///   - mean: the mean length of earlier records in bytes; nil if none was read.
    package init(mayBeLong: Bool, mean: Int? = nil) {
        records = Self.most
        guard mayBeLong else { return }
        // The next records may be longer, so the first piece is smaller than the mean allows.
        records = mean.map { min(max(1, Self.bytes / 4 / max($0, 1)), Self.most) } ?? 1
    }

    /// Adapts the size to the length of a piece; it grows at most by a factor of two.
    package mutating func note(records count: Int, bytes: Int) {
        guard count > 0 else { return }
        let fitting = Self.bytes / max(bytes / count, 1)
        records = max(1, min(fitting, Self.most, records * 2))
    }
}
