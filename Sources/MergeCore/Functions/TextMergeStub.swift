package struct TextPart: Sendable, Hashable { let line: Int; let base: String; let edited: String; let current: String; let written: String }
package enum TextMerge { package static func merge(base: String, edited: String, current: String, favouring: MergeSide) -> (text: String, parts: [TextPart]) { (edited, []) } }
