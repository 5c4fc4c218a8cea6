#include "caller.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace km::fuzz {

size_t row_of(const Api& api, const char* name) {
  const auto rows = api.rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (std::strcmp(rows[i].name, name) == 0) return i;
  }
  std::fprintf(stderr, "no function is called %s\n", name);
  std::abort();
}

namespace {

constexpr uint8_t kUntouched = 0xa5;

thread_local unsigned t_depth = 0;

/// The memory for the arguments of this thread's calls, by nesting.
CallMemory& memory_at(unsigned depth) {
  thread_local std::vector<std::unique_ptr<CallMemory>> all;
  while (all.size() <= depth) all.push_back(std::make_unique<CallMemory>());
  return *all[depth];
}

bool is_pointer(Kind kind) {
  switch (kind) {
    case Kind::kHandle:
    case Kind::kAddress:
    case Kind::kNumber:
    case Kind::kEnumerator:
    case Kind::kCallback:
    case Kind::kUserData:
    case Kind::kReal:
      return false;
    default:
      return true;
  }
}

/// How much a pointer's memory can hold.
size_t most_elements(const Parameter& parameter) {
  constexpr size_t kMostEntries = 512;
  switch (parameter.kind) {
    case Kind::kText:
    case Kind::kData:
    case Kind::kRoom:
      return SIZE_MAX;  // these say themselves how much there is
    case Kind::kPages:
      return HostMemory::kPagesBytes;
    case Kind::kOutput:
    case Kind::kSizedOutput:
    case Kind::kOutText:
      return CallMemory::kPieceBytes / (2 * parameter.size_bytes + 8);  // sizes may be wrong
    default:
      return std::min(CallMemory::kPieceBytes / parameter.size_bytes, kMostEntries);
  }
}

bool takes_handle(const Row& row) {
  for (const Parameter& parameter : row.all()) {
    if (parameter.kind == Kind::kHandle) return true;
  }
  return false;
}

uint64_t mixed(uint64_t a, uint64_t b, uint64_t c) {
  Random random(a ^ (b << 48) ^ (c * 0x2545f4914f6cdd1d));
  return random.next();
}

void* as_pointer(Word word) { return reinterpret_cast<void*>(word); }  // NOLINT: it is one
Word as_word(const void* pointer) { return reinterpret_cast<Word>(pointer); }

}  // namespace

Caller::Caller(Api& api, Shared& shared, Journal& journal, const Options& options, size_t thread)
    : api_(api),
      shared_(shared),
      journal_(journal),
      options_(options),
      log_(journal.threads[thread % Journal::kThreads]),
      thread_(thread) {
  if (api.rows().size() > kMostRows) std::abort();
}

size_t Caller::draw_row(Random& random) const {
  if (options_.only >= 0) return static_cast<size_t>(options_.only);
  const auto rows = api_.rows();
  for (;;) {
    const size_t index = random.below(rows.size());
    if (!options_.skipped[index] && random.one_in(api_.rarity(rows[index]))) return index;
  }
}

Word Caller::plain_word(const Parameter& parameter, Values& values) {
  const bool wrong = values.is_wrong();
  switch (parameter.kind) {
    case Kind::kHandle:
      return values.handle(static_cast<size_t>(parameter.detail), wrong);
    case Kind::kAddress:
      return values.address(wrong);
    case Kind::kNumber:
      return values.number(static_cast<NumberClass>(parameter.detail), wrong);
    case Kind::kEnumerator:
      return values.enumerator(api_.enumerations()[static_cast<size_t>(parameter.detail)], wrong);
    case Kind::kCallback:
      return wrong ? 0 : api_.callback(parameter.detail, values);
    case Kind::kReal: {
      if (wrong) return values.any();
      const float small = static_cast<float>(values.random.below(8)) / 4;
      const double same = small;
      Word word = 0;
      std::memcpy(&word, parameter.size_bytes == 4 ? static_cast<const void*>(&small) : &same,
                  parameter.size_bytes);
      return word;
    }
    default:
      return values.any();
  }
}

void Caller::draw_plain(const Row& row, Values& values) {
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    words_[i] = is_pointer(parameter.kind) ? 0 : plain_word(parameter, values);
  }
}

