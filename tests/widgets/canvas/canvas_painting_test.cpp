// What the canvas paints quickly is what it would paint anew.
#include <QPainter>
#include <QPicture>
#include <QScrollBar>
#include <QTest>

#include "tests/patience.h"
#include "tests/widgets/document/drawings.h"
#include "widgets/canvas/network_view.h"
#include "widgets/document/arrange.h"
#include "widgets/document/card_geometry.h"
#include "widgets/theme/theme.h"

namespace loom {

class CanvasPaintingTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  }
  void init();
  void cleanup();
  void aPanShowsWhatPaintingAnewShows_data();
  void aPanShowsWhatPaintingAnewShows();
  void whatChangesIsSeenAtOnce();
  void wordsStayTextWhereNoPixelsArePainted();
  void theShareOfTheCostLeavesOtherCardsAlone();
  void theShareOfTheCostStandsBesideFrames();
  void wordsOfAFrameStandOverTheWires();
  void whatChangesIsPainted();

 private:
  QImage seen() { return m_view->viewport()->grab().toImage().convertToFormat(QImage::Format_RGB32); }
  QImage anew() {
    m_scene->looksOtherwise();
    return seen();
  }
  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<ProjectDocument> m_document;
  std::unique_ptr<NetworkScene> m_scene;
  std::unique_ptr<NetworkView> m_view;
};

namespace {

// Pixels that are other ones; rounding inside of Qt may differ by a hair.
int different(const QImage& a, const QImage& b) {
  if (a.size() != b.size()) return 1 << 30;
  int count = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) {
      const QRgb one = a.pixel(x, y), other = b.pixel(x, y);
      count += std::max({std::abs(qRed(one) - qRed(other)), std::abs(qGreen(one) - qGreen(other)),
                         std::abs(qBlue(one) - qBlue(other))}) > 6;
    }
  return count;
}

}  // namespace

void CanvasPaintingTest::init() {
  m_document = std::make_unique<ProjectDocument>();
  QVERIFY(m_document->openText(drawings::residual(12), "drawn"));
  m_scene = std::make_unique<NetworkScene>(*m_document);
  m_view = std::make_unique<NetworkView>(*m_scene);
  m_view->resize(900, 640);
  m_view->setMapShown(false);
  m_view->show();
  QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
}

void CanvasPaintingTest::cleanup() {
  m_view.reset();
  m_scene.reset();
  m_document->discardRecovery();
  m_document.reset();
}

void CanvasPaintingTest::aPanShowsWhatPaintingAnewShows_data() {
  QTest::addColumn<double>("zoom");
  for (const double zoom : {2.0, 1.37, 1.0, 0.7, 0.55, 0.45, 0.25, 0.13}) QTest::addRow("%g", zoom) << zoom;
}

void CanvasPaintingTest::aPanShowsWhatPaintingAnewShows() {
  QFETCH(double, zoom);
  m_view->setZoom(zoom);
  m_view->centerOn(m_scene->cardsRect().center());
  const QImage before = seen();
  for (const QPoint step :
       {QPoint(7, 11), QPoint(-3, 60), QPoint(0, -33), QPoint(-90, 1), QPoint(5000, 0), QPoint(-4990, 2)}) {
    m_view->horizontalScrollBar()->setValue(m_view->horizontalScrollBar()->value() + step.x());
    m_view->verticalScrollBar()->setValue(m_view->verticalScrollBar()->value() + step.y());
    const QImage moved = seen(), painted = anew();
    QVERIFY2(different(moved, painted) == 0,
             qPrintable(
                 QStringLiteral("%1 pixels after %2, %3").arg(different(moved, painted)).arg(step.x()).arg(step.y())));
  }
  QVERIFY(different(before, seen()) > 200);
}

