/// The summary of an inspection: results, guesses, and omissions with their reasons.
package struct InspectionSummary: Sendable, Hashable {
    /// The number of resources.
    package private(set) var resources = 0
    /// The number of sections.
    package private(set) var sections = 0
    /// The number of groups.
    package private(set) var groups = 0
    /// Links and groups that names suggested.
    package private(set) var guesses: [String] = []
    /// Tables and columns that the rules omit.
    package private(set) var leftOut: [String] = []
    /// Sentences about requests of the operator that are not supported yet.
    package private(set) var notes: [String] = []

    /// The summary as text.
    package var lines: [String] {
        var lines = [
            Self.count(resources, noun: "resource") + ", " + Self.count(sections, noun: "section") + ", "
                + Self.count(groups, noun: "group")
        ]
        if !guesses.isEmpty { lines += ["guessed, please look over:"] + guesses.map { "  " + $0 } }
        if !leftOut.isEmpty { lines += ["left out:"] + leftOut.map { "  " + $0 } }
        return lines + notes
    }

    mutating func add(_ sections: [SectionDraft], resource: String) {
        resources += 1
        for section in sections { add(section, resource) }
    }

    mutating func leaveOut(_ what: String) { leftOut.append(what) }

    mutating func note(_ sentence: String) { notes.append(sentence) }

    /// The beginnings of comments that the summary repeats.
    private static let questions = ["a part of ", "a BLOB ", "perhaps a boolean", "does every program "]

    private mutating func add(_ section: SectionDraft, _ resource: String) {
        sections += 1
        groups += section.groups.count
        let place = resource + "." + section.name
        if let link = section.link, link.isGuess {
            let columns = link.columns.map(\.own).joined(separator: ", ")
            guesses.append(
                "\(place): table “\(link.child)” is a part of “\(link.parent)”, by the name of column \(columns)")
        }
        for group in section.groups {
            guard let reason = group.reason else { continue }
            let columns = group.fields.map(\.column).joined(separator: ", ")
            guesses.append("\(place): group \(group.name) of \(columns): \(reason)")
        }
        for field in section.groups.flatMap(\.fields) {
            guard let question = field.comment, Self.questions.contains(where: question.hasPrefix) else { continue }
            guesses.append("\(place): \(field.column): \(question)")
        }
        for field in section.readOnly where field.comment?.hasPrefix("proposed") == true {
            guesses.append("\(place): \(field.column) is read-only, by its name and its default")
        }
        for (column, reason) in section.leftOut {
            leftOut.append("column “\(column)” of table “\(section.table.name)”: \(reason)")
        }
    }

    private static func count(_ number: Int, noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
