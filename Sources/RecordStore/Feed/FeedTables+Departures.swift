/// The table of departures: the revisions at which values of condition columns ended.
///
/// `changes` has one row for each record, which gets a new revision with each change. Suppose a change hides a record from
/// a client, and a later change does not concern the client. A client whose page ends between these two revisions would
/// never find the departure in `changes`. The row in this table does not move.
extension FeedTables {
    /// The end of some condition values of a record.
    package struct Departure: Sendable, Hashable {
        /// The revision of the change that ended them.
        package let revision: Int
        /// The record.
        package let name: RecordName
        /// The push that changed it; nil for a foreign change.
        package let push: SequencedChange.Push?

        /// Describes a departure.
        package init(revision: Int, name: RecordName, push: SequencedChange.Push?) {
            self.revision = revision
            self.name = name
            self.push = push
        }
    }

    /// Returns the statements that store departures.
    package func note(_ departures: [Departure]) -> [Statement] {
        Self.inRuns(departures) { run in
            Statement(
                sql: Self.texts.text(.departures(schema: schema, dialect: dialect.name, rows: run.count)) {
                    dialect.insert(departures: run.count, in: self)
                },
                binds: run.flatMap { departure in
                    [JournalTables.bind(departure.revision)] + dialect.address(of: departure.name) + [
                        JournalTables.bind(departure.push?.entry), JournalTables.bind(departure.push?.sender.who),
                        JournalTables.bind(departure.push?.sender.device),
                    ]
                })
        }
    }

    /// Returns the statements that delete the departures at some revisions.
    package func forgetDepartures(at revisions: [Int]) -> [Statement] {
        Self.inRuns(revisions) { run in
            let marks = repeatElement("?", count: run.count).joined(separator: ", ")
            return Statement(
                sql: "DELETE FROM \(departuresSQL) WHERE revision IN (\(marks))",
                binds: run.map { JournalTables.bind($0) })
        }
    }
}
