// No input crashes, hangs or exhausts memory. The seeds are fixed: a failure is repeatable.
#include <chrono>
#include <random>

#include "support.h"

namespace km::ptx::test {
namespace {

/// Parses whatever it is; a module must be sound and printable, an error must have a place.
void feed(const std::string& text) {
  auto module = parse(text, "fuzz.ptx");
  if (!module) {
    const km_status status = module.error().status;
    ASSERT_TRUE(status == KM_ERROR_INVALID_PTX || status == KM_ERROR_UNSUPPORTED_PTX) << status;
    ASSERT_EQ(module.error().message.find("fuzz.ptx:"), 0u) << module.error().message;
    return;
  }
  auto verified = verify(**module);
  ASSERT_TRUE(verified) << verified.error().message << "\n" << text;
  std::string once = print(**module);
  auto again = parse(once, "again.ptx");
  ASSERT_TRUE(again) << again.error().message << "\n" << once;
  ASSERT_EQ(print(**again), once);
}

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (uint32_t i = 0, n = 1 + pick(4); i < n && !text.empty(); ++i) change(text);
    return text;
  }

 private:
  uint32_t pick(size_t limit) { return static_cast<uint32_t>(random_() % limit); }

  void change(std::string& text) {
    static constexpr std::string_view kWords[] = {"{",           "}",
                                                  "[",           "]",
                                                  "(",           ")",
                                                  ";",           ",",
                                                  ":",           "::",
                                                  ".",           "%",
                                                  "|",           "-",
                                                  "!",           "@",
                                                  "<",           ">",
                                                  "0x",          "0f",
                                                  "1e",          "99999999999999999999",
                                                  "-1",          "0",
                                                  "4294967295",  ".reg",
                                                  ".param",      ".v4",
                                                  ".align",      ".global",
                                                  ".entry k2()", ".func",
                                                  ".pred",       "%r1",
                                                  "%tid.x",      "_",
                                                  "bra",         "call",
                                                  "mov.b64",     "//",
                                                  "/*",          "*/",
                                                  "\"",          "\n",
                                                  ".loc 1 2 3",  ".f32x2",
                                                  "WARP_SZ",     "= {",
                                                  "{1,2}"};
    size_t at = pick(text.size());
    switch (pick(7)) {
      case 0:
        text[at] = static_cast<char>(random_());
        break;
      case 1:
        text.erase(at, 1 + pick(20));
        break;
      case 2:
        text.insert(at, kWords[pick(std::size(kWords))]);
        break;
      case 3:
        text.insert(at, text.substr(pick(text.size()), 1 + pick(60)));
        break;
      case 4:
        text.replace(at, 1 + pick(6), kWords[pick(std::size(kWords))]);
        break;
      case 5:
        swap_words(text, at);
        break;
      default:
        text[at] = kCharacters[pick(kCharacters.size())];
        break;
    }
  }

  /// Puts a word from elsewhere in place of the one here: valid spelling, wrong place.
  void swap_words(std::string& text, size_t at) {
    constexpr std::string_view kWordCharacters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$%";
    auto word = [&](size_t from) {
      size_t begin = std::min(text.find_first_of(kWordCharacters, from), text.size());
      size_t end = std::min(text.find_first_not_of(kWordCharacters, begin), text.size());
      return std::pair(begin, end - begin);
    };
    auto [to, length] = word(at);
    auto [from, size] = word(pick(text.size()));
    std::string other = text.substr(from, size);
    text.replace(to, length, other);
  }

  static constexpr std::string_view kCharacters = "{}[]()<>;,:.%|-+!@=*/~^&?_$0123456789abfxdLU \n";
  std::mt19937 random_;
};

std::string small_sample() {
  return kernel(
             ".reg .v2 .f32 q; .shared .b32 tile[4][4]; .local .align 8 .b8 depot[16];\n"
             "{ .reg .b32 %t<3>; .param .b32 a; mov.u32 %t1, %tid.x; st.param.b32 [a], %t1; }\n"
             "T: .branchtargets A, B;\nsetp.lt.and.s32 %p1|%p2, %r1, 3+4*2, !%p3;\n@!%p1 bra B;\n"
             "brx.idx %r1, T;\nA: ld.global.v2.f32 q, [%rd1+-8]; fma.rn.f32 q.x, q.y, 1.5, "
             "0f3F800000;\n"
             "mov.u64 %rd2, gvar+4; mov.b64 {%r3, _}, %rd2; vadd.s32.u32.s32.sat %r1, %r2.b0, "
             "%r3.h1;\n"
             "B: shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1; tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, "
             "[tvar, {%r1, %r2}];\nproto: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
             ".loc 1 2 3\nret;") +
         ".global .u64 table[2][2] = {{gvar, generic(gvar)+4}, {0xFF00(gvar)}};\n"
         ".func (.reg .b32 r) f(.reg .f64 x, .param .align 4 .b8 y[12]) { ret; }\n";
}

