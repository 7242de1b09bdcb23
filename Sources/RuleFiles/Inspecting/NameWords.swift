/// The words of a table's or column's name, in lower case: `firstName`, `FIRST_NAME` and `First Name` are all
/// “first” and “name”.
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

    /// Guesses of the last word's singular; English alone, and rather one too many than one too few.
    var singulars: Set<[String]> {
        guard let last = words.last else { return [] }
        var forms: Set<String> = [last]
        if last.hasSuffix("s") { forms.insert(String(last.dropLast())) }
        if last.hasSuffix("es") { forms.insert(String(last.dropLast(2))) }
        if last.hasSuffix("ies") { forms.insert(String(last.dropLast(3)) + "y") }
        return Set(forms.filter { !$0.isEmpty }.map { words.dropLast() + [$0] })
    }
}
