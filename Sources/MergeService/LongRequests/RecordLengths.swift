import MergeCore
import Synchronization

/// Remembers which records were long when they were read, and how long those of a resource are on average.
///
/// How long a record is the database tells only with the record itself. Whoever asks again for one that was long does so
/// alone, so that others do not wait until it is read, written as JSON and sent.
final class RecordLengths: Sendable {
    private struct Name: Hashable {
        let resource: String
        let key: RecordKey
    }

    /// The records of a resource on average.
    private struct Mean {
        var bytes: Double
        /// The part of them that is long.
        var long: Double
    }

    private struct State {
        /// Records that were long, in two generations: what nobody asks for is forgotten with the older one.
        var young: [Name: Int] = [:]
        var old: [Name: Int] = [:]
        /// By the resource: of those whose length nobody knew before.
        var means: [String: Mean] = [:]

        mutating func known(_ name: Name) -> Int? {
            if let length = young[name] { return length }
            guard let length = old[name] else { return nil }
            keep(length, of: name)
            return length
        }

        mutating func length(of key: RecordKey, in resource: Resource) -> Int? {
            if let length = known(Name(resource: resource.name, key: key)) { return length }
            guard let mean = means[resource.name], mean.long >= 0.5 else { return nil }
            return Int(clamping: mean.bytes)
        }

        mutating func keep(_ length: Int, of name: Name) {
            if young.count >= RecordLengths.generation {
                old = young
                young.removeAll(keepingCapacity: true)
            }
            young[name] = length
        }

        mutating func remove(_ name: Name) {
            young[name] = nil
            old[name] = nil
        }

        mutating func count(_ length: Int, of resource: String) {
            let own = Mean(bytes: Double(length), long: length >= RecordLengths.long ? 1 : 0)
            let mean = means[resource] ?? own
            means[resource] = Mean(
                bytes: mean.bytes + (own.bytes - mean.bytes) * RecordLengths.weight,
                long: mean.long + (own.long - mean.long) * RecordLengths.weight)
        }
    }

    /// Bytes from which a record is long.
    static let long = 65_536
    fileprivate static let generation = 2_048
    /// The part of the average that one record has.
    fileprivate static let weight = 1.0 / 64

    private let state = Mutex(State())

    /// Returns the bytes of a record that was long when it was read last, and of one that nobody has read where most of its
    /// resource are long, or none was read yet; nil for one that is short.
    func long(_ key: RecordKey, of resource: Resource) -> Int? {
        guard resource.hasLength else { return nil }
        return state.withLock { state in
            if state.means[resource.name] == nil, resource.mayBeLong { return Self.long }
            return state.length(of: key, in: resource)
        }
    }

    /// Returns the same, and nil where no record of the resource was read yet.
    func known(_ key: RecordKey, of resource: Resource) -> Int? {
        guard resource.hasLength else { return nil }
        return state.withLock { $0.length(of: key, in: resource) }
    }

    /// Returns the bytes of a record of a resource on average; nil where nobody knows, or all are short.
    func mean(of resource: Resource) -> Int? {
        guard resource.hasLength else { return nil }
        return state.withLock { $0.means[resource.name].map { Int($0.bytes) } }
    }

    /// Learns how long records are that were asked for; where there are none, that the resource has none that are long.
    func note(_ records: [Record], of resource: Resource) {
        guard resource.hasLength else { return }
        let lengths = records.map { $0.length(in: resource) }
        state.withLock { state in
            if records.isEmpty, state.means[resource.name] == nil { state.count(0, of: resource.name) }
            for (record, length) in zip(records, lengths) {
                // Mostly none of them ever was long.
                if length < Self.long, state.young.isEmpty, state.old.isEmpty {
                    state.count(length, of: resource.name)
                    continue
                }
                let name = Name(resource: resource.name, key: record.key)
                let isLong = length >= Self.long
                // One that is known to be long says nothing of the others, however often it is asked for.
                let wasKnown = state.known(name) != nil
                if isLong { state.keep(length, of: name) } else { state.remove(name) }
                if !isLong || !wasKnown { state.count(length, of: resource.name) }
            }
        }
    }
}
