#include "tools/explain/notes.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text.h"

namespace km::tools {

namespace {

constexpr std::string_view kLines = "==== lines of ", kSamples = "==== samples of ";
using Lines = std::map<std::pair<std::string, uint32_t>, NotedLine>;

void add(const std::vector<std::string>& fields, Lines* lines) {
  const auto number = static_cast<uint32_t>(std::strtoul(fields[2].c_str(), nullptr, 10));
  NotedLine& line = (*lines)[{fields[1], number}];
  line.file = fields[1];
  line.line = number;
  const double cost = std::strtod(fields[3].c_str(), nullptr);
  const std::string& text = fields[4];
  line.cost += cost;
  auto same = std::find_if(line.notes.begin(), line.notes.end(), [&](const Note& note) {
    return note.kind == fields[0] && note.text == text;
  });
  if (same == line.notes.end()) same = line.notes.insert(same, {fields[0], text, 0, 0});
  same->cost += cost;
  ++same->count;
}

NotedKernel kernel_of(std::string symbol, const std::vector<std::string>& head, Lines lines) {
  NotedKernel kernel;
  kernel.symbol = std::move(symbol);
  kernel.mode = head[1];
  kernel.lanes = static_cast<uint32_t>(std::strtoul(head[2].c_str(), nullptr, 10));
  kernel.reason = head[3];
  kernel.cost = 1e-9;
  for (auto& [place, line] : lines) {
    kernel.cost += line.cost;
    kernel.lines.push_back(std::move(line));
  }
  return kernel;
}

NotedKernel* find(const std::string& symbol, std::vector<NotedKernel>* kernels) {
  const auto found = std::find_if(kernels->begin(), kernels->end(), [&](const NotedKernel& kernel) {
    return kernel.symbol == symbol;
  });
  return found == kernels->end() ? nullptr : &*found;
}

/// Lines that have samples and no notes, such as those of hoisted code, are added. Line 0 stands
/// for the engine's functions.
void add_samples(const std::string& file, uint32_t line, uint32_t count, NotedKernel* kernel) {
  kernel->samples += count;
  if (line == 0) {
    kernel->engine_samples += count;
    return;
  }
  const auto is_before = [&](const NotedLine& each) {
    return std::tie(each.file, each.line) < std::tie(file, line);
  };
  const auto at = std::partition_point(kernel->lines.begin(), kernel->lines.end(), is_before);
  if (at != kernel->lines.end() && at->file == file && at->line == line) {
    at->samples += count;
    return;
  }
  NotedLine added;
  added.file = file;
  added.line = line;
  added.samples = count;
  kernel->lines.insert(at, std::move(added));
}

/// Puts a kernel in the place of a former variant, whose samples it gets: a module that is loaded
/// again and again has its kernels compiled each time.
void put(NotedKernel kernel, std::vector<NotedKernel>* kernels) {
  NotedKernel* const former = find(kernel.symbol, kernels);
  if (former == nullptr) return kernels->push_back(std::move(kernel));
  for (const NotedLine& line : former->lines) {
    if (line.samples != 0) add_samples(line.file, line.line, line.samples, &kernel);
  }
  if (former->engine_samples != 0) add_samples({}, 0, former->engine_samples, &kernel);
  *former = std::move(kernel);
}

/// Adds the samples of a line "sample", file, line, count.
void add_samples(const std::vector<std::string>& fields, NotedKernel* kernel) {
  const auto number = [&](size_t i) {
    return static_cast<uint32_t>(std::strtoul(fields[i].c_str(), nullptr, 10));
  };
  add_samples(fields[1], number(2), number(3), kernel);
}

const char* advice_on(const std::string& kind) {
  static const std::map<std::string, const char*> kTexts = {
      {"strided",
       "neighbouring threads are apart, so that each moves its element alone: let threadIdx.x "
       "choose the last index, or turn an array of structs into one array for each member"},
      {"gathered",
       "the threads' addresses have no known distance: index by threadIdx.x plus what is one for "
       "the warp, without dividing the thread's index; or load rows in order into shared memory"},
      {"local",
       "an array of each thread's own lies in memory: index it by what is one for the warp, with "
       "elements of one size, and it is contiguous; by constants, in loops that unroll, and it "
       "stays in registers"},
      {"loop",
       "a warp goes round until its last thread leaves the loop: give the threads of a warp "
       "work of equal length, or a warp to each row"},
      {"branch",
       "both sides run one after the other: decide by what is one for the warp, such as blockIdx "
       "or threadIdx.x / 32, or compute both and choose"},
      {"atomic",
       "threads take turns: add up within the warp or block first, by shuffles or in shared "
       "memory, and do one atomic operation for each block"},
      {"atomic-shared",
       "threads take turns: give each warp a copy in shared memory, or add up by shuffles first"},
      {"division",
       "a division takes tens of instructions: make the divisor a constant or a template "
       "parameter, or use two dimensions of blocks instead of dividing a flat index"},
      {"call",
       "a call stays one, because it is recursive, indirect or large: a template parameter in "
       "place of a function pointer lets it be compiled in"},
  };
  const auto found = kTexts.find(kind);
  return found == kTexts.end() ? nullptr : found->second;
}

}  // namespace

std::vector<NotedKernel> notes_of(const std::string& dump) {
  std::vector<NotedKernel> kernels;
  std::string symbol;
  std::vector<std::string> head;
  Lines lines;
  NotedKernel* sampled = nullptr;
  const auto end_kernel = [&] {
    if (!head.empty()) put(kernel_of(symbol, head, std::exchange(lines, {})), &kernels);
    head.clear();
  };
  std::istringstream in(dump);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> fields = split(line, '\t');
    if (line.starts_with(kLines)) {
      end_kernel();
      symbol = line.substr(kLines.size());
    } else if (line.starts_with(kSamples)) {
      end_kernel();
      sampled = find(line.substr(kSamples.size()), &kernels);
    } else if (fields.size() == 4 && fields[0] == "sample") {
      if (sampled != nullptr) add_samples(fields, sampled);
    } else if (fields.size() == 4 && fields[0] == "plan") {
      head = fields;
    } else if (fields.size() == 5 && !head.empty()) {
      add(fields, &lines);
    }
  }
  end_kernel();
  return kernels;
}

