import MergeCore
import RecordStore

/// Reads and locks the rows on which edits are decided: the only reader of a run until its checks.
///
/// A read shows the writes of the run so far. So the waiting updates that may concern it are written first.
struct FactStore {
    let run: RunEnvironment
    private(set) var facts: Facts
    /// The edit whose rows were read again last.
    private var reloaded: Int?
    var trails: [RecordName: KnownTrails] = [:]

    init(_ run: RunEnvironment) {
        self.run = run
        facts = Facts(run)
    }

    var active: ActiveRules { run.active }

    /// The rows as they were before the push.
    var before: RowsBefore {
        get { facts.before }
        _modify { yield &facts.before }
    }

    /// Returns the facts after the writes so far.
    func view(after writer: ChangeWriter) -> FactView {
        FactView(run: run, facts: facts, changes: writer.changes, keys: writer.keys)
    }

    // MARK: Rows by key

    /// Locks all roots whose keys the push contains, in one global order, so that pushes cannot deadlock.
    mutating func lockRoots(_ writer: inout ChangeWriter) throws(PushStop) {
        let roots = run.roots.filter { !$0.keys.isEmpty }
        guard roots.count > 1 || (roots.first?.keys.count ?? 0) > 1 else { return }
        for root in roots { try lock(root.keys, of: root.resource, &writer) }
    }

    /// If edits are independent, a root that cannot be read is left out; its own edit is refused later.
    private mutating func lock(
        _ keys: [RecordKey], of resource: Resource, _ writer: inout ChangeWriter
    ) throws(PushStop) {
        do throws(PushStop) {
            try read(keys, of: SectionPlace(resource, 0), &writer)
        } catch {
            guard run.isEachForItself, case .store(let cause) = error, cause.refusal != nil else { throw error }
            guard keys.count > 1 else { return }
            for key in keys { try lock([key], of: resource, &writer) }
        }
    }

    /// Locks and reads the rows that some edits name, unless they are current.
    mutating func load(_ wave: [PushPlan.Step], _ writer: inout ChangeWriter) throws(PushStop) {
        // In this case the edits need only the roots, which are already locked.
        if run.namesEachOnce, wave.count > 1, writer.changes.now == 0,
            wave.allSatisfy({ $0.rows.allSatisfy { $0.section == 0 } })
        {
            return
        }
        let view = view(after: writer)
        var wanted: [SectionPlace: Set<RecordKey>] = [:]
        for step in wave {
            let resource = step.edit.resource
            if let key = writer.keys.settled(step.edit.id) {
                wanted[SectionPlace(resource, 0), default: []].insert(key)
            }
            for row in step.rows where row.section > 0 {
                guard let key = row.id.flatMap({ writer.keys.settled($0) }) else { continue }
                wanted[SectionPlace(resource, row.section), default: []].insert(key)
            }
        }
        for (place, keys) in wanted.sorted(by: { $0.key.id < $1.key.id }) {
            let missing = keys.filter { view.known($0, of: place) == nil }
            if !missing.isEmpty { try read(RecordKey.ordered(Array(missing)), of: place, &writer) }
        }
    }

    private mutating func read(
        _ keys: [RecordKey], of place: SectionPlace, _ writer: inout ChangeWriter
    ) throws(PushStop) {
        try writer.flush()
        let found = try run.rows(of: place.section, where: Array(0..<place.section.keyCount), in: keys.map(\.parts))
        try run.reading { () throws(StoreError) in
            try facts.store(found, askedFor: keys, of: place, at: writer.changes.now)
        }
    }

    // MARK: Questions

    /// Makes a decision, and queries the database as long as facts are missing.
    mutating func decide<Decision>(
        for step: PushPlan.Step, _ writer: inout ChangeWriter,
        _ decision: (FactView) throws(DecidingStop) -> Decision
    ) throws(PushStop) -> Decision {
        while true {
            do throws(DecidingStop) {
                return try decision(view(after: writer))
            } catch {
                switch error {
                case .unanswered(let questions): try answer(questions, for: step, &writer)
                case .refused(let problem): throw .refused(step.index, problem)
                case .fault(let problem): throw .fault(problem)
                }
            }
        }
    }

