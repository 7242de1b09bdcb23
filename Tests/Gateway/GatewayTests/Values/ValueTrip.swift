import MergeCore
import Testing
import TestSupport

/// Sends values to each column of one row and checks the result.
///
/// A value is refused with its path and not written, or it is applied and can be read. The read value is a valid base
/// of the next edit.
struct ValueTrip {
    /// A group of one field.
    struct ColumnSample: Sendable {
        let group: String
        let declaration: String
        /// As `GET /v1/rules` names it.
        let type: String
    }

    let client: HTTPClient.Session
    let resource: String
    let section: String
    let exhibits: [ColumnSample]
    /// Printed with a failed expectation.
    let seed: Int

    /// The fate of the values that were sent.
    struct Log {
        var taken = 0
        var refused = 0
        /// The read value for each value that was applied to a group.
        var shown: [String: [ExactText: String]] = [:]
    }

    /// - Parameter section: the only section of the resource, all of whose groups have one field.
    init(
        _ client: HTTPClient.Session, resource: String, section: String, declarations: [String: String], seed: Int
    ) async throws {
        self.client = client
        self.resource = resource
        self.section = section
        self.seed = seed
        let rules = try await client.get("/v1/rules").json()
        let found = rules["resources"]?.array.first { $0["resource"]?.text == resource }
        exhibits = (found?["sections"]?[0]?["groups"]?.array ?? []).compactMap { group in
            guard let name = group["group"]?.text, let type = group["fields"]?[0]?["type"]?.text,
                let declaration = declarations[name]
            else { return nil }
            return ColumnSample(group: name, declaration: declaration, type: type)
        }
        try #require(exhibits.count == declarations.count)
    }

    /// The record's values, group by group, as they were sent.
    func shown(_ id: Int) async throws -> [String: String] {
        let answer = try await client.get("/v1/records/\(resource)/\(id)")
        #expect(answer.status == 200, "seed \(seed): \(answer.text)")
        let members = RawMembers.of(RawMembers.of(answer.text)[section] ?? "{}")
        return members.filter { member in exhibits.contains { $0.group == member.key } }
    }

