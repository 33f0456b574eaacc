"""Which names are refused as credentials, which stay readable, and does each way to allow them work?"""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.screens import typed
from tests.forks import MCP, warm

from penstock import Tools, Workspace
from penstock.workspace.secret_names import _FILES, _HINTS, _ORDINARY, _name, has_secret_name

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("L-8")

SECRET_NAMES = [
    ".env",
    ".env.local",
    ".env.production",
    "prod.env",
    "config/docker.env",
    ".envrc",
    ".dev.vars",
    "local.settings.json",
    "server.pem",
    "tls.key",
    "AuthKey_ABC123.p8",
    "cert.p12",
    "cert.pfx",
    "app.keystore",
    "trust.jks",
    "key.ppk",
    "krb5.keytab",
    "age.agekey",
    "vault.kdbx",
    "office.ovpn",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "github_rsa",
    "deploy_ed25519",
    "deploy_key",
    "ssh_host_rsa_key",
    "wallet.dat",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    ".streamlit/secrets.toml",
    "secrets.env",
    ".secrets",
    "db-secrets.yaml",
    "secrets.prod.yml",
    "credentials",
    "credentials.json",
    ".credentials.json",
    "credentials.csv",
    "aws-credentials.ini",
    "passwords.txt",
    "my_credentials.toml",
    "app.secret",
    "client_secret_1234.apps.googleusercontent.com.json",
    "service-account.json",
    "prod-service-account.json",
    "serviceAccountKey.json",
    "acme-firebase-adminsdk-x1.json",
    "application_default_credentials.json",
    "gcp-key.json",
    ".vault_pass",
    "vault-password.txt",
    ".vault-token",
    ".htpasswd",
    "terraform.tfstate",
    "terraform.tfstate.1700000000.backup",
    "id_rsa.bak2",
    "id_rsa.swo",
    "id_rsa.2024-01-01",
    "id_ed25519.txt",
    "#id_rsa#",
    "secring.gpg",
    "krb5cc_0",
    ".Xauthority",
    ".dockerconfigjson",
    ".kube/config-prod",
    ".config/containers/auth.json",
    "terraform.tfvars",
    "prod.auto.tfvars",
    ".terraformrc",
    "credentials.tfrc.json",
    ".netrc",
    "_netrc",
    ".pgpass",
    "pgpass.conf",
    ".my.cnf",
    ".mylogin.cnf",
    ".pypirc",
    ".npmrc",
    ".git-credentials",
    ".dockercfg",
    ".boto",
    ".s3cfg",
    "rclone.conf",
    ".databrickscfg",
    ".msmtprc",
    ".smbcredentials",
    ".wgetrc",
    ".curlrc",
    "kaggle.json",
    "ngrok.yml",
    "kubeconfig",
    "prod-kubeconfig.yaml",
    "logins.json",
    "cookies.sqlite",
    ".bash_history",
    ".psql_history",
    ".git/config",
    ".aws/credentials",
    ".aws/sso/cache/1.json",
    ".ssh/known_hosts",
    ".ssh/id_rsa.pub",
    ".gnupg/secring.gpg",
    ".azure/msal_token_cache.json",
    ".password-store/mail.gpg",
    ".docker/config.json",
    ".kube/config",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".config/gh/hosts.yml",
    ".config/hub",
    ".config/glab-cli/config.yml",
    ".config/doctl/config.yaml",
    ".config/hcloud/cli.toml",
    ".config/gcloud/credentials.db",
    ".config/sops/age/keys.txt",
    ".config/rclone/rclone.conf",
    ".fly/config.yml",
    ".circleci/cli.yml",
    ".pulumi/credentials.json",
    ".terraform.d/credentials.tfrc.json",
    ".snowsql/config",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".composer/auth.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    "etc/shadow",
]
INNOCENT_NAMES = [
    "secrets.py",
    "secrets.go",
    "secret_store.rs",
    "credentials.ts",
    "credentials_test.py",
    "SecretsManager.java",
    "passwords.py",
    "password.html",
    "secret.md",
    "env.example",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".env.dist",
    "example.env",
    ".env.local.example",
    "env.py",
    "environment.yml",
    "env.ts",
    "id_rsa.pub",
    "id_mapping.txt",
    "id_ed25519.pub",
    "server.crt",
    "ca.cer",
    "keys.py",
    "key.go",
    "keyboard.json",
    "translations.json",
    "public_key.py",
    "monkey.py",
    "secrets.yml.example",
    "secrets.example.yaml",
    "credentials.sample.json",
    "terraform.tfvars.example",
    "main.tf",
    "variables.tf",
    "outputs.tf",
    "docker-compose.yml",
    "Dockerfile",
    "config.json",
    "config.toml",
    "docker/config.json",
    "kube/config",
    ".github/workflows/ci.yml",
    ".gitconfig",
    ".gitignore",
    "settings.xml",
    "pom.xml",
    "gradle.properties",
    "hosts.yml",
    "locales/auth.json",
    "auth.py",
    "tokens.json",
    "token.py",
    "npmrc.md",
    "netrc.py",
    "shadow.css",
    "history.md",
    "vault.py",
    "wallet.py",
    "cookies.py",
    "cookies.txt.md",
    "service-account.md",
    "package.json",
    "Cargo.toml",
    ".cargo/config.toml",
]


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_of_secrets_are_known_wherever_they_lie(name: str) -> None:
    """They are also recognised in a subfolder, in other case, and as a copy."""
    assert has_secret_name(name.encode())
    assert has_secret_name(b"some/home/" + name.encode())
    assert has_secret_name(name.upper().encode())
    for copy in (".bak", "~", ".old", ".1"):
        assert has_secret_name((name + copy).encode())