std::string main_file(const NotedKernel& kernel) {
  std::map<std::string, double> costs;
  for (const NotedLine& line : kernel.lines) costs[line.file] += kernel.share(line);
  const auto most = std::max_element(
      costs.begin(), costs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == costs.end() ? "" : most->first;
}

std::string text_of(const Note& note) {
  if (note.text.empty() || note.count == 1) return note.text;
  return note.text + " (" + std::to_string(note.count) + " times)";
}

std::string place_of(const NotedLine& line) {
  const std::string number = std::to_string(line.line);
  return line.file.empty() ? "PTX line " + number : line.file + ":" + number;
}

std::vector<Advice> advise(const NotedKernel& kernel) {
  constexpr double kLeastShare = 0.05;
  std::vector<Advice> advice;
  for (const NotedLine& line : kernel.lines) {
    std::map<std::string, double> costs;  // by kind: loads and stores of one form are one advice
    for (const Note& note : line.notes) costs[note.kind] += note.cost;
    for (const auto& [kind, cost] : costs) {
      const char* const text = advice_on(kind);
      // A branch costs what its sides do, which lie on other lines.
      const bool parts = kind == "loop" || kind == "branch";
      const double share = kernel.share(line) * (parts ? 1 : cost / line.cost);
      if (text == nullptr || share < (parts ? kLeastShare / 5 : kLeastShare)) continue;
      advice.push_back({share, place_of(line), text});
    }
  }
  std::stable_sort(advice.begin(), advice.end(),
                   [](const Advice& a, const Advice& b) { return a.share > b.share; });
  if (kernel.mode == "c") {
    advice.insert(advice.begin(),
                  {1, "the kernel",
                   "each thread runs alone, without vectors: take what waits for other threads out "
                   "of code that only some threads of a warp reach"});
  }
  return advice;
}

}  // namespace km::tools
