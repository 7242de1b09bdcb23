import MergeCore
import MergeService
import MergeWire
import RecordStore
import RuleFiles

/// The person whose values `fieldmerge journal erase` erases.
package enum ErasedPerson: Sendable, Hashable {
    /// The sender of pushes.
    case sender(String)
    /// A record, with its key as URLs spell it.
    case record(resource: String, id: String)
}

extension JournalDesk {
    /// Erases the values of a person from the journal.
    ///
    /// - Parameter isPreview: counts the values and writes nothing.
    package func erase(
        _ person: ErasedPerson, rules: String, isPreview: Bool
    ) async throws(JournalFault) -> ErasureReport {
        let active = try await active(rules)
        if !isPreview { try await claim(MergeService.wire(engine), active) }
        guard let now = DateTime.now else { throw JournalFault("the clock of this machine has no valid time") }
        do {
            let found = try await subject(person, under: active.catalog)
            let mark = ErasureMark(at: now, by: author.who)
            return try await JournalErasure(
                journal: journal, eraser: JournalEraser(of: found.subject, mark: mark, in: active.catalog),
                who: found.who, records: found.records, isPreview: isPreview,
                deadline: .now.advanced(by: .seconds(86_400))
            ).run()
        } catch {
            throw JournalFault(error)
        }
    }

    private struct Found {
        let subject: ErasureSubject
        var who: String?
        var records: [RecordName] = []
    }

    private func subject(_ person: ErasedPerson, under catalog: Catalog) async throws -> Found {
        switch person {
        case .sender(let who):
            guard !who.isEmpty, who != JournalTables.erasedSender else {
                throw JournalFault("“\(who)” is not the name of a sender")
            }
            return Found(subject: ErasureSubject(who: who), who: who)
        case .record(let name, let id):
            var filter = try JournalQuery(catalog: catalog).filter { member throws(Problem) in
                ["resource": name, "id": id][member]
            }
            guard let resource = catalog[name] else { throw JournalFault("“\(name)” is not a resource") }
            let key = try KeyText.decode(id, resource.root)
            let own = try await rows(of: resource, key)
            // The root row comes first, with all its columns.
            let root = own.first ?? ErasedRow(key: key, of: resource.root)
            var records: [(resource: Resource, key: RecordKey)] = []
            for other in catalog.resources {
                // A list of the record may have the same table, so only the root row counts.
                guard let key = root.key(in: other.root, of: other) else { continue }
                records.append((other, key))
            }
            var all = own + [root]
            for (other, key) in records {
                if other.name != name { all += try await rows(of: other, key) }
                filter.resource = other.name
                filter.record = KeyText.encode(key, other.root)
                all += try await formerRows(filter, of: other)
            }
            return Found(
                subject: ErasureSubject(records: records, rows: all, in: catalog),
                records: records.map {
                    RecordName(resource: $0.resource.name, record: KeyText.encode($0.key, $0.resource.root))
                })
        }
    }

    /// Returns the current rows of a record; none if the record is gone or cannot be read.
    private func rows(of resource: Resource, _ key: RecordKey) async throws(StoreError) -> [ErasedRow] {
        var limits = MergeLimits()
        limits.rowsPerRecord = 10_000_000
        let service = MergeService.wire(engine, limits: limits)
        guard let record = try await service.record(resource, key, deadline: deadline)?.readable else { return [] }
        return zip(resource.sections, record.sections).flatMap { section, rows in
            switch rows {
            case .one(let row): row.map { [ErasedRow($0, of: section)] } ?? []
            case .many(let rows): rows.map { ErasedRow($0, of: section) }
            }
        }
    }

    /// Returns the rows of lists that the entries of a record name.
    private func formerRows(_ filter: JournalFilter, of resource: Resource) async throws(StoreError) -> [ErasedRow] {
        var (found, rest): ([ErasedRow], JournalFilter) = ([], filter)
        rest.limit = 200
        while true {
            let entries = try await journal.entries(rest, deadline)
            for entry in entries {
                found += entry.entry.map { ErasedRow.items(of: $0.body, resource) } ?? []
            }
            guard entries.count == rest.limit, let last = entries.last else { return found }
            rest.after = last.number
        }
    }
}
