/// Names that columns of a postal address go by.
enum AddressWords {
    private static let names: Set<String> = [
        "address", "addr", "addressline", "street", "streetname", "streetaddress", "housenumber", "houseno", "building",
        "district", "suburb", "locality", "city", "town", "village", "county", "state", "region", "province", "country",
        "countrycode", "postalcode", "postcode", "zip", "zipcode",
    ]

    /// Returns true where a column of these words is a part of an address; a number at the end (`address2`) does not
    /// matter.
    static func contains(_ words: [String]) -> Bool {
        var name = words.joined()
        while name.last?.isNumber == true { name.removeLast() }
        return names.contains(name)
    }
}
