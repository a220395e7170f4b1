"""An S3 endpoint that answers as Amazon's does to who signs for another region than the bucket's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _refuse(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        text = (
            "<Error><Code>AuthorizationHeaderMalformed</Code><Message>The authorization header is malformed; "
            "the region 'us-east-1' is wrong; expecting 'eu-central-1'</Message></Error>"
        )
        content = b"" if self.command == "HEAD" else text.encode()
        self.send_response(400)
        self.send_header("x-amz-bucket-region", "eu-central-1")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _refuse

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads it."""


@contextmanager
def of_another_region() -> Iterator[dict[str, str]]:
    """Variables for whoever is to use it."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
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
