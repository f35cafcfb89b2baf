#include "launcher/store/run_filter.h"

#include <gtest/gtest.h>

#include <QRandomGenerator>

#include "engine/base/error.h"
#include "launcher/store/many_runs_filter.h"

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
  EXPECT_FALSE(RunFilter("state == deleted", runs()).wantsArchived());
  EXPECT_TRUE(RunFilter("name ~ a or state == archived", runs()).wantsArchived());
  RunRecord away = runs().front();
  away.archived = true;
  EXPECT_TRUE(RunFilter("state == archived", runs()).holds(away));
  EXPECT_FALSE(RunFilter("state == finished", runs()).holds(away));
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

TEST(RunFilter, OrNotAndBrackets) {
  EXPECT_EQ(found("optimizer == LARS or state == failed"), QStringList({"lars-1", "sgd-2"}));
  // "and" binds closer.
  EXPECT_EQ(found("optimizer == LARS or optimizer == SGD and best > 0.5"), QStringList({"lars-1", "sgd-2"}));
  EXPECT_EQ(found("(optimizer == LARS or optimizer == SGD) and best > 0.2"), QStringList({"lars-1", "sgd-2"}));
  EXPECT_EQ(found("not optimizer == SGD"), QStringList({"lars-1"}));
  EXPECT_EQ(found("NOT (state == failed OR best < 0.2)"), QStringList({"lars-1"}));
  EXPECT_EQ(found("not not lars"), QStringList({"lars-1"}));
  EXPECT_EQ(found("optimizer not in (LARS)"), QStringList({"sgd-1", "sgd-2"}));
  EXPECT_EQ(found("learning_rate <= (0.05*2) and not state == failed"), QStringList({"sgd-1"}));
  EXPECT_TRUE(RunFilter("best > 1 or (state == deleted and lars)", runs()).wantsDeleted());
  // What belongs to a word is no word of the language.
  EXPECT_EQ(found("android"), QStringList());
  EXPECT_EQ(found("\"or\""), QStringList());
  EXPECT_NE(fault("(best > 1").find("\")\" at its end"), std::string::npos) << fault("(best > 1");
  EXPECT_NE(fault("best > 1)").find("take \")\" away"), std::string::npos) << fault("best > 1)");
  EXPECT_NE(fault("best > 0.1 and").find("what is to hold"), std::string::npos) << fault("best > 0.1 and");
  EXPECT_NE(fault("name == \"sgd").find("the quote"), std::string::npos) << fault("name == \"sgd");
}

// As the table's columns are headed, and as their cells are written.
TEST(RunFilter, NamesAndNumbersAsTheyAreShown) {
  EXPECT_EQ(found("Learning rate <= 0.05*2 and not state == failed"),
            found("learning_rate <= 0.05*2 and not state == failed"));
  EXPECT_FALSE(found("Learning  rate > 0").isEmpty());
  EXPECT_EQ(found("best > 20 %"), found("best > 0.2"));
  EXPECT_NE(found("best > 20%"), found("best > 20"));
  EXPECT_EQ(fault("lerning rate > 1"), "no run has 'lerning_rate': did you mean 'learning_rate'?");
  EXPECT_EQ(found("lars and best > 0"), QStringList({"lars-1"}));  // a word of the language is no part of a name
}

TEST(RunFilter, PartsOfATextAndTags) {
  EXPECT_EQ(found("name ~ gd-"), QStringList({"sgd-1", "sgd-2"}));
  EXPECT_EQ(found("name !~ GD"), QStringList({"lars-1"}));
  EXPECT_EQ(found("optimizer ~ \"ar\" or name ~ 2"), QStringList({"lars-1", "sgd-2"}));
  RunRecord tagged = record("t", 1, "SGD");
  tagged.tags = QStringList{"paper", "warm-up"};
  EXPECT_TRUE(RunFilter("tag == paper", runs()).holds(tagged));
  EXPECT_TRUE(RunFilter("tag ~ warm and tag in (x, paper)", runs()).holds(tagged));
  EXPECT_FALSE(RunFilter("tag != paper", runs()).holds(tagged));
  EXPECT_TRUE(RunFilter("tag !~ base", runs()).holds(tagged));
}