    /// Answers a step's questions; the first question for a row by key reads all rows of the step.
    private mutating func answer(
        _ questions: [Question], for step: PushPlan.Step, _ writer: inout ChangeWriter
    ) throws(PushStop) {
        if reloaded != step.index, case .row? = questions.first {
            reloaded = step.index
            try load([step], &writer)
            let view = view(after: writer)
            let open = questions.filter { question in
                if case .row(let place, let key) = question { view.known(key, of: place) == nil } else { true }
            }
            return try answer(open, &writer)
        }
        try answer(questions, &writer)
    }

    /// Answers questions, if possible those of one kind and section with one statement.
    mutating func answer(_ questions: [Question], _ writer: inout ChangeWriter) throws(PushStop) {
        let batches = QuestionBatches(questions)
        for (place, keys) in batches.rows { try read(RecordKey.ordered(keys), of: place, &writer) }
        for (place, links) in batches.singletons { try answerSingletons(of: place, links.ordered, to: &writer) }
        for (search, tuples) in batches.identities { try answer(search, tuples: tuples.ordered, &writer) }
        for (place, keys) in batches.frozen {
            for (key, isFrozen) in try frozen(keys, of: place) {
                facts.before.recordFrozen(isFrozen, key, of: place.section)
            }
        }
        for question in batches.others { try answer(question, &writer) }
    }

    private mutating func answer(_ question: Question, _ writer: inout ChangeWriter) throws(PushStop) {
        switch question {
        case .equatedRows(let place, let key):
            store(try rows(of: place.section, withKey: key, includesEquated: true, &writer), for: question, writer)
        case .rows(let place, let link):
            try writer.flushUnlessShared()
            store(try linkedRows(place.section, link: link), for: question, writer)
        case .hidden(let place, let key):
            try writer.flushUnlessShared()
            let statement = run.sql(place.section).hidden(
                where: place.section.addressPositions, in: [key.parts], locking: run.session.mustLockReads)
            store(
                try statement.map { statement throws(PushStop) in try run.query(statement) } ?? [], for: question,
                writer)
        case .cascades(let place, let row):
            facts.store(
                try cascades(deleting: row, of: place.section).map(\.cascade), for: question, at: writer.changes.now)
        case .lastKnown(let missing): facts.store(try lastKnown(missing), of: missing)
        case .row, .singleton, .identity, .frozen:
            preconditionFailure("These questions are answered in batches.")
        }
    }

    private mutating func store(_ rows: [[Value]], for question: Question, _ writer: ChangeWriter) {
        facts.store(rows, for: question, at: writer.changes.now)
    }

    private mutating func answerSingletons(
        of place: SectionPlace, _ links: [[Value]], to writer: inout ChangeWriter
    ) throws(PushStop) {
        let section = place.section
        // Pushes that share the transaction have no singleton in common.
        let footprint = run.footprint(section)
        if footprint.dependsOnOtherRows || writer.updates.mayChange(footprint.table) { try writer.flushUnlessShared() }
        var found: [[Value]: [[Value]]] = [:]
        if links.count > 1, !RecordKey(links[0]).hasText {
            let columns = section.parent.map(\.column)
            for row in try run.rows(of: section, where: columns, in: links) {
                found[columns.map { row[$0] }, default: []].append(row)
            }
        } else {
            for link in links { found[link] = try linkedRows(section, link: link) }
        }
        for link in links { store(found[link] ?? [], for: .singleton(place, link: link), writer) }
    }

    private func linkedRows(_ section: Section, link: [Value]) throws(PushStop) -> [[Value]] {
        try run.reading { () throws(StoreError) in
            try run.reader.rows(of: section, linkedBy: link, locking: true)
        }
    }

    private mutating func answer(
        _ search: QuestionBatches.Identity, tuples: [[Value]], _ writer: inout ChangeWriter
    ) throws(PushStop) {
        try writer.flush()
        let columns = search.columns
        var found: [[Value]: [[Value]]] = [:]
        for row in try run.rows(of: search.place.section, where: columns, in: tuples, includesHidden: true) {
            found[columns.map { row[$0] }, default: []].append(row)
        }
        for tuple in tuples {
            store(found[tuple] ?? [], for: .identity(search.place, columns: columns, values: tuple), writer)
        }
    }

