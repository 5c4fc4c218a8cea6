// Calls of a library's functions with pointers to memory that is not there, or that cannot be
// written, and with numbers that mean nothing. Each has to give a status.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace km::hostile {

/// Addresses of the host's where nothing is, or nothing that can be written.
class WildPointers {
 public:
  WildPointers();
  const std::vector<uint64_t>& all() const { return all_; }
  /// Those that can be read.
  const std::vector<uint64_t>& readable() const { return readable_; }

 private:
  std::vector<uint64_t> all_, readable_;
};
const WildPointers& wild_pointers();

/// Memory of the test between pages that are not there, one piece for each argument of a call.
class GoodMemory {
 public:
  static constexpr size_t kBytes = size_t{1} << 16;
  GoodMemory();
  void* data() const { return data_; }
  /// Zeros, after `words` at its beginning.
  void reset(const std::vector<uint64_t>& words);
  bool has_changed() const;

 private:
  char* data_;
  std::vector<char> known_;
};

/// Notes the call that is made, which a crash names.
void note_call(const char* name);

/// The live objects of a handle's type.
template <class T>
std::vector<T>& live() {
  static std::vector<T> handles;
  return handles;
}

template <class T>
concept Complete = requires { sizeof(T); };
/// True for pointers to structures that the header does not define, which are handles.
template <class T>
constexpr bool is_handle() {
  if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_pointer_t<T>;
    return !std::is_void_v<Target> && !std::is_function_v<Target> && !Complete<Target>;
  }
  return false;
}

/// How the arguments of a call are chosen.
struct Choice {
  std::mt19937_64 random;
  std::array<GoodMemory, 16>* memory;
  uint64_t number = 0;  // of arguments that are numbers
  bool is_mixed = false;

  uint64_t below(uint64_t end) { return random() % end; }
  uint64_t edge();
  uint64_t wild() { return wild_pointers().all()[below(wild_pointers().all().size())]; }
};

inline void do_nothing() {}

/// Words at the beginning of good memory: live handles where the function reads handles.
template <class T>
std::vector<uint64_t> words_for() {
  if constexpr (std::is_pointer_v<T>) {
    using Target = std::remove_cv_t<std::remove_pointer_t<T>>;
    if constexpr (is_handle<Target>()) {
      if (!live<Target>().empty()) return {reinterpret_cast<uint64_t>(live<Target>().back())};
    }
  }
  return {};
}

/// A good argument, whose memory is that of its place in the call.
template <class T>
T good(Choice& choice, size_t place) {
  if constexpr (is_handle<T>()) {
    if (!live<T>().empty()) return live<T>().back();
    return reinterpret_cast<T>((*choice.memory)[place].data());
  } else if constexpr (std::is_pointer_v<T>) {
    if constexpr (std::is_function_v<std::remove_pointer_t<T>>) {
      return reinterpret_cast<T>(do_nothing);
    } else {
      (*choice.memory)[place].reset(words_for<T>());
      return reinterpret_cast<T>((*choice.memory)[place].data());
    }
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return static_cast<T>(choice.is_mixed ? choice.edge() : choice.number);
  } else {
    return T{};
  }
}

template <class T>
T bad(Choice& choice) {
  if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    return reinterpret_cast<T>(choice.below(8) == 0 ? 0 : choice.wild());
  } else {
    return T{};
  }
}

template <class T>
constexpr bool is_memory() {
  return std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>> && !is_handle<T>();
}

/// Calls all functions of a library.
class Caller {
 public:
  /// `refill` makes the live objects again that a call has ended, and undoes what a call has set.
  explicit Caller(void (*refill)(), uint64_t seed = 1) : refill_(refill) {
    choice_.random.seed(seed);
    choice_.memory = &memory_;
  }
  uint64_t calls() const { return calls_; }

  template <class R, class... Types>
  void call_all(const char* name, R (*function)(Types...)) {
    note_call(name);
    call_each(name, function, std::index_sequence_for<Types...>());
    for (int round = 0; round < kRounds; ++round) {
      call_mixed(function, std::index_sequence_for<Types...>());
    }
  }

 private:
  static constexpr int kRounds = 60;

  template <class R, class... Types>
  int64_t run(R (*function)(Types...), Types... arguments) {
    ++calls_;
    if constexpr (std::is_void_v<R>) {
      function(arguments...);
      return 0;
    } else if constexpr (std::is_integral_v<R> || std::is_enum_v<R>) {
      return static_cast<int64_t>(function(arguments...));
    } else {
      function(arguments...);
      return 0;
    }
  }

  /// One pointer is wild, and all else good.
  template <class R, class... Types, size_t... Places>
  void call_each([[maybe_unused]] const char* name, [[maybe_unused]] R (*function)(Types...),
                 [[maybe_unused]] std::index_sequence<Places...> places) {
    for (const uint64_t number : {0, 1, 2, 96, 4096}) {
      choice_.number = number;
      choice_.is_mixed = false;
      (call_with_wild<Places>(name, function, places), ...);
    }
  }

  template <size_t Wild, class R, class... Types, size_t... Places>
  void call_with_wild([[maybe_unused]] const char* name, [[maybe_unused]] R (*function)(Types...),
                      std::index_sequence<Places...>) {
    using Pointer = std::tuple_element_t<Wild, std::tuple<Types...>>;
    if constexpr (std::is_pointer_v<Pointer> &&
                  !std::is_function_v<std::remove_pointer_t<Pointer>>) {
      refill_();
      const int64_t usual = run(function, good<Types>(choice_, Places)...);
      const bool writes = is_memory<Pointer>() && usual == 0 && memory_[Wild].has_changed();
      for (const uint64_t each : wild_pointers().all()) {
        refill_();
        const auto argument = [&]<class T, size_t Place>() -> T {
          if constexpr (Place == Wild) {
            return reinterpret_cast<T>(each);
          } else {
            return good<T>(choice_, Place);
          }
        };
        const int64_t result = run(function, argument.template operator()<Types, Places>()...);
        if (writes && std::is_enum_v<R>) {
          EXPECT_NE(result, 0) << name << " succeeds, but argument " << Wild << " is "
                               << reinterpret_cast<void*>(each);
        }
      }
    }
  }

  template <class R, class... Types, size_t... Places>
  void call_mixed(R (*function)(Types...), std::index_sequence<Places...>) {
    refill_();
    choice_.is_mixed = true;
    run(function, (choice_.below(4) == 0 ? bad<Types>(choice_) : good<Types>(choice_, Places))...);
  }

  void (*const refill_)();
  Choice choice_;
  std::array<GoodMemory, 16> memory_;
  uint64_t calls_ = 0;
};

}  // namespace km::hostile