void Caller::bound_counts(const Row& row, Values& values) {
  // Several arrays may have one count, which all of them have to keep.
  for (const Parameter& parameter : row.all()) {
    if (parameter.of < 0) continue;
    Word& word = words_[parameter.of];
    const size_t most = most_elements(parameter);
    if (word > most) word = values.random.below(most + 1);
  }
  for (const Parameter& parameter : row.all()) {
    const bool is_list = parameter.kind == Kind::kInHandles;
    if (is_list && !values.is_wrong()) words_[parameter.of] = values.random.below(3);
  }
}

size_t Caller::elements_of(const Parameter& parameter) const {
  return parameter.of < 0 ? 1 : words_[parameter.of];
}

Word Caller::text_word(const Parameter& parameter, Values& values) {
  std::string text = values.text(static_cast<TextClass>(parameter.detail), values.is_wrong());
  if (parameter.of < 0) {
    text.push_back('\0');
  } else {
    Word& size = words_[parameter.of];
    switch (values.random.below(4)) {
      case 0:
        size = 0;
        text.push_back('\0');
        break;
      case 1:
        text.push_back('\0');
        [[fallthrough]];
      default:
        size = text.size();
    }
    if (text.empty()) text.push_back('\0');  // size 0: it ends with its zero
  }
  void* const memory = values.memory().take(text.size());
  if (memory == nullptr) {
    if (parameter.of >= 0) words_[parameter.of] = 0;
    return 0;
  }
  std::memcpy(memory, text.data(), text.size());
  return as_word(memory);
}

Word Caller::output_word(const Parameter& parameter, Values& values) {
  uint32_t each = parameter.size_bytes;
  if (parameter.kind == Kind::kSizedOutput && values.is_wrong()) {
    each = static_cast<uint32_t>(values.random.below(2 * each + 8));
  }
  const size_t room = std::max(each, 4u);  // of a structure, for its size
  const size_t size_bytes =
      elements_of(parameter) * (parameter.kind == Kind::kSizedOutput ? room : each);
  void* const memory = values.memory().take(size_bytes);
  if (memory == nullptr) return 0;
  std::memset(memory, kUntouched, size_bytes);
  if (parameter.kind == Kind::kSizedOutput && size_bytes != 0) {
    std::memcpy(memory, &each, sizeof each);
  }
  return as_word(memory);
}

Word Caller::array_word(const Row& row, const Parameter& parameter, Values& values) {
  const size_t count = elements_of(parameter);
  auto* const memory = static_cast<uint8_t*>(values.memory().take(count * parameter.size_bytes));
  if (memory == nullptr) return 0;
  for (size_t i = 0; i < count; ++i) {
    Word word = 0;
    switch (parameter.kind) {
      case Kind::kInHandles:
        word = values.handle(static_cast<size_t>(parameter.detail), values.is_wrong());
        break;
      case Kind::kInAddresses:
        word = values.address(values.is_wrong());
        break;
      case Kind::kEnumerators:
        word = values.enumerator(api_.enumerations()[static_cast<size_t>(parameter.detail)],
                                 values.is_wrong());
        break;
      default:
        break;
    }
    std::memcpy(memory + i * parameter.size_bytes, &word, parameter.size_bytes % 9);
  }
  if (parameter.kind == Kind::kInput || parameter.kind == Kind::kValue) {
    api_.fill(row, parameter, values, memory, count);
  }
  return as_word(memory);
}

Word Caller::pointer_word(const Row& row, const Parameter& parameter, Values& values) {
  if (const auto word = api_.pointer_instead(row, parameter, values)) return *word;
  if (parameter.kind != Kind::kValue && values.is_wrong() && values.random.one_in(2)) return 0;
  switch (parameter.kind) {
    case Kind::kText:
      return text_word(parameter, values);
    case Kind::kData:
    case Kind::kRoom: {
      const Word size = parameter.of < 0 ? HostMemory::kDataBytes : words_[parameter.of];
      const bool is_refused = size >= 1ull << 31 && api_.bounds_host_memory(row);
      if (size > HostMemory::kDataBytes && !is_refused) {
        words_[parameter.of] = values.random.below(4096);
        return as_word(shared_.host.data(words_[parameter.of]));
      }
      return as_word(shared_.host.data(size));
    }
    case Kind::kPages: {
      const size_t size = elements_of(parameter);
      return as_word(shared_.host.pages(size, values.any()));
    }
    case Kind::kInHandles:
    case Kind::kInAddresses:
    case Kind::kEnumerators:
    case Kind::kInput:
    case Kind::kValue:
      return array_word(row, parameter, values);
    case Kind::kCountInOut: {
      void* const memory = values.memory().take(8);
      const Word count = values.random.below(64);
      std::memcpy(memory, &count, sizeof count);
      return as_word(memory);
    }
    default:
      return output_word(parameter, values);
  }
}

