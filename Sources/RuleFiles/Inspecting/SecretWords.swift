import MergeCore
import RecordStore

/// Names of columns that clients had better not see, nor a push carry.
enum SecretWords {
    private static let names: Set<String> = [
        "password", "passwd", "passwort", "passphrase", "pwd", "secret", "salt", "pin", "token", "hash", "otp",
        "apikey",
        "totp", "passcode", "mfa", "cvv", "cvc",
    ]
    private static let pairs = [["api", "key"], ["private", "key"], ["secret", "key"], ["pass", "word"]]

    /// Returns true where a column holds a secret, by its name; when a password was changed, or whether there is one, is
    /// none.
    static func name(_ column: ColumnSchema) -> Bool {
        switch column.types.first {
        case .date, .dateTime, .timestamp, .time, .year, .boolean: false
        default: !column.isSwitch && contains(NameWords(column.name).words)
        }
    }

    private static func contains(_ words: [String]) -> Bool {
        words.contains(where: names.contains)
            // “admin_pass”, “prev_pass2”; what begins with the word is something else.
            || words.last.map(NameWords.withoutNumber) == "pass"
            || pairs.contains { pair in zip(words, words.dropFirst()).contains { $0 == pair[0] && $1 == pair[1] } }
    }
}
