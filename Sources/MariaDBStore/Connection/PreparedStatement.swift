internal import CMariaDB
import MergeCore
import RecordStore

/// A statement prepared on one connection, with the buffers that its values travel through.
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

    /// The rows that a write has met, be they changed by it or not (`CLIENT_FOUND_ROWS`).
    var rowsMet: Int { Int(clamping: mysql_stmt_affected_rows(raw)) }

    func execute(_ parameters: ParameterBuffers, on handle: Handle) throws(StoreError) {
        guard mysql_stmt_param_count(raw) == parameters.count else {
            throw StoreError(
                .other, "a statement has \(parameters.count) values for \(mysql_stmt_param_count(raw)) places")
        }
        if parameters.count > 0, mysql_stmt_bind_param(raw, parameters.binds) != 0 { throw handle.error(of: raw) }
        let status = withExtendedLifetime(parameters) { mysql_stmt_execute(raw) }
        guard status == 0 else { throw handle.error(of: raw) }
    }

    /// Takes the answer to an execution that was sent ahead; where there are rows, they are read next.
    func receive(on handle: Handle) throws(StoreError) {
        // The library would read no rows for a statement whose execution before this one was refused.
        raw.pointee.last_errno = 0
        guard let read = raw.pointee.mysql?.pointee.methods?.pointee.db_read_execute_response, read(raw) == 0 else {
            throw handle.error(of: raw)
        }
    }

    /// Fetches every row.
    ///
    /// - Parameter key: under which each row's digest follows its values; nil for none.
    func rows(_ columns: [Column], hashing key: SipHash.Key?, on handle: Handle) throws(StoreError) -> [[Value]] {
        var rows: [[Value]] = []
        try fetch(columns, on: handle) { buffers, count throws(StoreError) in
            if rows.isEmpty { rows.reserveCapacity(count) }
            var row: [Value] = []
            row.reserveCapacity(columns.count + (key == nil ? 0 : 1))
            for (index, column) in columns.enumerated() { row.append(try buffers.value(index, of: column, in: raw)) }
            if let key { row.append(.integer(Int128(buffers.hash(columns, key, in: raw)))) }
            rows.append(row)
        }
        return rows
    }

    /// Fetches every row, and makes values only of what is kept.
    func hashes(
        _ statement: Statement, keeping kept: [Int], on handle: Handle
    ) throws(StoreError) -> HashedRows {
        guard let key = statement.hashKey else { throw StoreError(.other, "rows are to be hashed without a key") }
        let columns = statement.columns
        var rows = HashedRows()
        try fetch(columns, on: handle) { buffers, count throws(StoreError) in
            if rows.digests.isEmpty { rows.digests.reserveCapacity(count) }
            rows.digests.append(buffers.hash(columns, key, in: raw))
            for index in kept { rows.values.append(try buffers.value(index, of: columns[index], in: raw)) }
        }
        return rows
    }

    /// Hands over each row while it stands in the buffers, with the number of all.
    ///
    /// A deadlock can also arrive here, so each fetch is checked.
    private func fetch(
        _ columns: [Column], on handle: Handle, _ take: (ResultBuffers, Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard mysql_stmt_field_count(raw) == columns.count else {
            mysql_stmt_free_result(raw)
            throw StoreError(.schemaChanged, "a SELECT returned another number of columns than it was asked for")
        }
        let buffers = results ?? ResultBuffers(columns, metadata: raw)
        results = buffers
        // Where values may be long the rows stay with the server until they are taken, so that nothing is held twice.
        let isLong = columns.contains(where: \.type.mayBeLong)
        guard mysql_stmt_bind_result(raw, buffers.binds) == 0, isLong || mysql_stmt_store_result(raw) == 0 else {
            throw handle.error(of: raw)
        }
        defer { mysql_stmt_free_result(raw) }
        let count = Int(mysql_stmt_num_rows(raw))
        while true {
            let status = mysql_stmt_fetch(raw)
            if status == MYSQL_NO_DATA { return }
            guard status == 0 || status == MYSQL_DATA_TRUNCATED else { throw handle.error(of: raw) }
            try take(buffers, count)
        }
    }
}

/// The values of one execution in the form that the C client reads them.
final class ParameterBuffers {
    let binds: UnsafeMutablePointer<MYSQL_BIND>
    let count: Int
    /// About as many bytes as they are when they are sent.
    let size: Int
    private let bytes: UnsafeMutableRawPointer

    init(_ values: [Bind]) {
        count = values.count
        binds = .allocate(capacity: max(count, 1))
        binds.initialize(repeating: MYSQL_BIND(), count: count)
        let texts = values.map { bind in bind.storedText }
        var size = 8
        for (bind, text) in zip(values, texts) { size += Self.size(bind, text) }
        self.size = size
        bytes = .allocate(byteCount: size, alignment: 8)
        var offset = 0
        for (index, bind) in values.enumerated() {
            store(bind, texts[index], in: &binds[index], at: &offset)
        }
    }

    deinit {
        binds.deinitialize(count: count)
        binds.deallocate()
        bytes.deallocate()
    }

    private static func size(_ bind: Bind, _ text: String?) -> Int {
        let length: Int
        if let text {
            length = text.utf8.count
        } else if case .bytes(let data) = bind.value {
            length = data.count
        } else {
            length = 8
        }
        return (length + 7) & ~7
    }

    private func store(_ bind: Bind, _ text: String?, in target: inout MYSQL_BIND, at offset: inout Int) {
        let place = bytes + offset
        offset += Self.size(bind, text)
        target.buffer = place
        switch bind.value {
        case .null: target.buffer_type = MYSQL_TYPE_NULL
        case .boolean(let flag): number(Int64(flag ? 1 : 0), into: &target, at: place)
        case .integer(let value):
            if let small = Int64(exactly: value) {
                number(small, into: &target, at: place)
            } else {
                place.storeBytes(of: UInt64(truncatingIfNeeded: value), as: UInt64.self)
                target.buffer_type = MYSQL_TYPE_LONGLONG
                target.is_unsigned = 1
            }
        case .float(let value):
            place.storeBytes(of: value, as: Float.self)
            target.buffer_type = MYSQL_TYPE_FLOAT
        case .double(let value):
            place.storeBytes(of: value, as: Double.self)
            target.buffer_type = MYSQL_TYPE_DOUBLE
        case .bytes(let data):
            place.copyMemory(from: data, byteCount: data.count)
            target.buffer_type = MYSQL_TYPE_BLOB
            target.buffer_length = UInt(data.count)
        case .decimal:
            copy(text ?? "", into: &target, at: place)
            target.buffer_type = MYSQL_TYPE_NEWDECIMAL
        case .text, .members, .date, .dateTime, .time, .json, .address:
            copy(text ?? "", into: &target, at: place)
            target.buffer_type = MYSQL_TYPE_STRING
        }
    }

    private func number(_ value: Int64, into target: inout MYSQL_BIND, at place: UnsafeMutableRawPointer) {
        place.storeBytes(of: value, as: Int64.self)
        target.buffer_type = MYSQL_TYPE_LONGLONG
    }

    private func copy(_ text: String, into target: inout MYSQL_BIND, at place: UnsafeMutableRawPointer) {
        var text = text
        let length = text.withUTF8 { utf8 in
            if let base = utf8.baseAddress { place.copyMemory(from: base, byteCount: utf8.count) }
            return utf8.count
        }
        target.buffer_length = UInt(length)
    }
}
