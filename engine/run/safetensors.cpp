#include "engine/run/safetensors.h"

#include <bit>
#include <cstring>

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"

namespace loom {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");
constexpr std::size_t kLargestHeader = std::size_t{100} << 20;  // as the format's own reader
constexpr const char* kHashKey =
    "data_xxh64";  // what earlier programs wrote as "data_hash" was another one, which nobody computes now

std::uint64_t hashTensors(const std::vector<TensorFile::Tensor>& tensors) {
  Hash64 hash;
  for (const TensorFile::Tensor& tensor : tensors) hash.add(tensor.values.data(), tensor.values.size_bytes());
  return hash.value();
}

}  // namespace

void TensorFile::write(const std::filesystem::path& path, const std::vector<Tensor>& tensors, Metadata metadata) {
  metadata[kHashKey] = fmt::format("{:016x}", hashTensors(tensors));
  Json header = {{"__metadata__", Json(metadata)}};
  std::uint64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    const std::uint64_t end = offset + tensor.values.size_bytes();
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape.extents()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.append((8 - text.size() % 8) % 8, ' ');  // the data begins aligned
  const std::uint64_t length = text.size();
  writeFileAtomically(path, [&](const Append& append) {
    append(&length, sizeof length);
    append(text.data(), text.size());
    for (const Tensor& tensor : tensors) append(tensor.values.data(), tensor.values.size_bytes());
  });
}

TensorFile::TensorFile(const std::filesystem::path& path) : m_file(path) {
  const std::string name = path.string();
  const std::span<const std::byte> bytes = m_file.bytes();
  const auto refuse = [&name](const std::string& reason) {
    throwError(ErrorCode::badData, "{} is no whole checkpoint: {}; choose another one of this run", name, reason);
  };
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length)
    refuse(fmt::format("it has {} bytes, but its length field alone takes 8", bytes.size()));
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kLargestHeader || length > bytes.size() - sizeof length)
    refuse(fmt::format("its header should have {} bytes, but the file has {}", length, bytes.size()));
  const std::string_view text = m_file.text().substr(sizeof length, length);
  const Json header = Json::parse(text, nullptr, false);
  if (!header.is_object()) refuse("its header is not JSON");
  const std::span<const std::byte> data = bytes.subspan(sizeof length + length);

  std::uint64_t expected = 0;
  for (const auto& [key, value] : header.items()) {
    if (key == "__metadata__") {
      if (!value.is_object()) refuse("its metadata is no object");
      for (const auto& [field, content] : value.items()) {
        if (!content.is_string()) refuse(fmt::format("its metadata '{}' is no text", field));
        m_metadata[field] = content.get<std::string>();
      }
      continue;
    }
    try {
      if (value.at("dtype").get<std::string>() != "F32")
        refuse(fmt::format("tensor '{}' is of type {}, but F32 is wanted", key, value.at("dtype").dump()));
      const Shape shape(value.at("shape").get<std::vector<std::int64_t>>());
      const auto offsets = value.at("data_offsets").get<std::vector<std::uint64_t>>();
      if (offsets.size() != 2 || offsets[0] != expected || offsets[1] < offsets[0])
        refuse(
            fmt::format("tensor '{}' lies at {}, but {} was expected", key, value.at("data_offsets").dump(), expected));
      for (const std::int64_t extent : shape)
        if (extent < 0) refuse(fmt::format("tensor '{}' has the extent {}", key, extent));
      if (offsets[1] - offsets[0] != static_cast<std::uint64_t>(shape.elements()) * sizeof(float))
        refuse(fmt::format("tensor '{}' is {} and has {} bytes", key, shape.toString(), offsets[1] - offsets[0]));
      if (offsets[1] > data.size())
        refuse(fmt::format("tensor '{}' ends at byte {} of the data, but the file has only {}", key, offsets[1],
                           data.size()));
      expected = offsets[1];
      // Headers of other writers may leave the data unaligned for float: such a file is refused rather than read
      // wrongly.
      const auto* values = reinterpret_cast<const float*>(data.data() + offsets[0]);
      if (reinterpret_cast<std::uintptr_t>(values) % alignof(float) != 0) refuse("its data is not aligned to 4 bytes");
      m_tensors.push_back({key, shape, {values, static_cast<std::size_t>(shape.elements())}});
    } catch (const Json::exception& fault) {
      refuse(fmt::format("tensor '{}' is described wrongly ({})", key, fault.what()));
    }
  }
  if (expected != data.size())
    refuse(fmt::format("its tensors take {} bytes, but {} follow the header", expected, data.size()));
  if (const auto hash = m_metadata.find(kHashKey); hash != m_metadata.end())
    if (const std::string found = fmt::format("{:016x}", hashTensors(m_tensors)); found != hash->second)
      refuse(fmt::format("its data has the hash {}, but {} was written", found, hash->second));
}

const TensorFile::Tensor* TensorFile::find(std::string_view name) const {
  for (const Tensor& tensor : m_tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace loom
