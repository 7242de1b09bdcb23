public import FieldMergeClient
import Foundation
import Synchronization

/// A gateway in memory: it serves rules, records, changes, snapshots and sync over no network; a script of errors may come
/// before it (`script`).
///
/// It merges group by group as the contract says, with the policies `client-wins`, `server-wins` and `reject` and the
/// function `add`; other functions leave it to the policy. Of values it checks no more than that none is null in a field
/// that has one always; it knows no access rules.
public final class MemoryGateway: Transport {
    /// The faults that come before an answer: errors, delays, breaks.
    public let script: ScriptedServer
    private let state: Mutex<MemoryGatewayState>

    /// Makes a gateway.
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

    /// Sends a request; returns its answer as soon as the status is known.
    public func send(_ request: TransportRequest) async throws -> TransportResponse { try await script.send(request) }

    /// Changes a record like another client; nil deletes it.
    public func put(_ record: JSONValue?, in resource: String, id: some RecordID) {
        let place = MemoryPlace(resource: resource, key: id.jsonValue.key)
        state.withLock { $0.put(record, at: place) }
    }

    /// Replaces the rules, and gives each record another form; returns false if the rules cannot be read.
    ///
    /// A resource without `shape` gets a digest of its names and types. As in a migration, the
    /// feed gets no change: clients see the other version of the rules and fetch the records of other shapes.
    @discardableResult
    public func change(
        rules: JSONValue, _ record: (_ resource: String, _ record: JSONValue) -> JSONValue = { $1 }
    ) -> Bool {
        state.withLock { $0.change(rules: rules, record) }
    }

    /// Returns a record as it stands; nil where there is none.
    public func record(_ resource: String, _ id: some RecordID) -> JSONValue? {
        let key = id.jsonValue.key
        return state.withLock { $0.records[MemoryPlace(resource: resource, key: key)] }
    }

    /// Returns every record of a resource.
    public func records(_ resource: String) -> [JSONValue] {
        state.withLock { state in state.records.filter { $0.key.resource == resource }.map(\.value) }
    }

    /// Begins another feed: every client has to take a snapshot.
    public func beginAnew() { state.withLock { $0.beginAnew() } }

    /// Begins another history without the journal: the keys of earlier pushes are unknown.
    package func loseJournal(at time: Double) { state.withLock { $0.loseJournal(at: time) } }

    /// Returns the number of the next row.
    package func nextID() -> JSONValue { state.withLock { $0.nextID() } }

    /// Keeps the records and the keys of pushes for `restore`.
    package func backUp() { state.withLock { $0.backUp() } }

    /// Begins another history with the records and keys of the last `backUp`; numbers are given out again.
    package func restore(at time: Double) { state.withLock { $0.restore(at: time) } }

    /// The keys of the pushes that were run, each as often as it was.
    public var runs: [String] { state.withLock(\.runs) }

    private func serve(_ request: TransportRequest) -> Reply { state.withLock { $0.serve(request) } }

    /// Lets the script find its gateway, which is made after it.
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
