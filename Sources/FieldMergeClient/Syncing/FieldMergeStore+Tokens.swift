import Synchronization

extension FieldMergeStore {
    /// Returns the last token, or requests one from the app.
    ///
    /// - Throws: `ConnectionLost` if the app has none now.
    func token() async throws -> (token: String, generation: Int) {
        if let token = tokens.token { return (token, tokens.generation) }
        return try await asked()
    }

    /// Requests another token from the app, unless a request has done so since.
    func renewToken(refused: Int) async throws {
        if tokens.generation == refused {
            tokens.token = nil
            _ = try await asked()
        }
    }

    private func asked() async throws -> (token: String, generation: Int) {
        let (asking, since) = askingUnderWay()
        do {
            let left = TokenSource.longestWait - (clock.monotonic() - since)
            let token = try await value(of: asking, within: left)
            if tokens.asking == asking {
                tokens.asking = nil
                tokens.token = token
                tokens.generation += 1
            }
            return (token, tokens.generation)
        } catch is CancellationError where Task.isCancelled {
            // The request was aborted. The app's answer may still arrive.
            throw CancellationError()
        } catch {
            if tokens.asking == asking { tokens.asking = nil }
            asking.cancel()
            throw ConnectionLost(reason: "the app returned no token: \(error)")
        }
    }

    /// Returns the running call of the app's function, or starts a call.
    private func askingUnderWay() -> (task: Task<String, any Error>, since: Double) {
        let now = clock.monotonic()
        if let asking = tokens.asking, now - tokens.askedAt < TokenSource.longestWait {
            return (asking, tokens.askedAt)
        }
        let ask = tokens.ask
        let asking = Task { try await ask() }
        tokens.asking = asking
        tokens.askedAt = now
        return (asking, now)
    }

    /// Returns the value of a task, within so many seconds and while this task runs.
    private func value(of task: Task<String, any Error>, within seconds: Double) async throws -> String {
        let answer = FirstAnswer()
        let waiting = Task { answer.give(await task.result) }
        let timer = Task { [clock] in
            try await clock.sleep(seconds: seconds)
            answer.give(.failure(TokenTimeout()))
        }
        defer {
            waiting.cancel()
            timer.cancel()
        }
        return try await withTaskCancellationHandler {
            try await answer.value()
        } onCancel: {
            answer.give(.failure(CancellationError()))
        }
    }

    /// Replaces the function that returns tokens, for example after `needsAuth`.
    public func setToken(_ token: @escaping @Sendable () async throws -> String) {
        tokens.ask = token
        tokens.token = nil
        tokens.generation += 1
        tell(.token)
    }
}

/// The error of a token function that has not answered in time.
struct TokenTimeout: Error, CustomStringConvertible {
    var description: String { "no answer within \(Int(TokenSource.longestWait)) s" }
}

/// The first of several answers, for one task that waits for it.
private final class FirstAnswer: Sendable {
    private struct State {
        var answer: Result<String, any Error>?
        var waiting: CheckedContinuation<String, any Error>?
    }

    private let state = Mutex(State())

    /// Accepts the first answer and ignores later ones.
    func give(_ answer: Result<String, any Error>) {
        let waiting: CheckedContinuation<String, any Error>? = state.withLock { state in
            guard state.answer == nil else { return nil }
            state.answer = answer
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(with: answer)
    }

    /// Waits for the first answer.
    func value() async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            let answer: Result<String, any Error>? = state.withLock { state in
                if state.answer == nil { state.waiting = continuation }
                return state.answer
            }
            if let answer { continuation.resume(with: answer) }
        }
    }
}
