internal import CMariaDB
import MergeCore
import RecordStore

/// A statement prepared on one connection, with the buffers for its values.
final class PreparedStatement {
    private let raw: UnsafeMutablePointer<MYSQL_STMT>
    private var results: ResultBuffers?

    init(_ raw: UnsafeMutablePointer<MYSQL_STMT>) {
        self.raw = raw
    }

    deinit {
        mysql_stmt_close(raw)
    }

    var generatedKey: Int128 { Int128(mysql_stmt_insert_id(raw)) }

    /// The rows that a write met, changed or unchanged (`CLIENT_FOUND_ROWS`).
    var rowsMet: Int { Int(clamping: mysql_stmt_affected_rows(raw)) }

    func execute(_ parameters: ParameterBuffers, on handle: Handle) throws(StoreError) {
        guard mysql_stmt_param_count(raw) == parameters.count else {
            throw StoreError(
                .other, "a statement has \(parameters.count) values for \(mysql_stmt_param_count(raw)) places")
        }
        if parameters.count > 0, mysql_stmt_bind_param(raw, parameters.binds) != 0 { throw handle.error(of: raw) }
        if let packet = handle.packet, parameters.size > packet.longestValue {
            try sendSeparately(parameters, in: packet, on: handle)
        }
        let status = withExtendedLifetime(parameters) { mysql_stmt_execute(raw) }
        guard status == 0 else { throw handle.error(of: raw) }
    }

    /// Sends the long values of a statement in separate packets if the statement is longer than one packet.
    ///
    /// The server does not answer them. It joins the packets of one value up to the length of a packet.
    private func sendSeparately(
        _ parameters: ParameterBuffers, in packet: PacketSize, on handle: Handle
    ) throws(StoreError) {
        let lengths = (0..<parameters.count).map { Int(parameters.binds[$0].buffer_length) }
        if let longest = lengths.max(), longest > packet.longestValue {
            throw StoreError(
                .tooLarge,
                "a value has \(longest) bytes, and the database server accepts \(packet.longestValue) "
                    + "(max_allowed_packet)")
        }
        for index in packet.separateValues(of: lengths) {
            var rest = lengths[index]
            guard var bytes = parameters.binds[index].buffer?.assumingMemoryBound(to: CChar.self) else { continue }
            while rest > 0 {
                let count = min(rest, Self.pieceOfValue, packet.longestValue)
                guard mysql_stmt_send_long_data(raw, UInt32(index), bytes, UInt(count)) == 0 else {
                    throw handle.error(of: raw)
                }
                bytes += count
                rest -= count
            }
        }
    }

    private static let pieceOfValue = 1 << 20

    /// Reads the answer to an execution that was sent ahead; the rows follow.
    func receive(on handle: Handle) throws(StoreError) {
        // After a refused execution, the library would read no rows for this one.
        raw.pointee.last_errno = 0
        guard let read = raw.pointee.mysql?.pointee.methods?.pointee.db_read_execute_response, read(raw) == 0 else {
            throw handle.error(of: raw)
        }
    }

    /// Fetches every row.
    ///
    /// - Parameter key: adds each row's digest after its values; nil for no digests.
    func rows(_ columns: [Column], hashing key: SipHash.Key?, on handle: Handle) throws(StoreError) -> [[Value]] {
        var rows: [[Value]] = []
        try fetch(columns, on: handle) { buffers, count throws(StoreError) in
            if rows.isEmpty { rows.reserveCapacity(count) }
            var row: [Value] = []
            row.reserveCapacity(columns.count + (key == nil ? 0 : 1))
            for (index, column) in columns.enumerated() { row.append(try buffers.value(index, of: column, in: raw)) }
            if let key { row.append(.integer(Int128(try buffers.hash(key, in: raw)))) }
            rows.append(row)
        }
        return rows
    }

    /// Fetches every row, and decodes only the values of some columns.
    func hashes(
        _ statement: Statement, keeping kept: [Int], on handle: Handle
    ) throws(StoreError) -> HashedRows {
        guard let key = statement.hashKey else { throw StoreError(.other, "rows are to be hashed without a key") }
        let columns = statement.columns
        var rows = HashedRows()
        try fetch(columns, on: handle) { buffers, count throws(StoreError) in
            if rows.digests.isEmpty { rows.digests.reserveCapacity(count) }
            rows.digests.append(try buffers.hash(key, in: raw))
            do throws(StoreError) {
                for index in kept { rows.values.append(try buffers.value(index, of: columns[index], in: raw)) }
            } catch {
                try rows.noteUnreadable(width: kept.count, because: error)
            }
        }
        return rows
    }

    /// Returns buffers for the result of the last execution, whose metadata may have changed.
    ///
    /// - Throws: `StoreError` of the kind `schemaChanged` if a column differs from the schema that was read.
    private func buffers(for columns: [Column]) throws(StoreError) -> ResultBuffers {
        guard let fields = raw.pointee.fields, Int(raw.pointee.field_count) == columns.count else {
            throw StoreError(.schemaChanged, "a SELECT returned another number of columns than it was asked for")
        }
        var isSame = results?.columns.count == columns.count
        for (index, column) in columns.enumerated() {
            let wire = WireColumn(fields[index])
            if let known = column.signature, known != wire.signature { throw column.altered }
            if isSame, results?.columns[index].signature != wire.signature { isSame = false }
        }
        if isSame, let results { return results }
        let buffers = ResultBuffers(raw.wireColumns)
        results = buffers
        return buffers
    }

