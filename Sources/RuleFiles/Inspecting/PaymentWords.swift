import MergeCore
import RecordStore

/// Names of columns with payment data: cards and bank accounts.
enum PaymentWords {
    private static let names: Set<String> = ["iban", "bic", "creditcard", "cardnumber", "ccnumber", "bankaccount"]
    private static let parts: Set<String> = [
        "number", "no", "nr", "num", "owner", "holder", "type", "expires", "expiry", "expiration", "exp", "start",
        "issue",
    ]

    /// Returns true if a column's name suggests payment data.
    static func name(_ column: ColumnSchema) -> Bool {
        let words = NameWords(column.name).words
        let pairs = zip(words, words.dropFirst())
        return words.contains(where: names.contains)
            || pairs.contains { ["cc", "card"].contains($0) && parts.contains($1) }
            || pairs.contains { ($0, $1) == ("credit", "card") || ($0, $1) == ("bank", "account") }
    }
}
