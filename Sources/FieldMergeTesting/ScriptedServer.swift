public import FieldMergeClient
import Foundation
import Synchronization

/// A transport without a network.
///
/// What a test put into the script comes first, one entry a request; then comes the
/// handler, and without one there is no network.
public final class ScriptedServer: Transport {
    /// A function that answers requests.
    public typealias Handler = @Sendable (TransportRequest) async -> Reply

    private struct State {
        var requests: [TransportRequest] = []
        var script: [Handler] = []
        var holds: @Sendable (TransportRequest) -> Bool = { _ in false }
        var tellHeld: @Sendable (HeldRequest) -> Void = { _ in }
        var waiting: [HeldRequest] = []
    }

    private let handler: Handler?
    private let clock: any StoreClock
    private let state = Mutex(State())
    private let held = AsyncStream<HeldRequest>.makeStream()

    /// Makes a server.
    ///
    /// - Parameters:
    ///   - clock: the clock by which answers are late.
    ///   - handler: answers what the script does not.
    public init(clock: any StoreClock = SystemClock(), handler: Handler? = nil) {
        self.clock = clock
        self.handler = handler
    }

    /// Every request that came, in order.
    public var requests: [TransportRequest] { state.withLock(\.requests) }

    // MARK: The script

    /// The next request gets this.
    public func reply(_ reply: Reply) { add { _ in reply } }

    /// The next request gets this answer.
    public func answer(_ value: JSONValue, status: Int = 200, headers: [String: String] = [:]) {
        reply(Reply(value, status: status, headers: headers))
    }

    /// The next request gets this problem.
    public func error(_ status: Int, _ code: String, headers: [String: String] = [:]) {
        reply(.problem(status, code, headers: headers))
    }

    /// The next request is answered by a function.
    public func add(_ handler: @escaping Handler) { state.withLock { $0.script.append(handler) } }

    /// The next request is answered as ever; what the script has next is for the one behind it.
    public func pass() { add { [weak self] in await self?.handled($0) ?? .none } }

    /// The next request finds no network: nothing of it arrives.
    public func noNetwork() { reply(.none) }

    /// The next request arrives, and its answer gets lost.
    public func loseAnswer() {
        add { [weak self] in
            _ = await self?.handled($0); return .none
        }
    }

    /// The next request arrives, and its answer breaks off after so many bytes.
    public func breakAnswer(at byte: Int) {
        add { [weak self] request in
            var reply = await self?.handled(request) ?? .none
            reply.breaksAt = byte
            return reply
        }
    }

    /// The next request is answered so much later, by the server's clock.
    public func delay(_ seconds: Double) {
        let clock = clock
        add { [weak self] request in
            do { try await clock.sleep(seconds: seconds) } catch { return .none }
            return await self?.handled(request) ?? .none
        }
    }

    /// Forgets what stands in the script.
    public func clearScript() { state.withLock { $0.script = [] } }

    /// From now on these requests wait until a test answers them; `nextHeld()` gives them.
    public func hold(_ which: @escaping @Sendable (TransportRequest) -> Bool = { _ in true }) {
        let continuation = held.continuation
        hold(which) { continuation.yield($0) }
    }

    /// The same, telling a function of them instead.
    package func hold(
        _ which: @escaping @Sendable (TransportRequest) -> Bool, _ tell: @escaping @Sendable (HeldRequest) -> Void
    ) {
        state.withLock { state in
            state.holds = which
            state.tellHeld = tell
        }
    }

    /// Returns the next request that is held, once there is one; nil where the task is cancelled.
    public func nextHeld() async -> HeldRequest? {
        var iterator = held.stream.makeAsyncIterator()
        return await iterator.next()
    }

    // MARK: Transport

    /// Sends a request; returns its answer as soon as the status is known.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        let (isHeld, scripted) = state.withLock { state -> (Bool, Handler?) in
            state.requests.append(request)
            if state.holds(request) { return (true, nil) }
            return (false, state.script.isEmpty ? nil : state.script.removeFirst())
        }
        let reply: Reply
        if isHeld {
            reply = await waited(HeldRequest(request))
        } else if let scripted {
            reply = await scripted(request)
        } else {
            reply = await handled(request)
        }
        try Task.checkCancellation()
        return try reply.response()
    }

    private func waited(_ request: HeldRequest) async -> Reply {
        state.withLock(\.tellHeld)(request)
        return await withTaskCancellationHandler {
            await request.reply()
        } onCancel: {
            request.breakOff()
        }
    }

    private func handled(_ request: TransportRequest) async -> Reply { await handler?(request) ?? .none }
}

/// A request that waits for its answer.
public final class HeldRequest: Sendable {
    /// The request.
    public let request: TransportRequest

    private enum State {
        case open
        case awaited(CheckedContinuation<Reply, Never>)
        case answered(Reply)
        case over
    }

    private let state = Mutex(State.open)

    init(_ request: TransportRequest) { self.request = request }

    /// The request's body as JSON; null where it is none.
    public var json: JSONValue { JSONValue(text: String(decoding: request.body ?? Data(), as: UTF8.self)) ?? .null }

    /// Answers with JSON.
    public func answer(_ value: JSONValue, status: Int = 200) { reply(Reply(value, status: status)) }

    /// Breaks the connection.
    public func breakOff() { reply(.none) }

    /// Answers; only the first answer counts.
    public func reply(_ reply: Reply) {
        let waiting: CheckedContinuation<Reply, Never>? = state.withLock { state in
            switch state {
            case .open: state = .answered(reply)
            case .awaited(let continuation):
                state = .over
                return continuation
            case .answered, .over: break
            }
            return nil
        }
        waiting?.resume(returning: reply)
    }

    func reply() async -> Reply {
        await withCheckedContinuation { continuation in
            let reply: Reply? = state.withLock { state in
                if case .answered(let reply) = state {
                    state = .over
                    return reply
                }
                state = .awaited(continuation)
                return nil
            }
            if let reply { continuation.resume(returning: reply) }
        }
    }
}
