#include "sources.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace km_fuzz {
namespace {

constexpr const char* kDeclarations = R"cuda(
struct S { float x; int y; };
struct Opaque;
union U { int i; float f; };
enum E { e_first };
enum class M : short { m_first };
namespace ns {
struct P { double a[2]; };
template <class T> struct Box { T lo, hi; };
typedef float real;
namespace { struct Hidden { int h; }; }
inline namespace v2 { struct Q { char c; }; }
}
namespace alias = ns;
typedef int number;
typedef const float* row;
using grid = double[3][4];
typedef struct { int unnamed; } Unnamed;
template <class T> struct Traits { typedef T* pointer; typedef const T* reader; };
template <int N> struct Sized { char c[N]; };
template <class... T> struct Pack {};
#define POINTER(T) T*
#define FLOAT float
#define KERNEL(name) extern "C" __global__ void name
)cuda";

constexpr std::array kBases = {"float",
                               "double",
                               "int",
                               "unsigned",
                               "unsigned int",
                               "char",
                               "signed char",
                               "unsigned char",
                               "bool",
                               "short",
                               "unsigned short",
                               "long",
                               "unsigned long",
                               "long long",
                               "unsigned long long",
                               "long int",
                               "int long unsigned",
                               "wchar_t",
                               "char16_t",
                               "char32_t",
                               "size_t",
                               "float2",
                               "float3",
                               "float4",
                               "double2",
                               "int2",
                               "int4",
                               "uint3",
                               "uchar4",
                               "char2",
                               "short4",
                               "ushort2",
                               "longlong2",
                               "ulonglong4",
                               "dim3",
                               "S",
                               "struct S",
                               "U",
                               "E",
                               "M",
                               "ns::P",
                               "::ns::P",
                               "alias::P",
                               "ns::Q",
                               "ns::v2::Q",
                               "ns::Box<float>",
                               "ns::Box<ns::Box<int> >",
                               "ns::real",
                               "number",
                               "Unnamed",
                               "Sized<3>",
                               "Sized<(1 > 2 ? 4 : 5)>",
                               "Pack<int, float>",
                               "Pack<>",
                               "FLOAT",
                               "decltype(1.0f)",
                               "decltype(S().y)",
                               "ns::Hidden",
                               "decltype(nullptr)"};

constexpr std::array kShapes = {"@ $",
                                "@ $",
                                "@* $",
                                "const @* $",
                                "@ const* $",
                                "@* const $",
                                "const @ $",
                                "@& $",
                                "const @& $",
                                "@** $",
                                "const @* const* $",
                                "@* __restrict__ $",
                                "const @* __restrict__ $",
                                "volatile @* $",
                                "@ $[4]",
                                "const @ $[]",
                                "POINTER(@) $",
                                "POINTER(const @) $",
                                "Traits<@>::pointer $",
                                "Traits<@>::reader $",
                                "@ (*$)[3]",
                                "@ (*$)(int, @*)",
                                "void* $",
                                "const void* $",
                                "row $",
                                "grid $",
                                "Opaque* $",
                                "const struct Later* $",
                                "ns::Box<@>* $",
                                "Pack<@*, const @>* $",
                                "@ /* const */ * $",
                                "@ const volatile * $",
                                "@ S::* $",
                                "__grid_constant__ const @ $"};

template <class List>
std::string pick(const List& list, std::mt19937& random) {
  return list[random() % list.size()];
}

std::string replaced(std::string text, char mark, const std::string& by) {
  for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += by.size()) {
    text.replace(at, 1, by);
  }
  return text;
}

std::string random_params(std::mt19937& random) {
  std::string text;
  const uint32_t count = random() % 6;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string shape = replaced(pick(kShapes, random), '$', "p" + std::to_string(i));
    text += (text.empty() ? "" : ", ") + replaced(shape, '@', pick(kBases, random));
  }
  return text;
}

