/// A column of each type and peculiarity of an old MariaDB, from which all tests of values are made.
struct ColumnSample: Sendable, CustomStringConvertible {
    let name: String
    let declaration: String
    /// The stored value, as SQL.
    let stored: String
    /// The value as it is read, as JSON.
    let read: String
    /// The value that a client writes, as JSON.
    let edit: String
    /// An expression that SQL then finds true of the column.
    let check: String
    /// Values that do not fit the column, as JSON.
    let refused: [String]
    /// The type in the rules; nil for the type of the column.
    let rule: String?

    init(
        _ name: String, _ declaration: String, _ stored: String, _ read: String, edit: String, _ check: String,
        refused: [String] = [], rule: String? = nil
    ) {
        self.name = name
        self.declaration = declaration
        self.stored = stored
        self.read = read
        self.edit = edit
        self.check = check
        self.refused = refused
        self.rule = rule
    }

    var description: String { declaration }
}

enum ColumnTypeSamples {
    static let exhibits: [ColumnSample] = [
        ColumnSample(
            "c_tiny", "TINYINT", "-128", "-128", edit: "127", "= 127", refused: ["128", "1.5", "true", "\"x\""]),
        ColumnSample("c_utiny", "TINYINT UNSIGNED", "255", "255", edit: "0", "= 0", refused: ["-1", "256"]),
        ColumnSample("c_small", "SMALLINT", "-32768", "-32768", edit: "\"32767\"", "= 32767", refused: ["32768"]),
        ColumnSample(
            "c_medium", "MEDIUMINT", "-8388608", "-8388608", edit: "8388607", "= 8388607", refused: ["8388608"]),
        ColumnSample("c_zero", "INT(6) UNSIGNED ZEROFILL", "42", "42", edit: "43", "= 43", refused: ["4294967296"]),
        ColumnSample(
            "c_big", "BIGINT", "-9223372036854775808", "\"-9223372036854775808\"", edit: "9223372036854775807",
            "= 9223372036854775807", refused: ["9223372036854775808"]),
        ColumnSample(
            "c_ubig", "BIGINT UNSIGNED", "18446744073709551615", "\"18446744073709551615\"",
            edit: "\"9223372036854775808\"", "= 9223372036854775808", refused: ["18446744073709551616", "-1"]),
        ColumnSample("c_bool", "TINYINT(1)", "1", "true", edit: "false", "= 0", refused: ["2"], rule: "type: boolean"),
        ColumnSample("c_bit1", "BIT(1)", "b'1'", "true", edit: "0", "= b'0'", refused: ["2"]),
        ColumnSample("c_bit9", "BIT(9)", "b'100000001'", "257", edit: "511", "= 511", refused: ["512"]),
        ColumnSample(
            "c_bit64", "BIT(64)", "18446744073709551615", "\"18446744073709551615\"", edit: "1", "= 1",
            refused: ["-1"]),
        ColumnSample("c_year", "YEAR", "2155", "2155", edit: "1901", "= 1901", refused: ["1900", "70", "2156"]),
        ColumnSample(
            "c_dec", "DECIMAL(10,2)", "12.5", "\"12.50\"", edit: "12.25", "= 12.25",
            refused: ["12.255", "\"123456789\"", "\"1,5\""]),
        ColumnSample(
            "c_bigdec", "DECIMAL(65,30)", "12345678901234567890123456789012345.123456789012345678901234567891",
            "\"12345678901234567890123456789012345.123456789012345678901234567891\"",
            edit: "\"-0.000000000000000000000000000001\"", "= -0.000000000000000000000000000001",
            refused: ["\"0.0000000000000000000000000000001\""]),
        ColumnSample("c_udec", "DECIMAL(5,1) UNSIGNED", "1", "\"1.0\"", edit: "\"2\"", "= 2", refused: ["-1"]),
        ColumnSample(
            "c_float", "FLOAT", "3.3", "3.3", edit: "0.1", "= CAST(0.1 AS FLOAT)", refused: ["16777217", "1e39"]),
        ColumnSample("c_ufloat", "FLOAT UNSIGNED", "1e-45", "1e-45", edit: "0.5", "= 0.5", refused: ["-1", "1e-46"]),
        ColumnSample(
            "c_udouble", "DOUBLE UNSIGNED", "5e-324", "5e-324", edit: "-0.0", "= 0", refused: ["-0.5", "1e-400"]),
        ColumnSample(
            "c_float72", "FLOAT(7,2)", "12.34", "12.34", edit: "99999.99", "= CAST(99999.99 AS FLOAT)",
            refused: ["1.005", "100000"]),
        ColumnSample(
            "c_double102", "DOUBLE(10,2)", "1.89", "1.89", edit: "99999999.99", "= 99999999.99e0",
            refused: ["1.005", "100000000"]),
        ColumnSample(
            "c_double", "DOUBLE", "1e300", "1e+300", edit: "\"0.1\"", "= 0.1e0",
            refused: ["1e309", "1e-400", "1e-9999", "\"-1e-400\"", "9007199254740993"]),
        ColumnSample(
            "c_char", "CHAR(5) COLLATE utf8mb4_general_ci", "'ab '", "\"ab\"", edit: "\"AB\"",
            "COLLATE utf8mb4_bin = 'AB'", refused: ["\"abcdef\"", "7"]),
        ColumnSample(
            "c_text", "VARCHAR(20)", "'joe '", "\"joe \"", edit: "\"Joe\"", "COLLATE utf8mb4_bin = 'Joe'",
            refused: ["\"123456789012345678901\""]),
        ColumnSample(
            "c_nfd", "VARCHAR(20)", "CONVERT(x'65CC81' USING utf8mb4)", "\"e\\u0301\"", edit: "\"\\u00e9\"",
            "= CONVERT(x'C3A9' USING utf8mb4)"),
        ColumnSample(
            "c_latin1", "VARCHAR(20) CHARACTER SET latin1", "'é€'", "\"é€\"", edit: "\"ß\"", "= 'ß'",
            refused: ["\"ł\"", "\"😀\""]),
        ColumnSample(
            "c_ascii", "VARCHAR(20) CHARACTER SET ascii", "'a '", "\"a \"", edit: "\"\\u0000\"", "= CHAR(0)",
            refused: ["\"é\"", "\"\\u0080\""]),
        ColumnSample(
            "c_latinchar", "CHAR(5) CHARACTER SET latin1", "'é '", "\"é\"", edit: "\"€  \"", "= '€'",
            refused: ["\"ł\"", "\"abcdef\""]),
        ColumnSample(
            "c_greek", "VARCHAR(20) CHARACTER SET greek", "'α'", "\"α\"", edit: "\"Ω\"", "= 'Ω'", refused: ["\"é\""]),
        ColumnSample(
            "c_ucs2", "VARCHAR(20) CHARACTER SET ucs2", "'漢'", "\"漢\"", edit: "\"é\"", "= 'é'", refused: ["\"😀\""]),
        ColumnSample("c_utf16", "TINYTEXT CHARACTER SET utf16", "_utf16 x'D83DDE00'", "\"😀\"", edit: "\"a\"", "= 'a'"),
        ColumnSample(
            "c_latin2", "VARCHAR(20) CHARACTER SET latin2", "'łó'", "\"łó\"", edit: "\"ž\"", "= 'ž'", refused: ["\"è\""]
        ),
        ColumnSample(
            "c_bmp", "VARCHAR(20) CHARACTER SET utf8mb3", "'€'", "\"€\"", edit: "\"漢\"", "= '漢'", refused: ["\"😀\""]),
        ColumnSample("c_tinytext", "TINYTEXT", "'a\\nb'", "\"a\\nb\"", edit: "\"😀\"", "= '😀'"),
        ColumnSample("c_long", "LONGTEXT", "CONCAT('a', CHAR(0), 'b')", "\"a\\u0000b\"", edit: "\"\"", "= ''"),
        ColumnSample(
            "c_enum", "ENUM('a', 'it''s', 'B')", "'it''s'", "\"it's\"", edit: "\"B\"", "= 'B'", refused: ["\"b\"", "1"]),
        ColumnSample(
            "c_set", "SET('x','y','z')", "'z,x'", "[\"x\",\"z\"]", edit: "\"z,y\"", "= 'y,z'",
            refused: ["[\"q\"]", "\"x;y\""]),
        ColumnSample(
            "c_tags", "VARCHAR(40)", "'b|a'", "[\"b\",\"a\"]", edit: "[\"a\",\"c\"]", "= 'a|c'", refused: ["[\"a|b\"]"],
            rule: "type: set, separator: '|'"),
        ColumnSample(
            "c_seams", "VARCHAR(60)", "'b||a'", "[\"b\",\"a\"]", edit: "[\"a|b\"]", "= 'a|b'",
            refused: ["[\"a||b\"]", "[\"a|\",\"b\"]"], rule: "type: set, separator: '||'"),
        ColumnSample(
            "c_loosetags", "VARCHAR(60)", "'b,,a,b'", "[\"b\",\"a\"]", edit: "[\"a\"]", "= 'a'",
            rule: "type: set"),
        ColumnSample(
            "c_emptyset", "SET('x','','y')", "7", "[\"x\",\"\",\"y\"]", edit: "[\"x\"]", "= 'x'",
            refused: ["[\"q\"]", "[\"\"]", "\",x\""]),
        ColumnSample(
            "c_date", "DATE", "'2024-02-29'", "\"2024-02-29\"", edit: "\"0000-00-00\"", "= '0000-00-00'",
            refused: ["\"2023-02-29\"", "\"2023-00-01\"", "20230101"]),
        ColumnSample("c_zerodate", "DATE", "'0000-00-00'", "\"0000-00-00\"", edit: "\"2026-11-20\"", "= '2026-11-20'"),
        ColumnSample("c_halfdate", "DATE", "'2020-00-00'", "\"2020-00-00\"", edit: "\"9999-12-31\"", "= '9999-12-31'"),
        ColumnSample(
            "c_datetime", "DATETIME", "'2026-11-20 10:00:00'", "\"2026-11-20T10:00:00\"",
            edit: "\"2026-03-29 02:30:00\"", "= '2026-03-29 02:30:00'",
            refused: ["\"2026-11-20T10:00:00Z\"", "\"2026-11-20T10:00:00.5\"", "\"2026-11-20\""]),
        ColumnSample(
            "c_datetime6", "DATETIME(6)", "'2026-11-20 10:00:00.000001'", "\"2026-11-20T10:00:00.000001\"",
            edit: "\"2026-11-20T10:00:00.5\"", "= '2026-11-20 10:00:00.500000'"),
        ColumnSample(
            "c_datetime3", "DATETIME(3)", "'0000-00-00 00:00:00'", "\"0000-00-00T00:00:00.000\"",
            edit: "\"9999-12-31T23:59:59.99\"", "= '9999-12-31 23:59:59.990'", refused: ["\"2026-11-20T10:00:00.0001\""]
        ),
        ColumnSample(
            "c_stamp6", "TIMESTAMP(6) NULL", "'1970-01-01 00:00:01'", "\"1970-01-01T00:00:01.000000Z\"",
            edit: "\"2038-01-19T03:14:07.999999Z\"", "= '2038-01-19 03:14:07.999999'",
            refused: ["\"1970-01-01T00:00:00.999999Z\""]),
        ColumnSample(
            "c_stamp", "TIMESTAMP NULL", "'2026-07-01 10:00:00'", "\"2026-07-01T10:00:00Z\"",
            edit: "\"2026-07-01T13:00:00+02:00\"", "= '2026-07-01 11:00:00'",
            refused: ["\"2026-07-01T10:00:00\"", "\"1969-01-01T00:00:00Z\"", "\"2040-01-01T00:00:00Z\""]),
        ColumnSample(
            "c_stamp3", "TIMESTAMP(3) NULL", "'2026-01-01 00:00:00.250'", "\"2026-01-01T00:00:00.250Z\"",
            edit: "\"2026-01-01T00:00:00.251Z\"", "= '2026-01-01 00:00:00.251'"),
        ColumnSample(
            "c_time", "TIME", "'-838:59:59'", "\"-838:59:59\"", edit: "\"100:00:00\"", "= '100:00:00'",
            refused: ["\"839:00:00\"", "\"10:00\""]),
        ColumnSample(
            "c_time6", "TIME(6)", "'00:00:00.000001'", "\"00:00:00.000001\"", edit: "\"838:59:59.999999\"",
            "= '838:59:59.999999'", refused: ["\"839:00:00\"", "\"00:00:00.0000001\""]),
        ColumnSample(
            "c_time2", "TIME(2)", "'-00:00:01.25'", "\"-00:00:01.25\"", edit: "\"00:00:00.5\"", "= '00:00:00.50'"),
        ColumnSample(
            "c_binary", "BINARY(4)", "x'01'", "\"AQAAAA==\"", edit: "\"AgM=\"", "= x'02030000'",
            refused: ["\"AQIDBAU=\""]),
        ColumnSample("c_varbinary", "VARBINARY(4)", "x'00FF'", "\"AP8=\"", edit: "\"\"", "= ''", refused: ["\"AQI\""]),
        ColumnSample("c_blob", "BLOB", "x'27005C'", "\"JwBc\"", edit: "\"JyI=\"", "= x'2722'"),
        ColumnSample(
            "c_json", "JSON", "'{ \"b\" : [1.0, 2],  \"a\": null}'", "{\"a\":null,\"b\":[1,2]}", edit: "{\"x\":[true]}",
            "= '{\"x\":[true]}'"),
        ColumnSample(
            "c_jsonnumber", "JSON", "'1.000000000000000005'", "1", edit: "1e-999", "= '0'",
            refused: ["1e999", "[-1e9999]"]),
        ColumnSample(
            "c_jsontext", "VARCHAR(60)", "'{\"a\":1}'", "{\"a\":1}", edit: "\"x\"", "= '\"x\"'", rule: "type: json"),
        ColumnSample("c_nojson", "VARCHAR(60)", "'{a}'", "\"{a}\"", edit: "[]", "= '[]'", rule: "type: json"),
        ColumnSample(
            "c_uuid", "UUID", "'123E4567-e89b-12d3-a456-426655440000'", "\"123e4567-e89b-12d3-a456-426655440000\"",
            edit: "\"123e4567e89b12d3a456426655440001\"", "= '123e4567-e89b-12d3-a456-426655440001'",
            refused: ["\"123e4567\""]),
        ColumnSample(
            "c_inet4", "INET4", "'192.0.2.1'", "\"192.0.2.1\"", edit: "\"192.0.2.255\"", "= '192.0.2.255'",
            refused: ["\"192.0.2.256\""]),
        ColumnSample(
            "c_inet6", "INET6", "'2001:DB8::1'", "\"2001:db8::1\"", edit: "\"::ffff:192.0.2.1\"",
            "= '::ffff:192.0.2.1'", refused: ["\"2001:db8\""]),
        ColumnSample("odd `name`; DROP", "VARCHAR(9)", "'x'", "\"x\"", edit: "\"y\"", "= 'y'"),
        ColumnSample("größe", "INT", "5", "5", edit: "6", "= 6"),
        ColumnSample("select", "INT", "5", "5", edit: "6", "= 6"),
    ]

