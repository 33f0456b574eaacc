"""Which random value next to the name of a service is a key? One that nothing else gives away.

Law: what is read after a name is bounded. Leaves to others: keys with a format of their own (`secret_formats`), and what counts
as random (`secret_values`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from penstock.text.secret_formats import BY_SERVICE
from penstock.text.secret_shape import PUBLIC, SERVICES, Shape, Spans, alternatives, later, to_end
from penstock.text.secret_values import count_changes, counts_up, is_key, reads_as_key

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = (
    "abbliadigital abbysale abuseipdb accuweather acrelens actiniagrassgis adoptapet adzuna aemet aeroworkflow "
    "aftership ai21 aiforthai ailawtracker aimastering airbrake airvisual aishub alconost alegra aletheia "
    "alphavantage amadeus amanahsunnah amdoren amthyste aniapi anidb anilist anycrap apachesuperset apacta api2cart "
    "api2convert apideck apiflash apifonica apiip apilayerpdflayer apimatic apimedic apimetrics apitemplate apixu "
    "apogeoapi appcues appfollow appsynergy apptivo aqicn arbeitsamt assemblyai astroway atomicmail attestwire audd "
    "audiomack auth0 autodesk autoklose autopilot avaza aviationstack axonaut aylien ayrshare az511 bandcamp "
    "bannerbear battuta beamer beebole bestbuy besttime bhagavadgita bicboxtech bigdatacloud bigmodel billomat "
    "billplz binance binaryedge bingmaps bitbar bitcoinaverage bitfinex bitly bitmex bitpanda bitquery bitrise "
    "bitwarden blablabus blablacar blaguexyz blazemeter blitapp blockscout blogger blynkcloud boletocloud bombbomb "
    "boostnote borgbase brainiall brainshop brandfetch bravenewcoin brieftape browshot bruzu btcturk buddyns bugcrowd "
    "bugherd bugsnag buildkite buildpdf buttercms buywhere bybit caflou calendarific calendly calorieninja campayn "
    "capesandbox capsulecrm carboninterface careerjet carvector cashboard caspio censys centralstation cexio "
    "chargemap charitysearch chartmogul chatfuel chatglm checio checklyhq checkvist cheetaho ciscospark clearbit "
    "clickhelp clickmeter clickup cliengo climatiq clinchpad clockify cloudbet cloudconvert cloudelements cloudimage "
    "cloudmersive cloudplan cloudsmith cloverly clustdoc codacy codedetection codeforces codestats coinapi coinbase "
    "coindcx coinigy coinlayer coinlib coinmarketcap coinranking coinremitter commercejs companyhub conversoriaecnae "
    "convertkit cooperhewitt correios countrylayer coveralls cpfhub craftmypdf crowdin cruisefeed crxcavator "
    "cryptocompare cryptomarket curecancerwithai currencycloud currencyfreaks currencylayer currencyscoop currentsapi "
    "cuttly d7network dagpi dailymotion danbooruanime dareboost databox datafire ddownload debounce deepai deepgram "
    "delighted destinygame detectlanguage dialogflow diffbot digikey dinomarkets discogs disqus dnscheck dota2 "
    "dotmailer dovico dribbble dronahq dwolla dynalist dynapictures dyspatch eagleeyenetworks easyinsight ebird "
    "econpulse ecourtsindia edamam edenai edgrapi emailjs enablex enigma enigmapublic erstat etherscan ethplorer "
    "europeana euskalmet eventbrite eveonline everhour exchangerates exchangeratesapi faceplusplus fakejson fastdol "
    "fastforex favqs feedbin fetchrss figma fileio filestack filingrail financialmodelingprep findl findwork "
    "fingerprintjspro fitbit flightapi flightstats flowdash flowflu fmfw fooddatacentral foodinfo formbucket formio "
    "foursquare fraudlabspro freesound freshdesk freshworks frontaccounting fullcontact fullhunt fullstory "
    "fundingsignals fusebill fxmarket ganjoor gateio gazetteuk geckoboard geekflare generadordni geoapify geocod "
    "geodatasource geoscore getemail getemails getgeoapi getgist getotp getping getsandbox gettyimages getxapi gfycat "
    "giantbomb giphy gitguardian glassnode glitterly gnews gocanvas gofile goldbean goodday googlemaps gorest "
    "graphhopper greynoise guildwars2 gunpolicy gyazo hackerearth hackerone happyscribe hasura haveibeenpwned "
    "hearthstone helipaddysites hellosign helpcrunch helpscout hereapi heremaps hgweather hiveage holidayapi hotstoks "
    "html2pdf humblebundle huobi hybridanalysis hyperserve hypertrack hypixel ibanforge ibmtexttospeech iconfinder "
    "icytools iexcloud ilovepdf imagekit imagga imgbb imgur indodax infermedica infranode infura insightly instagram "
    "instamojo instatus integromat intelligencex intrinio invoiceocean invovate ip2geo ip2location ip2proxy ipapi "
    "ipfind ipgeolocation ipifi ipify ipinfodb ipquality ipsonline ipstack iqair irisnet jamendo jcdecauxbike "
    "jobdatalake jooble joshuaproject jotform json2video jsonbin jumpcloud kaggle kakao kanbantool keenio "
    "kelleybluebook kgate kickbox kitsu kkbox klarna klipfolio kontent krakenkeys ksoftsilyrics kylas langbly "
    "languagelayer lastfm leadfeeder lectotranslation lendflow lexigram lichess linenotify linguarobot linkpreview "
    "liveagent livestorm locationiq loginradius lokalise longdomap loyverse lumify madkudu magicbell mailboxlayer "
    "mailboxvalidator mailerlite mailjet mailmodo mailsac mailtrap maldatabase malshare malwarebazaar mandrill "
    "mangadex mangapi mapquest mariokarttour marketaux marketstack mattermost mavenlink maxmind meaningcloud "
    "mediastack meirra meistertask mercadolibre mercadopago mercedesbenz merriamwebster mesibo metaapi metabase "
    "metacert microweather mindmeister mintlify mixcloud mixmax mistral mixpanel mockaroo mojang mojoauth moonclerck "
    "moonclerk moosend mrticktock musixmatch myanimelist myintervals napster nasdaqlink navitia netcore nethunt "
    "neutrinoapi newsapi newscatcher newsdata newsflash newsx nexmo nftport nicereply nlpcloud nophishy nordigen "
    "north7agent noticeable nounproject novadax nownodes nozbe nprone numverify nutritionix nylas oanda ocrspace "
    "octopart oikolab olxpoland omnisend onedesk onemapsingapore onepagecrm onesignal onwater oopspam openapihub "
    "openaq opencage opencorporates openfigi opengraphr openqr openregistry openrouteservice openstreetmap openuv "
    "openvpn openweather optimizely orbintelligence orbitalwiki orionhealth oriznvisa owlbot owm_api pagecdn pagerank "
    "panafrica pandadoc pandascore paralleldots parseur partnerstack passbase pastebin paydirtapp paymoapp paymongo "
    "paypaloauth pdffleet pdflayer pdfshift peakmetrics peopledatalabs pepipost petfinder pexafy pexels phisherman "
    "photoroom pinata pinterest pipedrive pixabay pixela planview planviewleankit planyo playerelo plivo podio "
    "poloniex polydoc positionstack postageapp postlake postmark postnord poststack powrbot prexview propline "
    "proxycrawl proxykingdom publora pulsedive pumpfundata purestake pushbullet pusherbeams pyowm qualaroo qubole "
    "quickmetrics qweather rainbowweather randommer randomstuff rawg rebrandly reddit redhat redirhub refiner rejax "
    "removebg rendex rendobar repairshopr restpack revcardata rijksmuseum ringcentral riotgames ritekit "
    "roadgoatcities roaring roboflowuniverse rocketreach ronin rownd runconvert runrunit runscope saidit salesblink "
    "salescookie salesflare salesforce satismeter saucelabs savepage sawolabs scaleway scanii schemashield "
    "schipholairport scoopit scrapeninja scrapeowl scraperapi scraperbox scrapersite scrapestack scrapfly "
    "scraping_bee scrapingant scrapingbee scrapingdog screenshotapi seatgeek securitytrails selectpdf semantria "
    "sendinblue serphouse serpstack sheetsu sheety sherpadesk shikimori shipday shodan shopee shotstack shrtlnk "
    "shutterstock signaliz signalwire signaturit signupgenius sigopt simplesat simplynoted simvoly sinch sirv "
    "siteintel siteleaf skrapp skybiometry smartcar smartsheet smartystreets smooch snipcart socialswarm socrata "
    "songkick songlinkodesli soundcloud spacetradersapi sparepilot spectralapi spoonacular sportsmonk sportvision "
    "spotify spotsense spyse srpenergy sslmate stackexchange staffsign statuspage stitchdata storecove stormglass "
    "storyblok storychief strava stytch styvio sugester sunor supernotes supportivekoala suprsonic surveybot "
    "surveysparrow survicate sustainmetrics swiftkanban swiftype systembolaget tallyfy talordata tamtam tankerkoenig "
    "tastedive taxid taxjar teamgate teamworkcrm teamworkdesk teamworkspaces tebex technicalanalysisapi telize telnyx "
    "temsor textanywhere textmagic the-odds-api theaudiodb thecocktaildb themealdb theoddsapi therundown thesportsdb "
    "thinkific thisispaper thousandeyes threatjammer thunderbit ticketmaster tiingo tiktok timedoor timezoneapi "
    "tinify tinyurl tisane tmetric todoist toggl tokopedia tombaemailfinder tomtom tradier traileraddict trakt "
    "trashnothing travelpayouts tredict tripadvisor tumblr tweetapi twelvedata tyntec typeform uchecker udemy "
    "uebermaps ukcompanieshouse unogs unplugg unsplash untappd upcdatabase uplead uploadcare upres upwork urlbae "
    "urlscan usajobs userstack utahagrc vagalume vampirediaries vatlayer vatvalidation vedintelastroapi vercel "
    "verimail veriphone verirouteintel versioneye vidwords viewneo vimeo virustotal visualcrossing voicegain vouchery "
    "vpnapi vuldb vyte walkscore wallhaven wandb wargaming watchmode weatherapi weatherbit weatherstack web3storage "
    "webclaw webdam webex webexbot webflow webscrapingai websitepulse webtrust wecantrack wepay what3words "
    "whatsonthemenu whoxy wolframalpha woocommerce worksnaps workstack worldcoinindex wrike xfetch yahoofinance "
    "youneedabudget yousign zenkit zenrows zenscrape zenserp zeplin zerobounce zestful zhipu zipcodeapi ziprecruiter "
    "zonka betterstack kanbantool luno mockaroo myintervals nethunt openweather parseur scrapingbee simplynoted sirv "
    "transferwise visualcrossing"
)
"""Services that issue keys without a format, in lower case and without signs: from public-apis' list, those that require a
key (github.com/public-apis/public-apis, MIT) and are not words of programs; and more that secret scanners for commits know.
"""

_BETWEEN_CHARS, _VALUE_CHARS = 40, 160  # after the name, before the value; and of that
_VALUE = later(r"(?<![\w+/.~-])[\w+/.~-]{15,160}+=*+(?![(\[{])", re.ASCII)
# A value with such a name is the name of something; and a sentence with a file of that name in it may end with a handle of ours.
_ID = later(r"(?:[_. \"'-]id|I[dD])s?[\"'\])]{0,2}[ \t]{0,4}[:=]{1,2}>?[ \t]{0,4}[\"'`]?\Z|handle|page|;|[?/]")
_OTHER = later(r"//.*|\d+|pub[0-9a-f]{32}")  # an address, the number of an account, Datadog's public tokens
_DIGESTS = later(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SECRET = later(r"(?i:key|token|secret|private|auth|pass|cred)")
# The line above a value that stands alone.
_HEADING = later(
    r"[\w .\r\n-]{0,24}\b(?i:key|token|secret|private|access)[ \t:]{0,4}\r?\n[ \t]{0,8}"
    r"(?=[\w+/=.~-]{15,160}[ \t]{0,8}(?:\r?\n|\Z))",
    re.ASCII,
)
_ENDS = later(r"[\s\"'`,;)\]}<\\]|\Z")
_PARTS, _MIN_PARTS = later(r"(?<![^._+/-])(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]++"), 3
_DIRECT = later(r"[\w-]*[\s\"':=>-]*")  # nothing but a sign in between
# In quotes, after a name that says what it is, it need not be long.
_CALLED = later(
    r"[\w .-]{0,24}(?i:key|token|secret|password)[\"'\])]{0,2}[ \t]{0,4}(?:=>|[:=-])[ \t]{0,4}"
    r"(?:\"([^\s\"]{8,160}+)\"|'([^\s']{8,160}+)')",
    re.ASCII,
)
_MIN_CHANGES = 2  # from letters to digits and back
_KEY_CHARS = 4  # of the shortest name
# Services whose keys have a format, though not all of them: they have other keys, or had.
_OF_FORMATS = frozenset(name for row in BY_SERVICE for name in row.names.split() if len(name) >= _KEY_CHARS)


@cache
def _by_beginning() -> dict[str, tuple[str, ...]]:
    """Return the names by their first letters: one expression of all would take longer to compile than most texts to search."""
    names: dict[str, tuple[str, ...]] = {}
    for name in sorted({*NAMES.split(), *_OF_FORMATS}):
        names[name[:_KEY_CHARS]] = (*names.get(name[:_KEY_CHARS], ()), name)
    return names


def _end_of_name(text: str, at: int) -> int:
    """Return the end of the name that begins at a place; the place itself if none does."""
    begin = text[at : at + _BETWEEN_CHARS].lower()
    names = _by_beginning().get(begin[:_KEY_CHARS], ())
    return at + next((len(name) for name in names if begin.startswith(name)), 0)


def _beside(text: str, at: int, _floor: int) -> Spans:
    """Return the first value that reads as a key after the name of a service, on the same line."""
    behind = _end_of_name(text, at)
    if text.startswith(("://", "@"), behind) or text[at : behind + 1].lower() == "toggle":
        return ()  # the scheme of an address, or a word
    if (called := _CALLED.match(text, behind)) and count_changes(called[called.lastindex or 0]) >= _MIN_CHANGES:
        return (called.span(called.lastindex or 0),)
    last = behind + _BETWEEN_CHARS + _VALUE_CHARS
    end = text.find("\n", heading.end() if (heading := _HEADING.match(text, behind)) else at, last)
    for found in _VALUE.finditer(text, at, last if end < 0 else end):
        between = text[behind : found.start()]
        if len(between) > _BETWEEN_CHARS or PUBLIC.search(between) or _ID.search(between):
            break
        if _OTHER.fullmatch(found[0]):
            continue
        is_told = _SECRET.search(between) or _DIRECT.fullmatch(between)
        may_be = is_told or not ("," in between or _DIGESTS.fullmatch(found[0]))
        is_called = _SECRET.search(between) and _ENDS.match(text, found.end())
        reads = _is_called if is_called else reads_as_key
        if may_be and (reads(found[0]) or any(map(counts_up, found[0].split("-")))):
            return to_end(text, found.span())
    return ()


def _is_called(value: str) -> bool:
    """Return whether a value that is called a key is one: a key in parts has letters and digits in each."""
    parts = _PARTS.findall(value)
    return reads_as_key(value) or is_key(value) or len(parts) >= _MIN_PARTS


def by_services() -> Iterable[Shape]:
    """Yield the shapes of random values next to the name of a service."""
    names = NAMES.split()
    yield Shape("secret", tuple(names), (f"(?i:{alternatives(names)})",), _beside, is_folded=True, engine=SERVICES)
    # These are looked at where their formats are: a hint for the bare name would find a fifth more places in source code.
    yield Shape("secret", tuple(sorted(_OF_FORMATS)), (), _beside, is_folded=True, engine=SERVICES)
