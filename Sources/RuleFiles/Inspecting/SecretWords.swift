import MergeCore
import RecordStore

/// Names of columns that clients should not read.
enum SecretWords {
    private static let names: Set<String> = [
        "password", "passwd", "passwort", "passphrase", "pwd", "secret", "salt", "pin", "token", "hash", "otp",
        "apikey",
        "totp", "passcode", "mfa", "cvv", "cvc",
    ]
    private static let pairs = [["api", "key"], ["private", "key"], ["secret", "key"], ["pass", "word"]]

    /// Returns true if a column's name suggests a secret.
    ///
    /// The time of a password change or the existence of a password is no secret.
    static func name(_ column: ColumnSchema) -> Bool {
        switch column.types.first {
        case .date, .dateTime, .timestamp, .time, .year, .boolean: false
        default: !column.isSwitch && contains(NameWords(column.name).words)
        }
    }

    private static func contains(_ words: [String]) -> Bool {
        words.contains(where: names.contains)
            // “admin_pass” and “prev_pass2” match, but names that begin with the word do not.
            || words.last.map(NameWords.withoutNumber) == "pass"
            || pairs.contains { pair in zip(words, words.dropFirst()).contains { $0 == pair[0] && $1 == pair[1] } }
    }
}
