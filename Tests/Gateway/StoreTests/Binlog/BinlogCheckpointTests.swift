import RecordStore
import Testing

@testable import MariaDBStore

/// Stored positions of the binary log.
@Suite struct BinlogCheckpointTests {
    private let first = BinlogGTID(domain: 0, server: 7, sequence: 270)
    private let other = BinlogGTID(domain: 2, server: 7, sequence: 9)

    @Test("A reader begins after the last transaction")
    func beginning() throws {
        var checkpoint = try #require(BinlogCheckpoint("0-7-268,2-7-8"))
        checkpoint.advance(to: .init(gtid: BinlogGTID(domain: 0, server: 7, sequence: 269), timestamp: 5))
        checkpoint.advance(to: .init(gtid: first, timestamp: 6))
        #expect(checkpoint.description == "0-7-269,2-7-8 0-7-270 6")
        #expect(checkpoint.position.description == "0-7-270,2-7-8")
        #expect(BinlogCheckpoint(checkpoint.description) == checkpoint)
        checkpoint.advance(to: .init(gtid: other, timestamp: 7))
        #expect(checkpoint.description == "0-7-270,2-7-8 2-7-9 7")
    }

    @Test(
        "A damaged position is unknown",
        arguments: ["x", "0-7", "0-7-1 0-7-2", "0-7-1 0-7-2 x", "0-7-1  5", "0-7-1 0-7-2 5 6"])
    func damaged(_ text: String) { #expect(BinlogCheckpoint(text) == nil) }

    @Test("A position is reached if it is reached in all domains")
    func domains() throws {
        let position = BinlogPosition([first, other])
        #expect(position.hasReached(try #require(BinlogPosition("0-3-270"))))
        #expect(position.hasReached(BinlogPosition()))
        #expect(!position.hasReached(try #require(BinlogPosition("0-7-271"))))
        #expect(!position.hasReached(try #require(BinlogPosition("0-7-1,1-7-1"))))
    }

    @Test("A server has to log all rows")
    func rowFormat() {
        let good = ["LOG_BIN": "ON", "BINLOG_FORMAT": "ROW", "LOG_SLAVE_UPDATES": "OFF", "GTID_SLAVE_POS": ""]
        #expect(MariaDBRowLog.refusal(under: good) == nil)
        for (name, value) in [
            ("LOG_BIN", "OFF"), ("BINLOG_FORMAT", "MIXED"), ("WSREP_ON", "ON"), ("GTID_SLAVE_POS", "0-1-1"),
            ("LOWER_CASE_TABLE_NAMES", "2"),
        ] {
            var settings = good
            settings[name] = value
            #expect(MariaDBRowLog.refusal(under: settings) != nil, "\(name)")
        }
        for (image, isRefused) in [("FULL", false), ("MINIMAL", true), ("NOBLOB", true)] {
            let settings = good.merging(["BINLOG_ROW_IMAGE": image]) { _, last in last }
            #expect(MariaDBRowLog.refusal(under: settings) == nil)
            #expect((MariaDBRowLog.refusal(under: settings, keepsValues: true) != nil) == isRefused, "\(image)")
        }
    }
}
