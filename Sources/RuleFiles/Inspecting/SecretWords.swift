/// Names of columns that clients had better not see, nor a push carry.
enum SecretWords {
    private static let names: Set<String> = [
        "password", "passwd", "passwort", "passphrase", "pwd", "secret", "salt", "pin", "token", "hash", "otp",
        "apikey",
        "totp", "passcode",
    ]
    private static let pairs = [["api", "key"], ["private", "key"], ["secret", "key"], ["pass", "word"]]

    /// Returns true where a column of these words holds a secret.
    static func contains(_ words: [String]) -> Bool {
        words.contains(where: names.contains)
            || pairs.contains { pair in zip(words, words.dropFirst()).contains { $0 == pair[0] && $1 == pair[1] } }
    }
}
