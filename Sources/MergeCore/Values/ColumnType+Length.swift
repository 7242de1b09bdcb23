extension ColumnType {
    /// The maximum length of a TEXT in bytes.
    private static let short = 65_535

    /// True if a value may have more bytes than a TEXT, or if its length is unlimited.
    package var mayBeLong: Bool {
        switch self {
        case .text(let type), .delimitedSet(_, let type):
            (type.maximumBytes ?? .max) > Self.short && (type.maximumCharacters ?? .max) > Self.short
        case .bytes(let maximum): (maximum ?? .max) > Self.short
        case .json, .wellKnownText: true
        default: false
        }
    }
}
