#include "engine/exchange/onnx/tensor_data.h"

#include <bit>
#include <cstring>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/files.h"

namespace loom::onnx_file {
namespace {

static_assert(std::endian::native == std::endian::little, "raw data of ONNX are little-endian");

float fromHalf(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float sign = bits & 0x8000 ? -1.0F : 1.0F;
  if (exponent == 31)
    return mantissa ? std::numeric_limits<float>::quiet_NaN() : sign * std::numeric_limits<float>::infinity();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
}

float fromBfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Whether a file lies in a folder or below it; both as they really are, behind all links.
bool isBelow(const std::filesystem::path& file, const std::filesystem::path& folder) {
  const std::filesystem::path inside = file.lexically_relative(folder);
  return !inside.empty() && *inside.begin() != "..";
}

// The bytes of a tensor whose data stand in another file.
std::string externalBytes(const onnx::TensorProto& tensor, const std::filesystem::path& model) {
  std::string location;
  std::uint64_t offset = 0, length = 0;
  bool hasLength = false;
  const auto number = [&](const std::string& text) {
    if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != text.npos)
      throwError(ErrorCode::badData, "the place of its data is '{}', which is no number", text.substr(0, 40));
    return std::stoull(text);
  };
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = number(entry.value());
    if (entry.key() == "length") length = number(entry.value()), hasLength = true;
  }
  const std::filesystem::path given(location);
  std::error_code fault;
  const std::filesystem::path home =
      std::filesystem::weakly_canonical(model.has_parent_path() ? model.parent_path() : ".", fault);
  const std::filesystem::path file = std::filesystem::weakly_canonical(home / given, fault);
  // A cache of a hub keeps links to files elsewhere: the data then lie beside the file that the model's link leads to.
  const std::filesystem::path really = std::filesystem::weakly_canonical(model, fault).parent_path();
  if (location.empty() || given.is_absolute() || fault || !isBelow((home / given).lexically_normal(), home) ||
      !(isBelow(file, home) || isBelow(file, really)))
    throwError(ErrorCode::badData,
               "its data lie in '{}', which is outside of the folder of the ONNX file; put it there", location);
  const MappedFile mapped(file);
  const std::string_view text = mapped.text();
  if (isLfsPointer(text))
    throwError(ErrorCode::badData, "{} is a pointer of Git LFS, not the data themselves: run git lfs pull", location);
  if (offset > text.size() || (hasLength && length > text.size() - offset))
    throwError(ErrorCode::badData, "its data are to be {} bytes from byte {} on of {}, which has {}", length, offset,
               location, text.size());
  return std::string(text.substr(offset, hasLength ? length : text.npos));
}

template <class T, class To, class Convert>
void convertRaw(std::string_view bytes, std::int64_t elements, std::vector<To>& to, Convert convert) {
  if (bytes.size() % sizeof(T) != 0 || bytes.size() / sizeof(T) != static_cast<std::size_t>(elements))
    throwError(ErrorCode::badData, "it holds {} bytes, but its shape wants {} numbers of {}", bytes.size(), elements,
               sizeof(T));
  to.resize(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < to.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    to[i] = convert(value);
  }
}

template <class Field, class To, class Convert>
void convertField(const Field& field, std::int64_t elements, std::vector<To>& to, Convert convert) {
  if (field.size() != elements)
    throwError(ErrorCode::badData, "it holds {} numbers, but its shape wants {}", field.size(), elements);
  to.reserve(static_cast<std::size_t>(elements));
  for (const auto value : field) to.push_back(convert(value));
}

template <class T>
void wholes(const onnx::TensorProto& tensor, bool raw, std::string_view bytes, std::int64_t elements, Constant& to) {
  const auto same = [](auto value) { return static_cast<std::int64_t>(value); };
  if (raw)
    convertRaw<T>(bytes, elements, to.wholes, same);
  else if constexpr (std::is_same_v<T, std::int64_t>)
    convertField(tensor.int64_data(), elements, to.wholes, same);
  else if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, std::uint32_t>)
    convertField(tensor.uint64_data(), elements, to.wholes, same);
  else
    convertField(tensor.int32_data(), elements, to.wholes, same);
}

void fill(const onnx::TensorProto& tensor, bool raw, std::string_view bytes, std::int64_t elements, Constant& to) {
  using Type = onnx::TensorProto;
  const auto real = [](auto value) { return static_cast<float>(value); };
  const auto half = [](auto value) { return fromHalf(static_cast<std::uint16_t>(value)); };
  const auto bfloat = [](auto value) { return fromBfloat(static_cast<std::uint16_t>(value)); };
  to.kind = Constant::Kind::whole;
  switch (tensor.data_type()) {
    case Type::FLOAT:
    case Type::DOUBLE:
    case Type::FLOAT16:
    case Type::BFLOAT16:
      to.kind = Constant::Kind::real;
      if (tensor.data_type() == Type::FLOAT)
        raw ? convertRaw<float>(bytes, elements, to.reals, real)
            : convertField(tensor.float_data(), elements, to.reals, real);
      else if (tensor.data_type() == Type::DOUBLE)
        raw ? convertRaw<double>(bytes, elements, to.reals, real)
            : convertField(tensor.double_data(), elements, to.reals, real);
      else if (tensor.data_type() == Type::FLOAT16)
        raw ? convertRaw<std::uint16_t>(bytes, elements, to.reals, half)
            : convertField(tensor.int32_data(), elements, to.reals, half);
      else
        raw ? convertRaw<std::uint16_t>(bytes, elements, to.reals, bfloat)
            : convertField(tensor.int32_data(), elements, to.reals, bfloat);
      return;
    case Type::BOOL:
      to.kind = Constant::Kind::truth;
      return wholes<std::uint8_t>(tensor, raw, bytes, elements, to);
    case Type::UINT8:
      return wholes<std::uint8_t>(tensor, raw, bytes, elements, to);
    case Type::INT8:
      return wholes<std::int8_t>(tensor, raw, bytes, elements, to);
    case Type::UINT16:
      return wholes<std::uint16_t>(tensor, raw, bytes, elements, to);
    case Type::INT16:
      return wholes<std::int16_t>(tensor, raw, bytes, elements, to);
    case Type::INT32:
      return wholes<std::int32_t>(tensor, raw, bytes, elements, to);
    case Type::UINT32:
      return wholes<std::uint32_t>(tensor, raw, bytes, elements, to);
    case Type::INT64:
      return wholes<std::int64_t>(tensor, raw, bytes, elements, to);
    case Type::UINT64:
      return wholes<std::uint64_t>(tensor, raw, bytes, elements, to);
    default:
      throwError(ErrorCode::badData, "its type is number {} of ONNX's, which is neither a number nor a truth value",
                 tensor.data_type());
  }
}

}  // namespace

ConstantPointer constantFrom(const onnx::TensorProto& tensor, const std::filesystem::path& model) {
  try {
    auto constant = std::make_shared<Constant>();
    constant->extents.assign(tensor.dims().begin(), tensor.dims().end());
    constant->type = tensor.data_type();
    const std::int64_t elements = elementsOf(constant->extents);
    if (tensor.has_segment())
      throwError(ErrorCode::badData, "it is one segment of several, which nothing writes any more");
    const bool external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    const std::string outside = external ? externalBytes(tensor, model) : std::string();
    fill(tensor, external || tensor.has_raw_data(), external ? std::string_view(outside) : tensor.raw_data(), elements,
         *constant);
    return constant;
  } catch (Error& error) {
    throw error.addContext(fmt::format("tensor '{}'", tensor.name().substr(0, 200)));
  }
}

}  // namespace loom::onnx_file
