#include "core/profiler/profiler.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "backend/counts.h"
#include "base/assert.h"
#include "base/check/source_position.h"
#include "base/thread/clock.h"
#include "base/thread/thread_object.h"

namespace km {
namespace {

/// After this many events, the table still counts further ones, but the trace omits them and says
/// how many.
constexpr size_t kMostEvents = 1 << 20;
/// Distinguishes tracks of host threads from tracks of streams.
constexpr uint64_t kThreadKey = uint64_t{1} << 63;

uint64_t thread_key() {
  static thread_local const auto id = static_cast<uint64_t>(syscall(SYS_gettid));
  return kThreadKey | id;
}

/// The open ranges of this thread in all contexts.
struct ThreadRange {
  const Profiler* profiler;
  std::string name;
  uint64_t begin_ns;
};
using ThreadRanges = ThreadObject<std::vector<ThreadRange>>;

}  // namespace

uint64_t profile_time_ns() { return now_ns(); }

const char* profile_kind_name(km_profile_kind kind) {
  constexpr const char* kNames[] = {"invalid", "kernel",   "copy",  "upload", "download",
                                    "fill",    "callback", "range", "wait"};
  KM_ASSERT(static_cast<size_t>(kind) < std::size(kNames), "each kind of record has its name");
  return kNames[kind];
}

std::string profile_call_name(const Profiler::Snapshot& profile, const Profiler::Event& event) {
  if (event.is_of_graph) return "launch graph";
  const bool is_kernel = event.kind == KM_PROFILE_KIND_KERNEL;
  return (is_kernel ? "launch " : "queue ") + profile.names[event.name];
}

void Profiler::set_on(bool on) {
  const std::lock_guard lock(mutex_);
  if (on && begin_ns_ == 0) begin_ns_ = profile_time_ns();
  is_on_.store(on, std::memory_order_relaxed);
}

void Profiler::clear() {
  const std::lock_guard lock(mutex_);
  events_.clear();
  memory_.clear();
  rows_.clear();
  counters_.clear();
  latest_.row = nullptr;
  dropped_ = 0;
  begin_ns_ = is_on() ? profile_time_ns() : 0;
}

void Profiler::set_work(std::string_view kernel, uint64_t operations, uint64_t size_bytes) {
  const std::lock_guard lock(mutex_);
  work_[std::string(kernel)] = {operations, size_bytes};
  latest_.row = nullptr;
}

uint32_t Profiler::intern(std::string_view name) {
  const auto found = name_index_.find(name);
  if (found != name_index_.end()) return found->second;
  names_.emplace_back(name);
  const auto index = static_cast<uint32_t>(names_.size() - 1);
  name_index_.emplace(names_.back(), index);
  return index;
}

uint32_t Profiler::intern_shape(const kmb_profile_record& record) {
  if (record.grid[0] == 0) return 0;
  Shape shape;
  std::copy_n(record.grid, 3, shape.grid.begin());
  std::copy_n(record.block, 3, shape.block.begin());
  shape.shared_bytes = record.shared_bytes;
  const auto found = shape_index_.find(shape);
  if (found != shape_index_.end()) return found->second;
  // The list grows first: if there is no memory for the index, the list only has an unused shape.
  shapes_.push_back(shape);
  const auto index = static_cast<uint32_t>(shapes_.size() - 1);
  shape_index_.emplace(shape, index);
  KM_ASSERT(shape_index_.size() <= shapes_.size(), "an index of shapes leads into their list");
  return index;
}

uint32_t Profiler::track_of(uint64_t key) {
  if ((key & kThreadKey) != 0) return static_cast<uint32_t>(key);
  return tracks_.try_emplace(key, static_cast<uint32_t>(tracks_.size())).first->second;
}

/// The last row is tried first, because most events repeat the one before.
void Profiler::find_row(km_profile_kind kind, std::string_view name) {
  const bool found = latest_.row != nullptr && latest_.kind == kind && names_[latest_.name] == name;
  if (found) return;
  const uint32_t index = intern(name);
  const auto work = kind == KM_PROFILE_KIND_KERNEL ? work_.find(name) : work_.end();
  latest_ = {kind, index, &rows_[{kind, index}], work != work_.end() ? &work->second : nullptr};
}

/// The caller must hold the lock.
void Profiler::add(Event event, std::string_view name) {
  find_row(event.kind, name);
  event.name = latest_.name;
  KM_ASSERT(event.begin_ns <= event.end_ns, "an event ends after its begin, by one clock");
  const uint64_t duration = event.end_ns - event.begin_ns;
  Row& row = *latest_.row;
  if (latest_.work != nullptr) {
    event.operations = latest_.work->operations;
    event.size_bytes = latest_.work->size_bytes;
  }
  ++row.count;
  row.total_ns += duration;
  row.min_ns = std::min(row.min_ns, duration);
  row.max_ns = std::max(row.max_ns, duration);
  row.size_bytes += event.size_bytes;
  row.operations += event.operations;
  row.occupancy_sum += static_cast<double>(event.occupancy);
  if (events_.size() < kMostEvents) {
    events_.push_back(event);
  } else {
    ++dropped_;
  }
}

void Profiler::record(void* profiler, const kmb_profile_record* record) noexcept {
  auto* self = static_cast<Profiler*>(profiler);
  if (const ActivityListener listener = activity_listener()) listener(self->origin_, *record);
  if (!self->is_on()) return;
  Event event;
  event.begin_ns = record->begin_ns;
  event.end_ns = record->end_ns;
  event.size_bytes = record->size_bytes;
  event.kind = record->kind;
  event.occupancy = record->occupancy;
  event.operations = record->operations;
  event.call_begin_ns = record->call_begin_ns;
  event.call_end_ns = record->call_end_ns;
  event.call_thread = record->host_thread;
  event.is_of_graph = record->is_of_graph != 0;
  const std::string_view name =
      record->name != nullptr ? record->name : profile_kind_name(record->kind);
  const std::lock_guard lock(self->mutex_);
  try {
    if (record->stream == nullptr) {
      event.track = record->host_thread;
      self->add_compilation(event, name);
      return;
    }
    event.track = self->track_of(reinterpret_cast<uint64_t>(record->stream));
    event.shape = self->intern_shape(*record);
    self->add(event, name);
    if (record->counter_count != 0) self->add_counters(*record, self->latest_.name);
  } catch (const std::bad_alloc&) {
    ++self->dropped_;
  }
}

/// Adds up the counters of each line of the source, of which the code may have several copies. The
/// caller must hold the lock.
void Profiler::add_counters(const kmb_profile_record& record, uint32_t name) {
  Counters& all = counters_[name];
  for (uint64_t i = 0; i < record.counter_count; ++i) {
    const kmb_counter& counter = record.counters[i];
    add_counts(counter.counts, all[{SourcePosition::of(counter.position).text, counter.kind}]);
  }
}

/// The caller must hold the lock.
void Profiler::add_compilation(Event event, std::string_view name) {
  event.kind = KM_PROFILE_KIND_RANGE;
  event.is_compilation = true;
  add(event, "compile " + std::string(name));
}

void Profiler::record_compilation(std::string_view name, uint64_t begin_ns) noexcept {
  if (!is_on()) return;
  Event event;
  event.begin_ns = begin_ns;
  event.end_ns = profile_time_ns();
  event.track = track_of(thread_key());
  const std::lock_guard lock(mutex_);
  try {
    add_compilation(event, name);
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
}

void Profiler::record_host(km_profile_kind kind, std::string_view name,
                           uint64_t begin_ns) noexcept {
  if (!is_on()) return;
  Event event;
  event.begin_ns = begin_ns;
  event.end_ns = profile_time_ns();
  event.kind = kind;
  const std::lock_guard lock(mutex_);
  try {
    event.track = track_of(thread_key());
    add(event, name);
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
}

void Profiler::memory_changed(int64_t by_bytes) noexcept {
  const int64_t used = used_bytes_.fetch_add(by_bytes, std::memory_order_relaxed) + by_bytes;
  if (!is_on()) return;
  const std::lock_guard lock(mutex_);
  try {
    if (memory_.size() < kMostEvents) {
      memory_.push_back({profile_time_ns(), static_cast<uint64_t>(std::max<int64_t>(used, 0))});
    }
  } catch (const std::bad_alloc&) {
    ++dropped_;
  }
}

void Profiler::push_range(std::string_view name) {
  ThreadRanges::get().push_back({this, std::string(name), is_on() ? profile_time_ns() : 0});
}

bool Profiler::pop_range() noexcept {
  std::vector<ThreadRange>* const ranges = ThreadRanges::find();
  if (ranges == nullptr) return false;
  const auto last = std::find_if(ranges->rbegin(), ranges->rend(),
                                 [this](const ThreadRange& r) { return r.profiler == this; });
  if (last == ranges->rend()) return false;
  if (last->begin_ns != 0) record_host(KM_PROFILE_KIND_RANGE, last->name, last->begin_ns);
  ranges->erase(std::next(last).base());
  return true;
}

uint64_t Profiler::start_range(std::string_view name) {
  OpenRange range{std::string(name), is_on() ? profile_time_ns() : 0};
  const std::lock_guard lock(mutex_);
  ranges_.emplace(last_range_ + 1, std::move(range));
  return ++last_range_;
}

bool Profiler::end_range(uint64_t range) noexcept {
  OpenRange open;
  {
    const std::lock_guard lock(mutex_);
    const auto found = ranges_.find(range);
    if (found == ranges_.end()) return false;
    open = std::move(found->second);
    ranges_.erase(found);
  }
  if (open.begin_ns != 0) record_host(KM_PROFILE_KIND_RANGE, open.name, open.begin_ns);
  return true;
}

/// Rows sorted by falling total time, with ranges and waits of the host last.
std::vector<Profiler::Row> Profiler::rows() const {
  std::vector<Row> rows;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, row] : rows_) {
      rows.push_back(row);
      rows.back().kind = key.first;
      rows.back().name = names_[key.second];
      const auto counted = counters_.find(key.second);
      if (key.first != KM_PROFILE_KIND_KERNEL || counted == counters_.end()) continue;
      for (const auto& [place, counts] : counted->second) {
        rows.back().counters.push_back({place.first, place.second, counts});
      }
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    const bool a_host = is_of_host(a.kind), b_host = is_of_host(b.kind);
    if (a_host != b_host) return b_host;
    return a.total_ns > b.total_ns;
  });
  return rows;
}

Profiler::Snapshot Profiler::snapshot() const {
  Snapshot result;
  result.rows = rows();
  result.device = device_;
  const std::lock_guard lock(mutex_);
  result.names = names_;
  result.shapes = shapes_;
  result.events.assign(events_.begin(), events_.end());
  result.memory.assign(memory_.begin(), memory_.end());
  result.dropped = dropped_;
  result.begin_ns = begin_ns_;
  return result;
}

}  // namespace km