@pytest.mark.parametrize("name", INNOCENT_NAMES)
def test_names_of_programs_examples_and_public_halves_are_not_secrets(name: str) -> None:
    """The rule is narrow."""
    assert not has_secret_name(name.encode())
    assert not has_secret_name(b"src/" + name.encode())


_NAMES = [re.compile(pattern, re.DOTALL | re.IGNORECASE | re.ASCII) for pattern in _FILES]


@settings(max_examples=60)
@given(st.sampled_from(_NAMES).flatmap(lambda pattern: st.from_regex(pattern, fullmatch=True)))
def test_each_name_of_a_secret_contains_a_hint(name: str) -> None:
    """The pattern is tried on no other name: a missing hint would let credentials through."""
    assert any(hint in name.lower() for hint in _HINTS), name


def test_a_secret_that_ends_as_most_files_do_is_one() -> None:
    """The pattern is skipped for common endings, unless a name begins like an environment or a ticket."""
    named = [os.path.basename(name) for name in (*SECRET_NAMES, *INNOCENT_NAMES, "krb5cc_1000", "#.env")]
    tried = [os.fsencode(name) + ending for name in named for ending in _ORDINARY]
    assert [name for name in tried if has_secret_name(name) is not (_name().match(name) is not None)] == []
    assert {b".env.py", b"#.env.py", b"krb5cc_1000.c"} < set(filter(has_secret_name, tried))


def test_at_least_eighty_names_of_secrets_are_tried() -> None:
    """Nearly as many names that are not secrets are tried."""
    assert len(SECRET_NAMES) >= 80
    assert len(INNOCENT_NAMES) >= 60


def test_each_way_that_a_refusal_of_a_secret_names_works(tmp_path: Path) -> None:
    """They are a variable for any command, a flag for a server, an argument for a program; `penstock.toml` cannot allow it."""
    (tmp_path / ".env").write_text("password\n")
    view = ("view", ".env", "--root", str(tmp_path))
    allowed = {**os.environ, "PENSTOCK_ALLOW_SECRETS": "1"}
    refused = typed(*view, cwd=tmp_path)
    assert refused.returncode == 3
    for way in ("PENSTOCK_ALLOW_SECRETS=1", "penstock mcp --allow-secrets", "Workspace(allow_secrets=True)"):
        assert way in refused.stderr
    assert "1|password" in typed(*view, cwd=tmp_path, environment=allowed).stdout
    for other in ("tokens", "check-code"):
        other_view = (other, ".env", "--root", str(tmp_path))
        assert typed(*other_view, cwd=tmp_path).returncode == 3
        assert typed(*other_view, cwd=tmp_path, environment=allowed).returncode == 0
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "ctx_view", "arguments": {"file_path": ".env"}},
    }
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        call,
    ]
    asked = "".join(json.dumps(line) + "\n" for line in lines)
    serve = [*warm(*MCP), "-m", "penstock", "mcp", "--root", str(tmp_path)]
    for flags, environment, shown in ((["--allow-secrets"], None, True), ([], allowed, True), ([], None, False)):
        served = subprocess.run(
            [*serve, *flags], input=asked, capture_output=True, text=True, check=False, env=environment
        )
        assert ("1|password" in served.stdout) is shown, served.stdout + served.stderr
    (tmp_path / "penstock.toml").write_text("allow_secrets = 1\n")
    widened = typed(*view, cwd=tmp_path)
    assert widened.returncode in {2, 3}
    assert "password" not in widened.stdout


@pytest.mark.parametrize(
    ("root", "secret", "plain"),
    [
        (".kube", "config", "notes.txt"),
        (".config", "gh/hosts.yml", "gh/config.yml"),
        (".config/gcloud", "configurations/config_default", None),
        (".aws", "cli/cache/1.json", None),
        ("repo/.git", "config", "HEAD"),
        ("etc", "shadow", "hosts"),
        (".cache/work", ".docker/config.json", "config.json"),
    ],
)
def test_a_place_of_secrets_counts_even_if_the_root_is_in_it(
    tmp_path: Path, root: str, secret: str, plain: str | None
) -> None:
    """`penstock view config --root ~/.kube` shows no login: the rules also consider where the root is."""
    folder = tmp_path / root
    for name in filter(None, (secret, plain)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text of the file\n")
    (tmp_path / "link").symlink_to(folder)
    for way in (folder, tmp_path / "link"):
        tools = Tools(way)
        assert tools.call("view", {"file_path": secret}).code == "secret"
        assert "text of the file" in Tools(Workspace(way, allow_secrets=True)).view(secret)
        if plain:
            assert "text of the file" in tools.view(plain)
        assert f"{secret}:" not in tools.search("text of")