void CanvasPaintingTest::whatChangesIsSeenAtOnce() {
  m_view->setZoom(1);
  m_view->centerOn(m_scene->card("b3_relu1")->pos());
  QImage last = seen();
  QCOMPARE(different(last, seen()), 0);
  const std::vector<std::pair<const char*, std::function<void()>>> changes{
      {"selected", [&] { m_scene->pickNode("b3_relu1"); }},
      {"hovered", [&] { m_scene->setHovered("b3_conv1", std::nullopt, std::nullopt); }},
      {"another field",
       [&] {
         m_document->setField("main", "b3_conv1", "kernel", Json::array({5, 5}));
       }},
      {"moved",
       [&] {
         m_document->moveNodes("main", {{"b3_relu1", m_scene->card("b3_relu1")->pos() + QPointF(60, 0)}});
       }},
      {"a comment",
       [&] {
         m_document->addComment("main", {.text = "why",
                                         .x = m_scene->card("b3_relu1")->pos().x() + 200,
                                         .y = m_scene->card("b3_relu1")->pos().y(),
                                         .width = 120,
                                         .height = 60});
       }},
      {"a wire that something would be put into",
       [&] {
         m_scene->setTarget(Edge{{"b3_norm1", "output"}, {"b3_relu1", "input"}});
       }},
      {"dark", [&] { m_theme->setMode(ThemeMode::dark); }},
      {"light", [&] { m_theme->setMode(ThemeMode::light); }},
  };
  for (const auto& [what, change] : changes) {
    change();
    const QImage now = seen();
    QVERIFY2(different(last, now) > 20, what);
    QVERIFY2(different(now, anew()) == 0, what);
    last = now;
  }
}

void CanvasPaintingTest::wordsStayTextWhereNoPixelsArePainted() {
  QPicture picture;
  QPainter painter(&picture);
  PreparedText(QStringLiteral("conv"), m_theme->font(FontRole::heading)).draw(painter, 0, 20);
  painter.end();
  QVERIFY(QByteArray(picture.data(), static_cast<int>(picture.size())).contains(QByteArray("\0c\0o\0n\0v", 8)));
}

void CanvasPaintingTest::theShareOfTheCostLeavesOtherCardsAlone() {
  const QPointF at = m_scene->card("b3_conv1")->pos();
  const double beside =
      (m_scene->card("b3_conv1")->card().width() + m_scene->card("b3_norm1")->card().width()) / 2 + 12;
  m_document->moveNodes("main", {{"b3_norm1", at - QPointF(beside, 0)}});
  m_view->setZoom(1);
  m_view->centerOn(at);
  CardItem& card = *m_scene->card("b3_conv1");
  const auto picture = [&](double share, const QRectF& area) {
    card.setCost(share, 0);
    return seen().copy(m_view->mapFromScene(area).boundingRect());
  };
  const QRectF neighbour = m_scene->card("b3_norm1")->sceneCard(),
               right(card.sceneCard().topRight() + QPointF(6, 0), QSizeF(60, 44));
  QCOMPARE(different(picture(0, neighbour), picture(0.25, neighbour)), 0);
  QVERIFY(different(picture(0, right), picture(0.25, right)) > 20);  // it stands at the other side
  // Where both sides are taken it is left out.
  m_document->moveNodes("main", {{"b3_relu1", at + QPointF(beside, 0)}});
  const QRectF other = m_scene->card("b3_relu1")->sceneCard();
  QCOMPARE(different(picture(0, other), picture(0.25, other)), 0);
  QCOMPARE(different(picture(0, neighbour), picture(0.25, neighbour)), 0);
}

// The edge of a frame would run through it.
void CanvasPaintingTest::theShareOfTheCostStandsBesideFrames() {
  const std::string group = m_document->makeGroup("main", {"b3_conv1", "b3_norm1"}, "block");
  m_view->setZoom(1);
  CardItem& card = *m_scene->card("b3_conv1");
  m_view->centerOn(card.pos());
  const QRectF frame = m_scene->groups().group(group)->frame(), face = card.sceneCard();
  const auto picture = [&](double share, const QRectF& area) {
    card.setCost(share, 0);
    return seen().copy(m_view->mapFromScene(area).boundingRect());
  };
  const QRectF edge(QPointF(frame.left() - 5, face.top()), QPointF(frame.left() + 5, face.bottom())),
      inside(QPointF(frame.left() + 2, face.top()), QPointF(face.left() - 8, face.bottom())),
      beyond(QPointF(frame.left() - 64, face.top()), QPointF(frame.left() - 6, face.bottom()));
  for (const QRectF& area : {edge, inside}) QCOMPARE(different(picture(0, area), picture(0.25, area)), 0);
  QVERIFY(different(picture(0, beyond), picture(0.25, beyond)) > 20);
  // Not where another card stands between.
  m_document->moveNodes("main", {{"b3_relu1", QPointF(frame.left() - 40 - face.width() / 2, face.center().y())}});
  QCOMPARE(different(picture(0, beyond), picture(0.25, beyond)), 0);
}

