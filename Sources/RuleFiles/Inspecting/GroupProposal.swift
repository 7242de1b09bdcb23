import MergeCore
import RecordStore

/// Proposes groups of several columns.
///
/// A group that is too large causes unnecessary conflicts. A group that is too small mixes half of one client's value
/// with half of another's. So uncertain columns are grouped.
struct GroupProposal {
    private(set) var groups: [ProposedGroup] = []
    /// The columns without a group, in the order of the table.
    private var free: [(column: ColumnSchema, words: [String])]

    /// First words that do not show that columns belong together.
    private static let idle: Set<String> = [
        "first", "last", "middle", "is", "has", "can", "may", "wants", "allow", "allows", "no", "num", "number", "new",
        "old", "max", "min", "date", "my", "the", "to", "from", "total", "other", "alt", "default", "custom", "current",
        "original", "user",
    ]

    /// Proposes groups of the columns that clients write, without keys and parent columns.
    init(_ columns: [ColumnSchema], in table: TableSchema) {
        free = columns.map { ($0, NameWords($0.name).words) }
        proposeForeignKeys(table)
        skipSharedWord()
        // A town or a country in another table is still a part of the address.
        proposeAddress(table)
        // Other references are independent.
        let single = Set(table.foreignKeys.filter { $0.columns.count == 1 }.flatMap(\.columns))
        free.removeAll { single.contains($0.column.name) }
        proposeRanges()
        proposeMoney()
        proposePrefixes(table)
    }

    /// Groups the columns of a foreign key, because halves of two keys would refer to a wrong row.
    private mutating func proposeForeignKeys(_ table: TableSchema) {
        for key in table.foreignKeys where key.columns.count > 1 {
            let columns = free.filter { key.columns.contains($0.column.name) }
            guard columns.count > 1 else { continue }
            let words = NameWords(key.target.name).words
            propose(
                words, columns: columns.map(\.column.name),
                because: "the columns of one foreign key, to table “\(key.target)”")
        }
    }

    /// Ignores a first word of all names (`cu_street`, `cu_city`), which is a convention of the schema.
    private mutating func skipSharedWord() {
        guard free.count > 2, let word = free[0].words.first,
            free.allSatisfy({ $0.words.count > 1 && $0.words.first == word })
        else { return }
        for index in free.indices { free[index].words.removeFirst() }
    }

    private mutating func proposeRanges() {
        for opener in free {
            let pair = free.lazy.compactMap { closer in
                opener.column.types.first?.name == closer.column.types.first?.name
                    ? RangeWords.pair(opener.words, closer.words).map { (closer, $0) } : nil
            }.first
            if let (closer, words) = pair {
                propose(
                    words, columns: [opener.column.name, closer.column.name],
                    because: "the two ends of one thing, by their names")
            }
        }
    }

    private mutating func proposeMoney() {
        for currency in free.filter({ MoneyWords.isCurrency($0.words) }) {
            let subject = MoneyWords.subject(ofCurrency: currency.words)
            let amounts = free.filter { MoneyWords.isAmount($0.words, $0.column.types.first) }
            let own = subject.isEmpty ? amounts : amounts.filter { $0.words.starts(with: subject) }
            guard !own.isEmpty else { continue }
            let names = Set(own.map(\.column.name) + [currency.column.name])
            propose(
                subject.isEmpty ? ["money"] : subject,
                columns: free.map(\.column.name).filter(names.contains),
                because: "an amount means nothing without its currency")
        }
    }

    /// Groups adjacent columns of an address.
    private mutating func proposeAddress(_ table: TableSchema) {
        let own = Self.words(of: table)
        if AddressWords.isKind(own) { return }
        var run: [String] = []
        for (index, entry) in free.enumerated() {
            if Self.isAddress(entry.words, in: own) {
                run.append(entry.column.name)
            } else {
                endAddress(&run, before: index)
            }
        }
        endAddress(&run, before: free.count)
        takeStrays(table, own: own)
        free.removeAll { entry in groups.contains { $0.columns.contains(entry.column.name) } }
    }

    /// Adds parts of the table's only address that at most two other columns separate from it.
    ///
    /// An example is `city`, `phone`, `street`, `postcode`.
    private mutating func takeStrays(_ table: TableSchema, own: Set<String>) {
        let found = groups.indices.filter { groups[$0].words == ["address"] }
        guard found.count == 1, let group = found.first else { return }
        let names = groups[group].columns
        let places = free.indices.filter { names.contains(free[$0].column.name) }
        guard let first = places.first, let last = places.last else { return }
        let known = Set(places.flatMap { free[$0].words.map(NameWords.withoutNumber) })
        for (index, entry) in free.enumerated() where index < first ? first - index <= 3 : index - last <= 3 {
            let isText = if case .text = entry.column.types.first { true } else { false }
            guard !places.contains(index), Self.isAddress(entry.words, in: own), known.isDisjoint(with: entry.words),
                isText || table.foreignKeys.contains(where: { $0.columns == [entry.column.name] })
            else { continue }
            groups[group].take(entry.column.name, because: "parts of an address, by their names")
        }
    }

    /// Returns true for a part of an address; “customer_city” in table customers counts too.
    private static func isAddress(_ words: [String], in own: Set<String>) -> Bool {
        AddressWords.contains(words)
            || (words.first.map(own.contains) == true && AddressWords.contains(Array(words.dropFirst())))
    }

    private mutating func endAddress(_ run: inout [String], before end: Int) {
        defer { run = [] }
        guard run.count > 1 else { return }
        let beside = [end - run.count - 1, end].filter { free.indices.contains($0) }.map { free[$0] }
        groups.append(
            ProposedGroup(
                words: ["address"], columns: run, reason: "parts of an address that stand side by side",
                doubtful: beside.filter { AddressWords.mayBelong($0.words) }.map(\.column.name)))
    }

    /// Returns the words of a table's name, also in the singular.
    private static func words(of table: TableSchema) -> Set<String> { NameWords(table.name.name).singularWords }

    private mutating func proposePrefixes(_ table: TableSchema) {
        // “customer_name” in table customers has no other subject than “customer_email”.
        let own = Self.words(of: table)
        var byPrefix: [String: [(column: ColumnSchema, words: [String])]] = [:]
        var order: [String] = []
        for (column, words) in free where words.count > 1 {
            // A single letter is a convention of the schema.
            let isTelling = words[0].count > 1 && !Self.idle.contains(words[0]) && !own.contains(words[0])
            guard isTelling else { continue }
            if byPrefix[words[0]] == nil { order.append(words[0]) }
            byPrefix[words[0], default: []].append((column, Array(words.dropFirst())))
        }
        for prefix in order {
            guard var columns = byPrefix[prefix] else { continue }
            // “billing_phone” is no part of the address of “billing_street” and “billing_city”.
            if columns.count(where: { AddressWords.contains($0.words) }) > 1 {
                columns.removeAll { AddressWords.isContact($0.words) }
            }
            // Several Booleans are independent.
            guard columns.count > 1, !columns.allSatisfy({ $0.column.isSwitch }) else { continue }
            propose([prefix], columns: columns.map(\.column.name), because: "their names begin with “\(prefix)”")
        }
    }

    private mutating func propose(_ words: [String], columns: [String], because reason: String) {
        groups.append(ProposedGroup(words: words, columns: columns, reason: reason))
        free.removeAll { columns.contains($0.column.name) }
    }
}
