import MergeCore
import RecordStore

extension ColumnSchema {
    /// True where the column holds yes or no, as its type tells: `BOOLEAN`, `BIT(1)`, `TINYINT` of any width, `INT(1)`.
    var isSwitch: Bool {
        let declared = declaredType.lowercased()
        return types.first == .boolean || declared.hasPrefix("tinyint") || declared.hasPrefix("int(1)")
    }
}
