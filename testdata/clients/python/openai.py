"""Replaces Python's package openai, which the tests cannot install. It has the part of the
package's published interface that the example on the page /api uses, written from its
documentation. So a test runs the example itself, with its syntax and its fields, but not
the package.
"""
import json
import urllib.request
from types import SimpleNamespace


class OpenAI:
    def __init__(self, *, base_url, api_key):
        self.completions = _Completions(base_url, api_key)


class _Completions:
    def __init__(self, base_url, api_key):
        self._url, self._key = base_url.rstrip("/") + "/completions", api_key

    def create(self, *, model, prompt, stream, **fields):
        assert stream is True, "the example streams"
        body = json.dumps({"model": model, "prompt": prompt, "stream": stream, **fields}).encode()
        headers = {"Content-Type": "application/json", "Authorization": "Bearer " + self._key}
        return self._events(urllib.request.Request(self._url, body, headers))

    @staticmethod
    def _events(request):
        with urllib.request.urlopen(request) as answer:
            for line in answer:
                data = line.decode().removeprefix("data: ").strip()
                if data and data != "[DONE]":
                    yield json.loads(data, object_hook=lambda fields: SimpleNamespace(**fields))
