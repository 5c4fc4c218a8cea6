// Profiles as traces in Chrome's format.
#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file/file_writer.h"
#include "core/profiler/profile_about.h"
#include "core/profiler/profile_counters.h"
#include "core/profiler/profiler.h"

namespace km {
namespace {

/// Threads of the host come after all streams.
constexpr uint32_t kThreadTracks = 1 << 24;

/// A number in JSON's format, independent of the host program's locale.
struct Number {
  char text[64];
  Number(double value, int digits) {
    *std::to_chars(text, text + sizeof text - 1, value, std::chars_format::fixed, digits).ptr = 0;
  }
};

Number in_us(uint64_t time_ns, uint64_t zero_ns) {
  return {(static_cast<double>(time_ns) - static_cast<double>(zero_ns)) / 1000.0, 3};
}

/// Quotes and escapes the text for JSON. The trace builds no arrays and objects of the JSON
/// library, because their destructors allocate memory.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

uint32_t host_track(uint32_t thread) { return thread + kThreadTracks; }

uint32_t track_of(const Profiler::Event& event) {
  return is_of_host(event.kind) ? host_track(event.track) : event.track + 1;
}

// Writes one line for each event, so that a large trace is never held in memory.
class TraceFile {
 public:
  TraceFile(FileWriter& file, uint64_t zero_ns) : file_(file), zero_ns_(zero_ns) {}
  void begin(const std::vector<Profiler::Snapshot>& profiles);
  void add(const Profiler::Snapshot& profile, int process);
  void end(const std::vector<Profiler::Snapshot>& profiles);

 private:
  void begin_line();
  void name(int process, uint32_t track, const char* what, const std::string& text);
  void add_tracks(const Profiler::Snapshot& profile, int process);
  void add_event(const Profiler::Snapshot& profile, const Profiler::Event& event, int process);
  void add_call(const Profiler::Snapshot& profile, const Profiler::Event& event, int process);
  void add_arguments(const Profiler::Snapshot& profile, const Profiler::Event& event);
  void add_memory(const Profiler::Snapshot& profile, int process);
  void add_counters(const Profiler::Row& row, int process);
  void add_counter(const Profiler::Counter& counter);
  [[gnu::format(printf, 2, 3)]] void argument(const char* format, ...);

