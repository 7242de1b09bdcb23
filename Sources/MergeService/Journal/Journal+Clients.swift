import MergeCore
package import RecordStore

/// The devices that use the gateways; a journal on MariaDB may lack their table.
extension Journal {
    private static let batch = 100
    /// The newest entries among which refused pushes are counted.
    private static let counted = 100_000

    /// A device, and its refused pushes that wait for an operator.
    package struct Client: Sendable {
        /// The stored data.
        package let row: ClientRow
        /// The refused pushes among the newest entries.
        package let refused: Int
    }

    private struct Device: Hashable {
        let who: ExactText
        let device: ExactText
    }

    /// Stores devices, unless a sender was erased since they were read.
    ///
    /// - Parameter erasures: the count of erasures when the devices were read.
    /// - Returns: the count now; another count means that some devices were not stored, which may be of an erased sender.
    /// - Throws: `StoreError`; of the kind `schemaChanged` or `denied` if there is no table.
    package func store(
        _ clients: [ClientRow], erasures: Int, until deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> Int {
        var rest = clients[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(Self.batch))
            let count = try await engine.write(deadline: deadline) { [tables] session throws(StoreError) in
                let count = try Self.countErasures(in: tables, session)
                if count == erasures { _ = try session.execute(tables.store(some)) }
                return .commit(count)
            }
            if count != erasures { return count }
            rest = rest.dropFirst(some.count)
        }
        return erasures
    }

    /// Reads the count of erasures.
    package func clientErasures(until deadline: ContinuousClock.Instant) async throws(StoreError) -> Int {
        try await engine.write(deadline: deadline) { [tables] session throws(StoreError) in
            .commit(try Self.countErasures(in: tables, session))
        }
    }

    private static func countErasures(
        in tables: JournalTables, _ session: any StoreSession
    ) throws(StoreError) -> Int {
        let statements = tables.countErasures
        _ = try session.execute(statements[0])
        return tables.erasures(try session.query(statements[1]).first)
    }

    /// Reads a page of devices in the order of senders and devices; nil if there is no table.
    package func clients(
        after last: (who: String, device: String)?, limit: Int, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> [Client]? {
        do throws(StoreError) {
            return try await engine.read(deadline: deadline) { [tables] session throws(StoreError) in
                let rows = try session.query(tables.clients(after: last, limit: limit)).compactMap { tables.client($0) }
                let newest = try session.query(tables.bounds).first?.last
                guard case .integer(let end)? = newest else { return rows.map { Client(row: $0, refused: 0) } }
                var refused: [Device: Int] = [:]
                for row in try session.query(tables.refusals(after: Int(clamping: end) - Self.counted)) {
                    guard case .text(let who) = row[0], case .text(let device) = row[1],
                        case .integer(let count) = row[2]
                    else { continue }
                    refused[Device(who: who, device: device)] = Int(clamping: count)
                }
                return rows.map { row in
                    Client(
                        row: row,
                        refused: refused[Device(who: ExactText(row.who), device: ExactText(row.device))] ?? 0)
                }
            }
        } catch {
            if error.isMissingTable { return nil }
            throw error
        }
    }

    /// Deletes the devices of a sender; gateways forget the devices that they have not stored yet.
    package func forgetClients(of who: String, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await engine.write(deadline: deadline) { [tables] session throws(StoreError) in
            let count = try Self.countErasures(in: tables, session)
            _ = try session.execute(tables.setErasures(count + 1))
            return .commit(())
        }
        try await forget(tables.forgetClients(of: who), until: deadline)
    }

    /// Deletes devices that were not seen for a number of days; without a table there are none.
    package func forgetClients(days: Int, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        try await forget(tables.forgetClients(days: days), until: deadline)
    }

    private func forget(_ statement: Statement, until deadline: ContinuousClock.Instant) async throws(StoreError) {
        do throws(StoreError) {
            try await engine.write(deadline: deadline) { session throws(StoreError) in
                _ = try session.execute(statement)
                return .commit(())
            }
        } catch {
            guard error.isMissingTable else { throw error }
        }
    }
}

extension StoreError {
    /// True if a table is missing, or the user has no right on it.
    package var isMissingTable: Bool { kind == .schemaChanged || kind == .denied }
}

extension MergeService {
    /// Reads a page of devices.
    ///
    /// - Throws: a 501 `Problem` without a table.
    package func clients(
        after last: (who: String, device: String)?, limit: Int, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> [Journal.Client] {
        guard let clients = try await active.kept().clients(after: last, limit: limit, deadline) else {
            throw Problem(
                .noClients,
                detail: "The journal has no table of devices. “fieldmerge journal init” makes it in an older journal.",
                retry: .never)
        }
        return clients
    }
}
