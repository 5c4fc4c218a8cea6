#include "core/module/source_file.h"

#include "base/file/named_file.h"

namespace km {
namespace {

bool is_image(std::string_view text) {
  constexpr std::string_view kElf(
      "\x7F"
      "ELF");
  constexpr std::string_view kFatbin("\x50\xED\x55\xBA");
  return text.starts_with(kElf) || text.starts_with(kFatbin);
}

}  // namespace

bool looks_like_ptx(std::string_view text) {
  size_t at = 0;
  for (;;) {
    at = text.find_first_not_of(" \t\r\n\f\v", at);
    if (at == std::string_view::npos) return false;
    const std::string_view rest = text.substr(at);
    if (rest.starts_with("//")) {
      at = text.find('\n', at);
    } else if (rest.starts_with("/*")) {
      at = text.find("*/", at + 2);
      if (at != std::string_view::npos) at += 2;
    } else {
      return rest.starts_with(".version");
    }
    if (at == std::string_view::npos) return false;
  }
}

Result<SourceFile> read_source_file(const std::string& path) {
  SourceFile file;
  KM_ASSIGN(file.text, read_named_file(path));
  file.name = path.substr(path.rfind('/') + 1);
  file.is_image = is_image(file.text);
  file.is_object = file.is_image || file.text.starts_with("KMOBJECT");
  const std::string_view name = file.name;
  file.is_ptx = name.ends_with(".ptx") || (!name.ends_with(".cu") && looks_like_ptx(file.text));
  return file;
}

}  // namespace km
