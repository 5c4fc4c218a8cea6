// Device printf: C's format, with the arguments in the memory layout of CUDA's vprintf.
#include "simt/runtime/print/printf.h"

#include <locale.h>

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "simt/engine.h"

namespace km::simt {
namespace {

/// Limits widths and precisions, so that a kernel cannot exhaust memory.
constexpr int kMostColumns = 1 << 16;

/// Switches to the C locale, so that numbers do not depend on the host program's locale.
class CLocaleScope {
 public:
  CLocaleScope() : old_(uselocale(c_locale())) {}
  ~CLocaleScope() { uselocale(old_); }
  CLocaleScope(const CLocaleScope&) = delete;
  CLocaleScope& operator=(const CLocaleScope&) = delete;

 private:
  static locale_t c_locale() {
    static const locale_t locale = newlocale(LC_ALL_MASK, "C", nullptr);
    return locale;
  }
  locale_t old_;
};

enum class Length : uint8_t { none, hh, h, l, ll, L, z, j, t };

struct Spec {
  std::string_view text;  // the whole conversion, beginning with %
  std::string flags;
  int width = 0;
  bool star_width = false;
  int precision = -1;  // -1: none
  bool star_precision = false;
  Length length = Length::none;
  char conversion = 0;  // 0: the format ends within the conversion
};

/// Reads the arguments in sequence, each aligned to its size.
class Arguments {
 public:
  explicit Arguments(const void* first) : at_(static_cast<const char*>(first)) {}

  bool exist() const { return at_ != nullptr; }
  int32_t count() const { return count_; }

  template <class T>
  T next() {
    offset_ = (offset_ + alignof(T) - 1) / alignof(T) * alignof(T);
    T value;
    std::memcpy(&value, at_ + offset_, sizeof value);
    offset_ += sizeof value;
    ++count_;
    return value;
  }

 private:
  const char* at_;
  size_t offset_ = 0;
  int32_t count_ = 0;
};

int parse_number(const char*& at) {
  int value = 0;
  for (; *at >= '0' && *at <= '9'; ++at) value = std::min(value * 10 + (*at - '0'), kMostColumns);
  return value;
}

Length parse_length(const char*& at) {
  switch (*at) {
    case 'h':
      return *++at == 'h' ? (++at, Length::hh) : Length::h;
    case 'l':
      return *++at == 'l' ? (++at, Length::ll) : Length::l;
    case 'L':
      return ++at, Length::L;
    case 'z':
      return ++at, Length::z;
    case 'j':
      return ++at, Length::j;
    case 't':
      return ++at, Length::t;
    default:
      return Length::none;
  }
}

/// `at` must be at a %; it is advanced past the conversion.
Spec parse_spec(const char*& at) {
  const char* const first = at++;
  Spec spec;
  for (; *at != 0 && std::strchr("-+ #0", *at); ++at) {
    if (spec.flags.find(*at) == std::string::npos) spec.flags += *at;
  }
  spec.star_width = *at == '*';
  if (spec.star_width)
    ++at;
  else
    spec.width = parse_number(at);
  if (*at == '.') {
    ++at;
    spec.star_precision = *at == '*';
    if (spec.star_precision)
      ++at;
    else
      spec.precision = parse_number(at);
  }
  spec.length = parse_length(at);
  spec.conversion = *at;
  if (*at != 0) ++at;
  spec.text = {first, static_cast<size_t>(at - first)};
  return spec;
}

/// The flags that are defined for the conversion; others would be undefined behaviour in C.
std::string_view flags_of(char conversion) {
  switch (conversion) {
    case 'd':
    case 'i':
      return "-+ 0";
    case 'u':
      return "-0";
    case 'o':
    case 'x':
    case 'X':
      return "-#0";
    case 'c':
    case 's':
    case 'p':
      return "-";
    default:
      return "-+ #0";
  }
}

bool is_known(const Spec& spec) {
  switch (spec.conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      return spec.length != Length::L;
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return spec.length == Length::none || spec.length == Length::l || spec.length == Length::L;
    case 'c':
    case 's':
    case 'p':
      return spec.length == Length::none;
    default:
      return false;
  }
}

/// Calls `plain` with literal text and `convert` with conversions that have arguments.
template <class Plain, class Convert>
void for_each_part(const char* format, Plain plain, Convert convert) {
  for (const char* at = format; *at != 0;) {
    if (*at != '%') {
      const size_t length = std::strcspn(at, "%");
      plain(std::string_view(at, length));
      at += length;
      continue;
    }
    const Spec spec = parse_spec(at);
    if (is_known(spec)) {
      convert(spec);
    } else {
      plain(spec.conversion == '%' ? std::string_view("%") : spec.text);
    }
  }
}

class Formatter {
 public:
  explicit Formatter(const void* arguments) : arguments_(arguments) {}

  std::string run(const char* format);
  int32_t count() const { return arguments_.count(); }

 private:
  void convert(Spec spec);
  void take_stars(Spec& spec);
  void convert_signed(const Spec& spec);
  void convert_unsigned(const Spec& spec);
  void convert_string(const Spec& spec);
  void pad(const Spec& spec, std::string_view text);
  [[gnu::format(printf, 2, 3)]] void append(const char* format, ...);
  std::string format_of(const Spec& spec, const char* length) const;

