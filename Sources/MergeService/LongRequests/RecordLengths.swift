import MergeCore
import Synchronization

/// The long records at their last read, and the mean length of each resource.
///
/// The database reports the length of a record only with the record. So a record that was long is read alone, and short
/// reads do not wait for it.
final class RecordLengths: Sendable {
    private struct Name: Hashable {
        let resource: String
        let key: RecordKey
    }

    private struct Mean {
        var bytes: Double
        /// The fraction of long records.
        var long: Double
    }

    private struct State {
        /// Long records in two generations; records without a recent lookup are dropped with the older one.
        var young: [Name: Int] = [:]
        var old: [Name: Int] = [:]
        /// The mean of each resource, over records that were not recorded as long before.
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

    /// The length in bytes from which a record is long.
    static let long = 65_536
    fileprivate static let generation = 2_048
    /// The weight of one record in the mean.
    fileprivate static let weight = 1.0 / 64

    private let state = Mutex(State())

    /// Returns the bytes of a long record; nil if it is short.
    ///
    /// An unread record counts as long if most records of its resource are, or if none was read yet.
    func long(_ key: RecordKey, of resource: Resource) -> Int? {
        guard resource.hasLength else { return nil }
        return state.withLock { state in
            if state.means[resource.name] == nil, resource.mayBeLong { return Self.long }
            return state.length(of: key, in: resource)
        }
    }

    /// Returns the bytes of a long record; nil also if no record of the resource was read yet.
    func known(_ key: RecordKey, of resource: Resource) -> Int? {
        guard resource.hasLength else { return nil }
        return state.withLock { $0.length(of: key, in: resource) }
    }

    /// Returns the mean bytes of a resource's records; nil if none was read, or none can be long.
    func mean(of resource: Resource) -> Int? {
        guard resource.hasLength else { return nil }
        return state.withLock { $0.means[resource.name].map { Int($0.bytes) } }
    }

    /// Records the lengths of records that were read; an empty read counts as a short record.
    func note(_ records: [Record], of resource: Resource) {
        guard resource.hasLength else { return }
        let lengths = records.map { $0.length(in: resource) }
        state.withLock { state in
            if records.isEmpty, state.means[resource.name] == nil { state.count(0, of: resource.name) }
            for (record, length) in zip(records, lengths) {
                if length < Self.long, state.young.isEmpty, state.old.isEmpty {
                    state.count(length, of: resource.name)
                    continue
                }
                let name = Name(resource: resource.name, key: record.key)
                let isLong = length >= Self.long
                // A repeated read of a long record does not change the mean.
                let wasKnown = state.known(name) != nil
                if isLong { state.keep(length, of: name) } else { state.remove(name) }
                if !isLong || !wasKnown { state.count(length, of: resource.name) }
            }
        }
    }
}
