#include "kernel.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace km::fuzz {
namespace {

const char* g_target = "sm_100a";

constexpr const char* kHeader = R"(
.const .align 32 .b32 table[8] = {3, 0x80000000, 0x7f800000, 0xffffffff, 0, 0x3f800000, 17, 0x1234};
.global .align 8 .b64 words[4] = {1, 0x7ff0000000000000, 0xffffffffffffffff, 0x123456789};

.func (.reg .b32 r) mix(.reg .b32 a, .reg .b32 b)
{
  .reg .pred %p; .reg .b32 %t<3>;
  setp.lt.s32 %p, a, b;
  @%p bra LESS;
  sub.s32 %t0, a, b;
  xor.b32 r, %t0, 0x55;
  ret;
LESS:
  mul.lo.s32 %t1, a, 7;
  add.s32 r, %t1, b;
  ret;
}

.func (.param .b64 r) sum(.param .b64 a, .param .align 8 .b8 pair[16])
{
  .reg .b64 %x<5>; .reg .b32 %n, %i; .reg .pred %p;
  ld.param.b64 %x0, [a];
  ld.param.b64 %x1, [pair];
  ld.param.b64 %x2, [pair+8];
  and.b64 %x3, %x0, 3;
  cvt.u32.u64 %n, %x3;
  mov.b32 %i, 0;
NEXT:
  setp.ge.u32 %p, %i, %n;
  @%p bra DONE;
  mad.lo.s64 %x1, %x1, 3, %x2;
  add.u32 %i, %i, 1;
  bra NEXT;
DONE:
  add.s64 %x4, %x0, %x1;
  st.param.b64 [r], %x4;
  ret;
}

.func (.reg .b32 r) swap(.reg .b32 a, .reg .b32 b)
{
  shf.l.wrap.b32 r, b, a, 9;
  ret;
}

.func (.param .b32 r) tree(.param .b32 depth, .param .b32 x)
{
  .reg .pred %p; .reg .b32 %d, %x, %a, %b; .reg .b64 %at;
  .local .align 8 .b32 kept[4];
  ld.param.b32 %d, [depth];
  ld.param.b32 %x, [x];
  mul.lo.s32 %a, %x, 5;
  and.b32 %d, %d, 3;
  setp.eq.u32 %p, %d, 0;
  @%p bra LEAF;
  sub.u32 %d, %d, 1;
  mov.u64 %at, kept;
  st.local.b32 [%at+4], %x;
  call (%a), tree, (%d, %a);
  and.b32 %b, %a, 3;
  setp.ne.u32 %p, %b, 0;
  @%p bra ONE;
  xor.b32 %x, %x, %a;
  st.local.b32 [kept], %x;
  call (%b), tree, (%d, %x);
  ld.local.b32 %x, [%at];
  mad.lo.s32 %a, %b, 3, %x;
ONE:
  ld.param.b32 %x, [x];
  add.s32 %a, %a, %x;
  ld.local.b32 %x, [kept+4];
  sub.s32 %a, %a, %x;
LEAF:
  @!%p add.s32 %a, %a, 1;
  st.param.b32 [r], %a;
  ret;
}
)";

constexpr const char* kDeclarations = R"(
  .reg .pred %p<4>, %q<NUMBERS>; .reg .b16 %h<8>; .reg .b32 %r<8>;
  .reg .b32 %c<NUMBERS>, %m<MASKS>, %n<MASKS>;
  .reg .b64 %l<4>, %a<NUMBERS>; .reg .f32 %f<8>; .reg .f64 %d<4>;
  .reg .b32 %self, %threads, %global, %lane, %x<16>;
  .reg .b64 %in, %out, %row2, %row4, %row8, %counters, %y<8>;
  .shared .align 16 .b32 exchange[1024];
  .shared .align 16 .b32 mine[1024];
  .shared .align 32 .b32 slots[1024];
  .shared .align 8 .b32 totals[8];
  .local .align 32 .b8 own[32];
)";

