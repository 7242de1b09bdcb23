/// Names that columns of a postal address go by, alone or put together: `city`, `state_province`, `zip_postal_code`.
enum AddressWords {
    /// Words of which each is a part of an address.
    private static let parts: Set<String> = [
        "address", "addr", "addressline", "street", "streetname", "streetaddress", "housenumber", "houseno", "building",
        "apartment", "apt", "suite", "district", "suburb", "locality", "city", "town", "village", "municipality",
        "county",
        "state", "region", "province", "zone", "country", "countrycode", "postal", "postalcode", "postcode", "zip",
        "zipcode",
    ]

    /// Words that mean a part of an address beside one of the others.
    private static let companions: Set<String> = [
        "line", "code", "name", "number", "no", "nr", "house", "floor", "post", "abbr", "iso", "id",
    ]

    /// Words of columns that may belong to the address that they stand beside.
    private static let kin: Set<String> = [
        "company", "organization", "organisation", "attention", "attn", "recipient", "department", "area",
        "territory", "location", "place", "landmark", "latitude", "longitude",
    ]

    /// Returns true where a column of these words is a part of an address; numbers at the end (`address2`, `address_1`)
    /// do not matter.
    static func contains(_ words: [String]) -> Bool {
        let plain = words.map(NameWords.withoutNumber).filter { !$0.isEmpty }
        return (plain.contains(where: parts.contains) || parts.contains(plain.joined()))
            && plain.allSatisfy { parts.contains($0) || companions.contains($0) }
            // “address_id” names a row elsewhere, and is no address.
            && !(plain.last == "id" && plain.first.map(NameWords.withoutNumber) == "address")
    }

    /// Returns true where a table of these words holds such parts themselves: towns, countries, regions.
    static func isKind(_ words: Set<String>) -> Bool {
        !words.isDisjoint(with: parts.subtracting(["address", "addr", "street", "building"]))
    }

    /// Words of what an address block may hold that is no part of where somebody lives, and changes by itself.
    private static let contacts: Set<String> = [
        "phone", "telephone", "tel", "mobile", "cell", "fax", "email", "mail", "url", "website", "id", "vat",
    ]

    /// Returns true where a column of these words is a way to reach somebody, or a key, rather than a place.
    static func isContact(_ words: [String]) -> Bool {
        // “email_address” is no address here; “address_format_id” goes with one.
        guard !contains(words), words.contains("email") || !words.contains("address") else { return false }
        return words.contains { contacts.contains(NameWords.withoutNumber($0)) }
    }

    /// Returns true where it is worth a question whether such a column belongs to the address beside it.
    static func mayBelong(_ words: [String]) -> Bool { words.contains(where: kin.contains) }
}
