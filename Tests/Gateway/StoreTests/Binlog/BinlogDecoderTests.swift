import MergeCore
import RecordStore
import Testing
import TestSupport

@testable import MariaDBStore

/// The decoder on bytes alone: recorded events, unusual texts, and damaged bytes.
@Suite struct BinlogDecoderTests {
    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }

    private static let watched = WatchedTables(
        [
            WatchedTable(
                name: TableName(schema: "d", name: "t"), columnCount: 2,
                columns: [
                    WatchedColumn(
                        ordinal: 0, column: Column(name: "id", type: .integer(-9...9), isNullable: false),
                        isUnsigned: false, text: .utf8),
                    WatchedColumn(
                        ordinal: 1, column: Column(name: "name", type: .text(TextType()), isNullable: true),
                        isUnsigned: false, text: .utf8),
                ])
        ], cascades: CascadeLinks([]))

    private static func transactions(_ events: [[UInt8]]) -> [ForeignTransaction] {
        var decoder = BinlogDecoder()
        var groups = BinlogGroups(watched)
        return events.compactMap { groups.add(decoder.decode($0)) }
    }

    // MARK: Recorded events

    @Test("Recorded events are decoded")
    func recordedEvents() {
        let found = Self.transactions(BinlogRecording.events.map(Self.bytes))
        let changes = found.flatMap(\.changes)
        #expect(changes.map(\.kind) == [.insert, .insert, .update, .delete, .insert])
        #expect(changes.first?.after == [.value(.integer(-1)), .value(.text(ExactText("zwölf")))])
        #expect(changes.dropFirst().first?.after == [.value(.integer(2)), .value(.null)])
        #expect(changes.dropFirst(2).first?.after == [.value(.integer(2)), .value(.text(ExactText("b")))])
        let long = ExactText(String(repeating: "long ", count: 100))
        #expect(changes.last?.after == [.value(.integer(3)), .value(.text(long))])
        #expect(found.last?.passes.tables == [TableName(schema: "d", name: "t"): .definition])
        #expect(found.dropLast().allSatisfy { $0.passes.isEmpty })
    }

    @Test("An optional value that cannot be decoded leaves the row readable, and two types of a column are two values")
    func optionalValues() throws {
        let text = Column(name: "name", type: .text(TextType()), isNullable: true)
        let table = WatchedTable(
            name: TableName(schema: "d", name: "t"), columnCount: 2,
            columns: [
                WatchedColumn(
                    ordinal: 0, column: Column(name: "id", type: .integer(-9...9), isNullable: false),
                    isUnsigned: false, text: .utf8),
                WatchedColumn(ordinal: 1, column: text, isUnsigned: false, text: .other, isOptional: true),
                WatchedColumn(ordinal: 1, column: text, isUnsigned: false, text: .utf8, isOptional: true),
            ])
        var decoder = BinlogDecoder()
        var groups = BinlogGroups(WatchedTables([table]))
        let changes = BinlogRecording.events.map(Self.bytes).compactMap { groups.add(decoder.decode($0)) }.flatMap(
            \.changes)
        let first = try #require(changes.first?.after)
        #expect(
            first == [.value(.integer(-1)), .undecoded(Array("zwölf".utf8)), .value(.text(ExactText("zwölf")))])
        #expect(changes.dropFirst().first?.after == [.value(.integer(2)), .value(.null), .value(.null)])
    }

    // MARK: Damaged events

    /// An event with changed bytes and a correct checksum, so that the decoder reads it.
    private static func damaged(_ event: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = event
        let isShort = Int.random(in: 0..<3, using: &random) == 0
        if isShort { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))) }
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        guard bytes.count >= BinlogEventHeader.size + 4, Int.random(in: 0..<8, using: &random) > 0 else { return bytes }
        let length = UInt32(bytes.count)
        for index in 0..<4 { bytes[9 + index] = UInt8(truncatingIfNeeded: length >> UInt32(8 * index)) }
        let sum = BinlogFormat.checksum(bytes[..<(bytes.count - 4)])
        for index in 0..<4 { bytes[bytes.count - 4 + index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index)) }
        return bytes
    }

    @Test("Damaged events need a pass or have no effect")
    func damagedEvents() {
        let seed = Int.random(in: 1...1_000_000_000)
        var random = SeededRandom(seed: seed)
        let events = BinlogRecording.events.map(Self.bytes)
        for number in 0..<3_000 {
            var decoder = BinlogDecoder()
            var groups = BinlogGroups(Self.watched)
            for (index, event) in events.enumerated() {
                let isDamaged = index > 0 && Int.random(in: 0..<4, using: &random) == 0
                let transaction = groups.add(decoder.decode(isDamaged ? Self.damaged(event, &random) : event))
                let count = transaction?.changes.count ?? 0
                #expect(count <= 1_000, "seed \(seed), case \(number)")
            }
        }
    }

    /// Every prefix of an event is undecodable or needs no bytes.
    @Test("Truncated events cannot be decoded")
    func truncatedEvents() {
        for event in BinlogRecording.events.map(Self.bytes) {
            for length in 0..<event.count {
                var decoder = BinlogDecoder()
                _ = decoder.decode(Self.bytes(BinlogRecording.events[0]))
                guard case .undecodable = decoder.decode(Array(event.prefix(length))) else {
                    Issue.record("\(length) of \(event.count) bytes were decoded")
                    return
                }
            }
        }
    }

    @Test("A wrong checksum needs a pass of all tables")
    func checksum() {
        var events = BinlogRecording.events.map(Self.bytes)
        let place = events.firstIndex { $0.count > 4 && $0[4] == 23 } ?? 0
        events[place][events[place].count - 6] ^= 1
        #expect(Self.transactions(events).contains { $0.passes.all == .undecodable(.checksum) })
    }

    /// An unknown event may contain rows, unless its flag allows readers to skip it.
    @Test("Unknown events need a pass of all tables")
    func unknownEvents() {
        func event(_ type: UInt8, flags: UInt8) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 23)
            (bytes[4], bytes[9], bytes[17]) = (type, 23, flags)
            let sum = BinlogFormat.checksum(bytes[..<19])
            for index in 0..<4 { bytes[19 + index] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * index)) }
            return bytes
        }
        let first = Self.bytes(BinlogRecording.events[0])
        for type in [20, 39, 40, 42, 172, 255] as [UInt8] {
            #expect(Self.transactions([first, event(type, flags: 0)]).first?.passes.all == .undecodable(.unsupported))
            #expect(Self.transactions([first, event(type, flags: 0x80)]).first?.passes.isEmpty ?? true)
        }
        for type in [5, 13, 14, 17, 18] as [UInt8] {
            #expect(Self.transactions([first, event(type, flags: 0)]).first?.passes.all == .statement)
        }
        #expect(Self.transactions([first, event(26, flags: 0)]).first?.passes.all == .incident)
    }

    // MARK: Statements

    @Test(arguments: [
        ("BEGIN", BinlogQuery.begin), ("START TRANSACTION", .begin), ("COMMIT", .commit), ("ROLLBACK", .rollback),
        ("ROLLBACK TO `s`", .ignored), ("ROLLBACK WORK TO SAVEPOINT s", .ignored), ("SAVEPOINT `s`", .ignored),
        ("XA START X'61',X'',1", .ignored), ("XA END X'61',X'',1", .ignored),
        ("XA COMMIT X'6162',X'63',1", .xaCommit(BinlogXID(format: 1, global: [0x61, 0x62], branch: [0x63]))),
        ("XA ROLLBACK X'61',X'',7", .xaRollback(BinlogXID(format: 7, global: [0x61], branch: []))),
        ("XA COMMIT 'x'", .xaCommit(nil)), ("GRANT SELECT ON d.t TO u", .ignored),
        ("/* note */ -- more\n  insert into t values (1)", .statement), ("UPDATE t SET a = 1", .statement),
        ("SET STATEMENT max_statement_time = 1 FOR DELETE FROM t", .statement), ("CALL p()", .statement),
        ("ANALYZE UPDATE t SET a = 1", .statement), ("", .statement), ("/* open", .statement),
    ])
    func statementsAreClassified(_ text: String, _ query: BinlogQuery) {
        #expect(BinlogQuery(schema: "d", text: text) == query)
    }

    @Test(
        "Definitions name their tables",
        arguments: [
            "TRUNCATE TABLE `t`", "/*!40000 ALTER TABLE `t` DISABLE KEYS */", "/*M!100100 DROP TABLE T */",
            "drop database d", "RENAME TABLE a TO t", "alter table d.t add x int",
        ])
    func definitions(_ text: String) throws {
        #expect(BinlogQuery(schema: "d", text: text) == .definition(schema: "d", text: text))
        let table = try #require(Self.watched.tables.values.first)
        #expect(table.isNamed(in: text))
        #expect(!table.isNamed(in: "DROP VIEW x"))
    }

    // MARK: Limits

    @Test("The length of a compressed event is limited")
    func inflatedLength() {
        func fault(_ bytes: [UInt8]) -> BinlogFault? {
            var reader = PackedReader(bytes)
            do throws(BinlogFault) {
                _ = try BinlogInflation.inflate(&reader)
                return nil
            } catch {
                return error
            }
        }
        #expect(fault([0x84, 0xFF, 0xFF, 0xFF, 0xFF, 0]) == .tooLong)
        #expect(fault([0x81, 9, 1, 2, 3]) == .malformed && fault([0x81, 0]) == .malformed)
        #expect(fault([0x91, 1, 0]) == .unsupported && fault([]) == .malformed)
    }

    @Test("A position is a list")
    func position() {
        #expect(BinlogPosition("2-1-9,0-1-270")?.description == "0-1-270,2-1-9")
        #expect(BinlogPosition("")?.description == "")
        #expect(BinlogPosition("0-1") == nil && BinlogPosition("a-1-2") == nil)
    }

    @Test(
        "Addresses are written as by the server",
        arguments: [
            ("1:2:3:4:5:6:7:8", [1, 2, 3, 4, 5, 6, 7, 8]), ("::", [0, 0, 0, 0, 0, 0, 0, 0]),
            ("::1", [0, 0, 0, 0, 0, 0, 0, 1]),
            ("1::", [1, 0, 0, 0, 0, 0, 0, 0]), ("1:0:2::3", [1, 0, 2, 0, 0, 0, 0, 3]),
            ("1::2:0:0:3", [1, 0, 0, 0, 2, 0, 0, 3]), ("::ffff:1.2.3.4", [0, 0, 0, 0, 0, 0xFFFF, 0x102, 0x304]),
        ] as [(String, [UInt16])])
    func addresses(_ text: String, _ words: [UInt16]) {
        #expect(StoredAddress.text6(words.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }) == text)
    }
}