    private func frozen(
        _ keys: [RecordKey], of place: SectionPlace
    ) throws(PushStop) -> [(key: RecordKey, isFrozen: Bool)] {
        var frozen: Set<RecordKey> = []
        for start in stride(from: 0, to: keys.count, by: SectionSQL.maximumBatch) {
            let some = keys[start..<min(start + SectionSQL.maximumBatch, keys.count)]
            let statement = run.sql(place.section).frozen(
                where: place.section.addressPositions, in: some.map(\.parts), locking: run.session.mustLockReads)
            guard let statement else { continue }
            frozen.formUnion(try run.query(statement).map { RecordKey($0) })
        }
        return keys.map { ($0, frozen.contains($0)) }
    }

    // MARK: Other rows

    /// Reads the rows with a key, in spite of the rules' visibility if wanted.
    ///
    /// - Parameters:
    ///   - locking: false if the transaction only needs a consistent value.
    ///   - includesEquated: if true, also finds rows whose key is equal only under the collation.
    func rows(
        of section: Section, withKey key: RecordKey, locking: Bool = true, includesHidden: Bool = false,
        includesEquated: Bool = false, _ writer: inout ChangeWriter
    ) throws(PushStop) -> [[Value]] {
        try writer.flush()
        return try run.rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: locking,
            includesHidden: includesHidden, includesEquated: includesEquated)
    }

    /// Reads the rows of a record in a section.
    func rows(
        of section: Section, in root: [Value], _ writer: inout ChangeWriter
    ) throws(PushStop) -> [[Value]] {
        try writer.flushUnlessShared()
        let link = section.link(to: root)
        return link.contains(.null) ? [] : try linkedRows(section, link: link)
    }

    /// Reads rows whose columns contain some values, also rows that the rules hide.
    func rows(
        of section: Section, where columns: [Int], are values: [Value], includesEquated: Bool = false,
        _ writer: inout ChangeWriter
    ) throws(PushStop) -> [[Value]] {
        try writer.flush()
        return try run.rows(
            of: section, where: columns, in: [values], includesHidden: true, includesEquated: includesEquated)
    }

    /// Reads all columns of a row that the journal keeps.
    func wholeRow(_ row: [Value], _ section: Section) throws(PushStop) -> RawRow? {
        let columns = active.keptColumns[section.table]
        if columns.isEmpty { return nil }
        if section.keyCount == 0 {
            let kept = Set(columns.map(\.name))
            return RawRow(
                values: zip(section.columns, row).filter { kept.contains($0.0.name) }.map {
                    RawValue(column: $0, value: $1)
                })
        }
        let key = section.address(of: row).map { part in
            RawValue(column: section.columns[part.column], value: part.value)
        }
        let statement = RawSQL(run.dialect).select(columns, from: section.table, where: key, locking: true)
        return try run.query(statement).first.map { found in
            RawRow(values: zip(columns, found).map { RawValue(column: $0, value: $1) })
        }
    }

    // MARK: Cascades

    private var cascadeFinder: CascadeFinder {
        CascadeFinder(schema: active.schema, kept: active.keptColumns, session: run.session, dialect: run.dialect)
    }

    /// Finds the rows that the database deletes or changes with a row; empty if there are no foreign keys.
    func cascades(deleting row: [Value], of section: Section) throws(PushStop) -> [CascadeFinder.Step] {
        if active.schema.dependents(ofDeletionFrom: section.table).isEmpty { return [] }
        return try run.reading { () throws(StoreError) in
            try cascadeFinder.steps(deleting: row, section.columns, from: section.table)
        }
    }

    /// Finds the rows that the database changes with an update; empty if no foreign key refers to its columns.
    ///
    /// - Throws: `RunAgain` if several pushes share the transaction and a foreign key does.
    func cascades(
        updating row: [Value], to after: [Value], writing assignments: [Assignment], of section: Section,
        _ writer: inout ChangeWriter
    ) throws(PushStop) -> [CascadeFinder.Step] {
        let columns = Set(assignments.map { section.columns[$0.column].name })
        if active.schema.dependents(ofChangeTo: columns, in: section.table).isEmpty { return [] }
        if run.batch.isShared { throw .again(.alone) }
        // The search must find the values that earlier edits wrote.
        try writer.flush()
        return try run.reading { () throws(StoreError) in
            try cascadeFinder.steps(updating: row, to: after, section.columns, in: section.table)
        }
    }
}

extension [[Value]] {
    /// The tuples in the global order in which rows are locked.
    fileprivate var ordered: [[Value]] { RecordKey.ordered(map { RecordKey($0) }).map(\.parts) }
}
