#include "tools/files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "tools/error.h"
#include "tools/npy.h"
#include "tools/png_file.h"

namespace km::tools {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

bool is_npy(const std::string& path) { return path.ends_with(".npy"); }

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Error unknown_format(const std::string& path) {
  return usage_error("'" + path + "': arrays are read and written as .npy or .png");
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return file_error(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return file_error(path, "is a folder; a file is needed");
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return file_error(path, std::strerror(errno));
  std::string content;
  char block[1 << 16];
  while (const size_t count = std::fread(block, 1, sizeof block, file.get())) {
    content.append(block, count);
  }
  if (std::ferror(file.get())) return file_error(path, std::strerror(errno));
  return content;
}

Status write_file(const std::string& path, const std::string& content) {
  const bool to_stdout = path == "-";
  File owned(to_stdout ? nullptr : std::fopen(path.c_str(), "wb"));
  std::FILE* file = to_stdout ? stdout : owned.get();
  if (file == nullptr) return file_error(path, std::strerror(errno));
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  // What the system has not taken by now is reported now, not lost at exit.
  if (!written || std::fflush(file) != 0) return file_error(path, std::strerror(errno));
  if (!to_stdout && std::fclose(owned.release()) != 0) {
    return file_error(path, std::strerror(errno));
  }
  return {};
}

Status check_writable(const std::string& path) {
  if (path == "-") return {};
  struct stat status{};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return file_error(path, "is a folder; a file is needed");
    if (access(path.c_str(), W_OK) != 0) return file_error(path, std::strerror(errno));
    return {};
  }
  const std::string folder = folder_of(path);
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return file_error(path, "cannot write into '" + folder + "': " + std::strerror(errno));
  }
  return {};
}

bool is_png(const std::string& path) { return path.ends_with(".png"); }

Result<Array> read_array(const std::string& path) {
  if (is_npy(path)) return read_npy(path);
  if (is_png(path)) return read_png(path);
  return unknown_format(path);
}

Status write_array(const std::string& path, const Array& array) {
  if (path == "-") return write_file(path, array_text(array));
  return is_png(path) ? write_png(path, array) : write_npy(path, array);
}

Status check_array_file(const std::string& path, ElementType type,
                        const std::vector<uint64_t>& shape) {
  if (path == "-" || is_npy(path)) return check_writable(path);
  if (!is_png(path)) return unknown_format(path);
  constexpr uint64_t kMaxPngExtent = 1 << 24;
  const bool is_image = shape.size() == 2 || (shape.size() == 3 && shape[2] <= 4);
  const bool fits = type == ElementType::kU8 && is_image && shape[0] <= kMaxPngExtent &&
                    shape[1] <= kMaxPngExtent;
  if (!fits) {
    return usage_error(
        "'" + path +
        "': a PNG image is u8[height,width] or "
        "u8[height,width,channels] with 1 to 4 channels; write other arrays as .npy");
  }
  return check_writable(path);
}

}  // namespace km::tools
