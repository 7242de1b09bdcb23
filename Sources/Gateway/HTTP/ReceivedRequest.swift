import MergeCore
import MergeService
import NIOCore
import NIOHTTP1

/// The head of a request as its connection received it.
final class ReceivedHead: Sendable {
    let head: HTTPRequestHead
    let headers: RequestHeaders
    /// The time at which it had come.
    let arrival: ContinuousClock.Instant

    init(_ head: HTTPRequestHead, at arrival: ContinuousClock.Instant) {
        self.head = head
        headers = RequestHeaders(head.headers)
        self.arrival = arrival
    }
}

/// A request as its connection received it.
///
/// An object, because what travels with a request is copied at every step on its way.
final class ReceivedRequest: Sendable {
    /// Names the request in the log and in its answer.
    let id: String
    let headers: RequestHeaders
    /// The path of the address, without its query.
    let path: String
    /// All of the body, or why there is none.
    ///
    /// Every body is read whole before it means anything, so nobody has to wait for it here.
    let body: Result<ByteBuffer, BodyFault>
    /// The bytes that the request and its answer hold.
    let lease: ByteLease?
    /// The time at which the head of the request had come.
    let arrival: ContinuousClock.Instant
    /// The time by which the request has to be done.
    let deadline: ContinuousClock.Instant
    /// The caller that waits for the answer.
    let caller: Caller
    /// The executor for what takes its time.
    let largeWork: LargeWork?
    /// The database's own words for the log, where a request failed because of it.
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

    /// A request of which nothing has been received; its time is over.
    convenience init() {
        let now = ContinuousClock.now
        self.init(
            ReceivedHead(HTTPRequestHead(version: .http1_1, method: .GET, uri: ""), at: now), id: "", path: "",
            body: .success(ByteBuffer()), lease: nil, deadline: now, caller: Caller(), largeWork: nil)
    }
}

/// The reason for which the body of a request was not taken.
enum BodyFault: Error {
    case tooLarge
    /// It did not arrive in time.
    case tooSlow
    /// The head of the request is at fault, so its body was not waited for.
    case unwanted(Problem)
}
