import ArgumentParser
import MergeCore
import MergeService
import MergeWire

/// The answer to an undo or a resend, for a terminal.
struct AnswerText {
    private let answer: PushAnswer
    private let isPreview: Bool

    init(_ answer: PushAnswer, isPreview: Bool) {
        self.answer = answer
        self.isPreview = isPreview
    }

    /// Prints the answer.
    ///
    /// - Throws: `ExitCode` if it was not merged, or wrote nothing.
    func report(asJSON: Bool) throws {
        print(asJSON ? String(decoding: answer.body, as: UTF8.self) : text)
        if answer.status != .merged || (!isPreview && !answer.takesEffect) { throw ExitCode(1) }
    }

    private var text: String {
        let results = OutcomeReader.answer(answer.body)
        var blocks = results.map(Self.text)
        if answer.isReplay { blocks.append("nothing was written: this was done before, and was answered so") }
        if isPreview { blocks.append("nothing was written: this is a preview") }
        if !isPreview, !answer.isReplay, !results.isEmpty, answer.status == .merged, !answer.takesEffect {
            blocks.append("nothing was written: the database contains all of it, or the rules keep the current values")
        }
        if results.isEmpty { blocks.append("there was nothing to send") }
        return blocks.joined(separator: "\n")
    }

    private static func text(_ result: ResultText) -> String {
        let name = (result.resource ?? "") + (result.id.map { "/" + PlainText.visible($0) } ?? "")
        var lines = ["\(name): \(result.status ?? "")"]
        if !result.outcomes.isEmpty {
            let table = OutcomeTable(result.outcomes)
            lines += ([table.head] + table.lines).map { "  " + $0 }
        }
        if let problem = result.problem {
            lines += ShortText.wrapped("why: " + PlainText.visible(problem), in: OutcomeTable.width, indent: "  ")
        }
        return lines.joined(separator: "\n")
    }
}
