// Settings found by their names: with Ctrl+K, and for one run with *Train with changes*. Both know what the Settings
// page knows.
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QScrollArea>
#include <QScrollBar>

#include "app/pages/network/network_page.h"
#include "app/pages/settings/settings_page.h"
#include "app/setting_list.h"
#include "app/shell/search_panel.h"
#include "app/shell/top_bar.h"
#include "app/shell/train_card.h"
#include "launcher/job.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/split_button.h"
#include "widgets/form/form_row.h"
#include "widgets/form/property_form.h"

namespace loom {
namespace {

constexpr int kPatience = 60000;

const char* const kProject = R"({
  "loom": 1,
  "networks": { "main": {
    "nodes": [ {"id": "x", "layer": "Input", "shape": [2], "at": [0, 0]},
               {"id": "y", "layer": "Input", "shape": [1], "type": "label", "at": [260, 120]},
               {"id": "out", "layer": "Linear", "outputs": 2, "at": [0, 60]},
               {"id": "loss", "layer": "SoftmaxCrossEntropy", "at": [0, 120]} ],
    "edges": [ ["x", "out"], ["out", "loss"], ["y", "loss.target"] ] } },
  "datasets": { "training": {"csv": "train.csv"} },
  "training": { "network": "main", "dataset": "training", "epochs": 2, "batch": 4,
                "optimizer": {"name": "Momentum", "learning_rate": 0.05} } })";

}  // namespace

