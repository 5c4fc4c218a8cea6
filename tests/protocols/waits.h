// The ways to write a loop that waits until a word in memory has reached a value: how the word is
// loaded, and how what was loaded decides that the loop ends.
#pragma once

#include <string>

#include "random.h"
#include "text.h"

namespace km::protocols {

/// A word that threads wait for.
struct Word {
  std::string address;     // a register: 64 bits, or 32 in shared memory
  bool is_shared = false;  // else in global memory
};

/// What the waits of a kernel may use: names of registers, and of variables that kernel_variables()
/// declares.
struct Frame {
  std::string lane, thread, warp;
  std::string scratch;        // 64 bits: a word of global memory of the thread's own
  std::string block_scratch;  // 64 bits: one of the block's own
  unsigned threads = 0;       // of the block
};

/// Each thread that comes here waits until the word is at least `value` (a register).
void wait_alone(Text& text, Random& random, const Frame& frame, const Word& word,
                const std::string& value);

/// All 32 lanes of a warp come here together, with the same word and value.
void wait_as_warp(Text& text, Random& random, const Frame& frame, const Word& word,
                  const std::string& value);

/// All threads of the block come here together, with the same word and value.
void wait_as_block(Text& text, Random& random, const Frame& frame, const Word& word,
                   const std::string& value);

/// Makes the word `value` (a register, larger than what it holds), after everything before.
void signal(Text& text, Random& random, const Word& word, const std::string& value);

/// Orders what comes before and after it, for all threads of the device.
void fence(Text& text, Random& random);

/// Functions that waits call, for the beginning of the module.
std::string wait_functions();
/// Variables that waits use, for the beginning of the kernel.
std::string wait_variables();

}  // namespace km::protocols
