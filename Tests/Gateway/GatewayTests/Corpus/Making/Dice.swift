import TestSupport

/// Choices that a seed repeats.
struct Dice: Sendable {
    private var random: SeededRandom

    init(seed: Int) {
        random = SeededRandom(seed: seed)
    }

    /// - Precondition: there is something to choose from.
    mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[Int.random(in: choices.indices, using: &random)]
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    /// - Returns: true so many times in a hundred.
    mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

    mutating func shuffled<Element>(_ elements: [Element]) -> [Element] { elements.shuffled(using: &random) }

    /// - Returns: some of the elements, in their order.
    mutating func some<Element>(_ elements: [Element], _ percent: Int) -> [Element] {
        elements.filter { _ in chance(percent) }
    }
}
