public import FieldMergeClient
import Foundation
import Synchronization

/// A transport without a network.
///
/// First it uses the test's script, one entry a request, then the handler. Without a handler there is no network.
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

    /// Creates a server.
    ///
    /// - Parameters:
    ///   - clock: the clock for delays.
    ///   - handler: answers requests after the end of the script.
    public init(clock: any StoreClock = SystemClock(), handler: Handler? = nil) {
        self.clock = clock
        self.handler = handler
    }

    /// All received requests, in order.
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

    /// A function answers the next request.
    public func add(_ handler: @escaping Handler) { state.withLock { $0.script.append(handler) } }

    /// The handler answers the next request.
    ///
    /// The next entry of the script is for the request after it.
    public func pass() { add { [weak self] in await self?.handled($0) ?? .none } }

    /// The next request finds no network and does not arrive.
    public func noNetwork() { reply(.none) }

    /// The next request arrives, but its answer gets lost.
    public func loseAnswer() {
        add { [weak self] in
            _ = await self?.handled($0); return .none
        }
    }

    /// The next request arrives, but its answer breaks off after a number of bytes.
    public func breakAnswer(at byte: Int) {
        add { [weak self] request in
            var reply = await self?.handled(request) ?? .none
            reply.breaksAt = byte
            return reply
        }
    }

    /// The answer to the next request is delayed, by the server's clock.
    public func delay(_ seconds: Double) {
        let clock = clock
        add { [weak self] request in
            do { try await clock.sleep(seconds: seconds) } catch { return .none }
            return await self?.handled(request) ?? .none
        }
    }

    /// Clears the script.
    public func clearScript() { state.withLock { $0.script = [] } }

    /// Makes later requests wait until a test answers them; `nextHeld()` returns them.
    public func hold(_ which: @escaping @Sendable (TransportRequest) -> Bool = { _ in true }) {
        let continuation = held.continuation
        hold(which) { continuation.yield($0) }
    }

    /// Makes later requests wait, and passes them to a function.
    package func hold(
        _ which: @escaping @Sendable (TransportRequest) -> Bool, _ tell: @escaping @Sendable (HeldRequest) -> Void
    ) {
        state.withLock { state in
            state.holds = which
            state.tellHeld = tell
        }
    }

    /// Waits for the next held request and returns it; nil if the task is cancelled.
    public func nextHeld() async -> HeldRequest? {
        var iterator = held.stream.makeAsyncIterator()
        return await iterator.next()
    }

    // MARK: Transport

    /// Sends a request; returns its answer as soon as its status arrives.
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

    /// The request's body as JSON; null if it is not JSON.
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
