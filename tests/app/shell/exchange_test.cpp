// Files of other tools in the window: dropped, reported, opened as new work; networks and drawings given away. Real
// events, the real loom.
#include <QListWidget>
#include <QPdfWriter>
#include <QSvgRenderer>

#include "app/pages/network/network_page.h"
#include "app/project_import.h"
#include "app/shell/import_card.h"
#include "engine/base/files.h"
#include "engine/run/safetensors.h"
#include "tests/app/menu_and_dialogue.h"
#include "tests/app/opened_window.h"
#include "widgets/controls/notice.h"

namespace loom {

class ExchangeTest : public QObject {
  Q_OBJECT

  static QString construct(const char* name) {
    return QStringLiteral(GRADLOOM_SOURCE_DIR "/tests/engine/exchange/data/%1.sdcproj").arg(name);
  }
  static QByteArray bytesOf(const QString& file) {
    QFile opened(file);
    return opened.open(QIODevice::ReadOnly) ? opened.readAll() : QByteArray();
  }
  static ImportCard* cardOf(OpenedWindow& opened) {
    auto* card = opened.part<ImportCard>("import-card");
    return card && card->isVisible() ? card : nullptr;
  }

 private Q_SLOTS:
  void aDroppedProjectOpensWithItsReport() {
    OpenedWindow opened;
    const QString file = opened.path("units.sdcproj");
    QVERIFY(QFile::copy(construct("units"), file));
    const QByteArray before = bytesOf(file);
    opened.drop({file});
    QTRY_VERIFY(opened.workspace().document());
    QTRY_VERIFY(cardOf(opened));
    QCOMPARE(opened.document().name(), QString("units"));
    QVERIFY2(opened.document().isModified() && opened.document().path().isEmpty(), "it is new work, not saved");
    QCOMPARE(opened.project().units.size(), std::size_t{2});
    QCOMPARE(bytesOf(file), before);
    QVERIFY(opened.window().messages().text("import").contains("to be done by hand"));  // its data are not there
    // A line of the report leads to the node that stands for the layer.
    auto* const rows = opened.part<QListWidget>("import-rows");
    int row = -1;
    for (int i = 0; i < rows->count(); ++i)
      if (rows->item(i)->data(Qt::AccessibleTextRole).toString().contains("Main / Affine")) row = i;
    QVERIFY(row >= 0);
    rows->scrollToItem(rows->item(row));
    QTest::mouseClick(rows->viewport(), Qt::LeftButton, {}, rows->visualItemRect(rows->item(row)).center());
    QTRY_VERIFY(!cardOf(opened));
    auto* const page = qobject_cast<NetworkPage*>(opened.window().page("network"));
    QVERIFY(page);
    QTRY_COMPARE(page->scene().picked().nodes, std::set<std::string>{"Affine"});
  }

  // However they are named, and where no project is open too.
  void aTableBecomesTheDataOfANewProject() {
    OpenedWindow opened;
    QCOMPARE(opened.window().currentPage(), QString("start"));
    opened.drop({opened.write("downloads/photo.xyz", "?")});
    QVERIFY(!opened.workspace().document());
    QVERIFY(opened.window().messages().text("drop").contains("photo.xyz is no project"));
    QByteArray table = "size\tprice\n";
    for (int i = 0; i < 40; ++i) table += QByteArray::number(i) + '\t' + QByteArray::number(3 * i) + '\n';
    const QString file = opened.write("downloads/flats.tsv", table);
    opened.drop({file});
    QTRY_VERIFY(opened.workspace().document() && opened.window().currentPage() == "data");
    QTRY_COMPARE(opened.project().datasets.size(), std::size_t{1});
    opened.window().newProject();
    opened.window().showPage("network");
    QVERIFY(opened.project().datasets.empty());
    QApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
    nameTheFile(file);
    opened.window().importDialog();
    QTRY_COMPARE(opened.window().currentPage(), QString("data"));
    QTRY_COMPARE(opened.project().datasets.size(), std::size_t{1});
  }

  // The command line, the dialogue and the list of recent ones go by this way.
  void aFileThatIsOpenedByNameIsImportedToo() {
    OpenedWindow opened;
    opened.window().openProject(construct("units"));
    QTRY_VERIFY(cardOf(opened));
    QCOMPARE(opened.project().units.size(), std::size_t{2});
    // The card stays beside work elsewhere, and its cross closes it; the bar brings it back.
    QTest::mouseClick(opened.window().centralWidget(), Qt::LeftButton, {}, QPoint(4, 4));
    QVERIFY(cardOf(opened));
    QTest::mouseClick(cardOf(opened)->findChild<QAbstractButton*>("close-card"), Qt::LeftButton);
    QVERIFY(!cardOf(opened));
    for (auto* button : opened.window().messages().findChildren<QAbstractButton*>())
      if (button->text() == "Show the report") QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(cardOf(opened));
    opened.window().resize(1100, 720);
    QCoreApplication::processEvents();
    QVERIFY(opened.window().rect().contains(cardOf(opened)->geometry()));
    QVERIFY(cardOf(opened)->isAncestorOf(opened.window().focusWidget()));
    QTest::keyClick(opened.window().focusWidget(), Qt::Key_Escape);
    QVERIFY(!cardOf(opened));
  }

