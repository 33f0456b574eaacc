"""Which formats do the keys have that services issue? Data: one line for each format.

Law: a pattern here is bounded or possessive, so that no place of a text is examined again and again; it holds only ASCII
and looks at nothing before its first character. Facts are from the services' own descriptions and from what secret
scanners for commits agree on. Leaves to others: what is a secret by its name or its place (`secret_shapes`), and how a
text is searched (`redaction`).
"""

from __future__ import annotations

from typing import NamedTuple


class KeyFormat(NamedTuple):
    """A key whose own beginning shows whose it is."""

    kind: str
    """The kind of a key, for the mark that replaces it: letters, digits and blanks."""
    prefixes: str
    """The prefixes that a key can have, case-sensitive, separated by blanks."""
    body: str
    """A pattern of the minimum that follows; what is attached to that belongs to the key."""


class NamedFormat(NamedTuple):
    """A key that can be told from other random words only if its service is named before it."""

    kind: str
    """The kind of a key, for the mark that replaces it."""
    names: str
    """Words, in lower case and separated by blanks, one of which is in the name that the key is assigned to."""
    body: str
    """A pattern of the whole key."""


_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
# Among that many random letters and digits one is a digit; names of classes and functions with such beginnings have none.
_DIGIT = r"(?=[A-Za-z_-]{0,64}+[0-9])"
_DIGIT_OF_BASE64 = "(?=[A-Za-z+/]{0,64}+[0-9])"

_BASE64_LINES = (
    r"[A-Za-z0-9+/]*+(?>(?:\r?\n[ \t]{0,32}[A-Za-z0-9+/]{48,80}+){0,100})"
    r"(?>(?:\r?\n[ \t]{0,32}[A-Za-z0-9+/]{1,80}+=)?)=*+"
)
_CRYPT = "[./A-Za-z0-9]"
DJANGO_CHARS = r"[a-z0-9!@#$%^&*(=_+)-]"
"""The characters of the secret keys that Django's `startproject` writes."""

