/// The lower-case words of a table's or column's name.
///
/// `firstName`, `FIRST_NAME` and `First Name` are all “first” and “name”.
struct NameWords {
    let words: [String]

    init(_ name: String) {
        var words: [String] = []
        var word = ""
        let characters = Array(name)
        for (index, character) in characters.enumerated() {
            guard character.isLetter || character.isNumber else {
                if !word.isEmpty { words.append(word.lowercased()) }
                word = ""
                continue
            }
            // “firstName” begins a word at N, “HTTPServer” at S.
            let before = word.last
            let startsWord =
                character.isUppercase
                && (before?.isLowercase == true || before?.isNumber == true
                    || (before?.isUppercase == true && index + 1 < characters.count
                        && characters[index + 1].isLowercase))
            if startsWord {
                words.append(word.lowercased())
                word = ""
            }
            word.append(character)
        }
        if !word.isEmpty { words.append(word.lowercased()) }
        self.words = words
    }

    /// Guesses of the last word's singular, in English only, rather too many than too few.
    var singulars: Set<[String]> {
        guard let last = words.last else { return [] }
        return Set(Self.singulars(of: last).map { words.dropLast() + [$0] })
    }

    /// Each word in its own form and in the singular.
    var singularWords: Set<String> { Set(words.flatMap(Self.singulars(of:))) }

    private static func singulars(of word: String) -> Set<String> {
        var forms: Set<String> = [word]
        if word.hasSuffix("s") { forms.insert(String(word.dropLast())) }
        if word.hasSuffix("es") { forms.insert(String(word.dropLast(2))) }
        if word.hasSuffix("ies") { forms.insert(String(word.dropLast(3)) + "y") }
        return forms.filter { !$0.isEmpty }
    }

    /// Returns a word without trailing digits: “address” for `address2`.
    static func withoutNumber(_ word: String) -> String {
        var word = word
        while word.last?.isNumber == true { word.removeLast() }
        return word
    }
}
