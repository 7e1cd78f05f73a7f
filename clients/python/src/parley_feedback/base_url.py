"""URLs that credentials may be sent to."""

import re
from ipaddress import IPv4Address, ip_address

import httpx

from .errors import ParleyError


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False  # a name, not an address
    return address.is_loopback if isinstance(address, IPv4Address) else str(address) == "::1"


def _is_safe(url: httpx.URL, allow_http: bool) -> bool:
    if url.userinfo or not url.host:
        return False
    return url.scheme == "https" or (url.scheme == "http" and (allow_http or _is_this_machine(url.host)))


def _parse(url: str) -> httpx.URL | None:
    if not isinstance(url, str) or re.search(r"[\s\\?#]", url):
        return None
    try:
        return httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        return None


def check_base_url(url: str, *, allow_http: bool = False) -> str:
    """Returns the base that paths are appended to: `https`, or `http` on localhost (specification 4.3).

    `allow_http` accepts `http` for any host. The URL is also parsed with httpx, so that validation and sending agree.

    Raises:
        ParleyError: `insecure-url` for any other URL.
    """
    parsed = _parse(url)
    if parsed is None or not _is_safe(parsed, allow_http):
        raise ParleyError(
            "insecure-url",
            "The base URL must be https:// (or http://localhost) without user, query and fragment. "
            "For plain HTTP in a trusted network, pass allow_http=True.",
        )
    authority, path = parsed.netloc.decode("ascii"), parsed.raw_path.decode("ascii")
    return f"{parsed.scheme}://{authority}{path}".rstrip("/")
