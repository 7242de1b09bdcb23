/// The table of departures: the revisions at which records ceased to hold values that conditions of access look at.
///
/// `changes` has one row a record, which moves on with each change. Whoever has read up to a revision between two changes
/// of a record passes it by while it moves; where the first of the two took the record from a client, and the second
/// did not concern the client, the row alone would never tell it. A departure stays where it was.
extension FeedTables {
    /// A record that ceased to hold some values.
    package struct Departure: Sendable, Hashable {
        /// The revision of the change that ended them.
        package let revision: Int
        /// The record.
        package let name: RecordName
        /// The push that changed it; nil for a program that bypasses the gateway.
        package let push: SequencedChange.Push?

        /// Notes that a change ended values.
        package init(revision: Int, name: RecordName, push: SequencedChange.Push?) {
            self.revision = revision
            self.name = name
            self.push = push
        }
    }

    /// Returns the statements that note departures.
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

    /// Returns the statements that forget the departures at some revisions.
    package func forgetDepartures(at revisions: [Int]) -> [Statement] {
        Self.inRuns(revisions) { run in
            let marks = repeatElement("?", count: run.count).joined(separator: ", ")
            return Statement(
                sql: "DELETE FROM \(departuresSQL) WHERE revision IN (\(marks))",
                binds: run.map { JournalTables.bind($0) })
        }
    }
}
