import RecordStore

/// The id of a distributed transaction (X/Open XA).
struct BinlogXID: Sendable, Hashable {
    let format: UInt32
    let global: [UInt8]
    let branch: [UInt8]

    init(format: UInt32, global: [UInt8], branch: [UInt8]) {
        self.format = format
        self.global = global
        self.branch = branch
    }

    /// Decodes an XA_PREPARE_LOG_EVENT after its common header.
    static func prepared(_ reader: inout PackedReader) throws(BinlogFault) -> (xid: BinlogXID, isOnePhase: Bool) {
        let isOnePhase = try reader.littleEndian(1) != 0
        let format = UInt32(try reader.littleEndian(4))
        let global = try reader.littleEndian(4)
        let branch = try reader.littleEndian(4)
        let xid = BinlogXID(
            format: format, global: Array(try reader.take(global)), branch: Array(try reader.take(branch)))
        return (xid, isOnePhase)
    }

    /// Reads `X'6162',X'',1`, as the server writes it after XA COMMIT; nil if the text has another form.
    init?(_ text: Substring) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3, let global = Self.bytes(parts[0]), let branch = Self.bytes(parts[1]),
            let format = UInt32(parts[2].filter { $0 != " " })
        else { return nil }
        self.init(format: format, global: global, branch: branch)
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        guard text.hasPrefix("X'"), text.hasSuffix("'"), text.count >= 3 else { return nil }
        let digits = text.dropFirst(2).dropLast().utf8
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        var rest = Substring(digits)
        while !rest.isEmpty {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