  void aFileThatCannotBeReadIsToldAndNothingIsLost() {
    OpenedWindow opened;
    opened.window().newProject();
    const QString file = opened.write("broken.sdcproj", "[Nothing]\nof=it\n");
    opened.drop({file});
    QTRY_VERIFY(opened.window().messages().text("import").contains("cannot be imported"));
    QVERIFY(opened.workspace().document());
    QVERIFY(!cardOf(opened));
  }

  void aLargeFileCanBeCalledOff() {
    OpenedWindow opened;
    QByteArray text = "[Network_Global]\n";
    for (int i = 0; i < 20000; ++i) {
      const QByteArray number = QByteArray::number(i);
      text += "[Layer_" + number + "]\nID=" + number + "\nType=ReLU\nProperty_0_Name=Name\nProperty_0_Value=R" +
              number + "\n";
    }
    opened.drop({opened.write("large.sdcproj", text)});
    QVERIFY(opened.window().messages().text("import").contains("Importing"));
    auto* const cancel = [&]() -> QAbstractButton* {
      for (auto* button : opened.window().messages().findChildren<QAbstractButton*>())
        if (button->text() == "Cancel") return button;
      return nullptr;
    }();
    QVERIFY(cancel);
    QTest::mouseClick(cancel, Qt::LeftButton);
    QTest::qWait(300);
    QVERIFY(!opened.workspace().document());
    QVERIFY(opened.window().messages().text("import").isEmpty());
  }

  void droppedWeightsAreLaidOverTheNetwork() {
    OpenedWindow opened;
    const QString project = opened.write(
        "p.loom",
        R"({"loom":1,"networks":{"main":{"nodes":[{"id":"x","layer":"Input","shape":[3]},{"id":"fc1","layer":"Linear","outputs":4},
        {"id":"r","layer":"ReLU"},{"id":"fc2","layer":"Linear","outputs":2}],"edges":[["x","fc1"],["fc1","r"],["r","fc2"]]}},"training":{"network":"main"}})");
    opened.window().openProject(project);
    QVERIFY(opened.workspace().document());
    const std::vector<float> numbers(1000, 0.5f);
    const auto values = [&](std::size_t count) { return std::span(numbers).first(count); };
    const QString weights = opened.path("net.safetensors");
    TensorFile::write(weights.toStdString(),
                      {{"0.weight", {4, 3}, values(12)},
                       {"0.bias", {4}, values(4)},
                       {"2.weight", {10, 4}, values(40)},
                       {"2.bias", {10}, values(10)}},
                      {});
    opened.drop({weights});
    QTRY_VERIFY(cardOf(opened));
    auto* const rows = opened.part<QListWidget>("import-rows");
    QVERIFY(rows->count() == 4);  // two missing, two left over
    opened.click("start-from-weights");
    QCOMPARE(opened.project().training.settings["start_from"].get<std::string>(), weights.toStdString());
    opened.document().undoStack().undo();
    QVERIFY(!opened.project().training.settings.contains("start_from"));
  }

  void theDrawingIsWrittenWholeAndLight() {
    OpenedWindow opened;
    opened.window().openProject(QStringLiteral(GRADLOOM_SOURCE_DIR "/samples/residual_network"));
    QVERIFY(opened.workspace().document());
    opened.window().showPage("network");
    for (const char* ending : {"svg", "png", "pdf"}) {
      const QString file = opened.path(QString("drawing.") + ending);
      opened.window().exportDrawing(file);
      QVERIFY2(QFileInfo(file).size() > 1000, ending);
    }
    QSvgRenderer svg(opened.path("drawing.svg"));
    QVERIFY(svg.isValid());
    const QByteArray text = bytesOf(opened.path("drawing.svg"));
    for (const Node& node : opened.project().networks[0].nodes)
      QVERIFY2(text.contains(QByteArray::fromStdString(node.id)), node.id.c_str());
    const QImage picture(opened.path("drawing.png"));
    QVERIFY(std::abs(picture.width() - 2 * svg.viewBoxF().width()) <= 4);
    QVERIFY2(picture.pixelColor(1, 1).lightness() > 200, "paper is light");
    QVERIFY(bytesOf(opened.path("drawing.pdf")).startsWith("%PDF"));
    opened.window().exportDrawing(opened.path("drawing.gif"));
    QVERIFY(opened.window().messages().text("export").contains(".gif"));
  }
};

}  // namespace loom

QTEST_MAIN(loom::ExchangeTest)
#include "exchange_test.moc"
