import Foundation
import Operations
import Testing
import TestSupport

@testable import Gateway

/// Certificates and keys that roll while clients go on sending.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RollingTests {
    /// Repeatedly replaces everything that SIGHUP reads, while clients keep their connections.
    ///
    /// Clients never reconnect: a broken connection is a failure, and so is each status but 200. New keys have to work
    /// on new connections before clients use new tokens.
    private static let script = """
        import base64, http.client, json, os, shutil, signal, ssl, sys, threading
        folder, port, pid, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
        current, stopped, failures = 0, False, []
        read = lambda name: open(f"{folder}/{name}").read().strip()

        def connect(number):
            context = ssl.create_default_context(cafile=f"{folder}/cert{number}.pem")
            connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=60)
            connection.connect()
            # One that was closed stays closed.
            connection.auto_open = 0
            return connection

        def ask(connection, method, path, token, body=None):
            headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

        def fetch(connection):
            status, body = ask(connection, "POST", "/v1/token", read("refresh"))
            assert status == 200, (status, body)
            return json.loads(body)["accessToken"]

        class Client(threading.Thread):
            def __init__(self, number, fetches):
                super().__init__()
                self.number, self.fetches, self.count, self.seen = number, fetches, 0, -1
                self.connection = connect(0)

            def run(self):
                try:
                    while not stopped: self.step()
                except BaseException as error:
                    failures.append(f"client {self.number} after {self.count}: {error!r}")

            def step(self):
                now = current
                if now != self.seen:
                    self.token = fetch(self.connection) if self.fetches else read(f"token{now}")
                for method, path, body in [
                    ("GET", "/v1/records/people/1", None),
                    ("POST", "/v1/merge/people", '{"id":1,"changeset":{}}'),
                ]:
                    status, text = ask(self.connection, method, path, self.token, body)
                    self.count += 1
                    if status != 200: failures.append(f"client {self.number}: {status} {text}")
                self.seen = now

        def put(source, target):
            shutil.copy(f"{folder}/{source}", f"{folder}/{target}.new")
            os.replace(f"{folder}/{target}.new", f"{folder}/{target}")

        def key_name(token): return json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))["kid"]

        def is_rolled(number):
            try:
                connection = connect(number)
            except ssl.SSLCertVerificationError:
                return False
            try:
                if ask(connection, "GET", "/v1/rules", read(f"token{number}"))[0] != 200: return False
                if number == 0: return True
                return key_name(fetch(connection)) not in names
            finally:
                connection.close()

        clients = [Client(number, fetches=number % 2 == 1) for number in range(6)]
        first = connect(0)
        names = {key_name(fetch(first))}
        for client in clients: client.start()
        alive = lambda: not failures and all(client.is_alive() for client in clients)
        for number in range(1, rounds + 1):
            for source, target in [
                (f"cert{number}.pem", "server.pem"), (f"cert{number}.key", "server.key"),
                (f"keys{number}.json", "keys.json"), (f"signing{number}", "signing"),
            ]: put(source, target)
            os.kill(pid, signal.SIGHUP)
            while alive() and not is_rolled(number): pass
            names.add(key_name(fetch(first)))
            current = number
            before = [client.count for client in clients]
            # Each client asks with what is new; the requests of this loop take the time.
            while alive() and not all(c.seen == number and c.count >= b + 10 for c, b in zip(clients, before)):
                ask(first, "GET", "/healthz", "")
        stopped = True
        for client in clients: client.join()
        print(json.dumps({
            "failures": failures, "keys": len(names), "least": min(client.count for client in clients),
            "tokens": min(client.seen for client in clients)}))
        """

    @Test("A replacement under load breaks no connection")
    func load() async throws {
        let rounds = 4
        let folder = try TemporaryFolder()
        let refresh = AccessToken.make()
        let signers = (0...rounds).map { TestSigner.es256("k\($0)") }
        func write(_ name: String, _ text: String) throws {
            try text.write(toFile: folder.path + "/" + name, atomically: true, encoding: .utf8)
        }
        try write("refresh", refresh.secret)
        try write("tokens", refresh.line(name: "van", rights: [.refresh]))
        for number in 0...rounds {
            try await TestAuthority("cert\(number)", in: folder.path, names: "DNS:localhost")
            // A token with the previous key is valid until the next replacement.
            let both = number == 0 ? [number] : [number, number - 1]
            try write("keys\(number).json", TestSigner.set(try both.map { try signers[$0].jwk() }))
            try write("token\(number)", try signers[number].token())
            try write("signing\(number)", both.map { String(repeating: "\($0)", count: 32) + "\n" }.joined())
        }
        for (source, target) in [
            ("cert0.pem", "server.pem"), ("cert0.key", "server.key"), ("keys0.json", "keys.json"),
            ("signing0", "signing"),
        ] { try await Shell.run(["cp", folder.path + "/" + source, folder.path + "/" + target]) }
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: MergeTests.sqlite)
        let gateway = try await GatewayProcess(
            database, rules: MergeTests.rules,
            options: [
                "--tls-certificate", folder.path + "/server.pem", "--tls-key", folder.path + "/server.key",
                "--jwt-keys", folder.path + "/keys.json", "--jwt-issuer", TestSigner.issuer,
                "--jwt-audience", TestSigner.audience, "--tokens", folder.path + "/tokens",
                "--token-key", folder.path + "/signing",
            ])
        let ran = try await Shell.capture(
            ["python3", "-", folder.path, "\(gateway.port)", "\(gateway.identifier)", "\(rounds)"],
            input: Self.script)
        withExtendedLifetime(database) { #expect(ran.status == 0, "\(ran.errors)") }
        let result = try JSON(Array(ran.output.utf8))
        #expect(result["failures"]?.array.isEmpty == true, "\(ran.output.prefix(2_000))")
        #expect(result["keys"]?.int == rounds + 1, "each roll signed access tokens by a key of its own")
        #expect(
            result["tokens"]?.int == rounds && (result["least"]?.int ?? 0) >= 10 * rounds, "\(ran.output.prefix(2_000))"
        )
        // Keys that were removed are refused.
        let old = try await Shell.capture([
            "curl", "-sS", "-w", "%{http_code}", "--max-time", "20", "--cacert", folder.path + "/cert\(rounds).pem",
            "-H", "Authorization: Bearer " + (try signers[0].token()), "https://localhost:\(gateway.port)/v1/rules",
        ])
        #expect(old.output.hasSuffix("401"), "\(old.output) \(old.errors)")
    }
}
