import MergeCore
import RecordStore
import Synchronization

/// The devices that have used this gateway, and when the journal last stored them.
///
/// A request only changes this table in memory. `ClientWatch` stores it.
final class SeenClients: Sendable {
    private struct Client {
        var program: String?
        var feed: String?
        var revision: Int?
        /// nil if the journal has the latest requests.
        var isNew = true
        var stored: ContinuousClock.Instant?
    }

    private struct State {
        var clients: [ExactText: [ExactText: Client]] = [:]
        var count = 0
    }

    private let state = Mutex(State())
    private let isOn: Bool
    private static let mostClients = 20_000
    /// The devices of one sender; a client may choose a new name for each request.
    private static let mostDevices = 1_000
    private static let longestProgram = 255
    /// The time between two writes of one device.
    private static let interval = Duration.seconds(60)

    /// - Parameter isOn: false without a console; then nothing is noted.
    init(isOn: Bool) { self.isOn = isOn }

    /// Notes a request; further devices are ignored when the table is full.
    ///
    /// - Parameters:
    ///   - program: the header `X-Client`.
    ///   - position: the feed and the revision that the client has; nil if the request does not name them.
    func note(_ sender: Sender, program: String?, at position: (feed: String, revision: Int)? = nil) {
        guard isOn else { return }
        let (who, device) = (ExactText(sender.who), ExactText(sender.device ?? ""))
        state.withLock { state in
            if state.clients[who]?[device] == nil {
                guard state.count < Self.mostClients, state.clients[who]?.count ?? 0 < Self.mostDevices else { return }
                state.count += 1
            }
            var client = state.clients[who]?[device] ?? Client()
            if let program { client.program = String(program.prefix(Self.longestProgram)) }
            if let position { (client.feed, client.revision) = (position.feed, position.revision) }
            client.isNew = true
            state.clients[who, default: [:]][device] = client
        }
    }

    /// Forgets all devices; each is noted again at its next request.
    func forget() { state.withLock { $0 = State() } }

    /// Returns the devices that are due to be stored.
    func due(at now: ContinuousClock.Instant = .now) -> [ClientRow] {
        state.withLock { state in
            state.clients.flatMap { who, devices in
                devices.compactMap { device, client in
                    guard client.isNew, client.stored.map({ now - $0 >= Self.interval }) ?? true else { return nil }
                    return ClientRow(
                        who: who.string, device: device.string, program: client.program, feed: client.feed,
                        revision: client.revision)
                }
            }
        }
    }

    /// Records that devices were stored; a device with a later request stays due.
    func noteStored(_ rows: [ClientRow], at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            for row in rows {
                let (who, device) = (ExactText(row.who), ExactText(row.device))
                guard var client = state.clients[who]?[device] else { continue }
                client.isNew = client.revision != row.revision || client.feed != row.feed
                client.stored = now
                state.clients[who]?[device] = client
            }
        }
    }
}
