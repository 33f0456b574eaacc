"""In which words do servers refuse in languages other than English? One sentence for all of them, made of their nouns and verbs.

Gateways, proxies and company servers word their refusals for their users: in Chinese, French, German, Japanese, Korean, Portuguese,
Russian and Spanish. What is sent, what holds it, and what is said of the two have few words in each language, in any order. Law: as
in `kinds`; a pace, a plan, a file, an image, a name or a reply that is too large is not among these. Leaves to others: numbers
(`number_words`), although their nouns are here too.
"""

from __future__ import annotations

from typing import Final

LETTER: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter, digit or underscore of a name that holds digits: digits may touch Chinese, Japanese and Korean text."""
OF: Final = r"von|sur|de|из"
"""What comes between the amount sent and the amount that fits, as a regular expression."""
BY: Final = (
    r"\bum|(?:dépass|excèd)\w+ de|(?:super|exced|rebas|sobrepas|ultrapass)\w*[^.;:\d]{0,40}?\b(?:por|en|em)|"
    r"превы[сш]\w+[^.;:\d]{0,40}? на"
)
"""Before a number that says by how much a limit is exceeded, as a regular expression."""
WITH: Final = r"(?<![a-z])(?:mit|avec|con|com)\b"
"""What comes before a number that something has, as a regular expression."""
HAS: Final = (
    r"s?(?:の|的|'s)? ?(?:トークン数?|tokens?(?:数量?|zahl|anzahl)?|长度|長さ|の長さ|길이)?"
    r" ?(?:は|が|共?有?|为|是|ist|hat|enthält|enthalten|"
    r"benötigt|a|est|fait|contient|compte|tiene|contiene|es|tem|contém|é|содержит)?"
)
"""What may come between a request and its size, as a regular expression."""
AT_MOST: Final = (
    r"以下|以内|まで|이하|까지|oder weniger|au (?:plus|maximum)|como máximo|o menos|no máximo|или меньше|"
    r"erlaubt|zulässig|autorisés?|permitid[oa]s?|допустимо|許可|允许"
)
"""What comes after a number that is a limit, as a regular expression."""
SHORTEN: Final = (
    r"(?:kürz\w+|reduzier\w+)[^.;\d]*\bauf|(?:rédui\w+|raccourci\w+)[^.;\d]*\bà|(?:reduzca|reduce|acorte|reduza|encurte)[^.;\d]*\b(?:a|para)|"
    r"(?:сократите|уменьшите)[^.;\d]*\bдо|(?:缩短|减少|控制)(?:到|至|在)"
)
"""What comes before a number to which a request is to be shortened, as a regular expression."""
NAME: Final = (
    r"(?:port|ticket|anfrage|nachricht|fehler|nr\.?|requête|demande|erreur|n°|solicitud|mensaje|petición|pedido|nº|запрос|номер|№|"
    r"编号|请求(?:编号|id)?|错误码?|番号|リクエスト(?:番号|id)?|エラー|요청 ?번호|번호)"
)
"""What a number without a unit names but does not count, as a regular expression."""
MODEL: Final = r"(?:modell|modèle|modelo|fenster|fenêtre|ventana|janela)"
"""Names of what has a limit, as a regular expression."""

# Stems, because of inflected endings; those that could begin another word end at a boundary.
CONTEXT: Final = r"(?:kontext\w*|context[oe]\b|контекст\w*|コンテキスト|コンテクスト|컨텍스트|문맥|上下文)"
"""Names of the context, as a regular expression."""
_TOKENS: Final = r"(?:(?<![a-z])(?:tokens?(?:an)?(?:zahl|limit|grenze)?|jetons?)(?![a-z])|токен\w*|トークン|토큰|令牌)"
GIVEN: Final = (
    r"(?:mensajes?|entradas?|solicitud|petición|conversación|historial|indicación|"
    r"eingabe|nachrichten|nachricht|anfrage|unterhaltung|gespräch|verlauf|konversation|"
    r"messages?|requête|entrée|invite|conversation|historique|demande|"
    r"mensagem|mensagens|solicitação|requisição|conversa|histórico|pedido|"
    r"запрос|сообщени\w+|входн\w+|промпт|диалог|ввод|"
    r"入力|プロンプト|メッセージ|会話|リクエスト|입력|프롬프트|메시지|대화|요청|输入|提示词?|消息|会话|对话|请求|"
    r"prompt|texto|text[eo]?|текст|テキスト|텍스트|文本)"
)
"""Names of a request and its parts, as a regular expression."""
LIMIT: Final = (
    r"(?:máxim[oa]|\bhasta|bis zu|jusqu'à|\baté\b|límite|ventana|höchst\w*|grenze|\blimite\b|fenêtre|лимит\w*|максим\w+|окно|"
    r"上限|最大|制限|최대|한도|限制)"
)
"""Names of a limit, as a regular expression."""
_LENGTH: Final = (
    r"(?:longitud|länge|longueur|comprimento|tamanho|tamaño|taille|"
    r"длин\w+|размер\w*|長さ|길이|长度|ventana|janela|fenêtre|fenster|окно|창|窗口)"
)
_TOO_LONG: Final = (
    r"(?:demasiado (?:larg|extens|grand)\w+|zu (?:lang|groß)\b|trop (?:long|grand)\w*|(?:muito|demasiado) (?:long|"
    r"extens|grand)\w+|"
    r"(?:long|extens)[oa] demais|слишком (?:длинн|больш)\w+|長すぎ|長過ぎ|大きすぎ|너무 (?:길|긴|깁|커|큽)|过长|太长|"
    r"超长|太大)"
)
_TOO_MANY: Final = r"(?:demasiados|zu viele|trop de|muitos|tokens demais|слишком много|多すぎ|너무 많|过多|太多)"
EXCEEDS: Final = (
    r"(?:super(?:a|ó|an|ado|ada)\b|exced\w+|rebas(?:a|an|ó|ad[oa])\b|sobrepas\w+|überschr\w+|übersteig\w+|pass(?:t|en) nicht|"
    r"reich(?:t|en) nicht|no cabe|ne (?:tient|rentre) pas|não cabe|не помеща\w+|収まりません|入りきり|"
    r"dépass\w+|excèd\w+|"
    r"ultrapass\w+|превы[сш]\w+|переполн\w+|超え|超過|초과|넘었|넘는|넘습|超出|超过|超限)"
)
"""Verbs of what is above a limit, as a regular expression."""
ABOVE: Final = (
    r"(?:und|damit|y|et|e|и)?\s*(?:überschreite[nt]|übersteig(?:en|t)|superan?|exceden?|rebasan?|sobrepasan?|dépassent|dépasse|"
    r"excèdent|excède|excedem|ultrapassam?|превышае?ют|превышает|超过了?|超出了?)"
    rf"[^.,:;\d。，]{{0,30}}?(?:{LIMIT}|{CONTEXT}|limit|{_LENGTH}|\d)"
)
"""Verbs after a number that say that it exceeds what they name next, as a regular expression."""

CUES: Final = (
    "demasiad",
    "supera",
    "superó",
    "exced",
    "rebas",
    "sobrepas",
    "máxim",
    "zu lang",
    "zu groß",
    "zu viele",
    "überschr",
    "übersteig",
    "passt",
    "passen",
    "maximal",
    "höchst",
    "limite",
    "trop ",
    "dépass",
    "excèd",
    "muito",
    "demais",
    "ultrapass",
    "слишком",
    "превы",
    "переполн",
    "максим",
    "すぎ",
    "過ぎ",
    "超",
    "最大",
    "制限",
    "上限",
    "너무",
    "초과",
    "넘",
    "최대",
    "한도",
    "过",
    "太",
    "满",
    "剩",
    "いっぱい",
    "voll",
    "plein",
    "llen",
    "chei",
    "заполн",
    "reich",
    "cabe",
    "tient",
    "помеща",
    "kürz",
    "reduz",
    "rédui",
    "短",
    "hasta",
)
"""Substrings of which every sentence about something too large contains one."""
WITHIN_CHARS: Final = 1_000
"""How much of the head and of the tail of a text these patterns search, as they cost some 15 microseconds a letter."""

_GAP: Final = r"(?:[^.;。]|\.(?=\d)){0,60}?"


def _either(one: str, other: str) -> str:
    """Return a pattern for two patterns in one sentence, in either order."""
    return rf"{one}{_GAP}{other}|{other}{_GAP}{one}"


TOO_LARGE: Final = "|".join(
    (
        _either(CONTEXT, rf"(?:{EXCEEDS}|{_TOO_LONG})"),
        _either(rf"{GIVEN}", _TOO_LONG),
        _either(_TOKENS, rf"(?:{EXCEEDS}|{_TOO_MANY})"),
        rf"{GIVEN}{_GAP}(?:{_LENGTH}{_GAP}{EXCEEDS}|{EXCEEDS}{_GAP}{_LENGTH})|{_LENGTH}{_GAP}{GIVEN}{_GAP}{EXCEEDS}",
        # "Die maximale Kontextlänge ist 8192 Tokens": a maximum with its number, as in English.
        rf"{LIMIT}{_GAP}{CONTEXT}{_GAP}\d|{_LENGTH} {LIMIT}{_GAP}{CONTEXT}{_GAP}\d|{CONTEXT} {LIMIT}{_GAP}\d",
        rf"{CONTEXT}[^.;。]{{0,10}}(?:已满|voll\b|pleine?\b|llen[oa]\b|chei[oa]\b|いっぱい|заполнен)",
        # "Ihre Nachrichten enthalten 9000 Token, das Modell unterstützt maximal 8192": two numbers, and one is a limit.
        rf"{GIVEN}{_GAP}\d\W*{_TOKENS}{_GAP}(?:{LIMIT}|maxim\w+){_GAP}\d|\d\W*{_TOKENS}{_GAP}(?:{LIMIT}|maxim\w+){_GAP}{GIVEN}{_GAP}\d",
        rf"{CONTEXT}[^.;。]{{0,10}}剩余?{_GAP}需要?\d",
        rf"{SHORTEN}\W*\d[\d.,]*\W*{_TOKENS}|\d\W*{_TOKENS}(?:以内|以下)に短縮",
    )
)
"""Sentences about a request that is too large for its context, as a regular expression."""

_REPLY: Final = (
    r"(?:salida|saída|sortie|ausgabe|antwort|respuesta|réponse|resposta|вывод|выходн\w+|ответ\w*|出力|応答|출력|응답|输出|回复|"
    r"max_\w*tokens)"
)
TOO_HIGH: Final = rf"(?:{_TOO_LONG}|zu hoch|(?:muy|muito) alto|trop élevé|слишком велик|너무 높|过大)"
"""What is said of a parameter that is too large, as a regular expression."""
_CAPPED: Final = _either(_REPLY, rf"(?:{EXCEEDS}|{LIMIT}|{TOO_HIGH})")
REPLY_CAP: Final = rf"^(?!.*{CONTEXT}).*?(?:{_CAPPED})"
"""Sentences about a requested reply that is too long, as a regular expression."""
_OTHERS: Final = (
    # an image, a file, a name, a tool
    r"imagen|imagem|\bbild\w*|изображени|画像|이미지|图片|图像|archivo|datei|fichier|файл|arquivo|ファイル|파일|文件|"
    r"\bimages?\b|\bnombre de (?:la|el|tu|su|función|herramienta)|\bname\b|\bnom\b|nome d|\bимя|\bимен[иа]|funktion|"
    r"fonction|función|função|функци|"
    r"関数|함수|函数|herramienta|werkzeug|outil|ferramenta|инструмент|ツール|도구|工具|"
    # a key
    r"jetons? d'acc|tokens? de (?:acc?es|api)|clave|clé|chave|schlüssel|токен\w* доступа|ключ|アクセストークン|キー|"
    r"액세스 토큰|访问令牌|密钥"
)
_FAULTS: Final = (
    r"interner fehler|error interno|erreur interne|erro interno|внутренн\w+ ошибк|内部エラー|내부 오류|内部错误"
)
NO_REQUEST: Final = rf"{_FAULTS}|^(?!.*{CONTEXT}).*(?:{_OTHERS}|{_REPLY})"
"""Sentences about other things that are too large in the same words, as a regular expression."""

LOWER: Final = r"reduzca|acorte|reduza|encurte|rédui(?:sez|re)|kürzen sie|reduzieren sie|сократите|уменьшите"
"""Verbs before what is to be made smaller, as a regular expression; none that is English too."""
LOWERED: Final = r"(?:減ら|下げ|줄이|줄여|낮추|减少|减小|调小|降低)"
"""Verbs after what is to be made smaller, as a regular expression."""
PACE: Final = (
    r"(?:por|al|cada) (?:minuto|segundo|hora|día|dia)\b|(?:pro|je) (?:minute|sekunde|stunde|tag)\b|par (?:minute|"
    r"seconde|heure|jour)\b|"
    r"в (?:минуту|секунду|час|день|сутки)|分あたり|毎分|秒あたり|1分間|分당|분당|초당|하루|每分钟|每秒|每天|每日|今日|"
    r"límite de (?:velocidad|tasa|frecuencia)|limite de (?:débit|taxa|fréquence)|ratenbegrenzung|ratenlimit|"
    r"частот\w+ запросов|レート制限|속도 제한|速率|"
    r"demasiadas (?:solicitudes|peticiones)|zu viele anfragen|trop de requêtes|muitas (?:solicitações|requisições)|"
    r"слишком много запросов|リクエストが多すぎ|요청이 너무 많|请求过于频繁|请求过多|"
    r"inténtelo de nuevo en|réessayez dans|novamente em|повторите через"
)
"""Sentences about too much in a period, as a regular expression: the cure is to wait."""
PLAN: Final = (
    r"saldo insuficiente|saldo insuffi|guthaben|kontingent|solde insuffisant|недостаточно средств|\bквот|"
    r"残高|잔액|할당량|cuota|\bcota\b|"
    r"크레딧[^.]{0,12}(?:부족|소진|없)|사용량 한도|"
    r"quotas?(?: \w+)?(?: est| a été)? (?:dépassé|atteint|épuisé)|crédits?(?: sont)? (?:insuffisant|épuisé)|"
    r"limite de votre (?:forfait|abonnement)"
)
"""Sentences about a plan or an account that is used up, as a regular expression."""
