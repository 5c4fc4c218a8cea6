#include "core/source_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/file.h"

namespace km {
namespace {

constexpr size_t kMaxFileBytes = size_t{256} << 20;

Result<std::string> read_file(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return file_error("open", path, errno);
  std::string text;
  char part[65536];
  for (;;) {
    const ssize_t count = read(file.get(), part, sizeof part);
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("read", path, errno);
    text.append(part, static_cast<size_t>(count));
    if (text.size() > kMaxFileBytes) {
      return make_error(KM_ERROR_IO, "'%s' is larger than 256 MiB", path.c_str());
    }
  }
}

bool is_image(std::string_view text) {
  constexpr std::string_view kElf(
      "\x7F"
      "ELF");
  constexpr std::string_view kFatbin("\x50\xED\x55\xBA");
  return text.starts_with(kElf) || text.starts_with(kFatbin);
}

}  // namespace

Status write_whole_file(const std::string& path, std::string_view content) {
  const std::string temporary = path + ".new-" + std::to_string(getpid());
  int code = 0;
  {
    const File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file) return file_error("write", path, errno, KM_ERROR_IO);
    if (!file.write_all(content.data(), content.size())) code = errno;
  }
  if (code == 0 && rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code == 0) return {};
  unlink(temporary.c_str());
  return file_error("write", path, code, KM_ERROR_IO);
}

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
  KM_ASSIGN(file.text, read_file(path));
  file.name = path.substr(path.rfind('/') + 1);
  file.is_image = is_image(file.text);
  file.is_object = file.is_image || file.text.starts_with("KMOBJECT");
  const std::string_view name = file.name;
  file.is_ptx = name.ends_with(".ptx") || (!name.ends_with(".cu") && looks_like_ptx(file.text));
  return file;
}

}  // namespace km