    private static func quoted(_ name: String) -> String { "`" + name.replacing("`", with: "``") + "`" }

    /// Two tables with all columns: one has the values, the other NULL.
    static let schema: String = {
        let columns = exhibits.map { "\(quoted($0.name)) \($0.declaration) NULL" }.map {
            $0.replacing("NULL NULL", with: "NULL")
        }
        let values = exhibits.map(\.stored).joined(separator: ", ")
        return """
            SET sql_mode = '';
            CREATE TABLE museum (id INT PRIMARY KEY AUTO_INCREMENT, \(columns.joined(separator: ", ")),
              doubled INT AS (`größe` * 2) STORED, shape POINT NULL,
              touched TIMESTAMP(6) NOT NULL DEFAULT '2020-01-01' ON UPDATE CURRENT_TIMESTAMP(6)) ENGINE=InnoDB
              DEFAULT CHARSET=utf8mb4;
            INSERT INTO museum (id, \(exhibits.map { quoted($0.name) }.joined(separator: ", ")), shape)
              VALUES (1, \(values), ST_GeomFromText('POINT(1 2)'));
            INSERT INTO museum (id) VALUES (2);
            CREATE TABLE errors (id INT PRIMARY KEY, e ENUM('a') NOT NULL) ENGINE=InnoDB;
            INSERT INTO errors VALUES (1, '');
            """
    }()

    static let rules: [String: String] = {
        var lines = ["resource: museum", "sections:", "  exhibit:", "    table: museum", "    groups:"]
        for (index, exhibit) in exhibits.enumerated() {
            let column = "\"" + exhibit.name + "\""
            lines.append("      g\(index): {column: \(column)\(exhibit.rule.map { ", " + $0 } ?? "")}")
        }
        lines.append("    read-only: {doubled: doubled, shape: shape, touched: touched}")
        return [
            "museum.yaml": lines.joined(separator: "\n") + "\n",
            "errors.yaml": "resource: errors\nsections:\n  row: {table: errors, groups: {e: e}}\n",
        ]
    }()

    static func group(_ index: Int) -> String { "g\(index)" }

    static func column(_ exhibit: ColumnSample) -> String { quoted(exhibit.name) }
}
