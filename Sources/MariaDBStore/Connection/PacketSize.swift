/// The largest packet that the server accepts (`max_allowed_packet`).
struct PacketSize: Sendable {
    /// The bytes of a packet; the server's smallest setting is 1,024.
    let bytes: Int

    /// The bytes reserved for everything but the values.
    private static let overhead = 512

    /// The longest value that fits into one packet.
    var longestValue: Int { max(bytes - Self.overhead, Self.overhead) }

    /// Returns the positions of the longest values, which are sent separately so that the rest fits into one packet.
    ///
    /// - Parameter lengths: the bytes of the values of one statement.
    func separateValues(of lengths: [Int]) -> [Int] {
        /// Each value also has a type, a length and a flag.
        var rest = lengths.reduce(0) { $0 + $1 + 16 }
        if rest <= longestValue { return [] }
        var separate: [Int] = []
        for index in lengths.indices.sorted(by: { lengths[$0] > lengths[$1] }) where lengths[index] > 8 {
            if rest <= longestValue { break }
            rest -= lengths[index]
            separate.append(index)
        }
        return separate.sorted()
    }
}
