import ChangeFeed
import RecordStore
import Testing

@testable import Operations

/// A history is compared with the highest known position.
@Suite struct HistoryChangeTests {
    private static let epoch = FeedTables.epochSize

    private static func position(
        server: String? = "server 1", commits: String = "0-1-50", journal: String = "j", feed: String = "f",
        revision: Int = 100, entry: Int = 90
    ) -> HistoryPosition {
        HistoryPosition(
            server: ServerPosition(server: server, commits: CommitPosition(commits)), journal: journal, feed: feed,
            revision: revision, entry: entry)
    }

    private static let memory = position()

    @Test(
        "Each way to go back has its faults",
        arguments: [
            (position(), []), (position(commits: "0-1-51", revision: 101, entry: 91), []),
            (position(revision: 99), [.feedBehind]), (position(entry: 89), [.entriesBehind]),
            (position(commits: "0-1-49"), [.commitsBehind]),
            (position(commits: "0-2-49"), [.commitsBehind]), (position(commits: "0-2-51"), []),
            (position(commits: ""), []), (position(commits: "1-1-3"), []),
            (position(server: "server 2"), [.otherServer]),
            (position(server: "server 2", revision: 99), [.feedBehind, .otherServer]),
            (position(journal: "k"), [.otherJournal]),
            (position(journal: "k", feed: "g", revision: 1, entry: 0), []),
            // Another gateway has begun a feed.
            (position(feed: "g", revision: epoch + 1), []), (position(feed: "g", revision: epoch + 1, entry: 5), []),
            (position(commits: "0-1-4", feed: "g", revision: epoch + 1), []),
            (position(feed: "g", revision: 200), [.feedBehind]),
        ] as [(HistoryPosition, [HistoryFault])])
    func faults(found: HistoryPosition, faults: [HistoryFault]) {
        let change = found.change(since: Self.memory, noted: nil)
        #expect(change?.faults ?? [] == faults)
    }

    @Test("A feed of a lower epoch is older, whatever its name")
    func lowerEpoch() {
        let memory = Self.position(feed: "g", revision: 2 * Self.epoch + 5)
        #expect(
            Self.position(feed: "f", revision: Self.epoch + 500).change(since: memory, noted: nil)?.losesKeys == true)
        #expect(Self.position(feed: "h", revision: 2 * Self.epoch + 9).change(since: memory, noted: nil) != nil)
        #expect(Self.position(feed: "h", revision: 3 * Self.epoch + 1).change(since: memory, noted: nil) == nil)
    }

    @Test("Keys are lost unless this gateway has found that nothing is missing")
    func lostKeys() {
        let other = Self.position(server: "server 2")
        #expect(other.change(since: Self.memory, noted: nil)?.losesKeys == false)
        #expect(other.change(since: nil, noted: Self.memory.server)?.losesKeys == true)
        #expect(Self.position(revision: 99).change(since: Self.memory, noted: nil)?.losesKeys == true)
    }

    @Test("The server that the journal notes counts without any memory")
    func noted() {
        #expect(Self.position().change(since: nil, noted: nil) == nil)
        #expect(Self.position().change(since: nil, noted: Self.memory.server) == nil)
        let behind = Self.position(commits: "0-1-49").change(since: nil, noted: Self.memory.server)
        #expect(behind?.faults == [.commitsBehind])
    }

    @Test(
        "Commit positions of both servers are read",
        arguments: [
            ("0-1-5", "0-1-5", false), ("0-1-5", "0-1-6", true), ("0-1-5,0-2-7", "0-2-6", false),
            ("1-1-3,0-1-9", "0-1-9,1-1-4", true), ("", "0-1-1", false), ("a:1-5:8-9", "a:1-9", false),
            ("a:1-5,\nb:1-3", "b:1-4", true), ("a:7", "a:8", true), ("nonsense", "a:8", false),
        ])
    func positions(found: String, known: String, isBehind: Bool) {
        #expect(CommitPosition(found).isBehind(CommitPosition(known)) == isBehind)
        let union = CommitPosition(found).union(CommitPosition(known))
        #expect(!union.isBehind(CommitPosition(known)) && !union.isBehind(CommitPosition(found)))
        #expect(CommitPosition(union.text) == union)
    }

    @Test("The server is noted as text and read again")
    func text() {
        let server = Self.memory.server
        #expect(ServerPosition(text: server.text) == server)
        #expect(ServerPosition(text: nil) == nil)
        let none = ServerPosition(server: nil, commits: CommitPosition(""))
        #expect(ServerPosition(text: none.text) == none)
    }

    // MARK: The memory of a gateway

    @Test("A revision counts once it is confirmed, entries and commits once a later revision is")
    func memoryOf() {
        var memory = HistoryMemory(highest: nil)
        let first = Self.position(commits: "0-1-50", revision: 100, entry: 90)
        let start = memory.advance(to: first, confirmed: nil)
        #expect(start.revision == 0 && start.entry == 0 && start.server.commits == CommitPosition(""))
        let confirmed = memory.advance(to: first, confirmed: FeedState(feed: "f", revision: 100, earliest: 1))
        #expect(confirmed.revision == 100 && confirmed.entry == 0)
        let same = memory.advance(to: first, confirmed: FeedState(feed: "f", revision: 100, earliest: 1))
        #expect(same.entry == 0)
        let second = Self.position(commits: "0-1-51", revision: 101, entry: 91)
        let later = memory.advance(to: second, confirmed: FeedState(feed: "f", revision: 101, earliest: 1))
        #expect(later.revision == 101 && later.entry == 90 && later.server.commits == CommitPosition("0-1-50"))
    }

    @Test("A new feed begins a new memory")
    func newFeed() {
        var memory = HistoryMemory(highest: Self.memory)
        let found = Self.position(feed: "g", revision: Self.epoch + 7)
        let now = memory.advance(to: found, confirmed: FeedState(feed: "f", revision: 100, earliest: 1))
        #expect(now.feed == "g" && now.revision == Self.epoch && now.entry == 0)
    }
}
