import Synchronization

/// Functions of the app that are awaited before anything more is sent.
struct EventHandlers {
    typealias Handler = @Sendable (JSONValue) async -> Void

    var next = 0
    var byKind: [EventKind: [Int: Handler]] = [:]
    var readers: [EventKind: Int] = [:]
    var telling: Set<EventKind> = []
}

/// A registration of the app, which it can end.
public struct Registration: Sendable {
    let cancel: @Sendable () async -> Void

    /// Ends the registration.
    public func end() async { await cancel() }
}

extension FieldMergeStore {
    // MARK: Sequences

    /// Conflicts of two edits.
    public nonisolated var conflicts: StoreEvents<Conflict> {
        StoreEvents(store: self, kind: .conflict) { Conflict($0, self) }
    }

    /// Unsent edits of groups that another client has changed meanwhile.
    public nonisolated var overtaken: StoreEvents<Overtaken> {
        StoreEvents(store: self, kind: .overtaken) { Overtaken($0, self) }
    }

    /// Edits that were refused for good.
    public nonisolated var refused: StoreEvents<RefusedEdit> {
        StoreEvents(store: self, kind: .refused) { told in
            let number = told["entry"].intValue.map(Int64.init)
            return try? await self.refusedEdits().first { $0.number == number }
        }
    }

    /// Records that are gone for this client.
    public nonisolated var gone: StoreEvents<Gone> {
        StoreEvents(store: self, kind: .gone) { Gone($0) }
    }

    nonisolated func beginReading(_ kind: EventKind) -> Int {
        readers.withLock { $0[kind, default: EventReaders()].add() }
    }

    func endReading(_ kind: EventKind, _ reader: Int) async {
        readers.withLock { $0[kind]?.remove(reader) }
        await forgetEvents(kind)
    }

    private func forgetEvents(_ kind: EventKind) async {
        guard let number = readers.withLock({ $0[kind]?.forgettable }), number > 0 else { return }
        // An event that stays on disk is delivered again, which does no harm.
        _ = try? await file.write("event") { try $0.forgetEvents(kind, through: number) }
    }

    func takeEvent(_ kind: EventKind, _ reader: Int) async -> Ledger.StoredEvent? {
        guard let taken = readers.withLock({ $0[kind]?.ask(reader) }) else { return nil }
        await forgetEvents(kind)
        if let live = readers.withLock({ $0[kind]?.takeLive(reader) }) {
            return Ledger.StoredEvent(number: taken, kind: kind, body: live)
        }
        var next = try? await file.read { try $0.nextEvent([kind], after: taken) }
        if next == nil, let left = try? await file.read({ try $0.abandonedEvents(kind, through: taken) }),
            !left.isEmpty
        {
            _ = try? await file.write("event") { try $0.requeueAbandoned(kind, through: taken) }
            next = try? await file.read { try $0.nextEvent([kind], after: taken) }
        }
        guard var event = next else { return nil }
        if !event.isOwn {
            guard let claimed = try? await file.write("event", { try $0.claimEvent(kind, after: taken) }).0 else {
                return nil
            }
            event = claimed
        }
        readers.withLock { $0[kind]?.give(event.number, to: reader) }
        return event
    }

    // MARK: Functions of the app

    /// Registers a function for conflicts; a value that it returns is a new edit of the group.
    ///
    /// The sync does not wait for it. An event is kept on disk until the function has returned.
    @discardableResult
    public func onConflict(_ decide: @escaping @Sendable (Conflict) async -> JSONValue?) async throws -> Registration {
        try await handle(.conflict) { [weak self] told in
            guard let self else { return }
            let conflict = Conflict(told, self)
            if let answer = await decide(conflict) {
                // The event `gone` reports the deletion.
                _ = try? await self.write(answer, into: conflict)
            }
        }
    }

    /// Registers a function for overtaken unsent edits; the edit is sent after the function has returned.
    @discardableResult
    public func onOvertaken(_ decide: @escaping @Sendable (Overtaken) async -> Void) async throws -> Registration {
        try await handle(.overtaken) { [weak self] told in
            if let self { await decide(Overtaken(told, self)) }
        }
    }

