/// Tells one section object from another without comparing their contents, so that what is made of a section can be kept
/// beside it.
///
/// It is no part of the section's value: all identities are equal.
package struct SectionIdentity: Sendable, Hashable {
    /// Lives as long as any copy of the section.
    package final class Token: Sendable {}

    package let token = Token()

    package init() {}

    package static func == (a: SectionIdentity, b: SectionIdentity) -> Bool { true }

    package func hash(into hasher: inout Hasher) {}
}
