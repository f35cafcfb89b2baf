#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/console.h"
#include "engine/run/control.h"
#include "tests/engine/run/folder.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void append(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

std::vector<std::int64_t> sequences(const std::vector<Event>& events) {
  std::vector<std::int64_t> numbers;
  for (const Event& event : events) numbers.push_back(event.sequence);
  return numbers;
}

TEST(Events, ComeBackAsTheyWereWritten) {
  const TestFolder folder("events");
  EventWriter writer(folder.run(), 2);
  writer.write("step", {{"step", 1}, {"loss", numberToJson(std::nan(""))}, {"text", "a \"b\"\nÄ\xff"}});
  const auto events = EventReader(folder.run().eventsFile()).read();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, "step");
  EXPECT_EQ(events[0].attempt, 2);
  EXPECT_GT(events[0].time, 1.6e9);
  EXPECT_EQ(events[0].body["loss"], "nan");
  EXPECT_EQ(events[0].body["v"], 1);
  EXPECT_THAT(readFile(folder.run().eventsFile()), HasSubstr("{\"v\":1,\"seq\":0,\"attempt\":2,\"time\":"));
}

TEST(Events, SequenceNumbersGoOnAndATornLineIsClosed) {
  const TestFolder folder("torn");
  { EventWriter(folder.run(), 1).write("started", Json::object()); }
  append(folder.run().eventsFile(), "{\"v\":1,\"seq\":1,\"kin");  // killed in the midst of a line
  {
    EventWriter writer(folder.run(), 2);
    EXPECT_EQ(writer.write("started", Json::object()).sequence, 1);
  }
  EventReader reader(folder.run().eventsFile());
  EXPECT_THAT(sequences(reader.read()), ElementsAre(0, 1));
  EXPECT_EQ(reader.skipped(), 1);
}

TEST(Events, ReaderConsumesWholeLinesOnlyAndGoesOnFromAnOffset) {
  const TestFolder folder("offset");
  const auto file = folder.run().eventsFile();
  EventReader reader(file);
  EXPECT_THAT(reader.read(), IsEmpty());  // not there yet
  append(file, "{\"seq\":0,\"kind\":\"a\"}\n{\"seq\":1,\"kin");
  EXPECT_THAT(sequences(reader.read()), ElementsAre(0));
  EXPECT_EQ(reader.offset(), 21);
  append(file, "d\":\"b\"}\n");
  EXPECT_THAT(sequences(EventReader(file, reader.offset()).read()), ElementsAre(1));
  EXPECT_THAT(sequences(reader.read()), ElementsAre(1));
  EXPECT_EQ(reader.skipped(), 0);
}

TEST(Events, LimitLosesNothing) {
  const TestFolder folder("limit");
  EventWriter writer(folder.run(), 1);
  for (int i = 0; i < 1000; ++i)
    writer.write("step", {{"step", i}, {"padding", std::string(300, 'x')}});  // several blocks
  EventReader reader(folder.run().eventsFile());
  std::int64_t next = 0;
  for (;;) {
    const auto events = reader.read(7);
    if (events.empty()) break;
    EXPECT_LE(events.size(), 7u);
    for (const Event& event : events) EXPECT_EQ(event.sequence, next++);
  }
  EXPECT_EQ(next, 1000);
}

TEST(Events, GarbageIsSkippedAndCounted) {
  const TestFolder folder("garbage");
  const auto file = folder.run().eventsFile();
  append(file,
         "\n\n[1]\n{\"seq\":\"1\",\"kind\":\"a\"}\n{\"kind\":\"a\"}\n{\"seq\":3}\n{}\n\x01\x02\n{\"seq\":7,\"kind\":"
         "\"good\"}\n{\"seq\":8,\"kind\":5}\n");
  append(file, std::string(200000, '[') + "\n");
  EventReader reader(file);
  EXPECT_THAT(sequences(reader.read()), ElementsAre(7));
  EXPECT_EQ(reader.skipped(), 8);
  EventWriter writer(folder.run(), 1);
  EXPECT_EQ(writer.write("a", Json::object()).sequence, 8);  // found behind the garbage
}

TEST(Events, ALineWithoutEndIsGivenUp) {
  const TestFolder folder("long");
  const auto file = folder.run().eventsFile();
  append(file, std::string(9 << 20, 'x'));
  EventReader reader(file);
  EXPECT_THAT(reader.read(), IsEmpty());
  append(file, "\n{\"seq\":0,\"kind\":\"a\"}\n");
  EXPECT_THAT(sequences(reader.read()), ElementsAre(0));
  EXPECT_EQ(lastEvent(folder.run())->sequence, 0);
}

TEST(Events, LastEventIsFoundFromTheEnd) {
  const TestFolder folder("last");
  EXPECT_FALSE(lastEvent(folder.run()));
  EventWriter writer(folder.run(), 3);
  for (int i = 0; i < 2000; ++i) writer.write("step", {{"text", std::string(100, 'y')}});
  append(folder.run().eventsFile(), std::string(100000, 'z'));
  EXPECT_EQ(lastEvent(folder.run())->sequence, 1999);
  EXPECT_EQ(lastEvent(folder.run())->attempt, 3);
}

