package import MergeCore
package import RuleFiles

/// The reason for which rules could not be tried.
package enum TrialFault: Error, Sendable, Hashable {
    /// The errors of the rule files.
    case rules([Finding])
    /// A sentence on the resource, which is none of the rules.
    case resource(String)
    /// One of the files, and what is wrong with it.
    case record(RecordSide, String)
}
