"""kernelmill trace, and the files that KM_TRACE leaves: read by a program, and by a browser."""

import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import unittest
import zlib

from tool import TOOL, Case

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next((shutil.which(name) for name in BROWSERS if shutil.which(name)), None)
REPEATS = 20
# Writes down where the first axis's marks begin and end, in pixels.
MEASURE = """<p id="marks"></p><script>
const texts = [...document.querySelectorAll(".axis .at1")[0].querySelectorAll("text")];
const boxes = texts.map((text) => text.getBoundingClientRect()).filter((box) => box.width > 0);
document.getElementById("marks").textContent =
  JSON.stringify(boxes.map((box) => [box.left, box.right]));
</script>"""


class Page(html.parser.HTMLParser):
    """Rows of the tables and shapes of the plots."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.shapes, self.cell = [], {}, None
        self.plots = []  # those that are open: names lie in a picture in the picture
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.cell = ""
        elif tag == "svg":
            self.plots.append(attributes["class"])
        elif tag in ("rect", "path"):
            self.shapes.setdefault(self.plots[-1], []).append(attributes)

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self.cell)
            self.cell = None
        elif tag == "svg":
            self.plots.pop()


def pixels(content):
    """The colours of a PNG without interlacing, as a set of tuples."""
    width, channels = int.from_bytes(content[16:20], "big"), {2: 3, 6: 4}[content[25]]
    data, at = b"", 8
    while at < len(content):
        size = int.from_bytes(content[at:at + 4], "big")
        if content[at + 4:at + 8] == b"IDAT":
            data += content[at + 8:at + 8 + size]
        at += size + 12
    raw, stride = zlib.decompress(data), width * channels
    above, colours = bytes(stride), set()
    for start in range(0, len(raw), stride + 1):
        row, kind = bytearray(raw[start + 1:start + 1 + stride]), raw[start]
        for i in range(stride):
            left = row[i - channels] if i >= channels else 0
            corner = above[i - channels] if i >= channels else 0
            up = above[i]
            near = min((left, up, corner), key=lambda v: abs(left + up - corner - v))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, near)[kind]) & 255
        above = bytes(row)
        colours.update(zip(*(row[c::channels] for c in range(3))))
    return colours


def luminance(colour):
    """WCAG's relative luminance of #rgb or #rrggbb."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    shares = [int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