ANYWHERE = (
    # Distinct enough to be a key anywhere, even within a word.
    KeyFormat("password hash", "$2a$ $2b$ $2y$", rf"\d\d\${_CRYPT}{{53}}"),
    KeyFormat("password hash", "$1$ $apr1$", rf"{_CRYPT}{{1,8}}+\${_CRYPT}{{22}}"),
    KeyFormat("password hash", "$5$ $6$ $8$", rf"(?:rounds=\d{{1,9}}\$)?{_CRYPT}{{1,16}}+\${_CRYPT}{{43}}{_CRYPT}*+"),
    KeyFormat("Kerberos hash", "$krb5asrep$ $krb5tgs$", r"[^\s:$]{1,64}[:$][^\s]{32}[0-9a-fA-F$]*+"),
    KeyFormat("1Password recovery key", "1PRK-", r"(?:[A-Z0-9]{4}-){12}[A-Z0-9]{4}"),
    KeyFormat("1Password token", "ops_eyJ", r"[\w+/-]{100}[\w+/=-]*+"),
    KeyFormat("Adafruit key", "aio_", _DIGIT + r"[A-Za-z0-9]{28}"),
    KeyFormat("Adobe secret", "p8e-", r"[A-Za-z0-9]{32}"),
    KeyFormat("age key", "AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1", r"[A-Z0-9]{58}"),
    KeyFormat("Aikido secret", "AIK_SECRET_ AIK_RUNTIME_", r"[\w-]{24}"),
    KeyFormat("Aiven password", "AVNS_", _DIGIT + r"[\w-]{16}"),
    KeyFormat("Anthropic key", "sk-ant-", r"[\w-]{16}"),
    KeyFormat("Amazon MWS key", "amzn.mws.", _UUID),
    KeyFormat("Apify token", "apify_api_", r"[A-Za-z0-9]{34}"),
    KeyFormat("Atlassian token", "ATATT3 ATCTT3", r"[\w=-]{60}[\w=-]*+"),
    KeyFormat(
        "Authress key", "scauth_ authress_", r"[a-z0-9]{5,30}+\.[a-z0-9]{4,6}+\.acc[_-][\w-]{10,32}+\.[\w+/=-]{30}"
    ),
    KeyFormat("AWS Bedrock key", "ABSKQmVkcm9ja0FQSUtleS bedrock-api-key-", r"[\w+/=-]{20}[\w+/=-]*+"),
    KeyFormat("Bitbucket token", "BBDC-", r"(?=[A-Za-z+/_-]{0,40}+[0-9])[\w+/@-]{40}"),
    KeyFormat("Braintree token", "access_token$production$ access_token$sandbox$", r"[a-z0-9]{16}\$[0-9a-f]{32}"),
    KeyFormat("Brevo key", "xkeysib- xsmtpsib-", r"[a-f0-9]{64}"),
    KeyFormat("Buildkite token", "bkua_ bkaj_ bkpat_", r"[A-Za-z0-9]{32}"),
    KeyFormat("CircleCI token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{10,30}+_[a-z0-9]{30}"),
    KeyFormat("Clojars token", "CLOJARS_", r"[a-z0-9]{60}"),
    KeyFormat("Cloudflare CA key", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{100}"),
    KeyFormat("Cloudflare token", "cfut_ cfat_ cfk_", _DIGIT + r"[A-Za-z0-9]{36}"),
    KeyFormat("CockroachDB key", "CCDB1_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{40}"),
    KeyFormat("ConfigCat key", "configcat-sdk-1/ configcat-sdk-2/", r"[\w-]{22}/[\w-]{22}"),
    KeyFormat("Contentful token", "CFPAT-", r"[\w-]{43}"),
    KeyFormat("Defined Networking key", "dnkey-", r"[\w=-]{26}-[\w=-]{50}[\w=-]*+"),
    KeyFormat("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[A-Fa-f0-9]{64}"),
    KeyFormat("Docker token", "SWMTKN-1-", r"[a-z0-9]{40,60}-[a-z0-9]{20}"),
    KeyFormat("Docker token", "dckr_pat_ dckr_oat_", r"[\w-]{20}"),
    KeyFormat(
        "Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"(?:[a-z0-9_-]{2,35}+\.)?[A-Za-z0-9]{40}"
    ),
    KeyFormat("Dependency Track key", "odt_", _DIGIT + r"[A-Za-z0-9]{32}"),
    KeyFormat("Duffel token", "duffel_test_ duffel_live_", r"[\w=-]{43}"),
    KeyFormat(
        "Dynatrace token",
        "dt0a01. dt0a11. dt0c01. dt0s01. dt0s02. dt0s03. dt0s06. dt0s08.",
        r"[A-Za-z0-9]{8,24}+\.[A-Za-z0-9]{64}",
    ),
    KeyFormat("EasyPost key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    KeyFormat("Django key", "django-insecure-", f"{DJANGO_CHARS}{{40,60}}+"),
    KeyFormat("Elastic key", "essu_", r"[A-Za-z0-9+/]{60}[A-Za-z0-9+/=]*+"),
    KeyFormat("Figma token", "figd_ figo_ figu_ figor_ figoh_ figuh_", r"[\w-]{36}"),
    KeyFormat("Firebase token", "APA91b", r"[\w-]{100}"),
    KeyFormat("Facebook token", "EAACEdEose0cBA", r"[A-Za-z0-9]{12}"),
    KeyFormat("Fleetbase key", "flb_live_ flb_test_", r"[A-Za-z0-9]{20}"),
    KeyFormat("Flexport token", "shltm_", r"[\w-]{40}"),
    KeyFormat("Flutterwave key", "FLWSECK_TEST- FLWSECK- FLWPUBK_TEST- FLWPUBK-", r"[a-hA-H0-9]{12}"),
    KeyFormat("Friendli token", "flp_", _DIGIT + r"[A-Za-z0-9]{46}"),
    KeyFormat("Frame.io token", "fio-u-", r"[\w=-]{60}[\w=-]*+"),
    KeyFormat(
        "GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"(?:[A-Za-z0-9]{30}|\d{1,12}_eyJ[\w-]{8,400}+\.[\w-]{8,1000}+\.)"
    ),
    KeyFormat("GitHub token", "github_pat_", r"\w{30}"),
    KeyFormat(
        "GitLab token",
        "glpat- gldt- glrt- glrtr- glft- glffct- glimt- glagent- gloas- glsoat- glwt-",
        r"[\w-]{20}[\w.-]*+",
    ),
    KeyFormat("GitLab token", "glcbt-", r"[\w-]{16}"),
    KeyFormat("GitLab token", "glptt-", r"[\w-]{40}"),
    KeyFormat("GitLab token", "GR1348941", r"[\w-]{20}"),
    KeyFormat("GitLab session", "_gitlab_session=", r"[0-9a-z]{32}"),
    KeyFormat("Google key", "AIza", r"[\w-]{35}"),
    KeyFormat("Google storage key", "GOOG1", r"(?=[A-Z]{0,56}+[0-9])[A-Z0-9]{55}"),
    KeyFormat("Google secret", "GOCSPX-", r"[\w-]{24}"),
    KeyFormat("Google token", "ya29.", r"[\w-]{20}[\w.-]*+"),
    KeyFormat(
        "Grafana token", "glc_", rf"(?:eyJ[A-Za-z0-9+/]{{20}}|{_DIGIT_OF_BASE64}[A-Za-z0-9+/]{{32}})[A-Za-z0-9+/=]*+"
    ),
    KeyFormat("Grafana token", "glsa_", r"[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"),
    KeyFormat("Grafana key", "eyJrIjoi", r"[\w+/-]{42}[\w+/=-]*+"),
    KeyFormat("Heroku key", "HRKU-", r"[\w-]{36}"),
    KeyFormat("HubSpot token", "pat-na1- pat-na2- pat-na3- pat-eu1- pat-ap1-", _UUID),
    KeyFormat("Hugging Face token", "api_org_", r"[A-Za-z0-9]{34}"),
    KeyFormat("Instagram token", "IGQVJ", r"[\w-]{60}"),
    KeyFormat("Intra42 secret", "s-s4t2ud- s-s4t2af-", r"[a-f0-9]{64}"),
    KeyFormat("Langfuse key", "sk-lf- pk-lf-", _UUID),
    KeyFormat("LangSmith key", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}"),
    KeyFormat("Lightdash token", "ldpat_", r"[a-f0-9]{32}"),
    KeyFormat("Linear token", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{40}"),
    KeyFormat("LlamaCloud key", "llx-", r"[\w-]{48}"),
    KeyFormat("Logfire token", "pylf_v1_us_ pylf_v1_eu_", r"[A-Za-z0-9]{40}"),
    KeyFormat("MailerSend token", "mlsn.", r"[a-f0-9]{64}"),
    KeyFormat("Mercury token", "secret-token:mercury_", r"\w{20}"),
    KeyFormat("MongoDB Atlas secret", "mdb_sa_sk_", r"[\w-]{40}"),
    KeyFormat("New Relic key", "NRAK- NRAA- NRII- NRIQ- NRRA- NRSP-", r"[\w-]{25}"),
    KeyFormat("Microsoft Teams webhook", "/IncomingWebhook/", r"[0-9a-zA-Z]{32}/[0-9a-zA-Z-]{36}"),
    KeyFormat("New Relic key", "px-dep- px-api-", _UUID),
    KeyFormat("New Relic key", "NRBR-", r"[a-f0-9]{19}"),
    KeyFormat("New Relic key", "NRJS-", r"[A-Za-z0-9]{19}"),
    KeyFormat("Notion token", "ntn_", r"[A-Za-z0-9]{40}"),
    KeyFormat("npm token", "npm_", _DIGIT + r"[A-Za-z0-9]{36}"),
    KeyFormat("NVIDIA key", "nvapi-", r"[\w-]{60}"),
    KeyFormat("OpenAI key", "sk-proj- sk-svcacct- sk-admin-", _DIGIT + r"[\w-]{20}"),
    KeyFormat("OpenRouter key", "sk-or-v1-", r"[0-9a-f]{64}"),
    KeyFormat("OpenShift token", "sha256~", r"[\w-]{43}"),
    KeyFormat("Open VSX token", "ovsxp_ ovsxat_", r"[A-Za-z0-9-]{32}"),
    KeyFormat("Ory token", "ory_pat_ ory_st_ ory_at_ ory_rt_ ory_ac_", _DIGIT + r"[\w-]{32}[\w.-]*+"),
    KeyFormat("Pagar.me key", "ak_live_ ak_test_", _DIGIT + r"[A-Za-z0-9]{30}"),
    KeyFormat("Packagist key", "packagist_ack_ packagist_acs_ packagist_uut_ packagist_ort_", r"[a-f0-9]{24}"),
    KeyFormat("Paddle key", "pdl_live_apikey_ pdl_sdbx_apikey_", r"\w{40}"),
    KeyFormat("Perplexity key", "pplx-", r"[A-Za-z0-9]{48}"),
    KeyFormat("Persona key", "persona_sandbox_ persona_production_", _UUID),
    KeyFormat("Pinecone key", "pcsk_", r"\w{50}"),
    KeyFormat(
        "Plaid token",
        "access-sandbox- access-development- access-production- public-sandbox- public-production-",
        _UUID,
    ),
    KeyFormat("PlanetScale secret", "pscale_pw_ pscale_tkn_ pscale_oauth_", r"[\w=.-]{32}[\w=.-]*+"),
    KeyFormat("Polar token", "polar_oat_ polar_pat_ polar_whs_", r"[A-Za-z0-9]{32}"),
    KeyFormat("Postman key", "PMAK- PMAT-", r"[A-Za-z0-9]{24,26}+(?:-[A-Za-z0-9]{34})?"),
    KeyFormat("Prefect key", "pnu_ pnb_", r"[A-Za-z0-9]{36}"),
    KeyFormat("PubNub key", "pub-c- sub-c- sec-c-", r"[\w+/-]{36}[\w+/=-]*+"),
    KeyFormat("pyx token", "sk-pyx-", r"[A-Za-z0-9]{40}"),
    KeyFormat("Pulumi token", "pul-", r"[a-f0-9]{40}"),
    KeyFormat("PyPI token", "pypi-AgEI pypi-AgEN", r"[\w-]{60}"),
    KeyFormat("Razorpay key", "rzp_live_ rzp_test_", _DIGIT + r"[A-Za-z0-9]{14}"),
    KeyFormat("ReadMe key", "rdme_", r"[a-z0-9]{70}"),
    KeyFormat("Riot Games key", "RGAPI-", r"[0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12}"),
    KeyFormat("Rootly key", "rootly_", r"[a-f0-9]{64}"),
    KeyFormat("RubyGems key", "rubygems_", r"[a-f0-9]{48}"),
    KeyFormat("Samsara token", "samsara_api_", r"[A-Za-z0-9]{28}"),
    KeyFormat("Scale key", "live_auth_ test_auth_", r"[a-f0-9]{32}"),
    KeyFormat("Scalingo token", "tk-us-", r"[\w-]{48}"),
    KeyFormat("SendGrid key", "SG.", r"[\w=-]{20,24}+\.[\w=-]{39}[\w=.-]*+"),
    KeyFormat("Sentry token", "sntrys_eyJ", r"[\w+/=-]{60}[\w+/=-]*+"),
    KeyFormat("Sentry token", "sntryu_", r"[a-f0-9]{64}"),
    KeyFormat("SettleMint token", "sm_pat_ sm_aat_ sm_sat_", r"[A-Za-z0-9]{16}"),
    KeyFormat("Shippo token", "shippo_live_ shippo_test_", r"[a-fA-F0-9]{40}"),
    KeyFormat("Shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_", r"[A-Za-z0-9]{32}"),
    KeyFormat("Sindri key", "sindri_", r"[A-Za-z0-9]{32}"),
    KeyFormat(
        "Slack token",
        "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxd- xoxc- xoxe.xoxb- xoxe.xoxp-",
        r"(?=[A-Za-z%-]{0,60}+[0-9])[A-Za-z0-9%-]{10}[\w%-]*+",
    ),
    KeyFormat("Slack token", "xapp- xwfp-", r"\d{1,6}-[A-Za-z0-9]{3,}+-\d"),
    KeyFormat(
        "Slack webhook",
        "hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/",
        r"[\w+/]{24}[\w+/]*+",
    ),
    KeyFormat("Sourcegraph token", "sgp_", r"(?:[a-fA-F0-9]{16}_)?(?:local_)?[a-fA-F0-9]{40}"),
    KeyFormat("Segment token", "sgp_", r"[A-Za-z0-9]{64}"),
    KeyFormat("Square token", "sq0atp- sq0csp- sq0idp- sq0idb-", r"[\w-]{22}"),
    KeyFormat("StackHawk key", "hawk.", r"[\w-]{20}\.[\w-]{20}"),
    KeyFormat(
        "Stripe key",
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_",
        r"(?:[A-Za-z0-9]{14}|(?=\D{0,20}+[0-9])\w{10})",
    ),
    KeyFormat("Stripe webhook secret", "whsec_", _DIGIT_OF_BASE64 + r"[A-Za-z0-9+/]{24}[A-Za-z0-9+/=]*+"),
    KeyFormat("Supabase key", "sbp_", r"(?:v0_)?[a-z0-9]{40}"),
    KeyFormat("Supabase key", "sb_secret_", r"[\w-]{22}"),
    KeyFormat("Tailscale key", "tskey-", r"[a-z]{2,12}+-[A-Za-z0-9]{6,}+-[A-Za-z0-9]{4}"),
    KeyFormat("Tavily key", "tvly-", r"[A-Za-z0-9-]{28}"),
    KeyFormat("Telegram token", "tgram://", r"\d{5,16}:[\w-]{30}"),
    KeyFormat("Teamwork token", "tkn.v1_", r"[\w+/-]{60}[\w+/=-]*+"),
    KeyFormat("ThingsBoard token", "thingsboard.cloud/api/v1/", r"[a-z0-9]{20}"),
    KeyFormat("Thunderstore token", "tss_", _DIGIT + r"[A-Za-z0-9]{32}"),
    KeyFormat("Tines webhook", "tines.com/webhook/", r"[a-z0-9]{32}/[a-z0-9]{32}"),
    KeyFormat("Together key", "tgp_v1_", r"[\w-]{40}"),
    KeyFormat("Trello token", "ATTA", r"[a-f0-9]{64}"),
    KeyFormat("TruffleHog key", "thog-key- thog-secret-", r"[a-f0-9]{16}"),
    KeyFormat("Typeform token", "tfp_", r"[\w=.-]{40}[\w=.-]*+"),
    KeyFormat("Ubidots token", "BBFF- BBUS-", r"[A-Za-z0-9]{30}"),
    KeyFormat("Unkey key", "unkey_", _DIGIT + r"[A-Za-z0-9]{20}"),
    KeyFormat("Vault token", "hvs. hvb. hvr.", r"[\w-]{24}"),
    KeyFormat("Val Town token", "vtwn_", r"[A-Za-z0-9]{24}"),
    KeyFormat("Vercel token", "vcp_ vci_ vca_ vcr_ vck_", _DIGIT + r"[\w-]{24}"),
    KeyFormat("WunderGraph key", "cosmo_", r"[a-f0-9]{32}"),
    KeyFormat("WakaTime key", "waka_", _UUID),
    KeyFormat("Weights and Biases key", "wandb_v1_", r"[\w-]{40}"),
    KeyFormat("xAI key", "xai-", r"\w{70}"),
    KeyFormat("Zuplo key", "zpka_", r"[a-z0-9]{32}_[a-f0-9]{8}"),
    KeyFormat("Zapier webhook", "hooks.zapier.com/hooks/catch/", r"(?:\d{4,12}+/\w{5}|\w{16})"),
    KeyFormat("Discord webhook", "discord.com/api/webhooks/ discordapp.com/api/webhooks/", r"\d{17,20}+/[\w-]{60}"),
    KeyFormat(
        "Teams webhook", "webhook.office.com/webhookb2/", _UUID + r"@" + _UUID + r"/\w{10,40}+/[a-f0-9]{32}[\w/-]*+"
    ),
    KeyFormat("Azure storage key", "AccountKey= SharedAccessKey=", r"[A-Za-z0-9+/]{40}[A-Za-z0-9+/=]*+"),
)
"""Keys that are recognised anywhere."""

AT_WORDS = (
    # Prefixes that also end names, or occur in random words: a word has to begin there.
    KeyFormat("1Password key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
    KeyFormat("Airtable token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    KeyFormat("Artifactory key", "AKC", r"[A-Za-z0-9]{10}"),
    KeyFormat("Akamai token", "akab-", r"[a-z0-9]{16}-[a-z0-9]{16}"),
    KeyFormat("Artifactory token", "cmVmd", r"[A-Za-z0-9]{59}"),
    KeyFormat("Artifactory password", "AP0 AP1 AP2 AP3 AP4 AP5 AP6 AP7 AP8 AP9", r"[A-Za-z0-9]{8,100}+(?![\w+/=])"),
    KeyFormat("Artifactory password", "APA APB APC APD APE APF", r"(?=[A-Za-z]{0,12}+[0-9])[A-Za-z0-9]{20}"),
    KeyFormat("Atlassian token", "ATBB ATOA", _DIGIT + r"[A-Za-z0-9]{24}"),
    KeyFormat("Authress key", "sc_ ext_", r"[A-Za-z0-9]{5,30}+\.[a-z0-9]{4,6}+\.acc[_-][\w-]{10,32}+\.[\w+/=-]{30}"),
    KeyFormat("Backblaze key", "K00", r"[0-9][A-Za-z0-9+/]{27}(?![\w+/])"),
    KeyFormat("Cerebras key", "csk-", r"[a-z0-9]{48}"),
    KeyFormat("Checkout.com key", "sk_sbx_ sk_us_ pk_sbx_", r"[a-z0-9*#$=]{20}"),
    KeyFormat("BestTime key", "pri_", r"[a-f0-9]{32}(?!\w)"),
    KeyFormat("ClickHouse secret", "4b1d", r"[A-Za-z0-9]{38}(?!\w)"),
    KeyFormat("ClickUp token", "pk_", r"\d{5,12}_[A-Z0-9]{32}"),
    KeyFormat("CodeRabbit key", "cr-", r"[a-f0-9]{58}"),
    KeyFormat("Coze token", "pat_", _DIGIT + r"[A-Za-z0-9]{64}"),
    KeyFormat("Crates.io token", "cio", r"[A-Za-z0-9]{32}(?!\w)"),
    KeyFormat("Databricks token", "dapi dkea dose", r"[a-fA-F0-9]{32}"),
    KeyFormat("Deno token", "ddp_ ddo_ ddw_", r"[A-Za-z0-9]{36}"),
    KeyFormat("dfuse key", "web_ server_", r"[a-f0-9]{32}(?!\w)"),
    KeyFormat("Dropbox token", "sl.", r"(?:u\.)?[\w=-]{130}[\w=-]*+"),
    KeyFormat("ElevenLabs key", "sk_", r"[a-f0-9]{48}"),
    KeyFormat("API key", "sk_ rk_", r"(?:[a-z]{2,12}_){0,2}(?=[A-Za-z]{0,32}+[0-9])[A-Za-z0-9]{24}"),
    KeyFormat("Facebook token", "EAAB EAAC EAAD EAAG EAAI EAAM", _DIGIT + r"[A-Za-z0-9]{80}"),
    KeyFormat("Firecrawl key", "fc-", r"[a-f0-9]{32}"),
    KeyFormat("Fireworks key", "fw_", _DIGIT + r"[A-Za-z0-9]{22,24}+(?!\w)"),
    KeyFormat("Fly.io token", "fo1_", r"[\w-]{43}"),
    KeyFormat("Fly.io token", "fm1a_ fm1r_ fm2_", r"[A-Za-z0-9+/]{80}[A-Za-z0-9+/=,_]*+"),
    KeyFormat("FullStory key", "na1. eu1.", r"[A-Za-z0-9+/]{60}[A-Za-z0-9+/=]*+"),
    KeyFormat("Google key", "AQ.Ab8", r"[\w-]{35}"),
    KeyFormat("Google refresh token", "1//0", _DIGIT + r"[\w-]{40}"),
    KeyFormat("Groq key", "gsk_", r"[A-Za-z0-9]{48}"),
    KeyFormat("Harness token", "pat. sat.", r"[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}"),
    KeyFormat("Hugging Face token", "hf_", r"[A-Za-z0-9]{34}"),
    KeyFormat("Infracost key", "ico-", r"[A-Za-z0-9]{32}"),
    KeyFormat("Ionic token", "ion_", r"[A-Za-z0-9]{42}"),
    KeyFormat("Jina key", "jina_", r"[a-f0-9]{32}"),
    KeyFormat("LaunchDarkly key", "api- sdk- mob-", r"[0-9a-z]{8}(?:-[0-9a-z]{4}){3}-[0-9a-z]{12}(?!\w)"),
    KeyFormat("Lichess token", "lip_ lio_", _DIGIT + r"[A-Za-z0-9]{20}(?!\w)"),
    KeyFormat("Lob key", "live_ test_ live_pub_ test_pub_", r"[a-f0-9]{31}"),
    KeyFormat("Mailgun key", "key- pubkey-", r"[a-f0-9]{32}(?![\w-])"),
    KeyFormat("Mapbox token", "sk.eyJ pk.eyJ", r"[\w-]{40,}+\.[\w-]{20}"),
    KeyFormat("Mapbox token", "sk. pk.", r"[a-z0-9]{60}\.[a-z0-9]{22}"),
    KeyFormat(
        "NATS seed",
        " ".join(f"S{role}{one}" for role in "AUNOCX" for one in "ABCD"),
        r"(?=[A-Z]{0,54}+[0-9])[A-Z0-9]{55}(?!\w)",
    ),
    KeyFormat("Netlify token", "nfp_ nfc_ nfo_ nfu_", _DIGIT + r"[A-Za-z0-9_]{36}"),
    KeyFormat("Nightfall key", "NF-", r"(?=[A-Za-z]{0,32}+[0-9])[A-Za-z0-9]{32}(?!\w)"),
    KeyFormat("Notion token", "secret_", r"[A-Za-z0-9]{43}(?!\w)"),
    KeyFormat("NuGet key", "oy2", r"[a-z0-9]{43}(?!\w)"),
    KeyFormat("Octopus key", "API-", r"[A-Z0-9]{25,32}+(?![\w-])"),
    KeyFormat("Onfido token", "api_live. api_sandbox. api_live_us. api_live_ca.", r"[\w-]{11}\.[\w-]{32}"),
    KeyFormat("OpenAI key", "sk-", "(?!ssh-|ecdsa-)" + _DIGIT + r"[\w-]{20}"),
    # How PKCS 1 and 8 begin in base64: with a small number and the key's first one, or with the type of the key.
    KeyFormat(
        "private key",
        "MII",
        rf"[A-Za-z0-9+/]{{2}}[AQgw]IBA(?:A[JK]|DANBgkqhkiG9w0BAQ)[A-Za-z0-9+/]{{40}}{_BASE64_LINES}",
    ),
    KeyFormat(
        "private key",
        "MHcCAQEEI MIGkAgEBBD MIHcAgEBBEI MIGHAgEAMBMGByqGSM49AgEG MC4CAQAwBQYDK2V",
        rf"[A-Za-z0-9+/]{{30}}{_BASE64_LINES}",
    ),
    KeyFormat("pganalyze key", "pgar_ pgaw_", r"[A-Za-z0-9]{27}"),
    KeyFormat("PostHog key", "phx_ phc_ phs_", r"\w{43}"),
    KeyFormat("Replicate token", "r8_", r"[A-Za-z0-9]{37}"),
    KeyFormat("Resend key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    KeyFormat("RunPod key", "rpa_", r"[A-Z0-9]{40}"),
    KeyFormat("Salesforce session", "00D", r"[A-Za-z0-9]{12,15}+![\w.]{80}[\w.]*+"),
    KeyFormat("Salesforce key", "3MVG", r"[\w.]{45}"),
    KeyFormat("Scaleway key", "SCW", r"(?=[A-Z]{0,16}+[0-9])[A-Z0-9]{17}(?!\w)"),
    KeyFormat("SendGrid key", "SG.", r"(?=[A-Za-z_.=-]{0,40}+[0-9])[\w=.-]{66}"),
    KeyFormat("SonarQube token", "squ_ sqp_ sqa_", r"[A-Za-z0-9]{40}"),
    KeyFormat("Sourcegraph token", "slk_", r"[a-f0-9]{64}"),
    KeyFormat("Square token", "EAAA", r"(?=[A-Za-z_-]{0,24}+[0-9])[\w-]{60,61}+(?![\w+/=])"),
    KeyFormat("SpectralOps key", "spu-", r"[a-z0-9]{32}(?!\w)"),
    KeyFormat("Telnyx key", "KEY0", r"[A-F0-9]{31}_[A-Za-z0-9]{22}"),
    KeyFormat("Tencent key", "AKID", _DIGIT + r"[A-Za-z0-9]{32}(?!\w)"),
    KeyFormat("Twilio key", "SK AC", r"[0-9a-fA-F]{32}(?![\w+/=])"),
    KeyFormat("Twitter token", 20 * "A", r"A{1,2}(?=[A-Za-z0-9]{5,80}%)[A-Za-z0-9%]{60}"),
    KeyFormat("Twitch token", "oauth:", r"[a-z0-9]{30}(?!\w)"),
    KeyFormat("Twitch stream key", "live_", r"\d{8,12}+_[A-Za-z0-9]{28}"),
    KeyFormat("VolcEngine key", "AKLT", r"(?=[A-Za-z_-]{0,24}+[0-9])[A-Za-z0-9]{40}"),
    KeyFormat("Yandex key", "AQVN AQVL", r"[\w-]{35}"),
    KeyFormat(
        "Voyage AI key", "pa-", r"(?=[a-z0-9_-]{0,42}+[A-Z])(?=[A-Za-z_-]{0,42}+[0-9])[A-Za-z0-9_-]{43}(?![\w-])"
    ),
    KeyFormat("Voiceflow key", "VF.DM. VF.WS.", r"[a-f0-9]{24}\.[A-Za-z0-9]{15}"),
    KeyFormat("Yandex token", "t1.", r"[A-Z0-9a-z_-]{60,}+=*+\.[\w-]{86}"),
    KeyFormat("Zoho token", "1000.", r"[a-f0-9]{32}\.[a-f0-9]{32}"),
    KeyFormat("Yandex secret", "YC", r"(?=[A-Za-z_-]{0,24}+[0-9])[\w-]{38}(?![\w+/=])"),
)
"""Keys that are recognised at the beginning of a word."""

_HEX32, _HEX64 = "[0-9a-f]{32}", "[0-9a-f]{64}"

BY_SERVICE = (
    NamedFormat("Adobe key", "adobe", _HEX32),
    NamedFormat("Algolia key", "algolia", "[a-z0-9]{32}"),
    NamedFormat("Asana token", "asana", r"(?:\d{16}|(?:\d{1,8}/)?\d{12,24}+:?[A-Za-z0-9]{32,80}+|[a-z0-9]{32,36})"),
    NamedFormat("Atlassian token", "atlassian confluence jira", r"(?:[A-Za-z0-9]{20,24}|[MNO][A-Za-z0-9+/]{43})"),
    NamedFormat("Azure DevOps token", "ado_pat azure_devops devops_pat", "[a-z0-9]{52}"),
    NamedFormat("Beamer token", "beamer", r"b_[\w=-]{44}"),
    NamedFormat("Bitbucket key", "bitbucket", r"(?:[A-Za-z0-9]{32}|[\w=-]{64})"),
    NamedFormat("Bittrex key", "bittrex", "[a-z0-9]{32}"),
    NamedFormat("Calendarific key", "calendarific", "[a-z0-9]{32}"),
    NamedFormat("Clarifai key", "clarifai", _HEX32),
    NamedFormat("Cloudflare key", "cloudflare", r"(?:[0-9a-f]{37}|[\w-]{40})"),
    NamedFormat("Code Climate id", "codeclimate cc_test_reporter", _HEX64),
    NamedFormat("Codecov token", "codecov", rf"(?:{_UUID}|[a-z0-9]{{32}})"),
    NamedFormat("Cohere token", "cohere co_api_key", "[A-Za-z0-9]{40}"),
    NamedFormat("Coinbase key", "coinbase", r"(?:[\w-]{64}|[A-Za-z0-9]{16})"),
    NamedFormat("Confluent key", "confluent", "(?:[A-Za-z0-9]{64}|[A-Za-z0-9]{16})"),
    NamedFormat("Contentful token", "contentful", r"[\w=-]{43}"),
    NamedFormat("Datadog key", "datadog dd_api_key dd_app_key", "(?:[a-z0-9]{40}|[a-z0-9]{32})"),
    NamedFormat("Debounce key", "debounce_key debounce_token debounce_secret debounce_api", "[A-Za-z0-9]{13}"),
    NamedFormat("Discord secret", "discord", rf"(?:{_HEX64}|[\w=-]{{32}})"),
    NamedFormat("Drone CI token", "drone", "[a-z0-9]{32}"),
    NamedFormat("Dropbox secret", "dropbox", "(?:[a-z0-9]{15}|[a-z0-9]{11}A{10}[A-Za-z0-9_=-]{43})"),
    NamedFormat("Etsy token", "etsy", "[a-z0-9]{24}"),
    NamedFormat("Facebook secret", "facebook fb_app", _HEX32),
    NamedFormat("Fastly token", "fastly", r"[\w=-]{32}"),
    NamedFormat("Finicity key", "finicity", "(?:[a-z0-9]{32}|[a-z0-9]{20})"),
    NamedFormat("Finnhub token", "finnhub", "[a-z0-9]{20}"),
    NamedFormat("Flickr key", "flickr", "(?:[a-z0-9]{32}|[a-z0-9]{16})"),
    NamedFormat("FreshBooks token", "freshbooks", "[a-z0-9]{64}"),
    NamedFormat("Gitter token", "gitter", r"[\w-]{40}"),
    NamedFormat("GoCardless token", "gocardless", r"live_[\w=-]{40}"),
    NamedFormat("Heroku key", "heroku", _UUID),
    NamedFormat("HubSpot key", "hubspot", _UUID),
    NamedFormat("Intercom key", "intercom", r"[\w=-]{60}"),
    NamedFormat("Intervals key", "myintervals", "[a-z0-9]{11}"),
    NamedFormat("IPinfo token", "ipinfo", "[a-f0-9]{14}"),
    NamedFormat("JFrog token", "artifactory jfrog bintray xray", "(?:[A-Za-z0-9]{73}|[A-Za-z0-9]{64})"),
    NamedFormat("Jenkins crumb", "jenkins-crumb jenkins_crumb", "(?:[0-9a-f]{64}|[0-9a-f]{32})"),
    NamedFormat("Kraken key", "kraken", r"[\w+/=-]{80,90}"),
    NamedFormat("Kubernetes token", "kubeadm bootstrap", r"[a-z0-9]{6}\.[a-z0-9]{16}"),
    NamedFormat("KuCoin key", "kucoin", rf"(?:{_UUID}|[a-f0-9]{{24}})"),
    NamedFormat("LaunchDarkly key", "launchdarkly", r"[\w=-]{40}"),
    NamedFormat("LinkedIn key", "linkedin linked_in linked-in", "(?:[A-Za-z0-9]{16}|[A-Za-z0-9]{14})"),
    NamedFormat("Linode token", "linode", _HEX64),
    NamedFormat("Looker key", "looker", "(?:[a-z0-9]{24}|[a-z0-9]{20})"),
    NamedFormat("Mailgun key", "mailgun", "[a-h0-9]{32}"),
    NamedFormat("Mattermost token", "mattermost", "[a-z0-9]{26}"),
    NamedFormat("MessageBird key", "messagebird message-bird message_bird", rf"(?:{_UUID}|[A-Za-z0-9]{{25}})"),
    NamedFormat("Netlify token", "netlify", r"[\w=-]{40,46}"),
    NamedFormat("New Relic key", "newrelic new_relic new-relic", "(?:[a-z0-9]{64}|[A-Za-z0-9]{36,40})"),
    NamedFormat("New York Times key", "nytimes new-york-times newyorktimes", r"[\w=-]{32}"),
    NamedFormat("Okta token", "okta", r"00[\w=-]{40}"),
    NamedFormat("PagerDuty key", "pagerduty pager_duty pd_token pd_key", r"(?:u\+[\w+-]{18}|[\w-]{20}|[a-f0-9]{32})"),
    NamedFormat("Plaid key", "plaid", "(?:[a-z0-9]{30}|[a-z0-9]{24})"),
    NamedFormat("Private AI key", "private_ai private-ai privateai", "[a-z0-9]{32}"),
    NamedFormat("RapidAPI key", "rapidapi", r"[\w-]{50}"),
    NamedFormat("Sendbird key", "sendbird", rf"(?:{_UUID}|[a-f0-9]{{40}})"),
    NamedFormat("Sentry token", "sentry", _HEX64),
    NamedFormat(
        "Sidekiq key", "bundle_enterprise__contribsys__com bundle_gems__contribsys__com", "[a-f0-9]{8}:[a-f0-9]{8}"
    ),
    NamedFormat("Snyk token", "snyk", _UUID),
    NamedFormat("SoftLayer key", "softlayer sl_key", _HEX64),
    NamedFormat("SonarQube token", "sonar.login sonar_login sonar.token sonar_token sonarqube", r"[\w=-]{40}"),
    NamedFormat("Sourcegraph token", "sourcegraph", "[a-f0-9]{40}"),
    NamedFormat("Splunk token", "splunk", _UUID),
    NamedFormat("Squarespace token", "squarespace", _UUID),
    NamedFormat("Sumo Logic key", "sumo", "(?:[A-Za-z0-9]{64}|su[A-Za-z0-9]{12})"),
    NamedFormat("Telegram bot token", "telegram", r"\d{8,16}:[\w-]{33,36}"),
    NamedFormat("Travis token", "travis", "[A-Za-z0-9]{22}"),
    NamedFormat("Trello key", "trello", "(?:[A-Za-z0-9-]{32}|[a-f0-9]{64})"),
    NamedFormat("Twilio secret", "twilio", "(?:[A-Za-z0-9]{32})"),
    NamedFormat("Twitch token", "twitch", "[a-z0-9]{30}"),
    NamedFormat(
        "Twitter key",
        "twitter",
        r"(?:A{22}[A-Za-z0-9%]{60,100}|[A-Z]{22}(?:%[A-Za-z0-9]{3,60}){5}|\d{15,25}-[A-Za-z0-9]{20,40}|[A-Za-z0-9]{50}"
        r"|[A-Za-z0-9]{45}|[A-Za-z0-9]{25})",
    ),
    NamedFormat("Vault token", "vault", r"s\.[A-Za-z0-9]{24}"),
    NamedFormat("Vultr key", "vultr", "[A-Z0-9]{36}"),
    NamedFormat("Weights and Biases key", "wandb", "[a-f0-9]{40}"),
    NamedFormat("Yandex secret", "yandex", r"[\w-]{38,40}"),
    NamedFormat("Zendesk key", "zendesk", "[A-Za-z0-9]{40}"),
)
"""Keys that are recognised if their service is named before them."""