namespace {

// How often a widget was painted, whatever part of it.
class Painted : public QObject {
 public:
  explicit Painted(QWidget* widget) { widget->installEventFilter(this); }
  int count = 0;

 protected:
  bool eventFilter(QObject*, QEvent* event) override {
    count += event->type() == QEvent::Paint;
    return false;
  }
};

}  // namespace

// Nobody grabs a picture here: what is on the screen follows by itself, also after the colours were changed, which Qt
// notes as "all of it" until its own painting comes along.
void CanvasPaintingTest::whatChangesIsPainted() {
  m_theme->setMode(ThemeMode::dark);
  QTest::qWait(50);
  Painted painted(m_view->viewport());
  const std::vector<std::pair<const char*, std::function<void()>>> changes{
      {"selected", [&] { m_scene->pickNode("b3_relu1"); }},
      {"hovered", [&] { m_scene->setHovered("b3_conv1", std::nullopt, std::nullopt); }},
      {"moved",
       [&] {
         m_document->moveNodes("main", {{"b3_relu1", m_scene->card("b3_relu1")->pos() + QPointF(60, 0)}});
       }},
      {"grouped",
       [&] {
         m_document->makeGroup("main", {"b3_relu1", "b3_conv2"}, "Two");
       }},
      {"let go", [&] { m_scene->pick({}); }}};
  for (const auto& [what, change] : changes) {
    painted.count = 0;
    change();
    QTRY_VERIFY2(painted.count > 0, what);
    QTest::qWait(30);
    painted.count = 0;
    QTest::qWait(60);
    QVERIFY2(painted.count == 0, what);  // and then it rests
  }
  m_theme->setMode(ThemeMode::light);
}

// The wire that enters a group runs through its head: the words there stay what they are without it.
void CanvasPaintingTest::wordsOfAFrameStandOverTheWires() {
  QVERIFY(m_document->openText(drawings::kSmall, "small"));
  const std::string outer = m_document->makeGroup("main", {"conv", "relu", "pool"}, "Around"),
                    inner = m_document->makeGroup("main", {"relu"}, "A title as long as the way to the wire and on");
  QCoreApplication::processEvents();
  m_view->setZoom(1);
  m_view->centerOn(m_scene->card("relu")->pos());
  const Edge wire{{"conv", "output"}, {"relu", "input"}};
  for (const ThemeMode mode : {ThemeMode::light, ThemeMode::dark}) {
    m_theme->setMode(mode);
    const QRectF head = m_scene->groups().group(inner)->head();
    const std::vector<QPointF> way = m_scene->wayOf(wire);
    QVERIFY(way.size() >= 2 && way.front().x() == way.back().x());
    // Where title and wire meet; a column of the frame beside it is not touched.
    const QRectF words(way.front().x() - 3, head.center().y() - 6, 6, 12);
    QVERIFY(head.contains(words) && m_scene->wiresCross(words));
    const QRect there = m_view->mapFromScene(words).boundingRect();
    const QImage with = seen().copy(there);
    QVERIFY(different(with, anew().copy(there)) == 0);
    m_document->removeWires("main", {wire});
    QCoreApplication::processEvents();
    QVERIFY(!m_scene->wiresCross(words));
    const QImage without = seen().copy(there);
    QVERIFY2(different(with, without) <= 4,
             qPrintable(QString::number(different(with, without))));  // a dot of the ground
    m_document->undoStack().undo();
    QCoreApplication::processEvents();
    // Above the head the wire is seen.
    const QRect above = m_view->mapFromScene(QRectF(way.front().x() - 3, head.top() - 9, 6, 6)).boundingRect();
    const QColor ink = m_theme->colour(Colour::axis);
    const QImage piece = seen().copy(above);
    bool found = false;
    for (int x = 0; x < piece.width(); ++x) {
      const QColor at = piece.pixelColor(x, piece.height() / 2);
      found |= std::abs(at.lightness() - ink.lightness()) < 24;
    }
    QVERIFY(found);
  }
  m_theme->setMode(ThemeMode::light);
  Q_UNUSED(outer);
}

}  // namespace loom

QTEST_MAIN(loom::CanvasPaintingTest)
#include "canvas_painting_test.moc"