  FileWriter& file_;
  const uint64_t zero_ns_;
  bool is_first_ = true, is_first_argument_ = true;
  uint64_t arrows_ = 0;
  // Thread and begin of the calls that are written already.
  std::set<std::pair<uint32_t, uint64_t>> calls_;
};

void TraceFile::begin(const std::vector<Profiler::Snapshot>& profiles) {
  const ProfileAbout about = about_this_profile();
  const bool is_empty =
      std::all_of(profiles.begin(), profiles.end(),
                  [](const Profiler::Snapshot& profile) { return profile.events.empty(); });
  uint64_t dropped = 0;
  for (const Profiler::Snapshot& profile : profiles) dropped += profile.dropped;
  file_.write("{\"displayTimeUnit\": \"ns\", \"otherData\": {");
  file_.write("\"program\":" + quoted(about.program) + ",\"machine\":" + quoted(about.machine) +
              ",\"date\":" + quoted(about.date) + ",\"library\":" + quoted(about.library));
  if (is_empty) file_.write(",\"empty\":" + quoted(kEmptyProfile));
  if (dropped != 0) file_.print(",\"left_out\":%" PRIu64, dropped);
  file_.write("}, \"traceEvents\": [\n");
}

void TraceFile::begin_line() {
  if (!is_first_) file_.write(",\n");
  is_first_ = false;
}

void TraceFile::name(int process, uint32_t track, const char* what, const std::string& text) {
  const std::string shown = quoted(text);
  begin_line();
  file_.print(R"({"name":"%s","ph":"M","pid":%d,"tid":%u,"args":{"name":%s}})", what, process,
              track, shown.c_str());
}

void TraceFile::add_tracks(const Profiler::Snapshot& profile, int process) {
  std::set<uint32_t> tracks;
  for (const Profiler::Event& event : profile.events) {
    if (tracks.insert(track_of(event)).second) {
      name(process, track_of(event), "thread_name",
           (is_of_host(event.kind) ? "host thread " : "stream ") + std::to_string(event.track));
    }
    if (event.call_end_ns != 0 && tracks.insert(host_track(event.call_thread)).second) {
      name(process, host_track(event.call_thread), "thread_name",
           "host thread " + std::to_string(event.call_thread));
    }
  }
}

void TraceFile::argument(const char* format, ...) {
  char text[256];
  va_list values;
  va_start(values, format);
  const int size = std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  if (!is_first_argument_) file_.write(",");
  is_first_argument_ = false;
  file_.write({text, std::min<size_t>(static_cast<size_t>(size), sizeof text - 1)});
}

void TraceFile::add_arguments(const Profiler::Snapshot& profile, const Profiler::Event& event) {
  const double seconds = static_cast<double>(event.end_ns - event.begin_ns) * 1e-9;
  is_first_argument_ = true;
  if (event.size_bytes != 0) argument("\"bytes\":%" PRIu64, event.size_bytes);
  if (event.kind == KM_PROFILE_KIND_KERNEL) {
    argument("\"occupancy\":%s", Number(static_cast<double>(event.occupancy), 4).text);
  }
  if (event.shape != 0) {
    const Profiler::Shape& shape = profile.shapes[event.shape];
    argument("\"grid\":\"%u x %u x %u\"", shape.grid[0], shape.grid[1], shape.grid[2]);
    argument("\"block\":\"%u x %u x %u\"", shape.block[0], shape.block[1], shape.block[2]);
    argument("\"dynamic_shared_bytes\":%" PRIu64, shape.shared_bytes);
  }
  if (event.operations != 0) argument("\"operations\":%" PRIu64, event.operations);
  if (event.operations != 0 && seconds > 0) {
    argument("\"GFLOP/s\":%s",
             Number(static_cast<double>(event.operations) / seconds / 1e9, 3).text);
  }
}

void TraceFile::add_event(const Profiler::Snapshot& profile, const Profiler::Event& event,
                          int process) {
  const std::string shown = quoted(profile.names[event.name]);
  begin_line();
  file_.print(R"({"name":%s,"cat":"%s","ph":"X","pid":%d,"tid":%u,"ts":%s,"dur":%s,"args":{)",
              shown.c_str(), event.is_compilation ? "compile" : profile_kind_name(event.kind),
              process, track_of(event), in_us(event.begin_ns, zero_ns_).text,
              in_us(event.end_ns, event.begin_ns).text);
  add_arguments(profile, event);
  file_.write("}}");
}

/// Writes the host's call, unless it is written already, and an arrow from it to its work.
void TraceFile::add_call(const Profiler::Snapshot& profile, const Profiler::Event& event,
                         int process) {
  const uint32_t track = host_track(event.call_thread);
  if (calls_.emplace(event.call_thread, event.call_begin_ns).second) {
    const std::string shown = quoted(profile_call_name(profile, event));
    begin_line();
    file_.print(R"({"name":%s,"cat":"call","ph":"X","pid":%d,"tid":%u,"ts":%s,"dur":%s,"args":{}})",
                shown.c_str(), process, track, in_us(event.call_begin_ns, zero_ns_).text,
                in_us(event.call_end_ns, event.call_begin_ns).text);
  }
  ++arrows_;
  begin_line();
  file_.print(R"({"name":"queued","cat":"arrow","ph":"s","id":%)" PRIu64
              R"(,"pid":%d,"tid":%u,"ts":%s})",
              arrows_, process, track, in_us(event.call_begin_ns, zero_ns_).text);
  begin_line();
  file_.print(R"({"name":"queued","cat":"arrow","ph":"f","bp":"e","id":%)" PRIu64
              R"(,"pid":%d,"tid":%u,"ts":%s})",
              arrows_, process, track_of(event), in_us(event.begin_ns, zero_ns_).text);
}

void TraceFile::add_memory(const Profiler::Snapshot& profile, int process) {
  for (const Profiler::MemorySample& sample : profile.memory) {
    begin_line();
    file_.print(R"({"name":"device memory","ph":"C","pid":%d,"ts":%s,"args":{"bytes":%)" PRIu64
                "}}",
                process, in_us(sample.time_ns, zero_ns_).text, sample.used_bytes);
  }
}

void TraceFile::add(const Profiler::Snapshot& profile, int process) {
  calls_.clear();
  name(process, 0, "process_name", profile.device);
  add_tracks(profile, process);
  for (const Profiler::Event& event : profile.events) {
    add_event(profile, event, process);
    if (event.call_end_ns != 0) add_call(profile, event, process);
  }
  add_memory(profile, process);
}

/// Writes an object such as {"event":"global load","source":"sum.cu:41","requests":8,...}.
void TraceFile::add_counter(const Profiler::Counter& counter) {
  const kmb_counts& counts = counter.counts;
  file_.print(R"({"event":"%s",)", counter_name(counter.kind));
  if (!counter.position.empty()) file_.write("\"source\":" + quoted(counter.position) + ",");
  file_.print(R"("requests":%)" PRIu64 R"(,"threads":%)" PRIu64, counts.requests, counts.threads);
  if (const char* const unit = counter_unit(counter.kind)) {
    file_.print(R"(,"%s":%)" PRIu64, unit, counts.taken);
  }
  if (counts.ideal != 0) file_.print(R"(,"ideal":%)" PRIu64, counts.ideal);
  file_.write("}");
}

void TraceFile::add_counters(const Profiler::Row& row, int process) {
  const auto add_all = [&](const std::vector<Profiler::Counter>& counters) {
    for (size_t i = 0; i < counters.size(); ++i) {
      file_.write(i == 0 ? "\n" : ",\n");
      add_counter(counters[i]);
    }
  };
  begin_line();
  file_.write("{\"kernel\":" + quoted(row.name));
  file_.print(",\"pid\":%d,\"totals\":[", process);
  add_all(totals_of(row));
  file_.write("],\"lines\":[");
  add_all(row.counters);
  file_.write("]}");
}

void TraceFile::end(const std::vector<Profiler::Snapshot>& profiles) {
  file_.write("\n], \"counters\": [\n");
  is_first_ = true;
  for (size_t p = 0; p < profiles.size(); ++p) {
    for (const Profiler::Row& row : profiles[p].rows) {
      if (!row.counters.empty()) add_counters(row, static_cast<int>(p + 1));
    }
  }
  file_.write("\n]}\n");
}

/// The earliest time, which the times of the trace are relative to.
uint64_t first_time_ns(const std::vector<Profiler::Snapshot>& profiles) {
  uint64_t first = UINT64_MAX;
  for (const Profiler::Snapshot& profile : profiles) {
    if (profile.begin_ns != 0) first = std::min(first, profile.begin_ns);
    for (const Profiler::Event& event : profile.events) {
      first = std::min(first, event.begin_ns);
      if (event.call_end_ns != 0) first = std::min(first, event.call_begin_ns);
    }
  }
  return first == UINT64_MAX ? 0 : first;
}

}  // namespace

Status write_trace(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots) {
  KM_ASSIGN(FileWriter file, FileWriter::open(path));
  TraceFile trace(file, first_time_ns(snapshots));
  trace.begin(snapshots);
  int process = 0;
  for (const Profiler::Snapshot& profile : snapshots) trace.add(profile, ++process);
  trace.end(snapshots);
  return file.commit();
}

Status write_profile(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots) {
  return path.ends_with(".html") ? write_report(path, snapshots) : write_trace(path, snapshots);
}

}  // namespace km
