#include "launcher/store/run_filter.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"

using namespace loom;

namespace {

RunRecord record(const char* name, double rate, const char* optimizer, RunState state = RunState::finished) {
  RunRecord run;
  run.id = run.name = QString::fromLatin1(name);
  run.state = state;
  run.best = rate;
  run.bestStep = 1;
  run.settings = {{"optimizer.learning_rate", rate}, {"optimizer.name", optimizer}, {"epochs", 10}, {"seed", 3}};
  return run;
}

const QList<RunRecord>& runs() {
  static const QList<RunRecord> all{record("lars-1", 0.5, "LARS"), record("sgd-1", 0.1, "SGD"),
                                    record("sgd-2", 0.9, "SGD", RunState::failed)};
  return all;
}

QStringList found(const char* expression) {
  const RunFilter filter(QString::fromLatin1(expression), runs());
  QStringList names;
  for (const RunRecord& each : runs())
    if (filter.holds(each)) names << each.name;
  return names;
}

std::string fault(const char* expression) {
  try {
    found(expression);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::badArgument);
    return error.what();
  }
  return {};
}

TEST(RunFilter, WordsAndComparisons) {
  EXPECT_EQ(found(""), QStringList({"lars-1", "sgd-1", "sgd-2"}));
  EXPECT_EQ(found("lars"), QStringList({"lars-1"}));
  EXPECT_EQ(found("optimizer == SGD and learning_rate > 0.5"), QStringList({"sgd-2"}));
  EXPECT_EQ(found("optimizer.learning_rate <= 0.5 AND epochs = 10"), QStringList({"lars-1", "sgd-1"}));
  // Formulas are numbers, but what is compared with a name is none.
  EXPECT_EQ(found("learning_rate <= 0.05*2 and epochs = 2^3+2"), QStringList({"sgd-1"}));
  EXPECT_EQ(found("learning_rate > 50%"), QStringList({"sgd-2"}));
  EXPECT_EQ(found("name == sgd-1"), QStringList({"sgd-1"}));
  EXPECT_EQ(found("state != failed"), QStringList({"lars-1", "sgd-1"}));
  EXPECT_EQ(found("name == \"sgd-1\""), QStringList({"sgd-1"}));
  EXPECT_TRUE(RunFilter("state == deleted", runs()).wantsDeleted());
}

TEST(RunFilter, OneOfSeveral) {
  EXPECT_EQ(found(R"(optimizer in ("LARS", "Adam"))"), QStringList({"lars-1"}));
  EXPECT_EQ(found("learning_rate in (0.1, 0.9) and state in [finished]"), QStringList({"sgd-1"}));
  EXPECT_TRUE(RunFilter("state in (failed, deleted)", runs()).wantsDeleted());
  EXPECT_NE(fault("optimizer in").find("write optimizer in (a, b)"), std::string::npos);
  EXPECT_NE(fault("optimizer in (LARS").find("not finished"), std::string::npos);
  EXPECT_NE(fault("lr in (1)").find("learning_rate"), std::string::npos);
  EXPECT_NE(fault("state in (done)").find("no state"), std::string::npos);
}

TEST(RunFilter, UnknownNamesAreAnErrorWithTheNearestKnownOne) {
  EXPECT_EQ(fault("lr > 1"), "no run has 'lr': did you mean 'learning_rate'?");
  EXPECT_EQ(fault("Epohcs > 1"), "no run has 'Epohcs': did you mean 'epochs'?");
  EXPECT_EQ(fault("optimzer == SGD"), "no run has 'optimzer': did you mean 'optimizer'?");
  EXPECT_NE(fault("zzzzzz > 1").find("there are attempt, best"), std::string::npos) << fault("zzzzzz > 1");
  EXPECT_NE(fault("state == runing").find("queued, starting, running"), std::string::npos);
  EXPECT_EQ(fault("epochs >"), "\"epochs >\" is not finished: write key == value");
  EXPECT_EQ(fault("momentun > 0"), "no run has 'momentun': did you mean 'momentum'?");
  EXPECT_EQ(found("momentum > 0"), QStringList());  // a setting that none of them was given
  // Before any run has told its settings, nothing can be said of their names.
  RunRecord waiting;
  EXPECT_NO_THROW(RunFilter("learning_rate > 1", {waiting}));
}

}  // namespace
