"""How do providers word refusals? Labelled samples, shaped by documentation, sources and issue threads.

`OVERFLOWS`: text, HTTP status, kind, recovery, then the numbers by name. `OTHERS`: text, HTTP status, kind, recovery.
"""

# ruff: noqa: E501 - sentences as they come

from __future__ import annotations

from typing import Any, NamedTuple

TOO_LONG = ("context_input", "shrink_input")
WITH_REPLY = ("context_total", "shrink_output")
BOTH_TOO_LONG = ("context_total", "shrink_input")


class Sample(NamedTuple):
    """One refusal and its correct diagnosis."""

    provider: str
    text: Any
    status: int | None
    kind: str
    recovery: str
    numbers: dict[str, Any]


def _overflow(provider: str, status: int | None, answer: tuple[str, str], text: Any, **numbers: Any) -> Sample:
    return Sample(provider, text, status, *answer, numbers)


def _other(provider: str, status: int | None, kind: str, recovery: str, text: Any) -> Sample:
    return Sample(provider, text, status, kind, recovery, {})


OVERFLOWS = [
    _overflow(
        "xai",
        400,
        TOO_LONG,
        '{"code":"Client specified an invalid argument","error":"This model\'s maximum prompt length is 131072 but the request contains 537812 tokens."}',
        limit=131072,
        input=537812,
        excess=406740,
    ),
    _overflow(
        "moonshot",
        400,
        TOO_LONG,
        {
            "error": {
                "message": "Invalid request: Your request exceeded model token limit: 262144 (requested: 291351)",
                "type": "invalid_request_error",
            }
        },
        limit=262144,
        total=291351,
        excess=29207,
    ),
    _overflow("moonshot", 400, TOO_LONG, "Your request exceeded model token limit: 128000", limit=128000),
    _overflow(
        "cerebras",
        400,
        TOO_LONG,
        '{"message":"Please reduce the length of the messages or completion. Current length is 8195 while limit is 8192","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}',
        limit=8192,
        input=8195,
        excess=3,
    ),
    _overflow(
        "cohere",
        400,
        WITH_REPLY,
        "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354. Try using a shorter prompt or a smaller max_tokens value.",
        limit=2048,
        total=6354,
        excess=4306,
    ),
    _overflow(
        "cohere",
        400,
        TOO_LONG,
        {
            "message": "too many tokens: size limit exceeded by 954 tokens. Try using shorter or fewer inputs. The limit for this model is 4081 tokens."
        },
        limit=4081,
        excess=954,
    ),
    _overflow(
        "cohere",
        400,
        TOO_LONG,
        "Too many tokens: the total number of tokens in the prompt exceeds the limit of 4081 tokens.",
        limit=4081,
    ),
    _overflow(
        "watsonx",
        400,
        TOO_LONG,
        '{"errors":[{"code":"invalid_input_argument","message":"Invalid input argument for Model \'meta-llama/llama-2-70b-chat\': the number of input tokens 4098 cannot exceed the total tokens limit 4096 for this model","more_info":"https://cloud.ibm.com/apidocs/watsonx-ai"}],"trace":"f8a07210b001efe4c862b642f3ece475","status_code":400}',
        limit=4096,
        input=4098,
        excess=2,
    ),
    _overflow(
        "watsonx",
        400,
        TOO_LONG,
        '{"code": "token_quantity_exceeded", "message": "input token count is above the limit"}',
    ),
    _overflow(
        "cloudflare",
        413,
        WITH_REPLY,
        {
            "success": False,
            "errors": [
                {
                    "code": 5021,
                    "message": "AiError: The estimated number of input and maximum output tokens (155740) exceeded this model context window limit (128000).",
                }
            ],
        },
        limit=128000,
        total=155740,
        excess=27740,
        bound="approx",
    ),
    _overflow(
        "cloudflare",
        413,
        WITH_REPLY,
        "3010: AiError: The estimated number of input and maximum output tokens (35000) exceeded this model context window limit (24000)",
        limit=24000,
        total=35000,
        excess=11000,
        bound="approx",
    ),
    _overflow(
        "vllm",
        400,
        WITH_REPLY,
        "This model's maximum context length is 32768 tokens. However, you requested 32000 output tokens and your prompt contains at least 769 input tokens, for a total of at least 32769 tokens. Please reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=769)",
        limit=32768,
        input=769,
        output=32000,
        total=32769,
        excess=1,
        bound="lower_bound",
    ),
    _overflow(
        "vllm",
        400,
        BOTH_TOO_LONG,
        "You passed 24577 input tokens and requested 8192 output tokens. However, the model's context length is only 32768 tokens, resulting in a maximum input length of 24576 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=24577)",
        limit=32768,
        input=24577,
        output=8192,
        excess=1,
        bound="lower_bound",
    ),
    _overflow(
        "vllm",
        400,
        TOO_LONG,
        {
            "object": "error",
            "message": "The decoder prompt (length 8357) is longer than the maximum model length of 8192. Make sure that `max_model_len` is no smaller than the number of text tokens.",
            "code": 400,
        },
        limit=8192,
        input=8357,
        excess=165,
    ),
    _overflow(
        "vllm",
        400,
        TOO_LONG,
        "The prompt (total length 35213) is too long to fit into the model (context length 32768). Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.",
        limit=32768,
        input=35213,
        excess=2445,
    ),
    _overflow(
        "tensorrt-llm",
        400,
        TOO_LONG,
        {
            "object": "error",
            "message": "The sum of prompt length (72417.0), query length (0) should not exceed max_num_tokens (69632)",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
        limit=69632,
        input=72417,
        excess=2785,
    ),
    _overflow(
        "tensorrt-llm",
        500,
        TOO_LONG,
        "Prompt length (5000) exceeds maximum input length (4096). Set log level to info and check TRTGptModel logs for how maximum input length is set",
        limit=4096,
        input=5000,
        excess=904,
    ),
    _overflow(
        "deepinfra",
        400,
        TOO_LONG,
        '{"object":"error","message":"Requested input length 132490 exceeds maximum input length 32767"}',
        limit=32767,
        input=132490,
        excess=99723,
    ),
    _overflow(
        "bedrock-titan",
        400,
        TOO_LONG,
        "An error occurred (ValidationException) when calling the InvokeModel operation: 400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279 ",
        limit=8192,
        input=9279,
        excess=1087,
    ),
    _overflow(
        "bedrock-nova",
        400,
        TOO_LONG,
        "ValidationException: The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.",
    ),
    _overflow(
        "bedrock", 400, TOO_LONG, "The model returned the following errors: Input is too long for requested model."
    ),
    _overflow(
        "perplexity",
        400,
        TOO_LONG,
        "[400] Messages have 16865 tokens, which exceeds the max limit of 8192 tokens.",
        limit=8192,
        input=16865,
        excess=8673,
    ),
    _overflow(
        "mistral",
        400,
        TOO_LONG,
        "The number of tokens in the prompt exceeds the model's maximum context length of 32768. Please use a shorter prompt.",
        limit=32768,
    ),
    _overflow(
        "mistral",
        422,
        TOO_LONG,
        {
            "detail": [
                {
                    "type": "value_error",
                    "loc": ["body"],
                    "msg": "Value error, Prompt contains 33044 tokens, too large for model with 32768 maximum context length",
                    "input": {"messages": []},
                }
            ]
        },
        limit=32768,
        input=33044,
        excess=276,
    ),
    _overflow(
        "openrouter",
        400,
        BOTH_TOO_LONG,
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 212745 tokens (122163 of text input, 58582 of tool input, 32000 in the output). Please reduce the length of either one, or use the context-compression plugin to compress your prompt automatically.",
        limit=131072,
        input=180745,
        output=32000,
        total=212745,
        excess=81673,
        bound="approx",
    ),
    _overflow(
        "openai",
        400,
        WITH_REPLY,
        "This model's maximum context length is 16385 tokens. However, you requested 18226 tokens (12890 in the messages, 1336 in the functions, and 4000 in the completion). Please reduce the length of the messages, functions, or completion.",
        limit=16385,
        input=14226,
        output=4000,
        total=18226,
        excess=1841,
    ),
    _overflow(
        "openai-embeddings",
        400,
        TOO_LONG,
        "This model's maximum context length is 8192 tokens, however you requested 10346 tokens (10346 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
        limit=8192,
        input=10346,
        output=0,
        total=10346,
        excess=2154,
    ),
    _overflow(
        "openai-responses",
        None,
        TOO_LONG,
        'event: response.failed\ndata: {"type":"response.failed","response":{"id":"resp_0123456789","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again."},"output":[],"usage":null}}\n\n',
    ),
    _overflow(
        "azure",
        400,
        TOO_LONG,
        "Error code: 400 - {'error': {'message': 'Input tokens exceed the configured limit of 922000 tokens. Your messages resulted in 1000031 tokens. Please reduce the length of the messages.', 'type': 'invalid_request_error', 'param': 'messages', 'code': 'context_length_exceeded'}}",
        limit=922000,
        input=1000031,
        excess=78031,
    ),
    _overflow(
        "github-models",
        413,
        TOO_LONG,
        "Error code: 413 - {'error': {'code': 'tokens_limit_reached', 'message': 'Request body too large for gpt-4o model. Max size: 8000 tokens.', 'details': 'Request body too large for gpt-4o model. Max size: 8000 tokens.'}}",
        limit=8000,
    ),
    _overflow(
        "lm-studio",
        400,
        TOO_LONG,
        '{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 10978 >= n_ctx: 8192). Try to load the model with a larger context length, or provide a shorter input."}',
        limit=8192,
    ),
    _overflow(
        "lm-studio",
        400,
        TOO_LONG,
        "Trying to keep the first 13448 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input",
        limit=4096,
    ),
    _overflow(
        "llama.cpp",
        500,
        TOO_LONG,
        '{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}',
    ),
    _overflow(
        "llama.cpp",
        400,
        TOO_LONG,
        "request (152346 tokens) exceeds the available context size (131072 tokens), try increasing it",
        limit=131072,
        input=152346,
        excess=21274,
    ),
    _overflow(
        "llama-cpp-python",
        400,
        TOO_LONG,
        "ValueError: Requested tokens (9437) exceed context window of 8192",
        limit=8192,
        input=9437,
        excess=1245,
    ),
    _overflow(
        "ds4",
        400,
        TOO_LONG,
        "Prompt has 12,345 tokens, but the configured context size is 8,192 tokens",
        limit=8192,
        input=12345,
        excess=4153,
    ),
    _overflow(
        "ollama", 500, TOO_LONG, '{"error":"prompt too long; exceeded max context length by 4 tokens"}', excess=4
    ),
    _overflow(
        "ollama", 400, TOO_LONG, "Token sequence length exceeds limit (5000 > 4096)", limit=4096, input=5000, excess=904
    ),
    _overflow("ollama-embed", 400, TOO_LONG, '{"error":"the input length exceeds the context length"}'),
    _overflow("minimax", 400, TOO_LONG, "invalid params, context window exceeds limit (2013)"),
    _overflow(
        "zhipu", 400, TOO_LONG, "Error code: 400 - {'error': {'code': '1261', 'message': 'Prompt exceeds max length'}}"
    ),
    _overflow("zhipu", 400, TOO_LONG, {"error": {"code": "1261", "message": "Prompt 超长"}}),
    _overflow("zhipu", 400, TOO_LONG, "Error code: 1210 - tokens in request more than max tokens allowed"),
    _overflow(
        "zhipu", 400, TOO_LONG, "The number of tokens in request more than max tokens allowed (131072).", limit=131072
    ),
    _overflow(
        "qianfan",
        400,
        TOO_LONG,
        {"error_code": 336007, "error_msg": "the max input characters is 20000"},
        limit=20000,
        unit="chars",
    ),
    _overflow(
        "qianfan",
        400,
        TOO_LONG,
        {"error": {"code": "tokens_too_long", "type": "invalid_request_error", "message": "Prompt tokens too long"}},
    ),
    _overflow(
        "volcengine",
        400,
        TOO_LONG,
        {
            "error": {
                "code": "InvalidParameter",
                "message": "Total tokens of image and text exceed max message tokens. Request id: 021747884838281",
                "type": "BadRequest",
            }
        },
    ),
    _overflow("volcengine", 400, TOO_LONG, "Messages exceed max message tokens: 96000", limit=96000),
    _overflow(
        "dashscope",
        400,
        TOO_LONG,
        '{"code":"InvalidParameter","message":"Range of input length should be [1, 30720]","request_id":"7f0c1d63-91a2-4f7b-9c0a-123456789012"}',
        limit=30720,
    ),
    _overflow("proxy", 400, TOO_LONG, "错误：上下文过长，请减少输入"),
    _overflow("proxy", 400, TOO_LONG, "上下文长度超出模型最大限制"),
    _overflow(
        "together",
        422,
        WITH_REPLY,
        "Input validation error: The sum of 'inputs' tokens and 'max_new_tokens' must not exceed 4097.",
        limit=4097,
    ),
    _overflow(
        "tgi",
        422,
        WITH_REPLY,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32768. Given: 31970 `inputs` tokens and 1024 `max_new_tokens`",
            "error_type": "validation",
        },
        limit=32768,
        input=31970,
        output=1024,
        excess=226,
    ),
    _overflow(
        "sagemaker",
        424,
        TOO_LONG,
        'An error occurred (ModelError) when calling the InvokeEndpoint operation: Received client error (424) from primary with message "{"error":"Input validation error: `inputs` must have less than 4096 tokens. Given: 5012","error_type":"validation"}". See https://us-east-1.console.aws.amazon.com/cloudwatch/home for more information.',
        limit=4096,
        input=5012,
        excess=916,
    ),
    _overflow(
        "databricks",
        400,
        TOO_LONG,
        '{"error_code":"BAD_REQUEST","message":"{\\"error_code\\":\\"BAD_REQUEST\\",\\"message\\":\\"Bad request: prompt token count (140221) cannot exceed 128000. Please reduce the length of the prompt.\\"}"}',
        limit=128000,
        input=140221,
        excess=12221,
    ),
    _overflow(
        "ai21",
        422,
        TOO_LONG,
        {"detail": "Prompt contains 262300 tokens, while the maximum context length is 262144 tokens."},
        limit=262144,
        input=262300,
        excess=156,
    ),
    _overflow("einstein", 400, TOO_LONG, "Request input tokens exceed model token limit. Reduce the input size."),
    _overflow(
        "anthropic",
        413,
        TOO_LONG,
        '{"type":"error","error":{"type":"invalid_request_error","message":"Request size exceeds model context window"}}',
    ),
    _overflow(
        "anthropic-vertex",
        400,
        TOO_LONG,
        '[{"error":{"code":400,"message":"{\\"type\\":\\"error\\",\\"error\\":{\\"type\\":\\"invalid_request_error\\",\\"message\\":\\"Prompt is too long: 1,000,563 tokens > 1,000,000 maximum\\"},\\"request_id\\":\\"req_vrtx_011CXabc\\"}","status":"INVALID_ARGUMENT"}}]',
        limit=1000000,
        input=1000563,
        excess=563,
    ),
    _overflow(
        "anthropic",
        None,
        WITH_REPLY,
        "input length and max_tokens exceed context limit (i.e 156321 + 48384 > 200000)",
        limit=200000,
        input=156321,
        output=48384,
        excess=4705,
    ),
    _overflow("anthropic", 400, WITH_REPLY, "LLM request rejected: max_tokens would exceed context window"),
    _overflow(
        "anthropic",
        200,
        WITH_REPLY,
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": "and so"}],
            "stop_reason": "model_context_window_exceeded",
            "usage": {"input_tokens": 199000, "output_tokens": 1000},
        },
    ),
    _overflow(
        "portkey",
        400,
        TOO_LONG,
        '{"error":{"message":"azure-openai error: This model\'s maximum context length is 128000 tokens. However, your messages resulted in 128412 tokens (127402 in the messages, 1010 in the functions). Please reduce the length of the messages or functions.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"},"provider":"azure-openai"}',
        limit=128000,
        input=128412,
        excess=412,
    ),
    _overflow(
        "langchain",
        None,
        TOO_LONG,
        "langchain_google_genai.chat_models.ChatGoogleGenerativeAIError: Invalid argument provided to Gemini: 400 The input token count (1112345) exceeds the maximum number of tokens allowed (1048575).",
        limit=1048575,
        input=1112345,
        excess=63770,
    ),
    _overflow("gemini", 400, TOO_LONG, "[400 Bad Request] Request exceeds the maximum number of tokens"),
    _overflow(
        "poolside",
        400,
        TOO_LONG,
        "Input length 140000 exceeds the maximum allowed input length of 131,040 tokens.",
        limit=131040,
        input=140000,
        excess=8960,
    ),
    _overflow(
        "sglang",
        400,
        TOO_LONG,
        "Input length (265330) exceeds model's maximum context length (262144).",
        limit=262144,
        input=265330,
        excess=3186,
    ),
    _overflow(
        "sglang",
        400,
        TOO_LONG,
        "input (691,793 tokens) is longer than the model's context length (540000)",
        limit=540000,
        input=691793,
        excess=151793,
    ),
    _overflow("novita", 400, TOO_LONG, "input is longer than the model's context length"),
    _overflow("strands", None, TOO_LONG, "strands.types.exceptions.ContextWindowOverflowException"),
    _overflow("pydantic-ai", None, TOO_LONG, "Unhandled: context_window_exceeded"),
    _overflow(
        "gateway",
        400,
        TOO_LONG,
        "Model context window is 131072 tokens, you sent 140000 tokens",
        limit=131072,
        input=140000,
        excess=8928,
    ),
    _overflow("gateway", 400, TOO_LONG, "Model context window is 128k tokens, you requested 256k tokens"),
    _overflow(
        "gateway",
        400,
        TOO_LONG,
        "Your prompt is 1,204 tokens over the limit of 32,000 tokens.",
        limit=32000,
        excess=1204,
    ),
    _overflow(
        "gateway",
        404,
        TOO_LONG,
        "prompt is too long: 150000 tokens > 100000 maximum",
        limit=100000,
        input=150000,
        excess=50000,
    ),
    _overflow(
        "gateway",
        502,
        TOO_LONG,
        "Upstream error: prompt is too long: 213462 tokens > 200000 maximum",
        limit=200000,
        input=213462,
        excess=13462,
    ),
    _overflow(
        "gateway",
        400,
        TOO_LONG,
        '{"error":{"message":"context overflow","type":"context_overflow","context_window":65536,"prompt_tokens":70001}}',
        limit=65536,
        input=70001,
        excess=4465,
    ),
    _overflow("gateway", 429, TOO_LONG, {"error": {"code": "context_length_exceeded", "message": "Request rejected."}}),
    _overflow(
        "gateway",
        400,
        TOO_LONG,
        "&quot;prompt is too long: 213462 tokens &gt; 200000 maximum&quot;",
        limit=200000,
        input=213462,
        excess=13462,
    ),
    _overflow(
        "mlx",
        400,
        TOO_LONG,
        "Prompt length of 9001 tokens exceeds the maximum context size of 8192 tokens",
        limit=8192,
        input=9001,
        excess=809,
    ),
    _overflow(
        "nim",
        422,
        TOO_LONG,
        {
            "error": "This model's maximum context length is 4096 tokens. However, your messages resulted in 4,212 tokens."
        },
        limit=4096,
        input=4212,
        excess=116,
    ),
]

