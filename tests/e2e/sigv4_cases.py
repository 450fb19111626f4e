"""Random requests, a JSON line each, with what botocore's signers make of them. Argument: the seed."""

import datetime
import hashlib
import json
import random
import sys
from urllib.parse import quote

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

COUNT = 400
LETTERS = "abcXYZ0189-._~ /+%=&?*'()!@:;,$äß猫🦊\"<>[]{}|\\^`"
draw = random.Random(int(sys.argv[1]))
now = None


def text(low, high):
    return "".join(draw.choice(LETTERS) for _ in range(draw.randint(low, high)))


def freeze(stamp):
    """botocore asks for the time in one of two ways, by version."""
    if hasattr(botocore.auth, "get_current_datetime"):
        botocore.auth.get_current_datetime = lambda remove_tzinfo=True: stamp

    class Fixed(datetime.datetime):
        @classmethod
        def utcnow(cls):
            return stamp

    class Module:
        datetime = Fixed

        def __getattr__(self, name):
            return getattr(datetime, name)

    botocore.auth.datetime = Module()


def signed(kind, row, credentials, extra):
    query = f"?{row['query']}" if row["query"] else ""
    host = dict(row["headers"])["Host"]
    request = AWSRequest(method=row["method"], url=f"http://{host}{row['path']}{query}", data=b"")
    for name, value in row["headers"]:
        if name != "Host":
            request.headers[name] = value
    signer = kind(credentials, row["service"], row["region"], *extra)
    if row["payload_hash"] != "UNSIGNED-PAYLOAD":
        signer.payload = lambda r: row["payload_hash"]
    elif row["s3"]:
        signer.payload = lambda r: "UNSIGNED-PAYLOAD"
    signer.add_auth(request)
    return request


def make():
    s3 = draw.random() < 0.4
    body = text(0, 30).encode()
    unsigned = s3 and draw.random() < 0.5
    pairs = [(text(1, 6), text(0, 8)) for _ in range(draw.randint(0, 6))]
    if len(pairs) > 1:
        pairs.append((pairs[0][0], text(0, 3)))  # a repeated key
    encoded = "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in pairs)
    segments = [draw.choice([text(1, 8), text(1, 3), ".", "..", ""]) for _ in range(draw.randint(0, 5))]
    headers = [["Host", draw.choice(["example.com", "127.0.0.1:8080", "a.b-c.api.aws"])]]
    for name in draw.sample(["X-Amz-Target", "Content-Type", "x-amz-meta-B", "X-Amzn-Name", "Range"], draw.randint(0, 4)):
        headers.append([name, draw.choice(["", "a", "  a   b  ", "application/json; charset=utf-8", text(1, 9).encode("ascii", "ignore").decode() or "z"])])
    stamp = datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=draw.randint(0, 10**8))
    return stamp, {
        "method": draw.choice(["GET", "POST", "PUT", "DELETE"]),
        "path": "/" + "/".join(quote(s, safe="~") for s in segments),
        "query": encoded,
        "headers": headers,
        "payload_hash": "UNSIGNED-PAYLOAD" if unsigned else hashlib.sha256(body).hexdigest(),
        "s3": s3,
        "region": draw.choice(["us-west-2", "eu-central-1"]),
        "service": "s3" if s3 else draw.choice(["sagemaker", "execute-api"]),
        "stamp": stamp.strftime("%Y%m%dT%H%M%SZ"),
        "id": "AKID" + str(draw.randint(0, 10**6)),
        "secret": text(20, 40),
        "token": draw.choice([None, None, "T/" + text(5, 20).encode("ascii", "ignore").decode().strip() + "=="]),
    }


for _ in range(COUNT):
    stamp, row = make()
    freeze(stamp)
    credentials = Credentials(row["id"], row["secret"], row["token"])
    header = botocore.auth.S3SigV4Auth if row["s3"] else botocore.auth.SigV4Auth
    request = signed(header, row, credentials, ())
    row["authorization"] = request.headers["Authorization"]
    row["presigned"] = None  # its query signer keeps one of repeated keys
    names = [pair.split("=")[0] for pair in row["query"].split("&")]
    if len(names) > len(set(names)):
        print(json.dumps(row))
        continue
    base = botocore.auth.S3SigV4QueryAuth if row["s3"] else botocore.auth.SigV4QueryAuth
    request = signed(base, row, credentials, (900,))
    row["presigned"] = request.url.split("?", 1)[1]
    print(json.dumps(row))