TEST(RunFilter, WhatIsNotFinishedIsLeftOut) {
  const auto typed = [](const char* expression) {
    const RunFilter filter = RunFilter::asFarAsTyped(QString::fromLatin1(expression), RunFilter::settingsOf(runs()));
    QStringList names;
    for (const RunRecord& each : runs())
      if (filter.holds(each)) names << each.name;
    return names;
  };
  const QStringList all{"lars-1", "sgd-1", "sgd-2"}, sgd{"sgd-1", "sgd-2"};
  for (const char* each :
       {"", "optimizer ==", "optimizer in", "optimizer in (SG", "(", "not", "not (", "lr > 1", "and", ")"})
    EXPECT_EQ(typed(each), all) << each;
  for (const char* each : {"optimizer == SGD and", "optimizer == SGD and best", "(optimizer == SGD",
                           "optimizer == SGD and (", "optimizer == SGD and not", "optimizer == SGD and best >",
                           "optimizer == SGD and lr > 1", "optimizer == SGD or state in (fail"})
    EXPECT_EQ(typed(each) == sgd || std::string(each).ends_with("best"), true)
        << each << ": " << typed(each).join(' ').toStdString();
  // A word at the end may be the beginning of a name.
  const RunFilter half("optimizer == SGD and learn", runs());
  EXPECT_EQ(half.lastWord(), QString("learn"));
  EXPECT_TRUE(half.withoutLastWord().holds(runs()[1]));
  EXPECT_FALSE(half.withoutLastWord().holds(runs()[0]));
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

RunRecord anyRun(QRandomGenerator& random) {
  RunRecord run = record(random.bounded(2) ? "lars-1" : "Sgd-12", 0.1 * random.bounded(4),
                         random.bounded(2) ? "LARS" : "Sgd", static_cast<RunState>(random.bounded(7)));
  run.best = random.bounded(4) ? 0.25 * random.bounded(5) : std::nan("");
  run.archived = random.bounded(6) == 0;
  if (random.bounded(3) == 0) run.tags = QStringList{"paper", "warm-up"};
  if (random.bounded(3) == 0) run.note = "as in the PAPER";
  // The same in other words, of other kinds, and missing.
  const Json batches[] = {1, 1.0, "1", 32, true, nullptr, "32 k", Json::array({1, 2})};
  if (random.bounded(4)) run.settings["batch"] = batches[random.bounded(8)];
  if (random.bounded(4)) run.settings["schedule.name"] = random.bounded(2) ? "Cosine" : "Überlauf";
  if (random.bounded(8) == 0) run.settings = Json::object();
  return run;
}

// Of thousands each value is asked once; what holds is the same, also of runs that come after the filter was typed.
TEST(RunFilter, OfManyRunsTheSameHolds) {
  const char* const parts[] = {"lars",
                               "sgd",
                               "paper",
                               "1.0",
                               "1",
                               "running",
                               "über",
                               "tru",
                               "batch == 1",
                               "batch != 1",
                               "batch ~ 3",
                               "batch !~ 3",
                               "batch > 0.5",
                               "batch < 5",
                               "batch in (1, 32)",
                               "batch == 1.0",
                               "schedule == cosine",
                               "schedule.name != Cosine",
                               "name ~ gd",
                               "optimizer == LARS",
                               "learning_rate >= 0.2",
                               "best > 0.5",
                               "best == nan",
                               "best != 0.5",
                               "state == archived",
                               "state in (failed, queued)",
                               "tag == paper",
                               "tag !~ warm",
                               "momentum > 0",
                               "momentum != 0.9",
                               "note ~ paper",
                               "epochs = 2^3+2",
                               "duration < 1"};
  QRandomGenerator random(5);
  const auto any = [&] { return QString::fromUtf8(parts[random.bounded(static_cast<int>(std::size(parts)))]); };
  int held = 0, left = 0;
  for (int round = 0; round < 300; ++round) {
    QString expression = any();
    if (random.bounded(2)) expression += (random.bounded(2) ? " and " : " or ") + any();
    if (random.bounded(3) == 0) expression = "not (" + expression + ')';
    QList<RunRecord> some;
    for (int i = 0; i < 30; ++i) some << anyRun(random);
    const RunFilter filter = RunFilter::asFarAsTyped(expression, RunFilter::settingsOf(some));
    SettingValues values;
    ManyRunsFilter many(filter, values);
    for (const RunRecord& run : some) {
      const bool holds = filter.holds(run);
      ASSERT_EQ(many.holds(run, values.take(run.settings)), holds)
          << expression.toStdString() << " of " << run.settings.dump();
      (holds ? held : left)++;
    }
  }
  EXPECT_GT(held, 1000);
  EXPECT_GT(left, 1000);
}

TEST(RunFilter, AValueThatManyRunsHaveIsKeptOnce) {
  SettingValues values;
  const SettingIds first = values.take({{"batch", 1}, {"epochs", 10}}), second = values.take({{"batch", 1}}),
                   real = values.take({{"batch", 1.0}});
  EXPECT_EQ(values.size(), 3u);
  EXPECT_EQ(second.front(), first.front());
  EXPECT_NE(real.front(), first.front());  // a word finds "1.0" in one of them
  EXPECT_EQ(*values.find(first, values.nameOf("epochs")), first.back());
  EXPECT_EQ(values.find(second, values.nameOf("epochs")), nullptr);
  EXPECT_EQ(values.nameOf("rate"), SettingValues::noName);
}

}  // namespace