void Caller::draw_pointers(const Row& row, Values& values) {
  bound_counts(row, values);
  // Counts that are pointers come first: what they count needs them as numbers.
  Word counters[kMostParameters] = {};
  for (size_t i = 0; i < row.parameter_count; ++i) {
    if (row.parameters[i].kind != Kind::kCountInOut) continue;
    counters[i] = pointer_word(row, row.parameters[i], values);
    words_[i] = 0;
    if (counters[i] != 0) std::memcpy(&words_[i], as_pointer(counters[i]), sizeof(Word));
  }
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    if (!is_pointer(parameter.kind) || parameter.kind == Kind::kCountInOut) continue;
    words_[i] = pointer_word(row, parameter, values);
  }
  for (size_t i = 0; i < row.parameter_count; ++i) {
    if (row.parameters[i].kind == Kind::kCountInOut) words_[i] = counters[i];
  }
}

void Caller::note_outputs(const Row& row) {
  outputs_.clear();
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    const bool is_output = parameter.kind == Kind::kOutHandle ||
                           parameter.kind == Kind::kOutAddress ||
                           parameter.kind == Kind::kSizedOutput || parameter.kind == Kind::kOutput;
    if (!is_output || parameter.of >= 0 || words_[i] == 0) continue;
    if (!api_.is_there(words_[i])) continue;
    Output output{static_cast<const uint8_t*>(as_pointer(words_[i])), parameter.size_bytes, i, {}};
    output.size_bytes = std::min<uint32_t>(output.size_bytes, sizeof output.before);
    if (parameter.kind == Kind::kSizedOutput) output.size_bytes = 4;  // it may be short
    std::memcpy(output.before, output.memory, output.size_bytes);
    outputs_.push_back(output);
  }
}

void Caller::record(JournalEntry& entry, const Row& row, uint64_t number, unsigned depth,
                    size_t index) {
  entry.number = number;
  entry.row = static_cast<uint32_t>(index);
  entry.depth = depth;
  entry.result = 0;
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    entry.words[i] = words_[i];
    entry.peek_bytes[i] = 0;
    if (words_[i] == 0 || parameter.kind == Kind::kSizedOutput) continue;
    if (is_pointer(parameter.kind) && !api_.is_there(words_[i])) continue;
    size_t size = 0;
    if (parameter.kind == Kind::kText) {
      size = parameter.of < 0 ? std::strlen(static_cast<const char*>(as_pointer(words_[i])))
                              : words_[parameter.of];
    } else if (parameter.kind == Kind::kInput || parameter.kind == Kind::kValue) {
      size = parameter.of < 0 ? parameter.size_bytes : 0;
    }
    size = std::min(size, kPeekBytes);
    std::memcpy(entry.peek[i], as_pointer(words_[i]), size);
    entry.peek_bytes[i] = static_cast<uint8_t>(size);
  }
}

void Caller::take_in(const Row& row, size_t type, Word handle, Values& values) {
  if (handle == 0) return;
  uint32_t group = values.group();
  if (api_.grouping(type) == Grouping::kNone) group = 0;
  if (api_.grouping(type) == Grouping::kBegins) {
    if (shared_.handles[type].group_of(handle) != 0) return;  // it is known
    if (group == 0 || !takes_handle(row)) group = shared_.groups++;
  }
  const Word parent = type == api_.node_type() ? values.parent() : 0;
  const PoolEntry entry{handle, group, parent, 0};
  values.pin(type, entry);
  const auto gone = shared_.handles[type].add(entry, api_.most_handles(type), values.random);
  if (gone) release(type, gone->value);
  api_.note_new(type, entry, values);
}

void Caller::end_group(uint32_t group, Values& values) {
  if (group == 0) return;
  for (size_t type = 0; type < shared_.handles.size(); ++type) {
    if (api_.grouping(type) != Grouping::kInherits) continue;
    for (const Word handle : shared_.handles[type].take_group(group)) {
      // Some stay, to be used although they are lost.
      if (!values.random.one_in(8)) {
        release(type, handle);
      } else if (const auto gone = shared_.lost[type].add({handle}, 4, values.random)) {
        release(type, gone->value);
      }
    }
  }
}

void Caller::forget_children(Word parent) {
  shared_.addresses.take_children(parent);
  shared_.handles[api_.node_type()].take_children(parent);
}

