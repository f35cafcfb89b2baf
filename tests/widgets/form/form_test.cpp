// PropertyForm with real keys and clicks: what is edited, reset, complained about, and never lost.
#include <QLabel>
#include <QScrollArea>
#include <QSignalSpy>
#include <QtTest>

#include "engine/layers/layer.h"
#include "engine/network/project.h"
#include "widgets/controls/button.h"
#include "widgets/controls/chip.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/number_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/switch.h"
#include "widgets/form/property_form.h"
#include "widgets/theme/theme.h"

using namespace loom;

namespace {

Entry sampleEntry() {
  Entry entry{.id = "Sample", .label = "Sample"};
  const auto add = [&](Field field) -> Field& { return entry.fields.emplace_back(std::move(field)); };
  add({.key = "channels",
       .label = "Channels",
       .help = "How many filters.",
       .type = FieldType::integer,
       .defaultValue = 16})
      .hard = Range{1, 65536};
  Field& kernel = add({.key = "kernel",
                       .label = "Kernel",
                       .help = "Extent.",
                       .type = FieldType::integers,
                       .defaultValue = Json::array({3, 3})});
  kernel.count = 2;
  kernel.hard = Range{1, 1024};
  Field& rate =
      add({.key = "rate", .label = "Learning rate", .help = "Step.", .type = FieldType::real, .defaultValue = 0.1});
  rate.hard = Range{0, 1000};
  rate.comfortable = Range{0, 10};
  add({.key = "padding", .label = "Padding", .help = "Border.", .type = FieldType::choice, .defaultValue = "same"})
      .choices = {{"same", "Same", ""}, {"valid", "Valid", ""}, {"explicit", "Explicit", ""}};
  Field& border =
      add({.key = "border", .label = "Border", .help = "Zeros.", .type = FieldType::integer, .defaultValue = 0});
  border.onlyWhen = "padding=explicit";
  add({.key = "bias", .label = "Bias", .help = "Adds one.", .type = FieldType::boolean, .defaultValue = true});
  add({.key = "betas",
       .label = "Betas",
       .help = "Decays.",
       .type = FieldType::reals,
       .defaultValue = Json::array({0.9, 0.999})});
  add({.key = "left_out",
       .label = "Left out",
       .help = "Patterns.",
       .type = FieldType::texts,
       .defaultValue = Json::array({"biases"})});
  add({.key = "shape",
       .label = "Shape",
       .help = "Extents.",
       .type = FieldType::shape,
       .defaultValue = Json::array({3, 32, 32})});
  add({.key = "name", .label = "Name", .help = "A word.", .type = FieldType::text, .defaultValue = ""});
  add({.key = "file", .label = "File", .help = "A path.", .type = FieldType::file, .defaultValue = "data.csv"});
  add({.key = "limit", .label = "Limit", .help = "None: no limit.", .type = FieldType::real, .defaultValue = Json()})
      .optional = true;
  return entry;
}

}  // namespace

class FormTest : public QObject {
  Q_OBJECT

 private:
  struct Edit {
    QString key;
    Json value;
  };
  std::unique_ptr<Theme> m_theme;
  Entry m_entry = sampleEntry();
  std::unique_ptr<PropertyForm> m_form;
  QList<Edit> m_edits;

