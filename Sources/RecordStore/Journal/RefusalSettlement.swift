/// The end of a refused push.
package enum RefusalSettlement: Sendable, Hashable {
    /// A resend was merged at this time.
    case resent(at: String)
    /// An operator dropped the push.
    case dropped(at: String, by: String)

    /// The time of a successful resend; nil if the push was dropped.
    package var resent: String? {
        if case .resent(let time) = self { time } else { nil }
    }

    /// The end in the form of tables.
    package var text: String {
        switch self {
        case .resent(let time): time
        case .dropped(let time, let who): "dropped \(time)" + (who.isEmpty ? "" : " by \(who)")
        }
    }
}