/// Ways to write an extern "C" kernel; @: its name, $: its parameters.
constexpr std::array kForms = {
    "extern \"C\" __global__ void @($) {}\n",
    "extern \"C\" { __global__ void @($) {} }\n",
    "extern \"C\" __global__ void __launch_bounds__(128, 2) @($) { if (threadIdx.x) {} }\n",
    "extern \"C\" void __global__ @($) {}\n",
    "extern \"C\" __global__ __attribute__((used)) void @($) {}\n",
    "KERNEL(@)($) {}\n",
    "extern \"C\" __global__ void @($);\nextern \"C\" __global__ void @($) {}\n",
    "#if 1\nextern \"C\" __global__ void @($) {}\n#else\nextern \"C\" __global__ void @(int*) {}\n"
    "#endif\n",
    "#ifdef NEVER\nextern \"C\" __global__ void @(double*) {}\n#endif\n"
    "extern \"C\" __global__ void @($) {}\n",
    "/* extern \"C\" __global__ void @(int) {} */ extern \"C\" __global__ void @($) {}\n",
    "extern \"C\" // @\n __global__ void \\\n @($) { const char* t = \"){\"; (void)t; }\n",
    "__device__ int @_(int); extern \"C\" __global__ void @($) {}\n",
    "extern \"C++\" { extern \"C\" { __global__ void @($) {} } }\n",
    "extern \"C\" __global__ auto @($) -> void {}\n",
};

}  // namespace

Source random_source(std::mt19937& random, int kernel_count) {
  Source source;
  source.text = kDeclarations;
  for (int i = 0; i < kernel_count; ++i) {
    const std::string name = "k" + std::to_string(i);
    std::string text = replaced(pick(kForms, random), '@', name);
    text = replaced(text, '$', random_params(random));
    const bool is_inside = random() % 4 == 0;
    source.text += is_inside ? "namespace ns {\n" + text + "}\n" : text;
    source.kernels.push_back({name, (is_inside ? "::ns::" : "::") + name});
  }
  return source;
}

namespace {

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) || letter == '_';
}

/// A random word of the text: its place and size. Size 0: there is none.
std::pair<size_t, size_t> random_word(const std::string& text, std::mt19937& random) {
  size_t begin = random() % text.size();
  while (begin < text.size() && !is_word(text[begin])) ++begin;
  while (begin > 0 && is_word(text[begin - 1])) --begin;
  size_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  return {begin, end - begin};
}

constexpr std::array kInsertions = {" ",
                                    "\n",
                                    "\\\n",
                                    "/**/",
                                    "// x\n",
                                    "/* extern \"C\" __global__ void k1(double*) {} */",
                                    "*",
                                    "&",
                                    "const ",
                                    "volatile ",
                                    "static ",
                                    "inline ",
                                    "__restrict__ ",
                                    "unsigned ",
                                    "long ",
                                    "(",
                                    ")",
                                    "{",
                                    "}",
                                    "<",
                                    ">",
                                    ",",
                                    ";",
                                    "::",
                                    "ns::",
                                    "extern \"C\" ",
                                    "\"",
                                    "'",
                                    "R\"(",
                                    ")\"",
                                    "#define float double\n",
                                    "\n#define S ns::P\n",
                                    "\n#if 0\n",
                                    "\n#endif\n",
                                    "\n#undef FLOAT\n",
                                    "typedef ",
                                    "template <class T> ",
                                    "using namespace ns; ",
                                    "\n#line 7 \"x\"\n",
                                    "\\",
                                    "[2]",
                                    "= 0",
                                    "noexcept ",
                                    "namespace ns { ",
                                    "struct ",
                                    "__global__ ",
                                    "...",
                                    "\xc3\xa9",
                                    "\t"};

}  // namespace

std::string mutated(std::string text, std::mt19937& random) {
  for (uint32_t left = 1 + random() % 3; left > 0 && !text.empty(); --left) {
    const auto [begin, size] = random_word(text, random);
    switch (random() % 6) {
      case 0:  // a word becomes another of the text
      case 1: {
        const auto [other, other_size] = random_word(text, random);
        text.replace(begin, size, text.substr(other, other_size));
        break;
      }
      case 2:
        text.insert(begin, pick(kInsertions, random));
        break;
      case 3:
        text.replace(begin, size, pick(kBases, random));
        break;
      case 4:
        text.erase(random() % text.size(), 1 + random() % 3);
        break;
      default:
        text.insert(random() % text.size(), pick(kInsertions, random));
        break;
    }
  }
  return text;
}

}  // namespace km_fuzz
