#!/usr/bin/env python3
"""Tests that a binding's uses of C ABI functions are found, and that missing ones are reported."""

import tempfile
import unittest
from pathlib import Path

from bindings import binding_programs, cpp_items, go_items, rust_items, zig_items
from bindings.bindings_table import Column, dropping, rows, same_verb

SOURCE = """
macro_rules! owned_handle {
    ($name:ident, $destroy:ident) => {
        impl Drop for $name {
            fn drop(&mut self) { unsafe { sys::$destroy(self.raw) }; }
        }
    };
}
macro_rules! fill {
    ($call:ident, $number:ty) => {
        impl Fill for $number {
            fn fill(self, stream: &Stream) -> Status { unsafe { sys::$call(stream) } }
        }
    };
}
fill! { km_fill, u8 }
owned_handle! {
    /// A thing.
    Thing, km_thing_destroy
}
pub trait Fill {
    #[doc(hidden)]
    fn fill(self, stream: &Stream) -> Status;
}
impl<'a, T: Pod> Thing<'a, T> {
    /// Not `km_commented`.
    pub fn open(values: &[T; 5]) -> Result<Self> {
        print("km_in_text {"); // km_commented
        sys::km_thing_open(values);
        Self::create()
    }
    pub(crate) fn create() -> Result<Self> { look_up(0).map(entry) }
    pub fn again(&self, stream: &Stream) { 0u8.fill(stream); Thing::create() }
    pub fn status(&self) -> Status { self.by(sys::km_thing_status) }
    fn by(&self, call: Call) -> Status { unsafe { call(self.raw) } }
}
fn look_up(index: u32) -> u32 { unsafe { sys::km_thing_count(index) } }
fn entry(index: u32) -> u32 { unsafe { sys::km_thing_entry(index) } }
pub fn version() -> u32 { unsafe { sys::km_version() } }
fn nobody_calls_it() { unsafe { sys::km_unused() } }
"""


def crate_of(files: dict):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return rust_items.Crate(Path(folder))


GO_SOURCE = """
// Open is not raw.Km_commented.
func Open(uri string) (*Thing, error) { return newThing(raw.Km_thing_open) }

// newThing is private.
func newThing(call opener) (*Thing, error) {
\tthing := &Thing{"raw.Km_in_text"}
\tthing.open(raw.Km_thing_destroy)
\treturn thing, nil
}

func (t *Thing[T]) Status() error {
\treturn t.by(raw.Km_thing_status)
}

func (t *Thing[T]) AddCopy() error { return copyWork(t) }

func (t *Thing[T]) SetCopy() error { return copyWork(t) }

func copyWork(t *thing) error { return t.both(raw.Km_graph_add_copy, raw.Km_graph_set_copy) }

func (t *hidden) Seen() error { return raw.Km_unseen() }
"""


class GoUsers(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "thing.go").write_text(GO_SOURCE)
            (Path(folder) / "thing_test.go").write_text("func Test() { raw.Km_unused() }")
            self.package = go_items.Package(Path(folder))

    def test_uses_of_all_kinds_of_functions(self):
        for name, titles in {
            "km_thing_open": ["Open"], "km_thing_destroy": ["Open"],
            "km_thing_status": ["Thing.Status"], "km_commented": [], "km_in_text": [],
            "km_unused": [], "km_unseen": [],
        }.items():
            self.assertEqual(self.package.users_of(name), titles)

    def test_adding_and_setting_are_told_apart(self):
        column = Column("Go", self.package, narrow=same_verb)
        self.assertEqual(column.names_of("km_graph_add_copy"), ["Thing.AddCopy"])
        self.assertEqual(column.names_of("km_graph_set_copy"), ["Thing.SetCopy"])


