// installer/run.sh with and without a display, in any order: what it configures must be what it then asks for. A cmake
// and a ninja of the test's own stand for the real ones, with the one thing of theirs that matters here: options stay
// in the build folder from one run to the next.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/files.h"
#include "tests/engine/run/folder.h"
#include "tests/installer/shell.h"

namespace loom {
namespace {

void writeScript(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  writeFileAtomically(path, "#!/bin/sh\n" + text);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

TEST(Run, WithADisplayAfterOneWithoutAndTheOtherWayRound) {
  const TestFolder folder("run");
  const std::filesystem::path build = folder.path() / "build";
  writeScript(folder.path() / "tools/cmake", "for a; do case $a in -DGRADLOOM_GUI=*) echo ${a#*=} >" +
                                                 (folder.path() / "gui").string() + ";; esac; done\n");
  writeScript(folder.path() / "tools/ninja",
              "case \" $* \" in *\" gradloom \"*) grep -q ON " + (folder.path() / "gui").string() +
                  " || { echo \"ninja: error: unknown target 'gradloom'\"; exit 1; };; esac\n");
  writeScript(build / "bin/gradloom", "echo the window opens on $1\n");
  writeScript(build / "bin/loom", "echo trains $2\n");
  std::filesystem::create_directories(build / "samples/digits");
  writeFileAtomically(folder.path() / "gui", "ON\n");
  const auto run = [&](const std::string& display) {
    return shell("env -u DISPLAY -u WAYLAND_DISPLAY " + display + " PATH=" + (folder.path() / "tools").string() +
                 ":$PATH GRADLOOM_BUILD=" + build.string() + " " GRADLOOM_SOURCE_DIR "/installer/run.sh");
  };
  for (int i = 0; i < 2; ++i) {
    const Outcome terminal = run("");
    EXPECT_EQ(terminal.code, 0) << terminal.output;
    EXPECT_THAT(terminal.output, testing::HasSubstr("trains " + (build / "projects/digits/digits.loom").string()));
    const Outcome window = run("DISPLAY=:0");
    EXPECT_EQ(window.code, 0) << window.output;
    EXPECT_THAT(window.output, testing::HasSubstr("opens on " + (build / "samples/digits/digits.loom").string()));
  }
}

}  // namespace
}  // namespace loom
