import MergeCore
import MergeService
import NIOCore
import NIOHTTP1

/// The received head of a request.
final class ReceivedHead: Sendable {
    let head: HTTPRequestHead
    let headers: RequestHeaders
    let arrival: ContinuousClock.Instant

    init(_ head: HTTPRequestHead, at arrival: ContinuousClock.Instant) {
        self.head = head
        headers = RequestHeaders(head.headers)
        self.arrival = arrival
    }
}

/// A received request.
///
/// A class, because the context of a request is copied at every step.
final class ReceivedRequest: Sendable {
    /// The id of the request in the log and in its answer.
    let id: String
    let headers: RequestHeaders
    /// The path without its query.
    let path: String
    /// The complete body, or the reason for which there is none.
    let body: Result<ByteBuffer, BodyFault>
    /// The memory of the request and its answer.
    let lease: ByteLease?
    /// The time at which the head arrived.
    let arrival: ContinuousClock.Instant
    let deadline: ContinuousClock.Instant
    /// The caller that waits for the answer.
    let caller: Caller
    /// The executor for work on many bytes.
    let largeWork: LargeWork?
    /// The facts about a failure for the log.
    let failure = FailureNote()

    init(
        _ head: ReceivedHead, id: String, path: String, body: Result<ByteBuffer, BodyFault>, lease: ByteLease?,
        deadline: ContinuousClock.Instant, caller: Caller, largeWork: LargeWork?
    ) {
        self.id = id
        headers = head.headers
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
    /// It did not arrive in time.
    case tooSlow
    /// The head has a fault, so the body was not received.
    case unwanted(Problem)
}
