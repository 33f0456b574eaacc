"""How are requests to AWS signed? By botocore if it is installed: it finds profiles, roles and variables as boto3 does.

Law: nothing but the request being sent is signed, and no credential is kept here. Leaves to others: which service it is (the wire
says).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def aws_signer(
    service: str, region: str, environment: Mapping[str, str]
) -> Callable[[str, bytes], Mapping[str, str]] | None:
    """Return the function that signs a request, given its address and its body, with Signature Version 4.

    Args:
        service: the service name used in the signature, `bedrock`.
        region: the region of the request; if empty, that of the user's profile.
        environment: the caller's variables: keys in them take precedence over those that botocore finds.

    Returns:
        A function that returns the headers to add; None if botocore is not installed, or finds no credentials.
    """
    try:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials
        from botocore.session import Session
    except ImportError:
        return None
    session = Session()
    key, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    own = Credentials(key, secret, environment.get("AWS_SESSION_TOKEN")) if key and secret else None
    credentials = own or session.get_credentials()
    if credentials is None:
        return None
    signed_region = region or session.get_config_variable("region") or "us-east-1"

    # Frozen for each request: roles and profiles give credentials that expire, and freezing renews them.
    def sign(url: str, content: bytes) -> Mapping[str, str]:
        request = AWSRequest(method="POST", url=url, data=content, headers={"content-type": "application/json"})
        SigV4Auth(credentials.get_frozen_credentials(), service, signed_region).add_auth(request)
        return {name.lower(): value for name, value in request.headers.items()}

    return sign
