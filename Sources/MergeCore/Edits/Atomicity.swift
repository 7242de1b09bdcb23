/// The unit of a push that is applied completely or not at all.
package enum Atomicity: String, Sendable, Hashable, CaseIterable {
    case push
    case edit
}
