"""What is random beside the name of a service: a key that nothing else gives away.

Law: what is looked at behind a name is bounded. Leaves to others: keys with a format of their own (`secret_formats`), and how
random is random (`secret_values`).
"""

from __future__ import annotations

import re

from penstock.text.secret_shape import PUBLIC, Shape, Spans, alternatives, to_end
from penstock.text.secret_values import reads_as_key

NAMES = (
    "abbliadigital abuseipdb accuweather acrelens actiniagrassgis adoptapet aemet aftership ai21 aiforthai "
    "ailawtracker aimastering aishub aletheia alphavantage amanahsunnah amdoren amthyste aniapi anidb anilist anycrap "
    "apachesuperset api2convert apiflash apifonica apiip apilayerpdflayer apimedic apimetrics apitemplate apixu "
    "apogeoapi appcues apptivo aqicn arbeitsamt astroway atomicmail attestwire audiomack ayrshare az511 bandcamp "
    "battuta beamer bestbuy bhagavadgita bicboxtech bigdatacloud billplz binance binaryedge bingmaps bitcoinaverage "
    "bitfinex bitly bitmex bitpanda bitquery bitrise bitwarden blablacar blaguexyz blazemeter blitapp blockscout "
    "blynkcloud boletocloud brainiall brainshop bravenewcoin brieftape browshot bruzu btcturk bugcrowd buildpdf "
    "buywhere bybit calendarific capesandbox carboninterface careerjet carvector cashboard censys chargemap "
    "charitysearch chartmogul checio cheetaho ciscospark clarifai clickmeter clickup climatiq clockify cloudbet "
    "cloudconvert cloudimage cloudmersive cloudsmith cloverly codedetection codeforces codestats coinapi coinbase "
    "coindcx coinigy coinlayer coinlib coinmarketcap coinranking coinremitter conversoriaecnae cooperhewitt correios "
    "cpfhub craftmypdf cruisefeed crxcavator cryptomarket curecancerwithai currencycloud currencyfreaks currencylayer "
    "cuttly d7network dagpi dailymotion danbooruanime dareboost ddownload debounce deepai destinygame dialogflow "
    "digikey dinomarkets discogs disqus dota2 dribbble dynapictures ebird econpulse ecourtsindia edamam edgrapi "
    "emailjs enigmapublic erstat etherscan ethplorer europeana euskalmet eventbrite eveonline everhour "
    "exchangeratesapi fastdol fastforex favqs feedbin filestack filingrail findl findwork fingerprintjspro fitbit "
    "flowdash fooddatacentral foodinfo formbucket foursquare fraudlabspro freesound freshworks frontaccounting "
    "fullcontact fullhunt fundingsignals ganjoor gateio gazetteuk geekflare generadordni geoapify geocod "
    "geodatasource geoscore getotp getping gettyimages getxapi gfycat giantbomb giphy gitguardian glitterly gnews "
    "gocanvas gofile goldbean googlemaps gorest graphhopper greynoise guildwars2 gunpolicy gyazo hackerearth "
    "hackerone hasura haveibeenpwned hearthstone helipaddysites heremaps hgweather holidayapi hotstoks html2pdf "
    "humblebundle huobi hybridanalysis hyperserve hypixel ibanforge ibmtexttospeech icytools iexcloud ilovepdf imagga "
    "imgbb imgur indodax infermedica infranode instagram instamojo instatus intelligencex intrinio invoiceocean "
    "invovate ip2geo ip2location ip2proxy ipapi ipfind ipgeolocation ipinfodb ipsonline ipstack iqair irisnet jamendo "
    "jcdecauxbike jobdatalake jooble joshuaproject jotform json2video jsonbin kaggle kakao kanbantool keenio "
    "kelleybluebook kgate kitsu kkbox klarna krakenkeys ksoftsilyrics langbly lastfm leadfeeder lectotranslation "
    "lexigram lichess linguarobot linkpreview liveagent locationiq loginradius longdomap lumify magicbell "
    "mailboxlayer mailboxvalidator mailjet mailmodo mailsac mailtrap maldatabase malshare malwarebazaar mangadex "
    "mangapi mapquest mariokarttour marketaux marketstack mattermost mediastack meirra mercadolibre mercadopago "
    "mercedesbenz merriamwebster metaapi metabase metacert microweather mintlify mixcloud mixpanel mockaroo mojang "
    "mojoauth musixmatch myanimelist myintervals napster nasdaqlink navitia newsdata newsflash newsx nicereply "
    "nlpcloud nophishy nordigen north7agent noticeable nounproject novadax nownodes nozbe nprone numverify "
    "nutritionix ocrspace octopart oikolab olxpoland onemapsingapore onesignal openapihub openaq opencage "
    "opencorporates openfigi opengraphr openqr openregistry openrouteservice openstreetmap openuv openvpn openweather "
    "orbintelligence orbitalwiki orionhealth oriznvisa owlbot pagecdn pagerank panafrica pandadoc pandascore parseur "
    "pastebin paypaloauth pdffleet peakmetrics pepipost petfinder pexafy pexels phisherman photoroom pinata pinterest "
    "pixabay pixela playerelo podio poloniex polydoc positionstack postlake postmark postnord poststack prexview "
    "propline proxycrawl proxykingdom publora pulsedive pumpfundata pusherbeams pyowm qweather rainbowweather "
    "randommer randomstuff rebrandly reddit redhat redirhub refiner rejax removebg rendex rendobar restpack "
    "revcardata rijksmuseum riotgames roadgoatcities roaring roboflowuniverse runconvert runscope saidit salesforce "
    "savepage sawolabs scanii schemashield schipholairport scoopit scrapeninja scraperapi scraperbox scrapestack "
    "scraping_bee scrapingant scrapingbee scrapingdog screenshotapi seatgeek securitytrails semantria sendinblue "
    "serpstack sheetsu shikimori shodan shopee shotstack shrtlnk shutterstock signaliz sirv siteintel skrapp "
    "skybiometry smartcar smartsheet socialswarm socrata songkick songlinkodesli soundcloud spacetradersapi "
    "sparepilot spectralapi spoonacular sportvision spotify spotsense spyse srpenergy stackexchange staffsign "
    "statuspage stormglass strava stytch styvio sunor supportivekoala suprsonic surveybot sustainmetrics swiftkanban "
    "swiftype systembolaget talordata tamtam tankerkoenig tastedive taxid tebex telize telnyx temsor textmagic "
    "the-odds-api theaudiodb thecocktaildb themealdb theoddsapi therundown thesportsdb thisispaper threatjammer "
    "thunderbit ticketmaster tiktok timedoor timezoneapi tinify tinyurl tisane todoist tokopedia tombaemailfinder "
    "tomtom tradier traileraddict trakt trashnothing tredict tripadvisor tumblr tweetapi uchecker udemy uebermaps "
    "ukcompanieshouse unogs unplugg unsplash untappd upcdatabase upres upwork urlbae usajobs userstack utahagrc "
    "vagalume vampirediaries vatlayer vatvalidation vedintelastroapi veriphone verirouteintel vidwords vimeo "
    "virustotal visualcrossing vouchery vuldb wallhaven wandb wargaming watchmode weatherapi weatherbit weatherstack "
    "web3storage webclaw webdam webexbot webscrapingai websitepulse webtrust wecantrack what3words whatsonthemenu "
    "wolframalpha woocommerce xfetch yahoofinance zenrows zestful zipcodeapi ziprecruiter"
)
"""Services that give out keys without a format, in lower case and without signs: of public-apis' list of those that ask for
one (github.com/public-apis/public-apis, MIT) whatever is no word of programs, and of more that scanners of commits know.
"""

