import MergeCore
import Testing

@testable import MergeWire

/// The keys of rows that earlier pushes of a sync created.
@Suite struct EarlierIDsTests {
    private static let shoppers = DecoderTests.catalog.resources[0]
    private static let first = TemporaryID("tmp:first")
    private static let item = TemporaryID("tmp:item")
    private static let lost = TemporaryID("tmp:lost")
    private static let created = [
        first: shoppers.sections[0], item: shoppers.sections[1], lost: shoppers.sections[0],
        TemporaryID("-1"): shoppers.sections[0],
    ]

    private static func result(first key: Int128) -> PushResult {
        PushResult(
            key: "k", status: .merged,
            results: [
                EditResult(
                    resource: shoppers, id: .key(RecordKey([.integer(key)])), status: .merged,
                    ids: [
                        IDMapping(temporary: first, key: RecordKey([.integer(key)]), section: 0),
                        IDMapping(temporary: item, key: RecordKey([.integer(7)]), section: 1),
                        IDMapping(temporary: TemporaryID("-1"), key: RecordKey([.integer(8)]), section: 0),
                    ])
            ])
    }

    private static func check(_ ids: EarlierIDs, first key: Int128) {
        #expect(ids.key(first, in: shoppers.sections[0].table) == RecordKey([.integer(key)]))
        #expect(ids.key(first, in: shoppers.sections[1].table) == nil)
        #expect(ids.key(item, in: nil) == RecordKey([.integer(7)]))
        #expect(ids.key(TemporaryID("-1"), in: nil) == nil)
        #expect(ids.refusedIDs == [lost])
    }

    @Test("A result and its stored answer have the same rows") func sources() {
        var new = EarlierIDs()
        new.note(Self.created, in: Self.result(first: 5))
        Self.check(new, first: 5)
        var stored = EarlierIDs()
        stored.note(Self.created, inStored: ResultEncoder.push(Self.result(first: 5)))
        Self.check(stored, first: 5)
    }

    @Test("A later push replaces the rows of its ids") func replacement() {
        var ids = EarlierIDs()
        ids.noteNoRows(Self.created)
        #expect(ids.refusedIDs == [Self.first, Self.item, Self.lost])
        ids.note(Self.created, in: Self.result(first: 6))
        Self.check(ids, first: 6)
        ids.noteNoRows([Self.first: Self.shoppers.sections[0]])
        #expect(ids.key(Self.first, in: nil) == nil)
        #expect(ids.refusedIDs == [Self.first, Self.lost])
    }

    @Test("An answer that is not JSON has no rows") func broken() {
        var ids = EarlierIDs()
        ids.note(Self.created, inStored: Array("{".utf8))
        #expect(ids.refusedIDs == [Self.first, Self.item, Self.lost])
    }
}
