"""A headless Chromium, driven through its debugging pipe; and pictures that it takes.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import base64
import json
import os
import select
import shutil
import struct
import subprocess
import tempfile
import time
import zlib

LONGEST = 60  # seconds that one answer may take


def program():
    """The path of Chromium; None where there is none."""
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Browser:
    """One page of a browser. What went wrong on it is in ->wrong: errors of scripts, and whatever was not there."""

    def __init__(self):
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

    def close(self):
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

    def value(self, script):
        """What SCRIPT, an expression, is on the page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", script))
        return result["result"].get("value")

    def until(self, script):
        """Whether SCRIPT becomes true in time."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            if self.value(script):
                return True
            time.sleep(0.02)
        return False

    def picture(self, path, whole=True):
        """A PNG of the page, all of it if WHOLE; its pixels."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return Picture(data)


class Picture:
    """The pixels of a PNG of 8 bits for a colour, without interlace, as Chromium writes them."""

    def __init__(self, data):
        at, packed = 8, b""
        while at < len(data):
            size, kind = struct.unpack(">I4s", data[at:at + 8])
            if kind == b"IHDR":
                self.width, self.height, depth, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
            if kind == b"IDAT":
                packed += data[at + 8:at + 8 + size]
            at += size + 12
        assert depth == 8 and colour in (2, 6)
        self.step = 3 if colour == 2 else 4
        self.rows = self.unfiltered(zlib.decompress(packed))

    def unfiltered(self, raw):
        rows, before, step = [], bytearray(self.width * self.step), self.step
        for y in range(self.height):
            at = y * (self.width * step + 1)
            kind, row = raw[at], bytearray(raw[at + 1:at + 1 + self.width * step])
            for i in range(len(row)) if kind else ():
                left = row[i - step] if i >= step else 0
                up, corner = before[i], before[i - step] if i >= step else 0
                if kind == 1:
                    guess = left
                elif kind == 2:
                    guess = up
                elif kind == 3:
                    guess = (left + up) // 2
                else:
                    guess = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
                row[i] = (row[i] + guess) & 255
            rows.append(row)
            before = row
        return rows

    def share(self, colour, left, top, width, height):
        """How much of a rectangle has COLOUR, about."""
        hits = whole = 0
        for y in range(max(0, int(top)), min(self.height, int(top + height))):
            for x in range(max(0, int(left)), min(self.width, int(left + width))):
                pixel = self.rows[y][x * self.step:x * self.step + 3]
                hits += all(abs(a - b) < 24 for a, b in zip(pixel, colour))
                whole += 1
        return hits / whole if whole else 0.0
