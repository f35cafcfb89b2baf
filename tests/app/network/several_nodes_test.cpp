// The Network page with several nodes selected: what they have in common.
#include "tests/app/network/network_page_test.h"

namespace loom {

void NetworkPageTest::severalNodesAreEditedTogether() {
  document().openText(drawings::residual(2), "residual");
  settle();
  m_page->scene().pick({{"b0_conv1", "b0_conv2", "b1_conv1"}, {}});
  settle();
  QCOMPARE(m_page->inspector().name().text(), QStringLiteral("3 nodes"));
  QVERIFY(m_page->inspector().focusField("channels"));
  if (auto* line = qobject_cast<QLineEdit*>(QApplication::focusWidget())) line->selectAll();
  type("12");
  key(Qt::Key_Return);
  for (const char* id : {"b0_conv1", "b0_conv2", "b1_conv1"}) QVERIFY(drawn().find(id)->values["channels"] == Json(12));
  QVERIFY(drawn().find("b1_conv2")->values["channels"] == Json(4));
  QCOMPARE(document().undoStack().count(), 1);
}

// A number, an expression, a choice and a switch on which the two do not agree: each says so, what is given is that of
// both, in one step, also where it is the default, and undo brings the difference back.
void NetworkPageTest::whatDiffersIsMixedUntilItIsGiven() {
  QVERIFY(document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [3, 8, 8], "at": [0, 0]},
    {"id": "a", "layer": "Convolution", "channels": 8, "bias": false, "padding": "valid", "at": [0, 60]},
    {"id": "b", "layer": "Convolution", "channels": "=Input[0]*2", "at": [0, 120]}],
    "edges": [["x", "a"], ["a", "b"]]}}})",
                              "two"));
  settle();
  m_page->scene().pick({{"a", "b"}, {}});
  settle();
  PropertyForm& form = m_page->inspector().form();
  const auto lineOf = [&](const char* key) { return form.row(key)->editor()->findChild<QLineEdit*>(); };
  QLineEdit* const channels = lineOf("channels");
  QCOMPARE(channels->text(), QString());
  QCOMPARE(channels->placeholderText(), QString("mixed"));
  auto* const padding = form.row("padding")->editor()->findChild<QComboBox*>();
  QCOMPARE(padding->currentIndex(), -1);
  QCOMPARE(padding->placeholderText(), QString("mixed"));
  auto* const bias = form.row("bias")->editor()->findChild<Switch*>();
  QVERIFY(bias->isMixed());
  // On this they agree; its editor keeps a second line for expressions.
  const QList<QLineEdit*> kernel = form.row("kernel")->editor()->findChildren<QLineEdit*>();
  QVERIFY(std::any_of(kernel.begin(), kernel.end(), [](QLineEdit* each) { return each->text() == "3, 3"; }));
  const std::string before = document().text();

  const auto both = [&](const char* key, const Json& value) {
    for (const char* id : {"a", "b"}) {
      const auto found = drawn().find(id)->values.find(key);
      if (value.is_null() ? found != drawn().find(id)->values.end()
                          : found == drawn().find(id)->values.end() || *found != value)
        return false;
    }
    return true;
  };
  const auto once = [&](const char* what) {
    settle();
    QVERIFY2(document().undoStack().index() == 1, what);
    document().undoStack().undo();
    settle();
    QVERIFY2(document().text() == before, what);
  };
  QVERIFY(m_page->inspector().focusField("channels"));
  type("=Input[0]");
  QVERIFY(both("channels", "=Input[0]"));
  key(Qt::Key_Return);
  once("an expression");
  QCOMPARE(channels->text(), QString());
  QCOMPARE(channels->placeholderText(), QString("mixed"));
  // Typed and taken back: each keeps its own.
  QVERIFY(m_page->inspector().focusField("channels"));
  type("x");
  key(Qt::Key_Backspace);
  settle();
  QCOMPARE(document().text(), before);

  const int usual = padding->findData("same");
  QVERIFY(usual >= 0);
  padding->setFocus();
  key(Qt::Key_Home);  // the first choice
  settle();
  QVERIFY(padding->currentIndex() >= 0 && !form.row("padding")->isHidden());
  const Json chosen = padding->currentData().toString().toStdString();
  const Field* const field = form.entry()->field("padding");
  QVERIFY(both("padding", chosen == field->defaultValue ? Json() : chosen));
  once("a choice");
  QCOMPARE(padding->currentIndex(), -1);

  QTest::mouseClick(bias, Qt::LeftButton, {}, QPoint(8, bias->height() / 2));
  QVERIFY(!bias->isMixed() && bias->isChecked());
  QVERIFY(both("bias", Json()));  // on is the default
  once("a switch");
  QVERIFY(bias->isMixed());
  if (const QString folder = qEnvironmentVariable("GRADLOOM_PICTURES"); !folder.isEmpty()) picture("mixed");
}

void NetworkPageTest::usesOfOneUnitAreEditedTogether() {
  QVERIFY(document().openText(drawings::kUnits, "units"));
  settle();
  m_page->scene().pick({{"stage1", "stage2", "stage3"}, {}});
  settle();
  QLineEdit* const channels = m_page->inspector().form().row("channels")->editor()->findChild<QLineEdit*>();
  QCOMPARE(channels->placeholderText(), QString("mixed"));
  QVERIFY(m_page->inspector().focusField("channels"));
  type("24");
  key(Qt::Key_Return);
  for (const char* id : {"stage1", "stage2", "stage3"}) QCOMPARE(drawn().find(id)->values["channels"], Json(24));
  QCOMPARE(document().undoStack().count(), 1);
}

// Both have a deviation, but that of a noise counts only beside its source, which a Linear has not.
void NetworkPageTest::nodesOfDifferentLayersAreChosenTogether() {
  QVERIFY(document().openText(R"({"loom": 1, "networks": {"main": {"nodes": [
    {"id": "x", "layer": "Input", "shape": [10], "at": [0, 0]}, {"id": "fc", "layer": "Linear", "at": [0, 120]}],
    "edges": [["x", "fc"]]}}})",
                              "two"));
  settle();
  view().setFocus();
  key(Qt::Key_A, Qt::ControlModifier);
  settle();
  QCOMPARE(m_page->inspector().name().text(), QStringLiteral("2 nodes"));
  QVERIFY(!m_page->inspector().form().row("deviation"));
}

}  // namespace loom
