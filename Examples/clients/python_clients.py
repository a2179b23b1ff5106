"""Runs requests or httpx through the proxy, and compares the requests that reach the origin."""

import concurrent.futures
import pathlib
import sys
import time

name, proxy, origin, site, log_path = sys.argv[1:6]
random = pathlib.Path(site, "fresh/random.bin").read_bytes()
numbers = pathlib.Path(site, "fresh/numbers.txt").read_bytes()

if name == "requests":
    import requests

    session = requests.Session()
    session.trust_env = False

    def through_proxy(url):
        return requests.get(url, proxies={"http": proxy}).content

    def streamed(url):
        with session.get(url, stream=True) as response:
            return b"".join(response.iter_content(10_000))
else:
    import httpx

    session = httpx.Client(trust_env=False)

    def through_proxy(url):
        with httpx.Client(proxy=proxy, trust_env=False) as client:
            return client.get(url).content

    def streamed(url):
        with session.stream("GET", url) as response:
            return b"".join(response.iter_bytes(10_000))


def seen():
    return sorted(pathlib.Path(log_path).read_text().splitlines())


counts = 0


def expect_origin(*wanted):
    """Compares the requests since the last call. The origin writes its log after the response."""
    deadline = time.monotonic() + 10
    while seen() != sorted(wanted) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert seen() == sorted(wanted), f"the origin saw {seen()}, wanted {sorted(wanted)}"
    global counts
    counts += 1
    pathlib.Path(log_path).write_text("")


first = session.get(proxy + "/fresh/random.bin")
assert first.status_code == 200 and first.content == random
assert "age" not in first.headers, first.headers
expect_origin("GET /fresh/random.bin 200")

second = session.get(proxy + "/fresh/random.bin")
assert second.content == random and int(second.headers["age"]) >= 0
for field in ("date", "content-type", "content-length", "last-modified", "server", "cache-control"):
    assert second.headers[field] == first.headers[field], field
assert streamed(proxy + "/fresh/random.bin") == random
assert through_proxy(origin + "/fresh/random.bin") == random
expect_origin()

# The client requests codings by itself, and decodes them.
assert session.get(proxy + "/fresh/numbers.txt").content == numbers
assert session.get(proxy + "/fresh/numbers.txt").content == numbers
expect_origin("GET /fresh/numbers.txt 200")

# The cache evaluates conditions of the client.
date = {"If-Modified-Since": first.headers["last-modified"]}
assert session.get(proxy + "/fresh/random.bin", headers=date).status_code == 304
if "etag" in first.headers:
    tag = {"If-None-Match": first.headers["etag"]}
    assert session.get(proxy + "/fresh/random.bin", headers=tag).status_code == 304
expect_origin()

# Validation: the origin answers with 304, and the client receives the whole response.
for _ in range(3):
    assert session.get(proxy + "/check/small.json").json() == {"a": 1}
expect_origin("GET /check/small.json 200", "GET /check/small.json 304", "GET /check/small.json 304")

# Directives of the client.
assert session.get(proxy + "/fresh/random.bin", headers={"Cache-Control": "no-cache"}).content == random
expect_origin("GET /fresh/random.bin 304")
absent = session.get(proxy + "/fresh/absent", headers={"Cache-Control": "only-if-cached"})
assert absent.status_code == 504
expect_origin()

# The response to a missing resource is that of the origin.
assert session.get(proxy + "/fresh/absent").status_code == 404
expect_origin("GET /fresh/absent 404")

# Concurrent requests on separate connections.
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    bodies = pool.map(lambda _: through_proxy(origin + "/fresh/random.bin"), range(64))
    assert all(body == random for body in bodies)
expect_origin()
print(f"{name}: {counts} comparisons with the log of the origin")