class Users(unittest.TestCase):
    crate = crate_of({"lib.rs": SOURCE})

    def expect(self, name: str, *titles: str):
        self.assertEqual(self.crate.users_of(name), list(titles))

    def test_direct_uses(self):
        self.expect("km_thing_open", "Thing::open")
        self.expect("km_thing_status", "Thing::status")
        self.expect("km_version", "version")

    def test_private_functions_count_for_their_callers(self):
        self.expect("km_thing_count", "Thing::again", "Thing::open")
        self.expect("km_thing_entry", "Thing::again", "Thing::open")

    def test_macros_count_for_what_they_make(self):
        self.expect("km_thing_destroy", "drop of Thing")
        self.expect("km_fill", "Thing::again")

    def test_comments_texts_and_dead_code_do_not_count(self):
        for name in ("km_commented", "km_in_text", "km_unused", "km_no_such"):
            self.expect(name)

    def test_public_modules_are_part_of_the_name(self):
        source = "pub fn rotate() { unsafe { sys::km_rotate() } }"
        crate = crate_of({"lib.rs": "pub mod blas;\nmod hidden;", "blas/mod.rs": source})
        self.assertEqual(crate.users_of("km_rotate"), ["blas::rotate"])


HEADER = """
#define KM_MACRO { km_in_macro
namespace km {
namespace detail {
using any_thing = object<km_thing, km_thing_destroy>;
inline int helper(int x = {}) { return km_thing_help(x); }  // km_commented
class memory : public elements { public: int size() const { return km_thing_size(get()); } };
}
template <class P>
class basic_thing : public detail::any_thing {
 public:
  template <class Q = P, detail::if_throwing<Q> = 0>
  explicit basic_thing(const any_context& of, options given = {}) : basic_thing(open(of, given)) {}
  static result<basic_thing> open(const any_context& of, options given = {}) {
    return made(km_thing_open, [&] { return "km_in_text"; });
  }
  result<int> again(int count) const { return detail::helper(count) + finish(count); }
  template <class T>
  result<void> later(T value) const;

 private:
  int finish(int count) const { return km_thing_finish(count); }
  struct guard { ~guard() { km_thing_guard(); } };
};
template <class P>
template <class T>
detail::result_of<P, void> basic_thing<P>::later(T value) const { return km_thing_later(value); }
namespace raw {
template <class P> void copy(const basic_thing<P>& of) { km_memory_copy(of.get()); }
}
}
"""


