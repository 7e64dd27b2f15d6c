"""What a malicious or broken client sends to a page: addresses, hosts, methods, headers, bytes that are no request."""

from collections.abc import Iterator

GET = "GET {} HTTP/1.1\r\nHost: {}\r\n{}Connection: close\r\n\r\n"
LONG = "x" * 300
DEEP = 900


def get(path: str, *headers: str, host: str = "localhost", method: str = "GET", body: str = "") -> bytes:
    """One request, after which the connection ends."""
    more = "".join(f"{header}\r\n" for header in (*headers, *([f"Content-Length: {len(body)}"] if body else ())))
    return (GET.replace("GET", method, 1).format(path, host, more) + body).encode("latin-1")


WAYS_UP = (
    "../../../../../../etc/passwd",
    "%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "..%2f..%2f..%2f..%2fetc%2fpasswd",
    "..%5c..%5cetc%5cpasswd",
    "%252e%252e%252fetc%252fpasswd",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "..%c0%af..%c0%afetc/passwd",
    "../secret.png",
    "..%2fsecret",
    "%00",
    "a%00.js",
    "%ff%fe",
    "%ed%a0%80",
    "%zz%",
    ".",
    "..",
    "%2e",
    "%0d%0aSet-Cookie:%20a=b",
    LONG,
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "~root/.ssh/id_rsa",
    "con:",
)
HOSTS = (
    "evil.example",
    "localhost.evil.example",
    "localhost:80@evil.example",
    "localhost@evil.example",
    "localhost:80/evil",
    "localhost:http",
    "localhost:",
    "localhost:999999",
    "localhost:-1",
    "[::1]evil.example",
    "[::1",
    "::1",
    "[::1]:80:80",
    "localhost, evil.example",
    "localhost evil.example",
    "127.0.0.1.",
    "127.1",
    "2130706433",
    "0.0.0.0",
    "",
    "%6cocalhost",
    "<script>",
)
QUERIES = {
    "an address that is too long": "words=" + "a" * 9000,
    "many filters": "&".join(f"a{at}=1" for at in range(900)),
    "a filter many times": "&".join(["words=a"] * 900),
    "many words": "words=" + "+".join(f"w{at}" for at in range(390)),
    "many letters": "words=" + "+".join("a" * 900),
    "quotes": "words=" + "%22" * 900,
    "brackets": "query=" + "(" * DEEP + ")" * DEEP,
    "half of the brackets": "query=" + "(" * 1900,
    "nots": "query=" + "~" * 1900,
    "ands": "query=" + "%26".join(["steps%3E1"] * 150),
    "calls": "query=" + "has(" * 450,
    "powers": "query=steps%3E9**9**9",
    "a number of 1,000 digits": "query=steps%3E" + "9" * 1000,
    "Python": "query=__import__(%22os%22).system(%22id%22)",
    "no UTF-8": "words=%ff%fe&query=%ff&%ff=1",
    "NUL": "words=%00&answer=%00&video=%00&sort=%00",
    "half a character": "words=%ed%a0%80&model=%ed%a0%80",
    "a regular expression": "words=(a%2B)%2B$&video=(a%2B)%2B$",
    "markup": "words=%3Cscript%3E&query=%3Cscript%3E&model=%3Cscript%3E&sort=%3Cscript%3E&%3Cscript%3E=1&page=%3Cb%3E",
    "no names": "=&=&&&=1&;;",
    "strange signs": "words=%E2%80%AE%E2%81%A6&query=%F3%A0%80%81",
}
PAGES = ("-1", "0", "1e9", "999999999", "9" * 400, "%D9%A3", "1.5", "NaN", "-0", "+1", "0x10", "", "1,2")
METHODS = ("HEAD", "OPTIONS", "POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "BREW", "PROPFIND")
RANGES = (
    "bytes=0-0",
    "bytes=-1",
    "bytes=5-1",
    "bytes=999999999-",
    "bytes=" + ",".join(f"{at}-{at}" for at in range(0, 4000, 2)),
    "bytes=" + ",".join(["0-"] * 2000),
    "bytes=" + "9" * 5000 + "-",
    "bytes=a-b",
    "lines=1-2",
    "bytes=" + "," * 1000,
)
HEADERS = {
    "conditions": ("If-None-Match: " + ",".join(['"a"'] * 3000), "If-Modified-Since: never", "If-Range: x"),
    "a condition from the future": ("If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT",),
    "encodings": ("Accept-Encoding: " + ",".join(["gzip;q=0"] * 1000),),
    "a part of a page": ("HX-Request: true", "HX-Target: <script>", "HX-Current-URL: javascript:alert(1)"),
    "an upgrade to WebSocket": (
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ),
    "an upgrade to HTTP/2": ("Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABk"),
    "a flood of headers": tuple(f"X-{at}: {at}" for at in range(3000)),
    "a long header": ("X: " + "a" * 200_000,),
    "no colon": ("nonsense",),
    "a folded header": ("X: a\r\n b",),
    "NUL in a header": ("X: a\0b",),
    "signs that are not ASCII": ("X: \xff\xfe", "Accept-Language: \xe9"),
    "two hosts": ("Host: evil.example",),
    "somebody else's address": ("X-Forwarded-Host: evil.example", "X-Forwarded-Proto: javascript", "Forwarded: host=x"),
    "a body that is not there": ("Content-Length: 0",),
    "two lengths": ("Content-Length: 5", "Content-Length: 6"),
    "a negative length": ("Content-Length: -1",),
    "two ways to end": ("Content-Length: 4", "Transfer-Encoding: chunked"),
    "an unknown way to end": ("Transfer-Encoding: gzip, chunked",),
    "what will never come": ("Expect: 100-continue",),
    "an origin that is no address": ("Origin: http://[",),
    "a cookie": ("Cookie: " + "a=b;" * 3000,),
}
NO_REQUESTS = {
    "HTTP/0.9": b"GET /\r\n",
    "HTTP/1.0": b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n",
    "HTTP/1.0 without a host": b"GET / HTTP/1.0\r\n\r\n",
    "HTTP/1.1 without a host": b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
    "HTTP/9.9": b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0" * 9,
    "TLS": bytes.fromhex("16030100a5010000a10303") + bytes(160),
    "line ends without returns": b"GET / HTTP/1.1\nHost: localhost\nConnection: close\n\n",
    "nothing but line ends": b"\r\n" * 1000,
    "rubbish": bytes(range(256)) * 300,
    "another site's address": get("http://evil.example/"),
    "an address of ours, whole": get("http://localhost/"),
    "a star": get("*", method="OPTIONS"),
    "no slash": get("evil.example:443", method="CONNECT"),
    "two slashes": get("//evil.example/"),
    "a backslash": get("/\\evil.example/"),
    "a fragment": get("/#<script>alert(1)</script>"),
    "signs that are not ASCII": get("/\xff\xfe?\xff"),
    "blanks": get("/ /etc/passwd"),
    "a hundred at once": get("/colours.css").replace(b"Connection: close\r\n", b"") * 99 + get("/colours.css"),
    "smuggled": get("/", "Transfer-Encoding: chunked", method="POST") + b"0\r\n\r\n" + get("/", host="evil.example"),
    "a chunk without end": get("/", "Transfer-Encoding: chunked", method="POST") + b"f" * 5000,
    "a huge chunk": get("/", "Transfer-Encoding: chunked", method="POST") + b"ffffffffffffffff\r\nx",
}


def on_pages(paths: list[str], item: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every attack; `paths` are folders below which something is found, `item` is a page."""
    for path in paths:
        yield from ((f"a way out: {path}{way}", get(path + way)) for way in WAYS_UP)
    yield from ((f"host: {host}", get("/", host=host)) for host in HOSTS)
    yield from ((f"host of an address without its slash: {host}", get("/assets", host=host)) for host in HOSTS)
    for at in ("/", item):
        yield from ((f"query: {name}, {at}", get(f"{at}?{query}")) for name, query in QUERIES.items())
        yield from ((f"method: {method} {at}", get(at, method=method)) for method in METHODS)
        yield from ((f"method with a body: {method} {at}", get(at, method=method, body="a=b")) for method in METHODS)
        yield from ((f"header: {name}, {at}", get(at, *headers)) for name, headers in HEADERS.items())
    yield from ((f"page: {page[:20]}", get(f"/?page={page}")) for page in PAGES)
    yield from ((f"range: {part[:30]}", get("/assets/page.js", f"Range: {part}")) for part in RANGES)
    yield from ((f"no request: {name}", data) for name, data in NO_REQUESTS.items())


FORMS = {
    "nothing": "",
    "what is not theirs": "item=0&value=yes",
    "a number that is none": "item=1e9&value=yes&seconds=nan",
    "a negative number": "item=-1&value=yes&seconds=-inf",
    "a number that is too large": "item=" + "9" * 400,
    "markup": "item={item}&value=%3Cscript%3Ealert(1)%3C/script%3E&text=%3Cscript%3E&fault=%3Cscript%3E&mark=%3Cb%3E",
    "no UTF-8": "item={item}&value=\xff\xfe",
    "NUL": "item={item}&value=%00&text=%00",
    "half a character": "item={item}&value=%ed%a0%80&text=%ed%a0%80",
    "many fields": "item={item}&" + "&".join(f"fault=f{at}" for at in range(2000)),
    "a long text": "item={item}&value=other&text=" + "a" * 90_000,
    "too much": "item={item}&text=" + "a" * 2_000_000,
    "SQL": "item={item}&value=yes';DROP TABLE item;--",
    "JSON": '{"item": {item}}',
}
ORIGINS = (
    "http://evil.example",
    "null",
    "http://[",
    "http://localhost:1",
    "javascript:",
    "http://localhost@evil.example",
)
CHAT = '{"model": "oracle", "messages": [{"role": "user", "content": "%s"}]%s}'
PROMPTS = {
    "nothing": "",
    "no JSON": "{",
    "a list": "[]",
    "nested": '{"model": ' + "[" * 100_000,
    "nested inside": CHAT % ("x", ', "metadata": {"scope": ' + "[" * 50_000 + "]" * 50_000 + "}"),
    "many answers": CHAT % ("x", ', "n": 1000000000'),
    "fewer than no words": CHAT % ("x", ', "max_tokens": -5, "top_logprobs": -1, "logprobs": true'),
    "a long question": CHAT % ("Is there a dog? " * 60_000, ""),
    "many messages": '{"model": "oracle", "messages": [' + ",".join(['{"role": "user"}'] * 50_000) + "]}",
    "another role": CHAT.replace("user", "<script>") % ("x", ""),
    "half a character": CHAT % ("\\ud800", ""),
    "NUL": CHAT % ("\\u0000", ""),
    "another model": CHAT.replace("oracle", "../../etc/passwd") % ("x", ""),
    "an address": CHAT.replace('"%s"', '[{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]') % "",
    "no base64": CHAT.replace('"%s"', '[{"type": "image_url", "image_url": "data:image/png;base64,%%"}]') % "",
    "a scope of another kind": CHAT % ("x", ', "metadata": {"scope": {"a": [1, null, 1e999]}}, "user": ""'),
}


def on_people(home: str, task: str, item: str) -> Iterator[tuple[str, bytes]]:
    """By somebody's link."""
    yield from on_pages([home + part for part in ("", "media/", "films/", "pictures/", "marks/", "assets/")], home)
    for name, form in FORMS.items():
        for at in ("answer", "begin", "undo"):
            yield f"form: {name}, {at}", post(f"{home}tasks/{task}/{at}", form.replace("{item}", item))
    for origin in ORIGINS:
        yield f"origin: {origin}", get(f"{home}tasks/{task}/undo", f"Origin: {origin}", method="POST", body="a=b")
    for token in ("x", "x" * 5000, "%00", "' OR 1=1 --".replace(" ", "%20"), "..", home.split("/")[2][:-1]):
        yield f"a link that is none: {token[:20]}", get(f"/people/{token}/")


def on_bots() -> Iterator[tuple[str, bytes]]:
    yield from on_pages(["/v1/", "/"], "/v1/models")
    yield from ((f"prompt: {name}", post("/v1/chat/completions", text)) for name, text in PROMPTS.items())


def post(path: str, body: str) -> bytes:
    """From a page of ours."""
    headers = ("Origin: http://localhost", "Content-Type: application/x-www-form-urlencoded")
    return get(path, *headers, method="POST", body=body or " ")
