"""Serves GET /v1/rules from a file to clients with the token, and prints its address."""

import http.server
import pathlib
import sys


class Rules(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        is_known = self.headers["Authorization"] == "Bearer secret-token"
        body = pathlib.Path(sys.argv[1]).read_bytes() if is_known else b"{}"
        self.send_response(200 if is_known and self.path == "/base/v1/rules" else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Rules)
print(f"http://127.0.0.1:{server.server_port}/base/", flush=True)
server.serve_forever()
