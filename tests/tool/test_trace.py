"""kernelmill trace, KM_TRACE and KM_COUNTERS: files read by a program, and by a browser."""

import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import unittest
import zlib

from tool import SOURCE_DIR, TOOL, Case

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


with open(os.path.join(SOURCE_DIR, "tests/data/counter_kernels.cu"), encoding="utf-8") as source:
    KERNELS = source.read()
ARRAYS = ("--arg", "zeros:f32[8192]", "--arg", "zeros:f32[8192]")
LOAD, STORE, ATOMIC = "global load", "global store", "global atomic"
SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC = "shared load", "shared store", "shared atomic"
WHOLE = (16, 512, 64, 64)  # requests, threads, sectors or wavefronts, ideal: of 16 warps
FREE = (16, 512, 16, 16)
BY_BLOCK = (4, 4, 4, 4)  # by one thread of each block

EXPECTED = {
    "load_stride_1": {LOAD: WHOLE, STORE: WHOLE},
    "load_stride_2": {LOAD: (16, 512, 128, 64), STORE: WHOLE},
    "load_stride_32": {LOAD: (16, 512, 512, 64), STORE: WHOLE},
    "load_offset_1": {LOAD: (16, 512, 80, 64), STORE: WHOLE},
    "load_same": {LOAD: FREE, STORE: WHOLE},
    "load_bytes": {LOAD: FREE, STORE: WHOLE},
    "load_float4": {LOAD: (16, 512, 256, 256), STORE: (16, 512, 256, 256)},
    "load_reversed": {LOAD: WHOLE, STORE: WHOLE},
    "store_stride_8": {LOAD: WHOLE, STORE: (16, 512, 512, 64)},
    "load_half_warp": {LOAD: (16, 256, 32, 32), STORE: (16, 256, 32, 32)},
    "load_one_lane": {LOAD: (16, 16, 16, 16), STORE: (16, 16, 16, 16)},
    "atomic_same": {LOAD: WHOLE, ATOMIC: FREE},
    "shared_stride_1": {LOAD: WHOLE, STORE: WHOLE, SHARED_LOAD: FREE, SHARED_STORE: FREE},
    "shared_stride_2": {LOAD: WHOLE, STORE: WHOLE, SHARED_LOAD: (16, 512, 32, 16),
                        SHARED_STORE: (16, 512, 32, 16)},
    "shared_stride_32": {LOAD: WHOLE, STORE: WHOLE, SHARED_LOAD: (16, 512, 512, 16),
                         SHARED_STORE: (16, 512, 512, 16)},
    "shared_stride_33": {LOAD: WHOLE, STORE: WHOLE, SHARED_LOAD: FREE, SHARED_STORE: FREE},
    "shared_double": {LOAD: (16, 512, 128, 128), STORE: (16, 512, 128, 128),
                      SHARED_LOAD: (16, 512, 32, 32), SHARED_STORE: (16, 512, 32, 32)},
    "shared_float4": {LOAD: (16, 512, 256, 256), STORE: (16, 512, 256, 256),
                      SHARED_LOAD: (16, 512, 64, 64), SHARED_STORE: (16, 512, 64, 64)},
    "shared_same": {LOAD: (4, 16, 4, 4), STORE: WHOLE, SHARED_LOAD: FREE,
                    SHARED_STORE: (4, 16, 4, 4)},
    "tile_32": {LOAD: (128, 4096, 512, 512), STORE: (128, 4096, 512, 512),
                SHARED_LOAD: (128, 4096, 4096, 128), SHARED_STORE: (128, 4096, 128, 128)},
    "tile_33": {LOAD: (128, 4096, 512, 512), STORE: (128, 4096, 512, 512),
                SHARED_LOAD: (128, 4096, 128, 128), SHARED_STORE: (128, 4096, 128, 128)},
    "shared_atomic": {LOAD: WHOLE, STORE: BY_BLOCK, SHARED_LOAD: BY_BLOCK, SHARED_STORE: BY_BLOCK,
                      SHARED_ATOMIC: (16, 512, 512, 16)},
    "through_generic": {LOAD: (32, 768, 96, 96), STORE: WHOLE, SHARED_LOAD: (16, 256, 16, 16),
                        SHARED_STORE: FREE},
    "async_copy": {LOAD: WHOLE, STORE: WHOLE, SHARED_LOAD: FREE, SHARED_STORE: FREE},
    "matrix_rows_128": {STORE: WHOLE, SHARED_LOAD: (16, 512, 512, 64)},
    "matrix_rows_144": {STORE: WHOLE, SHARED_LOAD: (16, 512, 64, 64)},
}

