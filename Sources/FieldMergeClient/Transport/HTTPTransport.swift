public import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The network, over `URLSession`.
public final class HTTPTransport: Transport {
    private let server: String
    private let configuration: URLSessionConfiguration
    private let session: URLSession
    private let exchanges: Exchanges

    /// A longer body is packed.
    private static let longestPlainBody = 1_000
    /// An upload of this speed, in bytes a second, is waited for.
    private static let slowestUpload = 1_000.0

    /// Takes the address of a gateway.
    public init(server: URL) {
        self.server = server.absoluteString.trimmingSuffix("/")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpShouldSetCookies = false
        self.configuration = configuration
        exchanges = Exchanges()
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    /// Sends a request, with a long body compressed; returns its answer when the status has arrived.
    ///
    /// The request's timeout is the time without a byte in either direction. A body adds a second for each kilobyte, since
    /// the system takes bytes before they leave the device.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard let url = URL(string: server + request.path) else { throw ConnectionLost(reason: "no such address") }
        var told = URLRequest(url: url)
        told.httpMethod = request.method
        for (name, value) in request.headers { told.setValue(value, forHTTPHeaderField: name) }
        if let body = request.body, body.count > Self.longestPlainBody {
            told.httpBody = Data(Gzip.pack([UInt8](body)))
            told.setValue("gzip", forHTTPHeaderField: "Content-Encoding")
        } else {
            told.httpBody = request.body
        }
        told.timeoutInterval = request.timeout + Double(told.httpBody?.count ?? 0) / Self.slowestUpload
        let (session, exchanges) = connection(for: request)
        let task = session.dataTask(with: told)
        defer { if session !== self.session { session.finishTasksAndInvalidate() } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { head in
                if exchanges.begin(task, head) { task.resume() }
            }
        } onCancel: {
            exchanges.breakOff(task)
        }
    }
}

extension HTTPTransport {
    /// Returns the session of a request.
    ///
    /// On Linux, a request with a body gets a connection of its own. If a server closes a connection that was kept alive,
    /// the session there repeats the request without its body, and waits in vain.
    private func connection(for request: TransportRequest) -> (URLSession, Exchanges) {
        #if canImport(FoundationNetworking)
            if request.body != nil {
                let own = Exchanges()
                return (URLSession(configuration: configuration, delegate: own, delegateQueue: nil), own)
            }
        #endif
        return (session, exchanges)
    }
}

/// The requests in progress of one session.
private final class Exchanges: NSObject, URLSessionDataDelegate, Sendable {
    private struct Exchange {
        var head: CheckedContinuation<TransportResponse, any Error>?
        var body: AsyncThrowingStream<Data, any Error>.Continuation?
    }

    private let open = Mutex<[Int: Exchange]>([:])
    /// The requests that were broken off before they began.
    private let early = Mutex<Set<Int>>([])

    /// Stores the continuation of a request; false if the request was already aborted.
    func begin(_ task: URLSessionTask, _ head: CheckedContinuation<TransportResponse, any Error>) -> Bool {
        let id = task.taskIdentifier
        let isEarly = early.withLock { early in
            if early.remove(id) != nil { return true }
            open.withLock { $0[id] = Exchange(head: head) }
            return false
        }
        if isEarly { head.resume(throwing: CancellationError()) }
        return !isEarly
    }

    /// Ends a request at once: a session does not report a task that was cancelled before it began.
    func breakOff(_ task: URLSessionTask) {
        let id = task.taskIdentifier
        early.withLock { early in
            if open.withLock({ $0[id] == nil }) { early.insert(id) }
        }
        task.cancel()
        end(task, with: CancellationError())
    }

    private func end(_ task: URLSessionTask, with error: (any Error)?) {
        guard let exchange = open.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        exchange.head?.resume(throwing: error ?? ConnectionLost(reason: "there was no answer"))
        exchange.body?.finish(throwing: error)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
        continuation.onTermination = { if case .cancelled = $0 { dataTask.cancel() } }
        let head = open.withLock { open in
            defer {
                open[dataTask.taskIdentifier]?.head = nil
                open[dataTask.taskIdentifier]?.body = continuation
            }
            return open[dataTask.taskIdentifier]?.head
        }
        guard let answer = response as? HTTPURLResponse else {
            head?.resume(throwing: ConnectionLost(reason: "this is no HTTP"))
            return completionHandler(.cancel)
        }
        var headers: [String: String] = [:]
        for (name, value) in answer.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
        head?.resume(returning: TransportResponse(status: answer.statusCode, headers: headers, body: stream))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        _ = open.withLock { $0[dataTask.taskIdentifier]?.body?.yield(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task, with: error)
    }

    /// Follows no redirection: a gateway sends none, and a token must not reach another server.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension String {
    func trimmingSuffix(_ suffix: Character) -> String {
        var text = self[...]
        while text.last == suffix { text.removeLast() }
        return String(text)
    }
}
