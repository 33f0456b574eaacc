"""At which names do credentials usually lie? These files are refused unless allowed, whether named or reached through a link.

The list holds names where programs keep keys and passwords by default, and names that people give such files; not names of programs
that handle secrets, of public halves, or of examples. Case is ignored, because some disks ignore it.
"""

from __future__ import annotations

import re
from functools import cache

_DATA = r"(?:ya?ml|json5?|toml|ini|cfg|conf|properties|xml|csv|env|sh|tfvars|db)"
_FILES = (
    # Environments of programs; Cloudflare's and Azure's own; secret files for `act`.
    r"\.env[^/]*",
    r"[^/]+\.env",
    r"\.dev\.vars[^/]*",
    r"local\.settings\.json",
    # Keys: PEM, PKCS, Java's and Windows' stores, PuTTY, Kerberos, age, KeePass, VPN profiles, SSH, wallets.
    r"[^/]*\.(?:pem|key|p8|p12|pfx|keystore|jks|jceks|bcfks|ppk|keytab|agekey|kdbx?|ovpn)",
    r"id_[^/.]+",
    r"[^/]+_(?:rsa|dsa|ecdsa|ed25519)",
    r"(?:ssh_host_[a-z0-9]+|deploy|signing|private)[_-]key",
    r"id_(?:rsa|dsa|ecdsa|ed25519)\.txt",
    r"wallet\.dat|secring\.gpg|krb5cc_[^/]+|\.xauthority",
    # Files named as secrets.
    rf"(?:\.?secrets?|\.?credentials?|passwords?|[^/]*[._-]secrets?|[^/]*[._-]credentials?)(?:\.{_DATA})?",
    r"(?:secrets|credentials?|passwords?)\.txt",
    rf"(?:secrets?|credentials?)[._-](?:prod|production|staging|stage|dev|development|local|test)[^/]*\.{_DATA}",
    r"client_secret[^/]*\.json|(?:[^/]*[._-])?service[._-]?account[^/]*\.json|[^/]*firebase-adminsdk[^/]*\.json",
    r"(?:gcp|gcloud|google)[._-]?(?:key|cred)[^/]*\.json|application_default_credentials\.json",
    r"\.?vault[._-]?pass(?:word)?(?:\.txt)?|\.vault-token|\.?htpasswd|\.master_key",
    # Terraform writes what it created, including passwords, into its state.
    r"[^/]*\.tfstate|terraform\.tfvars|[^/]*\.auto\.tfvars|\.terraformrc|terraform\.rc|credentials\.tfrc\.json",
    # Where programs keep logins in the home folder.
    r"[._]netrc|\.pgpass|pgpass\.conf|\.my\.cnf|\.mylogin\.cnf|\.pypirc|\.npmrc|\.git-credentials|\.dockercfg|\.dockerconfigjson",
    r"\.boto|\.s3cfg|\.passwd-s3fs|\.?rclone\.conf|\.databrickscfg|\.msmtprc|\.fetchmailrc|\.smbcredentials",
    r"\.(?:wget|curl)rc|kaggle\.json|\.?ngrok\.yml|[^/]*kubeconfig(?:\.ya?ml)?|logins\.json|cookies\.(?:sqlite|txt)",
    r"\.(?:bash|zsh|sh|mysql|psql|sqlite|python|node_repl|rediscli|irb)_history",
)
_PLACES = (
    r"\.git/config",
    r"\.(?:aws|ssh|gnupg|password-store|azure)/.+",
    r"\.docker/config\.json",
    r"\.kube/(?:config[^/]*|cache/.+)",
    r"\.cargo/credentials(?:\.toml)?",
    r"\.gem/credentials",
    r"\.config/(?:gh/hosts\.yml|hub|glab-cli/config\.yml|doctl/config\.ya?ml|hcloud/cli\.toml|op/config)",
    r"\.config/(?:gcloud/.+|sops/age/.+|rclone/.+|configstore/.+|containers/auth\.json)",
    r"\.(?:fly|travis|circleci)/(?:config|cli)\.yml",
    r"\.(?:pulumi|terraform\.d)/credentials[^/]*\.json",
    r"\.(?:snowsql/config|snowflake/connections\.toml|(?:cache/)?huggingface/token|netlify/config\.json)",
    r"\.m2/settings(?:-security)?\.xml|\.gradle/gradle\.properties|\.nuget/nuget/nuget\.config",
    r"\.(?:composer|config/composer|codex|gemini|local/share/opencode|qwen)/(?:auth|oauth_creds)\.json",
    r"etc/g?shadow-?",
)
# A copy holds what the original does.
_COPY = r"(?:[._-](?:bak|backup|old|orig|save|sav|copy|tmp)\d{0,4}|\.sw[a-p]|[._-]\d[\d_-]{0,18}|~|#)*"
_IS_EXAMPLE = r"(?![^/]*(?:example|sample|template|\.dist|schema|\.tmpl|\.tpl|\.pub\Z))"

