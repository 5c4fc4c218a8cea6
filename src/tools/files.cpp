#include "tools/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/file/file_writer.h"
#include "base/text.h"
#include "tools/arrays/jpeg_file.h"
#include "tools/arrays/npy.h"
#include "tools/arrays/png_file.h"
#include "tools/error.h"

namespace km::tools {
namespace {

bool is_npy(const std::string& path) { return path.ends_with(".npy"); }
bool is_jpeg(const std::string& path) { return path.ends_with(".jpg") || path.ends_with(".jpeg"); }

Error unknown_format(const std::string& path) {
  return usage_error(in_quotes(path) +
                     ": arrays are read from .npy, .png and .jpg, and written as .npy or .png");
}

}  // namespace

Status write_output(const std::string& path, const std::string& content) {
  if (path != "-") return write_file(path, content);
  const WriteSignalGuard guard;
  const bool is_printed = std::fwrite(content.data(), 1, content.size(), stdout) == content.size();
  // Flushing now reports a failed write, which would be lost at exit.
  if (is_printed && std::fflush(stdout) == 0) return {};
  return error(KM_ERROR_IO,
               std::string("cannot write to standard output: ") + std::strerror(errno));
}

Status check_output(const std::string& path) {
  return path == "-" ? Status() : check_writable(path);
}

void make_folder_of(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code ignored;
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
}

uint64_t max_array_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

bool is_png(const std::string& path) { return path.ends_with(".png"); }

Result<Array> read_array(const std::string& path) {
  if (is_npy(path)) return read_npy(path);
  if (is_png(path)) return read_png(path);
  if (is_jpeg(path)) return read_jpeg(path);
  return unknown_format(path);
}

Status write_array(const std::string& path, const Array& array) {
  if (path == "-") return write_output(path, array_text(array));
  return is_png(path) ? write_png(path, array) : write_npy(path, array);
}

Status check_array_file(const std::string& path, ElementType type,
                        const std::vector<uint64_t>& shape) {
  if (path == "-" || is_npy(path)) return check_output(path);
  if (is_jpeg(path)) {
    return usage_error(in_quotes(path) + ": images are written as .png, without loss");
  }
  if (!is_png(path)) return unknown_format(path);
  constexpr uint64_t kMaxPngExtent = 1 << 24;
  const bool is_image = shape.size() == 2 || (shape.size() == 3 && shape[2] <= 4);
  const bool fits = type == ElementType::kU8 && is_image && shape[0] <= kMaxPngExtent &&
                    shape[1] <= kMaxPngExtent;
  if (!fits) {
    return usage_error(
        in_quotes(path) +
        ": a PNG image is u8[height,width] or "
        "u8[height,width,channels] with 1 to 4 channels; write other arrays as .npy");
  }
  return check_output(path);
}

}  // namespace km::tools