_NAME_CHARS = max(map(len, NAMES.split()))
_BETWEEN_CHARS, _VALUE_CHARS = 40, 160  # behind the name, before the value; and of that
_VALUE = re.compile(r"(?<![\w+/.~-])[\w+/.~-]{15,160}+=*+(?![(\[{])", re.ASCII)
# A value that is called so is the name of something; and a sentence with a file of that name in it may end with a handle of ours.
_ID = re.compile(r"(?:[_. \"'-]id|I[dD])s?[\"'\])]{0,2}[ \t]{0,4}[:=]{1,2}>?[ \t]{0,4}[\"'`]?\Z|handle|page|;|[?/]")
_DIGESTS = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SECRET = re.compile(r"(?i:key|token|secret|auth|pass|cred)")
_DIRECT = re.compile(r"[\w-]+[\s\"':=>-]*")  # nothing but a sign stands between


def _beside(text: str, at: int, floor: int) -> Spans:
    """Return the first value that reads as a key behind the name of a service, on the same line."""
    del floor
    last = at + _NAME_CHARS + _BETWEEN_CHARS + _VALUE_CHARS
    end = text.find("\n", at, last)
    for found in _VALUE.finditer(text, at, last if end < 0 else end):
        between = text[at : found.start()]
        if len(between) > _BETWEEN_CHARS + _NAME_CHARS or PUBLIC.search(between) or _ID.search(between):
            break
        is_told = _SECRET.search(between) or _DIRECT.fullmatch(between)
        may_be = is_told or not ("," in between or _DIGESTS.fullmatch(found[0]))
        if may_be and reads_as_key(found[0]):
            return to_end(text, found.span())
    return ()


def by_services() -> Shape:
    """Return the shape of what is random beside the name of a service."""
    names = NAMES.split()
    return Shape("secret", tuple(names), (f"(?i:{alternatives(names)})",), _beside, is_folded=True)
