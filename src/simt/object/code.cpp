#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "simt/engine.h"
#include "simt/object/elf_image.h"
#include "simt/object/line_table.h"
#include "simt/object/target.h"

namespace km::simt {
namespace {

using AssumptionsTest = bool (*)(const LaunchRecord*);

Error memory_error(const char* what, uint64_t size_bytes) {
  const int code = errno;
  Error error = make_error(KM_ERROR_OUT_OF_HOST_MEMORY, "cannot %s %llu bytes for code: %s", what,
                           static_cast<unsigned long long>(size_bytes), std::strerror(code));
  error.native_code = code;
  return error;
}

/// The pages of an image: written once, then instructions become executable and the rest read-only.
class Pages {
 public:
  static Result<Pages> allocate(uint64_t size_bytes) {
    void* base =
        mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return memory_error("map", size_bytes);
    Pages pages;
    pages.base_ = static_cast<uint8_t*>(base);
    pages.size_bytes_ = size_bytes;
    return pages;
  }
  Pages() = default;
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  ~Pages() {
    if (base_) munmap(base_, size_bytes_);
  }

  uint8_t* base() const { return base_; }

  Status seal(uint64_t code_bytes) {
    // Some architectures' instruction caches do not see stores.
    char* const first = reinterpret_cast<char*>(base_);
    __builtin___clear_cache(first, first + code_bytes);
    if (mprotect(base_, code_bytes, PROT_READ | PROT_EXEC) != 0) {
      return memory_error("make executable", code_bytes);
    }
    const uint64_t rest = size_bytes_ - code_bytes;
    if (rest != 0 && mprotect(base_ + code_bytes, rest, PROT_READ) != 0) {
      return memory_error("protect", rest);
    }
    return {};
  }

 private:
  uint8_t* base_ = nullptr;
  uint64_t size_bytes_ = 0;
};

class LoadedCode final : public Code {
 public:
  const CodeInfo& info() const override { return info_; }
  GridEntry grid_entry() const override {
    return info_.mode == Mode::run_to_completion ? reinterpret_cast<GridEntry>(entry_) : nullptr;
  }
  FiberEntry fiber_entry() const override {
    return info_.mode == Mode::fibers ? reinterpret_cast<FiberEntry>(entry_) : nullptr;
  }
  IndependentEntry independent_entry() const override {
    return info_.mode == Mode::independent_threads ? reinterpret_cast<IndependentEntry>(entry_)
                                                   : nullptr;
  }
  bool assumptions_hold(const LaunchRecord& record) const override {
    return !assumptions_ || reinterpret_cast<AssumptionsTest>(assumptions_)(&record);
  }
  uint64_t begin() const override { return reinterpret_cast<uint64_t>(pages_.base()); }
  uint64_t end() const override { return begin() + code_bytes_; }
  Position position_of(uint64_t address) const override;

  Status load(const Object& object);

 private:
  Status read_meta(const ElfImage& image);
  Result<uint8_t*> find_code(const ElfImage& image, const char* name) const;

  CodeInfo info_;
  Pages pages_;
  uint8_t* entry_ = nullptr;
  uint8_t* assumptions_ = nullptr;
  uint64_t code_bytes_ = 0;
  // Kept for position_of, which reads the line table only on demand.
  Object object_;
  std::vector<ElfImage::Section> sections_;
  mutable std::once_flag lines_once_;
  mutable std::vector<LineRow> lines_;
};

Status LoadedCode::load(const Object& object) {
  object_ = object;
  KM_ASSIGN(const ElfImage image, ElfImage::parse(object_));
  sections_.assign(image.sections().begin(), image.sections().end());
  code_bytes_ = image.code_bytes();
  KM_ASSIGN(pages_, Pages::allocate(image.size_bytes()));
  KM_TRY(image.place(pages_.base()));
  KM_TRY(read_meta(image));
  KM_ASSIGN(entry_, find_code(image, kEntrySymbol));
  if (auto assumptions = find_code(image, kAssumptionsSymbol)) {
    assumptions_ = *assumptions;
  } else if (assumptions.error().status != KM_ERROR_NOT_FOUND) {
    return std::move(assumptions.error());
  }
  return pages_.seal(code_bytes_);
}

Status LoadedCode::read_meta(const ElfImage& image) {
  KM_ASSIGN(const ElfImage::Symbol symbol, image.find(kMetaSymbol));
  ObjectMeta meta;
  if (symbol.is_code || symbol.bytes_after < sizeof meta) {
    return make_error(KM_ERROR_COMPILER, "unusable object code: '%s' is cut off", kMetaSymbol);
  }
  std::memcpy(&meta, pages_.base() + symbol.offset, sizeof meta);
  if (meta.magic != ObjectMeta::kMagic || meta.mode < uint32_t(Mode::run_to_completion) ||
      meta.mode > uint32_t(Mode::independent_threads)) {
    return make_error(KM_ERROR_COMPILER, "unusable object code: made by another version");
  }
  KM_ASSIGN(const uint64_t frames, image.stack_bytes());
  info_ = {static_cast<Mode>(meta.mode), meta.scratch_bytes,
           meta.stack_bytes + frames,    meta.waits != 0,
           meta.nontemporal_stores != 0, meta.reads_block != 0};
  return {};
}

Result<uint8_t*> LoadedCode::find_code(const ElfImage& image, const char* name) const {
  KM_ASSIGN(const ElfImage::Symbol symbol, image.find(name));
  if (!symbol.is_code || symbol.bytes_after == 0) {
    return make_error(KM_ERROR_COMPILER, "unusable object code: '%s' is not a function", name);
  }
  return pages_.base() + symbol.offset;
}

Code::Position LoadedCode::position_of(uint64_t address) const {
  if (address < begin() || address >= end()) return {};
  std::call_once(lines_once_, [this] { lines_ = read_line_table(object_, sections_); });
  const uint64_t offset = address - begin();
  const auto after =
      std::upper_bound(lines_.begin(), lines_.end(), offset,
                       [](uint64_t wanted, const LineRow& row) { return wanted < row.offset; });
  if (after == lines_.begin() || std::prev(after)->is_end) return {};
  return {std::prev(after)->line, std::prev(after)->column};
}

}  // namespace

Result<std::unique_ptr<Code>> Code::load(const Object& object) {
  auto code = std::make_unique<LoadedCode>();
  KM_TRY(code->load(object));
  return std::unique_ptr<Code>(std::move(code));
}

}  // namespace km::simt
