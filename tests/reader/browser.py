# SPDX-License-Identifier: GPL-2.0-only OR MIT
"""A headless Chromium, driven by chromedriver in the W3C's WebDriver protocol."""
import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
# No window system, no GPU, and nobody to talk to.
ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync",
             "--host-resolver-rules=MAP * ~NOTFOUND"]


def missing():
    """What is not installed; "" if all is."""
    for command in ("chromium", "chromedriver"):
        if not shutil.which(command):
            return command
    return ""


class Browser:
    """A window."""

    def __init__(self, width=1400, height=900):
        self.profile = tempfile.TemporaryDirectory()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        # pylint: disable=consider-using-with
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=%d" % port], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        self.url = "http://127.0.0.1:%d/session" % port
        self._wait(port)
        options = {
            "binary": shutil.which("chromium"),
            "args": ARGUMENTS + ["--user-data-dir=" + self.profile.name,
                                 "--window-size=%d,%d" % (width, height)],
        }
        wanted = {"alwaysMatch": {"browserName": "chrome",
                                  "goog:loggingPrefs": {"browser": "ALL"},
                                  "goog:chromeOptions": options}}
        session = self._ask("POST", "", {"capabilities": wanted})
        self.url += "/" + session["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._ask("DELETE", "")
        finally:
            self.driver.terminate()
            try:
                self.driver.wait(30)
            except subprocess.TimeoutExpired:
                self.driver.kill()
                self.driver.wait()
            self.profile.cleanup()

    @staticmethod
    def _wait(port):
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("chromedriver does not answer")

    def _ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data, {"Content-Type": "application/json"},
            method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def open(self, url):
        """Load a page."""
        self._ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """What a JavaScript function's body returns."""
        return self._ask("POST", "/execute/sync",
                         {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments):
        """The same once it is true."""
        for _ in range(200):
            value = self.run(script, *arguments)
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError(script)

    def _element(self, selector):
        found = self._ask("POST", "/element",
                          {"using": "css selector", "value": selector})
        return "/element/" + found[ELEMENT]

    def click(self, selector):
        """As a mouse does."""
        self._ask("POST", self._element(selector) + "/click", {})

    def type(self, selector, text):
        """As a keyboard does."""
        self._ask("POST", self._element(selector) + "/value", {"text": text})

    def mouse(self, x, y, clicks=1):
        """The mouse goes there, and clicks."""
        actions = [{"type": "pointerMove", "x": int(x), "y": int(y)}]
        actions += [{"type": "pointerDown", "button": 0},
                    {"type": "pointerUp", "button": 0}] * clicks
        self._ask("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "actions": actions}]})

    def press(self, *keys):
        """Keys, one after the other; W3C's code points for those without a letter."""
        actions = [{"type": kind, "value": key} for key in keys
                   for kind in ("keyDown", "keyUp")]
        self._ask("POST", "/actions", {"actions": [
            {"type": "key", "id": "keys", "actions": actions}]})

    def resize(self, width, height):
        """The window has another size."""
        self._ask("POST", "/window/rect", {"width": width, "height": height})

    def reload(self):
        """As F5 does."""
        self._ask("POST", "/refresh", {})

    def media(self, media="", scheme="light"):
        """As it is printed, or in the dark."""
        self._ask("POST", "/goog/cdp/execute", {
            "cmd": "Emulation.setEmulatedMedia", "params": {"media": media, "features": [
                {"name": "prefers-color-scheme", "value": scheme}]}})

    def screenshot(self, path):
        """What can be seen."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._ask("GET", "/screenshot")))

    def log(self):
        """What the page, or its loading, complained of."""
        return [entry["message"] for entry in
                self._ask("POST", "/se/log", {"type": "browser"})]
