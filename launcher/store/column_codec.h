#pragma once
// Numbers of a block as bytes: each column is turned into differences, its bytes are sorted by significance, all of it
// is deflated. Steps shrink to nearly nothing, losses to three or four bytes; bits are kept exactly (NaN payloads too).
#include <QByteArray>
#include <cstdint>
#include <vector>

namespace loom {

using WordColumns = std::vector<std::vector<std::uint64_t>>;

// All columns have the same length. `isReal[c]`: the column holds doubles (XOR with the one before) rather than
// integers.
QByteArray encodeColumns(const WordColumns& columns, const std::vector<bool>& isReal);
// Throws Error(inputOutput) when the bytes are not such a block.
WordColumns decodeColumns(const QByteArray& data, const std::vector<bool>& isReal);

}  // namespace loom
