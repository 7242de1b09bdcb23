/// The greatest length of one packet that the server accepts (`max_allowed_packet`).
struct PacketSize: Sendable {
    /// The bytes of a packet; the server's smallest setting is 1,024.
    let bytes: Int

    /// The room for everything in a packet that is no value.
    private static let overhead = 512

    /// The longest value that fits into one packet without other values.
    var longestValue: Int { max(bytes - Self.overhead, Self.overhead) }

    /// Returns the positions of the values that are sent in packets of their own, so that the rest fits into one packet.
    ///
    /// The longest values are sent so. Short values, such as numbers, stay with the statement.
    ///
    /// - Parameter lengths: the bytes of the values of one statement.
    func separateValues(of lengths: [Int]) -> [Int] {
        /// Each value has a type, a length and a flag beside its bytes.
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
