import MergeCore

/// Merges without a limit of work, for tests of small values.
extension TextMerge {
    static func merge(base: String, edited: String, current: String, favouring: MergeSide) -> TextMergeResult {
        var budget = WorkBudget(steps: .max)
        do throws(WorkSpent) {
            return try merge(base: base, edited: edited, current: current, favouring: favouring, spending: &budget)
        } catch {
            preconditionFailure("nothing spends so much")
        }
    }
}

extension JSONMerge {
    static func merge(
        base: JSONTree, edited: JSONTree, current: JSONTree, itemKey: ExactText?, favouring: MergeSide
    ) throws(JSONMergeFault) -> JSONMergeResult? {
        var budget = WorkBudget(steps: .max)
        return try merge(
            base: base, edited: edited, current: current, itemKey: itemKey, favouring: favouring, spending: &budget)
    }
}

extension TokenDiff {
    static func hunks(from base: [Int32], to side: [Int32], areWords: [Bool], effort: Int) -> [TokenHunk] {
        var budget = WorkBudget(steps: .max)
        do throws(WorkSpent) {
            return try hunks(from: base, to: side, areWords: areWords, effort: effort, spending: &budget)
        } catch {
            preconditionFailure("nothing spends so much")
        }
    }
}
