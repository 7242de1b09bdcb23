import Hummingbird
import Logging

/// What travels with a request besides the request itself.
struct GatewayContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Names the request in the log and in its answer.
    var requestID = ""
    var headers = RequestHeaders()
    /// When the head of the request had come.
    var arrival: ContinuousClock.Instant = .now
    /// When the request has to be done.
    var deadline: ContinuousClock.Instant = .now
    /// Who sent it, and what they may do; nil without tokens.
    var bearer: TokenFile.Entry?
    /// The database's own words for the log, where a request failed because of it.
    let failure = FailureNote()

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
    }
}