    /// Sends a value to every column and follows it.
    func run(_ id: Int, _ values: inout WireValues, _ log: inout Log) async throws {
        let before = try await shown(id)
        var sent: [String: String] = [:]
        for exhibit in exhibits { sent[exhibit.group] = values.value(exhibit.type, exhibit.declaration) }
        guard let outcomes = try await push(id, before, &sent, &log) else { return }
        let after = try await shown(id)
        for exhibit in exhibits {
            let group = exhibit.group
            let isSame = { (a: [String: String], b: [String: String]) in
                ExactText(a[group] ?? "") == ExactText(b[group] ?? "")
            }
            guard let value = sent[group] else {
                #expect(isSame(after, before), "\(place(exhibit)) was refused and has changed")
                continue
            }
            let outcome = outcomes[group] ?? "unchanged"
            #expect(
                outcome == (isSame(after, before) ? "unchanged" : "applied"),
                "\(place(exhibit)) was \(before[group] ?? ""), was sent \(value), shows \(after[group] ?? "")")
            #expect(
                Self.agree(value, after[group] ?? "", exhibit),
                "\(place(exhibit)) was sent \(value), shows \(after[group] ?? "")")
            if outcome == "applied" { log.shown[group, default: [:]][ExactText(value)] = after[group] }
        }
        // The read values are sent back, and change nothing.
        var same = after
        #expect(try await push(id, after, &same, &log) == [:], "seed \(seed): an echo does something")
        // The same edits again are `already`, and edits without a change still change nothing.
        var again = sent
        let repeated = try await push(id, before, &again, &log, isAgain: true) ?? [:]
        for (group, outcome) in repeated {
            #expect(outcome == "already", "seed \(seed), \(group): \(sent[group] ?? "") again is \(outcome)")
        }
        // With the new base they change nothing.
        #expect(try await push(id, after, &again, &log) == [:], "seed \(seed): the same values are others")
        #expect(try await shown(id) == after, "seed \(seed)")
    }

    /// Creates a row with one accepted value in each column, and deletes it with the values that were read.
    func create(_ values: inout WireValues, _ log: Log) async throws {
        var new: [String: String] = [:]
        for (group, shown) in log.shown { new[group] = values.any(of: shown.keys.sorted()).string }
        let made = try await merge("null", #"{"old":null,"new":\#(Self.object(new))}"#)
        #expect(made.status == 200, "seed \(seed): \(made.text) for \(new)")
        let id = try #require(try made.json()["id"]?.int, "seed \(seed): \(made.text)")
        let row = try await shown(id)
        for (group, value) in new {
            let expected = log.shown[group]?[ExactText(value)] ?? ""
            #expect(
                ExactText(row[group] ?? "") == ExactText(expected),
                "seed \(seed), \(group) is created as \(value), shows \(row[group] ?? ""), an update \(expected)")
        }
        let gone = try await merge("\(id)", #"{"old":\#(Self.object(row)),"new":null}"#)
        let outcomes = try gone.json()["outcomes"]
        #expect(
            outcomes?[0]?["outcome"]?.text == "deleted" && outcomes?[0]?["conflict"] == nil,
            "seed \(seed): \(gone.text)")
    }

    /// Writes one column of several rows at once, column by column.
    func together(_ ids: ClosedRange<Int>, _ values: inout WireValues, _ log: Log) async throws {
        for (group, shown) in log.shown.sorted(by: { $0.key < $1.key }) {
            var edits: [String] = []
            var wanted: [Int: String] = [:]
            for id in ids {
                let old = try await self.shown(id)[group] ?? ""
                let new = values.any(of: shown.keys.sorted()).string
                wanted[id] = new
                edits.append(
                    #"{"resource":"\#(resource)","id":\#(id),"changeset":{"\#(section)":{"\#(group)":{"old":\#(old),"new":\#(new)}}}}"#
                )
            }
            let answer = try await client.post("/v1/push", #"{"edits":[\#(edits.joined(separator: ","))]}"#)
            #expect(answer.status == 200, "seed \(seed): \(answer.text) for \(edits)")
            for (id, value) in wanted {
                let found = try await self.shown(id)[group] ?? ""
                #expect(
                    ExactText(found) == ExactText(shown[ExactText(value)] ?? ""),
                    "seed \(seed), \(group): \(wanted) at once shows \(found) in \(id), alone \(shown[ExactText(value)] ?? "")"
                )
            }
        }
    }

    private func merge(_ id: String, _ row: String) async throws -> HTTPClient.Answer {
        let record = id == "null" ? "" : #""id":\#(id),"#
        return try await client.post("/v1/merge/" + resource, #"{\#(record)"changeset":{"\#(section)":\#(row)}}"#)
    }

    private static func object(_ members: [String: String]) -> String {
        "{" + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    private func place(_ exhibit: ColumnSample) -> String { "seed \(seed), \(exhibit.declaration) as \(exhibit.type)" }

    /// Sends new values without the refused ones until all are accepted.
    ///
    /// - Parameter isAgain: the bases are old, and one of another type than the column's is refused.
    /// - Returns: the outcomes by group; nil if no value was left.
    private func push(
        _ id: Int, _ old: [String: String], _ new: inout [String: String], _ log: inout Log,
        isAgain: Bool = false
    ) async throws -> [String: String]? {
        while !new.isEmpty {
            let groups = new.sorted { $0.key < $1.key }.map {
                "\"\($0.key)\":{\"old\":\(old[$0.key] ?? "null"),\"new\":\($0.value)}"
            }
            let answer = try await client.post(
                "/v1/merge/" + resource,
                "{\"id\":\(id),\"changeset\":{\"\(section)\":{\(groups.joined(separator: ","))}}}")
            let json = try answer.json()
            switch answer.status {
            case 200:
                log.taken += new.count
                let outcomes = json["outcomes"]?.array ?? []
                #expect(!outcomes.contains { $0["conflict"] != nil }, "seed \(seed): \(answer.text)")
                return Dictionary(
                    outcomes.map { ($0["group"]?.text ?? "", $0["outcome"]?.text ?? "") }, uniquingKeysWith: { $1 })
            case 400:
                let path = json["path"]?.text?.split(separator: ".").map(String.init) ?? []
                let group = path.count == 4 ? path[2] : ""
                try #require(
                    path.count == 4 && (path[3] == "new" || isAgain) && new.removeValue(forKey: group) != nil,
                    "seed \(seed): \(answer.text) for \(groups)")
            case 422:
                let fields = json["problem"]?["fields"]?.array.compactMap(\.text) ?? []
                try #require(fields.count == 1, "seed \(seed): \(answer.text) for \(groups)")
                try #require(new.removeValue(forKey: fields[0]) != nil, "seed \(seed): \(answer.text)")
                #expect(json["problem"]?["retry"]?.bool == false, "seed \(seed): \(answer.text)")
                #expect(json["problem"]?["path"]?.text == "changeset." + section, "seed \(seed): \(answer.text)")
            default:
                Issue.record("seed \(seed): \(answer.status) \(answer.text) for \(groups)")
                return nil
            }
            log.refused += 1
        }
        return nil
    }

    // MARK: Stored values

    /// Returns true if the read value equals the sent one, decided without the gateway's code.
    private static func agree(_ sent: String, _ shown: String, _ exhibit: ColumnSample) -> Bool {
        if sent == "null" || shown == "null" { return sent == shown }
        let (a, b) = (bare(sent), bare(shown))
        switch exhibit.type {
        case "boolean": return (a == "true" || Double(a) == 1) == (b == "true")
        case "integer", "bit", "year", "decimal": return ExactDecimal(a) == ExactDecimal(b)
        case "float": return Float(a) == Float(b) && ExactDecimal(a) == ExactDecimal(b)
        case "double": return Double(a) == Double(b) && ExactDecimal(a) == ExactDecimal(b)
        case "date", "datetime", "time": return trimmed(a) == trimmed(b)
        case "timestamp": return !a.hasSuffix("Z") || trimmed(a) == trimmed(b)
        case "set": return members(sent, exhibit) == members(shown, exhibit)
        case "binary":
            let (x, y) = (Base64.decode(a) ?? [], Base64.decode(b) ?? [1])
            return y.starts(with: x) && y.dropFirst(x.count).allSatisfy { $0 == 0 }
        case "uuid": return a.lowercased().replacing("-", with: "") == b.replacing("-", with: "")
        case "inet6": return true
        case "json": return (try? JSON(nearest(sent))) == (try? JSON(nearest(shown)))
        default:
            let isPadded = exhibit.declaration.hasPrefix("CHAR")
            return unpadded(a, isPadded).unicodeScalars.elementsEqual(unpadded(b, isPadded).unicodeScalars)
        }
    }

    private static func bare(_ json: String) -> String {
        json.hasPrefix("\"") ? (try? JSON(json))?.text ?? json : json
    }

    private static func unpadded(_ text: String, _ isPadded: Bool) -> Substring {
        var text = text[...]
        while isPadded, text.last == " " { text.removeLast() }
        return text
    }

    /// A moment without the zeros that a column with another number of digits has more or fewer of.
    private static func trimmed(_ text: String) -> String {
        var text = text.replacing(" ", with: "T")
        if text.hasSuffix("Z") { text.removeLast() }
        if text.contains(".") {
            while text.last == "0" { text.removeLast() }
            if text.last == "." { text.removeLast() }
        }
        var digits = text[...]
        let isNegative = digits.first == "-"
        if isNegative { digits.removeFirst() }
        // Hours with a zero more than they need, and a time that is zero and has no sign.
        if digits.count > 8, digits.prefix(4).allSatisfy(\.isNumber) == false, digits.first == "0",
            digits.dropFirst(3).first == ":"
        {
            digits.removeFirst()
        }
        return (isNegative && digits.contains { $0.isNumber && $0 != "0" } ? "-" : "") + digits
    }

    private static func members(_ json: String, _ exhibit: ColumnSample) -> Set<ExactText> {
        guard json.hasPrefix("\"") else {
            return Set((try? JSON(json))?.array.compactMap(\.text).map(ExactText.init) ?? [])
        }
        let text = bare(json)
        return text.isEmpty
            ? [] : Set(text.split(separator: ",", omittingEmptySubsequences: false).map { ExactText(String($0)) })
    }

    /// The same JSON with every number as the text of the double nearest to it.
    private static func nearest(_ json: String) -> String {
        var out = ""
        var (token, isString, isEscaped) = ("", false, false)
        for character in json.unicodeScalars {
            if !isString, "+-.0123456789eE".unicodeScalars.contains(character), !(token.isEmpty && character == "e") {
                token.unicodeScalars.append(character)
                continue
            }
            if !token.isEmpty { out += "\"\(((Double(token) ?? .nan) + 0).description)\"" }
            token = ""
            if isString, isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isString.toggle()
            }
            out.unicodeScalars.append(character)
        }
        return token.isEmpty ? out : out + "\"\(((Double(token) ?? .nan) + 0).description)\""
    }
}
