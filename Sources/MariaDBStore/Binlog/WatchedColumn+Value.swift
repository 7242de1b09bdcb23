import MergeCore
import RecordStore

/// Decodes the bytes of a column exactly as a SELECT returns them.
extension WatchedColumn {
    /// Returns nil if the bytes do not fit the column's type in the rules, or cannot be decoded.
    func value(of bytes: ArraySlice<UInt8>, _ type: BinlogColumnType) -> Value? {
        do throws(StoreError) {
            switch type {
            case .integer(let width): return try column.value(ofWhole: whole(bytes, width: width))
            case .year:
                return try column.value(ofWhole: bytes.littleEndian == 0 ? 0 : 1_900 + Int128(bytes.littleEndian))
            case .bit: return try column.value(ofWhole: Int128(bytes.bigEndian))
            case .float: return try column.value(ofFloat: Float(bitPattern: UInt32(bytes.littleEndian)))
            case .double: return try column.value(ofDouble: Double(bitPattern: bytes.littleEndian))
            case .decimal(let precision, let scale):
                guard let text = PackedDecimal.text(bytes, precision: precision, scale: scale) else { return nil }
                return try column.value(ofText: text)
            case .enumeration: return member(Int(bytes.littleEndian))
            case .set: return members(bytes.littleEndian)
            case .bytes: return try value(ofBytes: bytes)
            case .opaque: return nil
            default: return time(bytes, type)
            }
        } catch {
            return nil
        }
    }

    private func whole(_ bytes: ArraySlice<UInt8>, width: Int) -> Int128 {
        let number = bytes.littleEndian
        if isUnsigned || number >> UInt64(width * 8 - 1) == 0 { return Int128(number) }
        return Int128(number) - Int128(1) << Int128(width * 8)
    }

    /// Returns the member of a number, which is 0 for the empty text of an invalid value.
    private func member(_ number: Int) -> Value? {
        guard case .enumeration(let members) = column.type, number <= members.count else { return nil }
        return .text(number == 0 ? ExactText("") : members[number - 1])
    }

    private func members(_ bits: UInt64) -> Value? {
        guard case .set(let members) = column.type, members.count == 64 || bits >> UInt64(members.count) == 0 else {
            return nil
        }
        return .members(members.enumerated().filter { bits >> UInt64($0.offset) & 1 == 1 }.map(\.element))
    }

    private func value(ofBytes bytes: ArraySlice<UInt8>) throws(StoreError) -> Value? {
        switch column.type {
        // The log omits the zero bytes at the end.
        case .binary(let length): Self.padded(bytes, to: length).map { .bytes($0) }
        case .bytes: .bytes(Array(bytes))
        case .uuid: Self.padded(bytes, to: 16).map { .text(ExactText(StoredUUID.text($0))) }
        case .inet4:
            Self.padded(bytes, to: 4).flatMap { NetworkAddress(version4: StoredAddress.text4($0)) }.map { .address($0) }
        case .inet6:
            Self.padded(bytes, to: 16).flatMap { NetworkAddress(version6: StoredAddress.text6($0)) }.map {
                .address($0)
            }
        case .wellKnownText: nil
        default: try text.string(bytes).map { text throws(StoreError) in try column.value(ofText: text) }
        }
    }

    private static func padded(_ bytes: ArraySlice<UInt8>, to length: Int) -> [UInt8]? {
        bytes.count <= length ? bytes + [UInt8](repeating: 0, count: length - bytes.count) : nil
    }
}
