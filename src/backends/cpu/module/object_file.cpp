#include "backends/cpu/module/object_file.h"

#include <cstring>

#include "backends/cpu/device/entries.h"
#include "base/hash.h"

namespace km::cpu {
namespace {

constexpr char kMagic[] = {'K', 'M', 'O', 'B', 'J', 'E', 'C', 'T'};  // core recognises it too
constexpr uint32_t kFormat = 1;

/// The first bytes. The code generator's id, the PTX, and key and code of each entry follow, each
/// preceded by its size.
struct Header {
  char magic[8];
  uint32_t format;
  uint32_t machine;  // Machine::number()
  uint64_t entry_count;
  Hash128 hash;  // of the bytes that follow
};
static_assert(sizeof(Header) == 40);

void append(std::string* out, const void* data, size_t size_bytes) {
  const auto size = static_cast<uint64_t>(size_bytes);
  out->append(reinterpret_cast<const char*>(&size), sizeof size);
  out->append(static_cast<const char*>(data), size_bytes);
}

class Reader {
 public:
  explicit Reader(std::string_view data) : left_(data) {}
  bool take(std::string_view* out) {
    uint64_t size = 0;
    if (left_.size() < sizeof size) return false;
    std::memcpy(&size, left_.data(), sizeof size);
    left_.remove_prefix(sizeof size);
    if (size > left_.size()) return false;
    *out = left_.substr(0, size);
    left_.remove_prefix(size);
    return true;
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

Error damaged() {
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "the object file is damaged or cut off: make it again from its source");
}

Status check_origin(const Header& header, std::string_view code) {
  if (header.format != kFormat || code != code_id()) {
    return make_error(KM_ERROR_BUILD_MISMATCH,
                      "the object file was made by code generator %.*s, this build has %s: make it "
                      "again from its source",
                      static_cast<int>(code.size()), code.data(), code_id());
  }
  const auto machine = simt::Machine::of_number(header.machine);
  if (!machine) return damaged();
  if (machine->runs_here()) return {};
  const std::string best(simt::Machine::best().name());
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "the object file is for %s, and this machine has %s at most: make it again "
                    "with KM_CPU_ISA=%s",
                    std::string(machine->name()).c_str(), best.c_str(), best.c_str());
}

}  // namespace

std::string write_object_file(const ObjectFile& file) {
  std::string body;
  append(&body, code_id(), std::strlen(code_id()));
  append(&body, file.ptx.data(), file.ptx.size());
  for (const auto& [key, object] : file.code) {
    append(&body, key.data(), key.size());
    append(&body, object.data(), object.size());
  }
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.format = kFormat;
  header.machine = file.machine.number();
  header.entry_count = file.code.size();
  header.hash = hash128(body);
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + body;
}

Result<ObjectFile> read_object_file(std::string_view data) {
  Header header{};
  if (data.size() < sizeof header || std::memcmp(data.data(), kMagic, sizeof kMagic) != 0) {
    return make_error(
        KM_ERROR_INVALID_ARGUMENT,
        "the data is not an object file (*.kmo), which `kernelmill compile --target cpu` "
        "and km_module_save_object make");
  }
  std::memcpy(&header, data.data(), sizeof header);
  const std::string_view body = data.substr(sizeof header);
  Reader reader(body);
  std::string_view code, ptx, key, object;
  if (hash128(body) != header.hash || !reader.take(&code)) return damaged();
  KM_TRY(check_origin(header, code));
  if (!reader.take(&ptx)) return damaged();
  ObjectFile file;
  file.machine = *simt::Machine::of_number(header.machine);  // check_origin() knows it
  file.ptx = ptx;
  for (uint64_t i = 0; i < header.entry_count; ++i) {
    if (!reader.take(&key) || !reader.take(&object)) return damaged();
    file.code.emplace(key, simt::Object(object.begin(), object.end()));
  }
  if (!reader.at_end()) return damaged();
  return file;
}

}  // namespace km::cpu
