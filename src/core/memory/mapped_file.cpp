#include "core/memory/mapped_file.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cinttypes>

#include "base/assert.h"
#include "base/file/file.h"
#include "base/text.h"

namespace km {
namespace {

Status check_part(const char* path, uint64_t offset_bytes, uint64_t size_bytes,
                  uint64_t file_bytes) {
  if (offset_bytes <= file_bytes && size_bytes <= file_bytes - offset_bytes) return {};
  return make_error(KM_ERROR_OUT_OF_BOUNDS,
                    "%s at offset %" PRIu64 " reach%s beyond the end of '%.1000s', which has %s",
                    counted(size_bytes, "byte").c_str(), offset_bytes, size_bytes == 1 ? "es" : "",
                    path, counted(file_bytes, "byte").c_str());
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const char* path, uint64_t offset_bytes,
                                                           uint64_t size_bytes, bool writable) {
  KM_ASSIGN(const File file, open_file(path));
  struct stat about = {};
  if (fstat(file.get(), &about) != 0) return file_error("look at", path, errno);
  const auto file_bytes = static_cast<uint64_t>(about.st_size);
  if (size_bytes == UINT64_MAX && offset_bytes <= file_bytes) {
    size_bytes = file_bytes - offset_bytes;
  }
  KM_TRY(check_part(path, offset_bytes, size_bytes, file_bytes));
  if (size_bytes == 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "there is nothing to map: '%.1000s' has %s, and the part asked for is empty",
                      path, counted(file_bytes, "byte").c_str());
  }
  std::shared_ptr<MappedFile> mapped(new MappedFile(path, writable));
  KM_TRY(mapped->map(file.get(), offset_bytes, size_bytes));
  return std::shared_ptr<const MappedFile>(std::move(mapped));
}

Status MappedFile::map(int file, uint64_t offset_bytes, uint64_t size_bytes) {
  KM_ASSERT(mapping_ == nullptr && size_bytes != 0, "a file is mapped once, and some of it");
  const auto page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  skipped_bytes_ = offset_bytes % page_bytes;
  const uint64_t total = size_bytes + skipped_bytes_;
  const int protection = writable_ ? PROT_READ | PROT_WRITE : PROT_READ;
  void* made = mmap(nullptr, total, protection, MAP_PRIVATE | MAP_NORESERVE, file,
                    static_cast<off_t>(offset_bytes - skipped_bytes_));
  if (made == MAP_FAILED) return file_error("map", path_, errno);
  mapping_ = made;
  mapping_bytes_ = total;
  return {};
}

MappedFile::~MappedFile() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

}  // namespace km