// Every register has a value that depends on the thread, the block or the launch, or on memory.
constexpr const char* kPrologue = R"(  mov.u32 %x0, %tid.x;
  mov.u32 %x1, %tid.y;
  mov.u32 %x2, %tid.z;
  mov.u32 %x3, %ntid.x;
  mov.u32 %x4, %ntid.y;
  mov.u32 %x5, %ntid.z;
  mad.lo.u32 %self, %x2, %x4, %x1;
  mad.lo.u32 %self, %self, %x3, %x0;
  mul.lo.u32 %threads, %x3, %x4;
  mul.lo.u32 %threads, %threads, %x5;
  mov.u32 %x6, %ctaid.x;
  mov.u32 %x7, %ctaid.y;
  mov.u32 %x8, %nctaid.x;
  mad.lo.u32 %x9, %x7, %x8, %x6;
  mov.u32 %x7, %ctaid.z;
  mov.u32 %x6, %nctaid.y;
  mul.lo.u32 %x8, %x8, %x6;
  mad.lo.u32 %x9, %x7, %x8, %x9;
  mad.lo.u32 %global, %x9, %threads, %self;
  mov.u32 %lane, %laneid;
  ld.param.u64 %in, [NAME_in];
  cvta.to.global.u64 %in, %in;
  ld.param.u64 %counters, [NAME_counters];
  cvta.to.global.u64 %counters, %counters;
  ld.param.u64 %out, [NAME_out];
  cvta.to.global.u64 %out, %out;
  mad.wide.u32 %row2, %global, 2, %out;
  mad.wide.u32 %row4, %global, 4, %out;
  mad.wide.u32 %row8, %global, 8, %out;
  mad.wide.u32 %out, %global, STRIDE, %out;
  add.u64 %out, %out, BEHIND;
  ld.param.u32 %r0, [NAME_u0];
  ld.param.u32 %r1, [NAME_u1];
  mov.b32 %r2, %self;
  mov.b32 %r3, %global;
  and.b32 %x10, %global, 1023;
  mad.wide.u32 %y0, %self, 4, %in;
  ld.global.u32 %r4, [%y0];
  xor.b32 %x11, %x10, 0x155;
  mad.wide.u32 %y1, %x11, 4, %in;
  ld.global.nc.u32 %r5, [%y1];
  mov.b32 %r6, %x9;
  not.b32 %r7, %lane;
  mad.wide.u32 %y2, %self, 8, %in;
  ld.global.u64 %l0, [%y2];
  ld.global.v2.f32 {%f0, %f1}, [%y2];
  mul.wide.s32 %l1, %r2, -3;
  mov.b64 %l2, {%r0, %r1};
  mov.b64 %l3, {%r4, %r3};
  mov.b32 {%h0, %h1}, %r5;
  cvt.u16.u32 %h2, %self;
  mov.b16 %h3, 0x3c00;
  mov.b32 {%h4, %h5}, %r0;
  mov.b32 {%h6, %h7}, %r4;
  cvt.rn.f32.u32 %f2, %self;
  mov.f32 %f3, 0f3FC00000;
  ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%in+64];
  ld.global.f64 %d0, [%y2];
  cvt.rn.f64.s32 %d1, %r2;
  mov.f64 %d2, 0dBFE0000000000000;
  cvt.f64.f32 %d3, %f0;
  setp.lt.u32 %p0, %lane, 9;
  setp.ne.u32 %p1, %r0, 0;
  setp.gt.f32 %p2, %f0, %f1;
  and.b32 %x13, %self, 1;
  setp.eq.u32 %p3, %x13, 0;
  st.local.v4.b32 [own], {%r4, %r5, %r2, %r7};
  st.local.v4.b32 [own+16], {%r0, %r1, %r3, %r4};
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Prints statements; each has a number of its own.
class Printer {
 public:
  void print(const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) print(statement);
  }
  const std::string& text() const { return text_; }
  unsigned count() const { return count_; }

 private:
  void print(const Statement& statement) {
    const std::string number = std::to_string(count_++);
    lines(statement.before, number);
    for (const Statement::Body& body : statement.bodies) {
      print(body.statements);
      lines(body.after, number);
    }
  }

  void lines(const std::vector<std::string>& all, const std::string& number) {
    for (const std::string& line : all) text_ += "  " + replaced(line, "$", number) + "\n";
  }

  std::string text_;
  unsigned count_ = 0;
};

}  // namespace

unsigned bytes_of(const std::string& reg) {
  switch (reg[1]) {
    case 'h':
      return 2;
    case 'l':
    case 'd':
      return 8;
    default:
      return 4;
  }
}