class SettingsByNameTest : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<OpenedWindow> m_open;

  MainWindow& window() { return m_open->window(); }
  Workspace& workspace() { return m_open->workspace(); }
  SearchPanel& panel() { return *window().findChild<SearchPanel*>(); }
  void seek(const QString& words) {
    QTest::keySequence(&window(), QKeySequence("Ctrl+K"));
    auto* field = m_open->part<QLineEdit>("search");
    QTRY_VERIFY(field->hasFocus());
    field->selectAll();
    QTest::keyClicks(field, words);
    QCoreApplication::processEvents();
  }
  int rowOf(const QString& text, const QString& group = {}) {
    for (int i = 0; i < panel().hits().size(); ++i)
      if (panel().hits()[i].text == text && (group.isEmpty() || panel().hits()[i].group == group)) return i;
    return -1;
  }
  void clickHit(const QString& text, const QString& group) {
    const int row = rowOf(text, group);
    QVERIFY2(row >= 0, qPrintable(text));
    QTest::mouseClick(&panel(), Qt::LeftButton, {}, panel().rowRect(row).center());
    QCoreApplication::processEvents();
  }
  // By the arrow of the Train button and its menu.
  TrainCard& openCard() {
    for (QAction* each : window().findChild<TopBar*>()->trainButton().menu()->actions())
      if (each->text().startsWith("Train with changes")) each->trigger();
    auto* card = window().findChild<TrainCard*>("train-card");
    [&] { QTRY_VERIFY(card && card->isVisible()); }();
    return *card;
  }
  // A setting found by its words, the first offered taken by a click.
  FormRow* add(TrainCard& card, const QString& words, const QString& label) {
    auto* search = card.findChild<QLineEdit*>("train-search");
    auto* list = card.findChild<QListWidget*>("train-settings");
    QTest::mouseClick(search, Qt::LeftButton);
    search->clear();
    QTest::keyClicks(search, words);
    QListWidgetItem* item = nullptr;
    for (int i = 0; i < list->count(); ++i)
      if (list->item(i)->text() == label) item = list->item(i);
    if (!item) return nullptr;
    list->scrollToItem(item);
    const QString path = item->data(Qt::UserRole).toString();
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(item).center());
    QCoreApplication::processEvents();
    return card.findChild<FormRow*>(path);
  }
  QLabel& fault(TrainCard& card) { return *card.findChild<QLabel*>("train-fault"); }
  void typeInto(FormRow& row, const QString& text) {
    auto* line = row.findChild<QLineEdit*>();
    QVERIFY(line);
    QTest::mouseClick(line, Qt::LeftButton);
    line->selectAll();
    QTest::keyClicks(line, text);
    QCoreApplication::processEvents();
  }
  static QString told(const FormRow& row) {
    for (const QLabel* each : row.findChildren<QLabel*>())
      if (each->isVisible() && each->property("kind") == "error") return each->text();
    return {};
  }

 private Q_SLOTS:
  void init() {
    m_open = std::make_unique<OpenedWindow>();
    m_open->write("p/train.csv", "x__0,x__1,y:label\n1,0,1\n-1,0,0\n1,1,1\n-1,1,0\n1,2,1\n-1,2,0\n1,3,1\n-1,3,0\n");
    window().openProject(m_open->write("p/p.loom", kProject));
    QVERIFY(workspace().document());
  }
  void cleanup() {
    if (workspace().document()) workspace().document()->discardRecovery();
    m_open.reset();
  }

  void searchFindsSettingsAndActsWhereOneSees() {
    QCOMPARE(window().currentPage(), "network");
    seek("learning rate");
    QVERIFY(rowOf("Learning rate", "Settings") >= 0);
    QTest::keyClick(m_open->part<QLineEdit>("search"), Qt::Key_Return);
    QTRY_COMPARE(window().currentPage(), "settings");
    auto* field = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    QVERIFY(field);
    QCOMPARE(field->text(), "0.05");
    QTRY_VERIFY(!field->visibleRegion().isEmpty());
    // What acts on the drawing leads there.
    seek("relu");
    QVERIFY(rowOf("Add ReLU") >= 0);
    QTest::mouseClick(&panel(), Qt::LeftButton, {}, panel().rowRect(rowOf("Add ReLU")).center());
    QCOMPARE(window().currentPage(), "network");
    QCOMPARE(m_open->project().networks.front().nodes.size(), std::size_t{5});
  }

  void theListIsAsWideAsItsField() {
    seek("a");
    auto* panel = window().findChild<SearchPanel*>();
    auto* field = m_open->part<QLineEdit>("search");
    QTRY_VERIFY(panel->isVisible());
    QCOMPARE(panel->cardRect().width(), field->width());
    QCOMPARE(panel->mapTo(&window(), panel->cardRect().topLeft()).x(), field->mapTo(&window(), QPoint()).x());
  }

  // By a click, by its heading, by one of its choices; also one of two that bear the same name.
  void whatIsClickedHasTheKeyboardOnItsPage() {
    const auto focused = [] {
      for (QWidget* at = QApplication::focusWidget(); at; at = at->parentWidget())
        if (auto* row = qobject_cast<FormRow*>(at)) return QString::fromStdString(row->field().key);
      return QString();
    };
    seek("clip");
    clickHit("Clip norm", "Settings");
    QTRY_COMPARE(focused(), QString("clip_norm"));
    QCOMPARE(window().currentPage(), QString("settings"));
    window().showPage("network");
    seek("warm-up");
    clickHit("Warm-up, epochs", "Settings");
    QTRY_COMPARE(focused(), QString("epochs"));
    auto* row = QApplication::focusWidget();
    QCOMPARE(window().currentPage(), QString("settings"));
    m_open->type("0.5");
    QVERIFY(m_open->project().training.updates.front().warmup.is_object());
    QCOMPARE(m_open->project().training.updates.front().warmup.value("epochs", 0.0), 0.5);
    QVERIFY(row);
    seek("LARS");
    clickHit("Optimizer", "Settings");
    QTRY_VERIFY(qobject_cast<QComboBox*>(QApplication::focusWidget()));
    QCOMPARE(qobject_cast<QComboBox*>(QApplication::focusWidget())->accessibleName(), QString("Rule"));
  }

  // One list: each setting that it names is on the page, each row of the page is in it, and Ctrl+K knows it by its
  // name.
  void theListThePageAndTheSearchAgree() {
    window().showPage("settings");
    auto& page = *static_cast<SettingsPage*>(window().page("settings"));
    QSet<QString> inForms, listed;
    for (const FormRow* row : page.findChildren<FormRow*>())
      if (row->isVisibleTo(&page)) inForms << QString::fromStdString(row->field().key);
    for (const Setting& each : settingsOf(m_open->project(), 0)) {
      listed << QString::fromStdString(each.field->key);
      QVERIFY2(page.show({.page = "settings", .field = QString::fromStdString(each.path)}), each.path.c_str());
      QVERIFY2(page.isAncestorOf(QApplication::focusWidget()), each.path.c_str());
      const QList<SearchHit> hits = page.search(each.label);
      QVERIFY2(std::any_of(hits.begin(), hits.end(), [&](const SearchHit& hit) { return hit.text == each.label; }),
               qPrintable(each.label));
    }
    for (const QString& key : inForms) QVERIFY2(listed.contains(key), qPrintable(key));
    for (const Field& field : settingsEntry().fields) {
      int sections = 0;
      for (const SettingSection& section : settingSections())
        sections += static_cast<int>(std::count(section.keys.begin(), section.keys.end(), field.key));
      const bool asked = field.onlyWhen.empty();  // others are listed where what they belong to is chosen
      QVERIFY2(sections == 1 && (!asked || listed.contains(QString::fromStdString(field.key))), field.key.c_str());
    }
    for (const SettingSection& section : settingSections()) {
      const std::string first = section.keys.front();
      QVERIFY2(section.title != QString("Further"), first.c_str());  // each has a group of its own kind
      const auto place = [&section](const char* key) {
        return std::find(section.keys.begin(), section.keys.end(), key) - section.keys.begin();
      };
      if (std::count(section.keys.begin(), section.keys.end(), "afterwards") == 1)
        QCOMPARE(place("swa_from"), place("lookahead_share") + 1);  // what a choice asks stands behind it, in order
    }
    for (const SettingSection& section : settingSections())
      for (const std::string& key : section.keys) QVERIFY2(settingsEntry().field(key), key.c_str());
  }

  void aRunIsTrainedWithSettingsChosenByTheirNames() {
    TrainCard& card = openCard();
    FormRow* const rate = add(card, "learning", "Learning rate");
    QVERIFY(rate);
    QVERIFY(rate->isAncestorOf(QApplication::focusWidget()));
    QCOMPARE(rate->findChild<QLineEdit*>()->text(), QString("0.05"));
    typeInto(*rate, "0.02");
    FormRow* const epochs = add(card, "epochs", "Epochs");
    QVERIFY(epochs);
    // Held against its bounds at the field; nothing starts while it stands there.
    typeInto(*epochs, "-3");
    QVERIFY2(told(*epochs).contains("-3"), qPrintable(told(*epochs)));
    QTest::mouseClick(card.findChild<QAbstractButton*>("train-start"), Qt::LeftButton);
    QVERIFY(workspace().runs().isEmpty() && card.isVisible());
    QVERIFY(epochs->isAncestorOf(QApplication::focusWidget()));
    typeInto(*epochs, "three");
    QVERIFY(!told(*epochs).isEmpty());
    QTest::mouseClick(card.findChild<QAbstractButton*>("train-start"), Qt::LeftButton);
    QVERIFY(workspace().runs().isEmpty());
    typeInto(*epochs, "3");
    QCOMPARE(told(*epochs), QString());
    // What was chosen is not offered again.
    auto* list = card.findChild<QListWidget*>("train-settings");
    for (int i = 0; i < list->count(); ++i) QVERIFY(list->item(i)->text() != "Epochs");
    QTest::mouseClick(card.findChild<QAbstractButton*>("train-start"), Qt::LeftButton);
    QTRY_COMPARE(workspace().runs().size(), 1);
    QTRY_COMPARE_WITH_TIMEOUT(workspace().runs().front().state, RunState::finished, kPatience);
    RunRecord read;
    JobFile job;
    QVERIFY(readJobFile(workspace().runs().front().folder, read, job));
    QVERIFY2(job.overrides.contains("training.epochs=3"), qPrintable(job.overrides.join(' ')));
    const Json settings = workspace().runs().front().settings;
    QCOMPARE(settings.value("epochs", 0.0), 3.0);
    QVERIFY2(settings.value("optimizer.learning_rate", 0.0) == 0.02, settings.dump().c_str());
    QCOMPARE(settings.value("optimizer.name", ""), std::string("Momentum"));
    // The project stays as it was.
    QCOMPARE(m_open->project().training.settings.value("epochs", 0), 2);
    QVERIFY(!m_open->document().isModified());
  }

  // However many are chosen: none is half in sight, and the ring around what has the keyboard is whole.
  void theRowsOfTheCardStandWhole() {
    TrainCard& card = openCard();
    auto* const list = card.findChild<QListWidget*>("train-settings");
    QWidget* const seen = card.findChild<QScrollArea*>()->viewport();
    QString fault;
    const auto isWhole = [&] {
      for (FormRow* row : card.findChildren<FormRow*>()) {
        const QRect place(row->mapTo(seen, QPoint()), row->size());
        fault = QString("%1 from %2 to %3 of %4")
                    .arg(row->objectName())
                    .arg(place.top())
                    .arg(place.bottom())
                    .arg(seen->height());
        const bool held = row->isAncestorOf(QApplication::focusWidget());
        if (seen->rect().contains(place) ? false : held || seen->rect().intersects(place)) return false;
      }
      const auto* const ring = card.findChild<QWidget*>("focusRing");
      if (!ring) return true;
      fault = "the ring";
      return ring->visibleRegion().boundingRect() == ring->rect();
    };
    for (int chosen = 1; chosen <= 12; ++chosen) {
      list->scrollToTop();
      QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(0)).center());
      QCOMPARE(card.findChildren<FormRow*>().size(), chosen);
      QTRY_VERIFY2(isWhole(), qPrintable(fault));
    }
    QVERIFY(card.findChild<QScrollArea*>()->verticalScrollBar()->maximum() > 0);
  }

  // A rule takes the fields of the old one with it and offers its own.
  void anotherRuleOffersItsOwnSettings() {
    TrainCard& card = openCard();
    QVERIFY(!add(card, "trust", "Trust coefficient"));
    FormRow* const rule = add(card, "Nesterov", "Optimizer");  // by one of its choices
    QVERIFY(rule);
    QTest::keyClicks(rule->editor()->focusTarget(), "LARS");
    QCoreApplication::processEvents();
    FormRow* const trust = add(card, "trust", "Trust coefficient");
    QVERIFY(trust);
    // Left again by its cross, and with the rule all that was its own.
    for (auto* each : card.findChildren<QAbstractButton*>())
      if (each->accessibleName() == "Leave Optimizer as it is") QTest::mouseClick(each, Qt::LeftButton);
    QTRY_VERIFY(!card.findChild<FormRow*>("training.optimizer.name"));
    QVERIFY(!card.findChild<FormRow*>("training.optimizer.trust_coefficient"));
    QVERIFY(card.isAncestorOf(QApplication::focusWidget()));
  }

  // What only shows in all of it together is said in the card.
  void whatDoesNotFitTogetherIsRefusedInTheCard() {
    TrainCard card(
        m_open->project(), [](const QStringList& changes) { return QStringLiteral("no: ") + changes.join(' '); },
        &window());
    card.openAt(&window());
    FormRow* const batch = add(card, "batch", "Batch");
    QVERIFY(batch);
    typeInto(*batch, "8");
    QTest::keyClick(card.findChild<QLineEdit*>("train-name"), Qt::Key_Return);
    QCOMPARE(fault(card).text(), QString("no: training.batch=8"));
    QVERIFY(fault(card).isVisible());
    typeInto(*batch, "6");
    QVERIFY(!fault(card).isVisible());
  }
};

}  // namespace loom

QTEST_MAIN(loom::SettingsByNameTest)
#include "settings_by_name_test.moc"
