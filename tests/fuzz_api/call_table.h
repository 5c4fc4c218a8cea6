// The tables of functions under test (generated/*.inc): how each is called, and the kind of each
// parameter, by which values are drawn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace km::fuzz {

using Word = uint64_t;
constexpr size_t kMostParameters = 36;

enum class Kind : uint8_t {
  kHandle,      // detail: its type
  kOutHandle,   // likewise; one
  kOutHandles,  // likewise; as many as parameter `of` says
  kInHandles,   // likewise
  kAddress,     // of a device's memory
  kOutAddress,
  kInAddresses,
  kNumber,       // detail: a NumberClass
  kEnumerator,   // detail: the enumeration
  kEnumerators,  // an array of them
  kText,         // detail: a TextClass; `of`: its length, where that is a parameter
  kOutText,
  kData,         // host memory that is read, also after the call
  kRoom,         // host memory that is written, also after the call
  kPages,        // host memory to be registered or wrapped
  kInput,        // a structure or an array of them; detail: an InputType of the table
  kValue,        // a structure by value
  kOutput,       // anything written, size_bytes each
  kSizedOutput,  // the same, and it begins with its struct_size
  kCountInOut,   // points to how many there is room for, and gets how many there are
  kCallback,     // detail: its type
  kUserData,
  kReal,  // size_bytes: 4 or 8
};

enum NumberClass : int16_t {
  kAnyNumber,
  kCapacity,
  kElementSize,
  kOffset,
  kSize,
  kSharedSize,
  kTime,
  kIndex,
  kDimension,
  kThreads,
  kFlagBits,
  kCount,
  kDevice,
  kPriority,
  kNull,
};

enum TextClass : int16_t {
  kUri,
  kPath,
  kPtx,
  kSource,
  kName,
  kOption,
  kWord,
  kImage,
  kSymbol,
  kBusId,
};

struct Parameter {
  Kind kind;
  int16_t detail = 0;
  int8_t of = -1;  // the parameter that says how many elements there are; -1: one
  uint32_t size_bytes = 0;
};

struct Row {
  const char* name;
  int64_t (*call)(const Word* words);
  const Parameter* parameters;
  size_t parameter_count;

  std::span<const Parameter> all() const { return {parameters, parameter_count}; }
};

struct Enumeration {
  const char* name;
  const int64_t* values;
  size_t count;
};

// What the generated tables are written with.
constexpr Parameter handle(int16_t type) { return {Kind::kHandle, type}; }
constexpr Parameter out_handle(int16_t type) { return {Kind::kOutHandle, type, -1, 8}; }
constexpr Parameter out_handles(int16_t type, int8_t of) {
  return {Kind::kOutHandles, type, of, 8};
}
constexpr Parameter in_handles(int16_t type, int8_t of) { return {Kind::kInHandles, type, of, 8}; }
constexpr Parameter address() { return {Kind::kAddress}; }
constexpr Parameter out_address() { return {Kind::kOutAddress, 0, -1, 8}; }
constexpr Parameter in_addresses(int8_t of) { return {Kind::kInAddresses, 0, of, 8}; }
constexpr Parameter number(int16_t kind) { return {Kind::kNumber, kind}; }
constexpr Parameter enumerator(int16_t which) { return {Kind::kEnumerator, which}; }
constexpr Parameter enumerators(int16_t which, int8_t of) {
  return {Kind::kEnumerators, which, of, 4};
}
constexpr Parameter text(int16_t kind, int8_t of) { return {Kind::kText, kind, of, 1}; }
constexpr Parameter out_text(int8_t of) { return {Kind::kOutText, 0, of, 1}; }
constexpr Parameter data(int8_t of) { return {Kind::kData, 0, of, 1}; }
constexpr Parameter room(int8_t of) { return {Kind::kRoom, 0, of, 1}; }
constexpr Parameter pages(int8_t of) { return {Kind::kPages, 0, of, 1}; }
constexpr Parameter input(int16_t type, uint32_t size, int8_t of) {
  return {Kind::kInput, type, of, size};
}
constexpr Parameter value(int16_t type, uint32_t size) { return {Kind::kValue, type, -1, size}; }
constexpr Parameter output(uint32_t size, int8_t of) { return {Kind::kOutput, 0, of, size}; }
constexpr Parameter sized_output(uint32_t size, int8_t of) {
  return {Kind::kSizedOutput, 0, of, size};
}
constexpr Parameter count_in_out() { return {Kind::kCountInOut, 0, -1, 8}; }
constexpr Parameter callback(int16_t type) { return {Kind::kCallback, type}; }
constexpr Parameter user_data() { return {Kind::kUserData}; }
constexpr Parameter real(uint32_t size) { return {Kind::kReal, 0, -1, size}; }

/// A word as a parameter. A structure by value is where the word points to.
template <class T>
T from_word(Word word) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(word);  // NOLINT: any value is the point
  } else if constexpr (std::is_class_v<T>) {
    T structure;
    std::memcpy(&structure, reinterpret_cast<const void*>(word), sizeof structure);  // NOLINT
    return structure;
  } else if constexpr (std::is_floating_point_v<T>) {
    T real;
    std::memcpy(&real, &word, sizeof real);
    return real;
  } else {
    return static_cast<T>(word);
  }
}

template <class Result, class... Types, size_t... Index>
int64_t call_with(Result (*function)(Types...), const Word* words, std::index_sequence<Index...>) {
  return static_cast<int64_t>(function(from_word<Types>(words[Index])...));
}
template <class Result, class... Types>
int64_t call_with(Result (*function)(Types...), const Word* words) {
  static_assert(sizeof...(Types) <= kMostParameters);
  return call_with(function, words, std::make_index_sequence<sizeof...(Types)>());
}

/// Calls a function with words for its parameters.
template <auto function>
int64_t call(const Word* words) {
  return call_with(function, words);
}

}  // namespace km::fuzz
