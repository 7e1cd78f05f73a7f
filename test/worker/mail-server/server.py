"""A mail server (aiosmtpd) that behaves as its first argument says, on a free port of 127.0.0.1.

Prints the port, then a line of JSON for each accepted mail. `greylist`: refuses the first attempt of each recipient with 450.
`throttle`: accepts one mail every three seconds, others get 451 or 421. `starttls`: requires STARTTLS, with the certificate and
the key of the next two arguments. `login`: requires STARTTLS and the login of `parley` with `pa:ss/w@rd`. `slow`: greets after
twelve seconds. `few`: takes a second for each mail, and refuses a third connection with 432, as Microsoft 365 does with a fourth.
"""

import asyncio
import json
import ssl
import sys
import time

from aiosmtpd.smtp import SMTP, AuthResult


class Handler:
    def __init__(self, mode):
        self.mode = mode
        self.seen = set()
        self.accepted_at = 0.0
        self.refused = 0
        self.active = 0

    async def handle_RCPT(self, server, session, envelope, address, options):
        if self.mode == "greylist" and address not in self.seen:
            self.seen.add(address)
            return f"450 4.2.0 <{address}>: Recipient address rejected: Greylisted"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.mode == "few":
            self.active += 1
            await asyncio.sleep(1)
            self.active -= 1
            if self.active >= 2:
                return "432 4.3.2 Concurrent connections limit exceeded"
        if self.mode == "throttle" and time.monotonic() - self.accepted_at < 3:
            self.refused += 1
            return "421 4.7.0 Too many mails, closing" if self.refused % 2 else "451 4.7.1 Please try again later"
        self.accepted_at = time.monotonic()
        text = envelope.content.decode()
        mail = {"to": envelope.rcpt_tos, "ehlo": session.host_name, "tls": session.ssl is not None, "text": text}
        print(json.dumps(mail), flush=True)
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    return AuthResult(success=(data.login, data.password) == (b"parley", b"pa:ss/w@rd"), handled=False)


class SlowSMTP(SMTP):
    async def _handle_client(self):
        await asyncio.sleep(12)
        await super()._handle_client()


async def main(mode, certificate=None, key=None):
    handler = Handler(mode)
    options = {}
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        options = {"tls_context": context, "require_starttls": True}
    if mode == "login":
        options |= {"authenticator": authenticate, "auth_required": True}
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: (SlowSMTP if mode == "slow" else SMTP)(handler, **options), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main(*sys.argv[1:]))
