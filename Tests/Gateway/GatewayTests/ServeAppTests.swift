import Foundation
import Operations
import Testing
import TestSupport

@testable import Gateway

/// The folder of an app that the gateway serves under `/app/`.
@Suite(.serialized) struct ServeAppTests {
    private static let page = "<!doctype html><title>Shop</title><script type=module src=app.js></script>"
    private static let script =
        "// " + String(repeating: "the script of the app, long enough to be packed; ", count: 40)

    /// A folder with an app, and a secret file outside it.
    private static func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder(files: ["secret.txt": "the key"])
        let app = folder.path + "/app"
        let files = FileManager.default
        try files.createDirectory(atPath: app + "/parts/deep", withIntermediateDirectories: true)
        for (name, text) in [
            "index.html": page, "app.js": script, "parts/list.js": "export {};", "parts/deep/one.css": "p {}",
            ".hidden": "h", "parts/.hidden": "h", "app.webmanifest": "{}", "icon.svg": "<svg/>", "icon.png": "png",
            "a b%.txt": "blank", "ä.txt": "umlaut", "noending": "?", "empty.txt": "",
        ] {
            try Data(text.utf8).write(to: URL(filePath: app + "/" + name))
        }
        try files.createSymbolicLink(atPath: app + "/out.txt", withDestinationPath: "../secret.txt")
        try files.createSymbolicLink(atPath: app + "/in.js", withDestinationPath: "app.js")
        try files.createSymbolicLink(atPath: app + "/up", withDestinationPath: "..")
        try files.createSymbolicLink(atPath: app + "/parts/root", withDestinationPath: "/")
        return folder
    }

    private static func with(
        serves: Bool = true, origins: [String] = [], tokens: Bool = true,
        _ body: @escaping @Sendable (RunningGateway, HTTPClient.Session, _ app: String) async throws -> Void
    ) async throws {
        let folder = try folder()
        let app = folder.path + "/app"
        let known = try origins.map { try WebOrigin($0) }
        let served = serves ? try AppFolder(app) : nil
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let token = AccessToken.make()
        try await RunningGateway.with(
            database, rules: MergeTests.rules,
            tokens: tokens ? token.line(name: "page", rights: [.read, .write]) : nil,
            configure: {
                $0.app = served
                $0.allowedOrigins = known
            }
        ) { gateway async throws in
            try await gateway.client { try await body(gateway, $0, app) }
        }
        withExtendedLifetime(folder) {}
    }

    /// The page needs no token, its data need one.
    @Test("The page needs no token")
    func withoutToken() async throws {
        try await Self.with { _, client, _ async throws in
            for path in ["/app/", "/app/index.html", "/app/?user=anna", "/app/?user=anna&user=ben&x"] {
                let page = try await client.get(path)
                #expect(page.status == 200 && page.text == Self.page, "\(path)")
                #expect(page.headers["content-type"] == "text/html; charset=utf-8")
                #expect(page.headers["content-length"] == String(Self.page.utf8.count))
                #expect(page.headers["cache-control"] == "public, no-cache")
            }
            #expect(try await client.get("/app/parts/list.js").text == "export {};")
            #expect(try await client.get("/app/parts/deep/one.css").text == "p {}")
            #expect(try await client.get("/app/a%20b%25.txt").text == "blank")
            #expect(try await client.get("/app/%C3%A4.txt").text == "umlaut")
            let empty = try await client.get("/app/empty.txt")
            #expect(empty.status == 200 && empty.body.isEmpty && empty.headers["content-length"] == "0")
            #expect(try await client.get("/v1/rules").status == 401)
        }
    }

    @Test("The folder without a slash redirects to the address with one, so that relative addresses work")
    func redirect() async throws {
        try await Self.with { _, client, _ async throws in
            for (path, place) in [("/app", "/app/"), ("/app?user=anna&x=%20", "/app/?user=anna&x=%20")] {
                let answer = try await client.get(path)
                #expect(answer.status == 308 && answer.headers["location"] == place)
            }
        }
    }

    @Test(
        "The name of a file decides its media type",
        arguments: [
            ("index.html", "text/html; charset=utf-8"), ("app.js", "text/javascript; charset=utf-8"),
            ("parts/deep/one.css", "text/css; charset=utf-8"), ("app.webmanifest", "application/manifest+json"),
            ("icon.svg", "image/svg+xml"), ("icon.png", "image/png"), ("noending", "application/octet-stream"),
        ])
    func mediaTypes(_ name: String, _ type: String) async throws {
        try await Self.with { _, client, _ async throws in
            #expect(try await client.get("/app/" + name).headers["content-type"] == type)
        }
    }

    @Test("A page runs only scripts of files of its origin")
    func contentPolicy() async throws {
        try await Self.with { _, client, _ async throws in
            let headers = try await client.get("/app/").headers
            let policy = try #require(headers["content-security-policy"])
            for part in ["default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"] {
                #expect(policy.contains(part))
            }
            #expect(!policy.contains("unsafe") && !policy.contains("*") && !policy.contains("data:"))
            #expect(headers["x-content-type-options"] == "nosniff")
            #expect(headers["referrer-policy"] == "no-referrer")
        }
    }

    @Test(
        "Other files are not served",
        arguments: [
            "..", "../secret.txt", "%2e%2e/secret.txt", ".%2e/secret.txt", "%2E%2E%2Fsecret.txt", "..%2fsecret.txt",
            "parts/../../secret.txt", "parts/%2e%2e/%2e%2e/secret.txt", "parts/../index.html", "./index.html",
            "..%5csecret.txt", "%252e%252e/secret.txt", "%c0%ae%c0%ae/secret.txt", "/etc/passwd",
            "%2fetc%2fpasswd", "//etc/passwd", "out.txt", "in.js", "up/secret.txt", "up/app/index.html",
            "parts/root/etc/passwd", ".hidden", "%2ehidden", "parts/.hidden", "app.js%00", "app.js%00.css", "%00",
            "app.js%0a", "app.js/", "app.js/x", "parts", "parts/", "index.html/", "nothing", "App.js", "%zz", "%e4.txt",
            "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r", String(repeating: "n", count: 300),
        ])
    func otherFiles(_ path: String) async throws {
        try await Self.with { gateway, client, _ async throws in
            let answer = try await client.get("/app/" + path)
            #expect(answer.status == 404, "\(answer.text)")
            #expect(try answer.json()["code"]?.text == "no-such-address")
            // As a client that tidies no address sends it.
            let said = try await Shell.run([
                "curl", "-sS", "--path-as-is", "-o", "/dev/null", "-w", "%{http_code}",
                "http://127.0.0.1:\(gateway.port)/app/" + path,
            ])
            #expect(said == "404")
        }
    }

    /// A pipe is not waited for, and a socket not spoken to.
    @Test("Only regular files are read")
    func onlyFiles() async throws {
        try await Self.with { _, client, app async throws in
            try await Shell.run(["mkfifo", app + "/pipe"])
            #expect(try await client.get("/app/pipe").status == 404)
        }
    }

    @Test("Files can only be read", arguments: [HTTPClient.Method.post, .put, .delete, .patch, .options])
    func methods(_ method: HTTPClient.Method) async throws {
        try await Self.with { _, client, app async throws in
            for path in ["/app", "/app/", "/app/app.js", "/app/parts/list.js", "/app/nothing"] {
                let answer = try await client.send(method, path, [:], nil)
                #expect(answer.status == 405 && answer.headers["allow"] == "GET, HEAD", "\(path)")
            }
            #expect(try String(contentsOfFile: app + "/app.js", encoding: .utf8) == Self.script)
        }
    }

    @Test("HEAD has the headers of GET and no body")
    func head() async throws {
        try await Self.with { _, client, _ async throws in
            func reported(_ answer: HTTPClient.Answer) -> [String: String] {
                answer.headers.filter { !["date", "x-request-id"].contains($0.key) }
            }
            for headers in [[:], ["Accept-Encoding": "gzip"]] {
                for path in ["/app", "/app/", "/app/app.js", "/app/icon.png", "/app/nothing"] {
                    let get = try await client.get(path, headers)
                    let head = try await client.send(.head, path, headers, nil)
                    #expect(
                        head.status == get.status && head.body.isEmpty && reported(head) == reported(get), "\(path)")
                }
            }
        }
    }

    @Test("The ETag changes with the file")
    func entityTag() async throws {
        try await Self.with { _, client, app async throws in
            let tag = try #require(try await client.get("/app/app.js").headers["etag"])
            for known in [tag, "W/" + tag, "\"x\", " + tag] {
                let same = try await client.get("/app/app.js", ["If-None-Match": known])
                #expect(same.status == 304 && same.body.isEmpty && same.headers["etag"] == tag)
                #expect(same.headers["content-security-policy"] != nil)
            }
            #expect(try await client.get("/app/").headers["etag"] != tag)
            // A file of the same length in its place is another.
            try Data(Self.script.uppercased().utf8).write(to: URL(filePath: app + "/app.js"), options: .atomic)
            let other = try await client.get("/app/app.js", ["If-None-Match": tag])
            #expect(other.status == 200 && other.headers["etag"] != tag)
            #expect(other.text == Self.script.uppercased())
            try FileManager.default.removeItem(atPath: app + "/app.js")
            #expect(try await client.get("/app/app.js", ["If-None-Match": tag]).status == 404)
        }
    }

    @Test func textIsPacked() async throws {
        try await Self.with { gateway, client, _ async throws in
            let packed = try await client.get("/app/app.js", ["Accept-Encoding": "gzip"])
            #expect(packed.headers["content-encoding"] == "gzip" && packed.body.count < Self.script.utf8.count / 4)
            #expect(packed.headers["vary"] == "Accept-Encoding")
            let url = "http://127.0.0.1:\(gateway.port)/app/app.js"
            #expect(try await Shell.run(["curl", "-sS", "--compressed", url]) == Self.script)
            #expect(try await Shell.run(["curl", "-sS", "--http1.0", "--compressed", url]) == Self.script)
            #expect(
                try await client.get("/app/icon.png", ["Accept-Encoding": "gzip"]).headers["content-encoding"] == nil)
        }
    }

    @Test("A long file is sent completely in chunks, and never kept in memory")
    func longFile() async throws {
        try await Self.with { gateway, _, app async throws in
            let bytes = Data((0..<6_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) })
            for name in ["long.bin", "long.txt"] {
                try bytes.write(to: URL(filePath: app + "/" + name))
                let copy = app + "/../copy"
                try await Shell.run([
                    "curl", "-sS", "--compressed", "-o", copy, "http://127.0.0.1:\(gateway.port)/app/" + name,
                ])
                #expect(try Data(contentsOf: URL(filePath: copy)) == bytes)
            }
        }
    }

    @Test("Without the option no file is served")
    func noOption() async throws {
        try await Self.with(serves: false) { _, client, _ async throws in
            for path in ["/app", "/app/", "/app/index.html"] {
                #expect(try await client.get(path).status == 404)
                #expect(try await client.send(.post, path, [:], nil).status == 404)
            }
        }
    }

    @Test("A gateway without tokens serves nothing to foreign pages, not even the app")
    func foreignPages() async throws {
        try await Self.with(tokens: false) { _, client, _ async throws in
            #expect(try await client.get("/app/", ["Sec-Fetch-Site": "none"]).status == 200)
            #expect(try await client.get("/app/app.js", ["Sec-Fetch-Site": "same-origin"]).status == 200)
            for headers in [["Sec-Fetch-Site": "cross-site"], ["Origin": "https://elsewhere.example"]] {
                #expect(try await client.get("/app/", headers).status == 403)
            }
        }
    }

    @Test(
        "A missing folder is an error at the start",
        arguments: [
            ("/nowhere", "is not a readable folder"), ("/etc/passwd", "is not a readable folder"),
            ("/", "has no index.html"),
        ])
    func missingFolder(_ folder: String, _ fault: String) async throws {
        for (options, variable) in [(["--serve-app", folder], []), ([], ["env", "FIELDMERGE_SERVE_APP=" + folder])] {
            let ran = try await Shell.capture(
                variable + [GatewayProcess.program, "serve", "--database", "sqlite:/nowhere", "--rules", "/nowhere"]
                    + options)
            #expect(ran.status == 1 && ran.errors.contains("--serve-app: “\(folder)” \(fault)"), "\(ran.errors)")
        }
    }

    @Test("The folder can be set by option, environment and file, and a link may change its target")
    func setting() async throws {
        let folder = try Self.folder()
        let link = folder.path + "/current"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "app")
        try Data("serve-app: \(link)\n".utf8).write(to: URL(filePath: folder.path + "/settings.yaml"))
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        for (options, variable) in [
            (["--serve-app", link], []), ([], ["env", "FIELDMERGE_SERVE_APP=" + link]),
            (["--config", folder.path + "/settings.yaml"], []),
        ] {
            let gateway = try await GatewayProcess(
                database, rules: MergeTests.rules, options: options, wrapper: variable)
            #expect(gateway.log.contains("serving the files in \(link) to everybody"))
            try await HTTPClient.with(port: gateway.port) { client async throws in
                #expect(try await client.get("/app/").text == Self.page)
            }
        }
    }
}
