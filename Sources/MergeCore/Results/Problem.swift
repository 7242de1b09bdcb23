/// An error as a client is told it (RFC 9457).
///
/// It never repeats a value that a client did not send itself.
package struct Problem: Sendable, Hashable, Error {
    /// The code of an edit that was in order itself, in a push that was not.
    package static let rolledBack = "rolled-back"

    package var status: Int
    package var code: String
    package var title: String
    package var detail: String
    /// Where in the body, such as `changeset.groceries[0].new.quantity`.
    package var path: WirePath?
    /// Tells whether the same push may succeed later; nil where the problem is not one of a push.
    package var retry: Bool?
    /// Seconds after which a client should try again.
    package var retryAfter: Int?
    /// The constraint that was violated.
    package var constraint: String?
    /// The unique index in which two rows collide.
    package var index: String?
    package var fields: [String]
    /// The row in the way, where the client may see it.
    package var rowInTheWay: RowPlace?

    package init(
        status: Int, code: String, title: String, detail: String, path: WirePath? = nil, retry: Bool? = nil,
        retryAfter: Int? = nil, constraint: String? = nil, index: String? = nil, fields: [String] = [],
        rowInTheWay: RowPlace? = nil
    ) {
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.path = path
        self.retry = retry
        self.retryAfter = retryAfter
        self.constraint = constraint
        self.index = index
        self.fields = fields
        self.rowInTheWay = rowInTheWay
    }
}

/// Names a row to a client.
package struct RowPlace: Sendable, Hashable {
    package let resource: Resource
    package let record: RecordKey
    /// The section and the item's key, where the row is not the root.
    package let section: Int?
    package let item: RecordKey?

    package init(resource: Resource, record: RecordKey, section: Int? = nil, item: RecordKey? = nil) {
        self.resource = resource
        self.record = record
        self.section = section
        self.item = item
    }
}
