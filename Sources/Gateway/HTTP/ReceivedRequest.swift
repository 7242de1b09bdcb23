import MergeCore
import MergeService
import NIOCore
import NIOHTTP1

final class ReceivedHead: Sendable {
    let head: HTTPRequestHead
    let headers: RequestHeaders
    let arrival: ContinuousClock.Instant
    /// The address of the client; nil if the connection has none.
    let client: String?

    init(_ head: HTTPRequestHead, at arrival: ContinuousClock.Instant, from client: String? = nil) {
        self.client = client
        self.head = head
        headers = RequestHeaders(head.headers)
        self.arrival = arrival
    }
}

/// A received request.
///
/// A class, because contexts are copied at every step.
final class ReceivedRequest: Sendable {
    /// The id in the log and in the answer.
    let id: String
    let headers: RequestHeaders
    /// Without the query.
    let path: String
    /// The complete body, or the reason for its absence.
    let body: Result<ByteBuffer, BodyFault>
    /// The memory of the request and its answer.
    let lease: ByteLease?
    /// The arrival of the head.
    let arrival: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant
    /// The address of the client; nil if the connection has none.
    let client: String?
    let caller: Caller
    /// The executor for work on many bytes.
    let largeWork: LargeWork?
    let failure = FailureNote()

    init(
        _ head: ReceivedHead, id: String, path: String, body: Result<ByteBuffer, BodyFault>, lease: ByteLease?,
        deadline: ContinuousClock.Instant, caller: Caller, largeWork: LargeWork?
    ) {
        self.id = id
        headers = head.headers
        client = head.client
        self.path = path
        self.body = body
        self.lease = lease
        arrival = head.arrival
        self.deadline = deadline
        self.caller = caller
        self.largeWork = largeWork
    }

    /// An empty request whose deadline has passed.
    convenience init() {
        let now = ContinuousClock.now
        self.init(
            ReceivedHead(HTTPRequestHead(version: .http1_1, method: .GET, uri: ""), at: now), id: "", path: "",
            body: .success(ByteBuffer()), lease: nil, deadline: now, caller: Caller(), largeWork: nil)
    }
}

/// The reason for which a body was not accepted.
enum BodyFault: Error {
    case tooLarge
    case tooSlow
    /// The head has a fault, so the body was not received.
    case unwanted(Problem)
}
