#include <algorithm>

#include "engine/base/error.h"
#include "engine/data/byte_reader.h"
#include "engine/data/import_images.h"

namespace loom {
namespace {

struct IdxArray {
  std::vector<std::byte> file;
  std::vector<std::int64_t> extents;
  std::span<const std::byte> values;
};

// Two zeros, the type of elements, the number of axes, the extents (u32, most significant byte first), the elements.
IdxArray readIdx(const std::filesystem::path& path) {
  IdxArray array;
  array.file = readPlainOrGzip(path);
  try {
    ByteReader in(array.file, "IDX file");
    const std::uint32_t magic = in.u32Big();
    if (magic >> 16 != 0 || (magic & 0xff) == 0 || (magic & 0xff) > 4)
      throw DecodeError(fmt::format("it begins with {:#010x}", magic),
                        "an IDX file begins with two zeros, a type and a number of axes",
                        "name an IDX file, such as train-images-idx3-ubyte.gz");
    if ((magic >> 8 & 0xff) != 0x08)
      throw DecodeError(fmt::format("its elements have the type {:#04x}", magic >> 8 & 0xff), "bytes (0x08) are needed",
                        "convert it to bytes");
    std::int64_t count = 1;
    for (std::uint32_t axis = 0; axis < (magic & 0xff); ++axis) {
      array.extents.push_back(in.u32Big());
      if (__builtin_mul_overflow(count, array.extents.back(), &count) || count > (std::int64_t{1} << 40))
        throw DecodeError("it claims more elements than can be", "an IDX file of at most 8 GB is needed",
                          "fetch it again");
    }
    if (static_cast<std::int64_t>(in.left()) != count)
      throw DecodeError(fmt::format("it holds {} elements", in.left()), fmt::format("its header claims {}", count),
                        "it was cut short or damaged: fetch it again");
    array.values = in.take(in.left());
  } catch (DecodeError& error) {
    error.addContext(path.string());
    throw;
  }
  return array;
}

void replace(std::string& text, std::string_view from, std::string_view to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
}

}  // namespace

std::vector<IdxPair> findIdxPairs(const std::filesystem::path& folder) {
  std::error_code error, absent;
  std::vector<IdxPair> pairs;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string file = at->path().filename().string();
    const std::size_t word = file.find("images");
    if (word == std::string::npos || file.find("idx") == std::string::npos) continue;
    std::string partner = file;
    replace(partner, "images", "labels");
    replace(partner, file.find("idx4") != std::string::npos ? "idx4" : "idx3", "idx1");
    if (!std::filesystem::is_regular_file(folder / partner, absent)) continue;
    std::string name = file.substr(0, word);
    while (!name.empty() && (name.back() == '-' || name.back() == '_' || name.back() == '.')) name.pop_back();
    pairs.push_back({name.empty() ? "data" : name, at->path(), folder / partner});
  }
  if (error) throwError(ErrorCode::missingFile, "{} cannot be read: {}", folder.string(), error.message());
  std::sort(pairs.begin(), pairs.end(), [](const IdxPair& a, const IdxPair& b) { return a.name < b.name; });
  return pairs;
}

ImportResult importIdx(const std::filesystem::path& images, const std::filesystem::path& labels,
                       const std::filesystem::path& out, const ImportOptions& options) {
  const IdxArray pictures = readIdx(images), classes = readIdx(labels);
  if (pictures.extents.size() < 3)
    throwError(ErrorCode::badData, "{} has {} axes, but images have 3 (N x H x W) or 4 (N x C x H x W){}",
               images.string(), pictures.extents.size(),
               pictures.extents.size() == 1 && classes.extents.size() > 1
                   ? "; images come first, then labels: the two are exchanged"
                   : "");
  if (classes.extents.size() != 1)
    throwError(ErrorCode::badData, "{} has {} axes, but labels have one; name the file of labels", labels.string(),
               classes.extents.size());
  if (pictures.extents[0] != classes.extents[0])
    throwError(ErrorCode::badData, "{} holds {} images, but {} holds {} labels; take two files that belong together",
               images.string(), pictures.extents[0], labels.string(), classes.extents[0]);
  if (pictures.extents[0] == 0) throwError(ErrorCode::badData, "{} holds no images", images.string());
  const bool channelled = pictures.extents.size() == 4;
  const Shape shape = channelled ? Shape{pictures.extents[1], pictures.extents[2], pictures.extents[3]}
                                 : Shape{1, pictures.extents[1], pictures.extents[2]};
  if (shape[0] < 1 || shape[0] > 4 || shape[1] < 1 || shape[2] < 1 || shape[1] > 65535 || shape[2] > 65535)
    throwError(ErrorCode::badData,
               "{} holds images of shape {}, but 1 to 4 channels and 1 to 65535 pixels a side can be written",
               images.string(), shape.toString());
  const auto bytes = static_cast<std::size_t>(shape.elements());
  return importImages(
      {.count = pictures.extents[0],
       .shape = shape,
       .header = "x:image,y:label",
       .image = [&](std::int64_t i) { return pictures.values.subspan(static_cast<std::size_t>(i) * bytes, bytes); },
       .cells =
           [&](std::int64_t i) {
             return std::to_string(std::to_integer<int>(classes.values[static_cast<std::size_t>(i)]));
           }},
      out, {}, options);
}

}  // namespace loom
