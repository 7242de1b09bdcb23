import Synchronization

/// The turn of something long that may have to wait for rows that another program holds.
///
/// Where it takes longer than it should, it lends its room to the next, so that one row that is locked for long does not
/// hold up all that is long.
final class LongTurn: Sendable {
    private struct State {
        var isLent = false
        var isOver = false
    }

    private let turns: Turns
    private let state = Mutex(State())
    private let alarm: Mutex<Task<Void, Never>?> = Mutex(nil)

    /// Turns that are lent at once.
    static let mostLent = 5

    /// Takes over a turn that has begun.
    ///
    /// - Parameter patience: how long it keeps others waiting.
    init(in turns: Turns, patience: Duration) {
        self.turns = turns
        let task = Task { [weak self] in
            guard (try? await Task.sleep(for: patience)) != nil else { return }
            self?.lend()
        }
        alarm.withLock { $0 = task }
    }

    private func lend() {
        state.withLock { state in
            if !state.isOver { state.isLent = turns.lend(1, most: Self.mostLent) }
        }
    }

    /// Ends the turn.
    func end() {
        alarm.withLock { $0?.cancel() }
        state.withLock { state in
            state.isOver = true
            if state.isLent { turns.endLoan() } else { turns.leave(1) }
        }
    }
}
