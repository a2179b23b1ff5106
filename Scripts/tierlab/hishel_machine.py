#!/usr/bin/env python3
"""A machine with hishel, which keeps its responses in a bucket: reads a list of URLs in turn, and prints times as JSON.

    pip install 'hishel[s3]==0.1.5'
    hishel_machine.py ENDPOINT FILE
"""

import json
import sys
import time

import boto3
import hishel
import httpx


def main():
    endpoint, path = sys.argv[1:3]
    with open(path) as file:
        urls = file.read().split()
    s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="AKIDEXAMPLE",
                      aws_secret_access_key="of the lab")
    result = {"count": 0, "failed": 0, "reasons": [], "hits": [], "misses": [], "failures": []}
    client = hishel.CacheClient(storage=hishel.S3Storage(bucket_name="bucket", client=s3), timeout=60)
    for url in urls:
        start = time.perf_counter()
        result["count"] += 1
        try:
            response = client.get(url)
            response.raise_for_status()
            kind = "hits" if response.extensions.get("from_cache") else "misses"
        except Exception as error:  # noqa: BLE001
            kind = "failures"
            result["failed"] += 1
            result["reasons"] = (result["reasons"] + [f"{type(error).__name__}: {error}"[:200]])[:3]
        result[kind].append(round((time.perf_counter() - start) * 1e6))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
