/// A notice for a client program that is too old.
package struct UpgradeNotice: Sendable, Hashable {
    /// The first version that the gateway accepts.
    package let minimum: String
    /// The operator's sentence for the user, if any.
    package let message: String?
    /// The operator's link to a newer version, if any.
    package let link: String?

    /// Creates a notice.
    package init(minimum: String, message: String?, link: String?) {
        self.minimum = minimum
        self.message = message
        self.link = link
    }
}
