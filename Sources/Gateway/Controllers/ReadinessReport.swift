import MergeWire

/// What `/readyz` says: whether requests are served, under which rules, and what is wrong.
struct ReadinessReport {
    let isReady: Bool
    let version: String?
    let trouble: [String]

    var json: [UInt8] { OperatorJSON.readiness(isReady: isReady, rules: version, trouble: trouble) }
}