    /// Returns the signatures of the last result's columns, and drops its rows.
    func signatures() -> [ColumnSignature] {
        defer { mysql_stmt_free_result(raw) }
        return raw.wireColumns.map(\.signature)
    }

    /// Passes each row in the buffers to `take`, with the number of all rows.
    ///
    /// A deadlock can also be reported here, so each fetch is checked.
    private func fetch(
        _ columns: [Column], on handle: Handle, _ take: (ResultBuffers, Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        defer { mysql_stmt_free_result(raw) }
        let buffers = try buffers(for: columns)
        // Long values stay on the server until they are fetched, so that memory contains them only once.
        let isLong = columns.contains(where: \.type.mayBeLong)
        guard mysql_stmt_bind_result(raw, buffers.binds) == 0, isLong || mysql_stmt_store_result(raw) == 0 else {
            throw handle.error(of: raw)
        }
        let count = Int(mysql_stmt_num_rows(raw))
        while true {
            let status = mysql_stmt_fetch(raw)
            if status == MYSQL_NO_DATA { return }
            guard status == 0 || status == MYSQL_DATA_TRUNCATED else { throw handle.error(of: raw) }
            try take(buffers, count)
        }
    }
}

/// The values of one execution in the form of the C client.
final class ParameterBuffers {
    let binds: UnsafeMutablePointer<MYSQL_BIND>
    let count: Int
    /// The approximate number of bytes to send.
    let size: Int
    private let bytes: UnsafeMutableRawPointer

    init(_ values: [Bind]) {
        count = values.count
        binds = .allocate(capacity: max(count, 1))
        binds.initialize(repeating: MYSQL_BIND(), count: count)
        var packed: [UInt8] = []
        packed.reserveCapacity(24 * count + 8)
        for index in values.indices { Self.pack(values[index], in: &binds[index], to: &packed) }
        size = packed.count
        bytes = .allocate(byteCount: max(size, 8), alignment: 8)
        packed.withUnsafeBytes { if let base = $0.baseAddress { bytes.copyMemory(from: base, byteCount: size) } }
        var offset = 0
        for index in 0..<count {
            binds[index].buffer = bytes + offset
            offset += Self.padded(Int(binds[index].buffer_length))
        }
    }

    deinit {
        binds.deinitialize(count: count)
        binds.deallocate()
        bytes.deallocate()
    }

    /// Rounds a length up, so that every value is aligned for a number.
    private static func padded(_ length: Int) -> Int { (length + 7) & ~7 }

    private static func pack(_ bind: Bind, in target: inout MYSQL_BIND, to packed: inout [UInt8]) {
        switch bind.value {
        case .null: target.buffer_type = MYSQL_TYPE_NULL
        case .boolean(let flag): pack(number: Int64(flag ? 1 : 0), as: MYSQL_TYPE_LONGLONG, in: &target, to: &packed)
        case .integer(let value):
            let small = Int64(exactly: value)
            let bits = small.map { UInt64(bitPattern: $0) } ?? UInt64(truncatingIfNeeded: value)
            pack(number: bits, as: MYSQL_TYPE_LONGLONG, in: &target, to: &packed)
            target.is_unsigned = small == nil ? 1 : 0
        case .float(let value): pack(number: value, as: MYSQL_TYPE_FLOAT, in: &target, to: &packed)
        case .double(let value): pack(number: value, as: MYSQL_TYPE_DOUBLE, in: &target, to: &packed)
        case .bytes(let data): pack(data, as: MYSQL_TYPE_BLOB, in: &target, to: &packed)
        case .text(let text): pack(text.string.utf8, as: MYSQL_TYPE_STRING, in: &target, to: &packed)
        case .decimal: pack((bind.storedText ?? "").utf8, as: MYSQL_TYPE_NEWDECIMAL, in: &target, to: &packed)
        case .members, .date, .dateTime, .time, .json, .address:
            pack((bind.storedText ?? "").utf8, as: MYSQL_TYPE_STRING, in: &target, to: &packed)
        }
    }

    /// Appends a number of up to eight bytes in native byte order.
    private static func pack<Number: BitwiseCopyable>(
        number: Number, as type: enum_field_types, in target: inout MYSQL_BIND, to packed: inout [UInt8]
    ) {
        withUnsafeBytes(of: number) { pack($0, as: type, in: &target, to: &packed) }
    }

    private static func pack(
        _ bytes: some Sequence<UInt8>, as type: enum_field_types, in target: inout MYSQL_BIND, to packed: inout [UInt8]
    ) {
        let start = packed.count
        packed.append(contentsOf: bytes)
        let length = packed.count - start
        target.buffer_type = type
        target.buffer_length = UInt(length)
        for _ in length..<padded(length) { packed.append(0) }
    }
}
