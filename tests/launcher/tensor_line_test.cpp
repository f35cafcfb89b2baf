// The line to the program that tells what flows along a wire: the real program over a project of a few numbers, and
// programs that answer what no program should.
#include "launcher/preview/tensor_line.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "engine/base/error.h"
#include "tests/launcher/scripted_host.h"
#include "tests/patience.h"

namespace loom {
namespace {

constexpr const char* kProject =
    R"({"loom": 1, "networks": {"main": {"nodes": [{"id": "x", "layer": "Input", "shape": [4]}, {"id": "relu", "layer": "ReLU"}],
        "edges": [["x", "relu"]]}}, "datasets": {"training": {"csv": "table.csv"}}})";

TensorWish wish(const QString& node = QStringLiteral("relu"), const QString& place = QStringLiteral("card")) {
  return {.place = place, .drawing = QStringLiteral("main"), .node = node, .port = QStringLiteral("output")};
}

struct Heard {
  explicit Heard(TensorLine& line) : refused(&line, &TensorLine::refused) {
    QObject::connect(&line, &TensorLine::answered, &line, [this](const QString& place, const SeenTensor& tensor) {
      seen[place] = tensor;
      ++count;
    });
  }
  QMap<QString, SeenTensor> seen;
  int count = 0;
  QSignalSpy refused;
  QString sentence() const { return refused.isEmpty() ? QString() : refused.back().at(1).toString(); }
};

}  // namespace

class TensorLineTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void init() {
    m_folder = std::make_unique<QTemporaryDir>();
    write("table.csv", "x__0,x__1,x__2,x__3\n1,-2,3,-4\n5,5,5,5\n");
  }
  void theProgramAnswers();
  void aNewerWishMakesAnOlderOneVoid();
  void faultsAreSentences();
  void aProgramThatDiesIsStartedAgain();
  void hostileAnswersAreSentences();
  void silenceIsEnded();
  void closingDoesNotWait();

 private:
  void write(const char* name, const QByteArray& text) {
    QFile file(m_folder->filePath(QString::fromLatin1(name)));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
  }
  std::unique_ptr<QTemporaryDir> m_folder;
};

void TensorLineTest::theProgramAnswers() {
  TensorLine line(QStringLiteral(LOOM_PROGRAM));
  Heard heard(line);
  line.setProject(kProject, m_folder->path());
  QVERIFY(!line.runs());  // nobody has asked yet
  line.ask(wish());
  QTRY_COMPARE(heard.count, 1);
  const SeenTensor& seen = heard.seen[QStringLiteral("card")];
  QCOMPARE(seen.tensor.first, (std::vector<float>{1, 0, 3, 0}));
  QCOMPARE(seen.dataset, QStringLiteral("training"));
  QCOMPARE(seen.samples, 2);
  QVERIFY(!seen.trained);
  // Another drawing, another answer; the program stays.
  line.setProject(QByteArray(kProject).replace("ReLU", "Abs"), m_folder->path());
  line.ask(wish());
  QTRY_COMPARE(heard.count, 2);
  QCOMPARE(heard.seen[QStringLiteral("card")].tensor.first, (std::vector<float>{1, 2, 3, 4}));
  QVERIFY(line.runs());
  QVERIFY(heard.refused.isEmpty());
}

void TensorLineTest::aNewerWishMakesAnOlderOneVoid() {
  TensorLine line(QStringLiteral(LOOM_PROGRAM));
  Heard heard(line);
  line.setProject(kProject, m_folder->path());
  line.ask(wish(QStringLiteral("x")));
  line.ask(wish(QStringLiteral("relu")));
  line.ask(wish(QStringLiteral("x"), QStringLiteral("inspector")));
  line.ask(wish(QStringLiteral("x"), QStringLiteral("nobody")));
  line.forget(QStringLiteral("nobody"));
  QTRY_COMPARE(heard.count, 2);
  QTest::qWait(200);
  QCOMPARE(heard.count, 2);
  QCOMPARE(heard.seen[QStringLiteral("card")].tensor.first, (std::vector<float>{1, 0, 3, 0}));
  QCOMPARE(heard.seen[QStringLiteral("inspector")].tensor.first, (std::vector<float>{1, -2, 3, -4}));
  QVERIFY(heard.refused.isEmpty());
}

void TensorLineTest::faultsAreSentences() {
  TensorLine line(QStringLiteral(LOOM_PROGRAM));
  Heard heard(line);
  line.setProject(QByteArray(kProject).replace("table.csv", "gone.csv"), m_folder->path());
  line.ask(wish());
  QTRY_COMPARE(heard.refused.size(), 1);
  QVERIFY2(heard.sentence().contains("gone.csv"), qPrintable(heard.sentence()));
  line.setProject("{", m_folder->path());
  line.ask(wish());
  QTRY_COMPARE(heard.refused.size(), 2);
  // Asked again it is told again what is wrong, not that nobody told of the project.
  const QString why = heard.sentence();
  line.ask(wish());
  QTRY_COMPARE(heard.refused.size(), 3);
  QCOMPARE(heard.sentence(), why);
  // And then all is well again.
  line.setProject(kProject, m_folder->path());
  line.ask(wish());
  QTRY_COMPARE(heard.count, 1);
  TensorLine none(QStringLiteral("/there/is/no/loom"));
  Heard told(none);
  none.ask(wish());
  QTRY_COMPARE(told.refused.size(), 1);
  QVERIFY2(told.sentence().contains("/there/is/no/loom"), qPrintable(told.sentence()));
}

