#include "engine/run/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

#include "engine/base/bf16.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"

namespace loom {
namespace {

static_assert(std::endian::native == std::endian::little, "the file is little-endian");
constexpr std::size_t kLargestHeader = std::size_t{100} << 20;  // as the format's own reader
constexpr const char* kHashKey =
    "data_xxh64";  // what earlier programs wrote as "data_hash" was another one, which nobody computes now

constexpr const char* kHeaderHashKey = "header_xxh64";
constexpr std::size_t kHashDigits = 16;

// Where the digits of the header's own hash stand in it. Quotes within a name are escaped, so only the key reads so.
std::size_t headerHashAt(std::string_view header) {
  const std::string key = fmt::format("\"{}\":\"", kHeaderHashKey);
  const std::size_t at = header.find(key);
  return at == std::string_view::npos || at + key.size() + kHashDigits > header.size() ? std::string_view::npos
                                                                                       : at + key.size();
}

// With zeros in its place.
std::string headerHash(std::string header, std::size_t at) {
  header.replace(at, kHashDigits, kHashDigits, '0');
  Hash64 hash;
  hash.add(header.data(), header.size());
  return fmt::format("{:016x}", hash.value());
}

std::uint64_t hashTensors(const std::vector<TensorFile::Tensor>& tensors) {
  Hash64 hash;
  for (const TensorFile::Tensor& tensor : tensors) hash.add(tensor.values.data(), tensor.values.size_bytes());
  return hash.value();
}

// Of one number of the type in the file; 0 for a type that the format does not know.
std::size_t bytesOf(std::string_view type) {
  if (type == "F64" || type == "I64" || type == "U64") return 8;
  if (type == "F32" || type == "I32" || type == "U32") return 4;
  if (type == "F16" || type == "BF16" || type == "I16" || type == "U16") return 2;
  return type == "I8" || type == "U8" || type == "BOOL" ? 1 : 0;
}

bool isReal(std::string_view type) {
  return type == "F64" || type == "F32" || type == "F16" || type == "BF16";
}

// IEEE 754 binary16: 5 bits of exponent, 10 of mantissa.
float fromF16(std::uint16_t word) {
  const int exponent = word >> 10 & 31, mantissa = word & 1023;
  const float magnitude =
      exponent == 31  ? (mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity())
      : exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                      : std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  return word & 0x8000 ? -magnitude : magnitude;
}

template <class Number, class Convert>
std::vector<float> converted(const std::byte* data, std::size_t count, Convert convert) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, data + i * sizeof number, sizeof number);
    values[i] = convert(number);
  }
  return values;
}

std::vector<float> asFloats(const std::byte* data, std::size_t count, std::string_view type) {
  if (type == "F64") return converted<double>(data, count, [](double value) { return static_cast<float>(value); });
  if (type == "F16") return converted<std::uint16_t>(data, count, fromF16);
  if (type == "BF16") return converted<std::uint16_t>(data, count, fromBf16);
  return converted<float>(data, count, [](float value) { return value; });
}

}  // namespace

void TensorFile::write(const std::filesystem::path& path, const std::vector<Tensor>& tensors, Metadata metadata) {
  metadata[kHeaderHashKey] = std::string(kHashDigits, '0');
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
  const std::size_t hashAt = headerHashAt(text);
  text.replace(hashAt, kHashDigits, headerHash(text, hashAt));
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
    throwError(ErrorCode::badData, "{} is no whole checkpoint or file of weights: {}; choose another one", name,
               reason);
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
  if (const std::size_t at = headerHashAt(text); at != std::string_view::npos) {
    const std::string found = headerHash(std::string(text), at), written(text.substr(at, kHashDigits));
    if (found != written) refuse(fmt::format("its header has the hash {}, but {} was written", found, written));
  }
  const std::span<const std::byte> data = bytes.subspan(sizeof length + length);

  struct Described {
    std::string name, type;
    Shape shape;
    std::uint64_t begin = 0, end = 0;
  };
  std::vector<Described> described;
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
      Shape shape(value.at("shape").get<std::vector<std::int64_t>>());
      const auto offsets = value.at("data_offsets").get<std::vector<std::uint64_t>>();
      if (offsets.size() != 2 || offsets[1] < offsets[0])
        refuse(fmt::format("tensor '{}' lies at {}, which is no range", key, value.at("data_offsets").dump()));
      for (const std::int64_t extent : shape)
        if (extent < 0) refuse(fmt::format("tensor '{}' has the extent {}", key, extent));
      described.push_back({key, value.at("dtype").get<std::string>(), std::move(shape), offsets[0], offsets[1]});
    } catch (const Json::exception& fault) {
      refuse(fmt::format("tensor '{}' is described wrongly ({})", key, fault.what()));
    }
  }
  // Other writers order their headers as they like; the data leave no gap all the same.
  std::stable_sort(described.begin(), described.end(), [](const Described& a, const Described& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t expected = 0;
  for (const Described& tensor : described) {
    if (tensor.begin != expected)
      refuse(fmt::format("tensor '{}' begins at byte {}, but {} was expected", tensor.name, tensor.begin, expected));
    const std::size_t width = bytesOf(tensor.type);
    if (width == 0) refuse(fmt::format("tensor '{}' is of the unknown type {}", tensor.name, tensor.type));
    if (tensor.end - tensor.begin != static_cast<std::uint64_t>(tensor.shape.elements()) * width)
      refuse(fmt::format("tensor '{}' is {} and has {} bytes", tensor.name, tensor.shape.toString(),
                         tensor.end - tensor.begin));
    if (tensor.end > data.size())
      refuse(fmt::format("tensor '{}' ends at byte {} of the data, but the file has only {}", tensor.name, tensor.end,
                         data.size()));
    expected = tensor.end;
    const std::byte* begin = data.data() + tensor.begin;
    const auto count = static_cast<std::size_t>(tensor.shape.elements());
    if (tensor.type == "F32" && reinterpret_cast<std::uintptr_t>(begin) % alignof(float) == 0) {
      m_tensors.push_back({tensor.name, tensor.shape, {reinterpret_cast<const float*>(begin), count}});
    } else if (isReal(tensor.type)) {  // or of a writer that did not align its data
      m_converted.push_back(asFloats(begin, count, tensor.type));
      m_tensors.push_back({tensor.name, tensor.shape, m_converted.back()});
    }
  }
  if (expected != data.size())
    refuse(fmt::format("its tensors take {} bytes, but {} follow the header", expected, data.size()));
  if (const auto hash = m_metadata.find(kHashKey); hash != m_metadata.end()) {
    Hash64 whole;
    whole.add(data.data(), data.size());
    if (const std::string found = fmt::format("{:016x}", whole.value()); found != hash->second)
      refuse(fmt::format("its data has the hash {}, but {} was written", found, hash->second));
  }
}

const TensorFile::Tensor* TensorFile::find(std::string_view name) const {
  for (const Tensor& tensor : m_tensors)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

}  // namespace loom
