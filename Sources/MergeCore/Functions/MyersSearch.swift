/// The greedy search for a shortest edit script, with bounded memory.
///
/// Source: Eugene W. Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1, 1986. Instead of the
/// linear-space refinement, the search records its path over a limited number of differences. If there are more, it
/// keeps the path to the furthest point and restarts there.
struct MyersSearch {
    /// The pairs of equal tokens, in ascending order.
    private(set) var matches: [(Int, Int)] = []

    private let a: [Int32]
    private let b: [Int32]
    private let effort: Int
    private var startA = 0
    private var startB = 0
    /// The furthest position in `a` on each diagonal, for each number of differences: 1 + 2 + 3 + … elements.
    private var trace: [Int32] = []

    private static let unreachable = Int32.min / 2

    init(_ a: [Int32], _ b: [Int32], effort: Int) {
        self.a = a
        self.b = b
        self.effort = max(effort, 1)
    }

    /// Searches within the effort; returns false, without matches, if the end was not reached.
    mutating func runToEnd(spending budget: inout WorkBudget) throws(WorkSpent) -> Bool {
        guard let differences = try advance(spending: &budget), let end = end(differences) else { return false }
        collect(end)
        return true
    }

    /// Searches to the end, whatever the number of differences.
    mutating func runOn(spending budget: inout WorkBudget) throws(WorkSpent) {
        while startA < a.count, startB < b.count {
            let differences = try advance(spending: &budget)
            guard let place = differences.flatMap({ end($0) }) ?? furthest() else { return }
            collect(place)
            startA += place.x
            startB += place.y
        }
    }

    private struct Place {
        let x: Int
        let y: Int
        let differences: Int
    }

    private func end(_ differences: Int) -> Place? {
        Place(x: a.count - startA, y: b.count - startB, differences: differences)
    }

    /// Fills the trace and returns the number of differences to the end, or nil if the effort was too small.
    private mutating func advance(spending budget: inout WorkBudget) throws(WorkSpent) -> Int? {
        var steps = 0
        let differences = advance(steps: &steps, limit: budget.left)
        try budget.spend(steps)
        return differences
    }

    /// Fills the trace within a limit of steps.
    ///
    /// - Parameters:
    ///   - steps: Counts the visited diagonals and the compared tokens.
    ///   - most: The steps after which the search stops.
    private mutating func advance(steps: inout Int, limit most: Int) -> Int? {
        let (n, m) = (a.count - startA, b.count - startB)
        let limit = min(effort, n + m)
        var furthest = [Int32](repeating: Self.unreachable, count: 2 * limit + 3)
        let middle = limit + 1
        trace.removeAll(keepingCapacity: true)
        return a.withUnsafeBufferPointer { a in
            b.withUnsafeBufferPointer { b in
                furthest.withUnsafeMutableBufferPointer { furthest in
                    for d in 0...limit where steps <= most {
                        for k in stride(from: -d, through: d, by: 2) {
                            let reached =
                                d == 0
                                ? 0
                                : Self.step(
                                    below: furthest[middle + k - 1], above: furthest[middle + k + 1], to: k, n, m: m)
                            var x = Int(reached)
                            if x >= 0 {
                                while x < n, x - k < m, a[startA + x] == b[startB + x - k] { x += 1 }
                                steps += x - Int(reached)
                            }
                            steps += 1
                            furthest[middle + k] = Int32(truncatingIfNeeded: x)
                            trace.append(Int32(truncatingIfNeeded: x))
                            if x >= n, x - k >= m { return d }
                        }
                    }
                    return nil
                }
            }
        }
    }

    /// Returns the position after one more difference: a step right from below or down from above, whichever is
    /// further.
    private static func step(below: Int32, above: Int32, to k: Int, _ n: Int, m: Int) -> Int32 {
        let down = above >= 0 && Int(above) - k <= m ? above : unreachable
        let right = below >= 0 && Int(below) < n ? below + 1 : unreachable
        return right > down ? right : down
    }

    private func traced(_ d: Int, k: Int) -> Int32 {
        abs(k) > d ? Self.unreachable : trace[d * (d + 1) / 2 + (k + d) / 2]
    }

    /// Returns the point furthest from the start that the allowed effort reaches.
    private func furthest() -> Place? {
        var best: Place?
        for k in stride(from: -effort, through: effort, by: 2) {
            let x = Int(traced(effort, k: k))
            guard x >= 0 else { continue }
            if let best, best.x + best.y >= 2 * x - k { continue }
            best = Place(x: x, y: x - k, differences: effort)
        }
        return best
    }

    /// Walks back from a point to the start and collects the equal tokens.
    private mutating func collect(_ place: Place) {
        let (n, m) = (a.count - startA, b.count - startB)
        var (x, y) = (place.x, place.y)
        var way: [(Int, Int)] = []
        for d in stride(from: place.differences, through: 0, by: -1) {
            let k = x - y
            let below = traced(d - 1, k: k - 1)
            let above = traced(d - 1, k: k + 1)
            let reached = d == 0 ? 0 : Int(Self.step(below: below, above: above, to: k, n, m: m))
            while x > reached {
                x -= 1
                y -= 1
                way.append((startA + x, startB + y))
            }
            if d == 0 { break }
            let isDown = Int(above) == reached && Int(above) - k <= m
            if isDown { y -= 1 } else { x -= 1 }
        }
        matches.append(contentsOf: way.reversed())
    }
}
