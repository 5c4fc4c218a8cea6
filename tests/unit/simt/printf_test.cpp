#include <gtest/gtest.h>
#include <locale.h>

#include <cinttypes>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "simt/engine.h"
#include "simt/runtime/print/printf.h"

namespace km::simt {
namespace {

/// Arguments as a kernel lays them out for vprintf: each aligned to its size.
class Buffer {
 public:
  template <class... T>
  explicit Buffer(T... values) {
    (add(values), ...);
  }
  const void* data() const { return bytes_.data(); }

 private:
  template <class T>
  void add(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "arguments are promoted");
    while (bytes_.size() % sizeof value != 0) bytes_.push_back(0xAA);
    const auto* first = reinterpret_cast<const uint8_t*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
  }
  std::vector<uint8_t> bytes_;
};

template <class... T>
std::string format(const char* text, T... values) {
  const Buffer buffer(values...);
  int32_t count = -5;
  const std::string result = format_printf(text, buffer.data(), &count);
  EXPECT_EQ(count, int32_t(sizeof...(T))) << text;
  return result;
}

/// What the C library makes of the same format and arguments.
template <class... T>
std::string reference(const char* text, T... values) {
  char out[4096];
  std::snprintf(out, sizeof out, text, values...);
  return out;
}

TEST(Printf, CopiesPlainText) {
  EXPECT_EQ(format_printf("", nullptr, nullptr), "");
  EXPECT_EQ(format_printf("plain\n", nullptr, nullptr), "plain\n");
  EXPECT_EQ(format_printf("100%% sure%%", nullptr, nullptr), "100% sure%");
}

TEST(Printf, CountsArguments) {
  int32_t count = 0;
  EXPECT_EQ(format_printf(nullptr, nullptr, &count), "");
  EXPECT_EQ(count, -1);
  format_printf("no arguments", nullptr, &count);
  EXPECT_EQ(count, 0);
  const Buffer buffer(5, 3, 1.0);
  format_printf("%*.*f", buffer.data(), &count);
  EXPECT_EQ(count, 3);
}

TEST(Printf, AlignsArguments) {
  EXPECT_EQ(format("%d %f %d %lld %d %s", 1, 2.5, 3, -4ll, 5, "six"), "1 2.500000 3 -4 5 six");
  EXPECT_EQ(format("%f%d%d%f", 0.5, 1, 2, 1.5), "0.500000121.500000");
}

TEST(Printf, AgreesWithTheCLibraryOnIntegers) {
  for (const char* flags : {"", "-", "+", " ", "0", "-+", "+0", " 0"}) {
    for (const char* size : {"", "1", "12", ".0", ".5", "12.5"}) {
      for (int value : {0, 1, -1, 42, INT_MAX, INT_MIN}) {
        const std::string text = std::string("<%") + flags + size + "d>";
        EXPECT_EQ(format(text.c_str(), value), reference(text.c_str(), value)) << text;
      }
    }
  }
  for (const char* flags : {"", "-", "#", "0", "#0", "-#"}) {
    for (const char* conversion : {"x", "X", "o"}) {
      for (unsigned value : {0u, 1u, 0xBEEFu, UINT_MAX}) {
        const std::string text = std::string("<%") + flags + "14" + conversion + ">";
        EXPECT_EQ(format(text.c_str(), value), reference(text.c_str(), value)) << text;
      }
    }
  }
  EXPECT_EQ(format("%u %i", UINT_MAX, -7), "4294967295 -7");
}

TEST(Printf, KnowsAllLengths) {
  EXPECT_EQ(format("%hhd %hhu %hhx", 0x1FF, 0x1FF, 0x1AB), "-1 255 ab");
  EXPECT_EQ(format("%hd %hu", 0x1FFFF, 0x1FFFE), "-1 65534");
  EXPECT_EQ(format("%ld %lu %lx", LLONG_MIN, ULLONG_MAX, 0x123456789ABCll),
            "-9223372036854775808 18446744073709551615 123456789abc");
  EXPECT_EQ(format("%lld %llu %llX", -1ll, 1ull, 0xABCDEF0123ull), "-1 1 ABCDEF0123");
  EXPECT_EQ(format("%zu %zd %jd %ju %td", 1ull, -2ll, -3ll, 4ull, -5ll), "1 -2 -3 4 -5");
}

TEST(Printf, AgreesWithTheCLibraryOnFloats) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const char* flags : {"", "-", "+", " ", "#", "0", "+0", "#0"}) {
    for (const char* size : {"", "20", ".0", ".3", "20.3", ".17"}) {
      for (char conversion : {'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A'}) {
        const std::string text = std::string("<%") + flags + size + conversion + ">";
        for (double value : {0.0, -0.0, 1.0, -1.5, 3.14159265358979, 1e300, 1e-310, infinity,
                             -infinity, std::nan("")}) {
          EXPECT_EQ(format(text.c_str(), value), reference(text.c_str(), value)) << text;
        }
      }
    }
  }
  EXPECT_EQ(format("%lf %Lf", 1.5, 2.5), "1.500000 2.500000");
}

