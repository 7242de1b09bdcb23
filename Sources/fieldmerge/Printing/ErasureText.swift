import Operations

struct ErasureText {
    private let report: ErasureReport
    private let isPreview: Bool

    init(_ report: ErasureReport, isPreview: Bool) {
        self.report = report
        self.isPreview = isPreview
    }

    var text: String {
        let table = TextTable(
            titles: ["count", "place"],
            rows: [
                [String(report.entries), "entries"], [String(report.answers), "stored answers"],
                [String(report.refused), "refused pushes"], [String(report.changes), "changes of the feed"],
                [String(report.histories), "former conditions of the feed"],
            ])
        var lines = [table.head] + table.lines
        if report.current > 0 {
            lines.append(
                "\(report.current) records in the database still name the sender in a column of an access rule; "
                    + "change these rows, then erase again")
        }
        lines.append(isPreview ? "nothing was erased: this is a preview; --yes erases" : "erased")
        return lines.joined(separator: "\n")
    }
}
