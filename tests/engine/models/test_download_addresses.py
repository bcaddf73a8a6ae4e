"""Where a download may go: to whom the system trusts, by its proxy, and nowhere unsafe."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import Code, EngineError
from engine.models.catalog import CatalogEntry
from engine.models.download import download
from engine.models.store import ModelStore

if TYPE_CHECKING:
    from tests.engine.models.conftest import Downloads, Server


def test_a_redirect_is_followed_with_its_range(downloads: Downloads, server: Server) -> None:
    downloads.begin(1000)
    server.script = [server.status(302, Location="/elsewhere/file?token=1")]
    assert downloads.get().official
    assert server.ranges == ["bytes=1000-"] * 2


@pytest.mark.parametrize("target", ["http://models.example/file", "ftp://models.example/file", "http://10.0.0.1/file"])
def test_a_redirect_to_an_unsafe_address_is_not_followed(downloads: Downloads, server: Server, target: str) -> None:
    server.script = [server.status(302, Location=target)]
    assert downloads.fails(Code.DOWNLOAD_FAILED)


def test_a_mirrors_password_is_used_and_not_recorded(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    stored = download(entry, store, base_url=server.url.replace("127", "me:secret@127"))
    assert stored.source == f"{server.url}/ggml-tiny.bin"
    with pytest.raises(EngineError) as caught:
        download(entry, store, base_url="http://me:secret@models.example")
    assert "secret" not in str(caught.value)


def test_a_circle_of_redirects_ends(downloads: Downloads, server: Server) -> None:
    server.script = [server.status(302, Location="/round")] * 100
    assert "circles" in downloads.fails(Code.DOWNLOAD_FAILED)


@pytest.mark.parametrize(
    "base",
    [
        "http://models.example/x",
        "http://192.168.0.1",
        "ftp://127.0.0.1",
        "file:///etc",
        "https://",
        "x",
        "http://[",
        "https://a:b:c",
    ],
)
def test_only_safe_addresses_are_used(entry: CatalogEntry, store: ModelStore, base: str) -> None:
    with pytest.raises(EngineError) as caught:
        download(entry, store, base_url=base)
    assert caught.value.code is Code.DOWNLOAD_FAILED
    assert list(store.folder.iterdir()) == []


def test_without_a_server_it_is_told_at_once(entry: CatalogEntry, store: ModelStore, server: Server) -> None:
    server.server_close()
    started = time.monotonic()
    with pytest.raises(EngineError) as caught:
        download(entry, store, base_url=server.url)
    assert caught.value.code is Code.DOWNLOAD_FAILED
    assert time.monotonic() - started < 5
    assert not list(store.folder.glob("*.part"))


def test_a_proxy_is_never_used_for_this_machine(downloads: Downloads, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert downloads.get().official


@pytest.mark.parametrize(
    ("proxy", "why"), [("http://127.0.0.1:9", "refused"), ("gopher://127.0.0.1:9", "proxy setting")]
)
def test_a_proxy_is_used_for_everything_else(
    entry: CatalogEntry, store: ModelStore, monkeypatch: pytest.MonkeyPatch, proxy: str, why: str
) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    with pytest.raises(EngineError) as caught:
        download(entry, store, base_url="https://models.example")
    assert caught.value.code is Code.DOWNLOAD_FAILED
    assert why in caught.value.detail


@pytest.fixture
def secure(server: Server, tmp_path: Path) -> Path:
    """Turn the server to HTTPS, with a certificate that nobody vouches for; where the certificate is."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.scheme = "https"
    return certificate


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl to make a certificate")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system's store of certificates would have to change")
def test_a_server_is_trusted_when_the_system_trusts_it_and_only_then(
    downloads: Downloads, secure: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "CERTIFICATE_VERIFY_FAILED" in downloads.fails(Code.DOWNLOAD_FAILED)
    monkeypatch.setenv("SSL_CERT_FILE", str(secure))
    assert downloads.get().official


def test_nothing_else_uses_the_network() -> None:
    """The one module that may import httpx is this one's; `sottovoce models list` must not load it."""
    script = (
        "import sys, engine.models_cli, engine.models.starter, engine.models.importers\n"
        "assert not {'httpx', 'truststore'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