void TensorLineTest::aProgramThatDiesIsStartedAgain() {
  int starts = 0;
  TensorLine line([&]() -> std::unique_ptr<ByteChannel> {
    if (++starts == 1)
      return startProgram({"/bin/sh", "-c", "printf 'GRADLOOM-AGENT-1\\n'; echo 'out of memory' >&2; exit 3"});
    return startProgram({LOOM_PROGRAM, "agent"});
  });
  Heard heard(line);
  line.setProject(kProject, m_folder->path());
  line.ask(wish());
  QTRY_COMPARE(heard.refused.size(), 1);
  QVERIFY2(heard.sentence().contains("out of memory"), qPrintable(heard.sentence()));
  QVERIFY(!line.runs());
  line.ask(wish());  // with the project, which the new one has not had
  QTRY_COMPARE(heard.count, 1);
  QCOMPARE(starts, 2);
}

void TensorLineTest::hostileAnswersAreSentences() {
  const TensorSummary tensor = summarise(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}, false);
  const QByteArray pixels(reinterpret_cast<const char*>(tensor.pixels.data()),
                          static_cast<qsizetype>(tensor.pixels.size()));
  const Json good = {{"ok", true},
                     {"tensor", toJson(tensor)},
                     {"network", "main"},
                     {"pin", "relu"},
                     {"dataset", "training"},
                     {"sample", 0},
                     {"samples", 2},
                     {"weights", {{"trained", false}, {"step", 0}, {"matched", 0}, {"parameters", 0}}}};
  const auto ask = [&](const Json& reply, const QByteArray& bytes) -> std::pair<int, QString> {
    ScriptedHost host;
    host.script = [&](const Json& request) {
      Json answer = reply;
      answer["re"] = request["id"];
      return ScriptedHost::frame({{"tensor", "reading"}, {"dataset", 7}, {"done", "no"}, {"total", nullptr}}) +
             ScriptedHost::frame(answer, bytes);
    };
    const auto transport = host.transport();
    TensorLine line([&] { return transport->execute({}); });
    Heard heard(line);
    line.setProject(kProject, m_folder->path());
    line.ask(wish());
    QElapsedTimer clock;
    for (clock.start(); heard.count + heard.refused.size() == 0 && clock.elapsed() < 5000;) QTest::qWait(5);
    return {heard.count, heard.sentence()};
  };
  QCOMPARE(ask(good, pixels).first, 1);
  QVERIFY(ask(good, pixels + "x").second.contains("cannot be understood"));
  for (const auto& [key, value] : good.items()) {
    if (key == "ok") continue;
    Json bad = good;
    bad.erase(key);
    QVERIFY2(!ask(bad, pixels).second.isEmpty(), key.c_str());
    for (const Json& wrong : {Json(-7), Json(nullptr), Json::array({1, "two"}), Json(std::string(5000000 / 2, 'x'))}) {
      bad[key] = wrong;
      if (wrong.is_string() && value.is_string()) continue;
      const auto [count, sentence] = ask(bad, pixels);
      QVERIFY2(count == 0 && !sentence.isEmpty() && sentence.size() < 4000, key.c_str());
    }
  }
  QVERIFY(!ask({{"ok", false}, {"message", 12}, {"code", {1}}}, {}).second.isEmpty());
  QVERIFY(!ask({{"ok", "yes"}}, {}).second.isEmpty());
}

void TensorLineTest::silenceIsEnded() {
  TensorLine line([] { return startProgram({"/bin/sh", "-c", "printf 'GRADLOOM-AGENT-1\\n'; exec sleep 60"}); });
  Heard heard(line);
  line.setPatience(300);
  line.setProject(kProject, m_folder->path());
  line.ask(wish());
  QTRY_COMPARE_WITH_TIMEOUT(heard.refused.size(), 1, 5000);
  QVERIFY2(heard.sentence().startsWith("No values"), qPrintable(heard.sentence()));
  QVERIFY(!line.runs());
}

// A program that does not end when it should is not waited for by the window.
void TensorLineTest::closingDoesNotWait() {
  auto line = std::make_unique<TensorLine>([] {
    return startProgram({"/bin/sh", "-c", "printf 'GRADLOOM-AGENT-1\\n'; exec sleep 60"});
  });
  line->setProject(kProject, m_folder->path());
  line->ask(wish());
  QTest::qWait(100);
  QElapsedTimer clock;
  clock.start();
  line.reset();
  QVERIFY2(clock.elapsed() < 3000, qPrintable(QString::number(clock.elapsed())));
}

}  // namespace loom

QTEST_GUILESS_MAIN(loom::TensorLineTest)
#include "tensor_line_test.moc"
