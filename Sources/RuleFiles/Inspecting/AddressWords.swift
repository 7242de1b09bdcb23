/// Names of columns of a postal address, single or combined: `city`, `state_province`, `zip_postal_code`.
enum AddressWords {
    /// Words that are a part of an address by themselves.
    private static let parts: Set<String> = [
        "address", "addr", "addressline", "street", "streetname", "streetaddress", "housenumber", "houseno", "building",
        "apartment", "apt", "suite", "district", "suburb", "locality", "city", "town", "village", "municipality",
        "county",
        "state", "region", "province", "zone", "country", "countrycode", "postal", "postalcode", "postcode", "zip",
        "zipcode",
    ]

    /// Words that are a part of an address only with another one.
    private static let companions: Set<String> = [
        "line", "code", "name", "number", "no", "nr", "house", "floor", "post", "abbr", "iso", "id",
    ]

    /// Words of columns that may belong to an adjacent address.
    private static let kin: Set<String> = [
        "company", "organization", "organisation", "attention", "attn", "recipient", "department", "area",
        "territory", "location", "place", "landmark", "latitude", "longitude",
    ]

    /// Returns true if the words name a part of an address, with or without a number (`address2`, `address_1`).
    static func contains(_ words: [String]) -> Bool {
        let plain = words.map(NameWords.withoutNumber).filter { !$0.isEmpty }
        return (plain.contains(where: parts.contains) || parts.contains(plain.joined()))
            && plain.allSatisfy { parts.contains($0) || companions.contains($0) }
            // “address_id” refers to a row of another table and is no address.
            && !(plain.last == "id" && plain.first.map(NameWords.withoutNumber) == "address")
    }

    /// Returns true if a table with these words contains towns, countries or regions themselves.
    static func isKind(_ words: Set<String>) -> Bool {
        !words.isDisjoint(with: parts.subtracting(["address", "addr", "street", "building"]))
    }

    /// Words for contacts and keys next to an address, which change independently of it.
    private static let contacts: Set<String> = [
        "phone", "telephone", "tel", "mobile", "cell", "fax", "email", "mail", "url", "website", "id", "vat",
    ]

    /// Returns true if the words name a contact or a key rather than a place.
    static func isContact(_ words: [String]) -> Bool {
        // “email_address” is no address, but “address_format_id” belongs to one.
        guard !contains(words), words.contains("email") || !words.contains("address") else { return false }
        return words.contains { contacts.contains(NameWords.withoutNumber($0)) }
    }

    /// Returns true if the column may belong to the adjacent address.
    ///
    /// The starter file then asks the operator.
    static func mayBelong(_ words: [String]) -> Bool { words.contains(where: kin.contains) }
}