void Caller::release(size_t type, Word handle) {
  forget_children(handle);
  api_.release(type, handle);
}

void Caller::take_results(const Row& row, int64_t result, Values& values) {
  if (api_.has_failed(result)) return;
  for (size_t i = 0; api_.ends_address(row) && i < row.parameter_count; ++i) {
    if (row.parameters[i].kind == Kind::kAddress) shared_.addresses.end(words_[i]);
  }
  for (size_t i = 0; i < row.parameter_count; ++i) {
    if (row.parameters[i].kind != Kind::kHandle) continue;
    Pool& pool = shared_.handles[static_cast<size_t>(row.parameters[i].detail)];
    if (api_.ends_group(row)) end_group(pool.group_of(words_[i]), values);
    if (api_.ends_handle(row)) {
      pool.end(words_[i]);
      forget_children(words_[i]);
    }
    break;
  }
  for (size_t i = 0; i < row.parameter_count; ++i) {
    const Parameter& parameter = row.parameters[i];
    if (words_[i] == 0) continue;
    Word word = 0;
    if (parameter.kind == Kind::kOutHandle) {
      std::memcpy(&word, as_pointer(words_[i]), sizeof word);
      take_in(row, static_cast<size_t>(parameter.detail), word, values);
    } else if (parameter.kind == Kind::kOutAddress) {
      std::memcpy(&word, as_pointer(words_[i]), sizeof word);
      const PoolEntry entry{word, values.group(), 0, api_.size_of_new(row, words_)};
      const auto gone = shared_.addresses.add(entry, 64, values.random);
      if (gone) api_.release_address(*gone);
    }
  }
}

void Caller::check(const Row& row, int64_t result) {
  const std::string defect = api_.defect(row, result);
  if (!defect.empty()) {
    journal_.find(std::string(row.name) + " returned " + std::to_string(result) + ": " + defect);
  }
  if (!api_.leaves_outputs(result)) return;
  for (const Output& output : outputs_) {
    if (std::memcmp(output.memory, output.before, output.size_bytes) == 0) continue;
    journal_.find(std::string(row.name) + " returned " + std::to_string(result) +
                  " and has written its parameter " + std::to_string(output.parameter));
  }
}

int64_t Caller::timed_call(size_t index, JournalEntry& entry, unsigned depth, uint64_t fail_after) {
  const Row& row = api_.rows()[index];
  const uint64_t begin = now_ns();
  entry.started_ns.store(begin);
  log_.count.fetch_add(1);
  const unsigned outer = std::exchange(t_depth, depth + 1);
  if (fail_after != 0) api_.fail_allocation(fail_after);
  const int64_t result = row.call(words_);
  if (fail_after != 0) api_.fail_allocation(0);
  t_depth = outer;
  entry.result = result;
  entry.started_ns.store(0);
  journal_.calls.fetch_add(1);
  journal_.calls_of_row[index].fetch_add(1);
  journal_.ns_of_row[index].fetch_add(now_ns() - begin);
  if (!api_.has_failed(result)) journal_.successes_of_row[index].fetch_add(1);
  return result;
}

void Caller::call_row(size_t index, uint64_t number, unsigned depth, Values& values,
                      uint32_t group) {
  const bool is_mixed = values.random.one_in(8);
  values.begin(group != 0 || is_mixed ? group : api_.current_group(shared_));
  values.set_host_addresses(api_.takes_host_addresses(api_.rows()[index]));
  values.set_parent_type(api_.graph_type());
  const Row& row = api_.rows()[index];
  draw_plain(row, values);
  api_.adjust(row, values, words_);
  draw_pointers(row, values);
  note_outputs(row);
  const bool fails =
      options_.allocation_failures != 0 && values.random.one_in(options_.allocation_failures);
  const uint64_t fail_after = fails ? values.random.between(1, 24) : 0;
  JournalEntry& entry = log_.entries[log_.count.load() % ThreadJournal::kKept];
  record(entry, row, number, depth, index);
  const int64_t result = timed_call(index, entry, depth, fail_after);
  check(row, result);
  take_results(row, result, values);
}

