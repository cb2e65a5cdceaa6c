"""A headless Chromium, driven through its debugging pipe; and pictures that it takes.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile

LONGEST = 60  # seconds that one answer may take
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAIL: " + text)


def end(text):
    print(text)
    sys.exit(1 if failures else 0)


def program():
    """The path of Chromium; None where there is none."""
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Browser:
    """One page of a browser. What went wrong on it is in ->wrong: errors of scripts, and whatever was not there."""

    def __init__(self):
        if program() is None:
            sys.exit("%s: chromium is missing" % os.path.basename(sys.argv[0]))
        self.folder = tempfile.mkdtemp(prefix="librex-browser.")
        to_read, self.to = os.pipe()
        self.back, to_write = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec "$0" "$@" 3<&%d 4>&%d' % (to_read, to_write), program(), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-background-networking", "--remote-debugging-pipe",
             "--user-data-dir=" + self.folder, "about:blank"],
            pass_fds=(to_read, to_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.number, self.rest, self.session = 0, b"", None
        self.wrong, self.asked, self.loaded = [], [], 0
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.rest:
            if not select.select([self.back], [], [], LONGEST)[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.back, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def note(self, message):
        method, given = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.wrong.append(given["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        elif method == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.wrong.append("%s %s" % (given["entry"]["text"], given["entry"].get("url", "")))
        elif method == "Network.requestWillBeSent":
            self.asked.append(given["request"]["url"])
        elif method == "Network.loadingFailed":
            self.wrong.append("not loaded: %s" % given["errorText"])
        elif method == "Page.loadEventFired":
            self.loaded += 1

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.note(answer)

    def open(self, path, width, height=900, query=""):
        """Show the file at PATH in a window of so many pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.wrong, self.asked, before = [], [], self.loaded
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + query)
        while self.loaded == before:
            self.note(self.receive())

    def check(self, path, width, allowed, query=""):
        """The page at PATH in a window of so many pixels: it fits, nothing is wrong, and it asks for nothing that does not begin with ALLOWED."""
        self.open(path, width, query=query)
        name = os.path.basename(path)
        for text in self.wrong:
            fail("%s at %d: %s" % (name, width, text))
        for url in self.asked:
            if not url.startswith(allowed):
                fail("%s asks for %s" % (name, url))
        wide = self.value("document.documentElement.scrollWidth")
        if wide > width:
            # Those that stand out, without what can be scrolled in itself.
            out = self.value("[...document.querySelectorAll('main *, nav *')].filter(one => !one.closest('pre, .wide') && "
                             "one.getBoundingClientRect().right > innerWidth).slice(0, 3).map(one => one.outerHTML.slice(0, 80)).join('; ')")
            fail("%s is %d pixels wide in a window of %d: %s" % (name, wide, width, out))

    def value(self, script):
        """What SCRIPT, an expression or a promise, is on the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", script))
        return result["result"].get("value")

    def picture(self, path, whole=True):
        """A PNG of the page, all of it if WHOLE."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
