#include "texts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace km::fuzz {
namespace {

struct Kernel {
  const char* name;
  const char* body;
};

// %a and %b: the two addresses; %n: the number; %i: the thread's number in the grid.
constexpr Kernel kKernels[] = {
    {"noop", ""},
    {"copy",
     "  setp.ge.u32 %p, %i, %n;\n  @%p ret;\n"
     "  mul.wide.u32 %d1, %i, 4;\n  add.u64 %d2, %a, %d1;\n  add.u64 %d3, %b, %d1;\n"
     "  ld.global.u32 %r1, [%d3];\n  st.global.u32 [%d2], %r1;\n"},
    {"fill", "  mul.wide.u32 %d1, %i, 4;\n  add.u64 %d2, %a, %d1;\n  st.global.u32 [%d2], %n;\n"},
    {"fault", "  mov.u64 %d1, 16;\n  st.global.u32 [%d1], %n;\n"},
    {"misaligned",
     "  add.u64 %d1, %a, 1;\n  ld.global.u32 %r1, [%d1];\n"
     "  st.global.u32 [%a], %r1;\n"},
    {"trap", "  setp.eq.u32 %p, %i, 3;\n  @%p trap;\n"},
    {"overflow", "  call recurse, (%n);\n"},
    {"assertion",
     "  mov.u64 %d1, text;\n  cvta.global.u64 %d2, %d1;\n"
     "  { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 k; .param .b64 s;\n"
     "    st.param.b64 [m], %d2;\n    st.param.b64 [f], %d2;\n    st.param.b32 [l], %n;\n"
     "    st.param.b64 [k], %d2;\n    mov.u64 %d3, 1;\n    st.param.b64 [s], %d3;\n"
     "    call.uni __assertfail, (m, f, l, k, s); }\n"},
    {"printing",
     "  mov.u64 %d1, text;\n  cvta.global.u64 %d2, %d1;\n  st.local.u32 [room], %i;\n"
     "  mov.u64 %d3, room;\n  cvta.local.u64 %d3, %d3;\n"
     "  { .param .b64 f; .param .b64 v; .param .b32 r;\n    st.param.b64 [f], %d2;\n"
     "    st.param.b64 [v], %d3;\n    call.uni (r), vprintf, (f, v); }\n"},
    {"atomics",
     "  atom.global.add.u32 %r1, [%a], 1;\n  red.global.max.u32 [%b], %r1;\n"
     "  atom.global.add.u32 %r1, [counter], 1;\n"},
    {"barrier",
     "  mov.u32 %r1, %tid.x;\n  and.b32 %r1, %r1, 63;\n  mul.wide.u32 %d1, %r1, 4;\n"
     "  mov.u64 %d2, window;\n  add.u64 %d2, %d2, %d1;\n  st.shared.u32 [%d2], %i;\n"
     "  bar.sync 0;\n  ld.shared.u32 %r2, [%d2];\n  bar.sync 0;\n  st.global.u32 [%a], %r2;\n"},
    {"dynamic",
     "  mov.u64 %d1, tail;\n  st.shared.u32 [%d1], %n;\n  bar.sync 0;\n"
     "  ld.shared.u32 %r1, [%d1];\n  st.global.u32 [%a], %r1;\n"},
    {"loop",
     "  mov.u32 %r1, 0;\n  and.b32 %r2, %n, 4095;\nagain:\n  add.u32 %r1, %r1, 1;\n"
     "  setp.lt.u32 %p, %r1, %r2;\n  @%p bra again;\n  st.global.u32 [%a], %r1;\n"},
    {"heap",
     "  { .param .b64 s; .param .b64 r;\n    mov.u64 %d1, 64;\n    st.param.b64 [s], %d1;\n"
     "    call.uni (r), malloc, (s);\n    ld.param.b64 %d2, [r]; }\n"
     "  setp.eq.u64 %p, %d2, 0;\n  @%p ret;\n  st.u32 [%d2], %i;\n"
     "  setp.eq.u32 %p, %n, 3;\n  @%p ret;\n"
     "  { .param .b64 p;\n    st.param.b64 [p], %d2;\n    call.uni free, (p); }\n"},
    {"sleep", "  nanosleep.u32 1000;\n"},
};

constexpr char kHead[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 k, "
    ".param .b64 s);\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 s);\n"
    ".extern .func free(.param .b64 p);\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .u32 setting = 3;\n"
    ".global .align 1 .b8 text[12] = {37, 100, 32, 102, 117, 122, 122, 101, 100, 10, 0, 0};\n"
    ".extern .shared .align 4 .b8 tail[];\n"
    ".func recurse(.reg .u32 n)\n{\n  .local .align 8 .b8 room[1024];\n  .reg .u32 %m;\n"
    "  .reg .pred %q;\n  st.local.u32 [room], n;\n  add.u32 %m, n, 1;\n  setp.eq.u32 %q, %m, 0;\n"
    "  @%q ret;\n  call recurse, (%m);\n  ld.local.u32 %m, [room];\n  st.local.u32 [room+4], %m;\n"
    "  ret;\n}\n";

std::string make_kernels() {
  std::string text = kHead;
  for (const Kernel& kernel : kKernels) {
    text += std::string(".visible .entry ") + kernel.name +
            "(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"
            "  .reg .pred %p;\n  .reg .b32 %r<4>, %n, %i, %c, %t;\n  .reg .b64 %a, %b, %d<4>;\n"
            "  .shared .align 4 .b8 window[256];\n  .local .align 8 .b8 room[16];\n"
            "  ld.param.u64 %a, [a];\n  ld.param.u64 %b, [b];\n  ld.param.u32 %n, [n];\n"
            "  mov.u32 %c, %ctaid.x;\n  mov.u32 %t, %ntid.x;\n  mov.u32 %i, %tid.x;\n"
            "  mad.lo.u32 %i, %c, %t, %i;\n" +
            kernel.body + "  ret;\n}\n";
  }
  return text;
}

constexpr const char* kUris[] = {"cpu", "cpu", "cpu:0", "cpu:1", "auto"};
constexpr const char* kWrongUris[] = {
    "",       "cpu:9", "cuda:0", "null", "cpu:-1",  "cpu:99999999999",
    "vulkan", "cpu:",  ":",      "CPU",  "cpu:0x1", "\xff\xfe"};
constexpr const char* kPaths[] = {"kernels.ptx", "data.bin", "link", "new.out", "large.bin"};
constexpr const char* kWrongPaths[] = {
    "missing",          "missing/none", "folder",    "fifo",        "dangling",
    "read-only",        "empty",        "",          "bad\xff\xfe", "loop",
    "kernels.ptx/none", "folder/",      "/dev/null", ".",           "faulty.ptx"};
constexpr const char* kSources[] = {
    "extern \"C\" __global__ void copy(int* a, int* b, unsigned n) {\n"
    "  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) a[i] = b[i];\n}\n",
    "__global__ void noop(int* a, int* b, unsigned n) {}\n"};
constexpr const char* kWrongSources[] = {"", "__global__ void broken( {",
                                         "int main() { return 0; }", "#include \"missing.h\"\n",
                                         "\xff\xfe\x01"};
constexpr const char* kOptions[] = {"-lineinfo", "-DX=1", "--std=c++17", "-G"};
constexpr const char* kWrongOptions[] = {"", "-", "--no-such-option", "-arch=sm_1", "-I"};
constexpr const char* kSymbols[] = {
    "cuInit",           "cuMemAlloc",     "cuLaunchKernel", "cuStreamBeginCapture",
    "cuGetProcAddress", "cuGraphAddNode", "cuMemcpyDtoH"};
constexpr const char* kWrongSymbols[] = {"", "cu", "malloc", "cuNoSuchFunction", "\xff"};
constexpr const char* kBusIds[] = {"0000:00:00.0", "0000:01:00.0", "00000000:00:00.0"};

std::string draw_name(Random& random, bool wrong) {
  if (!wrong) {
    return random.one_in(8) ? (random.one_in(2) ? "counter" : "setting")
                            : random.pick(kKernels).name;
  }
  switch (random.below(5)) {
    case 0:
      return "";
    case 1:
      return std::string(random.below(9000), 'n');
    case 2:
      return "nops";
    case 3:
      return "text";
    default:
      return std::string("\xc3\x28\xff") + static_cast<char>(random.between(1, 255));
  }
}

std::string draw_ptx(Random& random, bool wrong) {
  std::string text = kernels_ptx();
  if (!wrong) return text;
  switch (random.below(4)) {
    case 0:
      return text.substr(0, random.below(text.size()));
    case 1:
      text[random.below(text.size())] = static_cast<char>(random.between(1, 255));
      return text;
    case 2:
      return std::string(random.below(64), static_cast<char>(random.between(1, 255)));
    default:
      return random.one_in(2) ? "" : ".version 99.9\n.target sm_999\n";
  }
}

std::string draw_path(Random& random, bool wrong) {
  if (!wrong) return random.pick(kPaths);
  return random.one_in(8) ? std::string(random.between(200, 5000), 'p') : random.pick(kWrongPaths);
}

/// A module of the driver: PTX, or the begin of an image of another kind.
std::string draw_image(Random& random, bool wrong) {
  if (!wrong || random.one_in(2)) return draw_ptx(random, wrong);
  std::string image = random.one_in(2) ? "\x7f\x45LF\x02\x01\x01" : "\x50\xed\x55\xba";
  image.resize(4096);  // all sizes in it are 0
  return image;
}

}  // namespace

const std::string& kernels_ptx() {
  static const std::string text = make_kernels();
  return text;
}

std::string draw_text(Random& random, TextClass kind, bool wrong) {
  switch (kind) {
    case kUri:
      return wrong ? random.pick(kWrongUris) : random.pick(kUris);
    case kPath:
      return draw_path(random, wrong);
    case kPtx:
      return draw_ptx(random, wrong);
    case kSource:
      return wrong ? random.pick(kWrongSources) : random.pick(kSources);
    case kName:
    case kWord:
      return draw_name(random, wrong);
    case kOption:
      return wrong ? random.pick(kWrongOptions) : random.pick(kOptions);
    case kImage:
      return draw_image(random, wrong);
    case kSymbol:
      return wrong ? random.pick(kWrongSymbols) : random.pick(kSymbols);
    case kBusId:
      return wrong ? draw_name(random, true) : random.pick(kBusIds);
  }
  return "";
}

void make_files() {
  std::ofstream("kernels.ptx") << kernels_ptx();
  std::ofstream("faulty.ptx") << kernels_ptx().substr(0, 700);
  std::ofstream("data.bin") << std::string(65536, 'd');
  std::ofstream("read-only") << "once";
  std::ofstream("bad\xff\xfe") << "x";
  std::ofstream("empty");
  std::ofstream("large.bin");
  const bool made = chmod("read-only", 0400) == 0 && mkdir("folder", 0700) == 0 &&
                    mkfifo("fifo", 0600) == 0 && symlink("kernels.ptx", "link") == 0 &&
                    symlink("nothing", "dangling") == 0 && symlink("loop", "loop") == 0 &&
                    truncate("large.bin", 64 << 20) == 0;
  if (!made) std::perror("files of the scratch folder");
}

}  // namespace km::fuzz
