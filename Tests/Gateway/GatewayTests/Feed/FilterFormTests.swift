import Testing
import TestSupport

/// Filters on columns that store equal values in several forms.
@Suite(.timeLimit(.minutes(5))) struct FilterFormTests {
    private static func sql(_ kind: TestEngine) -> String {
        switch kind {
        case .mariadb:
            """
            SET sql_mode = '';
            CREATE TABLE visits (id INTEGER PRIMARY KEY, day DATE, moment DATETIME(3), note VARCHAR(20), doc JSON,
              text_doc TEXT, weight DECIMAL(30,2), touched INTEGER);
            INSERT INTO visits VALUES
              (1, '2026-11-01', '2026-11-01 10:00:00', 'a', '{}', 'null', 12345678901234567890.11, 0),
              (2, '0000-00-00', '2026-11-01 10:00:00.5', 'A', 'null', '[]', 12345678901234567890.12, 0),
              (3, '2026-11-00', '0000-00-00', 'a ', NULL, NULL, -0.01, 0),
              (4, NULL, NULL, NULL, '[1]', 'x', NULL, 0);
            """
        case .sqlite:
            """
            CREATE TABLE visits (id INTEGER PRIMARY KEY, day TEXT, moment DATETIME, note VARCHAR(20), doc JSON,
              text_doc TEXT, weight DECIMAL(30,2), touched INTEGER);
            INSERT INTO visits VALUES
              (1, '2026-11-01T10:00:00', '2026-11-01T10:00:00', 'a', '{}', 'null', 1.5, 0),
              (2, '2026-11-01 10:00:00', '2026-11-01 10:00:00', 'A', 'null', '[]', '1.50', 0),
              (3, '2026-11-01 10:00:00.000', '2026-11-01 10:00:00.000', 'a ', NULL, NULL, -0.01, 0),
              (4, 'soon', NULL, NULL, '[1]', 'x', NULL, 0);
            """
        }
    }

    private static func rules(_ kind: TestEngine) -> [String: String] {
        [
            "visits.yaml": """
            resource: visits
            sections:
              visit:
                table: visits
                groups:
                  day: {column: day, type: \(kind == .mariadb ? "date" : "datetime")}
                  moment: moment
                  note: note
                  doc: doc
                  textDoc: {column: text_doc, type: json}
                  weight: weight
                  touched: touched
            """
        ]
    }

    private static func conditions(_ kind: TestEngine) -> [(String, [Int])] {
        let common = [
            (#""visit.doc": null"#, [2, 3]), (#""visit.textDoc": [null, "x"]"#, [1, 3, 4]),
            (#""visit.note": "a""#, [1]), (#""visit.note": ["A", "a "]"#, [2, 3]),
            (#""visit.weight": null"#, [4]), (#""visit.weight": {"before": 0}"#, [3]),
        ]
        switch kind {
        case .mariadb:
            return common + [
                (#""visit.day": {"before": "2026-11-01"}"#, [2, 3]),
                (#""visit.day": {"from": "2026-11-01"}"#, [1]),
                (#""visit.moment": "2026-11-01T10:00:00""#, [1]),
                (#""visit.moment": {"from": "2026-11-01T10:00:00.1"}"#, [2]),
                (#""visit.weight": {"before": "12345678901234567890.12"}"#, [1, 3]),
                (#""visit.weight": "12345678901234567890.12""#, [2]),
            ]
        case .sqlite:
            return common + [
                (#""visit.day": "2026-11-01T10:00:00""#, [1, 2, 3]),
                (#""visit.day": {"from": "2026-11-01T10:00:00"}"#, [1, 2, 3]),
                (#""visit.day": {"before": "2026-11-01T12:00:00"}"#, [1, 2, 3]),
                (#""visit.moment": ["2026-11-01T10:00:00", null]"#, [1, 2, 3, 4]),
                (#""visit.moment": {"before": "2026-11-01T12:00:00"}"#, [1, 2, 3]),
                (#""visit.weight": 1.5"#, [1, 2]),
            ]
        }
    }

    @Test("A snapshot and changes contain the same records", arguments: TestEngine.allCases)
    func snapshotsAndChanges(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.sql(.mariadb), sqlite: Self.sql(.sqlite))
        try await RunningGateway.with(database, rules: Self.rules(kind), journal: .together) { gateway async throws in
            try await gateway.client { session async throws in
                var touched = 0
                for (condition, ids) in Self.conditions(kind) {
                    var client = try await FilteredClient(session, "{\"visits\": {\(condition)}}")
                    #expect(client.ids("visits") == ids, "\(condition)")
                    let edits = (1...4).map { id in
                        #"{"resource":"visits","id":\#(id),"changeset":{"visit":{"touched":{"old":\#(touched),"new":\#(touched + 1)}}}}"#
                    }
                    touched += 1
                    let pushed = try await session.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
                    #expect(pushed.status == 200, "\(pushed.text)")
                    client.records = [:]
                    #expect(try await client.poll().count == 4)
                    #expect(client.ids("visits") == ids, "\(condition)")
                }
            }
        }
    }
}