namespace {

/// Registers to the thread's record, each in 8 bytes of its own, or to rows of 8 bytes a thread.
std::string stores_of(const Kernel& kernel) {
  std::string text;
  uint64_t offset = 0;
  for (const std::string& reg : kernel.stored) {
    std::string source = reg;
    if (reg[1] == 'p') {
      text += "  selp.b32 %x15, 1, 2, " + reg + ";\n";
      source = "%x15";
    }
    const bool real = reg[1] == 'f' || reg[1] == 'd';
    const unsigned bytes = bytes_of(reg);
    const std::string base = kernel.in_rows ? "%row" + std::to_string(bytes) : "%out";
    text += "  st.global." + std::string(real ? "f" : "b") + std::to_string(8 * bytes) + " [" +
            base + "+" + std::to_string(offset) + "], " + source + ";\n";
    offset += kernel.in_rows ? 8 * kernel.all_threads() : 8;
  }
  return text;
}

/// The words of a text that begin with %.
std::vector<std::string> registers_in(std::string_view text) {
  std::vector<std::string> found;
  for (size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) ++end;
    found.emplace_back(text.substr(at, end - at));
  }
  return found;
}

/// What a line writes, and perhaps what it reads for that; nothing if it is one of the prologue's
/// stores.
std::vector<std::string> written_in(std::string_view line) {
  if (line.find("  st.") == 0) return {};
  const size_t vector = line.find('}'), comma = line.find(',');
  const bool is_vector = line.find('{') < comma;
  return registers_in(line.substr(0, is_vector ? vector : comma));
}

/// The lines of the prologue that `rest` depends on: small kernels are to stay small.
std::string prologue_for(const std::string& rest) {
  std::set<std::string> needed;
  for (std::string& name : registers_in(rest)) needed.insert(std::move(name));
  const bool local = rest.find(" own;") != rest.npos || rest.find("[own") != rest.npos;
  std::string text;
  const std::string_view all = kPrologue;
  for (size_t end = all.size(); end > 0;) {
    const size_t before = all.rfind('\n', end - 2);
    const size_t begin = before == all.npos ? 0 : before + 1;
    const std::string_view line = all.substr(begin, end - begin);
    end = begin;
    bool wanted = local && line.find("  st.local") == 0;
    for (const std::string& name : written_in(line)) wanted = wanted || needed.count(name);
    if (!wanted) continue;
    for (std::string& name : registers_in(line)) needed.insert(std::move(name));
    text.insert(0, line);
  }
  return text;
}

std::string kernel_text(const Kernel& kernel) {
  Printer printer;
  printer.print(kernel.statements);
  const std::string& name = kernel.name;
  std::string text = "\n.visible .entry " + name + "(.param .u64 " + name + "_in, .param .u64 " +
                     name + "_out,\n  .param .u64 " + name + "_counters, .param .u32 " + name +
                     "_u0, .param .u32 " + name + "_u1)\n{";
  const std::string rest = printer.text() + stores_of(kernel);
  std::string body = kDeclarations + prologue_for(rest) + rest;
  const uint64_t behind = kernel.in_rows ? kScratchOffset * (kernel.all_threads() - 1) : 0;
  body = replaced(body, "NAME", name);
  body = replaced(body, "STRIDE", std::to_string(kernel.in_rows ? kScratchBytes : kRecordBytes));
  body = replaced(body, "BEHIND", std::to_string(behind));
  body = replaced(body, "MASKS", std::to_string(kernel.masks + 1));
  body = replaced(body, "NUMBERS", std::to_string(printer.count() + 1));
  return text + body + "  ret;\n}\n";
}

void add_written(const std::vector<Statement>& statements, std::set<std::string>& names) {
  const auto add = [&](const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      for (std::string& name : written_in(line)) names.insert(std::move(name));
    }
  };
  for (const Statement& statement : statements) {
    add(statement.before);
    for (const Statement::Body& body : statement.bodies) {
      add_written(body.statements, names);
      add(body.after);
    }
  }
}

}  // namespace

const char* device_target() { return g_target; }
void set_device_target(const char* target) { g_target = target; }

std::string module_header() {
  return ".version 9.5\n.target " + std::string(device_target()) + "\n.address_size 64\n";
}

std::string module_text(const std::vector<Kernel>& kernels) {
  std::string text = module_header() + kHeader;
  for (const Kernel& kernel : kernels) text += kernel_text(kernel);
  return text;
}

std::set<std::string> written_registers(const std::vector<Statement>& statements) {
  std::set<std::string> names;
  add_written(statements, names);
  return names;
}

size_t count_statements(const std::vector<Statement>& statements) {
  size_t count = statements.size();
  for (const Statement& statement : statements) {
    for (const Statement::Body& body : statement.bodies) count += count_statements(body.statements);
  }
  return count;
}

}  // namespace km::fuzz
