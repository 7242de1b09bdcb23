/// Decides whether a gateway gives revisions itself or leaves it to the one that did last.
///
/// Pure. Whoever gives them locks the counter, so two that do are slow and never wrong; but the work of one is enough.
struct PendingWatch: Sendable {
    /// The first row of `pending` at the last look, and at how many looks in a row it was that one.
    private var head: (number: Int, looks: Int)?

    /// Looks at which the same row may wait: longer, and the gateway that should take it hangs or is gone.
    static let patience = 3

    /// Notes what a look found.
    ///
    /// - Parameters:
    ///   - first: the number of the first row that waits; nil where none does.
    ///   - isFree: nobody else has taken it upon itself.
    ///   - isUrgent: a client of this gateway waits for a change of its own.
    /// - Returns: true where this gateway is to give revisions now.
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
