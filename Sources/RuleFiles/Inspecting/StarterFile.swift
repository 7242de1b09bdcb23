/// A rule file that nobody has looked over yet.
package struct StarterFile: Sendable, Hashable {
    /// Such as `shoppers.yaml`.
    package let name: String
    /// The YAML of the file.
    package let text: String
}
