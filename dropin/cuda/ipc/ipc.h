// Memory and events that processes of this machine share (cuIpc*).
//
// A handle names a file in memory by the process that made it and its descriptor there: another
// process opens it by /proc, which the system permits to processes of the same user.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "base/file/file.h"
#include "dropin/cuda/context/context.h"

namespace km {
class Stream;
}

namespace km::dropin {

/// The content of the 64 bytes of a handle.
struct IpcHandle {
  uint64_t kind = 0;  // kIpcMemory, kIpcEvent or kIpcPool; anything else is no handle
  int32_t process = 0, file = -1;
  uint64_t device = 0, inode = 0;  // of the file, so that no other one is taken for it
  uint64_t file_size_bytes = 0, offset_bytes = 0, size_bytes = 0;
};
static_assert(sizeof(IpcHandle) <= 64);
inline constexpr uint64_t kIpcMemory = 0x31304d454d494d4bULL, kIpcEvent = 0x313056454d494d4bULL,
                          kIpcPool = 0x31304c504d494d4bULL;  // a pool, or memory of one

/// The part of a handle that names an open file of this process.
CUresult describe_file(int file, uint64_t kind, IpcHandle* out);
/// Opens the file of a handle: CUDA_ERROR_INVALID_VALUE when it is none of that kind,
/// CUDA_ERROR_INVALID_CONTEXT in the process that made it, CUDA_ERROR_INVALID_HANDLE when that
/// process has let go of it.
CUresult open_file_of(const IpcHandle& handle, uint64_t kind, File* out);

/// Memory of a file in this process, device memory of a context. Its mapping goes when the last
/// reference is gone and no work uses it.
CUresult map_shared(Context& context, const File& file, uint64_t file_size_bytes,
                    uint64_t offset_bytes, uint64_t size_bytes, Ref<km::Memory>* out);

/// Memory of other processes that is open here.
class ImportedMemory {
 public:
  static ImportedMemory& instance();
  /// Every call with one handle in a context gives one address, until all of them are closed.
  CUresult open(Context& context, const IpcHandle& handle, CUdeviceptr* out);
  CUresult close(CUdeviceptr address);

 private:
  struct Key {
    uint64_t device, inode, offset_bytes, context_id;
    auto operator<=>(const Key&) const = default;
  };
  struct Import {
    uint64_t address, buffer_id, opened;
  };
  /// True while the import's memory lives: the end of its context takes it away.
  static bool lives(const Import& import);

  std::mutex mutex_;  // guards what follows
  std::map<Key, Import> imports_;
};

/// The marks of an event in memory that several processes see. Each record takes the next number,
/// and its stream writes the number when it comes to it.
class SharedMarks {
 public:
  static CUresult create(Context& context, std::unique_ptr<SharedMarks>* out);
  static CUresult import(Context& context, const IpcHandle& handle,
                         std::unique_ptr<SharedMarks>* out);

  CUresult record(km::Stream& stream);
  /// The stream waits for the latest record of any process.
  CUresult wait(km::Stream& stream);
  bool is_complete() const;
  /// CUDA_ERROR_INVALID_HANDLE for an event of another process.
  CUresult handle(IpcHandle* out) const;

 private:
  struct Page;
  SharedMarks(File file, Ref<km::Memory> memory, bool is_own);
  Page& page() const;
  uint64_t address_of(uint64_t number) const;
  CUresult queue(km::Stream& stream, uint64_t waited_for, uint64_t written);

  const File file_;
  const Ref<km::Memory> memory_;
  const bool is_own_;
};

}  // namespace km::dropin
