"""The certificates that every route trusts, read once in a process.

A client with certificates of its own is 1.7 MiB, which a worker got back only at a collection many runs later.
"""

import ssl
from functools import cache

import httpx


@cache
def trusted() -> ssl.SSLContext:
    """For `verify` of an HTTP client; SSL_CERT_FILE and SSL_CERT_DIR say which certificates."""
    return httpx.create_ssl_context()
