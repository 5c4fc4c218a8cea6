// Profiles as traces in Chrome's format.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/profiler.h"

namespace km {
namespace {

using Json = nlohmann::ordered_json;

/// Threads of the host come after all streams.
constexpr uint32_t kThreadTracks = 1 << 24;

double in_us(uint64_t time_ns, uint64_t zero_ns) {
  return (static_cast<double>(time_ns) - static_cast<double>(zero_ns)) / 1000.0;
}

bool is_of_host(km_profile_kind kind) { return kind >= KM_PROFILE_KIND_RANGE; }

// One line per event, so that large files are made without holding them in memory.
class TraceFile {
 public:
  TraceFile(std::FILE* file, uint64_t zero_ns) : file_(file), zero_ns_(zero_ns) {
    std::fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n", file_);
  }
  void end() { std::fputs("\n]}\n", file_); }

  void add(const Profiler::Snapshot& profile, int process) {
    name(process, 0, "process_name", profile.device);
    add_tracks(profile, process);
    for (const Profiler::Event& event : profile.events) {
      add(profile, event, process);
    }
    for (const Profiler::MemorySample& sample : profile.memory) {
      line({{"name", "device memory"},
            {"ph", "C"},
            {"pid", process},
            {"ts", in_us(sample.time_ns, zero_ns_)},
            {"args", {{"bytes", sample.used_bytes}}}});
    }
  }

 private:
  void line(const Json& json) {
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::fprintf(file_, "%s%s", is_first_ ? "" : ",\n", text.c_str());
    is_first_ = false;
  }

  void name(int process, uint32_t track, const char* what, const std::string& text) {
    line({{"name", what},
          {"ph", "M"},
          {"pid", process},
          {"tid", track},
          {"args", {{"name", text}}}});
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
    Json arguments = Json::object();
    if (event.size_bytes != 0) arguments["bytes"] = event.size_bytes;
    if (event.kind == KM_PROFILE_KIND_KERNEL) {
      arguments["occupancy"] = static_cast<double>(event.occupancy);
    }
    line({{"name", profile.names[event.name]},
          {"cat", profile_kind_name(event.kind)},
          {"ph", "X"},
          {"pid", process},
          {"tid", track_of(event)},
          {"ts", in_us(event.begin_ns, zero_ns_)},
          {"dur", in_us(event.end_ns, event.begin_ns)},
          {"args", std::move(arguments)}});
  }

  std::FILE* const file_;
  const uint64_t zero_ns_;
  bool is_first_ = true;
};

Error no_file(const std::string& path) {
  return make_error(KM_ERROR_IO, "cannot write %s: %s", path.c_str(), std::strerror(errno));
}

}  // namespace

Status write_text_file(const std::string& path, const std::function<void(std::FILE*)>& write) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "we"));
  if (!file) return no_file(path);
  write(file.get());
  if (std::fflush(file.get()) != 0 || std::ferror(file.get()) != 0) return no_file(path);
  return {};
}

Status write_trace(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots) {
  uint64_t zero_ns = UINT64_MAX;
  for (const Profiler::Snapshot& profile : snapshots) {
    if (profile.begin_ns != 0) zero_ns = std::min(zero_ns, profile.begin_ns);
  }
  return write_text_file(path, [&](std::FILE* file) {
    TraceFile trace(file, zero_ns == UINT64_MAX ? 0 : zero_ns);
    int process = 0;
    for (const Profiler::Snapshot& profile : snapshots) trace.add(profile, ++process);
    trace.end();
  });
}

Status write_profile(const std::string& path, const std::vector<Profiler::Snapshot>& snapshots) {
  return path.ends_with(".html") ? write_report(path, snapshots) : write_trace(path, snapshots);
}

}  // namespace km
