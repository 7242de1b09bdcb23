import MergeCore
import RecordStore
import Testing

@testable import RuleFiles

/// Secrets and payment data, which a draft omits.
@Suite struct DraftSecretTests: InspectSuite {
    @Test(
        "Payment data is omitted", arguments: ["cc_number", "ccOwner", "card_no", "credit_card", "iban", "cc_expires"])
    func payment(_ name: String) throws {
        let (text, summary) = try Self.file([
            Self.table("orders", [Self.id(), Self.column(name), Self.column("card_text"), Self.column("account_no")])
        ])
        #expect(text.contains("payment data, by its name") && summary.contains("“\(name)”"), "\(text)")
        #expect(text.contains("card_text") && !text.contains("left out: “card_text”") && text.contains(": account_no"))
    }

    @Test(
        "Secrets are omitted without --secrets",
        arguments: [
            "password", "user_passwd", "pwd", "api_key", "apiToken", "reset_token", "password_hash", "salt", "pin",
            "admin_pass", "prev_pass2", "mfa", "cc_cvv",
        ])
    func secrets(_ name: String) throws {
        let table = Self.table("users", [Self.id(), Self.column("name"), Self.column(name)])
        let made = try Self.inspect([table])
        #expect(made.catalog.resources[0].root.groups.map(\.name) == ["name"])
        let reason = "left out: “\(name)”: a secret, by its name; --secrets takes it in"
        #expect(made.inspection.files[0].text.contains(reason), "\(made.inspection.files[0].text)")
        let asked = Inspection(Self.schema([table]), takesSecrets: true)
        #expect(!asked.files[0].text.contains("left out") && asked.files[0].text.contains(": \(name)\n"))
    }

    @Test(
        "A name that only resembles a secret is served",
        arguments: ["pinned", "compass", "hashtag", "passenger", "pass_count"])
    func harmlessNames(_ name: String) throws {
        #expect(try Self.groups([Self.column(name)]).map { $0.split(separator: " ").last.map(String.init) } == [name])
    }

    @Test("The date of a password, and whether it exists, are served")
    func attributesOfSecrets() throws {
        let columns = [
            Self.column("pwd_last_change_date", Self.moment, declared: "datetime"),
            Self.column("has_password", Self.flag, declared: "tinyint(1)"),
        ]
        #expect(
            try Self.groups(columns) == ["pwdLastChangeDate: pwd_last_change_date", "hasPassword: has_password"])
    }
}