  template <class Type>
  Type* part(const char* key, int index = 0) {
    return m_form->row(key)->findChildren<Type*>()[index];
  }
  void retype(QWidget* field, const QString& text) {
    field->setFocus();
    QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(field, Qt::Key_Delete);
    QTest::keyClicks(field, text);
  }
  QString problemOf(const char* key) {
    for (const QLabel* label : m_form->row(key)->findChildren<QLabel*>()) {
      const QString kind = label->property("kind").toString();
      if ((kind == QLatin1String("error") || kind == QLatin1String("warning")) && label->isVisible())
        return kind + ": " + label->text();
    }
    return {};
  }

 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  }
  void cleanupTestCase() {
    m_form.reset();
    m_theme.reset();
  }
  void init() {
    m_edits.clear();
    m_form = std::make_unique<PropertyForm>();
    m_form->resize(300, 700);
    m_form->setEntry(m_entry, Json::object(), "main/a");
    connect(m_form.get(), &PropertyForm::edited, this, [this](const QString& key, const Json& value) {
      m_edits << Edit{key, value};
    });
    m_form->show();
    m_form->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_form.get()));
  }

  void showsDefaults() {
    QCOMPARE(m_form->changedCount(), 0);
    QCOMPARE(part<NumberField>("channels")->text(), QStringLiteral("16"));
    QCOMPARE(part<NumberField>("kernel", 1)->text(), QStringLiteral("3"));
    QCOMPARE(part<ChoiceField>("padding")->currentText(), QStringLiteral("Same"));
    QVERIFY(part<Switch>("bias")->isChecked());
    QCOMPARE(part<QLineEdit>("shape")->text(), QString::fromUtf8("3×32×32"));
    QCOMPARE(part<QLineEdit>("betas")->text(), QStringLiteral("0.9, 0.999"));
    QVERIFY(part<NumberField>("limit")->text().isEmpty());
    QVERIFY(m_edits.isEmpty());
  }

  void everyKeystrokeIsAnEdit() {
    retype(part<NumberField>("channels"), "32");
    // 3, then 32: the empty field between is no value, so the last one held.
    QCOMPARE(m_edits.size(), 2);
    QVERIFY(m_edits[0].value == 3);
    QVERIFY(m_edits[1].value == 32 && m_edits[1].value.is_number_integer());
    QCOMPARE(m_form->changedCount(), 1);
    QVERIFY(m_form->row("channels")->isChanged());
    QVERIFY((m_form->given() == Json{{"channels", 32}}));
  }

  void backToDefaultRemovesTheKey() {
    retype(part<NumberField>("channels"), "32");
    retype(part<NumberField>("channels"), "16");
    QVERIFY(m_edits.back().value.is_null());
    QVERIFY(m_form->given().empty());
    QVERIFY(!m_form->row("channels")->isChanged());
  }

  void dotResets() {
    retype(part<NumberField>("rate"), "6.4");
    QAbstractButton* dot = nullptr;
    for (auto* button : m_form->row("rate")->findChildren<QAbstractButton*>()) {
      if (button->accessibleName().startsWith("Reset")) dot = button;
    }
    QVERIFY(dot && dot->isVisible());
    QTest::mouseClick(dot, Qt::LeftButton);
    QCOMPARE(part<NumberField>("rate")->text(), QStringLiteral("0.1"));
    QVERIFY(m_edits.back().value.is_null());
    QVERIFY(!dot->isVisible());
    // Ctrl+R does the same from inside the field.
    retype(part<NumberField>("rate"), "2");
    QTest::keyClick(part<NumberField>("rate"), Qt::Key_R, Qt::ControlModifier);
    QCOMPARE(part<NumberField>("rate")->text(), QStringLiteral("0.1"));
  }

  void pairsAreArrays() {
    retype(part<NumberField>("kernel", 1), "5");
    QVERIFY(m_edits.back().value == Json::array({3, 5}));
    m_form->setGiven({{"kernel", 7}});
    QCOMPARE(part<NumberField>("kernel", 0)->text(), QStringLiteral("7"));
    QCOMPARE(part<NumberField>("kernel", 1)->text(), QStringLiteral("7"));
    m_form->setGiven({{"kernel", 3}});
    QVERIFY(!m_form->row("kernel")->isChanged());
  }

  void expressionsAreComputedAndKept() {
    retype(part<NumberField>("rate"), "0.1*32");
    QVERIFY(m_edits.back().value.get<double>() == 0.1 * 32);
    QCOMPARE(part<NumberField>("rate")->text(), QStringLiteral("0.1*32"));
    // The document comes back with the number: the text that means it stays.
    m_form->setGiven(m_form->given());
    QCOMPARE(part<NumberField>("rate")->text(), QStringLiteral("0.1*32"));
  }

  void arrowsStep() {
    NumberField* rate = part<NumberField>("rate");
    rate->setFocus();
    QTest::keyClick(rate, Qt::Key_Up);
    QVERIFY(m_edits.back().value == 0.2);
    QTest::keyClick(rate, Qt::Key_Up, Qt::ShiftModifier);
    QVERIFY(m_edits.back().value == 2.0);
    NumberField* channels = part<NumberField>("channels");
    retype(channels, "1");
    const auto edits = m_edits.size();
    QTest::keyClick(channels, Qt::Key_Down);  // the hard range begins at 1
    QCOMPARE(m_edits.size(), edits);
    QCOMPARE(channels->text(), QStringLiteral("1"));
  }

  void invalidTextStaysAndSaysWhy() {
    retype(part<NumberField>("channels"), "32");
    QTest::keyClicks(part<NumberField>("channels"), "abc");
    QCOMPARE(part<NumberField>("channels")->text(), QStringLiteral("32abc"));
    QVERIFY(m_edits.back().value == 32);
    QVERIFY2(problemOf("channels").startsWith("error"), qPrintable(problemOf("channels")));
    // Something else changes in the document: the half-typed text is left alone.
    m_form->setGiven({{"channels", 32}, {"bias", false}});
    QCOMPARE(part<NumberField>("channels")->text(), QStringLiteral("32abc"));
    // Undo changes this very value: then it shows.
    m_form->setGiven({{"bias", false}});
    QCOMPARE(part<NumberField>("channels")->text(), QStringLiteral("16"));
    QVERIFY(problemOf("channels").isEmpty());
  }

  void draftsComeBackWithTheirThing() {
    retype(part<NumberField>("channels"), "1.5");
    QVERIFY(problemOf("channels").contains("whole"));
    m_form->setEntry(m_entry, Json{{"channels", 64}}, "main/b");
    QCOMPARE(part<NumberField>("channels")->text(), QStringLiteral("64"));
    QVERIFY(problemOf("channels").isEmpty());
    m_form->setEntry(m_entry, Json::object(), "main/a");
    QCOMPARE(part<NumberField>("channels")->text(), QStringLiteral("1.5"));
    QVERIFY(problemOf("channels").contains("whole"));
  }

  void rangesAreErrorsAndWarnings() {
    retype(part<NumberField>("rate"), "20");
    QVERIFY2(problemOf("rate").startsWith("warning") && problemOf("rate").contains("20"),
             qPrintable(problemOf("rate")));
    QVERIFY(m_form->given()["rate"] == 20);
    retype(part<NumberField>("rate"), "2000");
    QVERIFY2(problemOf("rate").startsWith("error") && problemOf("rate").contains("1000"),
             qPrintable(problemOf("rate")));
    Button* remedy = nullptr;
    for (Button* each : m_form->row("rate")->findChildren<Button*>("remedy")) {
      if (each->isVisible()) remedy = each;
    }
    QVERIFY(remedy);
    QTest::mouseClick(remedy, Qt::LeftButton);
    QCOMPARE(part<NumberField>("rate")->text(), QStringLiteral("1000"));
    QVERIFY(m_edits.back().value == 1000.0);
  }

  void foreignProblemsStandUnderTheField() {
    m_form->setProblems({{FieldProblem::Severity::error, "channels", "16 gives 32×32, add wants 16×16", Json(2)}});
    QVERIFY(problemOf("channels").contains("add wants"));
    m_form->setProblems({});
    QVERIFY(problemOf("channels").isEmpty());
  }

  void onlyWhenShowsAndHides() {
    QVERIFY(!m_form->row("border")->isVisible());
    ChoiceField* padding = part<ChoiceField>("padding");
    padding->setFocus();
    QTest::keyClick(padding, Qt::Key_End);
    QVERIFY(m_edits.back().value == "explicit");
    QVERIFY(m_form->row("border")->isVisible());
    m_form->reset("padding");
    QVERIFY(!m_form->row("border")->isVisible());
  }

  void switchToggles() {
    QTest::mouseClick(part<Switch>("bias"), Qt::LeftButton, {}, QPoint(8, 14));
    QVERIFY(m_edits.back().value == false);
    QTest::keyClick(part<Switch>("bias"), Qt::Key_Space);
    QVERIFY(m_edits.back().value.is_null());
  }

  void textsAreChips() {
    auto* line = part<QLineEdit>("left_out");
    line->setFocus();
    QTest::keyClicks(line, "norm*");
    QTest::keyClick(line, Qt::Key_Return);
    QVERIFY(m_edits.back().value == Json::array({"biases", "norm*"}));
    QTest::keyClicks(line, "norm*,");  // known already
    QVERIFY(m_edits.back().value == Json::array({"biases", "norm*"}));
    Chip* chip = nullptr;
    for (Chip* each : m_form->row("left_out")->findChildren<Chip*>()) {
      if (each->text() == "biases" && each->isVisible()) chip = each;
    }
    QVERIFY(chip);
    QTest::mouseClick(chip, Qt::LeftButton, {}, QPoint(chip->width() - 13, chip->height() / 2));
    QVERIFY(m_edits.back().value == Json::array({"norm*"}));
    QTest::keyClick(line, Qt::Key_Backspace);
    QVERIFY(m_edits.back().value == Json::array());
  }

  void listsAndPaths() {
    retype(part<QLineEdit>("shape"), "1x28x28");
    QVERIFY(m_edits.back().value == Json::array({1, 28, 28}));
    retype(part<QLineEdit>("betas"), "0.8 0.99");
    QVERIFY(m_edits.back().value == Json::array({0.8, 0.99}));
    retype(part<QLineEdit>("betas"), "0.8, x");
    QVERIFY(!problemOf("betas").isEmpty());
    retype(part<QLineEdit>("file"), "train.csv");
    QVERIFY(m_edits.back().value == "train.csv");
    retype(part<QLineEdit>("name"), "r");
    QVERIFY(m_edits.back().value == "r");
  }

  void optionalMayBeEmpty() {
    retype(part<NumberField>("limit"), "5");
    QVERIFY(m_edits.back().value == 5.0);
    retype(part<NumberField>("limit"), "");
    QVERIFY(m_edits.back().value.is_null());
    QVERIFY(problemOf("limit").isEmpty());
    QVERIFY(m_form->given().empty());
    retype(part<NumberField>("channels"), "");
    QVERIFY(problemOf("channels").contains("missing"));
  }

  // A key of the file is no name to a person at the form.
  void sentencesNameFieldsByTheirLabels() {
    m_entry.fields[0].defaultValue = Json();  // channels, required from here on
    m_form->setEntry(m_entry, Json{{"rate", 2000}}, "main/faulty");
    QCOMPARE(problemOf("channels"), QString("error: Channels is missing: How many filters."));
    QVERIFY2(problemOf("rate").contains("Learning rate is 2000"), qPrintable(problemOf("rate")));
    m_form->setEntry(m_entry, Json{{"channels", 1}, {"kernel", {1, 2, 3}}}, "main/other");
    QVERIFY2(problemOf("kernel").contains("Kernel has 3 numbers"), qPrintable(problemOf("kernel")));
    m_entry = sampleEntry();
  }

  void helpOpensInside() {
    NumberField* rate = part<NumberField>("rate");
    rate->setFocus();
    QVERIFY(!m_form->row("rate")->helpShown());
    QTest::keyClick(rate, Qt::Key_F1);
    QVERIFY(m_form->row("rate")->helpShown());
    bool found = false;
    for (const QLabel* label : m_form->row("rate")->findChildren<QLabel*>()) {
      found |= label->isVisible() && label->text().contains("Default 0.1") && label->text().contains("1000");
    }
    QVERIFY(found);
    QTest::keyClick(rate, Qt::Key_F1);
    QVERIFY(!m_form->row("rate")->helpShown());
  }

  void hintsAct() {
    QSignalSpy triggered(m_form.get(), &PropertyForm::hintTriggered);
    m_form->setHint("rate", "linear rule 0.1 x 32:", "Use 3.2");
    for (Button* button : m_form->row("rate")->findChildren<Button*>()) {
      if (button->text() == "Use 3.2") QTest::mouseClick(button, Qt::LeftButton);
    }
    QCOMPARE(triggered.count(), 1);
    QCOMPARE(triggered[0][0].toString(), QStringLiteral("rate"));
  }

  void filterShowsWhatMatches() {
    m_form->setFilter([](const Field& field) { return field.key == "rate"; });
    QCOMPARE(m_form->visibleCount(), 1);
    m_form->setFilter({}, true);
    QCOMPARE(m_form->visibleCount(), 0);
    m_form->setGiven({{"bias", false}, {"rate", 3}});
    QCOMPARE(m_form->visibleCount(), 2);
    m_form->setFilter({});
    QVERIFY(m_form->visibleCount() > 8);
  }

  void unknownChoiceIsShownAsItStands() {
    m_form->setGiven({{"padding", "mirror"}});
    QCOMPARE(part<ChoiceField>("padding")->currentText(), QStringLiteral("mirror"));
    QVERIFY(problemOf("padding").startsWith("error"));
    QVERIFY(m_edits.isEmpty());
    QVERIFY(m_form->given()["padding"] == "mirror");
  }

  void pageStyleUsesSegments() {
    PropertyForm page(FormStyle::page);
    page.setEntry(m_entry, Json::object(), "p");
    Json last;
    connect(&page, &PropertyForm::edited, &page, [&](const QString&, const Json& value) { last = value; });
    page.resize(520, 600);
    page.show();
    auto* segments = page.row("padding")->findChild<SegmentedControl*>();
    QVERIFY(segments);
    QTest::mouseClick(segments, Qt::LeftButton, {}, segments->segment(1).center());
    QVERIFY(last == "valid");
    QTest::keyClick(segments, Qt::Key_Right);
    QVERIFY(last == "explicit");
  }

  void tabWalksTheFields() {
    part<NumberField>("channels")->setFocus();
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    QCOMPARE(QApplication::focusWidget(), part<NumberField>("kernel", 0));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    QCOMPARE(QApplication::focusWidget(), part<NumberField>("kernel", 1));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
    QCOMPARE(QApplication::focusWidget(), part<NumberField>("rate"));
  }

  // In the narrow column of the inspector too, whatever a layer's fields are called.
  void everyLabelStandsWhole() {
    Entry all{.id = "All", .label = "All"};
    const auto add = [&](const Entry& entry) {
      for (const Field& each : entry.fields)
        if (std::none_of(all.fields.begin(), all.fields.end(),
                         [&](const Field& known) { return known.label == each.label; }))
          all.fields.push_back({.key = "k" + std::to_string(all.fields.size()),
                                .label = each.label,
                                .help = {},
                                .type = FieldType::real,
                                .defaultValue = 1.0});
    };
    for (const LayerDefinition* each : layerTable()) add(each->entry);
    const std::size_t ofLayers = all.fields.size();
    add(settingsEntry());
    QVERIFY(ofLayers > 40 && all.fields.size() > ofLayers + 20);
    for (const FormStyle style : {FormStyle::inspector, FormStyle::page}) {
      QScrollArea area;  // as in the inspector: as high as it needs
      area.setWidgetResizable(true);
      area.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
      auto* const owned = new PropertyForm(style);
      PropertyForm& form = *owned;
      form.setEntry(all, Json::object(), "all");
      area.setWidget(owned);
      area.resize(style == FormStyle::page ? 520 : 300, 600);
      area.show();
      for (const int size : {100, 150}) {
        m_theme->setTextSize(size);
        for (int i = 0; i < 4; ++i) QCoreApplication::processEvents();
        for (std::size_t i = 0; i < (style == FormStyle::page ? all.fields.size() : ofLayers); ++i) {
          const QLabel* label = nullptr;
          for (const QLabel* each : form.row(all.fields[i].key)->findChildren<QLabel*>())
            if (each->property("kind") == "field") label = each;
          QVERIFY(label);
          QCOMPARE(label->text(), QString::fromStdString(all.fields[i].label));
          const auto told = [&] {
            return qPrintable(
                QString("%1 in %2 x %3 at %4 %").arg(label->text()).arg(label->width()).arg(label->height()).arg(size));
          };
          const QRect room(0, 0, label->width(), 1000);
          const QSize words =
              label->fontMetrics().boundingRect(room, label->wordWrap() ? Qt::TextWordWrap : 0, label->text()).size();
          QVERIFY2(words.width() <= label->width() && words.height() <= label->height(), told());
        }
      }
      m_theme->setTextSize(100);
    }
  }

  void everyFieldHasAName() {
    for (const Field& field : m_entry.fields) {
      QVERIFY2(m_form->row(field.key)->editor()->focusTarget()->accessibleName().contains(
                   QString::fromStdString(field.label)),
               field.key.c_str());
    }
  }
};

QTEST_MAIN(FormTest)
#include "form_test.moc"