TEST(Printf, TakesWidthAndPrecisionFromArguments) {
  EXPECT_EQ(format("<%*d>", 6, 42), "<    42>");
  EXPECT_EQ(format("<%*d>", -6, 42), "<42    >");
  EXPECT_EQ(format("<%-*d>", -6, 42), "<42    >");
  EXPECT_EQ(format("<%.*f>", 2, 1.239), "<1.24>");
  EXPECT_EQ(format("<%.*f>", -2, 1.5), "<1.500000>");
  EXPECT_EQ(format("<%*.*s>", 6, 2, "abc"), "<    ab>");
  EXPECT_EQ(format("<%.d>", 0), "<>");
}

TEST(Printf, PrintsLettersStringsAndPointers) {
  EXPECT_EQ(format("%c%3c|%-3c|", int{'a'}, int{'b'}, int{'c'}), "a  b|c  |");
  EXPECT_EQ(format("%c", 0), std::string(1, '\0'));
  EXPECT_EQ(format("<%s> <%5s> <%-5s> <%.1s>", "x", "yy", "zz", "long"), "<x> <   yy> <zz   > <l>");
  EXPECT_EQ(format("%s", static_cast<const char*>(nullptr)), "(null)");
  EXPECT_EQ(format("%p %20p|%-20p|", reinterpret_cast<void*>(0xABC0), reinterpret_cast<void*>(1),
                   reinterpret_cast<void*>(2)),
            "0xabc0                  0x1|0x2                 |");
  EXPECT_EQ(format("%p", static_cast<void*>(nullptr)), "(nil)");
}

TEST(Printf, DoesNotReadStringsBeyondThePrecision) {
  const char unterminated[3] = {'a', 'b', 'c'};
  EXPECT_EQ(format("%.3s", &unterminated[0]), "abc");
}

TEST(Printf, PrintsUnknownConversionsAsTheyAre) {
  for (const char* text : {"%y", "%n", "%-+5.3k", "%ls", "%lc", "%Ld", "%hf", "%", "abc%", "%5",
                           "%-", "%.", "%ll", "%*", "%'d", "%1$d", "%S", "%m"}) {
    int32_t count = -5;
    const Buffer arguments(1, 2, 3, 4);
    EXPECT_EQ(format_printf(text, arguments.data(), &count), text);
    EXPECT_EQ(count, 0) << text;
  }
  EXPECT_EQ(format("%y %d", 7), "%y 7");
  EXPECT_EQ(format_printf("%d %s", nullptr, nullptr), "%d %s");
}

TEST(Printf, BoundsWidthAndPrecision) {
  EXPECT_LE(format("%99999999999999999999d", 1).size(), 70000u);
  EXPECT_LE(format("%.99999999999999999999d", 1).size(), 70000u);
  EXPECT_LE(format("%*d", INT_MIN, 1).size(), 70000u);
  EXPECT_LE(format("%*s", INT_MAX, "").size(), 70000u);
  EXPECT_LE(format("%.*f", INT_MAX, 1.0).size(), 70000u);
}

TEST(Printf, DoesNotDependOnTheLocale) {
  const locale_t commas = newlocale(LC_ALL_MASK, "de_DE.UTF-8", nullptr);
  const locale_t old = commas ? uselocale(commas) : nullptr;
  const locale_t before = uselocale(nullptr);
  EXPECT_EQ(format("%.1f", 1.5), "1.5");
  EXPECT_EQ(uselocale(nullptr), before);
  if (commas) {
    uselocale(old);
    freelocale(commas);
  }
}

TEST(Printf, TellsWhatItReads) {
  using Kind = PrintfArgument::Kind;
  const auto list = printf_arguments("%d%5ld %*.*f %y %ls %% %.7s %-*.*s %c %p %hhx %zu");
  const Kind kinds[] = {Kind::word32, Kind::word64, Kind::word32, Kind::word32, Kind::word64,
                        Kind::string, Kind::word32, Kind::word32, Kind::string, Kind::word32,
                        Kind::word64, Kind::word32, Kind::word64};
  ASSERT_EQ(list.size(), std::size(kinds));
  for (size_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i].kind, kinds[i]) << i;
  EXPECT_EQ(list[5].most_bytes, 7u);
  EXPECT_FALSE(list[5].most_from_previous);
  EXPECT_TRUE(list[8].most_from_previous);
}

TEST(Printf, SurvivesAnyFormat) {
  std::mt19937 random(1);
  const std::string letters = "%%%%-+ #0*.123456789hlLzjtdiouxXeEfgGaAcspnyq$'";
  std::vector<uint8_t> zeros(4096);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t i = random() % 24; i-- > 0;) text += letters[random() % letters.size()];
    int32_t count = -5;
    const std::string out = format_printf(text.c_str(), zeros.data(), &count);
    EXPECT_EQ(count, int32_t(printf_arguments(text.c_str()).size())) << text;
    if (text.find('%') == std::string::npos) {
      EXPECT_EQ(out, text);
    }
  }
}

}  // namespace
}  // namespace km::simt
