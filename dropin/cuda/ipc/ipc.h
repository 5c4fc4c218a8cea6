// Memory and events shared between processes of one machine (cuIpc*).
//
// A handle names a file in memory by the exporting process and its descriptor there. Another
// process opens it through /proc, which the system permits to processes of the same user.
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

/// The layout of a handle's 64 bytes.
struct IpcHandle {
  uint64_t kind = 0;  // kIpcMemory, kIpcEvent or kIpcPool; other values are invalid
  int32_t process = 0, file = -1;
  uint64_t device = 0, inode = 0;  // identify the file, to detect a reused descriptor
  uint64_t file_size_bytes = 0, offset_bytes = 0, size_bytes = 0;
};
static_assert(sizeof(IpcHandle) <= 64);
inline constexpr uint64_t kIpcMemory = 0x31304d454d494d4bULL, kIpcEvent = 0x313056454d494d4bULL,
                          kIpcPool = 0x31304c504d494d4bULL;  // a pool, or memory from one

/// Fills in a handle's description of an open file of this process.
CUresult describe_file(int file, uint64_t kind, IpcHandle* out);
/// Opens the file of a handle. CUDA_ERROR_INVALID_VALUE if the handle is not of that kind,
/// CUDA_ERROR_INVALID_CONTEXT in the process that made it, CUDA_ERROR_INVALID_HANDLE if that
/// process has closed the file.
CUresult open_file_of(const IpcHandle& handle, uint64_t kind, File* out);

/// Maps a file into this process as device memory of a context. The mapping ends when the last
/// reference is gone and no work uses it.
CUresult map_shared(Context& context, const File& file, uint64_t file_size_bytes,
                    uint64_t offset_bytes, uint64_t size_bytes, Ref<km::Memory>* out);

/// Memory of other processes that this process has opened.
class ImportedMemory {
 public:
  static ImportedMemory& instance();
  /// Opens a handle. Repeated calls with one handle in a context return the same address, until
  /// each of them is matched by a close.
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
  /// True while the imported memory exists: the end of its context frees it.
  static bool lives(const Import& import);

  std::mutex mutex_;  // guards the members below
  std::map<Key, Import> imports_;
};

/// An event's counters in memory that several processes map. Each record takes the next number, and
/// its stream writes that number when it reaches the record.
class SharedMarks {
 public:
  static CUresult create(Context& context, std::unique_ptr<SharedMarks>* out);
  static CUresult import(Context& context, const IpcHandle& handle,
                         std::unique_ptr<SharedMarks>* out);

  CUresult record(km::Stream& stream);
  /// Makes the stream wait for the latest record by any process.
  CUresult wait(km::Stream& stream);
  bool is_complete() const;
  /// CUDA_ERROR_INVALID_HANDLE if the event was imported from another process.
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
