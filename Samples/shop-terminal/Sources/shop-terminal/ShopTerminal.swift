import FieldMergeClient
import Foundation

/// Keeps the shop offline, for a person at a terminal.
///
/// Start the gateway with `./Samples/quickstart`, then this program in two terminals, each with a file of its own.
@main
struct ShopTerminal {
    let store: FieldMergeStore

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2,
            let server = URL(string: arguments.count > 2 ? arguments[2] : "http://127.0.0.1:8080")
        else {
            print("usage: shop-terminal FILE [SERVER]     such as: shop-terminal anna.db http://127.0.0.1:8080")
            return
        }
        let token = ProcessInfo.processInfo.environment["SHOP_TOKEN"] ?? "none"
        let store = try await FieldMergeStore.open(
            at: URL(fileURLWithPath: arguments[1]), server: server, user: "terminal", resources: ["shoppers"],
            client: "shop-terminal/1.0"
        ) { token }
        let tellers = Tellers(store)
        print("Type help for the commands; sync reads the shop.")
        await ShopTerminal(store: store).run()
        tellers.end()
        await store.close()
    }

    private func run() async {
        while true {
            print("> ", terminator: "")
            // What is printed appears at once, also in a pipe.
            try? FileHandle.standardOutput.synchronize()
            guard let line = readLine() else { return }
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            guard let command = words.first else { continue }
            if command == "quit" { return }
            do {
                try await perform(command, Array(words.dropFirst()))
            } catch {
                print("! \(error)")
            }
        }
    }

    private func perform(_ command: String, _ words: [String]) async throws {
        switch command {
        case "list": try await list()
        case "show": try await show(try number(words))
        case "set": try await set(words)
        case "street": try await street(words)
        case "buy": try await buy(words)
        case "unbuy": try await unbuy(words)
        case "sync": try await sync()
        case "online":
            try await store.start()
            try await store.setOnline(true)
        case "offline": try await store.setOnline(false)
        case "status": await status()
        case "refused": try await refused()
        case "predict": try await predict()
        default:
            print(
                """
                list                    every shopper, with * where edits were not sent yet
                show ID                 one of them with what is to be bought
                set ID FIELD VALUE      such as: set 123 firstName Bob
                street ID STREET        a part of the address, which is merged as a whole
                buy ID THING            puts something on the list of a shopper
                unbuy ID NUMBER         takes it off again
                sync                    sends and reads once; online does so by itself from now on, offline stops it
                status, refused         what waits, and what the gateway refused for good
                predict                 what the gateway would say of what waits, as far as it can be known here
                quit
                """)
        }
    }

    private func number(_ words: [String]) throws -> Int {
        guard let id = words.first.flatMap({ Int($0) }) else { throw Misuse(description: "which? Give an id.") }
        return id
    }

    private func list() async throws {
        for record in try await store.records("shoppers") {
            let mark = try await store.state("shoppers", record.id) == .clean ? " " : "*"
            let names = [record["customer", "firstName"], record["customer", "lastName"]].compactMap(\.stringValue)
            print("\(mark) \(record.id)  \(names.joined(separator: " "))")
        }
    }

    private func show(_ id: Int) async throws {
        guard let record = try await store.record("shoppers", id) else { return print("there is no shopper \(id)") }
        for (field, value) in (record["customer"].objectValue ?? [:]).sorted(by: { $0.key < $1.key }) {
            print("  \(field): \(value)")
        }
        for (index, item) in (record["groceries"].arrayValue ?? []).enumerated() {
            print("  \(index + 1). \(item["name"].stringValue ?? "") \(item["quantity"].stringValue ?? "")")
        }
    }

    private func set(_ words: [String]) async throws {
        let id = try number(words)
        guard words.count == 3 else { throw Misuse(description: "set ID FIELD VALUE") }
        try await store.edit("shoppers", id) { $0["customer", words[1]] = .string(words[2]) }
    }

    private func street(_ words: [String]) async throws {
        let id = try number(words)
        let street = words.dropFirst().joined(separator: " ")
        try await store.edit("shoppers", id) { $0["customer", "address"] = ["street": .string(street)] }
    }

    private func buy(_ words: [String]) async throws {
        let id = try number(words)
        let thing = words.dropFirst().joined(separator: " ")
        try await store.edit("shoppers", id) { $0["groceries"].append(["name": .string(thing), "quantity": "1"]) }
    }

    private func unbuy(_ words: [String]) async throws {
        let id = try number(words)
        guard words.count > 1, let place = Int(words[1]) else { throw Misuse(description: "unbuy ID NUMBER") }
        try await store.edit("shoppers", id) { $0["groceries"].remove(at: place - 1) }
    }

    private func sync() async throws {
        let report = try await store.sync()
        print(
            "\(report.phase.rawValue): \(report.merged) merged, \(report.refused) refused, \(report.conflicts) conflicts,"
                + " \(report.changes) read, \(report.unsent) unsent" + (report.error.map { "; \($0)" } ?? ""))
    }

    private func status() async {
        let status = await store.status
        print(
            "\(status.phase.rawValue), \(status.unsent) unsent, \(status.refused) refused, revision"
                + " \(status.revision.map(String.init) ?? "none")")
    }

    private func refused() async throws {
        for entry in try await store.refusedEdits() {
            print("\(entry.resource) \(entry.id): \(entry.problem["detail"])")
        }
    }

    private func predict() async throws {
        for prediction in try await store.predictions() { print("  \(prediction)") }
    }
}

/// A command that was typed otherwise than it should.
struct Misuse: Error, CustomStringConvertible {
    let description: String
}

/// Prints what happens while a person types.
private struct Tellers {
    private let tasks: [Task<Void, Never>]

    init(_ store: FieldMergeStore) {
        tasks = [
            Task {
                for await conflict in store.conflicts {
                    print("~ \(conflict.resource) \(conflict.id), \(conflict.group ?? "the row"): \(conflict.outcome)")
                    print("~   you saw \(conflict.old), there stood \(conflict.current), you wrote \(conflict.new):")
                    print("~   now it is \(conflict.written)")
                }
            },
            Task {
                for await event in store.overtaken {
                    print("~ \(event.resource) \(event.id), \(event.group): somebody else wrote \(event.current)")
                }
            },
            Task {
                for await entry in store.refused {
                    print("~ refused: \(entry.resource) \(entry.id): \(entry.problem["detail"])")
                }
            },
            Task {
                for await record in store.gone { print("~ \(record.resource) \(record.id) is gone") }
            },
        ]
    }

    func end() { for task in tasks { task.cancel() } }
}
