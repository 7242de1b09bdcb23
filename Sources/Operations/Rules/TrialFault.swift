package import MergeCore
package import RuleFiles

/// The reason why a test of rules failed.
package enum TrialFault: Error, Sendable, Hashable {
    /// The errors of the rule files.
    case rules([Finding])
    /// A sentence about the resource, if it or a section does not exist or does not fit.
    case resource(String)
    /// One of the files, and its error.
    case record(RecordSide, String)
}
