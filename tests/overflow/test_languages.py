"""Are refusals in languages other than English recognised, and texts that only share their words not (O-2)?

One author wrote all of them before the patterns; no pattern was changed for the second half of each language.
"""

from __future__ import annotations

import pytest

from penstock import overflow
from penstock.overflow import kinds, languages

REFUSALS = (
    (400, "El mensaje es demasiado largo: el límite de contexto del modelo es de 8192 tokens."),
    (400, "La entrada supera la longitud máxima de contexto (213462 tokens > 200000)."),
    (400, "Se ha excedido la ventana de contexto del modelo."),
    (400, "Die Eingabe ist zu lang für dieses Modell."),
    (400, "Die maximale Kontextlänge von 8192 Tokens wurde überschritten (angefragt: 9321 Tokens)."),
    (400, "Ihre Anfrage überschreitet das Kontextfenster des Modells."),
    (400, "La requête dépasse la longueur maximale du contexte de 8192 jetons."),
    (400, "Votre message est trop long pour le modèle."),
    (400, "L'entrée est trop longue : 9321 tokens, maximum 8192."),
    (400, "入力が長すぎます。最大トークン数は8192です。"),
    (400, "コンテキストの長さが上限を超えています。"),
    (400, "プロンプトが最大コンテキスト長（8192トークン）を超えました。"),
    (400, "입력이 너무 깁니다. 최대 토큰 수는 8192입니다."),
    (400, "컨텍스트 길이를 초과했습니다."),
    (400, "요청이 모델의 최대 컨텍스트 길이를 초과합니다 (9321 > 8192)."),
    (400, "Запрос слишком длинный: превышен максимальный размер контекста (8192 токенов)."),
    (400, "Превышена максимальная длина контекста модели."),
    (400, "Количество токенов во входных данных превышает допустимый лимит 8192."),
    (400, "A entrada é muito longa para o modelo."),
    (400, "O comprimento máximo do contexto deste modelo é 8192 tokens. Sua solicitação tem 9321 tokens."),
    (400, "O prompt excede o limite de contexto do modelo."),
    (400, "输入内容过长，请缩短后重试。"),
    (400, "该模型的最大上下文长度为8192个token，您的请求为9321个token。"),
    (400, "Su solicitud excede el número máximo de tokens permitido por el modelo."),
    (400, "El texto de entrada es demasiado largo. Reduzca la longitud de los mensajes."),
    (400, "La conversación ha superado el límite de contexto."),
    (413, "La petición contiene demasiados tokens (9321), el máximo es 8192."),
    (400, "Der Prompt überschreitet die maximale Länge des Modells."),
    (400, "Zu viele Tokens in der Eingabe: 9321 von höchstens 8192."),
    (400, "Kontextlimit überschritten. Bitte kürzen Sie die Nachrichten."),
    (400, "Der Text passt nicht in das Kontextfenster."),
    (400, "Le nombre de jetons de la requête dépasse la limite du modèle."),
    (400, "La fenêtre de contexte est dépassée."),
    (400, "Contexte trop long, veuillez raccourcir la conversation."),
    (400, "Trop de tokens dans l'invite (9321 sur 8192)."),
    (400, "リクエストのトークン数がモデルの上限を超過しています。"),
    (400, "メッセージが長すぎるため処理できません。"),
    (400, "会話がコンテキストウィンドウを超えています。"),
    (400, "메시지가 너무 길어 처리할 수 없습니다."),
    (400, "프롬프트가 컨텍스트 창을 초과했습니다."),
    (400, "토큰 수가 모델의 최대 한도를 넘었습니다."),
    (400, "Сообщение слишком длинное для данной модели."),
    (400, "Контекстное окно переполнено."),
    (400, "Длина запроса превышает максимально допустимую: 9321 токен при лимите 8192."),
    (400, "Sua mensagem é longa demais para o contexto do modelo."),
    (400, "O número de tokens da requisição ultrapassa o máximo permitido."),
    (400, "Limite de contexto excedido."),
    (400, "提示词太长，超出模型限制。"),
    (400, "请求的token数量超出了模型的上下文窗口。"),
    (400, "Die Summe aus Eingabe und max_tokens überschreitet das Kontextfenster von 8192 Tokens."),
    (400, "图片和文本的token总数超过上下文长度限制"),
    (400, "输入内容过长，请精简后稍后重试"),
)
OTHERS = (
    (429, "Demasiadas solicitudes. Ha superado el límite de tokens por minuto."),
    (429, "Zu viele Anfragen: Das Tokenlimit pro Minute wurde überschritten."),
    (400, "Die maximale Anzahl der Ausgabe-Tokens ist zu hoch: max_tokens darf höchstens 4096 sein."),
    (429, "Trop de requêtes. La limite de jetons par minute est dépassée."),
    (429, "リクエストが多すぎます。1分あたりのトークン上限を超えました。"),
    (429, "요청이 너무 많습니다. 분당 토큰 한도를 초과했습니다."),
    (429, "Слишком много запросов. Превышен лимит токенов в минуту."),
    (429, "Muitas solicitações. Você excedeu o limite de tokens por minuto."),
    (429, "请求过于频繁，已超过每分钟token限制。"),
    (400, "La imagen es demasiado grande: máximo 5 MB."),
    (400, "Das Bild überschreitet die maximale Größe von 5 MB."),
    (401, "Der API-Schlüssel ist zu lang."),
    (400, "画像のサイズが上限を超えています。"),
    (402, "Saldo insuficiente."),
    (402, "Guthaben überschritten."),
    (429, "Límite de velocidad superado, inténtelo de nuevo en 20 segundos."),
    (400, "El valor de max_tokens es demasiado grande, el máximo de tokens de salida es 4096."),
    (413, "El archivo es demasiado grande (máximo 20 MB)."),
    (429, "Die Ratenbegrenzung wurde überschritten, bitte versuchen Sie es später erneut."),
    (400, "Der Name des Werkzeugs ist zu lang."),
    (402, "Ihr Kontingent ist überschritten."),
    (429, "Limite de débit dépassée, réessayez dans 20 secondes."),
    (400, "Le nom de la fonction est trop long (64 caractères maximum)."),
    (402, "Quota dépassé."),
    (429, "レート制限を超えました。しばらくしてからもう一度お試しください。"),
    (400, "関数名が長すぎます。"),
    (429, "요청 한도를 초과했습니다. 잠시 후 다시 시도하세요."),
    (400, "이미지 크기가 최대 크기를 초과했습니다."),
    (429, "Превышена частота запросов, повторите позже."),
    (400, "Слишком длинное имя функции."),
    (402, "Превышена квота."),
    (429, "Limite de taxa excedido. Tente novamente mais tarde."),
    (400, "A imagem é muito grande."),
    (400, "图片大小超过限制。"),
    (500, "Interner Fehler beim Berechnen der Kontextlänge."),
    (400, "Le jeton d'accès est trop long."),
    (429, "今日のトークン使用量の上限を超えました。"),
    (400, "max_tokens 超过最大值 4096"),
    (400, "Die Ausgabe ist auf 4096 Token begrenzt, max_tokens 8000 ist zu hoch."),
    (400, "出力トークン数は最大4096です。max_tokens=8000は大きすぎます。"),
    (400, "Bitte kürzen Sie die Ausgabe auf 4096 Token."),
    (400, "Ihre Anfrage enthält 60 Einträge, maximal 50 sind erlaubt."),
    (400, "每次请求最多包含128个工具，当前为150个"),
    (404, "Das Modell mit 32768 Token Kontext ist nicht verfügbar."),
)
# What each states of limit, input, total and excess, if its words are unambiguous.
COUNTED = (
    ("Das Kontextfenster wird mit 9000 Token überschritten.", (None, 9000, None, None)),
    ("Das Kontextlimit von 8192 Tokens wird mit 9000 Token überschritten.", (8192, 9000, None, 808)),
    ("Die Anfrage überschreitet mit 9000 Token das Kontextfenster von 8192 Token.", (8192, 9000, None, 808)),
    ("Das Limit von 4096 Token wurde um 120 Token überschritten.", (4096, None, None, 120)),
    ("Kontextlänge überschritten: 9000 von 8192 Token verwendet.", (8192, 9000, None, 808)),
    ("Ein Modell mit 8192 Token Kontext kann 9000 Token nicht verarbeiten: Kontext überschritten.", (None,) * 4),
    ("Tokenlimit überschritten: erlaubt 32768, gesendet 45000 (Anfrage 7718, Port 8443).", (None,) * 4),
    ("Ihre Nachrichten enthalten 9.000 Token, das Modell unterstützt maximal 8.192 Token.", (None,) * 4),
    ("La requête dépasse de 808 jetons la limite de contexte (8192).", (8192, None, None, 808)),
    ("Fenêtre de contexte dépassée : 9000 sur 8192 jetons.", (8192, 9000, None, 808)),
    (
        "Votre requête contient 9 000 jetons, ce qui dépasse la limite de 8 192 jetons du modèle.",
        (8192, 9000, None, 808),
    ),
    ("Dépassement du contexte : 45 000 jetons demandés, limite 32 768 jetons.", (32_768, None, None, None)),
    ("Réduisez votre message à 8192 jetons au plus : le contexte est dépassé.", (8192, None, None, None)),
    ("Se excedió la ventana de contexto por 120 tokens: 4216 de 4096.", (None, 4216, None, 120)),
    ("El límite de contexto de 8192 tokens se supera con 9000 tokens.", (8192, 9000, None, 808)),
    ("A solicitação excede o limite de contexto em 808 tokens (limite 8192).", (8192, None, None, 808)),
    ("Превышена длина контекста: 9000 из 8192 токенов", (8192, 9000, None, 808)),
    ("您的输入共9000 tokens，超出模型上限8192 tokens，请缩短后重试。", (8192, 9000, None, 808)),
    ("您的消息过长：共45000个token，模型最多支持32768个token（请求编号 7718）。", (32_768, None, 45_000, 12_232)),
    ("错误码1261：Prompt 超长，最大128000，当前140000", (128_000, 140_000, None, 12_000)),
    ("入力が長すぎます。最大8192トークンですが、9000トークンが入力されました。", (8192, None, None, None)),
    ("入力トークン数（9,000）が上限（8,192）を超えています", (8192, 9000, None, 808)),
    ("リクエストのトークン数9000が最大コンテキスト長8192を超えました。", (8192, 9000, None, 808)),
    ("コンテキストの上限を808トークン超過しました（上限8192）。", (8192, None, None, 808)),
    ("上下文窗口剩余100个token，新消息需要808个token", (None, None, None, None)),
    ("上下文超出限制：新消息需要808个token，上限8192", (8192, None, None, None)),
    ("Votre prompt dépasse le quota de tokens du contexte (9000 > 8192)", (8192, 9000, None, 808)),
    ("컨텍스트 한도를 808토큰 초과했습니다.", (None, None, None, 808)),
    ("컨텍스트 길이 초과: 최대 8192 토큰, 요청 9000 토큰", (8192, 9000, None, 808)),
)


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(("text", "expected"), COUNTED)
def test_numbers_have_the_roles_of_their_words(text: str, expected: tuple[int | None, ...]) -> None:
    """Prepositions, verbs after numbers, digits touching letters and names of requests are read; ambiguous numbers are absent."""
    found = overflow.parse({"error": {"message": text}}, 400)
    assert found is not None
    assert (found.limit, found.input, found.total, found.excess) == expected


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(("status", "text"), REFUSALS)
def test_a_refusal_is_read_in_the_language_of_its_users(status: int, text: str) -> None:
    """Each is an overflow, and each number has the value that it states."""
    found = overflow.parse({"error": {"message": text}}, status)
    assert found is not None
    assert found.limit in {None, 8192, 200_000}
    assert found.input in {None, 9321, 213_462}
    assert (found.output, found.total) == (None, None)


