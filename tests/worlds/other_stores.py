"""Stores that speak as Google's and Azure's do, on this machine: emulators, if somebody installed them."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from unittest.mock import patch
from uuid import uuid4

import pytest

from questree.places.stores import store_of

# Azurite's account and key are the same for everybody, and printed in its documentation
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@contextmanager
def google() -> Iterator[str]:
    """The URL of a new bucket."""
    pytest.importorskip("gcsfs")
    emulator = pytest.importorskip("gcp_storage_emulator.server")
    port, bucket = free_port(), f"bucket-{uuid4().hex[:8]}"
    server = emulator.create_server("127.0.0.1", port, in_memory=True, default_bucket=bucket)
    server.start()
    try:
        with patch.dict(os.environ, {"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{port}"}):
            yield f"gs://{bucket}"
    finally:
        server.stop()


@contextmanager
def azure() -> Iterator[str]:
    """The URL of a new container."""
    pytest.importorskip("adlfs")
    program = shutil.which("azurite-blob") or pytest.skip("azurite is not installed")
    port, container = free_port(), f"box-{uuid4().hex[:8]}"
    quiet = ("--silent", "--disableTelemetry", "--inMemoryPersistence", "--skipApiVersionCheck")
    command = [program, *quiet, "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for(port)
            told = f"AccountName={ACCOUNT};AccountKey={KEY};BlobEndpoint=http://127.0.0.1:{port}/{ACCOUNT};"
            told = f"DefaultEndpointsProtocol=http;{told}"
            with patch.dict(os.environ, {"AZURE_STORAGE_CONNECTION_STRING": told}):
                store_of(f"az://{container}").mkdir(container)
                yield f"az://{container}"
        finally:
            server.terminate()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def wait_for(port: int, seconds: float = 30) -> None:
    end = monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert monotonic() < end, "the emulator does not answer"
            sleep(0.1)
