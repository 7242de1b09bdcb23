/// A base as the decision sees it: values or their digest.
package enum GroupState: Sendable, Hashable {
    case values([Value])
    case digest([UInt8])

    func matches(_ values: [Value], _ digest: ([Value]) -> [UInt8]) -> Bool {
        switch self {
        case .values(let held): held == values
        case .digest(let held): held == digest(values)
        }
    }

    /// True if the client may only send a value back: the field of its base has the same value, or is not known.
    func mayEcho(_ value: Value, at position: Int) -> Bool {
        switch self {
        case .values(let held): held[position] == value
        case .digest: true
        }
    }
}
