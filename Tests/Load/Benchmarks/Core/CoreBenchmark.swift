/// Measures functions that need no database and no network, and prints JSON for Tests/benchmark.
@main
struct CoreBenchmark {
    static func main() async throws {
        let seconds = CommandLine.arguments.dropFirst().first.flatMap { Double($0) } ?? 1
        let costs =
            Decisions.costs(seconds: seconds) + (try Messages.costs(seconds: seconds))
            + (try await Tokens.costs(seconds: seconds))
        print("[" + costs.map(\.json).joined(separator: ",\n ") + "]")
    }
}
