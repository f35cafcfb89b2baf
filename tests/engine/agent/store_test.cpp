#include "engine/agent/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/json.h"
#include "tests/engine/run/folder.h"

using namespace loom;
using testing::HasSubstr;

namespace {

std::string hashOf(std::string_view text) {
  Sha256 sum;
  sum.add(text);
  return sum.finish();
}

class DataStoreTest : public testing::Test {
 protected:
  TestFolder m_folder{"store"};
  std::unique_ptr<DataStore> m_store = open();

  std::unique_ptr<DataStore> open() {
    return std::make_unique<DataStore>(m_folder.path() / "data", [](const Json&, std::string_view) {});
  }
  std::string m_text = std::string(100000, 'd') + "end";
  std::string m_hash = hashOf(m_text);
};

TEST_F(DataStoreTest, GoesOnWhereItBrokeOff) {
  const auto size = static_cast<std::int64_t>(m_text.size());
  EXPECT_EQ(m_store->put(m_hash, size)["have"], 0);
  m_store->chunk(m_hash, 0, std::string_view(m_text).substr(0, 60000));
  {
    const auto later = open();
    EXPECT_THROW(later->put(m_hash, size), Error);  // the first still sends it
  }
  m_store = nullptr;  // the connection breaks
  m_store = open();
  EXPECT_EQ(m_store->put(m_hash, size)["have"], 60000);
  EXPECT_THROW(m_store->chunk(m_hash, 59999, "x"), Error);
  EXPECT_THROW(m_store->chunk(m_hash, 60000, m_text), Error);
  const Json done = m_store->chunk(m_hash, 60000, std::string_view(m_text).substr(60000));
  EXPECT_EQ(done["done"], true);
  EXPECT_EQ(readFile(done["path"].get<std::string>()), m_text);
  EXPECT_EQ(m_store->put(m_hash, size)["done"], true);
  EXPECT_FALSE(std::filesystem::exists(m_folder.path() / "data" / (m_hash + ".part")));
}

TEST_F(DataStoreTest, ThrowsAwayWhatArrivedDamaged) {
  const auto size = static_cast<std::int64_t>(m_text.size());
  m_store->put(m_hash, size);
  std::string damaged = m_text;
  damaged[500] ^= 1;
  try {
    m_store->chunk(m_hash, 0, damaged);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badData);
    EXPECT_THAT(error.what(), HasSubstr(m_hash.substr(0, 16)));
  }
  EXPECT_EQ(m_store->put(m_hash, size)["have"], 0);
}

TEST_F(DataStoreTest, SaysThatTheDiskIsTooSmallBeforeItIsFull) {
  try {
    m_store->put(m_hash, std::int64_t{1} << 60);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::diskFull);
    EXPECT_THAT(error.what(), HasSubstr("are to come"));
  }
}

TEST_F(DataStoreTest, AFullDiskKeepsWhatArrived) {
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto size = static_cast<std::int64_t>(m_text.size());
  m_store->put(m_hash, size);
  const rlimit small{40000, old.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(m_store->chunk(m_hash, 0, m_text), Error);
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(m_store->put(m_hash, size)["have"], 40000);
  EXPECT_EQ(m_store->chunk(m_hash, 40000, std::string_view(m_text).substr(40000))["done"], true);
}

TEST_F(DataStoreTest, TakesNoNamesButHashes) {
  EXPECT_THROW(m_store->put("../../.ssh/authorized_keys", 3), Error);
  EXPECT_THROW(m_store->put(std::string(64, 'G'), 3), Error);
}

}  // namespace
