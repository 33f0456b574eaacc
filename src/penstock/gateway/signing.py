"""How are requests to AWS signed again? A client's signature covers the host that it called, and that was the gateway.

Law: a request to AWS is signed with the gateway's own credentials, or is not sent; to any other host a signature passes unchanged.
Source: AWS's pages on Signature Version 4. Leaves to others: how a signature is made (botocore).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from penstock.models.signing import aws_signer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Pairs = list[tuple[bytes, bytes]]

_SCHEME = b"AWS4-HMAC-SHA256"
_SIGNATURE = frozenset({b"authorization", b"x-amz-date", b"x-amz-security-token", b"x-amz-content-sha256"})


class NoCredentials(Exception):
    """A request is signed for the gateway's host, and there are no credentials to sign it for AWS."""


def signer_of(
    headers: Pairs, base_url: str, service: str, environ: Mapping[str, str]
) -> Callable[[str, bytes], Pairs] | None:
    """Return the function that makes the headers of a request to AWS; None if the client's own are valid.

    Args:
        headers: the client's, names in lower case.
        base_url: the provider.
        service: the service name in AWS's signatures; empty for other APIs.
        environ: the variables that name the gateway's credentials and region.

    Raises:
        NoCredentials: it must be signed, and cannot be.
    """
    if not service or not any(name == b"authorization" and value.startswith(_SCHEME) for name, value in headers):
        return None
    host = urlsplit(base_url).hostname or ""
    if not host.endswith((".amazonaws.com", ".amazonaws.com.cn")):
        return None
    region = host.split(".")[1]  # bedrock-runtime.REGION.amazonaws.com
    sign = aws_signer(service, region, environ)
    if sign is None:
        raise NoCredentials(
            "This request is signed (SigV4) for the gateway's address, which AWS refuses. Give the gateway credentials to sign it "
            "anew (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, and pip install botocore), or send a bearer token "
            "(AWS_BEARER_TOKEN_BEDROCK)."
        )

    def signed(url: str, body: bytes) -> Pairs:
        made = {name.lower().encode(): value.encode() for name, value in sign(url, body).items()}
        kept = [(name, value) for name, value in headers if name not in _SIGNATURE and name not in made]
        return [*kept, *made.items()]

    return signed
