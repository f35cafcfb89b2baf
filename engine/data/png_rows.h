#pragma once
// The filters of PNG (specification, section 9), undone row by row.
#include <cstddef>

namespace loom {

// What is written and read behind the end of a row: filters take four bytes at a time.
inline constexpr std::size_t kPngRowSlack = 4;

// row = the row before filtering, of `filtered` (without its filter's number) and the row above it, each of `bytes`
// bytes, with pixels of `each` bytes (1 to 4). kPngRowSlack bytes behind the end are read of all three, and behind
// `row` overwritten. False for a filter that PNG does not have.
bool undoPngFilter(int filter, std::size_t each, const std::byte* filtered, const std::byte* above, std::byte* row,
                   std::size_t bytes);

// The same byte by byte, as processors without AVX2 do it: for filters 1, 3 and 4, and here for tests.
void undoPngFilterByBytes(int filter, std::size_t each, const std::byte* filtered, const std::byte* above,
                          std::byte* row, std::size_t bytes);

}  // namespace loom
