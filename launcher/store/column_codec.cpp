#include "launcher/store/column_codec.h"

#include <cstring>

#include "engine/base/error.h"

namespace loom {
namespace {

constexpr char kVersion = 1;
constexpr int kFastest = 1;  // deflate level: 2 and above gain 3 % and cost twice the time

}  // namespace

QByteArray encodeColumns(const WordColumns& columns, const std::vector<bool>& isReal) {
  const std::uint32_t rows = columns.empty() ? 0 : static_cast<std::uint32_t>(columns[0].size());
  QByteArray plain(static_cast<qsizetype>(columns.size()) * rows * 8, Qt::Uninitialized);
  char* out = plain.data();
  std::vector<std::uint64_t> words(rows);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::uint64_t before = 0;
    for (std::uint32_t r = 0; r < rows; ++r) {
      const std::uint64_t word = columns[c][r];
      words[r] = isReal[c] ? word ^ before : word - before;
      before = word;
    }
    for (int byte = 0; byte < 8; ++byte)
      for (std::uint32_t r = 0; r < rows; ++r) *out++ = static_cast<char>(words[r] >> (8 * byte));
  }
  QByteArray data(5, Qt::Uninitialized);
  data[0] = kVersion;
  std::memcpy(data.data() + 1, &rows, 4);
  return data + qCompress(plain, kFastest);
}

WordColumns decodeColumns(const QByteArray& data, const std::vector<bool>& isReal) {
  const auto refuse = [&] {
    throwError(ErrorCode::inputOutput, "a block of curve points is damaged ({} bytes)", data.size());
  };
  if (data.size() < 5 || data[0] != kVersion) refuse();
  std::uint32_t rows = 0;
  std::memcpy(&rows, data.constData() + 1, 4);
  const QByteArray plain = qUncompress(data.mid(5));
  if (plain.size() != static_cast<qsizetype>(isReal.size()) * rows * 8) refuse();
  WordColumns columns(isReal.size(), std::vector<std::uint64_t>(rows));
  const auto* in = reinterpret_cast<const unsigned char*>(plain.constData());
  for (std::size_t c = 0; c < isReal.size(); ++c) {
    auto& column = columns[c];
    for (int byte = 0; byte < 8; ++byte)
      for (std::uint32_t r = 0; r < rows; ++r) column[r] |= static_cast<std::uint64_t>(*in++) << (8 * byte);
    std::uint64_t before = 0;
    for (std::uint32_t r = 0; r < rows; ++r) before = column[r] = isReal[c] ? column[r] ^ before : column[r] + before;
  }
  return columns;
}

}  // namespace loom