// A writer that is killed at any moment leaves whole lines, but for the last.
TEST(Events, AKilledWriterLosesNothingItWrote) {
  const TestFolder folder("killed");
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const pid_t child = ::fork();
    if (child == 0) {
      EventWriter writer(folder.run(), attempt);
      for (int i = 0;; ++i) writer.write("step", {{"step", i}});
    }
    ::usleep(30000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EventReader reader(folder.run().eventsFile());
  std::int64_t next = 0;
  for (;;) {
    const auto events = reader.read();
    if (events.empty()) break;
    for (const Event& event : events) ASSERT_EQ(event.sequence, next++);
  }
  EXPECT_GT(next, 3);
}

TEST(Events, AFullDiskIsAnErrorThatLeavesWholeLines) {
  const TestFolder folder("full");
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, 1000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    EventWriter writer(folder.run(), 1);
    try {
      for (int i = 0; i < 100; ++i) writer.write("step", {{"step", i}, {"padding", std::string(90, 'p')}});
    } catch (const Error& error) {
      ::_exit(error.code() == ErrorCode::diskFull || error.code() == ErrorCode::inputOutput ? 7 : 8);
    }
    ::_exit(9);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  const std::string text = readFile(folder.run().eventsFile());
  EXPECT_EQ(text.back(), '\n') << "a line that fits in part only is taken back";
  EventReader reader(folder.run().eventsFile());
  EXPECT_GT(reader.read().size(), 2u);
  EXPECT_EQ(reader.skipped(), 0);
}

TEST(Control, CommandsComeInOrderOnce) {
  const TestFolder folder("control");
  appendControl(folder.run(), {{"command", "stop_after_epoch"}, {"id", "a"}});
  ControlReader reader(folder.run(), ControlReader::From::start);
  ControlReader late(folder.run(), ControlReader::From::end);
  ASSERT_EQ(reader.read().size(), 1u);
  EXPECT_THAT(reader.read(), IsEmpty());
  append(folder.run().controlFile(), "no json\n{\"x\":1}\n{\"command\":5}\n{\"command\":\"st");
  EXPECT_THAT(reader.read(), IsEmpty());
  appendControl(folder.run(), {{"command", "learning_rate"}, {"value", 0.5}});  // closes the torn line first
  const auto commands = reader.read();
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0]["value"], 0.5);
  EXPECT_TRUE(commands[0].contains("time"));
  EXPECT_EQ(reader.skipped(), 4);
  EXPECT_EQ(late.read().size(), 1u) << "what stood there before is not for this attempt";
  EXPECT_THROW(appendControl(folder.run(), {{"value", 1}}), Error);
}

TEST(EventLog, ALogThatIsDeletedUnderItsWriterIsMadeAnew) {
  const TestFolder folder("events-deleted");
  EventWriter writer(folder.run(), 1);
  writer.write("started", Json::object());
  std::filesystem::remove(folder.run().eventsFile());
  writer.write("step", {{"step", 1}});
  writer.write("finished", {{"reason", "done"}});
  EventReader reader(folder.run().eventsFile());
  const std::vector<Event> events = reader.read();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].sequence, 1) << "its numbers go on";
  EXPECT_EQ(events[1].kind, "finished");
}

// A follower that comes after the first word of a run knows no number of epochs, and says none.
TEST(Progress, OfWhatBeganUnheardSaysNoNumberOfEpochs) {
  testing::internal::CaptureStdout();
  {
    Console console;
    Progress progress(console);
    const auto hear = [&](const char* kind, const Json& body) {
      Event event;
      event.kind = kind;
      event.body = body;
      progress(event);
    };
    hear("step", {{"step", 4780}, {"epoch", 47.8}, {"loss", 0.5}, {"samples", 10}});
    hear("epoch", {{"epoch", 48}, {"loss", 0.5}});
    hear("finished", Json::object());
    hear("validation", {{"epoch", 48}, {"loss", 0.25}});
    hear("started", {{"epochs", 60}, {"steps_total", 6000}});
    hear("epoch", {{"epoch", 49}, {"loss", 0.5}});
    hear("finished", Json::object());
  }
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_THAT(said, testing::AllOf(HasSubstr("epoch 47.80  loss"), HasSubstr("epoch 48  loss"),
                                   HasSubstr("epoch 48.00  validation"), HasSubstr("epoch 49 of 60"),
                                   testing::Not(HasSubstr("of 0"))));
}

TEST(EventLog, AMarkTellsOneLogFromAnother) {
  const TestFolder folder("events-mark");
  const auto write = [&](const std::string& text) { std::ofstream(folder.run().eventsFile()) << text; };
  write("first line\nsecond line\n");
  const std::string mark = logMark(folder.run().eventsFile(), 23);
  EXPECT_FALSE(mark.empty());
  write("first line\nsecond line\nmore\n");
  EXPECT_EQ(logMark(folder.run().eventsFile(), 23), mark);
  write("first line\nanother line and more\n");
  EXPECT_NE(logMark(folder.run().eventsFile(), 23), mark);
  write("first line\n");
  EXPECT_EQ(logMark(folder.run().eventsFile(), 23), "");
}

}  // namespace
}  // namespace loom
