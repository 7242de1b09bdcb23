import MergeCore
import MergeWire

/// Runs one case of libFuzzer: the first byte selects the function that gets the rest.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 1 else { return 0 }
    let rest = Array(UnsafeBufferPointer(start: bytes + 1, count: count - 1))
    switch bytes[0] % 5 {
    case 0: FuzzedInput.decode(rest)
    case 1: FuzzedInput.parse(rest)
    case 2: FuzzedInput.merge(rest, by: .text)
    case 4: FuzzedBinlog.decode(rest)
    default: FuzzedInput.merge(rest, by: .json(itemKey: ExactText("id")))
    }
    return 0
}

/// The cases and their invariants.
enum FuzzedInput {
    private static let catalog: Catalog = {
        let number = ColumnType.integer(Int128(Int32.min)...Int128(Int32.max))
        let columns = [
            Column(name: "id", type: number, isNullable: false),
            Column(name: "name", type: .text(TextType(maximumCharacters: 20)), isNullable: false),
            Column(name: "n", type: number, isNullable: true),
            Column(name: "more", type: .json(TextType()), isNullable: true),
        ]
        let groups = ["name", "n", "more"].enumerated().map { index, name in
            Group(name: name, fields: index..<index + 1, onConflict: Ruled(.clientWins))
        }
        let fields = SectionFields(
            ["name", "n", "more"].enumerated().map { Field(name: $1, column: $0 + 1) }, groups: groups, readOnly: [])
        let doc = Section(
            name: "doc", kind: .root,
            table: SectionTable(TableName(name: "docs"), columns: columns, keyCount: 1, generatedKeyColumn: 0),
            fields: fields)
        return Catalog(
            resources: Resource(name: "docs", description: nil, sections: [doc]).map { [$0] } ?? [], version: "v")
    }()

    /// A body is decoded to edits or to a problem.
    static func decode(_ body: [UInt8]) {
        let decoder = PushDecoder(catalog: catalog, limits: WireLimits())
        do {
            let decoded = try body.withUnsafeBytes { try decoder.push($0, headerKey: nil, sender: "fuzz") }
            _ = try? decoded.push.get()
        } catch {
            precondition((error as? Problem)?.detail.isEmpty == false, "a problem without a sentence")
        }
    }

    /// A document that is read and written is read as the same.
    static func parse(_ body: [UInt8]) {
        guard let tree = JSONParser.parse(String(decoding: body, as: UTF8.self)) else { return }
        precondition(JSONParser.parse(tree.text) == tree, "what was written is another value")
    }

    /// Three values, separated by a byte 0x1E, are merged within their budget.
    static func merge(_ body: [UInt8], by function: MergeFunction) {
        let sides = body.split(separator: 0x1E, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard sides.count == 3 else { return }
        var values = sides.map { Value.text(ExactText($0)) }
        var type = ColumnType.text(TextType())
        if case .json = function {
            let trees = sides.compactMap { JSONParser.parse($0) }
            guard trees.count == 3 else { return }
            values = trees.map { .json($0) }
            type = .json(TextType())
        }
        var budget = WorkBudget(steps: 5_000_000)
        let decision = GroupDecision.decide(
            base: .values([values[0]]), edited: [values[1]], current: [values[2]],
            group: Group(name: "g", fields: 0..<1, onConflict: Ruled(.clientWins), merge: Ruled(function)),
            types: [type], digest: { _ in [] }, spending: &budget)
        precondition(decision.parts.count <= PartLimits.count, "too many parts")
        if decision.outcome == .unchanged { precondition(values[0] == values[1], "a wish was lost") }
    }
}
