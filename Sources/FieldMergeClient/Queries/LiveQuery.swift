/// The result of a query now and whenever it changes.
public struct LiveQuery: AsyncSequence, Sendable {
    /// The query.
    public let query: RecordQuery
    /// Rings for each change that may concern the query.
    let topic: Bells.Topic
    let bells: Bells
    let queries: LiveQueries

    /// Returns a reader that begins with the current result.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            window: Registered(queries.add(query), in: queries),
            ringing: bells.subscribe(to: topic).makeAsyncIterator())
    }

    /// A registration among the live queries of a store, until it is deallocated.
    final class Registered: Sendable {
        let number: Int
        let queries: LiveQueries

        init(_ number: Int, in queries: LiveQueries) {
            self.number = number
            self.queries = queries
        }

        deinit { queries.remove(number) }
    }

    /// A reader.
    public struct Iterator: AsyncIteratorProtocol {
        let window: Registered
        var ringing: AsyncStream<Void>.Iterator
        var last: QueryResult?
        var isFirst = true

        init(window: Registered, ringing: AsyncStream<Void>.Iterator) {
            self.window = window
            self.ringing = ringing
        }

        /// Returns the next different result; nil if the store is closed or the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> QueryResult? {
            while !Task.isCancelled {
                if !isFirst, await ringing.next(isolation: actor) == nil { return nil }
                isFirst = false
                if let now = await window.queries.value(of: window.number), now != last {
                    last = now
                    return now
                }
            }
            return nil
        }
    }
}
