// MNIST from two sources. A program of its own: where the data is missing, nothing else counts as skipped.
#include <fmt/core.h>

#include <cstdlib>

#include "engine/data/dataset.h"
#include "engine/data/import.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

namespace fs = std::filesystem;

const fs::path kShared = fs::path(GRADLOOM_SOURCE_DIR) / ".." / "shared" / "data" / "mnist";

// The third condition: where the samples came from leaves no trace in the cache.
TEST(Cache, IsTheSameFromPngFilesAndFromIdx) {
  if (!fs::exists(kShared)) GTEST_SKIP() << kShared << " is not here";
  ScratchFolder folder;
  ASSERT_EQ(std::system(fmt::format("tar xzf '{}' -C '{}'", (kShared / "mnist-test-png.tar.gz").string(),
                                    folder.path().string())
                            .c_str()),
            0);
  const auto imported =
      importIdx(kShared / "t10k-images-idx3-ubyte.gz", kShared / "t10k-labels-idx1-ubyte.gz", folder.path() / "idx");
  EXPECT_EQ(imported.rows, 10000);
  const auto fromIdx = openDataset(imported.csv), fromPng = openDataset(folder.path() / "test.csv");
  EXPECT_EQ(fromIdx->size(), 10000);
  EXPECT_TRUE(contentOf(cachePath(imported.csv)) == contentOf(cachePath(folder.path() / "test.csv")));
  EXPECT_EQ(fromIdx->contentHash(), fromPng->contentHash());
}

}  // namespace
}  // namespace loom
