import MergeCore
import RecordStore
import Testing
import TestSupport

@testable import MariaDBStore

/// The decoded values of the log equal those of a SELECT, for all types and all forms of the log.
@Suite(.serialized, .timeLimit(.minutes(5))) struct BinlogValueTests {
    /// A type of a key, and its values as SQL.
    struct KeyType: Sendable {
        let sql: String
        let values: [String]

        init(_ sql: String, _ values: String...) { (self.sql, self.values) = (sql, values) }
    }

    static let keys: [KeyType] = [
        KeyType("TINYINT", "-128", "-1", "0", "127"), KeyType("TINYINT UNSIGNED", "0", "128", "255"),
        KeyType("SMALLINT", "-32768", "-1", "32767"), KeyType("SMALLINT UNSIGNED", "65535", "1"),
        KeyType("MEDIUMINT", "-8388608", "-1", "8388607"), KeyType("MEDIUMINT UNSIGNED", "16777215", "8388608"),
        KeyType("INT", "-2147483648", "-1", "0", "2147483647"), KeyType("INT UNSIGNED", "4294967295", "7"),
        KeyType("BIGINT", "-9223372036854775808", "-1", "9223372036854775807"),
        KeyType("BIGINT UNSIGNED", "18446744073709551615", "9223372036854775808", "3"),
        KeyType("YEAR", "0", "1901", "2026", "2155"), KeyType("DATE", "'0000-00-00'", "'2026-11-26'", "'9999-12-31'"),
        KeyType("DATETIME", "'2026-11-26 10:31:59'", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'"),
        KeyType("DATETIME(1)", "'2026-11-26 10:31:59.9'"), KeyType("DATETIME(3)", "'2026-11-26 10:31:59.123'"),
        KeyType("DATETIME(6)", "'2026-11-26 10:31:59.000001'", "'2026-02-28 23:59:59.999999'"),
        KeyType("TIMESTAMP", "'2026-11-26 10:31:59'", "'0000-00-00 00:00:00'"),
        KeyType("TIMESTAMP(2)", "'2026-11-26 10:31:59.25'"), KeyType("TIMESTAMP(6)", "'2038-01-19 03:14:07.999999'"),
        KeyType("TIME", "'-838:59:59'", "'838:59:59'", "'00:00:00'", "'-00:00:01'"),
        KeyType("TIME(2)", "'-00:00:00.01'", "'-11:11:11.99'", "'22:22:22.5'"),
        KeyType("TIME(4)", "'-00:00:00.0001'", "'-01:00:00.9999'", "'01:02:03.4567'"),
        KeyType("TIME(6)", "'-00:00:01.000001'", "'-838:59:59.999999'", "'12:34:56.789012'"),
        KeyType("DECIMAL(1)", "-9", "0", "5"), KeyType("DECIMAL(9,9)", "0.000000001", "-0.999999999"),
        KeyType("DECIMAL(20,4)", "-1234567890123456.7891", "0.0001", "9999999999999999.9999"),
        KeyType("DECIMAL(65,30)", "-12345678901234567890123456789012345.123456789012345678901234567890", "1"),
        KeyType("BIT(1)", "b'0'", "b'1'"), KeyType("BIT(8)", "255"), KeyType("BIT(9)", "256", "3"),
        KeyType("BIT(64)", "18446744073709551615", "1"),
        KeyType("ENUM('a','b''c','d,e')", "'a'", "'b''c'", "'d,e'"),
        KeyType("CHAR(4) CHARACTER SET utf8mb4", "'ab'", "'é€😀'", "''"),
        KeyType("CHAR(100) CHARACTER SET utf8mb4", "'short'", "REPEAT('😀', 90)"),
        KeyType("CHAR(255) CHARACTER SET utf8mb3", "REPEAT('€', 200)", "'x'"),
        KeyType("VARCHAR(20) CHARACTER SET utf8mb4", "'plain'", "'zwölf 😀'", "'trailing '"),
        KeyType("VARCHAR(300) CHARACTER SET utf8mb4", "'a'", "REPEAT('é', 300)"),
        KeyType("VARCHAR(20) CHARACTER SET latin1", "'Größe €'", "'x'"),
        KeyType("VARCHAR(20) CHARACTER SET latin2", "'łódź'"), KeyType("CHAR(9) CHARACTER SET cp1251", "'ключ'"),
        KeyType("VARCHAR(20) CHARACTER SET ascii", "'key'"), KeyType("VARCHAR(20) CHARACTER SET ucs2", "'é€'"),
        KeyType("VARCHAR(20) CHARACTER SET utf16", "'é😀'"), KeyType("VARCHAR(20) CHARACTER SET utf32", "'é😀'"),
        KeyType("BINARY(16)", "X'00112233445566778899AABBCCDDEE00'", "X'FF'", "X''"),
        KeyType("BINARY(3)", "X'000000'", "X'010203'"), KeyType("VARBINARY(300)", "X'00'", "X'FF00'", "X''"),
        KeyType(
            "UUID", "'01890a5d-ac96-174f-8a1e-0123456789ab'", "'f81d4fae-7dec-41d0-a765-00a0c91e6bf6'",
            "'01890a5d-ac96-774f-8a1e-0123456789ab'", "'00000000-0000-0000-0000-000000000000'"),
        KeyType("INET4", "'192.0.2.1'", "'0.0.0.0'", "'10.0.0.0'"),
        KeyType(
            "INET6", "'::'", "'::1'", "'2001:db8::1'", "'2001:db8:0:1:0:0:0:1'", "'::ffff:192.0.2.1'", "'::1.2.3.4'",
            "'1:2:3:4:5:6:7:8'", "'fe80::'", "'1:0:2:0:0:3:0:0'"),
    ]

    /// Columns of all types before the key, with a value and without one.
    private static let others = [
        ("TINYINT", "1"), ("INT UNSIGNED", "2"), ("FLOAT", "1.5"), ("DOUBLE", "2.5"), ("FLOAT(7,3)", "1.125"),
        ("DECIMAL(30,10)", "12.5"), ("BIT(13)", "5"), ("YEAR", "2026"), ("DATE", "'2026-01-02'"),
        ("DATETIME(3)", "'2026-01-02 03:04:05.678'"), ("TIME(5)", "'-01:02:03.45678'"),
        ("TIMESTAMP(6) NULL", "'2026-01-02 03:04:05.678901'"), ("CHAR(200) CHARACTER SET utf8mb4", "'é'"),
        ("VARCHAR(400)", "REPEAT('x', 300)"), ("TINYTEXT", "'t'"), ("TEXT", "REPEAT('y', 70000 % 65536)"),
        ("MEDIUMTEXT", "REPEAT('z', 70000)"), ("LONGTEXT", "'l'"), ("TINYBLOB", "X'00'"), ("LONGBLOB", "X'FF'"),
        ("VARCHAR(300) COMPRESSED", "REPEAT('c', 250)"), ("TEXT COMPRESSED", "REPEAT('d', 500)"),
        ("BLOB COMPRESSED", "REPEAT('e', 500)"), ("ENUM('a','b')", "'b'"), ("SET('a','b','c')", "'a,c'"),
        ("JSON", "'{\"a\":1}'"), ("GEOMETRY", "POINT(1,2)"), ("POINT", "POINT(3,4)"), ("BINARY(5)", "X'01'"),
        ("UUID", "'f81d4fae-7dec-41d0-a765-00a0c91e6bf6'"), ("INET6", "'::1'"), ("INET4", "'1.2.3.4'"),
    ]

    private static let tables = keys.enumerated().map { number, key in
        let list = others.enumerated().map { "c\($0) \($1.0)" }.joined(separator: ", ")
        return "CREATE TABLE k\(number) (\(list), k \(key.sql) NOT NULL, n INT, PRIMARY KEY (k));"
    }.joined()

    private static let lax = "SET sql_mode = '', time_zone = '+00:00'; SET NAMES utf8mb4;"

    /// Inserts rows with and without values, changes another column, and deletes the rows.
    private static func changes(image: String) -> (inserting: String, removing: String) {
        var inserting = lax + "SET binlog_row_image = \(image);"
        var removing = inserting
        for (number, key) in keys.enumerated() {
            let names = others.indices.map { "c\($0)" }.joined(separator: ", ")
            for (index, value) in key.values.enumerated() {
                let values = index % 2 == 0 ? others.map(\.1) : others.map { _ in "NULL" }
                inserting +=
                    "INSERT INTO k\(number) (\(names), k, n) VALUES (\(values.joined(separator: ", ")), \(value), 1);"
            }
            removing += "UPDATE k\(number) SET n = 2; UPDATE k\(number) SET c15 = 'other'; DELETE FROM k\(number);"
        }
        return (inserting, removing)
    }

    /// The forms of the log: the row image, compression, checksums and metadata.
    static let forms = [
        ("FULL", "OFF", "CRC32", "NO_LOG"), ("MINIMAL", "ON", "CRC32", "FULL"), ("FULL", "OFF", "NONE", "NO_LOG"),
        ("NOBLOB", "ON", "CRC32", "MINIMAL"),
    ]

    @Test("Keys equal those of a SELECT", .tags(.mariadb), .needsMariaDB)
    func keys() async throws {
        let world = try await BinlogWorld.start(Self.tables)
        var watched: [WatchedTable] = []
        for number in Self.keys.indices { watched.append(try await world.watch("k\(number)")) }
        for (image, compression, checksum, metadata) in Self.forms {
            try await world.server.run(
                """
                SET GLOBAL log_bin_compress = \(compression), log_bin_compress_min_len = 10, \
                binlog_checksum = \(checksum), binlog_row_metadata = \(metadata)
                """)
            let start = try await world.position()
            let (inserting, removing) = Self.changes(image: image)
            try await world.run(inserting)
            var expected: [TableName: Set<[String]>] = [:]
            for table in watched {
                expected[table.name] = Set(
                    try await world.select(table, order: "k").map { row in row.map { String(describing: $0) } })
            }
            try await world.run(removing)
            let found = try await world.read(watched, after: start)
            #expect(found.allSatisfy { $0.passes.isEmpty }, "\(image): \(found.filter { !$0.passes.isEmpty })")
            for (table, key) in zip(watched, Self.keys) {
                let changes = found.flatMap(\.changes).filter { $0.table == table.name }
                let count = key.values.count
                #expect(changes.count == count * 4, "\(image) \(key.sql): \(changes.count)")
                let wanted = expected[table.name]
                for kind in [BinlogRows.Kind.insert, .update, .delete] {
                    let some = changes.filter { $0.kind == kind }
                    if kind != .insert {
                        #expect(Set(some.compactMap(\.before?.texts)) == wanted, "\(image) \(key.sql)")
                    }
                    if kind != .delete {
                        #expect(Set(some.compactMap(\.after?.texts)) == wanted, "\(image) \(key.sql)")
                    }
                }
            }
        }
        await world.end()
    }

    /// Columns that are not keys decide records and conditions.
    ///
    /// A table with undecodable columns needs a pass.
    @Test("Other columns equal those of a SELECT", .tags(.mariadb), .needsMariaDB)
    func otherColumns() async throws {
        let list = Self.others.enumerated().map { "c\($0) \($1.0)" }.joined(separator: ", ")
        let world = try await BinlogWorld.start("CREATE TABLE o (id INT PRIMARY KEY, \(list));")
        let opaque = Self.others.indices.filter { index in
            ["COMPRESSED", "GEOMETRY", "POINT"].contains { Self.others[index].0.hasSuffix($0) }
        }
        let names = ["id"] + Self.others.indices.filter { !opaque.contains($0) }.map { "c\($0)" }
        let table = try await world.watch("o", names)
        let start = try await world.position()
        let values = Self.others.map(\.1).joined(separator: ", ")
        try await world.run(
            Self.lax + "INSERT INTO o VALUES (1, \(values)); INSERT INTO o (id) VALUES (2);"
                + "UPDATE o SET c0 = 7, c24 = '', c25 = '[1, 2]' WHERE id = 1;")
        let changes = try await world.read([table], after: start).flatMap(\.changes)
        let rows = try await world.select(table, order: "id").map { row in row.map { String(describing: $0) } }
        #expect(changes.map(\.kind) == [.insert, .insert, .update])
        #expect(changes.last?.after?.texts == rows.first)
        #expect(changes.dropFirst().first?.after?.texts == rows.last)
        let geometry = try await world.watch("o", ["id", "c26"])
        let found = try await world.read([geometry], after: start)
        #expect(found.last?.passes.tables == [geometry.name: .undecodable(.unsupported)])
        #expect(found.flatMap(\.changes).allSatisfy { $0.after?.last == .value(.null) })
        await world.end()
    }

    /// Tables of old servers have times without fractions in the log, in another format.
    @Test("Times of old formats are decoded", .tags(.mariadb), .needsMariaDB)
    func oldTimes() async throws {
        let server = try await PrivateMariaDB(options: BinlogWorld.options + ["--mysql56-temporal-format=OFF"])
        let world = try await BinlogWorld.start(
            """
            CREATE TABLE old (id INT PRIMARY KEY, a DATETIME, b TIMESTAMP NULL, c TIME, d DATE);
            CREATE TABLE fine (id INT PRIMARY KEY, a DATETIME(6));
            """, server: server)
        let old = try await world.watch("old", ["id", "a", "b", "c", "d"])
        let fine = try await world.watch("fine")
        let start = try await world.position()
        try await world.run(
            Self.lax + """
                INSERT INTO old VALUES (1, '2026-11-26 10:31:59', '2026-11-26 10:31:59', '-838:59:59', '2026-11-26'),
                  (2, '0000-00-00 00:00:00', '0000-00-00 00:00:00', '00:00:01', '0000-00-00'), (3, NULL, NULL, NULL, NULL);
                INSERT INTO fine VALUES (1, '2026-11-26 10:31:59.123456');
                """)
        let found = try await world.read([old, fine], after: start)
        let rows = try await world.select(old, order: "id").map { row in row.map { String(describing: $0) } }
        #expect(found.flatMap(\.changes).compactMap(\.after?.texts) == rows)
        #expect(found.last?.passes.tables == [fine.name: .form])
        await world.end()
    }
}
