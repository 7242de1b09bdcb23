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

    /// Returns true where the client holds what it was shown of values some of which are foreign to their columns.
    ///
    /// What a client sends is read as a value of the column's type, so bytes in a column of texts come back as the text of
    /// their base64. On the wire they are the same. False if there are no digests to compare.
    func isShown(by current: [Value], _ types: [ColumnType], _ digest: ([Value]) -> [UInt8]) -> Bool {
        guard case .values(let held) = self, zip(types, current).contains(where: { $0.isForeign($1) }) else {
            return false
        }
        let shown = digest(held)
        return !shown.isEmpty && shown == digest(current)
    }

    /// Returns what is edited, and what stands where the client left alone what it was shown.
    func leaving(_ current: [Value], but edited: [Value]) -> [Value] {
        guard case .values(let held) = self else { return edited }
        return edited.indices.map { edited[$0] == held[$0] ? current[$0] : edited[$0] }
    }
}