OTHERS = [
    _other("bedrock", None, "rate_limit", "wait", "Too many tokens per minute. Retry shortly."),
    _other(
        "bedrock",
        400,
        "rate_limit",
        "wait",
        "ThrottlingException: Too many tokens per day, please wait before trying again.",
    ),
    _other("gateway", 429, "rate_limit", "wait", "This model's maximum context length is 128000 tokens."),
    _other("gateway", 400, "rate_limit", "wait", "Throttling: too many tokens in flight"),
    _other(
        "openai",
        429,
        "rate_limit",
        "wait",
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 2500. Please try again in 3s.",
    ),
    _other(
        "moonshot",
        429,
        "rate_limit",
        "wait",
        "request reached organization TPD rate limit, current: 1506556, limit: 1500000",
    ),
    _other(
        "openai",
        429,
        "rate_limit_single_request",
        "shrink_input",
        "Request too large for gpt-4o-mini in organization org-x on tokens per min (TPM): Limit 60000, Requested 99812.",
    ),
    _other(
        "gateway",
        413,
        "rate_limit_single_request",
        "shrink_input",
        "Tokens per minute limit reached. Limit: 8000, requested: 12000",
    ),
    _other(
        "openrouter",
        402,
        "quota",
        "none",
        "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 12000.",
    ),
    _other(
        "deepseek",
        402,
        "quota",
        "none",
        '{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}',
    ),
    _other("litellm", 400, "quota", "none", "Budget: Too many tokens: this key's daily quota is used up."),
    _other(
        "groq",
        400,
        "output_cap",
        "shrink_output",
        "`max_tokens` must be less than or equal to `32768`, the maximum value for `max_tokens` is less than the `context_window` for this model",
    ),
    _other(
        "openai",
        400,
        "output_cap",
        "shrink_output",
        "max_tokens is too large: 200000. This model supports at most 128000 completion tokens, whereas you provided 200000.",
    ),
    _other(
        "gemini",
        400,
        "output_cap",
        "shrink_output",
        "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.",
    ),
    _other(
        "tgi",
        422,
        "output_cap",
        "shrink_output",
        {"error": "Input validation error: `max_new_tokens` must be <= 512. Given: 1024", "error_type": "validation"},
    ),
    _other(
        "anthropic",
        400,
        "output_cap",
        "shrink_output",
        "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-opus-4-7",
    ),
    _other(
        "cohere",
        400,
        "output_cap",
        "shrink_output",
        "too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192.",
    ),
    _other("mistral", 422, "output_cap", "shrink_output", "max_completion_tokens should be between 1 and 16384"),
    _other(
        "anthropic",
        400,
        "field_length",
        "shrink_field",
        "tools.0.custom.description: String should have at most 1024 characters",
    ),
    _other(
        "litellm",
        400,
        "field_length",
        "shrink_field",
        "litellm.ContextWindowExceededError: Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.",
    ),
    _other(
        "openai",
        400,
        "field_length",
        "fix_request",
        "Invalid 'input': array too long. Expected an array with maximum length 2048, but got an array with length 4000 instead.",
    ),
    _other(
        "bedrock",
        400,
        "field_length",
        "shrink_field",
        "Malformed input request: #/texts/41: expected maxLength: 2048, actual: 2210, please reformat your input and try again.",
    ),
    _other(
        "anthropic",
        400,
        "image_limit",
        "shrink_image",
        "messages.4.content.1.image.source.base64: image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes",
    ),
    _other("groq", 400, "image_limit", "shrink_image", "Too many images provided. This model supports up to 5 images"),
    _other("vllm", 400, "image_limit", "shrink_image", "At most 4 image(s) may be provided in one prompt."),
    _other(
        "gemini",
        400,
        "payload_too_large",
        "shrink_payload",
        {
            "error": {
                "code": 400,
                "message": "Request payload size exceeds the limit: 20971520 bytes.",
                "status": "INVALID_ARGUMENT",
            }
        },
    ),
    _other(
        "grpc",
        429,
        "rate_limit",
        "wait",
        "RESOURCE_EXHAUSTED: Quota exceeded for aiplatform.googleapis.com/online_prediction_input_tokens_per_minute_per_base_model",
    ),
    _other(
        "cloudfront",
        413,
        "payload_too_large",
        "shrink_payload",
        "<html><body><h1>413 ERROR</h1><h2>The request could not be satisfied. Request Entity Too Large</h2></body></html>",
    ),
    _other("proxy", 413, "payload_too_large", "shrink_payload", ""),
    _other(
        "anthropic",
        400,
        "malformed_history",
        "repair_history",
        "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
    ),
    _other(
        "gemini",
        400,
        "malformed_history",
        "repair_history",
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    ),
    _other(
        "openai-responses",
        400,
        "malformed_history",
        "repair_history",
        "No tool output found for function call call_abc123.",
    ),
    _other(
        "mistral",
        400,
        "malformed_history",
        "repair_history",
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    ),
    _other(
        "anthropic",
        400,
        "malformed_history",
        "repair_history",
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    _other(
        "anthropic",
        429,
        "long_context_tier",
        "reduce_window_or_plan",
        "The long context beta is not yet available for this subscription.",
    ),
    _other(
        "gateway",
        503,
        "server_error",
        "retry",
        {"error": {"message": "failed to compute the maximum context length", "type": "server_error"}},
    ),
    _other("gateway", 500, "server_error", "retry", "500 Internal Server Error"),
    _other("openai", 503, "overloaded", "retry", "The engine is currently overloaded, please try again later"),
    _other(
        "gemini",
        503,
        "overloaded",
        "retry",
        {
            "error": {
                "code": 503,
                "message": "The model is overloaded. Please try again later.",
                "status": "UNAVAILABLE",
            }
        },
    ),
    _other(
        "gemini",
        400,
        "bad_request",
        "fix_request",
        "Cached content is too small. total_token_count=1234, min_total_token_count=4096",
    ),
    _other(
        "openai",
        401,
        "auth",
        "none",
        "Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com/account/api-keys.",
    ),
    _other(
        "openai", 404, "bad_request", "fix_request", "The model `gpt-9` does not exist or you do not have access to it."
    ),
    _other("anthropic", 400, "content_policy", "none", "Output blocked by content filtering policy"),
    _other(
        "openai",
        200,
        "output_stopped",
        "continue_answer",
        {
            "choices": [
                {
                    "finish_reason": "length",
                    "message": {"role": "assistant", "content": "maximum context length is 8192 tokens"},
                }
            ],
            "usage": {"prompt_tokens": 9, "completion_tokens": 16},
        },
    ),
    _other(
        "openai",
        200,
        "unknown",
        "none",
        {
            "choices": [
                {
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "prompt is too long: 5 tokens > 4 maximum"},
                }
            ]
        },
    ),
    _other(
        "tool",
        None,
        "tool_refusal",
        "none",
        "File content (29375 tokens) exceeds maximum allowed tokens (25000). Use offset and limit parameters to read specific portions of the file.",
    ),
    _other(
        "tool",
        None,
        "tool_refusal",
        "none",
        'MCP tool "list_all" response (60606 tokens) exceeds maximum allowed tokens (25000).',
    ),
    _other("tool", None, "tool_refusal", "none", "read_file: prompt is too long: 300000 tokens > 200000 maximum"),
    _other(
        "network",
        None,
        "connection",
        "retry",
        "httpx.RemoteProtocolError: Server disconnected without sending a response.",
    ),
    _other(
        "echo",
        400,
        "content_policy",
        "none",
        {
            "error": {"code": "content_filter", "message": "flagged"},
            "request": {
                "messages": [{"role": "user", "content": "prompt is too long: 213462 tokens > 200000 maximum"}]
            },
        },
    ),
    _other("gateway", 400, "bad_request", "fix_request", "Model context window too small (minimum is 128k tokens)"),
    _other("talk", None, "unknown", "none", "Let's investigate the context overflow bug"),
    _other("talk", None, "unknown", "none", "The context window of this model is large, as models go."),
    _other("talk", None, "unknown", "none", ""),
]


