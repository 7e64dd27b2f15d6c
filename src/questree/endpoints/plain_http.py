"""HTTP/1.1 without TLS, for servers nearby: httpx2's own transport takes several times the processor time."""

import asyncio
from dataclasses import dataclass

import httpx2

LONGEST_HEAD, LONGEST_BODY = 1 << 16, 1 << 28  # bytes of a response


@dataclass
class Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: bool = False  # has it answered before? Then the server may have closed it meanwhile


class PlainHTTP(httpx2.AsyncBaseTransport):
    """Keeps connections open; as many as are asked for at once."""

    def __init__(self) -> None:
        self.idle = dict[tuple[str, int], list[Connection]]()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        times = request.extensions.get("timeout", {})
        place = (request.url.host, request.url.port or 80)
        text = [_head(request), await request.aread()]
        while True:
            connection = await self._connected(place, request, times.get("connect"))
            try:
                async with asyncio.timeout(times.get("read")):
                    connection.writer.writelines(text)
                    await connection.writer.drain()
                    found, stays = await _response(connection.reader)
            except TimeoutError:
                connection.writer.close()
                raise httpx2.ReadTimeout("no answer in time", request=request) from None
            except (OSError, EOFError) as error:  # incomplete reads among them
                connection.writer.close()
                if connection.used and not getattr(error, "partial", b""):
                    continue  # closed while it was idle: another one
                raise httpx2.ReadError(type(error).__name__, request=request) from None
            except (ValueError, asyncio.LimitOverrunError):
                connection.writer.close()
                raise httpx2.RemoteProtocolError("not an HTTP response", request=request) from None
            except BaseException:
                connection.writer.close()
                raise
            self._free(place, connection, stays)
            return found

    async def _connected(self, place: tuple[str, int], request: httpx2.Request, most: float | None) -> Connection:
        if idle := self.idle.get(place):
            return idle.pop()
        try:
            async with asyncio.timeout(most):
                return Connection(*await asyncio.open_connection(*place, limit=LONGEST_HEAD))
        except TimeoutError:
            raise httpx2.ConnectTimeout("no connection in time", request=request) from None
        except OSError as error:
            raise httpx2.ConnectError(type(error).__name__, request=request) from None

    def _free(self, place: tuple[str, int], connection: Connection, stays: bool) -> None:
        if stays:
            connection.used = True
            self.idle.setdefault(place, []).append(connection)
        else:
            connection.writer.close()

    async def aclose(self) -> None:
        for connection in [each for own in self.idle.values() for each in own]:
            connection.writer.close()
        self.idle.clear()


def _head(request: httpx2.Request) -> bytes:
    target = request.url.raw_path
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), target), *(b"%s: %s" % pair for pair in request.headers.raw)]
    return b"\r\n".join(lines) + b"\r\n\r\n"


async def _response(reader: asyncio.StreamReader) -> tuple[httpx2.Response, bool]:
    """And whether the connection can be used again."""
    status = 100
    while status < 200:  # what comes before the answer
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head[:-4].split(b"\r\n")
        version, code = first.split(b" ", 2)[:2]
        status = int(code)
    if not version.startswith(b"HTTP/1."):
        raise ValueError(version)
    pairs = [(name, value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    known = {name.lower(): value for name, value in pairs}
    stays = version == b"HTTP/1.1" and known.get(b"connection", b"").lower() != b"close"
    if known.get(b"transfer-encoding", b"").lower().endswith(b"chunked"):
        body = await _chunks(reader)
    elif b"content-length" in known:
        body = await reader.readexactly(_size(known[b"content-length"], 10))
    elif status in (204, 304):
        body = b""
    else:
        body, stays = await reader.read(LONGEST_BODY), False
    rest = [(name, value) for name, value in pairs if name.lower() != b"transfer-encoding"]
    return httpx2.Response(status, headers=rest, content=body), stays


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts = list[bytes]()
    while size := _size((await reader.readuntil(b"\r\n")).partition(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    while await reader.readuntil(b"\r\n") != b"\r\n":  # trailers
        pass
    return b"".join(parts)


def _size(text: bytes, base: int) -> int:
    found = int(text, base)
    if not 0 <= found <= LONGEST_BODY:
        raise ValueError(text)
    return found
