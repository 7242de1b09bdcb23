import Foundation
import Operations
import Testing
import TestSupport

/// The line of the log for every refused request.
@Suite(.timeLimit(.minutes(2))) struct LogLineTests {
    private static func schema(_ key: String, _ trigger: String) -> String {
        """
        CREATE TABLE houses (id INT PRIMARY KEY, town VARCHAR(20));
        CREATE TABLE people (id \(key), name VARCHAR(20), age INT NOT NULL DEFAULT 1, house INT, must INT NOT NULL,
          CONSTRAINT grown CHECK (age > 0), CONSTRAINT lives FOREIGN KEY (house) REFERENCES houses (id));
        INSERT INTO people VALUES (1, 'Ann', 20, NULL, 1);
        \(trigger)
        """
    }
    private static let mariadb = schema(
        "INT PRIMARY KEY AUTO_INCREMENT",
        """
        DELIMITER //
        CREATE TRIGGER calm BEFORE UPDATE ON people FOR EACH ROW
          IF NEW.name = 'Eve' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no "Eves" here'; END IF //
        DELIMITER ;
        """)
    private static let sqlite = schema(
        "INTEGER PRIMARY KEY AUTOINCREMENT",
        """
        CREATE TRIGGER calm BEFORE UPDATE ON people WHEN NEW.name = 'Eve'
          BEGIN SELECT RAISE(ABORT, 'no "Eves" here'); END;
        """)
    private static let rules = [
        "people.yaml": """
        resource: people
        sections:
          person: {table: people, groups: {name: name, age: age, house: house}}
        """
    ]

    private static func edit(_ group: String, _ old: String, _ new: String) -> String {
        #"{"id":1,"changeset":{"person":{"\#(group)":{"old":\#(old),"new":\#(new)}}}}"#
    }

    @Test("The line of a refusal names its cause", arguments: TestEngine.allCases)
    func refusals(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.mariadb, sqlite: Self.sqlite)
        try await database.initJournal()
        let token = AccessToken.make()
        let folder = try TemporaryFolder(files: [
            "tokens": token.line(name: "tablet-7", rights: [.read, .write]) + "\n"
        ])
        let gateway = try await GatewayProcess(
            database, rules: Self.rules,
            options: [
                "--tokens", folder.path + "/tokens", "--log-level", "info", "--trusted-proxy", "127.0.0.1",
                "--trusted-proxy", "::1",
            ])
        try await HTTPClient.with(port: gateway.port, token: token.secret) { client async throws in
            for (device, body, code, cause) in [
                ("d1", Self.edit("age", "20", "-1"), "check", "check “grown”"),
                ("d2", Self.edit("house", "null", "77"), "foreign-key", "foreign key"),
                ("d3", Self.edit("name", #""Ann""#, #""Eve""#), "trigger", #"trigger: no \"Eves\" here"#),
                (
                    "d 4", #"{"id":"tmp:a","changeset":{"person":{"old":null,"new":{"name":"Bob"}}}}"#, "not-null",
                    "not null: must"
                ),
            ] {
                let answer = try await client.post("/v1/merge/people", body, ["X-Device-ID": device])
                #expect(answer.status == 422, "\(answer.text)")
                let line = try #require(await gateway.line(containing: "device=\"\(device)\""))
                #expect(line.contains(" notice fieldmerge: request id="), "\(line)")
                #expect(line.contains(#" path="/v1/merge/people" status=422 "#), "\(line)")
                #expect(line.contains(#" code=\#(code) who="tablet-7" device="#), "\(line)")
                #expect(line.contains(" resource=people ") && line.contains(" cause=\""), "\(line)")
                #expect(line.contains(cause), "\(line)")
            }
            // The line of a push names the resource of the refused edit.
            _ = try await client.post(
                "/v1/push", #"{"edits":[{"resource":"people",\#(Self.edit("age", "20", "-1").dropFirst())]}"#,
                ["X-Device-ID": "d5"])
            let pushed = try #require(await gateway.line(containing: "device=\"d5\""))
            #expect(pushed.contains(" code=check ") && pushed.contains(" resource=people "), "\(pushed)")
            _ = try await client.post("/v1/merge/nobody", "{}", ["X-Device-ID": "d6"])
            let unknown = try #require(await gateway.line(containing: "device=\"d6\""))
            #expect(unknown.contains(" status=404 ") && unknown.contains(" code=unknown-resource "), "\(unknown)")
            // A merged push has its record and its outcomes, and the address before the trusted proxy.
            let merged = try await client.post(
                "/v1/merge/people", Self.edit("age", "20", "21"),
                ["X-Device-ID": "d8", "X-Forwarded-For": "203.0.113.9, 198.51.100.4"])
            #expect(merged.status == 200, "\(merged.text)")
            let push = try #require(await gateway.line(containing: "device=\"d8\""))
            #expect(push.contains(" info fieldmerge: request id="), "\(push)")
            #expect(push.contains(#" who="tablet-7" device="d8" from=198.51.100.4 resource=people"#), "\(push)")
            #expect(push.contains(#" resource=people record="1" outcomes=applied:1"#), "\(push)")
            #expect(try await client.get("/v1/records/people/1", ["X-Device-ID": "d7"]).status == 200)
            let fine = try #require(await gateway.line(containing: "/v1/records/people/1"))
            #expect(!fine.contains("code=") && !fine.contains("device="), "\(fine)")
        }
        let stranger = try await HTTPClient.with(port: gateway.port, token: "fm_other") {
            try await $0.get("/v1/rules").status
        }
        #expect(stranger == 401)
        let line = try #require(await gateway.line(containing: "status=401"))
        #expect(
            line.contains(" code=no-token ") && line.contains(#" cause="unknown token""#) && !line.contains("who="),
            "\(line)")
        #expect(!gateway.log.contains("fm_"))
        #expect(await gateway.stop() == 0)
    }

    /// Each line is one JSON object with the message and separate members.
    @Test("The log can be JSON")
    func json() async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.sqlite)
        let gateway = try await GatewayProcess(
            database, rules: Self.rules, options: ["--log-format", "json"])
        try await HTTPClient.with(port: gateway.port) { client async throws in
            let answer = try await client.post(
                "/v1/merge/people", Self.edit("name", #""Ann""#, #""Eve""#), ["X-Device-ID": "d\"1"])
            #expect(answer.status == 422)
        }
        let line = try #require(await gateway.line(containing: "\"status\":422"))
        let parsed = try JSON(line)
        #expect(parsed["message"]?.text == "request" && parsed["level"]?.text == "notice", "\(line)")
        #expect(parsed["status"]?.int == 422 && parsed["code"]?.text == "trigger", "\(line)")
        #expect(parsed["method"]?.text == "POST" && parsed["path"]?.text == "/v1/merge/people")
        #expect(parsed["device"]?.text == "d\"1" && parsed["resource"]?.text == "people")
        #expect(parsed["cause"]?.text == #"trigger: no "Eves" here"#, "\(line)")
        #expect(await gateway.stop() == 0)
        for line in gateway.log.split(separator: "\n") {
            let event = try JSON(String(line))
            #expect(event["time"]?.text?.hasSuffix("Z") == true && event["message"]?.text != nil, "\(line)")
        }
    }

    private static let sender = """
        import socket, sys
        client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        client.sendall(b"CANARY secret\\r\\n\\r\\n")
        while piece := client.recv(65536): sys.stdout.buffer.write(piece)
        """

    @Test(
        "Bytes that are not HTTP leave a line with the id of their answer, without the bytes",
        arguments: ["text", "json"])
    func unreadableBytes(_ format: String) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: Self.sqlite)
        let gateway = try await GatewayProcess(database, rules: Self.rules, options: ["--log-format", format])
        let answer = try await Shell.run(["python3", "-c", Self.sender, String(gateway.port)])
        #expect(answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
        let line = try #require(await gateway.line(containing: "malformed-request"))
        let body = try JSON(answer.components(separatedBy: "\r\n\r\n").last ?? "")
        let id = try #require(body["instance"]?.text)
        if format == "json" {
            let parsed = try JSON(line)
            #expect(parsed["id"]?.text == id && parsed["status"]?.int == 400, "\(line)")
            #expect(parsed["from"]?.text == "127.0.0.1" && parsed["level"]?.text == "notice", "\(line)")
        } else {
            #expect(line.contains(#" notice fieldmerge: request id=\#(id) method=- path="-" status=400 "#), "\(line)")
            #expect(line.hasSuffix(" code=malformed-request from=127.0.0.1"), "\(line)")
        }
        #expect(await gateway.stop() == 0)
        #expect(!gateway.log.contains("CANARY") && !gateway.log.contains("secret"))
    }

    @Test("A proxy is an address")
    func wrongProxy() async throws {
        let said = try await Shell.capture([GatewayProcess.program, "serve", "--trusted-proxy", "proxy.local"])
        #expect(said.status == 1 && said.errors.contains("“proxy.local” is not an IPv4 or IPv6 address"), "\(said)")
    }

    @Test("Another format is refused")
    func otherFormat() async throws {
        let said = try await Shell.capture([GatewayProcess.program, "serve", "--log-format", "xml"])
        #expect(said.status == 1 && said.errors.contains("--log-format is text or json, not “xml”"), "\(said.errors)")
    }
}