@pytest.mark.proves("O-2")
@pytest.mark.parametrize(("status", "text"), OTHERS)
def test_a_pace_a_file_and_a_name_are_not_a_request(status: int, text: str) -> None:
    """The same words about something else are not an overflow."""
    assert overflow.parse({"error": {"message": text}}, status) is None


def test_the_pattern_of_many_words_looks_at_the_ends_of_a_text() -> None:
    """A sentence at either end is found, whatever is in between; without one of the cues nothing is searched."""
    padding = "x " * 3_000
    assert kinds.says_overflow(f"{padding}die eingabe ist zu lang")
    assert kinds.says_overflow(f"die eingabe ist zu lang {padding}")
    assert not kinds.says_overflow(f"{padding} die eingabe ist zu lang {padding}")
    for _, text in REFUSALS:
        assert any(cue in text.lower() for cue in languages.CUES), text


@pytest.mark.parametrize(
    "quoted",
    [
        "今日は天気がいいですね",
        "每天都要吃早餐",
        "kosten pro Tag",
        "le prix par jour est élevé",
        "частота запросов",
        "cuota mensual",
        "la respuesta es máxima",
        "die Antwort ist zu lang",
        "오늘 하루 종일",
    ],
)
@pytest.mark.parametrize(
    "said",
    [
        "prompt is too long: 210000 tokens > 200000 maximum. Input was: {}",
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens. Prompt: {}",
    ],
)
def test_a_refusal_in_english_may_quote_a_prompt_in_any_language(said: str, quoted: str) -> None:
    """What the prompt says is not what the provider says."""
    refusal = {"error": {"message": said.format(quoted), "type": "invalid_request_error"}}
    assert overflow.diagnose(refusal, 400).kind.startswith("context_")


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("status", [None, 400])
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("rate_limit", "Demasiadas solicitudes. Ha superado el límite de tokens por minuto."),
        ("rate_limit", "Zu viele Anfragen: Das Tokenlimit pro Minute wurde überschritten."),
        ("rate_limit", "Trop de requêtes. La limite de jetons par minute est dépassée."),
        ("rate_limit", "1分あたりのトークン上限を超えました。"),
        ("rate_limit", "분당 토큰 한도를 초과했습니다."),
        ("rate_limit", "Превышен лимит токенов в минуту."),
        ("rate_limit", "Limite de taxa excedido. Tente novamente mais tarde."),
        ("rate_limit", "今日のトークン使用量の上限を超えました。"),
        ("quota", "Saldo insuficiente."),
        ("quota", "Ihr Kontingent ist überschritten."),
        ("quota", "Превышена квота."),
        ("output_cap", "El valor de max_tokens es demasiado grande, el máximo de tokens de salida es 4096."),
        ("output_cap", "Reduzca max_tokens a 4096."),
        ("output_cap", "Réduisez max_tokens à 4096"),
        ("output_cap", "请将max_tokens减少到4096"),
        ("output_cap", "max_tokens를 4096 이하로 줄이세요"),
        ("quota", "크레딧이 부족합니다."),
        ("quota", "사용량 한도를 초과했습니다. 요금제를 업그레이드하세요."),
        ("quota", "Votre quota mensuel est épuisé."),
        ("quota", "Vos crédits sont épuisés, rechargez votre compte."),
        ("quota", "Vous avez atteint la limite de votre forfait."),
    ],
)
def test_what_is_waited_for_or_paid_is_told_by_its_words_alone(status: int | None, kind: str, text: str) -> None:
    """A proxy may have no status for it; a smaller request would be refused again."""
    assert overflow.diagnose({"error": {"message": text}}, status).kind == kind
