#include <dlfcn.h>

#include <memory>

#include "engine/base/module.h"
#include "engine/data/decode.h"
#include "engine/data/heif/heif_functions.h"
#include "engine/data/planes.h"

namespace loom {
namespace {

// Opened with the first such picture: libheif brings four codecs with it, which every start of the engine would load.
struct HeifLibrary {
  const LoomHeifFunctions* functions = nullptr;
  std::string why;  // it cannot be opened
  HeifLibrary() {
    const auto module = moduleNamed("loom_heif.so", "GRADLOOM_HEIF_MODULE");
    void* const handle = ::dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      why = ::dlerror();
      return;
    }
    const auto entry = reinterpret_cast<LoomHeifEntry>(::dlsym(handle, kLoomHeifEntryName));
    functions = entry ? entry() : nullptr;
    if (functions && functions->version == kLoomHeifVersion) return;
    functions = nullptr;
    why = module.string() + " is of another version of Gradloom";
  }
};

[[noreturn]] void refuseHeif(const char* why) {
  throw DecodeError(fmt::format("the HEIF image is broken ({})", why), "a whole image is needed",
                    "save it again as JPEG or PNG");
}

}  // namespace

void decodeHeif(std::span<const std::byte> file, Sample& sample) {
  static const HeifLibrary library;
  if (!library.functions)
    throw DecodeError(fmt::format("HEIF and AVIF images are read by libheif, which cannot be opened ({})", library.why),
                      "it is needed for this file",
                      "install it (Debian: libheif1), or save the image again as JPEG or PNG");
  char why[256] = "";
  int width = 0, height = 0;
  if (library.functions->size(file.data(), file.size(), &width, &height, why, sizeof why) != 0) refuseHeif(why);
  checkSampleSize(Shape{4, height, width}, DataType::u8, "the image");
  LoomHeifPicture picture{};
  const int failed = library.functions->decode(file.data(), file.size(), &picture, why, sizeof why);
  const std::unique_ptr<void, void (*)(void*)> owner(picture.owner, library.functions->free);
  if (failed != 0) refuseHeif(why);
  sample.kind = VariableKind::image;
  sample.type = DataType::u8;
  sample.shape = Shape{picture.channels, picture.height, picture.width};
  checkSampleSize(sample.shape, sample.type, "the image");
  const std::size_t rowPixels = static_cast<std::size_t>(picture.width),
                    rows = static_cast<std::size_t>(picture.height), each = static_cast<std::size_t>(picture.channels);
  sample.bytes.resize(rowPixels * rows * each);
  for (std::size_t y = 0; y < rows; ++y)
    partPlanes(reinterpret_cast<const std::byte*>(picture.pixels) + y * picture.stride, rowPixels, each, each,
               sample.bytes.data() + y * rowPixels, rowPixels * rows);
}

}  // namespace loom
