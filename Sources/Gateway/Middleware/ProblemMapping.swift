import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

/// Converts errors to problem documents.
struct ProblemMapping {
    let box: RulesBox
    let writes: WriteHealth

    /// Starts a check after a failure that may affect every push.
    func noteFailure(_ code: String?) {
        switch code {
        case ProblemCode.cannotWrite.rawValue: writes.noteFailure()
        // The right may have been revoked.
        case ProblemCode.databaseDenied.rawValue where box.missingRights.isEmpty: box.askForReload()
        default: break
        }
    }

    func response(to error: any Error, _ context: GatewayContext) -> Response {
        let problem = problem(of: error, context)
        context.failure.note(problem)
        let head = head(of: error) ?? ProblemHead(problem)
        var response = Reply.problem(problem, under: head, to: context.received)
        if let error = error as? MethodNotAllowed { response.headers[.allow] = error.list }
        return response
    }

    /// Returns the resource of an address, or nil.
    func resource(in path: String) -> String? {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3)
        guard parts.count > 2, ["records", "merge"].contains(where: { parts[1].elementsEqual($0.utf8) }) else {
            return nil
        }
        return box.active?.catalog[String(Substring(parts[2]))]?.name
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
        case let error as any HTTPResponseError:
            return error.status == .notFound
                ? Problem(.noSuchAddress, detail: "This address does not exist.")
                : Problem(.http, detail: "The request is not valid HTTP for this address.")
        default:
            return Problem(.internal, detail: "Unexpected error. Look for the request id in the gateway's log.")
        }
    }

    private func note(_ error: StoreError, _ context: GatewayContext) { box.note(error, of: context) }

    /// Returns the status of an HTTP error; nil if the code of the problem decides.
    private func head(of error: any Error) -> ProblemHead? {
        guard let status = (error as? any HTTPResponseError)?.status, status != .notFound else { return nil }
        return ProblemHead(status: status.code, title: status.reasonPhrase)
    }
}

extension RulesBox {
    /// Stores a database error for the log, and requests a reload if the schema has changed.
    func note(_ error: StoreError, of context: GatewayContext) {
        context.failure.set(error)
        if error.kind == .schemaChanged { askForReload() }
    }
}
