/// The reason why no types can be written.
package enum ClientTypesFault: Error, Equatable, CustomStringConvertible {
    case notRules
    /// A chosen name (`--name`) belongs to no resource.
    case unknownResource(String, known: [String])
    /// Two resources have the same type name.
    case sameName(String, first: String, second: String)
    /// No letter of a name can be part of a type's name.
    case noName(String)

    package var description: String {
        switch self {
        case .notRules: "the answer is not that of GET /v1/rules; name the address of a FieldMerge gateway"
        case .unknownResource(let name, let known):
            "--name: the rules have no resource “\(name)”\(nearest(name, known))"
        case .sameName(let name, let first, let second):
            "the resources “\(first)” and “\(second)” both give the type \(name). Choose another name for one of them: "
                + "--name \(second)=NAME"
        case .noName(let resource):
            "“\(resource)” contains no letter for a type. Choose a name: --name \(resource)=NAME"
        }
    }
}
