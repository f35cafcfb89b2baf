// The packed cache: the same bytes from every source and any number of threads, one builder at a time, never half.
#include "engine/data/cache.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "engine/data/pack.h"
#include "engine/data/write_png.h"
#include "tests/engine/data/data_files.h"

namespace loom {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// `count` images of 5 x 4 whose bytes follow from their number, and train.csv.
fs::path writeImages(const ScratchFolder& folder, int count) {
  std::string csv = "x:image,y:label\n";
  for (int i = 0; i < count; ++i) {
    std::vector<std::byte> image(20);
    for (std::size_t k = 0; k < image.size(); ++k) image[k] = static_cast<std::byte>(i * 31 + static_cast<int>(k) * 7);
    fs::create_directories(folder.path() / "img");
    writePng(folder.path() / fmt::format("img/{}.png", i), image, Shape{1, 5, 4});
    csv += fmt::format("img/{}.png,{}\n", i, i % 3);
  }
  return folder.write("train.csv", csv);
}

TEST(Cache, HoldsWhatTheFilesHold) {
  ScratchFolder folder;
  const auto dataset = openDataset(writeImages(folder, 300));
  ASSERT_EQ(dataset->size(), 300);
  ASSERT_EQ(dataset->schema().variables.size(), 2u);
  EXPECT_EQ(dataset->schema().variables[0].shape, (Shape{1, 5, 4}));
  EXPECT_EQ(dataset->schema().variables[0].kind, VariableKind::image);
  EXPECT_EQ(dataset->schema().variables[0].label, "image");
  EXPECT_EQ(dataset->schema().variables[1].kind, VariableKind::scalar);
  for (int i : {0, 1, 150, 299}) {
    const auto image = dataset->read(i, 0);
    ASSERT_EQ(image.size(), 20u);
    for (std::size_t k = 0; k < 20; ++k)
      EXPECT_EQ(std::to_integer<int>(image[k]), (i * 31 + static_cast<int>(k) * 7) % 256);
    EXPECT_EQ(*reinterpret_cast<const float*>(dataset->read(i, 1).data()), static_cast<float>(i % 3));
  }
  EXPECT_THAT(messageOf([&] { dataset->read(300, 0); }), HasSubstr("300 rows"));
}

TEST(Cache, IsTheSameForAnyNumberOfThreads) {
  ScratchFolder folder;
  std::string csv = "x__0,x__1,x__2,y\n";
  for (int i = 0; i < 60000; ++i) csv += fmt::format("{},{:.7f},{:e},{}\n", i, i * 0.37, i * 1e-5, i % 10);
  const auto file = folder.write("t.csv", csv);
  std::string first;
  for (int threads : {1, 2, 5}) {
    OpenOptions options{.cacheFolder = folder.path() / std::to_string(threads), .threads = threads};
    EXPECT_EQ(openDataset(file, options)->size(), 60000);
    const std::string bytes = contentOf(cachePath(file, options));
    if (first.empty()) first = bytes;
    EXPECT_GT(bytes.size(), 60000u * 16);
    EXPECT_TRUE(bytes == first) << threads << " threads";
  }
}

TEST(Cache, IsBuiltAnewWhenASourceChanges) {
  ScratchFolder folder;
  const auto csv = writeImages(folder, 10);
  EXPECT_FALSE(cacheIsFresh(csv));
  const std::string before = openDataset(csv)->contentHash();
  EXPECT_TRUE(cacheIsFresh(csv));
  const auto written = fs::last_write_time(cachePath(csv));
  openDataset(csv);
  EXPECT_EQ(fs::last_write_time(cachePath(csv)), written);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::vector<std::byte> other(20, std::byte{9});
  writePng(folder.path() / "img/7.png", other, Shape{1, 5, 4});
  EXPECT_FALSE(cacheIsFresh(csv));
  const auto dataset = openDataset(csv);
  EXPECT_NE(dataset->contentHash(), before);
  EXPECT_EQ(dataset->read(7, 0)[3], std::byte{9});
  fs::remove(folder.path() / "img/7.png");
  EXPECT_THAT(messageOf([&] { openDataset(csv); }), HasSubstr("train.csv line 9, column x:image: there is no file"));
  EXPECT_FALSE(cacheIsFresh(csv));
}

// An archive with fixed times, cp -p, rsync -t: size and time say nothing, the number of the file and its change do.
TEST(Cache, IsBuiltAnewWhenAnotherFileHasTheSameSizeAndTime) {
  ScratchFolder folder;
  const auto csv = folder.write("t.csv", "x__0,y:label\n0.1,0\n0.2,1\n");
  const auto time = fs::last_write_time(csv);
  openDataset(csv);
  const fs::path keyFile = cachePath(csv).replace_extension(".key");
  const std::string key = contentOf(keyFile);
  // The same content, written again: looked into once, and fresh without a look from then on.
  folder.write("t.csv", "x__0,y:label\n0.1,0\n0.2,1\n");
  fs::last_write_time(csv, time);
  EXPECT_TRUE(cacheIsFresh(csv));
  const std::string renewed = contentOf(keyFile);
  EXPECT_NE(renewed, key);
  EXPECT_TRUE(cacheIsFresh(csv));
  EXPECT_EQ(contentOf(keyFile), renewed);
  folder.write("other.csv", "x__0,y:label\n0.7,0\n0.9,1\n");
  fs::last_write_time(folder.path() / "other.csv", time);
  fs::rename(folder.path() / "other.csv", csv);
  EXPECT_FALSE(cacheIsFresh(csv));
  EXPECT_FLOAT_EQ(*reinterpret_cast<const float*>(openDataset(csv)->read(0, 0).data()), 0.7f);

  const auto images = writeImages(folder, 3);
  const auto image = folder.path() / "img/1.png";
  const auto taken = fs::last_write_time(image);
  openDataset(images);
  std::vector<std::byte> other(20);
  for (std::size_t k = 0; k < 20; ++k) other[k] = static_cast<std::byte>(31 + k * 7);
  std::swap(other[3], other[11]);
  const auto size = fs::file_size(image);
  writePng(image, other, Shape{1, 5, 4});
  fs::last_write_time(image, taken);
  if (fs::file_size(image) == size) EXPECT_FALSE(cacheIsFresh(images));
  EXPECT_EQ(openDataset(images)->read(1, 0)[3], other[3]);
}

TEST(Cache, ThatWasCutShortOrDamagedIsBuiltAnew) {
  ScratchFolder folder;
  const auto csv = writeImages(folder, 10);
  openDataset(csv);
  const auto pack = cachePath(csv);
  const std::string whole = contentOf(pack);
  for (std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{64}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(pack, std::ios::binary).write(whole.data(), static_cast<std::streamsize>(size));
    EXPECT_THAT(messageOf([&] { openPack(pack); }), HasSubstr("is no whole data cache"));
    EXPECT_EQ(openDataset(csv)->size(), 10);
    EXPECT_TRUE(contentOf(pack) == whole);
  }
  // The right size and a damaged description: found by its hash.
  std::string damaged = whole;
  damaged[whole.size() - 80] ^= 1;
  std::ofstream(pack, std::ios::binary).write(damaged.data(), static_cast<std::streamsize>(damaged.size()));
  EXPECT_EQ(openDataset(csv)->size(), 10);
  EXPECT_TRUE(contentOf(pack) == whole);
  // A pack travels without its sources.
  const auto copy = folder.path() / "elsewhere.pack";
  fs::copy_file(pack, copy);
  fs::remove_all(folder.path() / "img");
  EXPECT_EQ(openDataset(copy)->size(), 10);
}

TEST(Cache, LeavesNothingBehindWhenBuildingFails) {
  ScratchFolder folder;
  const auto csv = writeImages(folder, 50);
  folder.write("img/40.png", "no image");
  EXPECT_THAT(messageOf([&] { openDataset(csv); }),
              HasSubstr("train.csv line 42, column x:image: 'img/40.png': the file is of an unknown kind"));
  for (const auto& entry : fs::directory_iterator(folder.path() / ".gradloom-cache"))
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
  int calls = 0;
  writeImages(folder, 50);
  OpenOptions options;
  options.progress = [&](const CacheProgress&) { return ++calls < 1; };
  try {
    openDataset(csv, options);
    FAIL() << "was not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::stopped);
  }
  EXPECT_FALSE(cacheIsFresh(csv));
}

// Both processes want the cache at once; each opens a whole one, and only one builds it.
TEST(Cache, HasOneBuilderAtATime) {
  ScratchFolder folder;
  const auto csv = writeImages(folder, 2000);
  int built = 0;
  std::vector<pid_t> children;
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  for (int i = 0; i < 4; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      bool builds = false;
      OpenOptions options{.threads = 1};
      options.progress = [&](const CacheProgress& progress) { return builds = builds || progress.rowsDone > 0, true; };
      const bool good = [&] {
        try {
          return openDataset(csv, options)->size() == 2000;
        } catch (...) {
          return false;
        }
      }();
      if (builds && write(pipes[1], "b", 1) != 1) _exit(3);
      _exit(good ? 0 : 2);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  close(pipes[1]);
  for (char c; read(pipes[0], &c, 1) == 1;) ++built;
  close(pipes[0]);
  EXPECT_EQ(built, 1);
}

TEST(Cache, OfAKilledBuilderIsReplaced) {
  ScratchFolder folder;
  const auto csv = writeImages(folder, 2000);
  const pid_t child = fork();
  if (child == 0) {
    OpenOptions options{.threads = 1};
    options.progress = [&](const CacheProgress& progress) {
      if (progress.rowsDone > 0) raise(SIGKILL);
      return true;
    };
    openDataset(csv, options);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(cacheIsFresh(csv));
  EXPECT_EQ(openDataset(csv)->size(), 2000);
  for (const auto& entry : fs::directory_iterator(folder.path() / ".gradloom-cache"))
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("partial")))
        << "the killed builder's leftovers";
}

// A file system that is full at 64 KB, made by a limit on the size of files; ENOSPC itself needs root and a tmpfs.
TEST(Cache, SaysWhenTheDiskIsFull) {
  ScratchFolder folder;
  std::string csv = "x,y\n";
  for (int i = 0; i < 50000; ++i) csv += "1.5,2\n";
  const auto file = folder.write("big.csv", csv);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{65536, 65536};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      openDataset(file);
    } catch (const Error& error) {
      _exit(std::string(error.what()).find("big.csv.pack") != std::string::npos ? 0 : 2);
    } catch (...) {
      _exit(3);
    }
    _exit(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  for (const auto& entry : fs::directory_iterator(folder.path() / ".gradloom-cache"))
    EXPECT_EQ(entry.path().extension(), ".lock") << entry.path();
  EXPECT_EQ(openDataset(file)->size(), 50000);
}

TEST(Cache, FallsBackToTheUsersFolderWhereItMayNotWrite) {
  ScratchFolder folder, home;
  const auto csv = writeImages(folder, 5);
  fs::permissions(home.path(), fs::perms::all);
  fs::permissions(folder.path(), fs::perms(0555));
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(5);  // root may write everywhere: become nobody
    setenv("XDG_CACHE_HOME", home.path().c_str(), 1);
    try {
      _exit(openDataset(csv)->size() == 5 && cacheIsFresh(csv) ? 0 : 2);
    } catch (...) {
      _exit(3);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  fs::permissions(folder.path(), fs::perms::owner_all);
  EXPECT_FALSE(fs::exists(folder.path() / ".gradloom-cache"));
  EXPECT_TRUE(fs::exists(home.path() / "gradloom"));
}

// Deleting the file changes nothing for who has it open; cutting it short is noticed and named, and ends no process.
TEST(Cache, ThatVanishesWhileItIsUsedIsHarmless) {
  ScratchFolder folder;
  std::string csv = "x__0,x__1,x__2,x__3\n";
  for (int i = 0; i < 20000; ++i) csv += "1,2,3,4\n";
  const auto file = folder.write("big.csv", csv);
  const auto dataset = openDataset(file);
  fs::remove(cachePath(file));
  EXPECT_EQ(reinterpret_cast<const float*>(dataset->read(19999, 0).data())[3], 4.0f);
  EXPECT_NO_THROW(dataset->verify());

  const auto second = openDataset(file);
  fs::resize_file(cachePath(file), 4096);
  const float value = reinterpret_cast<const float*>(
      second->read(19999, 0).data())[3];  // beyond the file's end: SIGBUS without the guard
  EXPECT_EQ(value, 0.0f);
  EXPECT_THAT(messageOf([&] { second->verify(); }), HasSubstr("was cut short"));
}

TEST(Cache, OfClipsKeepsEachLength) {
  ScratchFolder folder;
  folder.write("a.csv", "1,2\n3,4\n5,6\n");
  folder.write("b.csv", "7,8\n");
  const auto csv = folder.write("clips.csv", "x,y\na.csv,0\nb.csv,1\n");
  const auto dataset = openDataset(csv);
  const Variable& x = dataset->schema().variables[0];
  EXPECT_EQ(x.kind, VariableKind::matrix);
  EXPECT_TRUE(x.varying());
  EXPECT_EQ(x.shape, (Shape{3, 2}));
  EXPECT_EQ(x.smallest, (Shape{1, 2}));
  Shape shape;
  const auto second = dataset->read(1, 0, &shape);
  EXPECT_EQ(shape, (Shape{1, 2}));
  ASSERT_EQ(second.size(), 8u);
  EXPECT_EQ(reinterpret_cast<const float*>(second.data())[1], 8.0f);
  EXPECT_EQ(reinterpret_cast<const float*>(dataset->read(0, 0).data())[5], 6.0f);
}

}  // namespace
}  // namespace loom