# Each name in `_FILES` contains one of these, in lower case. Searching a text for all of them (in bytes it takes eight times as
# long) costs half as much as the pattern, which would be tried on every file of a walk; and a process that meets no such name never
# compiles it, which takes longer than reading a page.
_HINT_WORDS = """
env vars settings key .pem .p8 .p12 .pfx .jks .jceks .bcfks .ppk .kdb .ovpn id_ _rsa _dsa _ecdsa _ed25519 wallet secring krb5
xauth secret cred pass service firebase vault tfstate terraform netrc cnf pypirc npmrc cfg dockerconf boto rclone msmtprc mailrc
wgetrc curlrc kaggle ngrok kubeconf logins cookies history
"""
_HINTS = tuple(_HINT_WORDS.split())
# How most files of a tree end: no name in `_FILES` ends so, except for some that begin with `_OPEN_ENDED`.
_ENDINGS = "py pyc pyi js mjs ts tsx jsx c h cc cpp hpp cs java go rs rb php md rst html css svg png cbl cpy"
_ORDINARY = tuple(b"." + ending for ending in _ENDINGS.encode().split())
_OPEN_ENDED = (b".", b"#", b"k", b"K")
"""`.env…`, `.dev.vars…`, `krb5cc_…`, and editors' copies of them."""


def above_of(root: bytes) -> bytes:
    """Return the path of a root that must precede its relative paths for `_PLACES` to match, as for `config` in `~/.kube`; else
    nothing.
    """
    above = root.rstrip(b"/") + b"/"
    return above if b"/." in above or above.lower().endswith(b"/etc/") else b""


def has_secret_name(relative: bytes, above: bytes = b"") -> bool:
    """Return whether a path, as bytes relative to the root, is one at which credentials usually lie.

    Args:
        relative: The path.
        above: What `above_of` returned for the root.
    """
    name = relative[relative.rfind(b"/") + 1 :]
    lowered = ""
    if not name.endswith(_ORDINARY) or name.startswith(_OPEN_ENDED):
        lowered = name.decode("latin-1").lower()
        for hint in _HINTS:
            if hint in lowered:
                if _name().match(name):
                    return True
                break
    # A place needs a hidden folder, as every place but `etc/shadow` has.
    if not (above or relative.startswith(b".") or b"/." in relative or "shadow" in lowered):
        return False
    return _place().search(above + relative) is not None


@cache
def _name() -> re.Pattern[bytes]:
    """Return the pattern for the last name of a path."""
    return re.compile(rf"#?{_IS_EXAMPLE}(?:{'|'.join(_FILES)}){_COPY}\Z".encode(), re.DOTALL | re.IGNORECASE)


@cache
def _place() -> re.Pattern[bytes]:
    """Return the pattern for the places."""
    return re.compile(rf"(?:^|/)(?:{'|'.join(_PLACES)}){_COPY}\Z".encode(), re.DOTALL | re.IGNORECASE)
