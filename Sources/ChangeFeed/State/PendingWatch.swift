/// Decides whether a gateway sequences changes or leaves them to the previous gateway.
///
/// Sequencing locks the counter, so two gateways at once are slow but correct.
struct PendingWatch: Sendable {
    /// The first row of `pending`, and the successive checks that found it.
    private var head: (number: Int, looks: Int)?

    /// The checks after which a waiting row proves that the other gateway hangs or is gone.
    static let patience = 3

    /// Returns true if this gateway must sequence now.
    ///
    /// - Parameters:
    ///   - first: the number of the first waiting row, or nil.
    ///   - isFree: no other gateway is sequencing.
    ///   - isUrgent: a client of this gateway waits for its own change.
    mutating func looks(at first: Int?, isFree: Bool, isUrgent: Bool) -> Bool {
        guard let first else {
            head = nil
            return false
        }
        let looks = head?.number == first ? (head?.looks ?? 0) + 1 : 1
        head = (first, looks)
        return isFree || isUrgent || looks >= Self.patience
    }
}
