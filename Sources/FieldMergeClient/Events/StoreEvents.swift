/// Events of one kind, as they happen.
///
/// What nobody has read waits on disk, also over a restart, for the next reader; several readers at once are each told of
/// everything. An event that a reader was busy with when the process ended is told once more.
public struct StoreEvents<Element: Sendable>: AsyncSequence, Sendable {
    let store: FieldMergeStore
    let kind: EventKind
    let decode: @Sendable (JSONValue) async -> Element?

    /// Returns a reader that begins with the first undelivered event.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(events: self)) }

    /// A reader; an event is deleted once its reader requests the next one, or ends.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: Reader

        /// Returns the next event; nil once the store is closed or the task cancelled.
        public mutating func next() async -> Element? { await reader.next() }
    }

    /// A reader's place, which it gives up when it ends.
    final class Reader {
        private let events: StoreEvents
        private let bell: AsyncStream<Void>
        private var ringing: AsyncStream<Void>.Iterator
        private let reader: Int

        init(events: StoreEvents) {
            self.events = events
            reader = events.store.beginReading(events.kind)
            bell = events.store.bells.subscribe(to: .events)
            ringing = bell.makeAsyncIterator()
        }

        deinit {
            let (store, kind, reader) = (events.store, events.kind, reader)
            Task { await store.endReading(kind, reader) }
        }

        func next() async -> Element? {
            while true {
                while let event = await events.store.takeEvent(events.kind, reader) {
                    if let element = await events.decode(event.body) { return element }
                }
                guard await ringing.next() != nil, !Task.isCancelled else { return nil }
            }
        }
    }
}

/// The readers of the events of one kind.
struct EventReaders {
    private struct Reader {
        /// The last event that it was given.
        var taken: Int64
        /// The last event that it is done with.
        var done: Int64
        /// Events of open forms, which no disk has.
        var live: [JSONValue] = []
    }

    private var readers: [Int: Reader] = [:]
    private var given: Int64 = 0
    private var next = 0

    /// Adds a reader that begins with the first undelivered event.
    mutating func add() -> Int {
        next += 1
        readers[next] = Reader(taken: given, done: given)
        return next
    }

    /// Has each reader be given events of open forms.
    mutating func tell(_ events: [JSONValue]) { for reader in readers.keys { readers[reader]?.live += events } }

    /// Returns the next event of an open form that a reader was not given.
    mutating func takeLive(_ reader: Int) -> JSONValue? {
        guard readers[reader]?.live.isEmpty == false else { return nil }
        return readers[reader]?.live.removeFirst()
    }

    /// Returns the last event that a reader was given, with which it is done now.
    mutating func ask(_ reader: Int) -> Int64? {
        guard let taken = readers[reader]?.taken else { return nil }
        readers[reader]?.done = taken
        return taken
    }

    mutating func give(_ event: Int64, to reader: Int) {
        readers[reader]?.taken = event
        given = max(given, event)
    }

    mutating func remove(_ reader: Int) { readers[reader] = nil }

    /// The last event that every reader has handled.
    var forgettable: Int64 { readers.values.map(\.done).min() ?? given }
}
