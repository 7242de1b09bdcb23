/// A base: values or their digest.
package enum GroupState: Sendable, Hashable {
    case values([Value])
    case digest([UInt8])

    func matches(_ values: [Value], _ digest: ([Value]) -> [UInt8]) -> Bool {
        switch self {
        case .values(let held): held == values
        case .digest(let held): held == digest(values)
        }
    }

    /// Returns true if the base is the wire form of current values that are foreign to their columns.
    ///
    /// The gateway reads a client's value as one of the column's type. So bytes in a text column return as the text of
    /// their base64. Their wire forms are equal. The result is false if there are no digests to compare.
    func isShown(by current: [Value], _ types: [ColumnType], _ digest: ([Value]) -> [UInt8]) -> Bool {
        guard case .values(let held) = self, zip(types, current).contains(where: { $0.isForeign($1) }) else {
            return false
        }
        let shown = digest(held)
        return !shown.isEmpty && shown == digest(current)
    }

    /// Returns the edited values, with the current value in each field that the client did not change.
    func leaving(_ current: [Value], but edited: [Value]) -> [Value] {
        guard case .values(let held) = self else { return edited }
        return edited.indices.map { edited[$0] == held[$0] ? current[$0] : edited[$0] }
    }
}