class CppUsers(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "thing.hpp"
            path.write_text(HEADER)
            self.headers = cpp_items.Headers([path])

    def expect(self, name: str, *titles: str):
        self.assertEqual(self.headers.users_of(name), list(titles))

    def test_members_and_their_classes(self):
        self.expect("km_thing_open", "thing::open")
        self.expect("km_thing_later", "thing::later")
        self.expect("km_memory_copy", "raw::copy")
        self.expect("km_thing_size", "slice::size")
        self.expect("km_thing_destroy", "drop of thing")

    def test_hidden_functions_count_for_their_callers(self):
        self.expect("km_thing_help", "thing::again")
        self.expect("km_thing_finish", "thing::again")
        self.expect("km_thing_guard")

    def test_comments_texts_and_macros_do_not_count(self):
        for name in ("km_commented", "km_in_text", "km_in_macro"):
            self.expect(name)


ZIG = {
    "root.zig": """
pub const Stream = stream.Stream;
pub const Slice = memory.Slice;
""",
    "stream.zig": """
pub const Stream = struct {
    /// Not c.km_commented.
    pub fn init() Error!Stream {
        print("c.km_in_text {{"); // c.km_commented
        return make(c.km_stream_create);
    }
    pub const Mark = struct { pub fn end(mark: Mark) void { c.km_mark_end(); } };
    fn make(call: anytype) Stream { return call(); }
    fn hidden(stream: Stream) void { c.km_stream_hidden(); }
    pub fn query(stream: Stream) error{ A, B }!bool { stream.hidden(); }
};
fn nobodyCallsIt() void { c.km_unused(); }
""",
    "memory.zig": """
pub fn Slice(comptime T: type) type {
    return struct {
        pub fn deinit(slice: @This()) void { c.km_slice_destroy(slice.handle); }
    };
}
pub fn Methods(comptime S: type) type {
    return struct { pub fn fillRows(slice: S, at: u64) Error!void { c.km_slice_fill_2d(); } };
}
fn Hidden(comptime T: type) type {
    return struct { pub fn run(hidden: @This()) void { c.km_hidden_run(); } };
}
pub fn version() u32 { c.km_version(); }
/// A method by an alias.
pub fn capture(stream: Stream) Error!void { c.km_stream_capture(); }
""",
}


class ZigUsers(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in ZIG.items():
                Path(folder, name).write_text(text)
            self.module = zig_items.Module(Path(folder))

    def test_public_functions_are_found_by_type_and_first_parameter(self):
        expected = {
            "km_stream_create": "Stream.init",
            "km_stream_hidden": "Stream.query",
            "km_stream_capture": "Stream.capture",
            "km_mark_end": "Mark.end",
            "km_slice_destroy": "Slice.deinit",
            "km_slice_fill_2d": "Slice.fillRows",
            "km_version": "version",
        }
        for name, title in expected.items():
            self.assertEqual(self.module.users_of(name), [title])

    def test_comments_texts_and_dead_code_do_not_count(self):
        for name in ("km_commented", "km_in_text", "km_unused", "km_no_such", "km_hidden_run"):
            self.assertEqual(self.module.users_of(name), [])

    def test_of_functions_that_destroy_those_that_drop_the_object_count(self):
        kinds = "ABC"
        source = "".join(
            f"pub const {kind} = struct {{ pub fn deinit(a: {kind}) void {{ c.km_a_destroy(a); }}\n"
            f"pub fn reset(a: {kind}) void {{ c.km_a_destroy(a); }} }};\n" for kind in kinds
        )
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "root.zig").write_text(source)
            column = Column("Zig", zig_items.Module(Path(folder)), narrow=dropping)
        self.assertEqual(column.names_of("km_a_destroy"), [f"{kind}.deinit" for kind in kinds])


class Cells(unittest.TestCase):
    def test_of_many_names_the_functions_own_counts(self):
        ways = ["copy", "fill", "upload", "download", "add_copy"]
        methods = "".join(f"pub fn {way}(&self) {{ run(0) }}\n" for way in ways)
        run = "fn run(kind: u32) { unsafe { sys::km_graph_add_copy(); sys::km_graph_other(); } }"
        crate = crate_of({"lib.rs": f"impl Graph {{ {methods} }}\n{run}"})
        self.assertEqual(len(crate.users_of("km_graph_add_copy")), 5)
        column = Column("Rust", crate)
        self.assertEqual(column.names_of("km_graph_add_copy"), ["Graph::add_copy"])
        self.assertEqual(column.names_of("km_graph_other"), [])

    def test_an_empty_cell_is_an_error(self):
        columns = [Column("Rust", Users.crate), Column("C++", Users.crate)]
        cells = "| `km_version` | `version` | `version` |\n"
        self.assertEqual(rows(["km_version"], columns), cells)
        with self.assertRaisesRegex(SystemExit, "km_unused.*Rust, C"):
            rows(["km_version", "km_unused"], columns)
        with self.assertRaisesRegex(SystemExit, "km_version.*a reason"):
            rows(["km_version"], [Column("Rust", Users.crate, {}, {"km_version": "none"})])

    def test_names_given_by_hand_have_to_be_there(self):
        with self.assertRaisesRegex(SystemExit, "is gone"):
            Column("Rust", Users.crate, {"km_version": ["other"]}).check_names(["km_version"])
        with self.assertRaisesRegex(SystemExit, "is gone"):
            Column("Rust", Users.crate, {}, {"km_old": "why"}).check_names(["km_version"])


class Programs(unittest.TestCase):
    def test_marked_lines_are_shown_without_their_indentation(self):
        begin, end = binding_programs.BEGIN, binding_programs.END
        source = f"f() {{\n  // {begin}\n  a();\n    b();\n  // {end}\n}}"
        self.assertEqual(binding_programs.marked_lines(source, "f.c"), "a();\n  b();")

    def test_a_program_without_its_marks_is_an_error(self):
        for source in ("f();", f"// {binding_programs.END}\n// {binding_programs.BEGIN}\n",
                       f"// {binding_programs.BEGIN}\n" * 2 + f"// {binding_programs.END}"):
            with self.assertRaisesRegex(SystemExit, "f.c marks no lines"):
                binding_programs.marked_lines(source, "f.c")

    def test_every_language_shows_some_ten_lines(self):
        text = binding_programs.text()
        for title, (language, path) in binding_programs.PROGRAMS.items():
            shown = text.split(f"```{language}\n")[1].split("```")[0].splitlines()
            self.assertTrue(6 <= len(shown) <= 12, f"{title}: {len(shown)} lines")


if __name__ == "__main__":
    unittest.main()
