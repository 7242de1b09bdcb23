/// The result of a push.
package struct PushResult: Sendable, Hashable {
    /// The key of the push, if it has one.
    package let key: String?
    /// The status of the whole push.
    package let status: PushStatus
    /// The results of the edits, in their order.
    package let results: [EditResult]

    /// The problem of the whole push, or nil if it did not fail.
    ///
    /// It is the problem of the edit that caused the failure. In a rejected push, a rejection has precedence.
    package var problem: Problem? {
        guard status == .rejected || status == .failed else { return nil }
        let problems = results.compactMap(\.problem)
        if status == .rejected, let rejection = problems.first(where: { $0.code == .rejected }) { return rejection }
        return problems.first { $0.code != .rolledBack } ?? problems.first
    }

    /// The kind of the failure, or `other` if the push did not fail.
    package var failureKind: FailureKind {
        guard status == .failed, let code = problem?.code else { return .other }
        return switch code {
        case .noRight, .outsideRows: .forbidden
        case .keyExpired: .expiredKey
        default: .other
        }
    }

    /// Returns true if no table without transactions took part.
    package var isAtomic: Bool { results.allSatisfy { $0.resource.isAtomic } }

    /// Creates the result of a push.
    package init(key: String?, status: PushStatus, results: [EditResult]) {
        self.key = key
        self.status = status
        self.results = results
    }
}
