#include "generator.h"

#include <fstream>
#include <set>

#include "ptx/forms.h"
#include "ptx/target.h"

namespace km::fuzz {

using reference::Variant;

Instructions::Instructions(const std::vector<std::string>& refused_paths)
    : variants_(reference::all_variants()) {
  std::set<std::string> refused;
  for (const std::string& path : refused_paths) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) refused.insert(line);
  }
  const ptx::Target target = ptx::find_target(device_target()).value_or(ptx::Target{});
  has_newer_ = target.suffix != 0;
  for (const ptx::Form& form : ptx::all_forms()) {
    if (!form.targets.has(target)) refused.insert(ptx::form_key(form));
  }
  const auto is_refused = [&](const auto& one) {
    return refused.count(one.form) || refused.count(one.mnemonic);
  };
  std::map<ptx::Opcode, std::vector<const Variant*>> groups;
  for (const Variant& variant : variants_) {
    const bool has_bytes = variant.text.find("%b") != std::string::npos;  // no such registers here
    const bool is_too_new = variant.is_newer && !has_newer_;
    if (is_refused(variant) || is_too_new || has_bytes || variant.reads_carry ||
        variant.writes_carry)
      continue;
    groups[variant.instruction().opcode].push_back(&variant);
  }
  for (auto& [opcode, members] : groups) by_opcode_.push_back(std::move(members));
  for (MemoryForm& form : memory_forms(kMemorySamples, kMemorySeed)) {
    if (!is_refused(form)) memory_.push_back(std::move(form));
  }
}

const Variant& Instructions::any(reference::Random& random) const {
  const auto& group = by_opcode_[random.below(by_opcode_.size())];
  return *group[random.below(group.size())];
}

const MemoryForm& Instructions::any_memory(reference::Random& random) const {
  return memory_[random.below(memory_.size())];
}

std::string Generator::reg(char kind) {
  unsigned count = kPredicates;
  switch (kind) {
    case 'r':
      count = kWords;
      break;
    case 'l':
      count = kLongs;
      break;
    case 'h':
      count = kHalves;
      break;
    case 'f':
      count = kFloats;
      break;
    case 'd':
      count = kDoubles;
      break;
    default:
      break;
  }
  return std::string("%") + kind + std::to_string(below(count));
}

std::string Generator::guard() {
  if (!chance(12)) return "";
  return (chance(50) ? "@" : "@!") + reg('p') + " ";
}

std::string Generator::number() {
  constexpr int kNumbers[] = {0, 1, 2, 3, 5, 7, 8, 16, 31, 32, 33, 64, -1, -2, 100, 255};
  return std::to_string(kNumbers[below(16)]);
}

/// What bounds of blocks and problems look like: often all lanes of a warp are on one side.
void Generator::set_by_index(std::vector<std::string>& lines, const std::string& target) {
  const std::string relation = one_of("eq", "ne", "lt", "le", "gt", "ge", "lt", "ge");
  lines.push_back("mov.u32 %x14, " + one_of("%tid.x", "%tid.x", "%tid.y", "%warpid", "%self") +
                  ";");
  std::string bound = one_of("0", "1", "5", "16", "31", "32", "33", "64", "96");
  if (chance(25)) {
    set_uniform(lines, "%x15", 80);
    bound = "%x15";
  }
  lines.push_back("setp." + relation + one_of(".u32 ", ".u32 ", ".s32 ") + target + ", %x14, " +
                  bound + ";");
}

/// Any condition of the thread's own data.
void Generator::set_predicate(std::vector<std::string>& lines, const std::string& target) {
  if (chance(20)) return set_by_index(lines, target);
  const std::string relation = one_of("eq", "ne", "lt", "le", "gt", "ge");
  switch (below(4)) {
    case 0:
      lines.push_back("setp." + relation + ".s32 " + target + ", " + reg('r') + ", " + number() +
                      ";");
      return;
    case 1:
      lines.push_back("setp." + relation + ".u32 " + target + ", " + reg('r') + ", " + reg('r') +
                      ";");
      return;
    case 2:
      lines.push_back("setp." + relation + ".f32 " + target + ", " + reg('f') + ", " + reg('f') +
                      ";");
      return;
    default:
      lines.push_back("and.b32 %x14, " + one_of("%self", "%lane", "%r2", "%r4") + ", " +
                      one_of("1", "2", "3", "7", "16", "31") + ";");
      lines.push_back("setp." + relation + ".u32 " + target + ", %x14, " +
                      one_of("0", "1", "2", "5", "11") + ";");
  }
}

/// A number below `bound` that all threads of the block have in common.
void Generator::set_uniform(std::vector<std::string>& lines, const std::string& target,
                            unsigned bound) {
  switch (below(3)) {
    case 0:
      lines.push_back("mov.u32 " + target + ", " + std::to_string(below(bound)) + ";");
      return;
    case 1:
      lines.push_back("ld.param.u32 " + target + ", [NAME_" + one_of("u0", "u1") + "];");
      break;
    default:
      lines.push_back("mov.u32 " + target + ", %ctaid.x;");
      break;
  }
  lines.push_back("rem.u32 " + target + ", " + target + ", " + std::to_string(bound) + ";");
}

