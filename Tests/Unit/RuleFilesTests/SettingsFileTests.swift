import RuleFiles
import Testing
import TestSupport

/// Each unusable setting of a settings file is reported with its position.
@Suite struct SettingsFileTests {
    private static func read(_ text: String) async throws -> (file: SettingsFile, findings: [String]) {
        let folder = try TemporaryFolder(files: ["s.yaml": text])
        let file = SettingsFile(
            path: folder.path + "/s.yaml", names: ["tokens", "listen", "max-body", "allow-origin"],
            lists: ["allow-origin"])
        return (file, file.findings.sorted.map { $0.description.replacing(folder.path + "/", with: "") })
    }

    @Test(
        "Values are texts",
        arguments: [
            "tokens: a\nlisten: 127.0.0.1:80\nmax-body: 2048\nallow-origin: [\"https://a\", https://b]\n",
            "{\"tokens\": \"a\", \"listen\": \"127.0.0.1:80\", \"max-body\": 2048, \"allow-origin\": [\"https://a\", \"https://b\"]}",
            "tokens: 'a'\nlisten: \"127.0.0.1:80\"\nmax-body: '2048'\nallow-origin:\n  - https://a\n  - https://b\n",
        ])
    func values(_ text: String) async throws {
        let (file, findings) = try await Self.read(text)
        #expect(findings == [])
        #expect(
            file.values == [
                "tokens": ["a"], "listen": ["127.0.0.1:80"], "max-body": ["2048"],
                "allow-origin": ["https://a", "https://b"],
            ])
    }

    /// A word that YAML reads as another type is a word, and one value is a list of one.
    @Test("Words of YAML are texts")
    func words() async throws {
        let (file, findings) = try await Self.read(
            "tokens: off\nmax-body: 0x10\nlisten: 'null'\nallow-origin: https://a")
        #expect(findings == [])
        #expect(
            file.values == ["tokens": ["off"], "max-body": ["0x10"], "listen": ["null"], "allow-origin": ["https://a"]])
    }

    @Test(
        "Each error is reported",
        arguments: [
            ("token: a\n", ["s.yaml:1:1: error: “token” is not a setting; did you mean “tokens”?"]),
            ("Tokens: a\n", ["s.yaml:1:1: error: “Tokens” is not a setting; did you mean “tokens”?"]),
            (
                "listen: a\nmax_body: 1\ntoken: a\ncolour: red\n",
                [
                    "s.yaml:2:1: error: “max_body” is not a setting; did you mean “max-body”?",
                    "s.yaml:3:1: error: “token” is not a setting; did you mean “tokens”?",
                    "s.yaml:4:1: error: “colour” is not a setting",
                ]
            ),
            ("tokens: [a, b]\n", ["s.yaml:1:9: error: “tokens” takes one value, not a list"]),
            ("tokens: {file: a}\n", ["s.yaml:1:9: error: “tokens” takes one value, not a mapping"]),
            ("tokens:\n  file: a\n", ["s.yaml:2:3: error: “tokens” takes one value, not a mapping"]),
            (
                "allow-origin: {a: b}\n",
                ["s.yaml:1:15: error: “allow-origin” takes one value, or a list of them, not a mapping"]
            ),
            ("allow-origin: [[a]]\n", ["s.yaml:1:16: error: an entry of “allow-origin” is one value"]),
            (
                "allow-origin: []\n",
                ["s.yaml:1:15: error: “allow-origin” lists nothing; give it a value, or take it out"]
            ),
            ("tokens: ''\n", ["s.yaml:1:9: error: “tokens” has no value; give it one, or take it out"]),
            ("tokens: null\n", ["s.yaml:1:9: error: “tokens” has no value; give it one, or take it out"]),
            ("tokens: ~\n", ["s.yaml:1:9: error: “tokens” has no value; give it one, or take it out"]),
            ("allow-origin: ['']\n", ["s.yaml:1:16: error: “allow-origin” has no value; give it one, or take it out"]),
            ("- tokens\n", ["s.yaml:1:1: error: a settings file must be a mapping of names to values"]),
            ("", ["s.yaml:1:1: error: the file is empty"]),
            ("tokens: a\ntokens: b\n", ["s.yaml:2:1: error: the mapping has the key “tokens” more than once"]),
            (
                "tokens: a\ntokens: b\ntoken: c\n",
                [
                    "s.yaml:2:1: error: the mapping has the key “tokens” more than once",
                    "s.yaml:3:1: error: “token” is not a setting; did you mean “tokens”?",
                ]
            ),
        ])
    func errors(_ text: String, _ expected: [String]) async throws {
        #expect(try await Self.read(text).findings == expected)
    }

    @Test("A key without a value is unset")
    func missingValue() async throws {
        let findings = try await Self.read("tokens:\nlisten: a\n").findings
        #expect(findings.count == 1 && findings[0].contains("“tokens” has no value"), "\(findings)")
    }

    @Test("Invalid YAML has a position")
    func invalidYAML() async throws {
        let findings = try await Self.read("tokens: [a\n").findings
        #expect(findings.count == 1 && findings[0].contains("the file is not YAML"), "\(findings)")
        #expect(
            SettingsFile(path: "/nowhere/s.yaml", names: [], lists: []).findings.sorted.map(\.description)
                == ["/nowhere/s.yaml:1:1: error: the settings file cannot be read"])
    }
}
