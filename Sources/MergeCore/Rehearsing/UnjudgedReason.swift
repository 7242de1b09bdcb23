/// The reason why an outcome of the journal cannot be decided again.
package enum UnjudgedReason: Error, Hashable {
    /// The two sets of rules that a rehearsal compares.
    package enum RuleSet: String, Sendable, Hashable {
        case active
        case new
    }

    case foreignChange
    case undo
    case refusedBeforeMerge
    case isErased
    case isPrivate
    case unreadable
    /// Some rules do not have a part that the entry names, such as `resource “orders”`.
    case missing(String, RuleSet)
    /// A group of some rules has fields that the entry does not contain.
    case incompleteGroup(String, RuleSet)
    case hashedBase
    case otherTable
    case visibility
    case identity
    case frozen
    case recordPresence
    case absentBase
    case unexplained

    /// The reason as a sentence without its point.
    package var sentence: String {
        switch self {
        case .foreignChange: "Another program made the change, so no rule decided it"
        case .undo: "An undo has policies of its own"
        case .refusedBeforeMerge: "The push was refused before its groups were decided"
        case .isErased: "The values were erased"
        case .isPrivate: "The journal does not contain private values"
        case .unreadable: "The values do not fit their columns"
        case .missing(let part, let rules): "The \(rules.rawValue) rules have no \(part)"
        case .incompleteGroup(let group, let rules):
            "The group “\(group)” of the \(rules.rawValue) rules has fields that the entry does not contain"
        case .hashedBase: "The client sent a hash of the base, which is the hash of another group"
        case .otherTable: "The section has another table"
        case .visibility: "“where” differs, and only the database can evaluate it"
        case .identity: "“identity” differs, and only the database can find the row"
        case .frozen: "The result depends on “frozen-when”, which only the database can evaluate"
        case .recordPresence: "The result depends on whether the record existed, which the entry does not contain"
        case .absentBase: "The result depends on whether the client created the row, which the entry does not contain"
        case .unexplained: "The values of the entry do not explain its outcome"
        }
    }
}
