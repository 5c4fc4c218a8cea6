// Profiles as traces in Chrome's format.
#include <algorithm>
#include <charconv>
#include <cinttypes>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_writer.h"
#include "core/profiler/profiler.h"

namespace km {
namespace {

/// Threads of the host come after all streams.
constexpr uint32_t kThreadTracks = 1 << 24;

/// A number as JSON has it, whatever locale the host program has set.
struct Number {
  char text[64];
  Number(double value, int digits) {
    *std::to_chars(text, text + sizeof text - 1, value, std::chars_format::fixed, digits).ptr = 0;
  }
};

Number in_us(uint64_t time_ns, uint64_t zero_ns) {
  return {(static_cast<double>(time_ns) - static_cast<double>(zero_ns)) / 1000.0, 3};
}

bool is_of_host(km_profile_kind kind) { return kind >= KM_PROFILE_KIND_RANGE; }

/// The text as a string of JSON. Only values of this kind are made: the destructors of arrays and
/// objects allocate memory.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// One line per event, so that large files are made without holding them in memory.
class TraceFile {
 public:
  TraceFile(FileWriter& file, uint64_t zero_ns) : file_(file), zero_ns_(zero_ns) {
    file_.write("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n");
  }
  void end() { file_.write("\n]}\n"); }

  void add(const Profiler::Snapshot& profile, int process) {
    name(process, 0, "process_name", profile.device);
    add_tracks(profile, process);
    for (const Profiler::Event& event : profile.events) {
      add(profile, event, process);
    }
    for (const Profiler::MemorySample& sample : profile.memory) {
      begin_line();
      file_.print(R"({"name":"device memory","ph":"C","pid":%d,"ts":%s,"args":{"bytes":%)" PRIu64
                  "}}",
                  process, in_us(sample.time_ns, zero_ns_).text, sample.used_bytes);
    }
  }

 private:
  void begin_line() {
    if (!is_first_) file_.write(",\n");
    is_first_ = false;
  }

  void name(int process, uint32_t track, const char* what, const std::string& text) {
    const std::string shown = quoted(text);
    begin_line();
    file_.print(R"({"name":"%s","ph":"M","pid":%d,"tid":%u,"args":{"name":%s}})", what, process,
                track, shown.c_str());
  }

  static uint32_t track_of(const Profiler::Event& event) {
    return is_of_host(event.kind) ? event.track + kThreadTracks : event.track + 1;
  }

  void add_tracks(const Profiler::Snapshot& profile, int process) {
    std::set<uint32_t> tracks;
    for (const Profiler::Event& event : profile.events) {
      const uint32_t track = track_of(event);
      if (!tracks.insert(track).second) continue;
      name(process, track, "thread_name",
           is_of_host(event.kind) ? "host thread " + std::to_string(event.track)
                                  : "stream " + std::to_string(event.track));
    }
  }

  void add(const Profiler::Snapshot& profile, const Profiler::Event& event, int process) {
    const std::string shown = quoted(profile.names[event.name]);
    begin_line();
    file_.print(R"({"name":%s,"cat":"%s","ph":"X","pid":%d,"tid":%u,"ts":%s,"dur":%s)",
                shown.c_str(), profile_kind_name(event.kind), process, track_of(event),
                in_us(event.begin_ns, zero_ns_).text, in_us(event.end_ns, event.begin_ns).text);
    file_.write(",\"args\":{");
    if (event.size_bytes != 0) file_.print("\"bytes\":%" PRIu64, event.size_bytes);
    if (event.kind == KM_PROFILE_KIND_KERNEL) {
      file_.print("%s\"occupancy\":%s", event.size_bytes != 0 ? "," : "",
                  Number(static_cast<double>(event.occupancy), 4).text);
    }
    file_.write("}}");
  }

  FileWriter& file_;
  const uint64_t zero_ns_;
  bool is_first_ = true;
};

}  // namespace

Status write_trace(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots) {
  uint64_t zero_ns = UINT64_MAX;
  for (const Profiler::Snapshot& profile : snapshots) {
    if (profile.begin_ns != 0) zero_ns = std::min(zero_ns, profile.begin_ns);
  }
  KM_ASSIGN(FileWriter file, FileWriter::open(path));
  TraceFile trace(file, zero_ns == UINT64_MAX ? 0 : zero_ns);
  int process = 0;
  for (const Profiler::Snapshot& profile : snapshots) trace.add(profile, ++process);
  trace.end();
  return file.commit();
}

Status write_profile(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots) {
  return path.ends_with(".html") ? write_report(path, snapshots) : write_trace(path, snapshots);
}

}  // namespace km
