import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import RecordStore

/// Turns every error into a problem document.
struct ProblemMapping: RouterMiddleware {
    let box: RulesBox

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return Reply.problem(problem, to: context.headers)
        } catch let error as StoreError {
            note(error, context)
            return Reply.problem(error.problem, to: context.headers)
        } catch let failure as Failure {
            if let cause = failure.cause { note(cause, context) }
            return Reply.problem(failure.problem, to: context.headers)
        } catch let error as any HTTPResponseError {
            return Reply.problem(Self.problem(error.status), to: context.headers)
        } catch {
            return Reply.problem(
                Problem(
                    status: 500, code: "internal", title: "The gateway met an unexpected error",
                    detail: "Nothing more is known; the gateway's log has the request's id."), to: context.headers)
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
                detail: "There is nothing at this address under this method.")
        }
        return Problem(
            status: status.code, code: "http", title: status.reasonPhrase,
            detail: "The request could not be understood.")
    }
}
