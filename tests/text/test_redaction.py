"""Are secrets removed, and does everything else stay?"""

from __future__ import annotations

import random
import re
import string
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.growth import BOUND, growth
from tests.text.secret_examples import NAMED, OWN, described, written

from penstock.text import redaction
from penstock.text.redaction import mark_in, redacted, secrets_in
from penstock.text.secret_formats import ANYWHERE, AT_WORDS, BY_SERVICE

if TYPE_CHECKING:
    from collections.abc import Callable

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
BODY = """MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj
MzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDuictGeurT8jNbvJZHtCSuYEvu
Qw=="""
SECRETS = {
    "a token in base64": ("data: ", "ZXlKaGJHY2lPaUpJVXpJMU5pSjkuZXlKemRXSWlPaUl4TWpNME5UWTNPRGt3SW4wLmRvempncnlQNEoz"),
    "bearer with a colon": ('bearer = "Bearer: ', "2lkjdfoiuwer092834kjdwf0a"),
    "two random parts": ("client_secret = ", "ab3cd7ef.gh2jk5mn"),
    "words with a number each": ("password: ", "Hunter2.Horse9"),
    "random parts that a dot joins": ('token = "', "aB3dE5fG7h.Jm7kL9mN2p"),
    "three random parts": ("password: ", "Q7XK2M.R4VNW.T9B3CD"),
    "creds": ("creds = ", "FqyOTAJSdEgjn727oe4lsSJeRvL0rE"),
    "a cred with long words": ('cred = "', "KjasdlkjapoIKLlka98098sdf012U/rL2sLdBqOHQUlt5Z6kCgKGDyCFB=="),
    "a comparison with another": ('if password != "', "f62e5bcda4fae4f82370da0c6f20697b8f8447ff"),
    "a key of a service that is almost a word": ("toggl_api: ", "9f8a7d6c5b4e3f2a1b0c9d8e7f6a5b4c"),
    "the first token": ('first_token = "', "9E858021-953F-4DD3-8842-F2C782780422"),
    "an element with blanks around what it holds": ("<password>  ", "hunter2hunter2"),
    "Docker's file in a manifest": ("data:\n  .dockerconfigjson: ", "eyJhdXRocyI6e319"),
    "Docker's old file in a block": ("data:\n  .dockercfg: |\n    ", "ewJhdXRocyI6e319"),
    "an address that an example signed": (
        "https://a.example.com/b?sv=1&sig=",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopQ=",
    ),
    "the key that signs": ('auth_signature_key="', "kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg"),
    "the element of a key that lets in": ("<authKey>", "hunter2hunter2"),
    "the element of whoever logs in, at random": ("<login>", "kYjzVBB8Y0ZFabxSWbWovY3u"),
    "the key of a printed key": ("<ApiKey: me, key=", "me-afa1cdfb6b4761e616fa2cfab42398c8"),
    "a token of Okta without its header": ("-H SSWS ", "00wBDvGzcAbgq9EI65KoHw9cxSMJWp16cvxyIqP472"),
    "a key with a line of one letter": (
        "",
        "-----BEGIN PRIVATE KEY-----\n" + "A" * 64 + f"\n{BODY}\n-----END PRIVATE KEY-----",
    ),
    "a name with a number in no statement": ("proxy_pwd: ", "libtest_arg4"),
    "a key that is not public": ("tool --pinnedkey '", "ce118b51897f4452dc"),
    "an address with a backslash in it": (
        "https://google.com:",
        "80\\ab",
    ),
    "a user at the begin of a line": ("curl https://example.com \\\n-u set:", "setup"),
    "a header in base64 before a quote": ('"Authorization: Basic ', "dXNlcjpwYXNzd2Q="),
    "a password with two signs": ("password == ", "p!!passwd9s"),
    "Anthropic key": ("", "sk-ant-api03-" + "Ab3_-" * 19),
    "API key": ("", "sk-proj-" + "aB3d-E5f_" * 12),
    "GitHub token": ("", "ghp_" + "aB3dE5fG7h" * 3 + "123456"),
    "GitHub token, fine-grained": ("", "github_pat_" + "11ABCDEFG0" * 8),
    "GitLab token": ("", "glpat-" + "aB3dE5fG7hJ9kL1mN3pQ"),
    "Slack token": ("", "xoxb-123456789012-1234567890123-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7"),
    "Google key": ("", "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"),
    "AWS key": ("", "AKIAIOSFODNN7EXAMPLE"),
    "AWS key and its secret": ("", "AKIAIOSFODNN7EXAMPLE, wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    "JWT": ("", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),
    "private key": ("", f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----"),
    "private key in JSON": (
        "",
        f"-----BEGIN PRIVATE KEY-----\\n{BODY}\\n-----END PRIVATE KEY-----".replace("\n", "\\n"),
    ),
    "private key, cut off": ("", f"-----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}"),
    "private key on a page": ("", "7|-----BEGIN EC PRIVATE KEY-----\n8|" + BODY.replace("\n", "\n9|")),
    "header": ("Authorization: Bearer ", "hunter2hunter2"),
    "bearer": ("bearer ", "aGVsbG8gd29ybGQ0MTE="),
    "URL password": ("postgres://penstock:", "hun.ter*2"),
    "password": ("password=", "hunter2hunter2"),
    "password in quotes": ('password = "', "correcthorse"),
    "password in JSON": ('{"db_password": "', "p@ss:w0rd/{x"),
    "password in JSON in a text": ('{\\"password\\": \\"', "hunter2hunter2"),
    "password in YAML": ("  password: ", "hunter2hunter2"),
    "setting": ("export DB_PASSWORD=", "correcthorse"),
    "API key of a header": ("X-Api-Key: ", "0123456789abcdef"),
    "client secret": ("client_secret='", "aB3~dE5.fG7"),
    "password of a query's address": ("mongodb://me:", "D1fficult%40ssw0rd"),
    "password with a dollar sign": ("amqp://app:", "xK9!mN2$"),
    "key of Alibaba and its secret": ("", "LTAIwRQQQIlUKh25, AIu0vKQhkLAmcfDiTmCyCvfgKKXNLT"),
    "key of Alibaba behind a line end": ("first\\n", "LTAIwRQQQIlUKh25"),
    "key behind a colour": ("\x1b[93m", "sk-615ef152bf865a131f88b23571dc4ee6"),
    "password in Russian": ("Пароль: ", "hunter2hunter2"),
    "password in Chinese": ("密码\uff1a", "hunter2hunter2"),
    "password behind an address of mail": ("smtps://me@example.com:", "FnD83JZs"),
    "token as a user of curl": ("curl -u ", "d2LkV78zLx!t"),
    "variable of Terraform": ('variable "corp_api_token" {\n  default = "', "004EWTpRQT_HJtG_nL-agxa"),
    "short key of a service": ("mockaroo token = '", "mlm9iqkm"),
    "default of a setting": ("process.env.DB_PASSWORD || '", "hunter2x!"),
    "setting of a pass, a word": ("# REACT_APP_PASS=", "whiteduke"),
    "Gradle": ("credentials {\n    username 'me'\n    password '", "hunter2"),
    "first password of Jenkins": (
        "use the following password to proceed to installation:\n\n",
        "bd9627decc634ff4a5d5c2bbd2a7d9c1",
    ),
    "beside a service whose name has a word in it": ("statuspage_api: OAuth ", "89a229ce1a8dbcf9ff30430fbe35eb4c"),
    "counting, in a part": ("", "ethplorerSecretKey-1234567890abcDEFghIJkl"),
    "letters of a service": ("beamer = ", "b_ByDfulghxvvmHbArJSFfQhxemJPQHOwplxuydlKEEbfe"),
    "element of FileZilla": ("<User>me</User><Pass>", "superS3cret!"),
    "element of FileZilla, in base64": ('<Pass encoding="base64">', "aHVudGVyMmh1bnRlcjI="),
    "message to TrueNAS": (
        '"method":"auth.login_with_api_key", "params" : ["',
        "9-hTSZDBPyg0PjRZvWb8omoxJ7X2gAjRGmiPKql9ENGIUP9OPtEAzz5f6g9YIkQ3rB",
    ),
    "parameter of an address": ("jdbc:postgresql://db.example.com:5432/app?user=admin&password=", "s3cr3t"),
    "curl": ("curl -X POST -u admin:", "s3cr3t"),
    "curl, glued": ("curl -uadmin:", "s3cr3t"),
    "curl, a variable's name": ('curl --user "$ME:', "hunter2hunter2"),
    "netrc": ("machine example.com\n  login me\n  password ", "correcthorse"),
    "PowerShell": ('ConvertTo-SecureString "', "hunter2hunter2"),
    "argument": ('new NetworkCredential("me@example.com", "', "correcthorse"),
    "sentence": ("The default password is '", "Secret123"),
    "setting of a pass": ("SMTP_PASS=", "hunter2hunter2"),
    "key of a service": ("docparser_key=", "1a9f3c5b7d2e4f6081"),
    "key behind a blank": ("deepgram token ", "d3adb1ef12c45678a90deadbeef1237890dead"),
    "element": ("<password>", "hunter2hunter2"),
    "element of Jenkins": ("<secret>", "{AQAAABAAA 7f3kQ9zL2mX8vB4nT6wY}"),
    "list of passwords": ('passwords: ["', "hunter2"),
    "list in YAML": ("passwords:\n  - ", "hunter2"),
    "Docker": ('{"auths": {"registry.example.com": {"auth": "', "bWU6aHVudGVyMg=="),
    "cookie": ("Cookie: theme=dark; session=", "9f8a7d6c5b4e3f2a1b0c9d8e"),
    "cookie that is set": ("Set-Cookie: sid=", "a8F3kd92jfK3md8sPq1"),
    "MySQL": ("mysqldump -u root -p", "hunter2"),
    "PsExec": ("psexec \\\\host -u me -p ", "hunter2"),
    "option": ("Connect-Server -User me -Password ", "hunter2!"),
    "connection string": ("Server=db;User Id=me;Password=", "s3cret"),
    "Vault": ("Unseal Key 2: ", "1tZn+7QQCxphpHwTm7/dC3LpP5JGIbYl3PK8Sy81R+P2"),
    "comparison": ('if password == "', "hunter2.hunter2"),
    "shared key": ("PresharedKey = ", "uRsfsZ2Ts1rach4Zv3hhwcx6wa5fuIo2u3w7sa7j81="),
    "key that counts up": ("uploader_key = ", "abcdef1234567890"),
    "groups": ("licence token = '", "IZAT6SA-AJUQES1-BZWZYWJ-VDIXPVG"),
    "symbol of Ruby": (":password => '", "4fathers1234"),
    "beside a service": ("cloudsmith: '", "6fd00a2cfd7bbc51e1c4db6ac2f29d59629afd22"),
    "Facebook": ("access_token=", "123456789012345|AbCdEfGhIjK1MnOpQrStUvWxYz0"),
    "Kubernetes": (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: my-secret-name\ndata:\n  user: ",
        "YWRtaW4tdXNlcg==",
    ),
    "key of Django": ('SECRET_KEY = env("SECRET_KEY", default="', "d&lvybzry1*k+qq)=x-!=0yd5l5#1gxzk!82@ru25*ntos3_9^"),
    "setting with signs": ("export DB_PASSWORD=", "q&7Zk#p!x9$Lw=="),
    "setting with a remark": ("# APP_PASSWORD=", "whitehorse"),
    "name and value": ('<property name="sonar.login" value="', "9acf34ff1e738bcd6d5daf102a8cfcb8a158e44e"),
    "name and value in YAML": ("- name: SONAR_LOGIN\n  value: ", "9acf34ff1e738bcd6d5daf102a8cfcb8a158e44e"),
    "token as a name": ("git+https://", "9166e8318506a30d43d7a30c76a788fc0ad57a98"),
    "signed address": ("https://a.example.com/b?api-version=1&sig=", "r2h9kxq0LmT4vWzY7pQn3sBd"),
    "table": ("api_token |", "e9e0f062f587b423bb6cc6328eb786d75b45783e"),
    "long key": ("aiven Key = ", "yb+Ygm82FfUworm2exB+Uk255p0uQKmmfx4ut1KfsZ3YI3Gp2xPY" * 5),
    "escaped": ("API_KEY=", "WAgP6m4gYc1qe%2BHnjWAAF5HBKL%2Bi6kwrsbD"),
    "letters of both cases": ("swiftype token = '", "gnKLZPNGylpRrrJjiWeQ"),
    "sentence about a key": ("Your key is ", "2afddb813193eb9d3b5bd99bf5d834cd"),
    "token of a query": ("https://example.com/?access_token=", "aB3dE5fG7h"),
    "beside a service, in words": ("shutterstock token - '", "Wq8n3RtZ0pLx5YbA"),
    "beside a service, in an argument": ('getsmartsheet("', "k4TqzN8wYdGfHuRxB2mWvLpQs7cJe9A"),
    "beside a service, small letters": ("redhatthing ", "m3kqz81vhx0wpd7t2rcb9fyg5nls"),
    "glued to its service": ("", "refiner-7d1c2f0a-53be-4e1d-9a86-0c2f6b7e1d34"),
    "key in parts": ("session_token = '", "xW3_kq9T-Zb7+mN2_pL5"),
    "key behind its word": ("", "token_4f1c8a07d2b96e35a8c01f7d42be"),
    "hook": ("https://chat.example.com/hooks/", "k3xq9dzmwh5tb1vgr7npy2fjc8"),
    "hook of a UUID": ("https://x.example.com/webhook/", "7d1c2f0a-53be-4e1d-9a86-0c2f6b7e1d34"),
    "key as the end of an address": ("https://main.example.io/v3/", "7f3c9a1e5b2d8046c7e1f09a3b5d2c84"),
    "password with an @": ("https://me:", "Dr@gon%flies"),
    "variable for a name": ("https://{user}:", "hunter2+hunter2"),
    "short password in quotes": ("password = '", "cack1e"),
    "short password with a sign": ('"password": "', "dkaj!o"),
    "short name of a password": ("$pass = '", "`123QWERasdf"),
    "passcode": ("passcode: ", "hunter2hunter2"),
    "quotes of HTML": ("<a title='your password: &quot;", "g1re0gPa5w0Rd"),
    "quotes of HTML around a token": ("https://example.com?token=&quot;", "g1re0g1T0keN3zWx"),
    "element with attributes": ('<password name="password">', "hunter2hunter2"),
    "option for a token": ("tool deploy --token ", "AIhq5Xyb1Gga9Q5"),
    "option for a passphrase": ("gpg --passphrase ", "N1DdkUD3E73"),
    "option for a bearer, in quotes": ("curl --oauth2-bearer '", "eZs2fjkjD8hUcsQ37b8zHig=="),
    "PowerShell, by its option": ("ConvertTo-SecureString -AsPlainText -Force ", "dsjUE#8gds8s"),
    "header of another scheme": ("Authorization: NTLM ", "TlRMTUAAABABoITVNIAAZI1AQBuOh4cSAQ8B1A="),
    "cookie of a session": ("Cookie: theme=dark; session=", "xyz1234"),
    "name of an address with a sign": ("https://me%40example.com:", "pass%3Aw0rd"),
    "kind of its service": ("keys = ['", "acme_live_KQI2pIpqzh1Nv2ZXfJBqUJItqo"),
    "row of Laravel": ("sent 49|", "07KJBwfPzF2ESyNui5yBw9OVB6eWj0iXkssEKC7b"),
    "product key": ("Activation key : ", "ZAQWS-XCDER-VBGTR-FRTGU-KLMNX"),
    "private key in base64": (
        "client: ",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQpNSUlFdlFJQkFEQU5CZ2txaGtpRzl3MEJBUUVGQUFTQw==",
    ),
    "JWK": ('{"kty":"EC","crv":"P-256","x":"AAAAAAAAAAAAAAAAAAAAAAAA","d":"', "slaQyyHQPudOpq2mbDskum8rKqLwT7Vt5Jc"),
    "Tink": (
        '{"keyData":{"typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmKey","value":"',
        "GiBWyUfGgYk3RTRhj/LIUzSudIWlyjCftCOypTr0jCNSLg==",
    ),
    "value of a name in YAML": ("- name: DB_PASSWORD\n  value: ", "hunter22x"),
    "value of a name in JSON": ('{"name": "RABBITMQ_PASSWORD", "value": "', "pass#word"),
    "call with a name": ('new PSCredential("me", "', "doodle_BLOB1"),
    "call with a name behind an address": ("DriverManager.getConnection(url, 'me@example.com', '", "PASSw0rd_5"),
    "pair of a request": ("requests.get(url, auth=('me', '", "hunter22"),
    "kind of a key": ("", "photos_sk_7d1c2f0a53be4e1d9a860c2f6b7e1d34"),
    "beginning of its own": ("", "acme_pro_Wq8n3RtZ0pLx5YbA7kTzN1wYdGfHuRx"),
    "beginning with a sign": ("", "acme-Wq8n3RtZ0pLx5YbA7kTzN1wYdGfHuRx"),
    "secret key of a service": ("", "sk_pr_mykey_7d1c2f0a53be4e1d9a860c2f6b7e1d34"),
    "typed in Scala": ('val password: String = "', "exord13Paw64"),
    "typed in Python": ("def f(password: str = '", "q4c1a2oPd"),
    "macro": ('#define password "', "n84ASM54y4"),
    "batch file": ('SET password "', "n83.bat47Fy4"),
    "beside an id": ("ID:master,PW:", "dipPr10Gg!"),
    "short name without quotes": ("my_pw: ", "nCzx8A8#!"),
    "option of libcurl": ('setopt(curl, CURLOPT_USERPWD, "root:', "dkb82VddSD"),
    "array of C": ('char password[255] = "', "hunter2x9"),
    "array of C without a size": ('static const char api_key[] = "', "hunter2x9k3"),
    "index of Ruby": ("config[:password] = '", "hunter2x9"),
    "template of JavaScript": ("const password = `", "hunter2x9k"),
    "arrow of Scala": ('Map("db.password" -> "', "hunter2x9"),
    "arrow of Scala, a token": ('"token" -> "', "a8F3kd92jfK3md8sPq1"),
    "name joined with pass": ("dbPass: '", "hunter2x9"),
    "misspelled": ("PSSWORD = ", "x7k2-m9q4"),
    "PowerShell, with a dollar": ("ConvertTo-SecureString -String '", "D$oodle3333"),
    "other quotes within quotes": ("jwtsecret: '", '7D"}/vYR)T;W5]EBrf;_&k>qX??'),
    "escaped sign": ("https://example.com?u=x%26token%3D", "h1d3Me4ch534d801sl3jdk"),
    "bare in SQL": ("echo CREATE USER me IDENTIFIED BY ", "SqLpa5sW0rD"),
    "letters of both cases without quotes": ("service_key=", "gnKLZPNGylpRrrJjiWeQ"),
    "sshpass": ("sshpass -p ", "hunter2"),
    "sshpass, quoted": ("sshpass -v -p '", "hunter 2 hunter"),
    "Redis": ("redis-cli -h db -a ", "hunter2"),
    "login of a registry": ("docker login -u me --password=", "hunter2!"),
    "htpasswd": ("htpasswd -cb /etc/users me ", "hunter2"),
    "LDAP": ("ldapsearch -x -D cn=me -w ", "hunter2"),
    "bindpw": ("bindpw ", "hunter2"),
    "archive": ("zip -r -P ", "hunter2"),
    "Samba": ("smbclient //host/share -U me%", "hunter2"),
    "openssl": ("openssl rsa -in k.pem -passin pass:", "hunter2"),
    "sudo": ("echo ", "hunter2"),
    "mask of a workflow": ("::add-mask::", "hunter2hunter2"),
    "user of SQL": ("CREATE USER me IDENTIFIED BY '", "hunter2"),
    "role of SQL": ("ALTER ROLE me WITH ENCRYPTED PASSWORD '", "hunter2"),
    "named argument": ('props.put("db.password", "', "hunter22"),
    "definition of PHP": ("define('DB_PASSWORD', '", "hunter22"),
    "setter": ('source.setPassword("', "hunter2"),
    "block of YAML": ("password: |\n  ", "hunter2hunter2"),
    "wireless": ('psk="', "hunter2 hunter2"),
    "pgpass": ("db.example.com:5432:app:me:", "hunter2"),
    "Oracle": ("jdbc:oracle:thin:scott/", "tiger22"),
    "basic alone": ("sends Basic ", "bWU6aHVudGVyMg=="),
    "wallet": ('MNEMONIC="', "legal winner thank year wave sausage worth useful legal winner thank yellow"),
    "sentence in a setting": ('export DB_PASSWORD="', "correct horse 9 staple"),
    "option in quotes": ("Connect-Server -Password '", "hunter2"),
    "JSON within JSON within JSON": ('{\\\\\\"api_key\\\\\\": \\\\\\"', "7f3kQ9zL2mX8vB4nT6wY"),
    "address signed for a bucket": ("https://b.example.com/k?X-Amz-Signature=", "9f8a7d6c5b4e3f2a1b0c9d8e7f6a5b4c"),
}
"""The text before a secret, and the secret."""
AFTER = {
    "random parts that a dot joins": '"',
    "the first token": '"',
    "an element with blanks around what it holds": "  </password>",
    "the key that signs": '"',
    "the element of a key that lets in": "</authKey>",
    "the element of whoever logs in, at random": "</login>",
    "a key that is not public": "'",
    "an address with a backslash in it": "@example.com/",
    "a header in base64 before a quote": '"',
    "password behind an address of mail": "@smtp.example.com:465",
    "token as a user of curl": ": https://example.com",
    "variable of Terraform": '"\n}',
    "short key of a service": "'",
    "default of a setting": "'",
    "URL password": "@db/x",
    "password in quotes": '"',
    "client secret": "'",
    "token of a query": "&x=1",
    "beside a service, in words": "'",
    "key in parts": "'",
    "password with an @": "@db/x",
    "password with a dollar sign": "@broker:5672/production",
    "Gradle": "'\n}",
    "element of FileZilla": "</Pass></Server>",
    "element of FileZilla, in base64": "</Pass>",
    "parameter of an address": "&ssl=true",
    "variable for a name": "@db/x",
    "key of Django": '")',
    "sudo": " | sudo -S ls",
    "sshpass, quoted": "' ssh host",
    "user of SQL": "';",
    "role of SQL": "';",
    "option in quotes": "'",
    "named argument": '");',
    "definition of PHP": "');",
    "setter": '")',
    "Oracle": "@db:1521",
    "JSON within JSON within JSON": '\\\\\\"}',
    "setting with a remark": "  # the demo's",
    "name and value": '" />',
    "token as a name": ":x-oauth-basic@github.com/acme/repo.git",
    "signed address": "&sv=1.0",
    "letters of both cases": "'",
    "sentence about a key": ", which you need.",
    "password of a query's address": "@db/x",
    "curl, a variable's name": '"',
    "sentence": "'",
    "element": "</password>",
    "element of Jenkins": "</secret>",
    "list of passwords": '"]',
    "cookie that is set": "; Path=/; HttpOnly",
    "connection string": ";Database=db",
    "symbol of Ruby": "'",
    "groups": "'",
    "beside a service": "'",
    "element with attributes": "</password>",
    "short password in quotes": "'",
    "typed in Python": "')",
    "PowerShell, with a dollar": "'",
    "other quotes within quotes": "'",
    "option of libcurl": '")',
    "call with a name behind an address": "')",
    "pair of a request": "'))",
    "short name of a password": "'",
    "index of Ruby": "'",
    "template of JavaScript": "`",
    "name joined with pass": "'",
    "name of an address with a sign": "@host/",
    "quotes of HTML": "&quot;'>",
    "quotes of HTML around a token": "&quot;",
    "Kubernetes": "\ntype: Opaque\n---\nkind: ConfigMap\ndata:\n  user: administrator\n",
}
ORDINARY = [
    "r.K8SAuthRoleName = o.K8SAuthRoleName",
    """$this->dsn .= "password='".$this->password."' ";""",
    '<button aria-label="Toggle section" aria-controls="block-11111111-1111-1111-1111-111111111111-body">',
    '"first_key" = "9E858021-953F-4DD3-8842-F2C782780422", "second_key": "D55D0E1E-51D9-4BCE-9021-7D201906D3C0"',
    'curl -H "Authorization: Bearer mytoken_…" https://example.com',
    '{"crv": "Ed25519", "x": "k9of_cpAajy0poW5gaixXGs9nHkwg1AFqUAFb38dyCd"}',
    '"encrypted_key": "pQMVA9_PtoRe7xXW1139NzzN1UhiFoio8lGto9cf0t8PyU-sjNXH8"',
    'header("Authorization", "Bearer token123")',
    'kSecret="AWS4$AWS_SECRET_ACCESS_KEY"',
    '{settings.S3.Secret, "new_s3_secret"}',
    'header("Proxy-Authorization: Digest username=\\"%s\\", realm=\\"%s\\"")',
    '{"password": "#/definitions/afterDefaultLogin2"}',
    "https://example.com/?login_challenge=8aadcb8fc1334186a84c4da9813356d8",
    "let secret: Uint8Array\n",
    "password = google_oauth2_access_token\n",
    "Authorization: Basic aW52YWxpZA==",
    f'cluster_auth_base64 = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUM{"1ekNDQWMr" * 6}="',
    "key_identifier=NqVwYS81VP7Hb1DX8pPd",
    'variable "ssh_key_type" {\n  default = "ed25519"\n}',
    "const authorization = await request.eip1559signer.authorize({ nonce })",
    "use keys::{Ed25519SecretKey, Ed25519Signature, KeyError};",
    "BackupSecrets, SigningSecrets, LegacyBackupV1Curve25519AesSha2Secrets, Export",
    "Warning::ThisIsATop10Password => Self::ThisIsATop10Password,",
    "login(auth, s.regV2WithAuth.url)",
    'tool("--creds="+s.regV2WithAuth.username+":"+s.regV2WithAuth.password, url)',
    '"sender_key": "Kq7mdWZOjr9c4NTlG6zV8dbFtNK79q9vZADoh7nMUwB",',
    'assert_eq!(authority_key_identifier, "7G6Rmhfww1sT23VCfSE3mt8+lhF");',
    'tokens: { access_token: "token123", csrf_token: "app4jCsrfToken" }',
    "curl https://example.com -u name:pass --user some_username:some_password",
    'NewUsernamePasswordCredential("tenant", "client", "username", "password", nil)',
    'keyring.add_credential("http://example.com/path2/", "saved-user1", "pw1")',
    "see ZXlKMWMyVnlJam9pYldVaUxDSjJaWEp6YVc5dUlqb3hMQ0p1WVcxbElqb2lZU0o5",
    'SECRET_KEY = "change-me"',
    "if password1 and password1 == password2:",
    '<string name="authors">Тәрҗемә</string>',
    '<string name="mail_oauth_sign_in">Соединить</string> <string name="token_missing">Схема</string>',
    "<authentication>OAuth2</authentication> <auth-type>CRAM_MD5</auth-type>",
    '<item name="chosenTokenColor">#3a31f1</item>',
    'redirect = "msauth://org.example.mail/S9nqeF27sTJcEfaInpC%2BDHzHuCY%3D"',
    "imap://auth:user:password@server:port or smtp+tls+://user:password:auth@server:port",
    'oauth_nonce="kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", oauth_signature="tnnArxj06cWHq44gCs1OSKk%2FjLY%3D"',
    "input[type=password]:focus.valid+label:after,input[type=email]",
    'CONTACT_LOOKUP_KEY = "0r1-4F314D4F2F294F29"',
    'secret_id: "arn:aws:secretsmanager:us-east-1:xxxxxxxx:secret:my_container-d07f0c4-N3OSrw"',
    "<Future: status: pending, type: int, key: sum-b8aaf26b99466a7a1980efa1ade6701d>",
    "<Actor: Clock, key=Clock-afa1cdfb6b4761e616fa2cfab42398c8>",
    "reply.send({ public: 'ok', secret: 'MUST_BE_HIDDEN' })",
    '"password": "Has\\u0142o", "secret": "\\u041f\\u0430\\u0440\\u043e\\u043b\\u044c"',
    "$clientSecret = 'RANDOMLETTERS-----lGyjPcRtvP';",
    "auth_http.ssl_options.ciphers.3 = ECDHE-ECDSA-AES256-SHA384",
    'io_lib:format("amqp://~ts:~ts@~ts:~b", [User, Password])',
    "access_key = NewState#state.access_key,",
    "sesAccessKey = TE.encodeUtf8 $ accessKey key,",
    '{mapping, "ssl_options.password", "amqp10_client.ssl_options.password", []}',
    "VALUES ('authors', '20260108212324166', now())",
    """VALUES ('auth', '20260108212324166', now()) ON CONFLICT ("module")""",
    '"~:key": "1xox30r6xkg",',
    '"key": "10rq28ntdbm"',
    'createElement("label",null,"Password:"),e?p.createElement("code",null," ******")',
    "jwtHmacSha512PrivateKey: 'JWT_HMAC_SHA512_PRIVATE_KEY_TEST'",
    "accessKey: config!.accessKey,",
    "by the foreign key `_longImplicitIdFieldCollectionThisfieldisexactly61charact0008Id` of it",
    """'The "$key" must be a quoted string (e.g., "$key"="550e8400-e29b-41d4-a716-446655440000").',""",
    "this.clientSecretKey = 'client_secret',",
    "Set-Cookie: session=hmac-sha256(base64(json($session)))",
    "https://fonts.example.com/s/thailooped/v12/tss_AoJJRAhL3BTrK3r2xxbFhvKfyBB6l7hHT30LxBKAoFGo.ttf",
    '<td class="secret">PERCIVALSECRET01</td>',
    "</clients?page_size=50\\u0026page_token=eyJvZmZzZXQiOiI1MCIsInYiOjJ9\\u0026per=1",
    "nextPageToken: eyJvZmZzZXQiOiI1MCIsInYiOjJ9",
    "secret2 := *rotated1.ClientSecret",
    '"access_token": "2022-08-25T09:26:05Z",',
    "MAILER_DSN=gmail+smtp://USERNAME:APP-PASSWORD@default",
    "MAILER_DSN=mailgun+https://KEY:DOMAIN@default?region=REGION",
    "MAILER_DSN=ses+https://ACCESS_KEY:SECRET_KEY@default?region=REGION",
    "DSN=twitter://API_KEY:API_SECRET:ACCESS_TOKEN:ACCESS_SECRET@default",
    "DSN=ntfy://[USER:PASSWORD]@default[:PORT]/TOPIC",
    "yield ['sinch://accountSid:authToken@host.test?from=0611223344'];",
    "yield ['linkedin://accessToken:UserId@host.test'];",
    "yield ['vonage://apiKey:@default?from=0611223344'];",
    "redlink://aaaaa:bbbbbb@default?from=TEST",
    "'https://untrusted.com:80?@trusted.com/' => [",
    "$_ENV = ['secretKey' => 'newSecretValue'];",
    "secret: '!SENDGRID_VALIDATION_SECRET!' # Leave blank",
    "public const INVALID_PASSWORD_ERROR = '2d2a8bb4-ddc8-45e4-9b0f-8670d3a3e290';",
    "new SesSmtpTransport(self::USER, self::PASSWORD, 'eu-west-1', null)",
    '"en_PW": "en_001",',
    '"X-Mandrill-Signature": "Mjask0i0giC/nEAYZrt6sX6JF2M="',
    "'expectedKey' => 'en_GB.messages.099584009f94b788bd46580c17f49c0b22c55e16',",
    f"private const SECRET = 'MIGeMA0GCSqGSIb3DQEBAQUAA4GMADCBiAKBgHH{'kq7Z3xQ9' * 8}AQAB';",
    'assert!(credentials.contains("secret-key = \\"k3.secret."));',
    "token[:password] = params[:password]",
    "const password = `${user}2hunter9`",
    "it('compass = \"n0rth.west\"')",
    f'"RemoteRepositoryKey" : "{"92E86429DF370BECD7A1" * 2}",',
    '"BlueprintIdentifierKey" : "F3078953-4758-46C3-AC3D-87FEF88956AF",',
    '"assetToken": "Purple3/v4/21/7f/ee/217feee2-0557-162b-9a41-0c3d7b8e5f12/mzl.vbwofbqp.png",',
    "    clientSecret: process.env.AUTH_SAILPOINT_SECRET!,",
    "  clientSecret: env.AUTH_AZURE_AD_B2C_SECRET,",
    " *       clientSecret: AUTH0_SECRET,",
    "      s3_access_key: s3_access_key,\n      s3_secret_access_key: s3_secret_access_key,",
    "    password = fetch_password!(params)\n    password = fetch_password!",
    "  sessionToken: result.session.sessionToken!,",
    "  password = this.#auth.loginPassword,",
    'AuthPlugin::Sha256Password => "sha256_password",',
    'expect(mode).toBe("reverse:https://example.com:8085@localhost:8082");',
    f"resolution: {{integrity: sha512-ZDi3aP+{'fG2Lchy7' * 5}+ACDb3kQ9xZ+w==}}",
    "key = decode(blob, passphrase,\n             rsapkcs1privkey, rsapkcs8privkey)",
    'if(!strcmp(name, "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com") ||',
    'if(!strcmp(name, "sk-ssh-ed25519-cert-v01@openssh.com"))',
    '<a name="jws-key-create-secret">++++++</a>',
    "RSAPrivateKey privateKey = TestKeys.RS256.pair.private as RSAPrivateKey",
    "OS_AUTH_TYPE=v3applicationcredential",
    "type Identifier struct {\n\tlogin    string\n\tpassword string\n}",
    'expected: `some: missing password: "example.org:"`,',
    'WithRegexp("Authorization",\n    `JDCLOUD2-HMAC-SHA256 Credential=abc123/',
    'provider.zoneIDs[token] = "e74d0d15-f567-4b7b-9069-26ee1f93bae3"',
    'const dumpAccessKey = "SCWXXXXXXXXXXXXXXXXX"',
    'ClientToken: "akab-xxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx",',
    'EnvAPIToken: "00000000000000000000000000000000000000000000000000",',
    'token: "00000000-0000-0000-0000-000000000000",',
    '"token": "a1b2c3d4e5f6..."',
    'config.APIKey = "example@example.com"',
    '"privateKey": "fixtures/certs/localhost/key.pem",',
    '"UserPasswordChanged": "Il-password għall-utent {0} inbidlet",',
    "public void GetMediaInfo_ProgressiveVideoNoFieldOrder2_Success()",
    '"password": "Salasana", "secret": "Hemmelighet", "pass_phrase": "Mot-de-passe"',
    "forget_password=Zapomněli jste heslo?",
    "auths.bind_password=Contraseña",
    "two_factor_or_enter_secret=或者直接输入密钥：",
    "enter_passcode=2段階認証用パスコードを入力",
    '{"password": "Lösenord", "reset_password": "Скидання пароля"}',
    "password=Wachtwoord",
    "u.totp_secret = ROTP::Base32.random",
    'cookie_secret="__TODO:_GENERATE_YOUR_OWN_RANDOM_VALUE_HERE__",',
    "public function test_userinfo_endpoint_response_with_invalid_content_type_throws()",
    "'password' => 'パスワードは6文字以上である必要があります。',",
    "'users_password' => 'Benutzerpasswort',",
    "'content' => 'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAIAAAACDbGyAAAACXBIWXMAAAsTAAALEwEAmpwYAAAA'",
    "attrs = {:generate_password => @user.generate_password}",
    "'POST /account/lost_password' => 'account#lost_password'",
    "$url .= '?access_token='.config('app.mapbox_api_key');",
    "<google-cloud-iamcredentials.version>2.60.0</google-cloud-iamcredentials.version>",
    f"https://api.example.com/repos/dot-access-data/zipball/{'a23a2bf4f31d3518f3ec' * 2}",
    f'"url": "https://gitee.example.com/hooks/commit/{"ac63b9ba95191a1bf79d" * 2}"',
    f'"hostKey": "AAAAB3NzaC1yc2EAAAADAQAB{"Gf8kQ2mZ" * 8}"',
    "case oauth2client.FieldSecret, oauth2client.FieldName, oauth2client.FieldLogoURL:",
    "ssh-private-key: '/home/user/.ssh/id_rsa'",
    'case "${MVNW_PASSWORD:+has-password}" in',
    '"--delete-gpg-key=ABCD1234ABCD1234", "-y"',
    "# Begins the login with password\nargocd login --password YOUR_PASSWORD",
    'kind: Secret\nstringData:\n  type: "postgresql"\n  host: "demo-db"\n',
    "PASSWORD: 0x0002000,",
    'password: "urn:k8s:secret:redis:password1"',
    "db_password: arn:aws:secretsmanager:us-east-1:123456789012:secret:prod/db1",
    '- "traefik.redis.password=words-of-it",\n- "traefik.ratelimit.redis.db=2",',
    "apiVersion: v1\nkind: Secret\ndata:\n  tls.crt: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==\n  ca.crt: VEVTVFJPT1RDQVMw\n",
    "clause(fun elixir_erl_pass:translate_args/3, Args)",
    "System.String, mscorlib, Culture=neutral, PublicKeyToken=b77a5c561934e089]",
    "return ['password' => 'required|confirmed'];",
    "$casts = ['secret' => 'encrypted'];",
    'Credential(refreshToken: "a\\(refreshCount)")',
    'url."https://YOUR_USER:YOUR_PASS@example.com/"',
    "sshpass -p $PASSWORD ssh host",
    "docker login -u me -p PASSWORD registry.example.com",
    "redis-cli -a <password>",
    "echo $PASSWORD | sudo -S ls",
    "echo password | sudo -S ls",
    "zip -r a.zip b -x '*.pyc'",
    "openssl rsa -passin pass:$PASS",
    "CREATE USER me IDENTIFIED BY 'password'",
    "ALTER ROLE me PASSWORD NULL",
    'parser.add_argument("--password", "-p")',
    '("client_secret", "client_secret_post")',
    'getPassword("db2")',
    "hash_password('hunter22')",
    "password: |\n  the password of the user\n",
    "Basic configuration of the library",
    "app.py:12:name:other:E501",
    "mnemonic: a word that stands for an instruction of the machine, as ADD",
    'PASSWORD="Your password of 8 letters"'.replace("8 ", ""),
    "Connect-Server -Password 'password'",
    "password = getpass.getpass()",
    "password=self.password,",
    "    password=password_value,",
    "    token: Optional[AccessToken] = None",
    "api_key=os.environ['API_KEY']",
    'headers = {"Authorization": f"Bearer {token}"}',
    'password = "********"',
    'secret = "${SECRET_FROM_ENV}"',
    'response["next_token"] = "next_marker"',
    'PASSWORD_FIELD = "password_field"',
    '"arn:aws:secretsmanager:*:*:secret:redshift!*"',
    "url = 'http://user:password@example.com/'",
    "PWD=/home/me/project1",
    'if line == "-----BEGIN RSA PRIVATE KEY-----":',
    '.sk-fading-circle-with-a-long-name { animation: "sk-fading-circle-with-a-long-name" }',
    "task-2026-11-21-with-a-long-name",
    "the bearer authentication-scheme-of-old",
    "c.eyJ.d",
    "curl -u $USER:$PASSWORD https://example.com",
    "kind: ConfigMap\ndata:\n  user: YWRtaW4tdXNlcg==\n",
    "kind: SecretList\n  data: none",
    "first_pass = second_pass_of_all",
    "FIRST_PASS = second",
    "https://example.com/login?user=me&password=PASSWORD",
    "x = a;password=b1",
    "<Pass/><PassThrough>x1y2z3</PassThrough>",
    "    FIRST_PASS=inlining",
    "url = 'amqp://$USER:$PASS@host/'",
    "pa-button-of-the-first-row-in-a-long-form-2026",
    "the password is 'forgotten'",
    "cache_key = sha256_of_the_1st_file_of_2",
    "key d41d8cd98f00b204",
    "commit_hash key=d41d8cd98f00b204e9800998ecf8427e",
    "login me password is",
    "r'http://%s:%s@host'",
    'PasswordAuthentication("user", get("password"))',
    "cost $1$2, $2a$05$",
    "<password>password_of_the_user</password>",
    "<secret>${SECRET}</secret>",
    "passwords = [first, second]",
    '"auth": "bm9jb2xvbg=="',
    "Cookie: theme=dark; lang=en",
    "mysql -u root -p",
    "mysql -h example.com --port=3306",
    "psexec is no program of ours -p ",
    "--password password_of_mine",
    'if password == "forgotten":',
    "a.password=b.other;c=d",
    "the recovery key is lost",
    'pairs = ["tokens", "symbol2label"]',
    "key = 'abcdefghi'",
    "cloudsmith: packages-of-every-kind",
    "api_key=get_key(of_user)",
    '"AWS::KMS::Key": "2b447c471bc70388",',
    "TOKEN=$(cat ./token-of-2026) && export TOKEN",
    "MLKEM768X25519PublicKey = rust_openssl.hpke.MLKEM768X25519PublicKey",
    "key = toUTF8StringAsIsOrNothing",
    "https://name-of-a-user-2@example.com/",
    "x = '?sig=signature-of-the-caller'",
    '{"name": "token_count", "value": 1234567890123}',
    "spotify_id = '4kT7Rz0vQmYb2WnXcL9dEh'",
    '[cleared: view reddit.py; about 246 tokens, 15 lines; the whole: page(handle="qX7Zk2Wp9TrJ4mGs8LnB3v")]',
    "bitly.json is kept: penstock page qX7Zk2Wp9TrJ4mGs8LnB3v",
    'spotify = {"handle": "qX7Zk2Wp9TrJ4mGs8LnB3v"}',
    '{"name": "spotify", "id": "call_9pw0hmEIZ2JBQz5Tn5nXwJtF"}',
    '{"app": "spotify", "trace": "4bf92f3577b34da6a3ce929d0e0e4736"}',
    "bitly at the commit 3f1c8a07d2b96e35a8c01f7d42be9a64c3d5e7f1",
    "bitly: see 3f1c8a07d2b96e35a8c01f7d42be9a64c3d5e7f1",
    "virustotal sha256: 3f1c8a07d2b96e35a8c01f7d42be9a64c3d5e7f13f1c8a07d2b96e35a8c01f7d",
    "pinterest boards of the first 100 users, and 25 more",
    "https://example.com/v2/objects-of-the-caller-and-its-friends",
    "https://example.com/v2/7f3c9a1e5b2d8046c7e1f09a3b5d2c84/items",
    "https://example.com/hooks/of-the-first-kind-and-the-last",
    "def test_key_of_the_2nd_user_and_of_the_3rd_is_none():",
    "https://REDACTED:REDACTED@www.example.com/",
    "const UNEXPECTED_TOKEN = /^Unexpected token/i",
    "&lt;protocol&gt;://[&lt;user&gt;[:&lt;password&gt;]@]&lt;hostname&gt;",
    "integrity sha512-AP1QyUTbi2szylgr+O0OB7gkIxEG",
    "golang.org/x/oauth2 v0.36.0 h1:peZ1z27fi9hUOFCAZaHyrpWG5lwe0RJEEEeH0ThlIs=",
    'const std::string& token = "mt19937"',
    "tool deploy --token TOKEN_OF_2026",
    "tool --secret name-of-the-secret-2",
    'ETCD_INITIAL_CLUSTER_TOKEN: "etcd-cluster-1"',
    "#define sz_xXF86OldVidModeSwitchToModeReq 36",
    '{"id": "toolu_01XFDUDYJgAACzvnptvVoYEL", "call": "call_9pw0hmEIZ2JBQz5Tn5nXwJtF"}',
    '{"id": "msg_67ccd2bf17f0819081ff3bb2cf6508e60bb6a6b452d3795b"}',
    "sk_ssl_cipher_get_version_of_the_2nd_connection",
    "--- PASS: TestLogin2Fa (0.00s)",
    "pass: 12 tests!",
    "password: str = make_password_2",
    "token: AccessToken = AccessToken('of-the-2nd-user')",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    '"key": "Linux-node-958aff96db2d75d67787d1e634ae70b659de937b"',
    "integrity: sha512-2nYAuPovhv7EUhk69R6i9dsVyzxt5eM3bjwvgk9L+APE1TRscGysAVMANkB0jh0LQZrQ==",
    "Authorization: token ████████████████████",
    "Authorization: token ••••••••••••",
    "pass = 'forgotten'",
    '{"name": "password", "value": "required_field"}',
    "- name: PASSWORD\n  value: $(PASSWORD)",
    'HTTPBasicAuth("user", "password")'.replace("HTTPBasicAuth", "authenticate"),
    "bypass = 'x1y2z3a4'",
    "Cookie: session=none; lang=en_GB2",
    '{"kty":"RSA","n":"slaQyyHQPudOpq2mbDskum8rKqLwT7Vt5Jc","e":"AQAB"}',
    "live_view_of_the_1st_page_and_the_2nd",
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUN5RENDQWJDZ0F3SUJBZ0lCQURBTkJna3Foa2lH",
    "12|3f1c8a07d2b96e35a8c01f7d42be9a64c3d5e7f1",
    "the token of request 3f1c8a07d2b96e35a8c01f7d42be9a64c3d5e7f1",
    "A" * 130 + "AKIAIOSFODNN7EXAMPLE" + "A" * 40,
    "-----BEGIN RSA PRIVATE KEY-----\n" + ("X" * 64 + "\n") * 3 + "-----END RSA PRIVATE KEY-----",
    "const char *proxyuserpwd = libtest_arg4;",
    "token2.refresh_token = token1.refresh_token",
    "expect { first_token = authorization.issue_token! }",
    "curl --pinnedpubkey 'sha256//ce118b51897f4452dc' $URL",
    'Url("https://google.com:80\\@yahoo.com/")',
    "words of curl\nset-up:setup",
    "curl --ech true\ndoh-url=https://one.one.one.one/dns-query",
    'Authorization: Digest username="testuser", realm="testrealm"',
    "fail_unless(!!exp_password == !!passwdstr)",
    'nkey: "UCNGL4W5QX66CFX6A6DCBVDH5VOHMI7B2UZZU7TXAUQQSI2JPHULCKBR"',
    "password: process.env.TEST_USER2_PASSWORD,",
    "you can use the following GPG key: 4F2B7C1A9D3E58C06A1BE47D05F9283C6E1D7A90",
    "AuthMethod::OrgApiKey => \"api.organization\".to_owned(),\nconst DATA_API_KEY = '.data-api';",
    'assertIO(HmacSha1.generate(Input, SecretKey), "kqkB7wHz6yxNYVG9hnPsHE5gWHp=")',
    '"BACKUP_TEST_S3_PASSWORD",\n"BACKUP_TEST_S3_REPOSITORY",',
    "--proxy socks5h://[username[:password]@]hostname[:port]",
    "secret = state.es512.jwk\n",
    'client = AsyncClient(api_key="test-key")',
    'private_key = "-----BEGIN"',
    '"Authorization: Bearer api_key_here"',
    'headers={"Authorization": "Bearer secret-token"}',
    'secret_key: "Optional[str]" = None',
    'dsn = "https://97333d956c9e40989a0139756c121c34@o1.ingest.sentry.io/1"',
    "<<secret::16-bytes, rest::binary>>",
    "uint8_t secret_key0 = uu____0.snd;",
    '"sha3_256_hash_of_signing_key": "af98fdf9fd9bcf1f44c424a15c54a0dd26073f26bfdb32c19c8cbbcdc3c548ba",',
    "self::generate($password, 'Argon2id', 8192, 13, $salt)",
    "$type = isset($key['privateKey']) ? 'privateKey' : 'publicKey';",
    '$secret = "\\0$secret";',
    "'at-challengePassword' => '1.2.840.113549.1.9.7',",
    "$key = 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAErPJyxEu2oKCrJaaTVTrq39DKJ2XcN6W+k8Uv==';",
    f"$key = '3082020a0282020100d595c09fbc635612b3ef6a0c9d1e{'8f3b7a2c' * 8}';",
    f"{'MIIFazCCA1OgAwIBAgIRAIIQz7DSQONZRGPgu2OCiwAwDQYJKoZIhvcNAQELBQAw'}\nha88EOQ5bzVdSq7d6mGNlUn0b2SjGmBmpKlAIoTZ1KXleJMOaAGtuU1cOs7TuKhC\n",
    "bitcoinaverage secret\n    secret = name_of_the_secret_2\n",
    "texts['password'] = 'some_name'",
    "assert event['password'] == \"'[Filtered]'\"",
    "define('AUTH_KEY', 'put your unique phrase here');",
    'body+="&client_secret="+encodeURIComponent(i)),body+="&token_type="',
    "secret = fixtures.hs384_secret",
    '"invalid_token" => v3::Code::InvalidToken,',
    "let tenant_token = hashmap! {",
    '"searchApiKey": "http://localhost:7700"',
    '"searchApiKey": 1204664602099962445u64,',
    'headers.add("Proxy-Authorization", "AWS4-HMAC-SHA256 bar")',
    "oauth_token:x-oauth-basic@",
    "|checksum:4b1d4e08d911a410c6ef0314ca897a1e73abb8757707cc9f0766edc6a4c47e92,",
    "https://example.com/api/v2/logs?dd-api-key=pub852fa3e2312391fafa5640b60784e660&ddsource=csp",
    "http.proxy_pass = @proxy_pass",
    'source = "http://username:SECURE_TOKEN@example.com"',
    'headers: [.authorization: "Bearer forbidden"]',
    "val refreshToken = current.refresh_token!!",
    "see https://github.com/private-octopus/picoquic/blob/be0d99e6d4f8759cb7920425351c06a1c6f4a958/picoquic/tls.c#L6",
    'encode(username, password, "ISO-8859-1")',
    'access_token: "access_token_123", secret_access_key: "some-secret-key1"',
    'apiKey: "test-api-key-123", apiToken: "dev:1234-token"',
    "static ref STARTING_TOKEN: AtomicU64 = AtomicU64::new(0)",
    'secret = "otpauth://totp/"',
    "base-passwd 3.5.44",
    "K-no-ask-password 4-kill-who",
    "a synonym for `--passphrase dev:stdin-once`",
    "openssl pkcs12 -export -password pass:${PASSPHRASE}",
    'SECRET_KEY = "replace-this-please"; password: "CUSTOM_PLACEHOLDER"',
    'const name = isPasscode ? "passcode" : "recovery_code";',
    'temp_password = "p#{SecureRandom.uuid[0..7]}"',
    "/etc/passwd: 429b225650b912a2ee067b0a4cf1e949",
    "GPG_SERVER_KEY_FINGERPRINT=2FC8945833C51946E937F9FED47B0811573EE67E",
    '["password", "request.auth.awsv4.accessKey"]',
    "// focus on login or password control based on whether",
    "api.addUser('me', 'password', 'userlogin2@example.de')",
    "%% dashboard_token:resolve_admin_key/1. Plain lookup",
    "bad_username_or_password => ?SN_RC2_NOT_AUTHORIZED",
    "'aro_foreign_key' => 'c9c8fd8e-a0fa-53f0-967b-42edca3d91e4'",
    'resetPassword = "auth/reset_passwd"',
    "if (key->type() != FileKey::KeePass2XMLv2 && true)",
    '@override_settings(SECRET_KEY="test-secret")',
    "discord = 313718820753100828",
    "curl -F from='Me <mailgun@sandbox7dbc123bccd4314c0aae8b23599d35f5b6.mailgun.org>'",
    "SENTRY_DSN=https://0123456789abcdef0123456789abcdef@sentry.io/12345",
    "DATADOG_RUM_TOKEN=pub852fa3e2312391fafa5640b60784e660",
    '# jwt-secret = "secret_with_at_least_32_characters"',
    'static const QString TOTP_SECRET = "TimeOtp-Secret-Base32";',
    "Secret DhIetf1024Sha256Aes128CbcPkcs7::encrypt(const Secret& input)",
    'realisticKey := "SHA256E-s1048576--7ba87e06b9b7903cfbaf4a38736766c161e3e7b42f06fe57f040aa410a8f0701.log"',
]
"""Lines of programs that handle secrets and contain none."""
PIECES = [before + secret for before, secret in SECRETS.values()]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_of_each_kind_goes(name: str) -> None:
    """The text around it and the number of lines stay."""
    before, secret = SECRETS[name]
    after = AFTER.get(name, '"' if before.endswith(('"', "'")) else "")
    text = f"first\n{before}{secret}{after}\nlast"
    clean = redacted(text)
    assert clean.startswith(f"first\n{before.split('|')[0]}")
    assert clean.endswith(f"{after}\nlast")
    assert mark_in(clean)
    assert clean.count("\n") == text.count("\n")
    for part in re.split(r"\n\d*\|?|\\n|, ", secret):
        assert part[len(part) // 2 :] not in clean


@pytest.mark.proves("S-17")
def test_a_key_at_the_beginning_of_a_text_is_not_taken_for_a_picture() -> None:
    """The slash of an address comes right before the name of its picture; one at the end of the text does not count."""
    (_, key), rest = SECRETS["Google key"], ".png is used by https://example.com/"
    assert redacted(key + rest) == redacted(key) + rest


def test_a_mark_says_what_it_was_and_how_long() -> None:
    """The mark shows that there is a secret, and of which kind."""
    assert redacted("key AKIAIOSFODNN7EXAMPLE.") == "key [redacted: AWS key, 20 characters]."
    assert redacted("PASSWORD=hunter2hunter2") == "PASSWORD=[redacted: secret, 14 characters]"
    assert mark_in("key AKIAIOSFODNN7EXAMPLE.") == ""


@pytest.mark.proves("S-17")
def test_a_key_that_is_known_at_one_place_goes_everywhere() -> None:
    """This includes earlier places, and joined to other words; a word that is a password in one place stays a word elsewhere."""
    key = "7f3kQ9zL2mX8vB4nT6wY"
    text = (
        f"GET /items?k={key}\nAPI_TOKEN={key}\nx{key}y\npassword='horse battery'\npassword='correcthorse'\ncorrecthorse"
    )
    clean = redacted(text)
    assert key not in clean
    assert clean.count("[redacted: secret, 20 characters]") == 3
    assert clean.endswith("\ncorrecthorse")
    assert [(text[one.start : one.end], one.kind) for one in secrets_in(text)][:3] == [(key, "secret")] * 3


def test_a_value_that_is_written_in_several_parts_goes_whole() -> None:
    """The parts may be adjacent, or joined by an operator."""
    for between in ('"\n    "', '" + "', '" \\\n "', "' . '"):
        text = f"api_key = ({between[0]}7f3kQ9zL2mX8vB4n{between}hJ4wT8rY1pL6sD3g{between[-1]})"
        assert redacted(text).count("[redacted: secret, 16 characters]") == 2
    assert "of-the-same" in redacted('api_key = "7f3kQ9zL2mX8vB4n" + "of-the-same"')


def test_places_that_overlap_are_one() -> None:
    """A key may be found again within a longer one, or beyond its end."""
    one, other = "7f3kQ9zL2mX8vB4nT6wY", "7f3kQ9zL2mX8vB4nT6wYaB1"
    text = f"token={one}\ntoken={other}\n{other}"
    assert redacted(text).count("[redacted: ") == 3
    assert "aB1" not in redacted(text)


@pytest.mark.parametrize("code", ORDINARY)
def test_ordinary_code_stays(code: str) -> None:
    """A program that handles secrets contains none."""
    assert redacted(code) == code


@pytest.mark.parametrize(("kind", "description"), described(OWN), ids=str)
def test_a_key_of_each_format_is_known_by_itself(kind: str, description: str) -> None:
    """Ten keys of each are found as their service describes them; words in their place are not, nor is half a key."""
    dice = random.Random(description)
    for _ in range(10):
        key = written(description, dice)
        text = f'see {key}\nand {key}, "{key}"'
        assert [secret.kind for secret in secrets_in(text)] == [kind] * 3
        assert key[len(key) // 2 :] not in redacted(text)
    beginning = description.split(maxsplit=1)[0].removeprefix("=") if description.startswith("=") else ""
    for words in ("of_the_user", "-name-of-it", ".get", "<your key here>", "$VALUE", "(self)", " is a prefix"):
        assert redacted(f"see {beginning}{words}") == f"see {beginning}{words}"


def test_a_file_of_settings_may_have_short_passwords_and_names_with_dots() -> None:
    """The value must have letters and something else; a program has such names too, with plain names as their values."""
    for text in ("password=m0nkey", "spring.datasource.password=dbpass1\n", "export DB_PASSWORD=adm!nn"):
        assert (
            redacted(text)
            .rstrip("\n")
            .endswith(f"=[redacted: secret, {len(text.rstrip().partition('=')[2])} characters]")
        )
    for text in (
        "password=monkey",
        "spring.datasource.password=passwd",
        "login(\n    password=arg1xy)",
        "  password=p1",
    ):
        assert redacted(text) == text


def test_a_key_behind_any_word_may_mix_digits_and_capitals_near_its_end_alone() -> None:
    """Its hint does not count what follows them."""
    assert redacted("see acme_xOTMBYBZdSgyBlB0cm8By4WkLlWIXe.") == "see acme_xOTMBYBZdSgyBlB0cm8By4WkLlWIXe."
    assert redacted("see acme_xOTMBYBZdSgyBlB0cm8By4WkLlWIXe") == "see [redacted: API key, 35 characters]"


@pytest.mark.parametrize(("kind", "description"), described(NAMED), ids=str)
def test_a_key_of_each_service_is_known_by_its_name(kind: str, description: str) -> None:
    """The name may be written in any way; without it the same letters are an ordinary word."""
    service, _, shape = description.partition(" ")
    for number in range(10):
        key = written(shape, random.Random(f"{description}{number}"))
        for text in (
            f'{service}_KEY = "{key}"',
            f"export {service.upper()}_ID={key}\n",
            f'{{"{service}": "{key}"}}',
            f"my{service.title()}Value: {key}\n",
            f"\"{service}Key\" => '{key}',",
        ):
            assert [secret.kind for secret in secrets_in(text)] == [kind], text
            assert key not in redacted(text)
        assert kind not in [secret.kind for secret in secrets_in(f'the_item = "{key}"')]
    assert redacted(f"{service} = 'of_the_other_name'") == f"{service} = 'of_the_other_name'"


def test_every_format_has_an_example() -> None:
    """Without an example, nobody would notice if a line of data were missing."""
    kinds = {row.kind for row in (*ANYWHERE, *AT_WORDS)}
    assert kinds <= {kind for kind, _ in described(OWN)}
    assert {row.kind for row in BY_SERVICE} == {kind for kind, _ in described(NAMED)}
    assert len(kinds | {row.kind for row in BY_SERVICE}) >= 150


@pytest.mark.parametrize(
    "name", ["token", "API_TOKEN", "clientSecret", "app.auth.key", "webhook-key", "encryption_key"]
)
def test_a_name_makes_a_random_value_a_secret(name: str) -> None:
    """Entropy counts only next to a name that means a secret, and not if the name means a hash."""
    value = "7f3kQ9zL2mX8vB4nT6wY"
    for text in (
        f'{name} = "{value}"',
        f"<{name}>\n    {value}\n</{name}>",
        f'set("{name}", "{value}")',
        f"{name}?= {value}",
    ):
        assert redacted(text) == text.replace(value, "[redacted: secret, 20 characters]")
    for text in (
        f'name = "{value}"',
        f'{name}_sha256 = "{value}"',
        f"{name} = some_long_name_of_things",
        f"{name} = {value}()",
    ):
        assert redacted(text) == text


def test_without_the_linear_engine_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """google-re2 is an extra: without it a search for plain words finds the places more slowly."""
    dice = random.Random(5)
    lines = [before + secret + AFTER.get(name, "") for name, (before, secret) in SECRETS.items()]
    lines += [written(line, dice) for _, line in described(OWN)] + ORDINARY + ["İ password='hunter2hunter2'"]
    text = "\n\n".join(lines)
    assert redaction._linear()
    key = "ghp_" + "".join(dice.choices(string.ascii_letters + string.digits, k=36))
    apart = f"{' ' * 65_535}{key}\n"  # a block of the search ends within the prefix of the key
    texts = (text, *(apart[at:] for at in range(6)))
    found = [list(secrets_in(text)) for text in texts]
    assert all(len(some) == 1 for some in found[1:])
    monkeypatch.setitem(sys.modules, "re2", None)
    redaction._linear.cache_clear()
    try:
        assert not redaction._linear()
        assert [list(secrets_in(text)) for text in texts] == found
    finally:
        redaction._linear.cache_clear()


def test_with_no_more_of_the_engine_than_it_promises_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The functions of google-re2 that are called for speed are not public."""
    text = "\n\n".join(before + secret + AFTER.get(name, "") for name, (before, secret) in SECRETS.items())
    texts = (text, "no hint at all", "é" * 3 + text, "")
    found = [list(secrets_in(one, len(one) // 2)) for one in texts]
    hints = [redaction.first_hint(one.encode(), 40) for one in texts]
    asked = redaction._linear()
    monkeypatch.delattr(pytest.importorskip("re2"), "_re2")  # patterns that are compiled already keep theirs
    redaction._linear.cache_clear()
    try:
        assert "_spans_by" in str(redaction._linear()[0])
        assert "_spans_by" not in str(asked[0])
        assert [list(secrets_in(one, len(one) // 2)) for one in texts] == found
        assert [redaction.first_hint(one.encode(), 40) for one in texts] == hints
    finally:
        redaction._linear.cache_clear()


def test_of_the_standard_library_only_its_examples_of_passwords_go() -> None:
    """1.5 million lines of code would otherwise be full of marks; its tests, if they are installed, have a few."""
    library = Path(sysconfig.get_path("stdlib"))
    read, marked = 0, []
    for folder in ("", "asyncio", "email", "http", "urllib", "xmlrpc", "wsgiref", "logging", "unittest"):
        for path in (library / folder).glob("*.py"):
            text = path.read_text("utf-8", "replace")
            read += len(text)
            lines = zip(text.split("\n"), redacted(text).split("\n"), strict=True)
            marked += [f"{path.name}: {old.strip()}" for old, new in lines if old != new]
    assert read > 5_000_000
    assert set(marked) <= {"request.py: passwd='geheim$parole')"}


HOSTILE = {
    "sk-": "sk-" * 350_000,
    "short keys": "sk-aaaaaaaaaaaaaaaaaaa " * 45_000,
    "names": "password:" * 111_000,
    "names and signs": "password=" * 111_000,
    "quotes": "password='x password=\"" * 45_000,
    "headers of tokens": "eyJ" * 333_000,
    "parts of tokens": "eyJaaaaaa." * 100_000,
    "parts of no tokens": "b.eyJaaaaaa" * 90_000,
    "beginnings of keys": "-----BEGIN PRIVATE KEY-----" * 37_000,
    "keys without an end": ("-----BEGIN PRIVATE KEY-----\n" + "A" * 64) * 10_000,
    "headers of keys": ("-----BEGIN PRIVATE KEY-----" + "Abcd: " + "x" * 73) * 9_500,
    "addresses": "://a:" * 200_000,
    "long addresses": ("://" + "a" * 256) * 3_900,
    "one word": "a" * 1_000_000,
    "one line of keys": "AKIA" + "A" * 1_000_000,
    "settings": "PASSWORD=correcthorse\n" * 45_000,
    "blanks": "password" + " " * 1_000_000,
    "credentials": "authorization: bearer " * 45_000,
    "users": "--user=" * 143_000 + ":abcdefgh",
    "services": "heroku" * 166_000 + "=abcdefgh",
    "tokens of services": 'twilio = "' * 100_000,
    "long tokens": "token=7f3kQ9zL2mX8vB4nT6wY" * 38_000,
    "keys": "ghs_1_eyJ" * 111_000,
    "telegrams": "1:A" * 333_000,
    "manifests": "kind: Secret\n" * 77_000,
    "manifests with data": "kind: Secret\ndata:\n  a: b\n" * 37_000,
    "names and blanks": "key token secret " * 59_000,
    "logins": "login a password " * 59_000,
    "pairs": 'HTTPBasicAuth("a", ' * 53_000,
    "hashes": "$6$a$" * 200_000,
    "elements": "<password>" * 100_000,
    "elements without an end": "<secret>{AQ" * 90_000,
    "lists": "passwords:\n- " * 71_000,
    "long lists": 'passwords: ["****",' * 52_000,
    "cookies": "cookie: a=" * 100_000,
    "commands": "mysql -u -p " * 83_000,
    "options": "-password " * 100_000,
    "connections": "server=a;password=" * 55_000,
    "Docker": 'auth": "' * 125_000,
    "services without keys": "cloudsmith: " * 83_000,
    "symbols": ":password => '" * 71_000,
    "braces": 'secret="' + "{a" * 500_000 + '"',
    "services and words": "bitly a1b2-c3d4_e5f6.g7/" * 41_000,
    "words of keys": "token_" * 166_000,
    "addresses with an @": "://a:b@" * 143_000,
    "hooks": "https://x/hooks/" * 62_000,
    "programs": "sshpass -p mongo -p zip -P smbclient -U " * 25_000,
    "hexadecimal": "3f1c8a07d2b96e35" * 62_000,
    "base64": "aB3dE5fG/7hJ9kL1+mN3pQ" * 45_000,
    "random words": "aB3dE5fG7hJ9kL1mN3pQ " * 47_000,
    "random values behind names": "cloudsmith token aB3dE5fG7hJ9kL1mN3pQ" * 27_000,
    "keys in base64": "LS0tLS1CRUdJTi" * 70_000,
    "tokens in base64": "ZXlK" * 250_000,
    "no tokens in base64": f"ZXlK{'aGVsbG8' * 20} " * 6_900,
    "members of tokens": "token = a1.b2::c3->" * 52_000,
    "keys with kinds": "a_live_" * 140_000,
    "keys of their own": "ab_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9v" * 31_000,
    "calls": 'auth("a",' * 110_000,
    "members of keys": '"kty":' * 160_000,
    "members in one object": '{"kty":"d":"aaaaaaaaaaaaaaaaaaaa",' * 30_000,
    "options of tokens": "--token " * 125_000,
    "schemes": "authorization: x " * 58_000,
    "parts": 'api_key="' + '7f3kQ9zL2mX8vB4n" "' * 52_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_text_made_to_be_slow_is_not(name: str) -> None:
    """Four times the text takes about four times the time, whatever it is."""
    text = HOSTILE[name]

    def work(size: int) -> Callable[[], object]:
        part = text[:size]
        return lambda: redacted(part)

    assert growth(work, len(text) // 100) < BOUND


_TEXTS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *PIECES,
                "password",
                "=",
                ": ",
                '"',
                "'",
                "\n",
                "\\n",
                "-----BEGIN PRIVATE KEY-----",
                "://",
                "@",
                "\x1b[31m",
            ]
        ),
        st.text(max_size=12),
        st.text(LETTERS + "0123456789_-.", max_size=40),
    ),
    max_size=12,
).map("".join)


@given(_TEXTS)
@example("acme_pro_Wq8n3RtZ0pLx5YbA7kTzN1wYdGfHuRxsk-ant-api03-" + "Ab3_-" * 20)
@example("curl -X POST -u admin:s3cr3tcurl -X POST -u admin:s3cr3t")
@example('kind: Secret\ndata:\n  user: YWRtaW4tdXNlcg==password = "correcthorsesk-ant-api03-' + "Ab3_-" * 20)
def test_law_twice_is_once(text: str) -> None:
    """Redacted text stays as it is, line by line; a check that finds no hint has missed neither secrets nor marks."""
    clean = redacted(text)
    assert redacted(clean) == clean
    assert clean.count("\n") == text.count("\n")
    if redaction.first_hint(text.encode()) < 0:
        assert clean == text
        assert not redaction.mark_in(text)


def _plain(text: str) -> str:
    """Return a text without colours and without the lengths in its marks."""
    return re.sub(r"\x1b\[[\d;]*[mK]|(?<=, )\d+(?= characters\])", "", text)


@pytest.mark.proves("S-17")
@given(
    st.sampled_from([name for name, parts in SECRETS.items() if "\x1b" not in parts[0]]),
    st.lists(st.tuples(st.integers(0, 150), st.sampled_from(["\x1b[0m", "\x1b[01;31m\x1b[K", "\x1b[m"])), max_size=6),
)
@example("password in JSON", [(1, "\x1b[1;34m"), (14, "\x1b[0m"), (16, "\x1b[32m"), (30, "\x1b[0m")])
@example("GitHub token", [(9, "\x1b[1m"), (12, "\x1b[0m")])
def test_law_colours_hide_nothing(name: str, colours: list[tuple[int, str]]) -> None:
    """What `jq -C`, `grep --color` and a log for a terminal print is redacted as a person sees it, and keeps its colours."""
    before, secret = SECRETS[name]
    text = coloured = before + secret + AFTER.get(name, "")
    for at, colour in sorted(colours, reverse=True):
        coloured = coloured[: min(at, len(text))] + colour + coloured[min(at, len(text)) :]
    shown = redacted(coloured)
    assert _plain(shown) == _plain(redacted(text))
    assert redacted(shown) == shown


def test_colours_around_a_secret_stay() -> None:
    """Only what is hidden loses its colours; what a store knows of a text counts its characters with them."""
    text = "\x1b[36mpassword\x1b[0m: \x1b[32mhunter2hunter2\x1b[0m\n"
    assert redacted(text) == "\x1b[36mpassword\x1b[0m: \x1b[32m[redacted: secret, 14 characters]\x1b[0m\n"
    (secret,) = secrets_in(text * 2, since=len(text))
    assert (text * 2)[secret.start : secret.end] == "hunter2hunter2"
    assert secret.start > len(text)
    assert secrets_in("\x1b[1m\n" + text, until=3) == []
    begun = [redaction.Secret("secret", 6, 16)]  # `m` to `password` and what ends its colour
    assert secrets_in(text, begun=begun)[0] == redaction.Secret("secret", 6, 13)


JOINTS = (
    "password",
    "token",
    "key",
    "=",
    ": ",
    '"',
    "'",
    "\n",
    "\\n",
    "://",
    "@",
    " ",
    "name: ",
    "value: ",
    "--token ",
    "cookie: a=",
    "|",
    "{",
)


@pytest.mark.proves("S-17")
def test_texts_that_are_glued_of_secrets_lose_nothing_more_the_second_time() -> None:
    """One in 250 of these did when a text was searched once; of 100,000 none does now."""
    dice = random.Random(5)
    for _ in range(1_500):
        text = "".join(dice.choice(dice.choice((PIECES, JOINTS))) for _ in range(dice.randint(2, 10)))
        clean = redacted(text)
        assert redacted(clean) == clean, text


@pytest.mark.proves("S-17")
def test_twice_is_once_where_secrets_stand_far_from_each_other() -> None:
    """The second search covers only text near marks: a key without an end may be found 100 kB after another."""
    dice = random.Random(7)
    filler = "a line of no interest\n" * 5_000
    key = f"{BODY}\n-----END PRIVATE KEY-----\n"
    texts = [f"-----BEGIN PRIVATE KEY-----\n{filler}-----BEGIN PRIVATE KEY-----\n{key}{key}"]
    for _ in range(150):
        pieces = ("".join(dice.choice(dice.choice((PIECES, JOINTS))) for _ in range(dice.randint(2, 8))) for _ in "123")
        texts.append("".join(f"{piece}\n{filler[: dice.choice((300, 5_000, 20_000))]}" for piece in pieces))
    for text in texts:
        clean = redacted(text)
        assert redacted(clean) == clean, text


def test_a_second_look_searches_near_marks_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second search costs a part of the first if a text is long and has few marks."""
    searched = 0
    places = redaction._places

    def counted(text: str, until: int | None, since: int = 0) -> list[int]:
        nonlocal searched
        searched += len(text)
        return places(text, until, since)

    monkeypatch.setattr(redaction, "_places", counted)
    text = "a line of no interest\n" * 10_000 + "password=hunter2hunter2\n" + "a line of no interest\n" * 10_000
    assert mark_in(redacted(text))
    assert searched < 1.1 * len(text)


def test_a_second_look_tries_only_shapes_that_reach_a_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most shapes read no further than a line or two; lists and cookies read further, and are tried again further away."""
    tried: list[str] = []
    look = redaction._at

    def counted(text: str, at: int, floor: int) -> list[redaction.Secret]:
        tried.append(text[at : at + 6])
        return look(text, at, floor)

    monkeypatch.setattr(redaction, "_at", counted)
    filler = "a line of no interest\n" * 200
    redacted(f"password=hunter2hunter2\n{filler}" + "token = token_2.name_of\nCookie: a=b\n" * 20)
    assert tried.count("token ") == 20
    assert tried.count("Cookie") == 40


def test_an_engine_goes_through_a_text_before_the_next_one_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the engines alternated at every place, each would evict the other's tables from the processor's cache."""
    pytest.importorskip("re2")
    turns: list[int] = []

    def counted(number: int, search: redaction._Search) -> redaction._Search:
        def searching(data: bytes, start: int, end: int) -> list[tuple[int, int]]:
            turns.append(number)
            return search(data, start, end)

        return searching

    searches = tuple(counted(number, search) for number, search in enumerate(redaction._linear()))
    monkeypatch.setattr(redaction, "_linear", lambda: searches)
    assert not secrets_in("spotify and reddit\ntoken = token_2.name_of\n_api_key_of_user\n" * 100)
    assert turns == sorted(turns)
    assert len(turns) > 3 * len(searches)


def test_a_short_text_that_holds_nothing_is_searched_once_by_each_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most texts are short and hold nothing; whatever is made for the places of hints takes as long as the search."""
    pytest.importorskip("re2")
    monkeypatch.setattr(redaction, "_places", lambda *_: pytest.fail("places are looked for"))
    assert redacted("def answer() -> int:\n    return 42\n") == "def answer() -> int:\n    return 42\n"


def test_a_coloured_text_that_holds_nothing_is_searched_without_its_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most coloured logs hold nothing; to note where each colour was takes twice as long as the search."""
    monkeypatch.setattr(redaction, "_Shown", lambda *_: pytest.fail("places of colours are noted"))
    log = "\x1b[32mINFO\x1b[0m \x1b[1m\x1b[36mtoken\x1b[0m = token_2.name_of\n" * 100
    assert secrets_in(log, known={}) == []


def test_an_option_in_the_midst_of_a_word_is_no_place() -> None:
    """Each candidate place costs as much as a thousand characters without one."""
    pytest.importorskip("re2")
    assert not redaction._places("pr-url: https://example.com/", None)
    assert redaction._places("curl -u me:secret", None)


def test_law_looks_grow_with_the_logarithm_of_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds even if each search finds one letter more than the one before."""
    looks = 0

    def seen(text: str, *_: object) -> tuple[list[redaction.Secret], list[int]]:
        nonlocal looks
        looks += 1
        at = text.find("x")
        return [redaction.Secret("secret", at, at + 1)] if at >= 0 else [], []

    monkeypatch.setattr(redaction, "_seen", seen)
    text = "password=hunter2hunter2 " + "y" * 50_000 + "x" * 50_000  # otherwise nothing is searched
    assert mark_in(redacted(text))
    assert looks < 30


_RANDOM = st.text(LETTERS, min_size=20, max_size=40).map(lambda text: text + "7" + text[::-1])
_KEYS = st.one_of(
    _RANDOM.map("sk-ant-{}".format),
    _RANDOM.map("ghp_{}".format),
    _RANDOM.map("github_pat_{}".format),
    _RANDOM.map("glpat-{}".format),
    _RANDOM.map("xoxp-{}".format),
    _RANDOM.map("AIza{}".format),
    st.text("ABCDEFGHIJ0123456789", min_size=16, max_size=16).map("AKIA{}".format),
    st.tuples(_RANDOM, _RANDOM, _RANDOM).map(lambda parts: "eyJ{}.eyJ{}.{}".format(*parts)),
)


@given(_TEXTS, _KEYS, _TEXTS)
def test_law_a_planted_key_is_gone(before: str, key: str, after: str) -> None:
    """The key may be anywhere, also within a word."""
    assert key not in redacted(before + key + after)


@given(st.text().filter(lambda text: text[-1:] not in LETTERS + "0123456789"), _RANDOM, st.text())
def test_law_a_key_whose_sign_is_short_is_gone_where_a_word_begins(before: str, key: str, after: str) -> None:
    """`sk-` also ends `task-` and `disk-`."""
    assert key not in redacted(f"{before}sk-{key}{after}")


@pytest.mark.proves("S-17")
@pytest.mark.parametrize(
    "line",
    [
        "private_key: ed25519.Ed25519PrivateKey",
        "def sign(secret_key: x25519.X25519PrivateKey) -> bytes:",
        "password_hasher = Argon2PasswordHasher",
        "secret: crypto.P256SigningKey",
        "OAuth2TokenType tokenType = OAuth2TokenType.ACCESS_TOKEN;",
        "OAuth2Authorization authorization = TestOAuth2Authorizations.authorization(client);",
        "this.x509AuthenticationFilter = x509AuthenticationFilter;",
        "signing_credentials = signingX509Credentials",
        "authData = wa4jAttestationObject",
        "credential_provider: S3CredentialProvider | None = None,",
    ],
)
def test_a_class_behind_the_name_of_a_secret_is_none(line: str) -> None:
    """Types of keys have digits in their names; a random value, or a word followed by a year, is not a class."""
    assert redacted(line) == line
    for value in (
        "Summer2024Winter",
        "hunter2hunter2",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
    ):
        assert value not in redacted(f"password: {value}")


@pytest.mark.proves("S-17")
@pytest.mark.parametrize(
    ("before", "secret", "after"),
    [
        ("Password: ", "MyStrongPassword!", "\n"),
        ("https://", "kaNydBSAodo87dsm9asuiSAFtsd7.com", ":1234@h/"),
        ("https://me:", "8085x", "@localhost:8080"),
        ('"refresh_token": "', "0.AXEAFN5Pl6TDG0ibA8OGCw6B-kFbFJoXnhBqmJD9wukrpZxAMc...", '"'),
        ("CLIENT[SECRET_KEY] = '", "7f3kQ9zL2mX8vB4nT6wY", "'"),
        ("login me\npassword ", "strings1", "\n"),
        ("the password: ", "hunter2hunter2", "\n"),
        ("Kata Sandi: ", "rahasia123", "\n"),
        ('api_key = "', "kQzWvBnMxPlTrYhGfDsA", '"'),
        ('"y2": "', "k9of_cpAajy0poW5gaixXGs9nHkwg1AFqUAFb38dyCd", '"'),
        ('{settings.S3.Secret, "', "new_s3_secret_9", '"}'),
        ("Authorization: Basic ", "TheAuthorizationKey1111111", "\n"),
        ("password: ", "my-own-h0rse-of-2", "\n"),
        ("password: ", "my-secret-2024", "\n"),
        ('variable "aws_secret_key" { default = "', "hunter2hunter2", '" }'),
        ('{"identifier": "bob", "key": "', "NqVwYS81VP7Hb1DX8pPd", '"}'),
        ("# sender\nkey = ", "NqVwYS81VP7Hb1DX8pPd", "\n"),
        ("the sendgrid sender key ", "NqVwYS81VP7Hb1DX8pPd", "\n"),
        ("my_credential, ", "K2u6mFw8wJOsAf", "\n"),
        ("the_token -> ", "session.kQ7zW9vB2nM4xP6lT8", "\n"),
        ('directoryEntry("LDAP://a", "me", "', "hunter2x", '")'),
        ('NetworkCredential("me", "', "hunter2x", '", "domain")'),
        ("curl -u me:", "password1", " https://example.com"),
        ("mattermost_token = ", "my_token_7f3kQ9zL2mX8vB4n", "\n"),
        ('secret_key = "', "correct-horse-battery", '"'),
        ('api_key = "', "hunter2hunter2", '"'),
        ("api_key=", "abcdef1234", "\n"),
        ('secret_access_key = "', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", '"'),
        ("mysql-token ", "AIhq5Xyb1Gga9Q11", "\n"),
        ("tool --db-password ", "hunter2hunter2", "\n"),
        (r"tool \n--password ", "hunter2hunter2", '"'),
        ("tool --password ", "hunter2hunter2", "(x"),
        ("airbrake 123456789012345 = ", "kQzWvBnMx9PlTrY7hGfDsA2", "\n"),
        ("CACHE_ACCESS=", "kQzWvBnMx9PlTrY7hGfDsA2", "\n"),
        ("bitbucket_key=", "HedmnK9h6KD_eh9KK8FlI9ahUc8WfaNZ4gulbrtN2ouV", "\n"),
        ("set('password', '", "hunter2x@example", "')"),
        ("mailgun = ", "fb8echc2bb269ecigg4d6hh0g61f01hi-eh4bd2bi-fd54d4ib", "\n"),
        ("okta = ", "rz-q06oe6y1a6b4rr59e9otm8ev2p783tozahfzb7", "\n"),
        ('{user, "me"}, {password, "', "password9", '"}'),
        ('client_secret = "', "secret123secret", '"'),
        ("Authorization: Basic ", "dXNlcjpwYXNz", "\n"),
        ("https://97333d956c9e40989a0139756c121c34:", "63bbdb12b47b47bd", "@sentry.io/1"),
        ("secret: ", "x16bytes9Zq", "\n"),
        ("set('password', '", "Argon2id", "')"),
        ("$key = '", "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2", "'"),
        ("Password: ", "mystrongpassword!", "\n"),
        ("auth_token = ", "v3::b2Qw7Rz1Lm", "\n"),
        ('password = "', "+4x9+kW2=", '"'),
        ('"webhook_secret": "', "https://example.com/T0ALZ9/Bx7Kq2mW", '"'),
        ("proxy_pass = ", "@pr0xy9pass", "\n"),
        ("http://username:", "SECURE_TOKEN7", "@example.com"),
        ('dd_api_key = "', "852fa3e2312391fafa5640b60784e660", '"'),
        ('config["db_password"] = "', "hunter2hunter2", '"'),
        ("define('AUTH_KEY',         '", "<W1pxMctoyA(>M%0Vl 2(#o0|2$cB+K|.G$hB~4`Juw@]:(5;oVUl<<W3^e_R-fg", "');"),
        ('"hashed_signing_key": "', "af98fdf9fd9bcf1f44c424a15c54a0dd", '"'),
        (
            "A" * 40 + "\n",
            "ha88EOQ5bzVdSq7d6mGNlUn0b2SjGmBmpKlAIoTZ1KXleJMOaAGtuU1cOs7TuKhC"[:44] + "+AStHr8Z3kQ=",
            "\n",
        ),
        ('atlassian_key = "', "DjayBenyJrtpvydFCzAphcqc", '"'),
        ("d7networkKEY ", "jkl0987654321XYZ+/45Mf==", ""),
        ("debounce_key = ", "123456789ABCD", ""),
        ("eventbrite private access key\n", "ZXC2JK3HV4TY5UIO6PLK", "\n"),
        ("formbucket SECRET ", "abc123.def456.ghi789-jkl", ""),
        ("see ", f"eyAiYWxnIjoiSFMyNTYiIH0.eyAic3ViIjoxMjM0NTY3ODkwIH0.{'dozjgNryP4J3jVmN' * 2}", ""),
        (
            "twitter_token = ",
            "ABOYKJCSVHKFGFYKVOJNRF%tjHNMzEpCIsmVvSFq1gzPI4%E4UY0w%L3X%dq95eFuxF%" + "fGtbNy7R" * 6,
            "",
        ),
        ("serphouse key ", "qwertyuiopasdfghjklzxcvbnmQWERTYUIOPASDFGHJKLZXCVBNM1234567890", "\n"),
    ],
)
def test_what_resembles_a_placeholder_or_a_name_is_a_secret_still(before: str, secret: str, after: str) -> None:
    """Each looks like text that stays: a member, a port, a cut key, an index, a type, a message, a foreign word."""
    assert secret[len(secret) // 2 :] not in redacted(f"{before}{secret}{after}")
