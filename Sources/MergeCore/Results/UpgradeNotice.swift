/// Words for a program that is too old.
package struct UpgradeNotice: Sendable, Hashable {
    /// The version from which on it is served.
    package let minimum: String
    /// A sentence for a person, where the operator gave one.
    package let message: String?
    /// The place where a newer version is, where the operator gave one.
    package let link: String?

    /// Makes a notice.
    package init(minimum: String, message: String?, link: String?) {
        self.minimum = minimum
        self.message = message
        self.link = link
    }
}
