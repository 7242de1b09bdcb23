/// A generated rule file that needs a review.
package struct StarterFile: Sendable, Hashable {
    /// The name, such as `shoppers.yaml`.
    package let name: String
    /// The YAML of the file.
    package let text: String
}
