/// The versions of the program, its protocol and its rule format.
package enum ProgramVersion {
    /// The version of the program.
    package static let text = "0.3.0"
    /// The version of the protocol, which every address contains.
    package static let wire = 1
    /// The version of the format of rule files.
    package static let rules = 1

    /// The lines that `--version` prints.
    package static let lines = "fieldmerge \(text)\nprotocol \(wire)\nrule format \(rules)"
}
