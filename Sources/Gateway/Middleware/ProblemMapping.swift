import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import RecordStore

/// Turns every error into a problem document.
struct ProblemMapping {
    let box: RulesBox

    func response(to error: any Error, _ context: GatewayContext) -> Response {
        var response = Reply.problem(problem(of: error, context), to: context.headers)
        if let error = error as? MethodNotAllowed { response.headers[.allow] = error.list }
        return response
    }

    private func problem(of error: any Error, _ context: GatewayContext) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as StoreError:
            note(error, context)
            return error.problem
        case let failure as Failure:
            if let cause = failure.cause { note(cause, context) }
            return failure.problem
        case let error as MethodNotAllowed: return error.problem
        case let error as any HTTPResponseError: return Self.problem(error.status)
        default:
            return Problem(
                status: 500, code: "internal", title: "The gateway met an unexpected error",
                detail: "Nothing more is known; the gateway's log has the request's id.")
        }
    }

    private func note(_ error: StoreError, _ context: GatewayContext) {
        context.failure.set(error)
        if error.kind == .schemaChanged { box.askForReload() }
    }

    private static func problem(_ status: HTTPResponse.Status) -> Problem {
        if status == .notFound {
            return Problem(
                status: 404, code: "no-such-address", title: "Not found",
                detail: "There is nothing at this address.")
        }
        return Problem(
            status: status.code, code: "http", title: status.reasonPhrase,
            detail: "The request could not be understood.")
    }
}
