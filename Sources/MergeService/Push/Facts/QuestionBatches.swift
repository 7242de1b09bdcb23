import MergeCore

/// Questions sorted into batches that one statement each can answer.
struct QuestionBatches {
    /// A search by the columns of a natural key.
    struct Identity: Hashable {
        let place: SectionPlace
        let columns: [Int]
    }

    private(set) var rows: [(SectionPlace, [RecordKey])] = []
    private(set) var singletons: [(SectionPlace, [[Value]])] = []
    private(set) var identities: [(Identity, [[Value]])] = []
    private(set) var frozen: [(SectionPlace, [RecordKey])] = []
    /// Questions that are answered one by one.
    private(set) var others: [Question] = []

    /// Sorts questions; a repeated question is answered once.
    init(_ questions: [Question]) {
        var seen: Set<Question> = []
        for question in questions where seen.insert(question).inserted {
            switch question {
            case .row(let place, let key): Self.add(key, for: place, to: &rows)
            case .singleton(let place, let link): Self.add(link, for: place, to: &singletons)
            case .identity(let place, let columns, let values):
                Self.add(values, for: Identity(place: place, columns: columns), to: &identities)
            case .frozen(let place, let key): Self.add(key, for: place, to: &frozen)
            case .equatedRows, .rows, .hidden, .cascades, .lastKnown: others.append(question)
            }
        }
    }

    /// A push has few sections, so a search through the batches is short.
    private static func add<Batch: Equatable, Member>(
        _ member: Member, for batch: Batch, to batches: inout [(Batch, [Member])]
    ) {
        if let position = batches.firstIndex(where: { $0.0 == batch }) {
            batches[position].1.append(member)
        } else {
            batches.append((batch, [member]))
        }
    }
}