# The numbers say how many lanes of the first and of the second warp execute an instruction.
BRANCHES = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry branches(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .u32 %r<8>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];        // 32 32
  mov.u32 %r1, %tid.x;             // 32 32
  and.b32 %r2, %r1, 1;             // 32 32
  setp.eq.u32 %p1, %r2, 0;         // 32 32
  @%p1 bra EVEN;                   // 32 32, divergent
  mov.u32 %r3, 7;                  // 16 16
  bra JOIN;                        // 16 16
EVEN:
  mov.u32 %r3, 9;                  // 16 16
JOIN:
  setp.lt.u32 %p2, %r1, 32;        // 32 32
  @%p2 bra LOW;                    // 32 32
  add.u32 %r3, %r3, 1;             //  0 32
LOW:
  mul.wide.u32 %rd2, %r1, 4;       // 32 32
  add.u64 %rd1, %rd1, %rd2;        // 32 32
  mov.u32 %r4, 0;                  // 32 32
LOOP:
  add.u32 %r4, %r4, 1;             // 32 32, then 16 16
  setp.le.u32 %p3, %r4, %r2;       // 32 32, then 16 16
  @%p3 bra LOOP;                   // 32 32, divergent, then 16 16
  setp.eq.u32 %p3, %r2, 0;         // 32 32
  @%p3 st.global.u32 [%rd1], %r3;  // 32 32
  ret;
}
"""
WARP_INSTRUCTIONS, THREAD_INSTRUCTIONS = 2 * 21 + 1, 2 * (15 * 32 + 6 * 16) + 32


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


class Counters(Case):
    ptx = None

    def setUp(self):
        super().setUp()
        if Counters.ptx is None:
            self.write("kernels.cu", KERNELS)
            self.good("compile", "kernels.cu", "-o", "kernels.ptx", "--nvrtc=-lineinfo")
            Counters.ptx = self.read("kernels.ptx")
        self.write("kernels.ptx", Counters.ptx)
        self.write("branches.ptx", BRANCHES)

    def count(self, kernel, *words, file="kernels.ptx", shape=("--grid", "4", "--block", "128"),
              **variables):
        """The counters of one launch, as in the trace, and what is printed."""
        result = self.good("run", file, "--kernel", kernel, *shape, "-q", "--device", "cpu",
                           *(words or ARRAYS),
                           env={"KM_COUNTERS": "1", "KM_TRACE": "t.json", **variables})
        counted = json.loads(self.read("t.json"))["counters"]
        self.assertEqual([each["kernel"] for each in counted], [kernel])
        return counted[0], result.stderr

    @staticmethod
    def numbers(counter):
        taken = [counter[unit] for unit in ("sectors", "wavefronts", "divergent")
                 if unit in counter]
        ideal = [counter["ideal"]] if "ideal" in counter else []
        return (counter["requests"], counter["threads"], *taken, *ideal)

    def totals(self, *words, **options):
        counted, _ = self.count(*words, **options)
        return {each["event"]: self.numbers(each) for each in counted["totals"]}

    def test_accesses(self):
        self.assertEqual(set(EXPECTED), set(re.findall(r"^KERNEL (\w+)\(", KERNELS, re.MULTILINE)))
        for kernel, expected in EXPECTED.items():
            for mode in ("a", "b", "c"):
                with self.subTest(kernel=kernel, mode=mode):
                    totals = self.totals(kernel, KM_CPU_MODE=mode)
                    found = {event: numbers for event, numbers in totals.items()
                             if event not in ("branch", "instruction")}
                    self.assertEqual(found, expected)

    def test_packets_are_warps_on_every_machine(self):
        for isa in ("x86-64-v2", "avx2"):
            for kernel in ("load_stride_1", "load_half_warp", "tile_32"):
                with self.subTest(isa=isa, kernel=kernel):
                    totals = self.totals(kernel, KM_CPU_ISA=isa)
                    for event, numbers in EXPECTED[kernel].items():
                        self.assertEqual(totals[event], numbers)

    def test_blocks_of_several_rows(self):
        """48 threads in rows of 6 are a warp and half of one."""
        shape = ("--grid", "1", "--block", "6,8")
        totals = self.totals("atomic_same", shape=shape)
        self.assertEqual(totals[ATOMIC], (2, 48, 2, 2))

    def test_threads_of_the_device_and_launches_add_up(self):
        once = self.totals("shared_stride_2", KM_CPU_THREADS="1", shape=("--grid", "512", "--block",
                                                                         "128"))
        self.assertEqual(once[SHARED_LOAD], (2048, 65536, 4096, 2048))
        counted, _ = self.count("shared_stride_2", *ARRAYS, "--repeat", "5",
                                shape=("--grid", "512", "--block", "128"), KM_CPU_THREADS="3")
        load = next(each for each in counted["totals"] if each["event"] == SHARED_LOAD)
        launches = load["requests"] // 2048
        self.assertGreaterEqual(launches, 5)
        self.assertEqual(self.numbers(load), tuple(launches * n for n in once[SHARED_LOAD]))

    def test_lines_of_the_source(self):
        counted, printed = self.count("tile_32")
        lines = KERNELS.splitlines()
        line = 1 + next(i for i, text in enumerate(lines) if "= tile[x][y]" in text)
        own = {each["event"]: self.numbers(each) for each in counted["lines"]
               if each["source"] == f"kernels.cu:{line}"}
        self.assertEqual(own[SHARED_LOAD], EXPECTED["tile_32"][SHARED_LOAD])
        self.assertEqual(own[STORE], EXPECTED["tile_32"][STORE])
        self.assertRegex(printed, r"(?m)^tile_32 +shared load +128 +32\.00 +32\.00 +1\.00  "
                                  r"3968 bank conflicts$")
        self.assertRegex(printed, r"(?m)^line with the most excess .*\n"
                                  rf"kernels\.cu:{line} +shared load +128 .* 3968 bank conflicts$")
        self.assertNotIn("kernels.cu", self.count("tile_33")[1])

    def test_divergent_branches_are_told(self):
        _, printed = self.count("branches", file="branches.ptx",
                                shape=("--grid", "1", "--block", "64"))
        self.assertRegex(printed, r"(?m)^branches +branch +8 +28\.00 +- +-  "
                                  r"4 divergent, efficiency 50\.0%$")
        line = 1 + next(i for i, text in enumerate(BRANCHES.splitlines()) if "bra EVEN" in text)
        self.assertRegex(printed, rf"branches\.ptx:{line} +branch +2 +32\.00 +- +-  2 divergent")

    def test_the_option_and_the_page(self):
        words = ("run", "kernels.ptx", "--kernel", "load_stride_2", "--grid", "4", "--block", "128",
                 "-q", "--device", "cpu", *ARRAYS)
        result = self.good("trace", "--counters", "-o", "t.html", "--", TOOL, *words)
        self.assertIn("load_stride_2", result.stderr)
        rows = [row for row in Page(self.read("t.html").decode()).rows if "global load" in row]
        self.assertEqual(rows[0], ["load_stride_2", "global load", "16", "32.00", "8.00", "4.00",
                                   "64 sectors"])
        self.assertRegex(rows[1][0], r"\Akernels\.cu:\d+\Z")
        self.assertEqual(rows[1][1:], rows[0][1:])

    def test_nothing_is_counted_without_being_asked(self):
        result = self.good("run", "kernels.ptx", "--kernel", "load_same", "--grid", "4", "--block",
                           "128", "-q", "--device", "cpu", *ARRAYS, env={"KM_TRACE": "t.json"})
        self.assertEqual(result.stderr, "")
        self.assertEqual(json.loads(self.read("t.json"))["counters"], [])
        self.assertIn("KM_COUNTERS", self.bad(1, "run", "kernels.ptx", "--kernel", "load_same",
                                              "--device", "cpu", *ARRAYS,
                                              env={"KM_COUNTERS": "many"}))

    def test_branches_and_instructions(self):
        for mode in ("a", "b", "c"):
            with self.subTest(mode=mode):
                totals = self.totals("branches", file="branches.ptx", KM_CPU_MODE=mode,
                                     shape=("--grid", "1", "--block", "64"))
                self.assertEqual(totals["branch"], (8, 2 * (3 * 32 + 16), 4))
                # In mode c, lanes that leave the loop early do not wait for the others.
                again = 4 if mode == "c" else 0
                self.assertEqual(totals["instruction"],
                                 (WARP_INSTRUCTIONS + again, THREAD_INSTRUCTIONS))
                self.assertEqual(totals[STORE], (2, 32, 8, 4))


if __name__ == "__main__":
    unittest.main()
