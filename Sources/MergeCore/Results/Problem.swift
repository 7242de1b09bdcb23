/// An error as a client is told it (RFC 9457); its HTTP status and its title are the wire's affair.
///
/// It never repeats a value that a client did not send itself.
package struct Problem: Sendable, Hashable, Error {
    /// The kind of problem, as programs tell it from others.
    package var code: ProblemCode
    /// The occasion, where the title is not the one that the code has mostly.
    package var topic: ProblemTopic?
    /// Sentences for a person, of this very case.
    package var detail: String
    /// The place in the body, such as `changeset.groceries[0].new.quantity`.
    package var path: WirePath?
    /// Tells whether the same push may succeed later; nil if the problem is not about a push.
    package var retry: Retry?
    /// The constraint that was violated.
    package var constraint: String?
    /// The rule that refuses the push, such as `jobs.yaml:7`.
    package var rule: RuleReference?
    /// The unique index in which two rows collide.
    package var index: String?
    /// The names of the fields that it is about; empty where it is about none, or they are not known.
    package var fields: [String]
    /// The row in the way, where the client may see it.
    package var rowInTheWay: RowPlace?

    /// The database's own words, for the log alone; nil where it said nothing.
    package var cause: String?
    /// The feed that a client has to begin anew with, where it cannot go on from where it is.
    package var feed: FeedReach?
    /// Words for a program that is too old.
    package var upgrade: UpgradeNotice?

    /// Makes a problem; how two rows collide is set afterwards.
    package init(
        _ code: ProblemCode, about topic: ProblemTopic? = nil, detail: String, path: WirePath? = nil,
        retry: Retry? = nil, constraint: String? = nil, fields: [String] = []
    ) {
        self.code = code
        self.topic = topic
        self.detail = detail
        self.path = path
        self.retry = retry
        self.constraint = constraint
        self.fields = fields
    }
}
