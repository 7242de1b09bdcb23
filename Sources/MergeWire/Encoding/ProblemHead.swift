package import MergeCore

/// The status and the title of a problem document (RFC 9457).
package struct ProblemHead: Sendable, Hashable {
    /// The HTTP status.
    package let status: Int
    /// A sentence about the kind of problem.
    package let title: String

    /// Creates a head without a code.
    package init(status: Int, title: String) {
        self.status = status
        self.title = title
    }

    /// Creates the head for a problem's code and topic.
    package init(_ problem: Problem) {
        status = problem.topic?.status ?? problem.code.status
        title = problem.topic?.title ?? problem.code.title
    }
}

extension ProblemTopic {
    /// The status for this topic, or nil for the status of the code.
    fileprivate var status: Int? {
        switch self {
        case .address: 404
        case .rejection: 409
        default: nil
        }
    }

    /// The title for this topic, or nil for the title of the code.
    fileprivate var title: String? {
        switch self {
        case .query: "The query is not valid"
        case .limit: "The limit is not valid"
        case .deviceName: "The device's name is too long"
        case .contradictoryKey: "The key contradicts the record"
        case .mixedResources: "Resources that do not go together"
        case .section: "The section is read-only"
        case .field: "The field is read-only"
        case .circle: "Temporary ids in a circle"
        case .otherRow: "Another row has these values"
        case .restoration: "A row cannot come back"
        case .memory: "The gateway is overloaded"
        case .rule: "A check of the rules fails"
        case .address, .rejection: nil
        }
    }
}