class Trace(Case):
    def setUp(self):
        super().setUp()
        self.program = (TOOL, *self.scale_words(), "--repeat", str(REPEATS))

    def test_a_trace_that_perfetto_opens(self):
        result = self.good("trace", "-o", "t.json", "--", *self.program)
        self.assertIn("t.json is written", result.stderr)
        events = json.loads(self.read("t.json"))["traceEvents"]
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events
                 if e["name"] == "thread_name"}
        work = [e for e in events if e["ph"] == "X"]
        kernels = [e for e in work if e["cat"] == "kernel"]
        self.assertGreaterEqual(len(kernels), REPEATS)
        last = {}
        for event in kernels:
            self.assertEqual(event["name"], "scale")
            self.assertRegex(names[event["pid"], event["tid"]], r"\Astream \d+\Z")
            self.assertGreaterEqual(event["ts"], last.get(event["tid"], 0))  # in order
            self.assertGreater(event["dur"], 0)
            last[event["tid"]] = event["ts"] + event["dur"]
        self.assertIn("download", {e["name"] for e in work})
        waits = [e for e in work if e["cat"] == "wait"]
        self.assertTrue(waits)
        self.assertIn("host thread", names[waits[0]["pid"], waits[0]["tid"]])
        memory = [e["args"]["bytes"] for e in events if e["ph"] == "C"]
        self.assertGreaterEqual(max(memory), 2 * 4 * 4096)

    def test_a_trace_says_what_was_launched_and_by_which_call(self):
        self.good("trace", "-o", "t.json", "--", *self.program)
        trace = json.loads(self.read("t.json"))
        about = trace["otherData"]
        self.assertIn("run scale.cu", about["program"])
        self.assertRegex(about["date"], r"\A20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC\Z")
        self.assertRegex(about["library"], r"\AKernelmill \d")
        self.assertIn(os.uname().nodename, about["machine"])
        self.assertNotIn("empty", about)
        events = trace["traceEvents"]
        work = [e for e in events if e["ph"] == "X"]
        kernels = [e for e in work if e["cat"] == "kernel"]
        self.assertEqual((kernels[0]["args"]["grid"], kernels[0]["args"]["block"]),
                         ("1 x 1 x 1", "256 x 1 x 1"))
        compiled = {e["name"] for e in work if e["cat"] == "compile"}
        self.assertEqual(compiled, {"compile scale", "compile scale.cu"})
        starts = {e["id"]: e for e in events if e["ph"] == "s"}
        finishes = {e["id"]: e for e in events if e["ph"] == "f"}
        self.assertEqual(set(starts), set(finishes))
        self.assertGreaterEqual(len(starts), len(kernels))
        calls = [e for e in work if e["cat"] == "call"]
        ends = {(e["tid"], e["ts"]) for e in work}
        for number, start in starts.items():
            finish = finishes[number]
            self.assertLessEqual(start["ts"], finish["ts"])
            self.assertIn((finish["tid"], finish["ts"]), ends)  # the work's begin
            self.assertTrue(any(e["tid"] == start["tid"] and
                                e["ts"] <= start["ts"] <= e["ts"] + e["dur"] for e in calls))
        self.assertIn("launch scale", {e["name"] for e in calls})

    def test_exit_codes_are_passed_on(self):
        self.assertEqual(self.run_tool("trace", "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.run_tool("trace", "--", "sh", "-c", "kill -9 $$").returncode, 137)
        result = self.good("trace", "--", "true")
        self.assertIn("nothing was recorded: the program ended with code 0", result.stderr)
        self.assertIn("PROGRAM is required", self.bad(2, "trace", "--"))
        self.assertIn("No such file", self.bad(1, "trace", "--", "./nowhere"))

    def test_an_old_trace_stays_until_there_is_a_new_one(self):
        self.write("t.json", "old")
        os.symlink("t.json", self.path("link.json"))
        result = self.run_tool("trace", "-o", "link.json", "--", "sh", "-c", "exit 3")
        self.assertEqual(result.returncode, 3)
        self.assertIn("nothing was recorded, and link.json is as it was", result.stderr)
        self.assertEqual(self.read("t.json"), b"old")
        self.assertIn("link.json is written",
                      self.good("trace", "-o", "link.json", "--", *self.program).stderr)
        self.assertTrue(json.loads(self.read("t.json"))["traceEvents"])
        self.assertTrue(os.path.islink(self.path("link.json")))
        message = self.bad(1, "trace", "-o", "none/t.json", "--", "touch", "ran")
        self.assertIn("no new file can be made in", message)
        self.assertFalse(os.path.exists(self.path("ran")))

    def test_the_variable_alone(self):
        path = self.path("v.json")
        self.good(*self.program[1:], env={"KM_TRACE": path})
        self.assertTrue(json.loads(self.read("v.json"))["traceEvents"])
        result = self.good(*self.program[1:], env={"KM_TRACE": "/nowhere/at/all.json"})
        self.assertIn("cannot write '/nowhere/at/all.json'", result.stderr)

    def test_the_variable_counts_from_the_folder_of_the_start(self):
        os.mkdir(self.path("elsewhere"))
        library = os.path.join(os.path.dirname(os.path.dirname(TOOL)), "lib", "libkernelmill.so")
        load = f"import ctypes, os\nkm = ctypes.CDLL({library!r})\n"
        if subprocess.run(["python3", "-c", load], capture_output=True, check=False).returncode:
            self.skipTest("Python cannot load this build of the library, as with sanitizers")
        program = (load + "device, context = ctypes.c_uint64(), ctypes.c_uint64()\n"
                   "assert km.km_device_open(b'cpu', ctypes.byref(device)) == 0\n"
                   "assert km.km_context_create(device, ctypes.byref(context)) == 0\n"
                   "os.chdir('elsewhere')\n")
        subprocess.run(["python3", "-c", program], cwd=self.folder, check=True, timeout=120,
                       env={**os.environ, "KM_TRACE": "t.json"})
        self.assertIn("traceEvents", json.loads(self.read("t.json")))

    def check_page(self, text):
        page = Page(text)
        scale = next(row for row in page.rows if row[0] == "scale")
        self.assertEqual(scale[1], "kernel")
        self.assertGreaterEqual(int(scale[2]), REPEATS)
        self.assertRegex(scale[3], r"^[1-9][\d.]* (ns|us|ms|s)$")
        self.assertGreaterEqual(len(page.shapes["timeline"]), REPEATS)
        self.assertTrue(page.shapes["bars"] and page.shapes["memory-plot"])
        for shape in page.shapes["timeline"]:
            x, width = (float(shape[name].removesuffix("%")) for name in ("x", "width"))
            self.assertGreaterEqual(x, 0)
            self.assertLessEqual(x + width, 100.01)
        kinds = {shape["class"].split()[0] for shape in page.shapes["timeline"]}
        self.assertLessEqual({"kernel", "upload", "download", "wait", "call", "compile"}, kinds)
        for word in ("scale: ", "grid 1 x 1 x 1, block 256 x 1 x 1", "the host&#x27;s call"):
            self.assertIn(word.replace("&#x27;", "'"), text)
        self.assertRegex(text, r"<dt>program</dt><dd>[^<]*run scale\.cu")
        self.assertRegex(text, r"<dt>date</dt><dd>20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC</dd>")
        for zoom in (1, 4, 16, 64):
            self.assertIn(f'class="by{zoom}"', text)
            self.assertRegex(text, rf'<g class="at{zoom}"><line[^>]*></line><text[^>]*>0</text>')
            axis = re.search(rf'<g class="at{zoom}">(.*?)</g>', text)[1]
            self.assertEqual(axis.count("<line"), axis.count("<text"), "marks without a time")
        # From the lane of the host's thread, which is below, up to that of the stream.
        arrows = re.search(r'<svg class="arrows">(.*?)</svg>', text, re.S)[1]
        ends = re.findall(r'<line x1="[\d.]+%" y1="(\d+)" x2="[\d.]+%" y2="(\d+)">', arrows)
        self.assertGreaterEqual(len(ends), REPEATS)
        self.assertTrue(all(int(call) > int(work) for call, work in ends), ends)

    def browse(self, *arguments):
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                   "--disable-dev-shm-usage", f"--user-data-dir={self.path('browser')}",
                   "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=2000",
                   *arguments, "file://" + self.path("t.html")]
        environment = {**os.environ, "HOME": self.folder}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=120, check=True)

    def test_a_report(self):
        self.good("trace", "--output", "t.html", "--", *self.program)
        text = self.read("t.html").decode()
        self.check_page(text)
        for elsewhere in ("http:", "https:", "src=", "href=", "<script", "@import", "url("):
            self.assertNotIn(elsewhere, text)

    def test_names_in_boxes_can_be_read(self):
        """White on each kind's colour, and text on its ground, as WCAG asks of small text."""
        self.good("trace", "--output", "t.html", "--", *self.program)
        text = self.read("t.html").decode()
        light, dark = (dict(re.findall(r"--(\w+): (#\w+)", block))
                       for block in re.findall(r":root \{(.*?)\}", text, re.S))
        self.assertRegex(text, r"\.name text \{ fill: #fff; \}")
        for colours in (light, {**light, **dark}):
            for kind in re.findall(r"(?m)^\.(\w+)(?:, [.\w, ]+)? \{ fill: var\(--\1\)", text):
                self.assertGreaterEqual(contrast("#fff", colours[kind]), 4.5, kind)
            for ground in ("back", "plot"):
                for ink in ("text", "quiet"):
                    self.assertGreaterEqual(contrast(colours[ink], colours[ground]), 4.5, ink)

    @unittest.skipUnless(BROWSER, "no Chromium is installed")
    def test_marks_of_the_axis_lie_apart(self):
        """Of the places and sizes that the browser gives them, on screens of different widths."""
        self.good("trace", "--output", "t.html", "--", *self.program)
        page = self.read("t.html").decode()
        page = re.sub(r"<meta http-equiv[^>]*>", "", page).replace("</body>", MEASURE + "</body>")
        self.write("t.html", page)
        for width in (400, 640, 1000):
            shown = self.browse("--dump-dom", f"--window-size={width},900").stdout
            marks = json.loads(html.unescape(re.search(r'<p id="marks">(.*?)</p>', shown)[1]))
            self.assertGreaterEqual(len(marks), 2)
            for (_, end), (begin, _) in zip(marks, marks[1:]):
                self.assertLess(end + 4, begin, f"{width}: {marks}")

    @unittest.skipUnless(BROWSER, "no Chromium is installed")
    def test_a_report_in_a_browser(self):
        self.good("trace", "--output", "t.html", "--", *self.program)
        self.check_page(self.browse("--dump-dom").stdout)
        self.browse("--window-size=1000,900", "--screenshot=" + self.path("t.png"))
        colours = pixels(self.read("t.png"))
        # The style sheet's colours of kernels and compilations, and the ground of the plots.
        for drawn in ((0x35, 0x75, 0xCF), (0xBD, 0x48, 0x73), (0xFA, 0xFA, 0xFA)):
            self.assertIn(drawn, colours)


if __name__ == "__main__":
    unittest.main()