# Sentences that no provider is known to use; only what they share with known ones can identify them.
_UNHEARD: tuple[tuple[str, tuple[str, str], dict[str, Any]], ...] = (
    (
        "The request is too large: 9000 tokens in the prompt, the model allows 8192.",
        TOO_LONG,
        {"limit": 8192, "input": 9000, "excess": 808},
    ),
    ("Context length of 8192 exceeded by 808 tokens", TOO_LONG, {"limit": 8192, "excess": 808}),
    ("Tokens: 9000, limit: 8192. Context length exceeded", TOO_LONG, {"limit": 8192, "input": 9000, "excess": 808}),
    (
        "Prompt length (7500 tokens) + max_tokens (1000) exceeds model context (8192)",
        WITH_REPLY,
        {"limit": 8192, "input": 7500, "output": 1000, "excess": 308},
    ),
    (
        "You have exceeded the maximum context of 8192 tokens: 7500 input tokens + 1000 output tokens = 8500 total tokens",
        WITH_REPLY,
        {"limit": 8192, "input": 7500, "output": 1000, "total": 8500, "excess": 308},
    ),
    (
        "Sum of input tokens (7500) and max_output_tokens (1000) must be less than or equal to 8192",
        WITH_REPLY,
        {"limit": 8192, "input": 7500, "output": 1000, "excess": 308},
    ),
    (
        "the total number of input and output tokens (8500) is greater than the model limit (8192)",
        WITH_REPLY,
        {"limit": 8192, "total": 8500, "excess": 308},
    ),
    (
        "This request has 9000 tokens, 808 more than the model's limit of 8192 tokens.",
        TOO_LONG,
        {"limit": 8192, "input": 9000, "excess": 808},
    ),
    ("Expected at most 8192 tokens in prompt, got 9000", TOO_LONG, {"limit": 8192, "input": 9000, "excess": 808}),
    (
        "InputTokensExceeded: input_tokens=9000 max_input_tokens=8192",
        TOO_LONG,
        {"limit": 8192, "input": 9000, "excess": 808},
    ),
    (
        "the 9000-token prompt does not fit in the 8192-token context",
        TOO_LONG,
        {"limit": 8192, "input": 9000, "excess": 808},
    ),
    (
        "Failed to generate: context length 8192 is smaller than prompt length 9000",
        TOO_LONG,
        {"limit": 8192, "input": 9000, "excess": 808},
    ),
    (
        "A maximum of 8192 input tokens is supported, received 9000 input tokens",
        TOO_LONG,
        {"limit": 8192, "input": 9000, "excess": 808},
    ),
    (
        "Your request used 9,000 input tokens, which is above the 8,192 input token limit for claude-3-opus-20240229",
        TOO_LONG,
        {"limit": 8192, "input": 9000, "excess": 808},
    ),
    ("request rejected: prompt 9000 tok > ctx 8192 tok", TOO_LONG, {"limit": 8192, "input": 9000, "excess": 808}),
    (
        "This request would exceed the model's context window: 150,000 prompt tokens + 64,000 max output tokens > 200,000.",
        WITH_REPLY,
        {"limit": 200000, "input": 150000, "output": 64000, "excess": 14000},
    ),
    (
        "invalid_request: context window of 200000 tokens exceeded: 180000 input + 30000 max_tokens",
        WITH_REPLY,
        {"limit": 200000, "input": 180000, "output": 30000, "excess": 10000},
    ),
    (
        "The requested number of tokens (input: 120000, output: 16000, total: 136000) exceeds the maximum of 131072.",
        WITH_REPLY,
        {"limit": 131072, "input": 120000, "output": 16000, "total": 136000, "excess": 4928},
    ),
    (
        "[vLLM] Requested token count exceeds max_model_len: prompt 30000 + max_tokens 4000 > 32768",
        WITH_REPLY,
        {"limit": 32768, "input": 30000, "output": 4000, "excess": 1232},
    ),
    (
        "Token indices sequence length is longer than the specified maximum sequence length for this model (5000 > 4096).",
        TOO_LONG,
        {"limit": 4096, "input": 5000, "excess": 904},
    ),
    ("n_tokens (5000) > n_ctx (4096)", TOO_LONG, {"limit": 4096, "input": 5000, "excess": 904}),
    (
        "Message too long: context is limited to 8192 tokens but has 9000",
        TOO_LONG,
        {"limit": 8192, "input": 9000, "excess": 808},
    ),
    ("ContextOverflowError: need 9000, have 8192", TOO_LONG, {"total": 9000}),
    (
        "Prompt exceeds the context window by 808 tokens (9000 vs 8192)",
        TOO_LONG,
        {"limit": 8192, "input": 9000, "excess": 808},
    ),
    ("You've exceeded the 8192 token context limit by 808 tokens.", TOO_LONG, {"limit": 8192, "excess": 808}),
    (
        "Input is too long: expected at most 10000 characters but got 12000",
        TOO_LONG,
        {"limit": 10000, "input": 12000, "excess": 2000, "unit": "chars"},
    ),
    ("max_tokens must be at least 1, got -951.", TOO_LONG, {}),
    ("请求的token数(9000)超出了模型的最大上下文长度(8192)", TOO_LONG, {"limit": 8192, "input": 9000, "excess": 808}),
    (
        "The message you submitted was too long, please reload the conversation and submit something shorter.",
        TOO_LONG,
        {},
    ),
)
OVERFLOWS += [Sample("unheard", text, 400, *answer, numbers) for text, answer, numbers in _UNHEARD]

