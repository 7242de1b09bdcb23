import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import MergeWire
import NIOPosix
import Operations
import RuleFiles
import Synchronization

/// Serves the rules with their lines, and tries rules on records and on the journal.
///
/// Rule files in a request are checked and used for its answer only. Their SQL never runs.
final class RulesController: Sendable {
    private let service: MergeService
    private let rules: RulesLoader
    private let limits: WireLimits
    /// Keeps long work away from the threads of other requests.
    private let work = LargeWork(threads: 1)
    private let isRehearsing = Mutex(false)

    /// The threads for blocking file access.
    private static let threads = NIOThreadPool.singleton
    /// The time that a rehearsal leaves for its examples and its answer.
    private static let reserve = Duration.seconds(3)
    private static let longWork = 1 << 20
    private static let mostErrors = 10

    init(service: MergeService, rules: RulesLoader, limits: WireLimits) {
        self.service = service
        self.rules = rules
        self.limits = limits
    }

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/v1/operations/rules", need: .operate, use: { try await self.tree($0, in: $1) })
        routes.post(
            "/v1/operations/explain", need: .operate, onlyReads: true, use: { try await self.explain($0, in: $1) })
        routes.post(
            "/v1/operations/rehearse", need: .operate, onlyReads: true, use: { try await self.rehearse($0, in: $1) })
    }

    private func tree(_ request: Request, in context: GatewayContext) async throws -> Response {
        let active = try active(context)
        let body = RulesTreeEncoder.encode(
            active.catalog, outOfService: active.outOfService, findings: rules.box.findings.map { .init($0) })
        return Reply.json(body, to: context.headers, with: [.cacheControl: "no-store"])
    }

    private func explain(_ request: Request, in context: GatewayContext) async throws -> Response {
        _ = try active(context)
        let body = try context.jsonBody(limit: limits.bodyBytes)
        let wanted = try ExplainRequest(body, maximumDepth: JSONMerge.maximumDepth)
        let explanation = try await work.run(on: Self.longWork) {
            let folder =
                if let texts = wanted.rules { RuleFolder(texts) } else {
                    try await Self.threads.runIfActive { [rules] in rules.ruleFolder }
                }
            do throws(TrialFault) {
                return try RuleTrial.run(
                    folder, resource: wanted.resource, files: wanted.records, frozen: wanted.frozen)
            } catch {
                throw Self.problem(of: error)
            }
        }
        return Reply.json(
            ExplanationEncoder.encode(explanation), to: context.headers, with: [.cacheControl: "no-store"])
    }

    private func rehearse(_ request: Request, in context: GatewayContext) async throws -> Response {
        let active = try active(context)
        let wanted = try RehearseRequest(try context.jsonBody(limit: limits.bodyBytes))
        let filter = try JournalRehearsal.filter(active.catalog, resource: wanted.resource, since: wanted.since)
        guard
            isRehearsing.withLock({ isRunning in
                defer { isRunning = true }
                return !isRunning
            })
        else {
            throw Problem(
                .overloaded, detail: "Another rehearsal runs on this gateway.", retry: .later(.overload, after: 5))
        }
        defer { isRehearsing.withLock { $0 = false } }
        let end = context.deadline.advanced(by: .zero - Self.reserve)
        let body = try await work.run(on: Self.longWork) {
            let new = try await self.bound(RuleFolder(wanted.rules))
            let rehearsal = JournalRehearsal(
                service: service, active: active, new: new, deadline: { context.deadline })
            let (report, isComplete) = try await rehearsal.run(filter) { _ in
                !context.received.caller.hasLeft && .now < end
            }
            return RehearsalEncoder.encode(report, isComplete: isComplete)
        }
        try context.hold(body.count)
        return Reply.json(body, to: context.headers, with: [.cacheControl: "no-store"])
    }

    /// Returns the active rules, for an operator who may read everything.
    private func active(_ context: GatewayContext) throws(Problem) -> ActiveRules {
        let active = try rules.box.ready()
        guard active.catalog.isWhollyReadable(by: context.access(to: active.catalog)) else {
            throw Problem(.noRight, detail: "The rules do not allow this client to read every field.", retry: .never)
        }
        return active
    }

    private func bound(_ folder: RuleFolder) async throws -> Catalog {
        switch await RulesLoader.load(folder, against: service.engine, probesSQL: false) {
        case .active(let new, _): return new.catalog
        case .refused(let findings): throw Self.problem(of: .rules(findings.sorted.filter { $0.severity == .error }))
        case .unreachable(let error): throw error
        }
    }

    private static func problem(of fault: TrialFault) -> Problem {
        switch fault {
        case .rules(let findings):
            let sentences = findings.prefix(mostErrors).map { finding in
                "\(finding.place.name):\(finding.place.line):\(finding.place.column): \(finding.sentence)."
            }
            return Problem(.invalidRules, detail: sentences.joined(separator: "\n"), retry: .never)
        case .resource(let sentence): return Problem(.invalid, detail: sentence + ".", path: WirePath("resource"))
        case .frozen(let sentence): return Problem(.invalid, detail: sentence + ".", path: WirePath("frozen"))
        case .record(let side, let sentence):
            return Problem(.invalid, detail: sentence + ".", path: WirePath("\(side)"))
        }
    }
}

extension RuleFolder {
    fileprivate init(_ texts: RuleTexts) {
        self.init(texts: texts.files.map { (file: $0.name, text: $0.text) })
    }
}

extension Place {
    /// The name of the file without its folder.
    fileprivate var name: String { file.split(separator: "/").last.map(String.init) ?? file }
}

extension RulesTreeEncoder.Finding {
    fileprivate init(_ finding: Finding) {
        self.init(
            file: finding.place.name, line: finding.place.line, column: finding.place.column,
            severity: finding.severity.rawValue, sentence: finding.sentence + ".")
    }
}