std::vector<Statement> Generator::statements(const Place& place, unsigned most) {
  std::vector<Statement> list;
  const uint64_t count = 1 + below(most);
  do {
    if (room_ > 0) --room_;
    list.push_back(statement(place));
  } while (list.size() < count && room_ > 0);
  if (chance(12)) list.push_back(mark());
  return list;
}

Statement Generator::statement(const Place& place) {
  const bool deep = place.depth >= 4;
  if (!deep && chance(16)) return nested(place);
  if (!place.mask.empty() && chance(14)) return warp_operation(place);
  if (place.converged && chance(14)) return together(place);
  return simple();
}

Statement Generator::simple() {
  switch (below(16)) {
    case 0:
      return carry_chain();
    case 1:
      return load_input();
    case 2:
      return chance(40) ? load_input() : element();
    case 3:
      return chance(40) ? row() : chance(60) ? scratch_access() : own_element();
    case 4:
      return chance(50) ? local_access() : memory_access();
    case 5:
      return packing();
    case 6:
      return chance(50) ? call() : packing();
    case 7:
      return chance(50) ? reduction() : mark();
    default:
      return computation();
  }
}

Statement Generator::nested(const Place& place) {
  switch (below(15)) {
    case 0:
    case 1:
      return divergent_if(place);
    case 2:
    case 3:
      return uniform_if(place);
    case 4:
      return uniform_loop(place);
    case 5:
      return divergent_loop(place);
    case 6:
      return leaving_loop(place);
    case 7:
      return chance(80) ? breaking_loop(place) : irreducible_loop(place);
    case 8:
      return select(place);
    case 9:
      return searching_loop(place);
    case 10:
      return loops_in_a_row(place);
    case 11:
      return strided_loop(place);
    case 12:
      return warp_if(place);
    case 13:
      return place.converged ? rounds(place) : divergent_loop(place);
    default:
      return exits_ ? early_exit() : divergent_if(place);
  }
}

Statement Generator::together(const Place& place) {
  switch (below(12)) {
    case 0:
    case 1:
      return exchange();
    case 2:
      return barrier_reduction();
    case 3:
      return shared_totals();
    case 4:
      return exits_ ? exchange() : transposition();
    case 5:
      return exits_ ? exchange() : tree();
    case 6:
      return moving_tile();
    case 7:
    case 8:
      return kept_choice();
    case 9:
    case 10:
      return choice_chain();
    default:
      return split_barrier(place);
  }
}

namespace {

std::vector<std::string> all_registers() {
  std::vector<std::string> names;
  const auto add = [&](const char* prefix, unsigned count) {
    for (unsigned i = 0; i < count; ++i) names.push_back(prefix + std::to_string(i));
  };
  add("%r", kWords);
  add("%l", kLongs);
  add("%h", kHalves);
  add("%f", kFloats);
  add("%d", kDoubles);
  add("%p", kPredicates);
  return names;
}

using Shape = std::array<uint32_t, 3>;
constexpr Shape kBlocks[] = {{1, 1, 1},  {7, 1, 1},  {31, 1, 1}, {32, 1, 1}, {33, 1, 1},
                             {64, 1, 1}, {96, 1, 1}, {50, 1, 1}, {8, 8, 1},  {16, 3, 2},
                             {5, 5, 3},  {3, 11, 1}, {32, 2, 2}, {128, 1, 1}};
constexpr unsigned kRoomOfRounds = 8;  // parts between barriers are to have something in them
constexpr Shape kGrids[] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {2, 2, 1}, {1, 1, 2}};

}  // namespace

/// Most kernels are small, because a large one takes as long to compile as fifty of them; but what
/// goes wrong with many values alive at once, or deep inside, takes a large one to find.
Generator::Size Generator::choose_size() {
  if (mostly_small_ && chance(75)) return {1, 3, false};
  const uint64_t pick = below(400);
  if (pick < 340) return {2, 4, false};
  if (pick < 388) return {5, 12, false};
  if (pick < 399) return {12, 40, chance(20)};
  return {24, 1000, true};
}

std::vector<std::string> Generator::choose_stored(const Kernel& kernel, const Size& size) {
  std::vector<std::string> all = all_registers();
  if (size.stores_all) return all;
  const std::set<std::string> written = written_registers(kernel.statements);
  std::erase_if(all, [&](const std::string& name) { return written.count(name) == 0; });
  return all;
}

Kernel Generator::kernel(const std::string& name) {
  Kernel kernel;
  kernel.name = name;
  kernel.block = kBlocks[below(std::size(kBlocks))];
  kernel.grid = kGrids[below(std::size(kGrids))];
  kernel.uniforms = {static_cast<uint32_t>(below(8)), static_cast<uint32_t>(random_.bits())};
  kernel.input_seed = random_.bits();
  exits_ = chance(30);
  masks_ = 0;
  partial_warp_ = kernel.threads() % 32 != 0;
  const Size size = choose_size();
  room_ = size.most;
  if (exits_ && chance(60)) kernel.statements.push_back(early_exit());
  if (chance(15)) {
    room_ = std::max(room_, kRoomOfRounds);
    kernel.statements.push_back(rounds({}));
  }
  for (Statement& statement : statements({}, size.most_on_top)) {
    kernel.statements.push_back(std::move(statement));
  }
  kernel.stored = choose_stored(kernel, size);
  kernel.in_rows = chance(85);
  kernel.masks = masks_;
  return kernel;
}

}  // namespace km::fuzz
