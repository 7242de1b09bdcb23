/// A rule file that nobody has looked over yet.
package struct StarterFile: Sendable, Hashable {
    /// Such as `shoppers.yaml`.
    package let name: String
    package let text: String
}
