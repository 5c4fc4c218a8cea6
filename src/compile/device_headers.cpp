#include "compile/device_headers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/hash.h"

namespace km {
namespace {

struct DeviceHeader {
  const char* name;
  const char* text;
};

constexpr std::array kHeaders = {
#define KM_DEVICE_HEADER(name, text) DeviceHeader{name, text},
#include "compile/device_headers_c.inc"
#include "compile/device_headers_cpp.inc"
#undef KM_DEVICE_HEADER
};

/// The name in "cannot open source file "NAME"".
std::string_view missing_name(std::string_view log) {
  constexpr std::string_view kMark = "cannot open source file \"";
  const size_t mark = log.find(kMark);
  if (mark == std::string_view::npos) return {};
  log.remove_prefix(mark + kMark.size());
  const size_t end = log.find('"');
  return end == std::string_view::npos ? std::string_view() : log.substr(0, end);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The source with comments and literals replaced by blanks.
std::string code_of(const std::string& source) {
  std::string code;
  for (size_t i = 0; i < source.size();) {
    const std::string_view rest(source.data() + i, source.size() - i);
    size_t end = 1;
    if (rest.starts_with("//")) {
      end = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const size_t close = rest.find("*/", 2);
      end = close == std::string_view::npos ? rest.size() : close + 2;
    } else if (rest[0] == '"') {
      while (end < rest.size() && rest[end] != '"' && rest[end] != '\n') {
        end += rest[end] == '\\' ? 2 : 1;
      }
      end = std::min(end + 1, rest.size());
    } else {
      code += rest[0];
      ++i;
      continue;
    }
    code += ' ';
    i += end;
  }
  return code;
}

/// True if the code contains `int main (`.
bool has_main(std::string_view code) {
  for (size_t at = code.find("main"); at != std::string_view::npos;
       at = code.find("main", at + 1)) {
    size_t before = at;
    while (before > 0 && std::isspace(static_cast<unsigned char>(code[before - 1])) != 0) --before;
    const bool is_int = before < at && before >= 3 && code.substr(before - 3, 3) == "int" &&
                        (before == 3 || !is_word(code[before - 4]));
    const size_t next = code.find_first_not_of(" \t\r\n", at + 4);
    if (is_int && next != std::string_view::npos && code[next] == '(') return true;
  }
  return false;
}

}  // namespace

bool lacks_device_header(const std::string& log) {
  const std::string_view name = missing_name(log);
  return std::any_of(kHeaders.begin(), kHeaders.end(),
                     [&](const DeviceHeader& header) { return name == header.name; });
}

CompileInput with_device_headers(const CompileInput& input,
                                 const std::vector<std::string>& folders) {
  CompileInput result = input;
  for (const DeviceHeader& header : kHeaders) {
    const auto is_this = [&](const CompileHeader& own) { return own.name == header.name; };
    const auto has_this = [&](const std::string& folder) {
      std::error_code ignored;
      return std::filesystem::exists(std::filesystem::path(folder) / header.name, ignored);
    };
    if (std::none_of(input.headers.begin(), input.headers.end(), is_this) &&
        std::none_of(folders.begin(), folders.end(), has_this)) {
      result.headers.push_back({header.name, header.text});
    }
  }
  return result;
}

const std::string& device_headers_hash() {
  static const std::string hash = [] {
    std::string all;
    for (const DeviceHeader& header : kHeaders)
      all += std::string(header.name) + '\n' + header.text;
    return hash128(all).text();
  }();
  return hash;
}

namespace {

/// True if the errors are typical of host code: NVRTC knows none of its functions. Launches alone
/// prove nothing, since kernels may launch others.
bool blames_host_code(const std::string& log) {
  for (const char* sign : {"host functions are not allowed", "__host__ function",
                           "identifier \"cuda", "cannot open source file"}) {
    if (log.find(sign) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::string whole_program_advice(const std::string& source, const std::string& log) {
  if (log.find("device-side kernel launch could not be processed") != std::string::npos) {
    return "a kernel that launches another one needs the compiler's option -rdc=true "
           "(--nvrtc=-rdc=true of the command)";
  }
  const std::string code = code_of(source);
  const bool has_launches = code.find("<<<") != std::string::npos;
  if (!has_main(code) && !(has_launches && blames_host_code(log))) return {};
  return std::string("the file is a whole program (it holds ") +
         (has_launches ? "a launch by <<<>>>" : "main()") +
         "): NVRTC compiles kernels only, so move them into a file of their own, or build the "
         "program "
         "with nvcc -cudart shared and run it by 'kernelmill exec'";
}

}  // namespace km
