import MergeCore
import RecordStore

extension Bind {
    /// The integer or double for a column with NUMERIC affinity; nil for all other values.
    ///
    /// SQLite's own conversion of a text does not always find the nearest double.
    var number: Value? {
        switch (value, type) {
        case (.decimal(let number), _):
            if let whole = number.integer, Int64(exactly: whole) != nil { return .integer(whole) }
            return Double(number.text).map { .double($0) }
        case (.json(.integer(let number)), .json(let type)) where type.turnsNumbers: return .integer(number)
        case (.json(.double(let number)), .json(let type)) where type.turnsNumbers: return .double(number)
        default: return nil
        }
    }
}
