import MergeCore

/// Names of amounts of money and of their currencies.
enum MoneyWords {
    private static let currencies: Set<String> = ["currency", "ccy", "curr"]
    private static let amounts: Set<String> = [
        "amount", "price", "total", "subtotal", "cost", "fee", "balance", "net", "gross", "tax", "vat", "sum", "value",
        "discount", "charge", "salary", "rate",
    ]

    static func isCurrency(_ words: [String]) -> Bool { words.contains(where: currencies.contains) }

    /// Returns the subject of a currency: `price` in `price_currency`, nothing in `currency_code`.
    static func subject(ofCurrency words: [String]) -> [String] {
        words.filter { !currencies.contains($0) && $0 != "code" }
    }

    /// Words that make a rate a percentage or the price of a currency.
    private static let shares: Set<String> = ["tax", "vat", "exchange", "discount", "interest", "commission"]

    static func isAmount(_ words: [String], _ type: ColumnType?) -> Bool {
        if words.last == "rate", words.contains(where: shares.contains) { return false }
        switch type {
        case .decimal, .numeric, .integer, .double, .float: return words.contains(where: amounts.contains)
        default: return false
        }
    }
}
