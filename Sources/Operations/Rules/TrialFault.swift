package import MergeCore
package import RuleFiles

/// The reason why a test of rules failed.
package enum TrialFault: Error, Sendable, Hashable {
    /// The errors of the rule files.
    case rules([Finding])
    /// A sentence about the resource, if it does not exist.
    case resource(String)
    /// A sentence about a section, if it does not exist or cannot be frozen.
    case frozen(String)
    /// One of the files, and its error.
    case record(RecordSide, String)
}