  Arguments arguments_;
  std::string out_;
};

std::string Formatter::run(const char* format) {
  const CLocaleScope locale;
  for_each_part(
      format, [this](std::string_view text) { out_ += text; },
      [this](const Spec& spec) {
        if (arguments_.exist()) {
          convert(spec);
        } else {
          out_ += spec.text;
        }
      });
  return std::move(out_);
}

void Formatter::take_stars(Spec& spec) {
  if (spec.star_width) {
    const int width = arguments_.next<int>();
    if (width < 0 && spec.flags.find('-') == std::string::npos) spec.flags += '-';
    const unsigned columns = width < 0 ? 0u - static_cast<unsigned>(width) : unsigned(width);
    spec.width = static_cast<int>(std::min<unsigned>(columns, kMostColumns));
  }
  if (spec.star_precision) spec.precision = std::min(arguments_.next<int>(), kMostColumns);
  if (spec.precision < 0) spec.precision = -1;
}

void Formatter::convert(Spec spec) {
  take_stars(spec);
  const std::string_view known = flags_of(spec.conversion);
  std::erase_if(spec.flags, [&](char flag) { return known.find(flag) == std::string_view::npos; });
  switch (spec.conversion) {
    case 'd':
    case 'i':
      return convert_signed(spec);
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      return convert_unsigned(spec);
    case 's':
      return convert_string(spec);
    case 'c': {
      const char letter = static_cast<char>(arguments_.next<int>());
      return pad(spec, {&letter, 1});
    }
    case 'p':
      return append(spec.flags.empty() ? "%*p" : "%-*p", spec.width, arguments_.next<void*>());
    default:
      return append(format_of(spec, "").c_str(), spec.width, spec.precision,
                    arguments_.next<double>());
  }
}

/// A format such as "%-*.*lld": width and precision are always passed; -1 means no precision.
std::string Formatter::format_of(const Spec& spec, const char* length) const {
  return "%" + spec.flags + "*.*" + length + spec.conversion;
}

void Formatter::convert_signed(const Spec& spec) {
  long long value = 0;
  switch (spec.length) {
    case Length::hh:
      value = static_cast<signed char>(arguments_.next<int>());
      break;
    case Length::h:
      value = static_cast<short>(arguments_.next<int>());
      break;
    case Length::none:
      value = arguments_.next<int>();
      break;
    default:
      value = arguments_.next<long long>();
      break;
  }
  append(format_of(spec, "ll").c_str(), spec.width, spec.precision, value);
}

void Formatter::convert_unsigned(const Spec& spec) {
  unsigned long long value = 0;
  switch (spec.length) {
    case Length::hh:
      value = static_cast<unsigned char>(arguments_.next<unsigned>());
      break;
    case Length::h:
      value = static_cast<unsigned short>(arguments_.next<unsigned>());
      break;
    case Length::none:
      value = arguments_.next<unsigned>();
      break;
    default:
      value = arguments_.next<unsigned long long>();
      break;
  }
  append(format_of(spec, "ll").c_str(), spec.width, spec.precision, value);
}

void Formatter::convert_string(const Spec& spec) {
  const char* text = arguments_.next<const char*>();
  if (!text) text = "(null)";
  // The string is read up to the precision only, since the memory behind it may be unmapped.
  const size_t most = spec.precision < 0 ? SIZE_MAX : static_cast<size_t>(spec.precision);
  pad(spec, {text, strnlen(text, most)});
}

void Formatter::pad(const Spec& spec, std::string_view text) {
  const auto width = static_cast<size_t>(spec.width);
  const size_t blanks = width > text.size() ? width - text.size() : 0;
  const bool left = spec.flags.find('-') != std::string::npos;
  if (!left) out_.append(blanks, ' ');
  out_ += text;
  if (left) out_.append(blanks, ' ');
}

void Formatter::append(const char* format, ...) {
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  char buffer[128];
  const int length = std::vsnprintf(buffer, sizeof buffer, format, list);
  if (length >= 0 && static_cast<size_t>(length) < sizeof buffer) {
    out_.append(buffer, static_cast<size_t>(length));
  } else if (length >= 0) {
    const size_t old = out_.size();
    out_.resize(old + static_cast<size_t>(length) + 1);
    std::vsnprintf(out_.data() + old, static_cast<size_t>(length) + 1, format, again);
    out_.pop_back();
  }
  va_end(again);
  va_end(list);
}

bool is_wide(const Spec& spec) {
  switch (spec.conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      return spec.length > Length::h;
    case 'c':
      return false;
    default:
      return true;
  }
}

}  // namespace

std::vector<PrintfArgument> printf_arguments(const char* format) {
  using Kind = PrintfArgument::Kind;
  std::vector<PrintfArgument> list;
  for_each_part(
      format, [](std::string_view) {},
      [&list](const Spec& spec) {
        for (int stars = spec.star_width + spec.star_precision; stars > 0; --stars) {
          list.emplace_back();
        }
        PrintfArgument argument;
        argument.kind = spec.conversion == 's' ? Kind::string
                        : is_wide(spec)        ? Kind::word64
                                               : Kind::word32;
        if (spec.precision >= 0) argument.most_bytes = static_cast<uint64_t>(spec.precision);
        argument.most_from_previous = spec.star_precision;
        list.push_back(argument);
      });
  return list;
}

std::string format_printf(const char* format, const void* arguments, int32_t* out_count) {
  if (!format) {
    if (out_count) *out_count = -1;
    return {};
  }
  Formatter formatter(arguments);
  std::string text = formatter.run(format);
  if (out_count) *out_count = formatter.count();
  return text;
}

}  // namespace km::simt
