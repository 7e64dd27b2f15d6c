"""A store that speaks S3, on this machine: moto's server in a thread of the test process."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch
from uuid import uuid4

from questree.places.stores import store_of

SECRET = "S3-secret-that-nobody-may-see"


@contextmanager
def served() -> Iterator[str]:
    """The URL of a new bucket; where it is and how to get in is in the environment, as users have it."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    known = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_DEFAULT_REGION": "us-east-1"}
    try:
        with patch.dict(os.environ, known | {"AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}):
            bucket = f"bucket-{uuid4().hex[:8]}"
            store_of(f"s3://{bucket}").mkdir(bucket)
            yield f"s3://{bucket}"
    finally:
        server.stop()
