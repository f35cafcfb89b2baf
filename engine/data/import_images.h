#pragma once
// What the importers share: many images written as PNG files by several threads, with the CSV that names them.
#include <functional>
#include <string>

#include "engine/data/import.h"
#include "engine/data/write_png.h"

namespace loom {

struct ImageSource {
  std::int64_t count = 0;
  Shape shape;                                                    // C x H x W
  std::string header;                                             // "x:image,y:label"
  std::function<std::span<const std::byte>(std::int64_t)> image;  // safe from several threads
  std::function<std::string(std::int64_t)> cells;                 // the cells behind the image's: "7" or "49,3"
};

// OUT/data/NN/NNNNNN.png (a thousand to a folder), OUT/index.csv, and OUT/classes.txt where there are names.
ImportResult importImages(const ImageSource& source, const std::filesystem::path& out, std::vector<std::string> classes,
                          const ImportOptions& options);

// A whole file, unpacked where it is gzip. Refuses more than 8 GB.
std::vector<std::byte> readPlainOrGzip(const std::filesystem::path& path);

// Creates the folder. Throws Error(badArgument) where a file stands in its place.
void makeFolder(const std::filesystem::path& folder);

// A path or name as a CSV cell: in quotes where it must be.
std::string csvCell(const std::string& text);

}  // namespace loom
