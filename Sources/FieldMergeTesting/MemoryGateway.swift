public import FieldMergeClient
import Foundation
import Synchronization

/// A gateway in memory, without a network: rules, records, changes, snapshots and sync.
///
/// A script of errors may precede it (`script`).
///
/// It merges each group as the contract requires, with the policies `client-wins`, `server-wins` and `reject` and the
/// function `add`. It uses the policy in place of other functions. It only checks that a field that is not nullable
/// is not null. It has no access rules.
public final class MemoryGateway: Transport {
    /// The errors, delays and broken connections before an answer.
    public let script: ScriptedServer
    private let state: Mutex<MemoryGatewayState>

    /// Creates a gateway.
    ///
    /// - Parameters:
    ///   - rules: the answer to `GET /v1/rules`.
    ///   - records: the records of each resource.
    ///   - defaults: the values of fields that a creation leaves out, by resource and section.
    ///   - clock: measures the delays of `script`.
    public init?(
        rules: JSONValue, records: [String: [JSONValue]] = [:], defaults: [String: [String: JSONObject]] = [:],
        clock: any StoreClock = SystemClock()
    ) {
        guard let state = MemoryGatewayState(rules: rules, records: records, defaults: defaults) else { return nil }
        let box = MemoryGatewayBox()
        self.state = Mutex(state)
        script = ScriptedServer(clock: clock) { request in box.owner()?.serve(request) ?? .none }
        box.own(self)
    }

    /// Sends a request; returns its answer as soon as its status arrives.
    public func send(_ request: TransportRequest) async throws -> TransportResponse { try await script.send(request) }

    /// Changes a record as another client would; nil deletes it.
    public func put(_ record: JSONValue?, in resource: String, id: some RecordID) {
        let place = MemoryPlace(resource: resource, key: id.jsonValue.key)
        state.withLock { $0.put(record, at: place) }
    }

    /// Replaces the rules, and the form of each record.
    ///
    /// Returns false if the rules cannot be read.
    ///
    /// A resource without `shape` gets a digest of its names and types. As in a migration, the feed gets no change.
    /// Clients read the new rules and fetch the records of other shapes.
    @discardableResult
    public func change(
        rules: JSONValue, _ record: (_ resource: String, _ record: JSONValue) -> JSONValue = { $1 }
    ) -> Bool {
        state.withLock { $0.change(rules: rules, record) }
    }

    /// Returns the current record; nil if there is none.
    public func record(_ resource: String, _ id: some RecordID) -> JSONValue? {
        let key = id.jsonValue.key
        return state.withLock { $0.records[MemoryPlace(resource: resource, key: key)] }
    }

    /// Returns all records of a resource.
    public func records(_ resource: String) -> [JSONValue] {
        state.withLock { state in state.records.filter { $0.key.resource == resource }.map(\.value) }
    }

    /// Begins another feed, so that every client needs a snapshot.
    public func beginAnew() { state.withLock { $0.beginAnew() } }

    /// Begins another history without the journal.
    ///
    /// The keys of earlier pushes are then unknown.
    package func loseJournal(at time: Double) { state.withLock { $0.loseJournal(at: time) } }

    /// Returns the number of the next row.
    package func nextID() -> JSONValue { state.withLock { $0.nextID() } }

    /// Keeps the records and the keys of pushes for `restore`.
    package func backUp() { state.withLock { $0.backUp() } }

    /// Begins another history with the records and keys of the last `backUp`.
    ///
    /// Row numbers are assigned again.
    package func restore(at time: Double) { state.withLock { $0.restore(at: time) } }

    /// The keys of the pushes that were run, with repetitions.
    public var runs: [String] { state.withLock(\.runs) }

    private func serve(_ request: TransportRequest) -> Reply { state.withLock { $0.serve(request) } }

    /// Connects the script with its gateway, which is created after it.
    private final class MemoryGatewayBox: Sendable {
        private struct Weak {
            weak var gateway: MemoryGateway?
        }

        private let held = Mutex(Weak())

        func own(_ gateway: MemoryGateway) { held.withLock { $0.gateway = gateway } }

        func owner() -> MemoryGateway? { held.withLock(\.gateway) }
    }
}

/// A record of a gateway in memory.
struct MemoryPlace: Hashable, Comparable {
    let resource: String
    let key: IDText

    static func < (a: MemoryPlace, b: MemoryPlace) -> Bool { (a.resource, a.key) < (b.resource, b.key) }
}
