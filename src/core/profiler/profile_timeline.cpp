// The timeline of a profile as HTML, with a lane for each stream and thread. Widths are
// percentages, so that a style sheet alone can zoom.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/printable.h"
#include "core/profiler/profile_text.h"

namespace km {
namespace {

/// A page with more shapes opens slowly.
constexpr size_t kMostShapes = 4000;
/// With more calls than this, arrows hide each other.
constexpr size_t kMostArrows = 300;
/// Heights in the style sheet: the axis above all lanes, and a lane's label.
constexpr double kAxisPixels = 20, kLabelPixels = 17;
constexpr double kRowPixels = 18;
/// Boxes with at least this share of the width show their name.
constexpr double kNamedShare = 0.015;
constexpr uint32_t kZooms[] = {1, 4, 16, 64};

struct Span {
  uint64_t begin_ns = UINT64_MAX, end_ns = 0;
  void include(uint64_t from_ns, uint64_t to_ns) {
    begin_ns = std::min(begin_ns, from_ns);
    end_ns = std::max(end_ns, to_ns);
  }
  double length_ns() const { return static_cast<double>(std::max<uint64_t>(end_ns - begin_ns, 1)); }
  /// The position of a time in percent.
  double percent(uint64_t time_ns) const {
    return 100 * static_cast<double>(time_ns - begin_ns) / length_ns();
  }
  bool is_empty() const { return begin_ns > end_ns; }
};

using Call = std::pair<uint32_t, uint64_t>;  // thread and begin of the call
struct Box {
  uint64_t begin_ns, end_ns;
  const char* kind;
  std::string name, about;
  Call call{};  // the call that queued the work, or that the box shows
  bool has_call = false, is_call = false;
  uint32_t depth = 0;
};
struct Lane {
  std::vector<Box> boxes;
  uint32_t rows = 0;
  double top = 0;  // top of the first row in pixels
};
using Track = std::pair<bool, uint32_t>;  // true for host threads; the track's number
using Lanes = std::map<Track, Lane>;

const char* class_of(const Profiler::Event& event) {
  return event.is_compilation ? "compile" : profile_kind_name(event.kind);
}

/// The event's properties other than its time: ", grid 16 x 1 x 1, 4.00 KiB, 3.20 GFLOP/s".
std::string details(const Profiler::Snapshot& profile, const Profiler::Event& event) {
  std::string text;
  if (event.shape != 0) {
    const auto& [grid, block, shared_bytes] = profile.shapes[event.shape];
    append_format(&text, ", grid %u x %u x %u, block %u x %u x %u", grid[0], grid[1], grid[2],
                  block[0], block[1], block[2]);
    if (shared_bytes != 0) text += ", " + bytes_text(shared_bytes) + " of dynamic shared memory";
  }
  const uint64_t length_ns = event.end_ns - event.begin_ns;
  if (event.size_bytes != 0) {
    text += ", " + bytes_text(event.size_bytes) + ", " +
            giga_per_second(event.size_bytes, length_ns) + " GB/s";
  }
  if (event.operations != 0) {
    text += ", " + giga_per_second(event.operations, length_ns) + " GFLOP/s";
  }
  return text;
}

Lanes lanes_of(const Profiler::Snapshot& profile) {
  Lanes lanes;
  std::set<Call> calls;
  for (size_t i = 0; i < std::min(profile.events.size(), kMostShapes); ++i) {
    const Profiler::Event& event = profile.events[i];
    const Call call(event.call_thread, event.call_begin_ns);
    const bool has_call = event.call_end_ns != 0;
    lanes[{is_of_host(event.kind), event.track}].boxes.push_back(
        {event.begin_ns, event.end_ns, class_of(event), profile.names[event.name],
         details(profile, event), call, has_call});
    if (!has_call || !calls.insert(call).second) continue;
    lanes[{true, event.call_thread}].boxes.push_back({event.call_begin_ns, event.call_end_ns,
                                                      "call", profile_call_name(profile, event),
                                                      ", the host's call", call, true, true});
  }
  return lanes;
}

/// Assigns rows so that overlapping boxes lie below each other; returns the number of rows.
uint32_t stack(std::vector<Box>* boxes) {
  std::stable_sort(boxes->begin(), boxes->end(), [](const Box& a, const Box& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
  });
  std::vector<uint64_t> ends;  // end of the last box in each row
  for (Box& box : *boxes) {
    const auto free = std::find_if(ends.begin(), ends.end(),
                                   [&](uint64_t end_ns) { return end_ns <= box.begin_ns; });
    box.depth = static_cast<uint32_t>(free - ends.begin());
    if (free == ends.end()) ends.push_back(0);
    ends[box.depth] = box.end_ns;
  }
  return static_cast<uint32_t>(ends.size());
}

/// Assigns rows and positions to the lanes, which lie below the axis, each under its label.
void arrange(Lanes* lanes) {
  double top = kAxisPixels;
  for (auto& [track, lane] : *lanes) {
    lane.rows = stack(&lane.boxes);
    lane.top = top + kLabelPixels;
    top = lane.top + kRowPixels * lane.rows;
  }
}

void append_box(const Box& box, const Span& span, std::string* out) {
  const double x = span.percent(box.begin_ns), width = span.percent(box.end_ns) - x;
  const double y = kRowPixels * box.depth;
  const bool is_named = width >= 100 * kNamedShare;
  append_format(out,
                "<rect class=\"%s%s\" x=\"%.4f%%\" y=\"%.0f\" width=\"%.4f%%\" height=\"%.0f\">",
                box.kind, is_named ? " named" : "", x, y + 1, width, kRowPixels - 3);
  *out += "<title>" + escape_html(box.name) + ": " + time_text(box.end_ns - box.begin_ns) + " at " +
          time_text(box.begin_ns - span.begin_ns) + escape_html(box.about) + "</title></rect>\n";
  if (!is_named) return;
  // A nested svg element clips the name at the end of its box.
  append_format(out,
                "<svg class=\"name\" x=\"%.4f%%\" y=\"%.0f\" width=\"%.4f%%\" height=\"%.0f\">", x,
                y, width, kRowPixels);
  *out += "<text x=\"4\" y=\"12\">" + escape_html(box.name) + "</text></svg>\n";
}

void append_lane(const Track& track, const Lane& lane, const Span& span, std::string* out) {
  append_format(out,
                "<div class=\"lane\"><div class=\"label\">%s %u</div>\n"
                "<svg class=\"timeline\" height=\"%.0f\">\n",
                track.first ? "host thread" : "stream", track.second, kRowPixels * lane.rows);
  for (const Box& box : lane.boxes) append_box(box, span, out);
  *out += "</svg></div>\n";
}

/// The smallest of 1, 2 and 5 times a power of ten that is at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(std::max(least, 1.0))));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

/// Appends the marks of the axis, about six per visible width at each zoom.
void append_axis(const Span& span, std::string* out) {
  constexpr double kMarks = 6;
  *out += "<svg class=\"axis\">\n";
  for (const uint32_t zoom : kZooms) {
    const double step = round_step(span.length_ns() / (kMarks * zoom));
    append_format(out, "<g class=\"at%u\">", zoom);
    for (double time = 0; time <= span.length_ns(); time += step) {
      const double x = 100 * time / span.length_ns();
      append_format(out, "<line x1=\"%.4f%%\" x2=\"%.4f%%\" y1=\"16\" y2=\"100%%\"></line>", x, x);
      const char* const side = x > 100 - 12.0 / zoom ? " text-anchor=\"end\"" : "";
      append_format(out, "<text x=\"%.4f%%\" y=\"12\"%s>%s</text>", x, side,
                    time_text(static_cast<uint64_t>(time)).c_str());
    }
    *out += "</g>\n";
  }
  *out += "</svg>\n";
}

/// Draws a line from each call of the host to the work that it queued. It ends in a dot, and boxes
/// cover it.
void append_arrows(const Lanes& lanes, const Span& span, std::string* out) {
  std::map<Call, double> places;  // the upper edge of each call
  for (const auto& [track, lane] : lanes) {
    for (const Box& box : lane.boxes) {
      if (box.is_call) places[box.call] = lane.top + kRowPixels * box.depth;
    }
  }
  if (places.size() > kMostArrows) return;
  *out += "<svg class=\"arrows\">\n";
  for (const auto& [track, lane] : lanes) {
    for (const Box& box : lane.boxes) {
      if (!box.has_call || box.is_call) continue;
      const double x = span.percent(box.begin_ns), y = lane.top + kRowPixels * (box.depth + 1) - 2;
      append_format(out,
                    "<line x1=\"%.4f%%\" y1=\"%.0f\" x2=\"%.4f%%\" y2=\"%.0f\"></line>"
                    "<circle cx=\"%.4f%%\" cy=\"%.0f\" r=\"2\"></circle>\n",
                    span.percent(box.call.second), places[box.call], x, y, x, y);
    }
  }
  *out += "</svg>\n";
}

void append_memory(const Profiler::Snapshot& profile, const Span& span, std::string* out) {
  if (profile.memory.empty()) return;
  uint64_t most = 1;
  for (const Profiler::MemorySample& sample : profile.memory) {
    most = std::max(most, sample.used_bytes);
  }
  *out += "<div class=\"lane\"><div class=\"label\">device memory in use, 0 to " +
          bytes_text(most) +
          "</div>\n<svg class=\"memory-plot\" viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" "
          "height=\"70\"><path class=\"memory\" d=\"M0 98";
  const size_t step = profile.memory.size() / kMostShapes + 1;
  for (size_t i = 0; i < profile.memory.size(); i += step) {
    const Profiler::MemorySample& sample = profile.memory[i];
    append_format(out, " H%.4f V%.2f", span.percent(sample.time_ns),
                  98 - 94 * static_cast<double>(sample.used_bytes) / static_cast<double>(most));
  }
  *out += " H100\"></path></svg></div>\n";
}

Span span_of(const Profiler::Snapshot& profile, const Lanes& lanes) {
  Span span;
  for (const auto& [track, lane] : lanes) {
    for (const Box& box : lane.boxes) span.include(box.begin_ns, box.end_ns);
  }
  for (const Profiler::MemorySample& sample : profile.memory) {
    span.include(sample.time_ns, sample.time_ns);
  }
  return span;
}

}  // namespace

void append_timeline(const Profiler::Snapshot& profile, size_t number, std::string* out) {
  Lanes lanes = lanes_of(profile);
  arrange(&lanes);
  const Span span = span_of(profile, lanes);
  if (span.is_empty()) return;
  *out += "<h3>Timeline: " + time_text(span.end_ns - span.begin_ns) + "</h3>\n";
  if (profile.events.size() > kMostShapes) {
    append_format(out, "<p>The first %zu of %zu events; a trace has all.</p>\n", kMostShapes,
                  profile.events.size());
  }
  *out += "<div class=\"plot\"><span class=\"zoom\">zoom</span>\n";
  for (const uint32_t zoom : kZooms) {
    append_format(out,
                  "<input type=\"radio\" name=\"zoom%zu\" id=\"zoom%zu-%u\" class=\"by%u\"%s>"
                  "<label for=\"zoom%zu-%u\">%u x</label>\n",
                  number, number, zoom, zoom, zoom == 1 ? " checked" : "", number, zoom, zoom);
  }
  *out += "<div class=\"scroll\"><div class=\"canvas\">\n";
  append_axis(span, out);
  append_arrows(lanes, span, out);
  for (const auto& [track, lane] : lanes) append_lane(track, lane, span, out);
  append_memory(profile, span, out);
  *out += "</div></div></div>\n";
}

}  // namespace km
