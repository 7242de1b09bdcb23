internal import GRDBSQLite
import MergeCore

extension ColumnSignature {
    /// The declared type of a statement's column, as a hash (FNV-1a: Fowler, Noll and Vo, RFC 9923).
    init(_ raw: OpaquePointer, _ index: Int32) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        if var byte = sqlite3_column_decltype(raw, index) {
            while byte.pointee != 0 {
                hash = (hash ^ UInt64(UInt8(bitPattern: byte.pointee))) &* 0x100_0000_01B3
                byte += 1
            }
        }
        self.init(bits: hash)
    }
}
