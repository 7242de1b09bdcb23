import MergeCore
import RecordStore

extension ColumnSchema {
    /// True if the type suggests a Boolean: `BOOLEAN`, `BIT(1)`, `TINYINT` of any width, `INT(1)`.
    var isSwitch: Bool {
        let declared = declaredType.lowercased()
        return types.first == .boolean || declared.hasPrefix("tinyint") || declared.hasPrefix("int(1)")
    }
}
