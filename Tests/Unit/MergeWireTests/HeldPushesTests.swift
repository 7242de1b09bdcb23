import Testing

@testable import MergeWire

/// A push is held only if it may build on a push that may succeed later.
@Suite struct HeldPushesTests {
    private static func names(_ edits: String) -> PushNames {
        Array(#"{"key":"k","edits":[\#(edits)]}"#.utf8).withUnsafeBytes {
            PushDecoder(catalog: DecoderTests.catalog, limits: WireLimits())
                .syncedPush($0, sender: "", syncFeed: nil).names
        }
    }

    private static func edit(_ id: String, _ new: String = "1") -> String {
        #"{"resource":"shoppers","id":\#(id),"changeset":{"customer":{"firstName":{"old":"","new":\#(new)}}}}"#
    }

    @Test("Nothing is held at first, and everything after a push that may succeed later") func all() {
        var held = HeldPushes()
        #expect(!held.holds(Self.names(Self.edit("1"))))
        held.holdAll()
        #expect(held.holds(Self.names("")))
    }

    @Test(
        "A push that was not run holds pushes of its records and temporary ids",
        arguments: [
            (edit("1"), edit("1"), true), (edit("1"), edit(#""1""#), true), (edit("1"), edit("2"), false),
            (edit(#""tmp:a""#), edit("2", #""tmp:a""#), true), (edit(#""tmp:a""#), edit("2", #""tmp:b""#), false),
            (edit("1", #""tmp:a""#), edit(#""tmp:a""#), true),
        ]) func notRun(earlier: String, later: String, isHeld: Bool)
    {
        var held = HeldPushes()
        held.hold(after: Self.names(earlier), of: [])
        #expect(held.holds(Self.names(later)) == isHeld)
    }

    @Test("A resource that is out of service holds pushes that name it") func outOfService() {
        var held = HeldPushes()
        held.hold(after: Self.names(Self.edit("1")), of: ["shoppers"])
        #expect(held.holds(Self.names(Self.edit("2"))))
        #expect(!held.holds(Self.names(#"{"resource":"aisles","id":1,"changeset":{}}"#)))
    }

    @Test("A body that is not JSON has no names") func broken() {
        let names = Array("{".utf8).withUnsafeBytes {
            PushDecoder(catalog: DecoderTests.catalog, limits: WireLimits())
                .syncedPush($0, sender: "", syncFeed: nil).names
        }
        #expect(names.resources.isEmpty && names.created.isEmpty)
    }
}