    private func handle(_ kind: EventKind, handler: @escaping EventHandlers.Handler) async throws -> Registration {
        handlers.next += 1
        let number = handlers.next
        handlers.byKind[kind, default: [:]][number] = handler
        if handlers.readers[kind] == nil { handlers.readers[kind] = beginReading(kind) }
        await tellHandlers()
        return Registration { [weak self] in await self?.endHandling(kind, number: number) }
    }

    private func endHandling(_ kind: EventKind, number: Int) async {
        handlers.byKind[kind]?[number] = nil
        if handlers.byKind[kind]?.isEmpty == true, let reader = handlers.readers.removeValue(forKey: kind) {
            await endReading(kind, reader)
        }
    }

    /// Calls the app's functions for events, and waits only for functions that may change unsent edits.
    func tellHandlers() async {
        if handlers.readers[.conflict] != nil {
            Task { await SyncTurn.$isInside.withValue(false) { await tell(.conflict) } }
        }
        await SyncTurn.$isInside.withValue(true) { await tell(.overtaken) }
    }

    /// Calls the functions of one kind, one event after another.
    private func tell(_ kind: EventKind) async {
        guard handlers.telling.insert(kind).inserted else { return }
        defer { handlers.telling.remove(kind) }
        while let reader = handlers.readers[kind], let event = await takeEvent(kind, reader) {
            for (_, handler) in (handlers.byKind[kind] ?? [:]).sorted(by: { $0.key < $1.key }) {
                await handler(event.body)
            }
        }
    }

    /// Has a function called before a record of the gateway is stored.
    ///
    /// Edits that it makes through the change's `transaction` are stored in the same transaction; one that throws adds
    /// nothing.
    @discardableResult
    public nonisolated func beforeStore(_ hook: @escaping StoreHook) -> Registration {
        let context = context
        let number = context.hooks.withLock { hooks in
            let number = (hooks.keys.max() ?? 0) + 1
            hooks[number] = hook
            return number
        }
        return Registration { context.hooks.withLock { $0[number] = nil } }
    }

    // MARK: Values that change

    /// The current record and each later version; nil if there is none.
    ///
    /// - Throws: `InvalidEdit` with the nearest name if the rules have no such resource.
    public nonisolated func observe(_ resource: String, _ id: some RecordID) throws -> LiveValues<Record?> {
        let id = id.jsonValue
        try checkName(resource)
        return LiveValues(topic: .resource(resource), store: self) { store in try? await store.record(resource, id) }
    }

    /// All records of a resource, now and after each change.
    ///
    /// - Throws: the same.
    public nonisolated func observe(_ resource: String) throws -> LiveValues<[Record]> {
        try checkName(resource)
        return LiveValues(topic: .resource(resource), store: self) { store in (try? await store.records(resource)) ?? []
        }
    }

    private nonisolated func checkName(_ resource: String) throws {
        do {
            try file.readNow { try $0.checkName(resource) }
        } catch FieldMergeError.storeClosed {
            // A closed store has no values.
        }
    }

    /// The status now and whenever it changes.
    public nonisolated var statuses: LiveValues<Status> {
        LiveValues(topic: .status, store: self) { store in await store.status }
    }
}

/// The current value and each later one; a slow reader gets the latest.
public struct LiveValues<Element: Sendable & Equatable>: AsyncSequence, Sendable {
    let topic: Bells.Topic
    let store: FieldMergeStore
    let read: @Sendable (FieldMergeStore) async -> Element

    /// Returns a reader that begins with the current value.
    public func makeAsyncIterator() -> Iterator {
        Iterator(values: self, ringing: store.bells.subscribe(to: topic).makeAsyncIterator())
    }

    /// A reader.
    public struct Iterator: AsyncIteratorProtocol {
        let values: LiveValues
        var ringing: AsyncStream<Void>.Iterator
        var last: Element?

        /// Returns the value as soon as it differs from the one before; nil once the store is closed or the task
        /// cancelled.
        public mutating func next() async -> Element? {
            while !Task.isCancelled {
                if last != nil, await ringing.next() == nil { return nil }
                let now = await values.read(values.store)
                if now != last {
                    last = now
                    return now
                }
            }
            return nil
        }
    }
}