void Caller::make_call(uint64_t number, unsigned depth) {
  CallMemory& memory = memory_at(depth);
  memory.begin();
  Values values(shared_, memory, mixed(options_.seed, thread_ + 64 * depth, number));
  const size_t index = draw_row(values.random);
  // Half of the calls are right as far as each value goes; in some, everything may be wrong.
  const uint64_t mood = values.random.below(8);
  const size_t count = api_.rows()[index].parameter_count;
  values.set_wrong_in(mood < 4 ? 0 : mood < 7 ? static_cast<unsigned>(2 * count + 2) : 3);
  call_row(index, number, depth, values);
}

void Caller::run_script(uint64_t number) {
  CallMemory& memory = memory_at(0);
  Values values(shared_, memory, mixed(options_.seed, thread_ + 96, number));
  values.set_wrong_in(values.random.one_in(2) ? 0 : 60);
  for (const char* const name : values.random.pick(api_.scripts())) {
    memory.begin();
    call_row(row_of(api_, name), number, 0, values);
  }
}

void Caller::tend_group(uint32_t group, uint64_t number, Values& values) {
  CallMemory& memory = memory_at(0);
  if (group != 0) api_.enter_group(group, shared_);
  for (const Maker& maker : api_.makers()) {
    if ((group == 0) == (api_.grouping(maker.type) == Grouping::kInherits)) continue;
    const size_t index = row_of(api_, maker.function);
    for (size_t i = shared_.handles[maker.type].count(group); i < maker.wanted; ++i) {
      memory.begin();
      Values fresh(shared_, memory, values.random.next());
      call_row(index, number, 0, fresh, group);
    }
  }
}

void Caller::tend(uint64_t number) {
  Values values(shared_, memory_at(0), mixed(options_.seed, thread_ + 32, number));
  for (const uint32_t group : api_.repair(values)) end_group(group, values);
  tend_group(0, number, values);
  for (const uint32_t group : groups()) tend_group(group, number, values);
}

void Caller::rescue() {
  Values values(shared_, memory_at(0), now_ns());
  for (const uint32_t group : api_.rescue(shared_)) end_group(group, values);
}

std::vector<uint32_t> Caller::groups() {
  std::vector<uint32_t> found;
  for (size_t type = 0; type < shared_.handles.size(); ++type) {
    if (api_.grouping(type) != Grouping::kBegins) continue;
    for (const Word handle : shared_.handles[type].all()) {
      const uint32_t group = shared_.handles[type].group_of(handle);
      if (group != 0) found.push_back(group);
    }
  }
  return found;
}

namespace {

struct CallbackWorld {
  Api* api;
  Shared* shared;
  Journal* journal;
  const Caller::Options* options;
};
std::atomic<CallbackWorld*> g_world{nullptr};
std::atomic<size_t> g_callback_threads{0};

}  // namespace

void set_callback_world(Api& api, Shared& shared, Journal& journal,
                        const Caller::Options& options) {
  g_world.store(new CallbackWorld{&api, &shared, &journal, &options});  // lives to the very end
}

namespace {

/// Forks; the child makes a call and ends, as a program does or at once. One that does not end is a
/// finding.
void fork_in_callback(CallbackWorld& world, Random& random) {
  constexpr int kMostSeconds = 30, kPauseUs = 1000;
  const bool ends_at_once = random.one_in(2);
  const pid_t child = fork();
  if (child == 0) {
    world.api->call_in_child();
    if (ends_at_once) _exit(0);
    std::exit(0);  // NOLINT: the destructors of all libraries are the point
  }
  if (child < 0) return;
  for (uint64_t until = now_ns() + kMostSeconds * 1'000'000'000ull; now_ns() < until;) {
    if (waitpid(child, nullptr, WNOHANG) != 0) return;
    usleep(kPauseUs);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  world.journal->find("a child that a callback has forked does not end");
}

}  // namespace

void call_in_callback(uint64_t choice) {
  CallbackWorld* const world = g_world.load();
  if (world == nullptr || t_depth > 2) return;
  Random random(choice);
  if (random.one_in(128)) fork_in_callback(*world, random);
  if (random.one_in(4)) usleep(static_cast<useconds_t>(random.below(1500)));
  // Threads of the library have journals of their own, behind those of the fuzzer.
  thread_local const size_t thread = 16 + g_callback_threads++ % 32;
  // A call may end an object before it is made, which runs callbacks, too.
  const unsigned depth = t_depth++;
  for (uint64_t left = random.below(3); left > 0; --left) {
    Caller caller(*world->api, *world->shared, *world->journal, *world->options, thread);
    caller.make_call(random.next() >> 16, depth);
  }
  t_depth = depth;
}

}  // namespace km::fuzz
