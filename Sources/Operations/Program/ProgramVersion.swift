/// The version of the program, and of what it speaks and reads.
package enum ProgramVersion {
    /// The program's own.
    package static let text = "0.1.0"
    /// That of the protocol, which stands in every address.
    package static let wire = 1
    /// That of the format of rule files.
    package static let rules = 1

    /// The lines that `--version` prints.
    package static let lines = "fieldmerge \(text)\nprotocol \(wire)\nrule format \(rules)"
}
