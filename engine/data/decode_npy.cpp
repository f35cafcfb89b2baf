#include <bit>
#include <charconv>
#include <cmath>

#include "engine/data/byte_reader.h"
#include "engine/data/decode.h"
#include "engine/data/text.h"

namespace loom {
namespace {

struct NpyHeader {
  char order = '|', kind = 0;  // '<', '>', '|'; 'f', 'i', 'u', 'b'
  int bytes = 0;
  bool fortran = false;
  Shape shape;
};

[[noreturn]] void refuseNpy(std::string found, std::string wanted,
                            std::string remedy = "write it again with numpy.save()") {
  throw DecodeError("the NumPy array " + std::move(found), std::move(wanted), std::move(remedy));
}

// What stands behind 'key': in the header, a Python dict literal that numpy.save() writes in one form only.
std::string_view valueOf(std::string_view header, std::string_view key) {
  const auto at = header.find(fmt::format("'{}':", key));
  if (at == std::string_view::npos)
    refuseNpy(fmt::format("has a header without '{}'", key), "descr, fortran_order and shape are needed");
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

NpyHeader parseHeader(std::string_view text) {
  NpyHeader header;
  const std::string_view descr = valueOf(text, "descr");
  if (descr.size() < 5 || descr[0] != '\'')
    refuseNpy("holds records", "an array of plain numbers is needed", "save one array of numbers a sample");
  const auto end = descr.find('\'', 1);
  const std::string_view type = descr.substr(1, end == std::string_view::npos ? 0 : end - 1);
  const bool sized = type.size() >= 3 && type.size() <= 4;
  header.order = sized ? type[0] : '?';
  header.kind = sized ? type[1] : '?';
  if (sized) std::from_chars(type.data() + 2, type.data() + type.size(), header.bytes);
  const bool real = header.kind == 'f' && (header.bytes == 2 || header.bytes == 4 || header.bytes == 8);
  const bool whole = (header.kind == 'i' || header.kind == 'u') &&
                     (header.bytes == 1 || header.bytes == 2 || header.bytes == 4 || header.bytes == 8);
  const bool boolean = header.kind == 'b' && header.bytes == 1;
  if ((!real && !whole && !boolean) ||
      (header.order != '<' && header.order != '>' && header.order != '|' && header.order != '='))
    refuseNpy(fmt::format("has elements of type {}", quotedText(type)),
              "integers, floats of 2, 4 or 8 bytes, or booleans are read", "convert it with array.astype('float32')");
  const std::string_view fortran = valueOf(text, "fortran_order");
  header.fortran = fortran.starts_with("True");
  if (!header.fortran && !fortran.starts_with("False"))
    refuseNpy("has a broken header", "fortran_order must be True or False");
  std::string_view shape = valueOf(text, "shape");
  if (shape.empty() || shape[0] != '(') refuseNpy("has a broken header", "the shape must be a tuple");
  std::vector<std::int64_t> extents;
  const char* p = shape.data() + 1;
  const char* const stop = shape.data() + shape.size();
  for (;;) {
    while (p < stop && (*p == ' ' || *p == ',' || *p == 'L')) ++p;
    if (p == stop) refuseNpy("has a broken header", "the shape must be a tuple");
    if (*p == ')') break;
    std::int64_t extent = 0;
    const auto [next, fault] = std::from_chars(p, stop, extent);
    if (fault != std::errc{} || extents.size() > 6)
      refuseNpy("has a broken header", "the shape must be a tuple of at most 6 whole numbers");
    extents.push_back(extent);
    p = next;
  }
  if (extents.empty()) extents.push_back(1);
  if (extents.size() > 6) refuseNpy(fmt::format("has {} axes", extents.size()), "at most 6 are read");
  header.shape = Shape(std::move(extents));
  return header;
}

float halfToFloat(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const float mantissa = static_cast<float>(half & 1023);
  const float value = exponent == 31  ? (mantissa == 0 ? INFINITY : NAN)
                      : exponent == 0 ? std::ldexp(mantissa, -24)
                                      : std::ldexp(mantissa + 1024, exponent - 25);
  return half & 0x8000 ? -value : value;
}

template <class T>
float as(std::uint64_t bits) {
  T value;
  if constexpr (sizeof(T) == 4) {
    const auto narrow = static_cast<std::uint32_t>(bits);
    std::memcpy(&value, &narrow, 4);
  } else {
    std::memcpy(&value, &bits, 8);
  }
  return static_cast<float>(value);
}

float valueAt(const std::byte* p, const NpyHeader& header) {
  std::uint64_t bits = 0;
  for (int i = 0; i < header.bytes; ++i) {
    const int place = header.order == '>' ? i : header.bytes - 1 - i;
    bits = bits << 8 | std::to_integer<std::uint64_t>(p[place]);
  }
  if (header.kind == 'f')
    return header.bytes == 2   ? halfToFloat(static_cast<std::uint16_t>(bits))
           : header.bytes == 4 ? as<float>(bits)
                               : as<double>(bits);
  if (header.kind == 'i' && header.bytes < 8) {  // extend the sign
    const int shift = 64 - 8 * header.bytes;
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
  }
  return header.kind == 'i' ? static_cast<float>(static_cast<std::int64_t>(bits)) : static_cast<float>(bits);
}

}  // namespace

void decodeNpy(std::span<const std::byte> file, Sample& sample) {
  ByteReader in(file, "NumPy array");
  in.seek(6);  // the magic: looked at by the caller
  const int major = std::to_integer<int>(in.take(1)[0]);
  in.take(1);
  if (major < 1 || major > 3) refuseNpy(fmt::format("has the format version {}", major), "1, 2 and 3 are read");
  const std::size_t length = major == 1 ? in.u16() : in.u32();
  if (length > 65536) refuseNpy(fmt::format("has a header of {} bytes", length), "at most 65536 are read");
  const NpyHeader header = parseHeader(in.text(length));
  const bool keep = header.kind == 'u' && header.bytes == 1;
  sample.kind = VariableKind::matrix;
  sample.type = keep ? DataType::u8 : DataType::f32;
  sample.shape = header.shape;
  checkSampleSize(sample.shape, sample.type, "the array");
  const std::size_t count = static_cast<std::size_t>(sample.shape.elements());
  const auto data = in.take(count * static_cast<std::size_t>(header.bytes));
  sample.bytes.resize(count * bytesOf(sample.type));

  const std::size_t rank = sample.shape.rank();
  const bool straight = !header.fortran || rank == 1;
  if (straight && (keep || (header.kind == 'f' && header.bytes == 4 && header.order != '>'))) {
    std::memcpy(sample.bytes.data(), data.data(), sample.bytes.size());
    return;
  }
  // Column-major arrays: the element's place is carried along with the index, axis by axis.
  std::vector<std::size_t> index(rank, 0), step(rank, 1);
  if (straight) {
    for (std::size_t axis = rank - 1; axis-- > 0;)
      step[axis] = step[axis + 1] * static_cast<std::size_t>(sample.shape[static_cast<std::int64_t>(axis) + 1]);
  } else {
    for (std::size_t axis = 1; axis < rank; ++axis)
      step[axis] = step[axis - 1] * static_cast<std::size_t>(sample.shape[static_cast<std::int64_t>(axis) - 1]);
  }
  std::size_t place = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* from = data.data() + place * static_cast<std::size_t>(header.bytes);
    if (keep)
      sample.bytes[i] = *from;
    else
      reinterpret_cast<float*>(sample.bytes.data())[i] = valueAt(from, header);
    for (std::size_t axis = rank; axis-- > 0;) {
      place += step[axis];
      if (++index[axis] < static_cast<std::size_t>(sample.shape[static_cast<std::int64_t>(axis)])) break;
      place -= step[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace loom
