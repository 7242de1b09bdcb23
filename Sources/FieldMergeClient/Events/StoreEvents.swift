/// A sequence of events of one kind.
///
/// Unread events wait on disk for the next reader, also over a restart. Several readers at once each get every event. If
/// the process ends while a reader handles an event, the event is delivered again.
public struct StoreEvents<Element: Sendable>: AsyncSequence, Sendable {
    let store: FieldMergeStore
    let kind: EventKind
    let decode: @Sendable (JSONValue) async -> Element?

    /// Returns a reader that begins with the first undelivered event.
    public func makeAsyncIterator() -> Iterator { Iterator(reader: Reader(events: self)) }

    /// A reader; an event is deleted once its reader requests the next one, or ends.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: Reader

        /// Returns the next event; nil if the store is closed or the task is cancelled.
        public mutating func next() async -> Element? { await reader.next() }
    }

    /// A reader's registration, which ends with the reader.
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
        /// The last event that it got.
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

    /// Queues events of open forms for each reader.
    mutating func tell(_ events: [JSONValue]) { for reader in readers.keys { readers[reader]?.live += events } }

    /// Returns the next event of an open form that a reader has not got.
    mutating func takeLive(_ reader: Int) -> JSONValue? {
        guard readers[reader]?.live.isEmpty == false else { return nil }
        return readers[reader]?.live.removeFirst()
    }

    /// Returns the last event that a reader got and has handled now.
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
