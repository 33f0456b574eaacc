"""Made-up keys as their services describe them, one description per line: a prefix, then letters with their set and number.

They are written from the services' descriptions, not from the patterns, so that a wrong pattern misses a right example.
`=…` is literal text; `w36` is 36 letters and digits, `l` lower case only, `u` upper case only, `h` hexadecimal, `d` digits,
`t` with `_` and `-`, `b` with `+` and `/`, `j` the letters of Django's keys; `U` is a UUID.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

OWN = """
password hash: =$2b$12$ w53
password hash: =$apr1$ w8 =$ w22
password hash: =$6$ w8 =$ w86
password hash: =$5$rounds=5000$ w16 =$ w43
Kerberos hash: =$krb5asrep$ =23$user@example.com: h32 =$ h80
Microsoft Teams webhook: =/IncomingWebhook/ h32 =/ U
Voiceflow key: =VF.DM. h24 =. w16
1Password token: =ops_eyJ w300
1Password key: =A3- u6 =- u11 =- u5 =- u5 =- u5
Google storage key: =GOOG1E1 u54
Docker token: =SWMTKN-1- l49 =- l25
New Relic key: =NRBR- h19
pyx token: =sk-pyx- w56
Google key: =AQ.Ab8 t48
Akamai token: =akab- l16 =- l16
Salesforce key: =3MVG w80
API key: =sk_pr_mykey_ h40
API key: =rk_ w32
Elastic key: =essu_ b96
WunderGraph key: =cosmo_ h32
Packagist key: =packagist_ack_ h28
Instagram token: =IGQVJ t140
1Password recovery key: =1PRK- u4 =- u4 =- u4 =- u4 =- u4 =- u4 =- u4 =- u4 =- u4 =- u4 =- u4 =- u4 =- u4
Adafruit key: =aio_ w28
Adobe secret: =p8e- h32
age key: =AGE-SECRET-KEY-1 u58
age key: =AGE-SECRET-KEY-PQ-1 u58
Aikido secret: =AIK_SECRET_ w40
Airtable token: =pat w14 =. h64
Aiven password: =AVNS_ t18
Alibaba key: =LTAI w20
Alibaba key: =LTAI w12
LlamaCloud key: =llx- t48
NATS seed: =SUA u55
SpectralOps key: =spu- h32
Twitter token: =AAAAAAAAAAAAAAAAAAAAA w12 =AAAAAAA0%2B w60
Facebook token: =EAACEdEose0cBA w24
Mailgun key: h32 =- h8 =- h8
private key: =MIIEpAIBAAKCAQEA b200
private key: =MIIEvQIBADANBgkqhkiG9w0BAQEFAASC b200
private key: =MHcCAQEEI b100
LaunchDarkly key: =api- l8 =- l4 =- l4 =- l4 =- l12
PyPI token: =pypi-AgEI t120
Amazon MWS key: =amzn.mws. U
Anthropic key: =sk-ant- =api03- t93 =AA
Apify token: =apify_api_ w36
Artifactory key: =AKCp w69
Artifactory token: =cmVmd w59
Artifactory password: =AP6 w24
Atlassian token: =ATATT3xFfGF0 t180
Atlassian token: =ATBB w32
Authress key: =scauth_ l12 =.abcd.acc- l16 =. b44
Authress key: =sc_ l12 =.abcd.acc- l16 =. b44
AWS key: =AKIA u16
AWS key: =ASIA u16
AWS Bedrock key: =ABSKQmVkcm9ja0FQSUtleS b110
Azure key: t44 =AzFu t5 =A==
Azure key: b33 =AzCaB b5 ==
Azure key: b33 =AZEGD b5 ==
Azure key: b33 =+ASbP b5 ==
Azure key: b33 =+ARmA b5 ==
Azure key: b76 =APIM b5 =Q==
Azure key: w52 =JQQJ9D u24 w2
Azure key: w52 =JQQJ9H u24 w2
Azure key: w52 =JQQJ99 u24 w2
Azure secret: w3 =8Q~ w34
Azure storage key: =AccountKey= b86 ===
Backblaze key: =K001 w27
Braintree token: =access_token$production$ l16 =$ h32
Brevo key: =xkeysib- h64 =- w16
Buildkite token: =bkua_ w40
Cerebras key: =csk- l48
Checkout.com key: =sk_sbx_ l26
CircleCI token: =CCIPAT_ w22 =_ h40
ClickHouse secret: =4b1d w38
Clojars token: =CLOJARS_ l60
Cloudflare CA key: =v1.0- h24 =- h146
Cloudflare token: =cfut_ w40 h8
CockroachDB key: =CCDB1_ w22 =_ w40
ConfigCat key: =configcat-sdk-1/ t22 =/ t22
Contentful token: =CFPAT- t43
Crates.io token: =cio w32
Databricks token: =dapi h32
Defined Networking key: =dnkey- w26 =- w52
Dependency Track key: =odt_ w32
Deno token: =ddp_ w36
Django key: =django-insecure- j50
DigitalOcean token: =dop_v1_ h64
Discord token: =MTk4NjIyNDgzNDcxOTI1MjQ4. w6 =. t27
Discord webhook: =https://discord.com/api/webhooks/ d18 =/ t68
Docker token: =dckr_pat_ t27
Doppler token: =dp.pt. w43
Dropbox token: =sl. t135
Duffel token: =duffel_live_ t43
Dynatrace token: =dt0c01. u24 =. u64
EasyPost key: =EZAK w54
ElevenLabs key: =sk_ h48
Facebook token: =EAAB w140
Figma token: =figd_ t40
Firecrawl key: =fc- h32
Fireworks key: =fw_ w22
Flutterwave key: =FLWSECK_TEST- h32 =-X
Fly.io token: =fo1_ t43
Fly.io token: =fm2_ w120
Frame.io token: =fio-u- t64
GitHub token: =ghp_ w36
GitHub token: =ghs_ w36
GitHub token: =github_pat_ w22 =_ w59
GitLab token: =glpat- t20
GitLab token: =glcbt- =64_ t20
GitLab token: =glptt- h40
GitLab token: =GR1348941 t20
GitLab token: =glrt-t1_ t27 =.01. l9
GitLab session: =_gitlab_session= h32
Google key: =AIzaSy t33
Google refresh token: =1//0 t60
Google secret: =GOCSPX- t28
Google token: =ya29. t120
Google token: =ya29. t20
Grafana key: =eyJrIjoi w42
Grafana token: =glc_eyJ w60
Grafana token: =glc_Kg/Srw+ b26
Grafana token: =glsa_ w32 =_ h8
Groq key: =gsk_ w52
Harness token: =pat. t22 =. w24 =. w20
Heroku key: =HRKU-AA t58
HubSpot token: =pat-na1- U
Hugging Face token: =hf_ w34
Hugging Face token: =api_org_ w34
Infracost key: =ico- w32
Intra42 secret: =s-s4t2ud- h64
Ionic token: =ion_ w42
JWT: =eyJhbGciOiJIUzI1NiJ9. =eyJ w40 =. t43
Jina key: =jina_ h32 w27
Langfuse key: =sk-lf- U
LangSmith key: =lsv2_pt_ h32 =_ h10
LaunchDarkly key: =sdk- U
Lichess token: =lip_ w20
Lightdash token: =ldpat_ h32
Linear token: =lin_api_ w40
Lob key: =live_ h35
Logfire token: =pylf_v1_us_ w43
Mailchimp key: h32 =-us12
MailerSend token: =mlsn. h64
Mailgun key: =key- h32
Mapbox token: =sk.eyJ w80 =. t22
MaxMind key: w6 =_ w29 =_mmk
Mercury token: =secret-token:mercury_ w40
MongoDB Atlas secret: =mdb_sa_sk_ t40
Netlify token: =nfp_ w40
New Relic key: =NRAK- u27
New Relic key: =NRAA- h27
New Relic key: =px-dep- U
New Relic key: =px-api- U
New Relic key: =NRJS- h19
New Relic key: h36 =NRAL
Notion token: =ntn_ d11 w35
Notion token: =secret_ w43
npm token: =npm_ w36
NuGet key: =oy2 l43
NVIDIA key: =nvapi- t64
Octopus key: =API- u28
Onfido token: =api_live. t11 =. t32
Open VSX token: =ovsxp_ U
OpenAI key: =sk-proj- t156
OpenAI key: =sk- w20 =T3BlbkFJ w20
OpenRouter key: =sk-or-v1- h64
OpenShift token: =sha256~ t43
Ory token: =ory_pat_ w32
Paddle key: =pdl_live_apikey_ l26 =_ w22 =_ w3
Perplexity key: =pplx- w48
Persona key: =persona_production_ U
Pinecone key: =pcsk_ w5 =_ w63
Plaid token: =access-production- U
PlanetScale secret: =pscale_tkn_ t43
Polar token: =polar_oat_ w43
PostHog key: =phx_ w43
Postman key: =PMAK- h24 =- h34
Prefect key: =pnu_ w36
Pulumi token: =pul- h40
PyPI token: =pypi-AgEIcHlwaS5vcmc t150
Razorpay key: =rzp_live_ w14
ReadMe key: =rdme_ l70
Replicate token: =r8_ w37
Resend key: =re_ w8 =_ w24
Rootly key: =rootly_ h64
RubyGems key: =rubygems_ h48
RunPod key: =rpa_ u46
Samsara token: =samsara_api_ w30
Scaleway key: =SCW u17
Scalingo token: =tk-us- t48
SendGrid key: =SG. t22 =. t43
Sentry token: =sntrys_eyJ w100 =_ w43
Sentry token: =sntryu_ h64
SettleMint token: =sm_pat_ w16
Shippo token: =shippo_live_ h40
Shopify token: =shpat_ h32
Sindri key: =sindri_ w32
Slack token: =xoxb- d12 =- d13 =- w24
Slack token: =xapp-1-A0 u9 =- d13 =- h64
Slack webhook: =https://hooks.slack.com/services/T u8 =/B u8 =/ w24
SonarQube token: =squ_ h40
Sourcegraph token: =sgp_ h16 =_ h40
Sourcegraph token: =slk_ h64
Square token: =sq0csp- t43
Square token: =EAAA t60
StackHawk key: =hawk. w20 =. w20
Stripe key: =sk_live_ w24
Stripe webhook secret: =whsec_ w32
Stripe webhook secret: =whsec_Kg/Srw+ b26
Supabase key: =sbp_ h40
Supabase key: =sb_secret_ t31
Tailscale key: =tskey-auth- w12 =CNTRL- w32
Tavily key: =tvly- w32
Teams webhook: =https://acme.webhook.office.com/webhookb2/ U =@ U =/IncomingWebhook/ h32 =/ U
Telegram token: d10 =:AA t33
Telegram token: d10 =:AA t32
Telegram token: d10 =:AA t31
Telnyx key: =KEY0 H31 =_ w22
Tencent key: =AKID w32
Terraform token: w14 =.atlasv1. t67
Thunderstore token: =tss_ w38
Together key: =tgp_v1_ t43
Trello token: =ATTA h72
Twilio key: =SK h32
Twitch token: =oauth: l30
Typeform token: =tfp_ w44 =_ w14
Ubidots token: =BBFF- w30
Unkey key: =unkey_ w22
Val Town token: =vtwn_ w28
Vault token: =hvs. t95
Vercel token: =vcp_ w56
VolcEngine key: =AKLT w44
WakaTime key: =waka_ U
Weights and Biases key: =wandb_v1_ w50
xAI key: =xai- w80
BestTime key: =pri_ h32
Bitbucket token: =BBDC- b40
ClickUp token: =pk_ d8 =_ u32
dfuse key: =web_ h32
Fleetbase key: =flb_live_ w20
Firebase token: =APA91b t134
Friendli token: =flp_ w46
CodeRabbit key: =cr- h58
Coze token: =pat_ w64
Scale key: =live_auth_ h32
Riot Games key: =RGAPI- U
Voyage AI key: =pa- t43
Telegram token: =tgram:// d10 =: t35
Flexport token: =shltm_ t46
FullStory key: =na1. b96
Nightfall key: =NF- w32
Pagar.me key: =ak_live_ w30
pganalyze key: =pgar_ w27
PubNub key: =sec-c- b48
Salesforce session: =00D w12 =! w96
Segment token: =sgp_ w64
Teamwork token: =tkn.v1_ b84
ThingsBoard token: =thingsboard.cloud/api/v1/ l20
Tines webhook: =tines.com/webhook/ h32 =/ h32
TruffleHog key: =thog-key- h16
Twitch stream key: =live_ d9 =_ w30
Zoho token: =1000. h32 =. h32
Azure DevOps token: w76 =AZDO w4
Yandex key: =AQVN t36
Yandex secret: =YC t38
Yandex token: =t1. t120 =. t86
Zapier webhook: =https://hooks.zapier.com/hooks/catch/ d7 =/ l7
Zuplo key: =zpka_ l32 =_ h8
"""
"""Keys that can be recognised by themselves."""

NAMED = """
Mailgun key: mailgun h32
Adobe key: adobe h32
Algolia key: algolia l32
Asana token: asana d1 =/ d16 =: h32
Atlassian token: jira w24
Beamer token: beamer =b_ t44
Bitbucket key: bitbucket w32
Bittrex key: bittrex l32
Calendarific key: calendarific l32
Clarifai key: clarifai h32
Cloudflare key: cloudflare h37
Codecov token: codecov U
Cohere token: cohere w40
Coinbase key: coinbase t64
Confluent key: confluent w64
Contentful token: contentful t43
Datadog key: datadog h32
Debounce key: debounce_key w13
Discord secret: discord t32
Drone CI token: drone l32
Dropbox secret: dropbox l15
Etsy token: etsy l24
Facebook secret: facebook h32
Fastly token: fastly t32
Finicity key: finicity h32
Finnhub token: finnhub l20
Flickr key: flickr h32
FreshBooks token: freshbooks h64
Gitter token: gitter h40
GoCardless token: gocardless =live_ t40
Heroku key: heroku U
HubSpot key: hubspot U
Intercom key: intercom t60
Intervals key: myintervals l11
IPinfo token: ipinfo h14
JFrog token: artifactory w64
Kraken key: kraken b86
Kubernetes token: kubeadm l6 =. l16
KuCoin key: kucoin h24
LaunchDarkly key: launchdarkly t40
LinkedIn key: linkedin w16
Linode token: linode h64
Looker key: looker w24
Mattermost token: mattermost l26
MessageBird key: messagebird w25
Netlify token: netlify t43
New Relic key: newrelic h40
New York Times key: nytimes w32
Okta token: okta =00 t40
PagerDuty key: pagerduty h32
Plaid key: plaid h30
Private AI key: private_ai h32
RapidAPI key: rapidapi w50
Sendbird key: sendbird h40
Sentry token: sentry h64
Sidekiq key: bundle_gems__contribsys__com h8 =: h8
Snyk token: snyk U
SoftLayer key: softlayer h64
SonarQube token: sonar_token h40
Sourcegraph token: sourcegraph h40
Splunk token: splunk U
Squarespace token: squarespace U
Sumo Logic key: sumo w64
Travis token: travis w22
Trello key: trello h32
Twilio secret: twilio h32
Twitch token: twitch l30
Azure DevOps token: devops_pat l52
Code Climate id: codeclimate h64
Jenkins crumb: jenkins-crumb h64
Telegram bot token: telegram d9 =: t35
Twitter key: twitter w50
Vault token: vault =s. w24
Vultr key: vultr u36
Weights and Biases key: wandb h40
Yandex secret: yandex t39
Zendesk key: zendesk w40
"""
"""Keys that only the name of their service reveals."""

_UPPER, _LOWER = string.ascii_uppercase + string.digits, string.ascii_lowercase + string.digits
_SETS = {
    "w": string.ascii_letters + string.digits,
    "l": _LOWER,
    "u": _UPPER,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "t": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "j": string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)",
}


def written(line: str, dice: random.Random) -> str:
    """Return a random key of a description."""
    return "".join(_part(part, dice) for part in line.split())


def _part(part: str, dice: random.Random) -> str:
    if part.startswith("="):
        return part[1:]
    if part == "U":
        return "-".join(_part(f"h{size}", dice) for size in (8, 4, 4, 4, 12))
    letters, size = _SETS[part[0]], int(part[1:])
    # At least one digit, and a letter or digit at both ends: no key is a word, and none begins or ends with a sign.
    made = [dice.choice(letters) for _ in range(size)]
    made[size // 2] = "7"
    if part[0] in "tbj":
        made[0] = made[-1] = "a" if part[0] == "j" else "A"
    return "".join(made)


def described(table: str) -> list[tuple[str, str]]:
    """Return the kind and the description for each line of a table."""
    return [(kind, rest) for kind, _, rest in (line.partition(": ") for line in table.strip().splitlines())]
