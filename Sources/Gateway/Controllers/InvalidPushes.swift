import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore
import Synchronization

/// Keeps a line of each push that was not valid, so that an operator can find faulty clients.
final class InvalidPushes: Sendable {
    private struct Day {
        let start: ContinuousClock.Instant
        var count = 0
    }

    private let days = Mutex<[ExactText: Day]>([:])
    private let maintenance: Maintenance
    private let perDay: Int
    private static let mostClients = 10_000
    private static let day = Duration.seconds(86_400)
    /// The answer waits for the line at most this long.
    private static let patience = Duration.seconds(1)

    /// - Parameter perDay: the maximum lines of a client in a day, so that a repeated faulty push does not fill the journal.
    init(perDay: Int, _ maintenance: Maintenance) {
        self.perDay = perDay
        self.maintenance = maintenance
    }

    /// Keeps the line of a push with a status of 400; a failure of the journal has no effect.
    func note(_ error: any Error, of sent: SentRequest, by sender: Sender, in journal: Journal?) async {
        let problem = (error as? Problem) ?? (error as? Failure)?.problem
        guard let problem, problem.isInvalid, perDay > 0, let journal, !maintenance.isOn, admits(sender.who) else {
            return
        }
        let line = InvalidPush(problem, byteCount: sent.body.count)
        try? await journal.keep(
            RefusedBody(address: sent.address, body: line.content, reason: problem.code.rawValue), of: sender,
            request: sent.id, until: .now.advanced(by: Self.patience))
    }

    private func admits(_ who: String, at now: ContinuousClock.Instant = .now) -> Bool {
        days.withLock { days in
            if days.count >= Self.mostClients { days = days.filter { now - $1.start < Self.day } }
            var day = days[ExactText(who)] ?? Day(start: now)
            if now - day.start >= Self.day { day = Day(start: now) }
            day.count += 1
            days[ExactText(who)] = day
            return day.count <= perDay
        }
    }
}
