#include "shrink.h"

#include <algorithm>

namespace km::fuzz {
namespace {

using Check = std::function<bool(const Kernel&)>;

class Shrinker {
 public:
  Shrinker(Kernel kernel, const Check& still_wrong, unsigned tries)
      : best_(std::move(kernel)), still_wrong_(still_wrong), tries_(tries) {}

  Kernel run() {
    for (bool smaller = true; smaller && tries_ > 0;) {
      smaller = take_out_statements(best_.statements);
      smaller = take_out_results() || smaller;
      smaller = reduce_shape() || smaller;
    }
    return std::move(best_);
  }

 private:
  /// Keeps `change`, made to best_, if it is still wrong; else `undo` is called.
  bool keep(const std::function<void()>& undo) {
    if (tries_ > 0) {
      --tries_;
      if (still_wrong_(best_)) return true;
    }
    undo();
    return false;
  }

  /// Runs of statements first, halving, then one by one, then what they hold.
  bool take_out_statements(std::vector<Statement>& list) {
    bool any = false;
    for (size_t length = std::max<size_t>(list.size() / 2, 1); length > 0; length /= 2) {
      for (size_t at = 0; at + length <= list.size();) {
        if (take_out(list, at, length)) {
          any = true;
        } else {
          at += length;
        }
      }
    }
    for (size_t at = 0; at < list.size(); ++at) {
      for (size_t body = 0; body < list[at].bodies.size(); ++body) {
        any = take_out_statements(list[at].bodies[body].statements) || any;
      }
      any = hoist(list, at) || any;
    }
    return any;
  }

  bool take_out(std::vector<Statement>& list, size_t at, size_t length) {
    const auto first = list.begin() + static_cast<std::ptrdiff_t>(at);
    const auto last = first + static_cast<std::ptrdiff_t>(length);
    const std::vector<Statement> removed(first, last);
    list.erase(first, last);
    return keep([&] {
      list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), removed.begin(), removed.end());
    });
  }

  /// A statement replaced by what it holds.
  bool hoist(std::vector<Statement>& list, size_t at) {
    if (at >= list.size() || list[at].bodies.empty()) return false;
    const std::vector<Statement> before = list;
    std::vector<Statement> inner;
    for (const Statement::Body& body : list[at].bodies) {
      inner.insert(inner.end(), body.statements.begin(), body.statements.end());
    }
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(at));
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), inner.begin(), inner.end());
    return keep([&] { list = before; });
  }

  bool take_out_results() {
    bool any = false;
    for (size_t length = best_.stored.size(); length > 0; length /= 2) {
      for (size_t at = 0; at + length <= best_.stored.size();) {
        const std::vector<std::string> before = best_.stored;
        const auto first = best_.stored.begin() + static_cast<std::ptrdiff_t>(at);
        best_.stored.erase(first, first + static_cast<std::ptrdiff_t>(length));
        if (keep([&] { best_.stored = before; })) {
          any = true;
        } else {
          at += length;
        }
      }
    }
    return any;
  }

  bool set_shape(std::array<uint32_t, 3>& shape, std::array<uint32_t, 3> wanted) {
    if (shape == wanted) return false;
    const auto before = shape;
    shape = wanted;
    return keep([&] { shape = before; });
  }

  bool reduce_shape() {
    bool any = set_shape(best_.grid, {1, 1, 1});
    const uint32_t threads = best_.threads();
    any = set_shape(best_.block, {threads, 1, 1}) || any;
    for (uint32_t fewer : {1u, 2u, 32u, 64u}) {
      if (fewer < best_.threads() && set_shape(best_.block, {fewer, 1, 1})) return true;
    }
    return any;
  }

  Kernel best_;
  const Check& still_wrong_;
  unsigned tries_;
};

}  // namespace

Kernel shrink(Kernel kernel, const Check& still_wrong, unsigned tries) {
  return Shrinker(std::move(kernel), still_wrong, tries).run();
}

}  // namespace km::fuzz
