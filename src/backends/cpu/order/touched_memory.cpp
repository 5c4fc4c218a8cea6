#include "backends/cpu/order/touched_memory.h"

#include <algorithm>

namespace km::cpu {

/// The lowest and the highest address that an instruction has accessed.
struct TouchedMemory::Line {
  std::atomic<uint64_t> begin{UINT64_MAX}, end{0};
  Touch touch = Touch::read;
  uint32_t number = 0;
};

namespace {

Touch touch_of(const simt::AccessNote& note) {
  namespace flag = simt::access_flag;
  // A read that an atomic then repeats is as good as the atomic's own.
  const bool strong = (note.flags & (flag::kStrong | flag::kRepeated)) != 0;
  if (note.kind == simt::AccessKind::read) return strong ? Touch::strong_read : Touch::read;
  return strong ? Touch::strong_write : Touch::write;
}

void set_bits(std::array<std::atomic<uint64_t>, ByteSet::kWords>& bits, uint64_t from,
              uint64_t to) {
  while (from < to) {
    const uint64_t shift = from % ByteSet::kWordBits;
    const uint64_t count = std::min<uint64_t>(ByteSet::kWordBits - shift, to - from);
    const uint64_t ones = count == ByteSet::kWordBits ? UINT64_MAX : (uint64_t{1} << count) - 1;
    std::atomic<uint64_t>& word = bits[from / ByteSet::kWordBits];
    const uint64_t wanted = ones << shift;
    if ((word.load(std::memory_order_relaxed) & wanted) != wanted) {
      word.fetch_or(wanted, std::memory_order_relaxed);
    }
    from += count;
  }
}

std::atomic<uint64_t> last_launch{0};

}  // namespace

TouchedMemory::TouchedMemory() : number_(last_launch.fetch_add(1) + 1) {}
TouchedMemory::~TouchedMemory() = default;

TouchedMemory::Page& TouchedMemory::find_page(uint64_t number) {
  Shard& shard = shards_[number % kShards];
  const std::lock_guard lock(shard.mutex);
  std::unique_ptr<Page>& page = shard.pages[number];
  if (page == nullptr) page = std::make_unique<Page>();
  return *page;
}

TouchedMemory::Bits& TouchedMemory::make_bits(Page& page, Touch touch) {
  const std::lock_guard lock(lines_mutex_);
  std::unique_ptr<Bits>& own = page.owned[static_cast<size_t>(touch)];
  if (own == nullptr) {
    own = std::make_unique<Bits>();
    page.bits[static_cast<size_t>(touch)].store(own.get(), std::memory_order_release);
  }
  return *own;
}

TouchedMemory::Line& TouchedMemory::find_line(uint64_t key) {
  const std::lock_guard lock(lines_mutex_);
  std::unique_ptr<Line>& line = lines_[key];
  if (line == nullptr) {
    line = std::make_unique<Line>();
    line->touch = static_cast<Touch>(key % kTouches);
    line->number = static_cast<uint32_t>(key / kTouches);
  }
  return *line;
}

void TouchedMemory::Cursor::begin(TouchedMemory* memory) {
  const uint64_t launch = memory != nullptr ? memory->number_ : 0;
  memory_ = memory;
  if (launch == launch_) return;
  launch_ = launch;
  pages_.fill({});
  lines_.fill({});
}

TouchedMemory::Page& TouchedMemory::Cursor::page(uint64_t number) {
  auto& [known, page] = pages_[number % kPages];
  if (page == nullptr || known != number) {
    page = &memory_->find_page(number);
    known = number;
  }
  return *page;
}

TouchedMemory::Line& TouchedMemory::Cursor::line(const simt::AccessNote& note) {
  const uint64_t key = note.line * kTouches + static_cast<uint64_t>(touch_of(note));
  auto& [known, line] = lines_[key % kLines];
  if (line == nullptr || known != key) {
    line = &memory_->find_line(key);
    known = key;
  }
  return *line;
}

void TouchedMemory::Cursor::note(uint64_t address, uint64_t size_bytes,
                                 const simt::AccessNote& note) {
  Line& instruction = line(note);
  const uint64_t end = address + size_bytes;
  if (address < instruction.begin.load(std::memory_order_relaxed)) {
    uint64_t known = instruction.begin.load();
    while (address < known && !instruction.begin.compare_exchange_weak(known, address)) {
    }
  }
  if (end > instruction.end.load(std::memory_order_relaxed)) {
    uint64_t known = instruction.end.load();
    while (end > known && !instruction.end.compare_exchange_weak(known, end)) {
    }
  }
  while (address < end) {
    const uint64_t number = address / ByteSet::kBytes, begin = number * ByteSet::kBytes;
    Page& in = page(number);
    const auto touch = static_cast<size_t>(instruction.touch);
    Bits* bits = in.bits[touch].load(std::memory_order_acquire);
    if (bits == nullptr) bits = &memory_->make_bits(in, instruction.touch);
    const uint64_t last = std::min<uint64_t>(end, begin + ByteSet::kBytes);
    set_bits(*bits, address - begin, last - begin);
    address = last;
  }
}

std::vector<PageTouches> TouchedMemory::pages() const {
  std::vector<PageTouches> all;
  for (Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    for (const auto& [number, page] : shard.pages) {
      PageTouches touches;
      touches.page = number;
      for (size_t i = 0; i < kTouches; ++i) {
        const Bits* const bits = page->bits[i].load(std::memory_order_acquire);
        if (bits == nullptr) continue;
        ByteSet::Words words;
        for (size_t w = 0; w < words.size(); ++w) words[w] = (*bits)[w].load();
        touches.sets[i] = ByteSet::of_words(words);
      }
      all.push_back(std::move(touches));
    }
  }
  return all;
}

std::vector<TouchedMemory::Place> TouchedMemory::places() const {
  const std::lock_guard lock(lines_mutex_);
  std::vector<Place> all;
  for (const auto& [key, line] : lines_) {
    all.push_back({line->begin.load(), line->end.load(), line->touch, line->number});
  }
  std::sort(all.begin(), all.end(), [](const Place& a, const Place& b) { return a.line < b.line; });
  return all;
}

}  // namespace km::cpu
