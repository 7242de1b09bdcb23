/// An error in the form for clients (RFC 9457), without values that the client did not send itself.
package struct Problem: Sendable, Hashable, Error {
    /// The kind of problem, for programs.
    package var code: ProblemCode
    /// The occasion, if the usual title of the code does not fit.
    package var topic: ProblemTopic?
    /// Sentences for a person about this case.
    package var detail: String
    /// The location in the body, such as `changeset.groceries[0].new.quantity`.
    package var path: WirePath?
    /// The retry advice, or nil if the problem does not concern a push.
    package var retry: Retry?
    /// The constraint that was violated.
    package var constraint: String?
    /// The rule that refuses the push, such as `jobs.yaml:7`.
    package var rule: RuleReference?
    /// The line of the check that fails, for the log and the journal only.
    package var check: RuleReference?
    /// The unique index in which two rows collide.
    package var index: String?
    /// The names of the fields that the problem concerns, or empty if they are unknown.
    package var fields: [String]
    /// The existing row of a collision, if the client may see it.
    package var rowInTheWay: RowPlace?

    /// The database's own message, for the log only.
    package var cause: String?
    /// The feed from which the client must start again, if it cannot continue.
    package var feed: FeedReach?
    /// The notice for a client program that is too old.
    package var upgrade: UpgradeNotice?

    /// Creates a problem.
    ///
    /// The caller sets the members about a collision afterwards.
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
