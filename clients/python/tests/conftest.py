"""A server that keeps its connections open."""

import re
import socket
import threading
from collections.abc import Iterator

import pytest


def answer(connection: socket.socket) -> None:
    """Answers each request with the id in its path, and keeps the connection open."""
    with connection:
        while request := connection.recv(65536):
            found = re.match(rb"GET /v1/questions/(\S+)", request)
            body = b'{"id":"%s"}' % (found[1] if found else b"")
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


@pytest.fixture
def url() -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.close()
