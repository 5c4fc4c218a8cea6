// Records of device work, as the backend reports it, and of the host's ranges, waits and memory.
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "backend/interface.h"
#include "base/result.h"
#include "core/profiler/activity.h"

namespace km {

/// The time of CLOCK_MONOTONIC, which backends use too.
uint64_t profile_time_ns();

/// The profile of one context. It outlives the context if a trace at the end of the process
/// includes it.
class Profiler {
 public:
  struct Event {
    uint64_t begin_ns = 0, end_ns = 0;
    uint64_t size_bytes = 0;
    km_profile_kind kind = KM_PROFILE_KIND_INVALID;
    uint32_t name = 0;   // index into `names`
    uint32_t track = 0;  // number of a stream or of a host thread
    float occupancy = 0;
    uint32_t shape = 0;  // a launch's index into `shapes`; index 0 is the shape of other events
    uint64_t operations = 0;                      // floating-point operations
    uint64_t call_begin_ns = 0, call_end_ns = 0;  // the host's call that queued it; 0: unknown
    uint32_t call_thread = 0;
    bool is_of_graph = false;     // the call launched a graph
    bool is_compilation = false;  // a compiler ran during this range
  };
  /// The grid, block and cluster of a launch.
  struct Shape {
    std::array<uint32_t, 3> grid{}, block{};
    uint64_t shared_bytes = 0;
    auto operator<=>(const Shape&) const = default;
  };
  struct MemorySample {
    uint64_t time_ns = 0, used_bytes = 0;
  };
  /// The events of one kind at a line of a kernel's source, or in all of the kernel.
  struct Counter {
    std::string position;  // "sum.cu:41"; empty for totals
    km_counter_kind kind = KM_COUNTER_KIND_INVALID;
    kmb_counts counts{};
    /// The sectors and wavefronts beyond the ideal, or the divergent branches.
    uint64_t excess() const { return counts.taken - counts.ideal; }
  };
  struct Row {
    km_profile_kind kind = KM_PROFILE_KIND_INVALID;
    std::string name;
    uint64_t count = 0, total_ns = 0, min_ns = UINT64_MAX, max_ns = 0;
    uint64_t size_bytes = 0, operations = 0;
    double occupancy_sum = 0;
    /// Counters of a kernel, by place and kind; empty if its warps were not counted.
    std::vector<Counter> counters;
  };
  /// A copy of the profile for writers of files.
  struct Snapshot {
    std::string device;
    std::vector<std::string> names;
    std::vector<Shape> shapes;
    std::vector<Event> events;
    std::vector<MemorySample> memory;
    std::vector<Row> rows;  // sorted by falling total time
    uint64_t dropped = 0;
    uint64_t begin_ns = 0;  // time of the first start()
  };

  /// `origin` is what the activity listener gets; the default is for profiles without a context.
  explicit Profiler(std::string device, const ActivityOrigin& origin = {})
      : device_(std::move(device)), origin_(origin) {}

  bool is_on() const { return is_on_.load(std::memory_order_relaxed); }
  void set_on(bool on);
  void clear();
  /// Sets the numbers of operations and bytes that each launch of the kernel counts for.
  void set_work(std::string_view kernel, uint64_t operations, uint64_t size_bytes);

  /// The kmb_profile_callback that backends call.
  static void record(void* profiler, const kmb_profile_record* record) noexcept;
  /// Records a compilation that the calling thread made since `begin_ns`.
  void record_compilation(std::string_view name, uint64_t begin_ns) noexcept;
  /// Records a range or wait of the calling thread.
  void record_host(km_profile_kind kind, std::string_view name, uint64_t begin_ns) noexcept;
  void memory_changed(int64_t by_bytes) noexcept;

  void push_range(std::string_view name);
  /// Returns false if the thread has no open range here.
  bool pop_range() noexcept;
  uint64_t start_range(std::string_view name);
  /// Returns false if no such range is open.
  bool end_range(uint64_t range) noexcept;

  Snapshot snapshot() const;
  std::vector<Row> rows() const;

 private:
  struct Work {
    uint64_t operations = 0, size_bytes = 0;
  };
  struct OpenRange {
    std::string name;
    uint64_t begin_ns = 0;  // 0: it began while the profiler was off
  };
  using Counters = std::map<std::pair<std::string, km_counter_kind>, kmb_counts>;

  void find_row(km_profile_kind kind, std::string_view name);
  void add_counters(const kmb_profile_record& record, uint32_t name);
  void add(Event event, std::string_view name);
  uint32_t intern(std::string_view name);
  uint32_t intern_shape(const kmb_profile_record& record);
  void add_compilation(Event event, std::string_view name);
  uint32_t track_of(uint64_t key);

  const std::string device_;
  const ActivityOrigin origin_;
  std::atomic<bool> is_on_{false};
  std::atomic<int64_t> used_bytes_{0};

  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, uint32_t, std::less<>> name_index_;
  std::vector<std::string> names_;
  std::map<Shape, uint32_t> shape_index_{{Shape(), 0}};
  std::vector<Shape> shapes_{Shape()};
  std::unordered_map<uint64_t, uint32_t> tracks_;
  std::deque<Event> events_;
  std::deque<MemorySample> memory_;
  std::map<std::pair<km_profile_kind, uint32_t>, Row> rows_;
  std::map<uint32_t, Counters> counters_;  // by the kernel's name
  std::map<std::string, Work, std::less<>> work_;
  // A cache of the last event's row and of the work of its kernel; a null row means that there is
  // none.
  struct {
    km_profile_kind kind = KM_PROFILE_KIND_INVALID;
    uint32_t name = 0;
    Row* row = nullptr;
    const Work* work = nullptr;
  } latest_;
  std::unordered_map<uint64_t, OpenRange> ranges_;
  uint64_t last_range_ = 0;
  uint64_t dropped_ = 0;
  uint64_t begin_ns_ = 0;
};

/// Records the lifetime of this object as a wait of the host.
class ProfiledWait {
 public:
  ProfiledWait(Profiler& profiler, const char* name)
      : profiler_(profiler), name_(name), begin_ns_(profiler.is_on() ? profile_time_ns() : 0) {}
  ~ProfiledWait() {
    if (begin_ns_ != 0) profiler_.record_host(KM_PROFILE_KIND_WAIT, name_, begin_ns_);
  }
  ProfiledWait(const ProfiledWait&) = delete;
  ProfiledWait& operator=(const ProfiledWait&) = delete;

 private:
  Profiler& profiler_;
  const char* const name_;
  const uint64_t begin_ns_;
};

const char* profile_kind_name(km_profile_kind kind);
/// True for ranges and waits, whose tracks are host threads.
inline bool is_of_host(km_profile_kind kind) { return kind >= KM_PROFILE_KIND_RANGE; }
/// The host's call that queued the event: "launch scale", "queue upload".
std::string profile_call_name(const Profiler::Snapshot& profile, const Profiler::Event& event);
/// The profile as a table of text.
std::string profile_summary(const Profiler& profiler);
/// Writes Chrome's trace format, which Perfetto opens too, with each snapshot as a process.
Status write_trace(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots);
/// Writes one HTML file without scripts and external resources.
Status write_report(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots);
/// Writes a report if the path ends with .html, otherwise a trace.
Status write_profile(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots);

}  // namespace km
