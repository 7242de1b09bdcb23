/// The unit of a push that stands or falls together.
package enum Atomicity: String, Sendable, Hashable, CaseIterable {
    case push
    case edit
}
