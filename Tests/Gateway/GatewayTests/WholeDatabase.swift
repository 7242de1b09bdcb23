import Testing
import TestSupport

/// Invariants of any database: only requested changes happen.
enum WholeDatabase {
    /// Sends every record back unchanged, then edits every writable column once.
    static func prove(_ database: TestDatabase, _ rules: [String: String]) async throws {
        let before = try await contents(database)
        let shape = try await schema(database)
        try await RunningGateway.with(database, rules: rules) { gateway async throws in
            #expect(try await Echo.sendBackEverything(gateway) > 0)
            #expect(try await contents(database) == before)
            #expect(try await EveryColumn.edit(gateway) > 10)
        }
        #expect(try await schema(database) == shape)
    }

    private static func tables(_ database: TestDatabase) async throws -> [String] {
        let list =
            database.kind == .mariadb
            ? "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' ORDER BY 1"
            : "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1;"
        return try await database.run(list).split(separator: "\n").map(String.init)
    }

    private static func contents(_ database: TestDatabase) async throws -> String {
        let tables = try await tables(database)
        if database.kind == .mariadb {
            return try await database.run("CHECKSUM TABLE " + tables.map { "`\($0)`" }.joined(separator: ", "))
        }
        return try await database.run(tables.map { "SELECT * FROM \"\($0)\";" }.joined(separator: "\n"))
    }

    private static func schema(_ database: TestDatabase) async throws -> String {
        guard database.kind == .mariadb else { return try await database.run("SELECT sql FROM sqlite_master;") }
        let tables = try await tables(database)
        // The next number of a table is not part of its schema. A trigger that writes a log increases it.
        return try await database.run(tables.map { "SHOW CREATE TABLE `\($0)`;" }.joined(separator: "\n"))
            .replacing(/AUTO_INCREMENT=[0-9]+/, with: "")
    }
}

/// Edits each writable column of the first record of each resource, and compares the database.
enum EveryColumn {
    /// - Returns: how many edits were applied.
    static func edit(_ gateway: RunningGateway) async throws -> Int {
        try await gateway.client { client async throws in
            var applied = 0
            for resource in try await client.get("/v1/rules").json()["resources"]?.array ?? [] {
                let name = resource["resource"]?.text ?? ""
                let page = try await client.get("/v1/records/\(name)?limit=20").json()["records"]?.array ?? []
                for section in resource["sections"]?.array ?? [] {
                    guard let record = page.first(where: { row(of: section, in: $0) != nil }) else { continue }
                    for group in section["groups"]?.array ?? [] {
                        for field in group["fields"]?.array ?? [] {
                            if try await edit(field, group, section, name, record, page, client) { applied += 1 }
                        }
                    }
                }
            }
            return applied
        }
    }

    private static func row(of section: JSON, in record: JSON) -> JSON? {
        let content = record[section["section"]?.text ?? ""]
        let row = section["kind"]?.text == "list" ? content?[0] : content
        return row.flatMap { $0.isNull ? nil : $0 }
    }

    private static func edit(
        _ field: JSON, _ group: JSON, _ section: JSON, _ resource: String, _ stale: JSON, _ page: [JSON],
        _ client: HTTPClient.Session
    ) async throws -> Bool {
        let id = stale["id"]?.description ?? "null"
        let name = field["field"]?.text ?? ""
        // The edits before this one changed the record.
        let key = stale["id"].map { $0.array.isEmpty ? [$0] : $0.array } ?? []
        let path = key.map { $0.text ?? $0.description }.joined(separator: ",").replacing(" ", with: "%20")
        let record = try await client.get("/v1/records/\(resource)/\(path)").json()
        guard let row = row(of: section, in: record), let value = row[name] else { return false }
        let others = page.compactMap { self.row(of: section, in: $0)?[name] }
        guard
            let new = field["references"] == nil
                ? NewValue.other(than: value, field) : others.first(where: { $0 != value && !$0.isNull })?.description
        else { return false }
        let fields = group["fields"]?.array.compactMap { $0["field"]?.text } ?? []
        let old =
            "{" + fields.map { "\(Echo.quoted($0)):\(row[$0]?.description ?? "null")" }.joined(separator: ",") + "}"
        let edited =
            "{"
            + fields.map { "\(Echo.quoted($0)):\($0 == name ? new : row[$0]?.description ?? "null")" }
            .joined(separator: ",") + "}"
        var change = "{\"old\":\(old),\"new\":\(edited)}"
        if section["kind"]?.text == "list" {
            change = "[{\"id\":\(row["id"]?.description ?? "null"),\"old\":\(old),\"new\":\(edited)}]"
        }
        let body = "{\"id\":\(id),\"changeset\":{\(Echo.quoted(section["section"]?.text ?? "")):\(change)}}"
        let answer = try await client.post("/v1/merge/\(resource)", body)
        if answer.status == 422 {
            // A constraint of the database refuses the value, and nothing is written.
            #expect(try answer.json()["record"] == record)
            return false
        }
        #expect(answer.status == 200, "\(body) \(answer.text)")
        let json = try answer.json()
        #expect(json["outcomes"]?[0]?["outcome"]?.text == "applied", "\(body) \(answer.text)")
        let after = json["record"].flatMap { self.row(of: section, in: $0) }?.object ?? [:]
        let changed = Set(row.object.keys.filter { row[$0] != after[$0] })
        let readOnly = Set(section["readOnly"]?.array.compactMap { $0["field"]?.text } ?? [])
        #expect(changed.contains(name), "\(body) \(answer.text)")
        // Triggers of the samples correct a post code. All other changes are from the edit or the server.
        #expect(changed.subtracting(readOnly).subtracting([name, "postCode"]).isEmpty, "\(body) changed \(changed)")
        return true
    }
}

/// A value of a field's type that differs from the current one.
private enum NewValue {
    static func other(than value: JSON, _ field: JSON) -> String? {
        let candidates: [String]
        switch field["type"]?.text {
        case "integer", "bit": candidates = ["1", "2"]
        case "year": candidates = ["2001", "2002"]
        case "decimal": candidates = ["\"1\"", "\"2\""]
        case "float", "double": candidates = ["1.5", "2.5"]
        case "boolean": candidates = ["true", "false"]
        case "text": candidates = ["\"q\"", "\"r\""]
        case "enum": candidates = field["members"]?.array.map(\.description) ?? []
        case "set": candidates = (field["members"]?.array.map { "[\($0)]" } ?? []) + ["[]"]
        case "date": candidates = ["\"2021-02-03\"", "\"2021-02-04\""]
        case "datetime": candidates = ["\"2021-02-03T04:05:06\"", "\"2021-02-03T04:05:07\""]
        case "timestamp": candidates = ["\"2021-02-03T04:05:06Z\"", "\"2021-02-03T04:05:07Z\""]
        case "time": candidates = ["\"04:05:06\"", "\"04:05:07\""]
        case "binary": candidates = ["\"AQ==\"", "\"Ag==\""]
        case "json": candidates = ["{\"a\":1}", "{\"a\":2}"]
        default: return nil
        }
        return candidates.first { text in
            guard let candidate = try? JSON(text) else { return false }
            return candidate != value && !(value.text ?? "").hasPrefix((candidate.text ?? "\u{0}") + ".")
        }
    }
}