OTHERS += [
    _other("unheard", 400, "output_cap", "shrink_output", "Invalid value for max_tokens: 9000. Must be at most 8192."),
    _other(
        "unheard", 400, "output_cap", "shrink_output", "Requested output length 9000 exceeds the model maximum of 8192"
    ),
    _other(
        "anthropic", 400, "bad_request", "fix_request", "thinking.budget_tokens: 9000 must be less than max_tokens 8192"
    ),
    _other("unheard", 401, "auth", "none", "The authentication token exceeds the maximum length of 4096"),
    _other(
        "unheard",
        400,
        "image_limit",
        "shrink_image",
        "Image has 40000 tokens which exceeds the maximum of 16384 tokens per image",
    ),
    _other(
        "grpc", 500, "payload_too_large", "shrink_payload", "Received message larger than max (5242880 vs. 4194304)"
    ),
    _other(
        "openai",
        400,
        "output_stopped",
        "continue_answer",
        "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.",
    ),
    _other("grpc", 504, "server_error", "retry", "rpc error: code = DeadlineExceeded desc = context deadline exceeded"),
]


def _coded(kind: str, code: str, words: str = "The request was not accepted.") -> dict[str, Any]:
    """Return an error of Anthropic's, whose words may change while its code stays."""
    return {"type": "error", "error": {"type": kind, "message": words, "details": {"error_code": code}}}


OTHERS += [
    _other("anthropic", 429, "quota", "none", _coded("rate_limit_error", "enforced_spend_limit_reached")),
    _other("anthropic", 429, "quota", "none", _coded("rate_limit_error", "contract_spend_limit_reached")),
    _other("anthropic", 402, "quota", "none", _coded("billing_error", "linked_organization_spend_limit_reached")),
    _other("anthropic", 429, "rate_limit", "wait", _coded("rate_limit_error", "ramp_limit_exceeded")),
    _other(
        "anthropic", 400, "image_limit", "shrink_image", _coded("invalid_request_error", "image_dimensions_too_large")
    ),
    _other(
        "anthropic", 413, "payload_too_large", "shrink_payload", _coded("x", "request_body_too_large_after_decoding")
    ),
    _other("anthropic", 529, "overloaded", "retry", _coded("overloaded_error", "compaction_unavailable")),
    _other("openai", 400, "image_limit", "shrink_image", {"error": {"code": "image_file_too_large", "message": "No."}}),
    _other("openai", 400, "content_policy", "none", {"error": {"code": "bio_policy", "message": "No."}}),
    _other(
        "openai", 400, "content_policy", "none", {"error": {"code": "misalignment_policy_violation", "message": "No."}}
    ),
]
