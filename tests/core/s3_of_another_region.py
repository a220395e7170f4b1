"""An S3 endpoint that answers as Amazon's does to who signs for another region than the bucket's, or has
another reason to answer with the same status."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    status, region = 400, "eu-central-1"

    def _refuse(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        code, message = "ExpiredToken", "The provided token has expired"
        if self.region:
            code = "AuthorizationHeaderMalformed"
            wrong = f"the region 'us-east-1' is wrong; expecting '{self.region}'"
            message = f"The authorization header is malformed; {wrong}"
        text = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
        content = b"" if self.command == "HEAD" else text.encode()
        self.send_response(self.status)
        if self.region:
            self.send_header("x-amz-bucket-region", self.region)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _refuse

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


@contextmanager
def of_another_region(status: int = 400, region: str = "eu-central-1") -> Iterator[dict[str, str]]:
    """Variables for whoever is to use it. `region`: that it names; none: it has another reason."""
    handler = type("Handler", (_Handler,), {"status": status, "region": region})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield {
            "AWS_ACCESS_KEY_ID": "somebody",
            "AWS_SECRET_ACCESS_KEY": "a secret",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_address[1]}",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        server.shutdown()
        thread.join(30)
