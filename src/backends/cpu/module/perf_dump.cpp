#include "backends/cpu/module/perf_dump.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>

#include "backends/cpu/config/config.h"
#include "backends/cpu/threads/futex.h"
#include "base/arch/constants.h"
#include "base/file/file.h"
#include "base/log.h"

namespace km::cpu {
namespace {

struct Header {
  uint32_t magic = 0x4A695444;
  uint32_t version = 1;
  uint32_t size_bytes = sizeof(Header);
  uint32_t machine = arch::kElfMachine;
  uint32_t unused = 0;
  uint32_t process = 0;
  uint64_t time_ns = 0;
  uint64_t flags = 0;
};
static_assert(sizeof(Header) == 40);

/// A record of loaded code; its name, a zero and the code follow.
struct LoadRecord {
  uint32_t kind = 0;
  uint32_t size_bytes = 0;
  uint64_t time_ns = 0;
  uint32_t process = 0, thread = 0;
  uint64_t address = 0, code_address = 0;
  uint64_t code_bytes = 0;
  uint64_t index = 0;
};
static_assert(sizeof(LoadRecord) == 56);

/// The name in perf: "scale, blocks of 256 x 1 x 1".
std::string name_of(const std::string& kernel, const simt::Variant& variant) {
  const auto& [x, y, z] = variant.block;
  if (x == 0) return kernel + ", blocks of any size";
  return kernel + ", blocks of " + std::to_string(x) + " x " + std::to_string(y) + " x " +
         std::to_string(z);
}

/// The file of this process. It stays open and mapped, because perf finds it by the mapping.
class Dump {
 public:
  Dump() : process_(getpid()) {
    const std::string path = "jit-" + std::to_string(process_) + ".dump";
    Result<File> file = create_file(path);
    if (!file) {
      give_up(file.error());
      return;
    }
    file_ = std::move(*file);
    Header header;
    header.process = static_cast<uint32_t>(process_);
    header.time_ns = now_ns();  // the clock that `perf record -k mono` uses
    if (!file_.write_all(&header, sizeof header) ||
        mmap(nullptr, sizeof header, PROT_READ | PROT_EXEC, MAP_PRIVATE, file_.get(), 0) ==
            MAP_FAILED) {
      give_up(file_error("write", path, errno));
    }
  }

  void add(const simt::Code& code, const std::string& name) {
    std::lock_guard lock(mutex_);
    // After fork, a child's file would need another name.
    if (!file_ || getpid() != process_) return;
    LoadRecord record;
    record.code_bytes = code.end() - code.begin();
    record.size_bytes = static_cast<uint32_t>(sizeof record + name.size() + 1 + record.code_bytes);
    record.time_ns = now_ns();
    record.process = static_cast<uint32_t>(process_);
    record.thread = static_cast<uint32_t>(syscall(SYS_gettid));
    record.address = record.code_address = code.begin();
    record.index = count_++;
    std::string text(reinterpret_cast<const char*>(&record), sizeof record);
    text.append(name.c_str(), name.size() + 1);
    text.append(reinterpret_cast<const char*>(code.begin()), record.code_bytes);
    if (!file_.write_all(text.data(), text.size())) give_up(file_error("write", "its file", errno));
  }

 private:
  void give_up(const Error& error) {
    log(LogLevel::kWarn, "cpu", "KM_PERF (a file in the current folder): %s",
        error.message.c_str());
    file_ = File(-1);
  }

  std::mutex mutex_;
  pid_t process_;
  File file_{-1};
  uint64_t count_ = 0;
};

}  // namespace

void tell_perf(const simt::Code& code, const std::string& kernel, const simt::Variant& variant) {
  if (!config().perf) return;
  static Dump* const dump = new Dump;  // never destroyed
  dump->add(code, name_of(kernel, variant));
}

}  // namespace km::cpu
