// The Debian package of this system: what is in it, what it asks for, and that what it brings finds its parts below
// /usr.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/run/folder.h"
#include "tests/installer/shell.h"

namespace loom {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Packed once for all tests, without compression.
class PackageTest : public testing::Test {
 protected:
  static inline std::unique_ptr<TestFolder> s_folder;
  static inline std::string s_package;

  static void SetUpTestSuite() {
    if (shell("command -v dpkg-deb && command -v dpkg-shlibdeps").code != 0) return;
    s_folder = std::make_unique<TestFolder>("package");
    const Outcome packed = shell("DPKG_DEB_COMPRESSOR_TYPE=none " GRADLOOM_SOURCE_DIR
                                 "/installer/package.sh --pack " GRADLOOM_BINARY_DIR " " +
                                 at(""));
    ASSERT_EQ(packed.code, 0) << packed.output;
    s_package = shell("ls " + at("gradloom_*.deb")).output;
    s_package.pop_back();
  }
  static void TearDownTestSuite() { s_folder.reset(); }
  void SetUp() override {
    if (!s_folder) GTEST_SKIP() << "this is not a Debian system";
  }
  static std::string at(const std::string& name) { return (s_folder->path() / name).string(); }
  static std::string field(const std::string& name) {
    return shell("dpkg-deb --field " + s_package + " " + name).output;
  }
};

TEST_F(PackageTest, HoldsProgramsSamplesAndWhatADesktopReads) {
  const Outcome contents = shell("dpkg-deb --contents " + s_package);
  ASSERT_EQ(contents.code, 0) << contents.output;
  for (const char* file : {"bin/loom", "bin/gradloom", "share/gradloom/gradloom-engine.tar.gz",
                           "share/gradloom/samples/digits/digits.loom", "share/gradloom/images.tar.gz",
                           "share/applications/gradloom.desktop", "share/mime/packages/gradloom.xml",
                           "share/icons/hicolor/scalable/apps/gradloom.svg", "share/doc/gradloom/copyright",
                           "share/doc/gradloom/LICENSE", "share/doc/gradloom/NOTICE"})
    EXPECT_THAT(contents.output, HasSubstr(std::string(" ./usr/") + file + "\n"));
  // Nobody's runs, no sources, and all of it root's.
  EXPECT_THAT(contents.output, AllOf(Not(HasSubstr("/runs/")), Not(HasSubstr(".cpp\n")), Not(HasSubstr("/build/"))));
  EXPECT_EQ(shell("dpkg-deb --contents " + s_package + " | grep -vc ' root/root '").output, "0\n");
}

TEST_F(PackageTest, AsksForWhatItIsLinkedWith) {
  EXPECT_THAT(field("Depends"), AllOf(HasSubstr("libc6 (>="), HasSubstr("libqt6widgets6"), HasSubstr("libdnnl"),
                                      HasSubstr("fonts-inter"), HasSubstr("shared-mime-info")));
  EXPECT_THAT(field("Depends"), Not(HasSubstr("openmpi")));  // one rank needs none
#ifdef GRADLOOM_HAS_MPI
  EXPECT_THAT(field("Recommends"), AllOf(HasSubstr("libopenmpi"), HasSubstr("openmpi-bin")));
#endif
}

TEST_F(PackageTest, ItsProgramsFindTheirParts) {
  ASSERT_EQ(shell("dpkg-deb -x " + s_package + " " + at("root")).code, 0);
  // As the package does when it has been installed, but only some of them.
  const std::string shared = at("root/usr/share/gradloom"), digits = "samples/digits/data/test";
  ASSERT_EQ(shell("tar -xzf " + shared + "/images.tar.gz -C " + shared + " " + digits + " " + digits + ".csv").code, 0);
  const Outcome version = shell(at("root/usr/bin/loom") + " version");
  EXPECT_EQ(version.code, 0) << version.output;
  const Outcome checked = shell(at("root/usr/bin/loom") + " data check " + shared + "/" + digits + ".csv");
  EXPECT_EQ(checked.code, 0) << checked.output;
}

}  // namespace
}  // namespace loom
