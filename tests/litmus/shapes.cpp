#include "shapes.h"

namespace km::litmus {
namespace {

constexpr Access ld(char location, uint32_t result) { return {Access::load, location, result}; }
constexpr Access st(char location, uint32_t value) { return {Access::store, location, value}; }
constexpr Access add(char location, uint32_t result) { return {Access::add, location, result}; }

std::string address(const Access& access) {
  return access.location == 'x' ? "[%at]" : "[%at+" + std::to_string(kY) + "]";
}

std::string text_of(const Access& access, Order order, const Scope& scope) {
  const std::string number = std::to_string(access.number), at = address(access);
  const bool strong = order == Order::acquire_release;
  const auto sem = [&](const char* name) {
    return std::string(strong ? name : ".relaxed") + "." + scope.name + ".global";
  };
  switch (access.kind) {
    case Access::load:
      return "  ld" + sem(".acquire") + ".u32 %r" + number + ", " + at + ";\n";
    case Access::store:
      return "  st" + sem(".release") + ".u32 " + at + ", " + number + ";\n";
    case Access::add:
      break;
  }
  return "  atom" + sem(".acq_rel") + ".add.u32 %r" + number + ", " + at + ", 1;\n";
}

std::string fence(Order order, const Scope& scope) {
  if (order == Order::acq_rel_fences) return std::string("  fence.acq_rel.") + scope.name + ";\n";
  if (order == Order::sc_fences) return std::string("  fence.sc.") + scope.name + ";\n";
  return "";
}

std::string thread_text(const std::vector<Access>& accesses, Order order, const Scope& scope) {
  std::string text, stores;
  for (const Access& access : accesses) {
    if (!text.empty()) text += fence(order, scope);
    text += text_of(access, order, scope);
    if (access.kind == Access::store) continue;
    const std::string number = std::to_string(access.number);
    stores +=
        "  st.global.u32 [%out+" + std::to_string(4 * access.number) + "], %r" + number + ";\n";
  }
  return text + stores;
}

}  // namespace

const char* name_of(Order order) {
  constexpr const char* kNames[] = {"relaxed", "acquire_release", "acq_rel_fences", "sc_fences"};
  return kNames[static_cast<int>(order)];
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {
      {"SB",
       {{st('x', 1), ld('y', 0)}, {st('y', 1), ld('x', 1)}},
       2,
       false,
       Order::sc_fences,
       [](const Results& r) { return r[0] == 0 && r[1] == 0; }},
      {"MP",
       {{st('x', 1), st('y', 1)}, {ld('y', 0), ld('x', 1)}},
       2,
       false,
       Order::acquire_release,
       [](const Results& r) { return r[0] == 1 && r[1] == 0; }},
      {"LB",
       {{ld('x', 0), st('y', 1)}, {ld('y', 1), st('x', 1)}},
       2,
       false,
       Order::acquire_release,
       [](const Results& r) { return r[0] == 1 && r[1] == 1; }},
      {"WRC",
       {{st('x', 1)}, {ld('x', 0), st('y', 1)}, {ld('y', 1), ld('x', 2)}},
       3,
       false,
       Order::acquire_release,
       [](const Results& r) { return r[0] == 1 && r[1] == 1 && r[2] == 0; }},
      {"IRIW",
       {{st('x', 1)}, {st('y', 1)}, {ld('x', 0), ld('y', 1)}, {ld('y', 2), ld('x', 3)}},
       4,
       false,
       Order::sc_fences,
       [](const Results& r) { return r[0] == 1 && r[1] == 0 && r[2] == 1 && r[3] == 0; }},
      {"CoRR",
       {{st('x', 1)}, {ld('x', 0), ld('x', 1)}},
       2,
       false,
       Order::relaxed,
       [](const Results& r) { return r[0] == 1 && r[1] == 0; }},
      {"2+2W",
       {{st('x', 1), st('y', 2)}, {st('y', 1), st('x', 2)}},
       0,
       true,
       Order::sc_fences,
       [](const Results& r) { return r[0] == 1 && r[1] == 1; }},
      {"ADD",
       {{add('x', 0)}, {add('x', 1)}},
       2,
       true,
       Order::relaxed,
       [](const Results& r) { return r[0] == r[1] || r[2] != 2; }},
  };
  return all;
}

std::string kernel_name(const Shape& shape, Order order, const Scope& scope) {
  std::string name = std::string(shape.name) + "_" + name_of(order) + "_" + scope.name;
  for (char& letter : name) letter = letter == '+' ? '_' : letter;
  return "t" + name;
}

std::string kernel_text(const Shape& shape, Order order, const Scope& scope) {
  const std::string threads = std::to_string(shape.threads.size());
  std::string text =
      ".visible .entry " + kernel_name(shape, order, scope) +
      "(.param .u64 memory, .param .u64 results, .param .u32 count, .param .u32 every, .param .u32 "
      "thread) {\n"
      "  .reg .pred %p; .reg .b32 %role, %lane, %i, %count, %met, %all, %every, %r<4>;\n"
      "  .reg .b64 %memory, %at, %out;\n"
      "  ld.param.u64 %memory, [memory]; ld.param.u64 %out, [results];\n"
      "  ld.param.u32 %count, [count]; ld.param.u32 %every, [every];\n";
  text += scope.one_block ? "  mov.u32 %role, %tid.x; and.b32 %lane, %role, 31;\n"
                            "  setp.ne.u32 %p, %lane, 0; @%p ret; shr.u32 %role, %role, 5;\n"
                          : "  ld.param.u32 %role, [thread];\n";
  // The threads meet now and then, or one would be through before the next begins.
  text += "  add.u64 %at, %memory, " + std::to_string(kFirst) +
          "; mov.u32 %i, 0; mov.u32 %all, 0;\n"
          "NEXT:\n  rem.u32 %met, %i, %every; setp.ne.u32 %p, %met, 0; @%p bra GO;\n"
          "  add.u32 %all, %all, " +
          threads +
          ";\n  red.relaxed.sys.global.add.u32 [%memory], 1;\n"
          "MEET:\n  ld.relaxed.sys.global.u32 %met, [%memory];\n"
          "  setp.lt.u32 %p, %met, %all; @%p bra MEET;\nGO:\n";
  for (size_t t = 0; t < shape.threads.size(); ++t) {
    text +=
        "  setp.eq.u32 %p, %role, " + std::to_string(t) + "; @%p bra T" + std::to_string(t) + ";\n";
  }
  text += "  ret;\n";
  for (size_t t = 0; t < shape.threads.size(); ++t) {
    text += "T" + std::to_string(t) + ":\n" + thread_text(shape.threads[t], order, scope) +
            "  bra.uni DONE;\n";
  }
  return text + "DONE:\n  add.u64 %at, %at, " + std::to_string(kStride) + "; add.u64 %out, %out, " +
         std::to_string(4 * kResults) +
         ";\n  add.u32 %i, %i, 1; setp.lt.u32 %p, %i, %count; @%p bra NEXT;\n  ret;\n}\n";
}

}  // namespace km::litmus