TEST(Robustness, TruncatedAnywhere) {
  std::string text = small_sample();
  ASSERT_TRUE(parse_good(text));
  for (size_t length = 0; length < text.size(); ++length) feed(text.substr(0, length));
}

TEST(Robustness, SamplesTruncated) {
  for (const char* name : {"inline", "hopper", "texture"}) {
    std::string text = sample(name);
    for (size_t length = 0; length < text.size(); length += 3) feed(text.substr(0, length));
  }
}

TEST(Robustness, EveryByteDeleted) {
  std::string text = small_sample();
  for (size_t at = 0; at < text.size(); ++at) {
    std::string copy = text;
    feed(copy.erase(at, 1));
  }
}

TEST(Robustness, Mutated) {
  std::vector<std::string> seeds = {small_sample(), sample("inline"), sample("hopper"),
                                    sample("texture"), sample("matrix")};
  Mutator mutator(20240607);
  for (int i = 0; i < 20000; ++i) {
    feed(mutator.mutate(seeds[static_cast<size_t>(i) % seeds.size()]));
    if (HasFatalFailure()) return;
  }
}

TEST(Robustness, RandomBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text = kHeader;
    for (int k = 0; k < 200; ++k) text += static_cast<char>(random());
    feed(text);
  }
}

std::string repeated(std::string_view part, size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(Robustness, DeepNestingIsAnError) {
  constexpr size_t kDeep = 200000;
  EXPECT_EQ(body_error(repeated("{", kDeep)), "t.ptx:11:64: scopes are nested too deeply");
  std::string deep = "this constant expression is nested too deeply";
  auto place = [](const std::string& message) { return message.substr(message.find(' ') + 1); };
  EXPECT_EQ(place(body_error("mov.u32 %r1, " + repeated("(", kDeep))), deep);
  EXPECT_EQ(place(body_error("mov.u32 %r1, " + repeated("-", kDeep))), deep);
  EXPECT_EQ(place(body_error("mov.u32 %r1, " + repeated("1?", kDeep))), deep);
  EXPECT_EQ(place(body_error("mov.u32 %r1, 1" + repeated("?1:1", kDeep))), deep);
  std::string header = kHeader;
  EXPECT_EQ(error_of(header + ".global .b32 a[2] = " + repeated("{", kDeep)),
            "t.ptx:4:22: found '{', expected a constant");
  EXPECT_EQ(error_of(header + ".global .b32 a" + repeated("[1]", kDeep)),
            "t.ptx:4:111: more than "
            "32 dimensions");
  EXPECT_NE(body_error("mov.u32 %r1, {" + repeated("%r1,", kDeep)), "");
  EXPECT_NE(body_error("add" + repeated(".u32", kDeep) + ";"), "");
}

TEST(Robustness, BigInputsTakeLinearTime) {
  using Clock = std::chrono::steady_clock;
  auto seconds = [](const std::string& text) {
    auto start = Clock::now();
    auto module = parse(text, "big.ptx");
    EXPECT_TRUE(module) << module.error().message;
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  constexpr size_t kMany = 50000;
  constexpr double kGenerous = 20;  // sanitizer builds on a busy machine
  EXPECT_LT(seconds(kernel(repeated("{ .reg .b32 x; .param .b32 p; L: bra L; }\n", kMany))),
            kGenerous);
  EXPECT_LT(seconds(kernel(repeated("add.u32 %r1, %r2, %r3;\n", 4 * kMany))), kGenerous);
  EXPECT_LT(seconds(kHeader + repeated(".func f;\n", kMany)), kGenerous);
  EXPECT_LT(
      seconds(kernel(repeated("{", 60) + repeated("bra L;\n", kMany) + repeated("}", 60) + "L:")),
      kGenerous);
  EXPECT_LT(
      seconds(std::string(kHeader) + ".global .u64 a[] = {" + repeated("0,", 10 * kMany) + "0};"),
      kGenerous);
}

TEST(Robustness, NulAndCarriageReturn) {
  std::string text = kernel("ret;");
  EXPECT_TRUE(parse_good(text + std::string(3, '\0')));
  std::string dos;
  for (char c : text) dos += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_TRUE(parse_good(dos));
  std::string broken = text;
  broken[broken.find("ret")] = '\0';
  EXPECT_EQ(error_of(broken), "t.ptx:11:1: '\\x00': this character has no meaning in PTX");
}

}  // namespace
}  // namespace km::ptx::test
