// A scene that followed a hundred edits by what changed shows the same as one made from the drawing as it is.
#include <QTest>
#include <random>
#include <set>

#include "tests/patience.h"
#include "tests/widgets/document/drawings.h"
#include "tests/widgets/document/random_edits.h"
#include "tests/widgets/document/unit_drawings.h"
#include "widgets/canvas/network_view.h"
#include "widgets/document/arrange.h"
#include "widgets/document/card_geometry.h"
#include "widgets/theme/theme.h"

namespace loom {

class SceneFollowingTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase() {
    m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  }
  void itShowsWhatAFreshOneShows_data();
  void itShowsWhatAFreshOneShows();
  void groupsUnitsAndFoldsAreFollowed_data();
  void groupsUnitsAndFoldsAreFollowed();
  void aFoldedGroupIsFollowedByWhatChanged();
  void aLargeDrawingInAWindowIsFollowed();
  void waysAreThoseOfRoutingAnew();
  void whatIsHiddenCatchesUp();
  void aLargeProjectIsLookedAtBesideTheWindow();
  void aUseIsLookedAtBesideTheWindowToo();

 private:
  std::unique_ptr<Theme> m_theme;
};

namespace {

QString differs(const NetworkScene& kept, const NetworkScene& fresh) {
  if (kept.cards().count() != fresh.cards().count())
    return QStringLiteral("%1 cards, not %2").arg(kept.cards().count()).arg(fresh.cards().count());
  QString found;
  fresh.cards().each([&](const CardItem& b) {
    const CardItem* a = kept.card(b.id());
    const QString id = QString::fromStdString(b.id());
    if (a == nullptr)
      found = id + " is missing";
    else if (a->pos() != b.pos())
      found = id + " stands elsewhere";
    else if (!(a->content() == b.content()))
      found = id + " says something else";
    else if (a->inputs() != b.inputs() || a->outputs() != b.outputs())
      found = id + " has other pins";
  });
  if (!found.isEmpty()) return found;
  for (const Group& group : fresh.network().groups) {
    const GroupItem *a = kept.groups().group(group.id), *b = fresh.groups().group(group.id);
    const QString id = QString::fromStdString(group.id);
    if ((a == nullptr) != (b == nullptr)) return id + " is no frame in one of them";
    if (a != nullptr &&
        (a->frame() != b->frame() || a->isVisible() != b->isVisible() || !(a->content() == b->content())))
      return "the frame of " + id + " is another";
  }
  for (const Comment& comment : fresh.network().comments)
    if (kept.groups().comment(comment.id) == nullptr ||
        kept.groups().comment(comment.id)->rect() != fresh.groups().comment(comment.id)->rect())
      return QString::fromStdString(comment.id) + " stands elsewhere";
  for (const Edge& edge : fresh.network().edges)
    if (kept.wayOf(edge) != fresh.wayOf(edge))
      return QString::fromStdString("the wire from " + edge.from.node + " to " + edge.to.node + " goes another way");
  return {};
}

void edit(ProjectDocument& document, std::mt19937& random) {
  const Network& drawn = *document.network("main");
  const auto below = [&](std::size_t count) { return count == 0 ? 0 : random() % count; };
  const auto any = [&] { return drawn.nodes.empty() ? std::string() : drawn.nodes[below(drawn.nodes.size())].id; };
  static const char* const layers[] = {"ReLU", "Add", "Convolution", "Concatenate", "Dropout", "BatchNormalization"};
  switch (below(12)) {
    case 0:
      document.addNode({.layer = layers[below(6)], .after = any()});
      break;
    case 1:
      if (!drawn.edges.empty())
        document.addNode({.layer = layers[below(6)],
                          .at = {0, 60.0 * static_cast<double>(below(20))},
                          .into = drawn.edges[below(drawn.edges.size())]});
      break;
    case 2:
      document.addNode({.layer = layers[below(6)], .at = {300, 60.0 * static_cast<double>(below(20))}});
      break;
    case 3:
      if (drawn.nodes.size() > 12) document.removeNodes("main", {any()}, below(2) == 0);
      break;
    case 4:
    case 5: {
      std::map<std::string, QPointF> places;
      for (int i = 0; i < 3; ++i)
        places[any()] = {12.0 * static_cast<double>(below(60)), 12.0 * static_cast<double>(below(90))};
      document.moveNodes("main", places);
      break;
    }
    case 6:
      document.setField("main", any(), "channels", static_cast<int>(1 + below(9)));
      break;
    case 7:
      document.renameNode("main", any(), "a_rather_long_name_that_needs_room_" + std::to_string(below(500)));
      break;
    case 8:
      document.addWire("main", {{any(), "output"}, {any(), "input"}});
      break;
    case 9:
      if (!drawn.edges.empty()) document.removeWires("main", {drawn.edges[below(drawn.edges.size())]});
      break;
    case 10:
      if (!drawn.edges.empty())
        document.rewire("main", drawn.edges[below(drawn.edges.size())], {{any(), "output"}, {any(), "input"}});
      break;
    default:
      if (below(2) == 0)
        document.undoStack().undo();
      else
        document.setLayer("main", any(), layers[below(6)]);
  }
}

}  // namespace

void SceneFollowingTest::itShowsWhatAFreshOneShows_data() {
  QTest::addColumn<unsigned>("seed");
  for (unsigned seed = 1; seed <= 8; ++seed) QTest::addRow("seed %u", seed) << seed;
}

void SceneFollowingTest::itShowsWhatAFreshOneShows() {
  QFETCH(unsigned, seed);
  ProjectDocument document;
  QVERIFY(document.openText(drawings::residual(3), "drawn"));
  NetworkScene kept(document);
  std::mt19937 random(seed);
  for (int i = 0; i < 100; ++i) {
    edit(document, random);
    QCoreApplication::processEvents();
    const NetworkScene fresh(document);
    const QString difference = differs(kept, fresh);
    QVERIFY2(difference.isEmpty(),
             qPrintable(QStringLiteral("edit %1 (%2): %3").arg(i).arg(document.undoStack().undoText(), difference)));
  }
  document.discardRecovery();
}

void SceneFollowingTest::groupsUnitsAndFoldsAreFollowed_data() {
  QTest::addColumn<unsigned>("seed");
  for (unsigned seed = 1; seed <= 6; ++seed) QTest::addRow("seed %u", seed) << seed;
}

// Every kind of edit that there is, and now and then steps back.
void SceneFollowingTest::groupsUnitsAndFoldsAreFollowed() {
  QFETCH(unsigned, seed);
  ProjectDocument document;
  QVERIFY(document.openText(drawings::kUnits, "drawn"));
  NetworkScene kept(document);
  RandomEdits edits(document, seed);
  for (int i = 0; i < 150; ++i) {
    edits.step();
    if (edits.below(6) == 0)
      for (std::size_t back = edits.below(4); back > 0; --back) document.undoStack().undo();
    QCoreApplication::processEvents();
    NetworkScene fresh(document);
    fresh.setNetwork(kept.networkName());
    const QString difference = differs(kept, fresh);
    QVERIFY2(difference.isEmpty(),
             qPrintable(QStringLiteral("edit %1 (%2): %3").arg(i).arg(document.undoStack().undoText(), difference)));
  }
  document.discardRecovery();
}

// Cards that have nothing to do with it stay the same items when a group beside them is folded, opened and changed.
void SceneFollowingTest::aFoldedGroupIsFollowedByWhatChanged() {
  ProjectDocument document;
  QVERIFY(document.openText(drawings::residual(4), "drawn"));
  NetworkScene scene(document);
  const std::string group = document.makeGroup("main", {"b1_conv1", "b1_norm1", "b1_relu1"}, "Front");
  const std::vector<QPointF> way = scene.wayOf({{"x", "output"}, {"b0_conv1", "input"}});
  const CardItem* other = scene.card("b0_conv1");
  const std::size_t number = other->number();
  const auto same = [&] {
    return scene.card("b0_conv1") == other && other->number() == number &&
           scene.wayOf({{"x", "output"}, {"b0_conv1", "input"}}) == way;
  };
  document.setFolded("main", group, true);
  QVERIFY(scene.card(group) != nullptr && scene.card("b1_conv1") == nullptr);
  QVERIFY(same());
  document.setField("main", "b1_conv1", "channels", 7);
  document.removeNodes("main", {"b1_norm1"}, true);
  QVERIFY(scene.card(group)->content().type.startsWith("2"));
  QVERIFY(same());
  document.addWire("main", {{"b1_conv1", "output"}, {"b3_add", "input"}});
  QCOMPARE(scene.card(group)->outputs().size(), std::size_t(2));
  document.setFolded("main", group, false);
  QVERIFY(scene.card(group) == nullptr && scene.card("b1_relu1") != nullptr);
  QVERIFY(same());
  document.discardRecovery();
}

// Of more wires than are routed at once, in a window that shows a part of them: what waits is done in slices, and comes
// to the same.
void SceneFollowingTest::aLargeDrawingInAWindowIsFollowed() {
  ProjectDocument document;
  QVERIFY(document.openText(drawings::residual(240), "large"));
  NetworkScene kept(document);
  NetworkView view(kept);
  view.resize(900, 700);
  view.show();
  view.setZoom(1);
  std::mt19937 random(4);
  const auto some = [&](std::size_t count) {
    const auto& nodes = kept.network().nodes;
    std::vector<std::string> ids;
    for (std::size_t i = random() % (nodes.size() - count); ids.size() < count; ++i) ids.push_back(nodes[i].id);
    return ids;
  };
  const auto apart = [&] {
    std::map<std::string, QPointF> places;
    for (const Node& node : kept.network().nodes) places[node.id] = QPointF(node.x * 1.25, node.y * 1.25);
    document.moveNodes("main", places);
  };
  bool arranged = true;
  const auto undo = [&] { document.undoStack().undo(); };
  std::string group;
  const std::vector<std::pair<const char*, std::function<void()>>> steps{
      {"cut", [&] { document.cutNodes("main", some(300)); }},
      {"undo of it", undo},
      {"paste", [&] { document.pasteNodes("main", document.copyNodes("main", some(200)), kept.cardsRect().center()); }},
      {"move apart", apart},
      {"arrange", [&] { arranged = false, document.arrange("main", [&] { arranged = true; }); }},
      {"undo of it", undo},
      {"group", [&] { group = document.makeGroup("main", some(30), "Group"); }},
      {"fold", [&] { document.setFolded("main", group, true); }},
      {"a field beside it", [&] { document.setField("main", "b200_conv1", "channels", 5); }},
      {"cut beside it", [&] { document.cutNodes("main", some(100)); }},
      {"undo of it", undo},
      {"move apart", apart},
      {"undo of it", undo},
      {"undo of the field", undo},
      {"open", undo},
      {"unit",
       [&] {
         document.makeUnit("main", {"b100_conv1", "b100_norm1", "b100_relu1"}, "Front");
       }},
      {"undo of it", undo},
      {"undo of the group", undo},
  };
  for (const auto& [what, step] : steps) {
    view.centerOn(kept.card(some(1).front()) == nullptr ? QPointF() : kept.cardsRect().center());
    step();
    QTRY_VERIFY2(arranged, what);
    QTRY_VERIFY2(document.checksAreCurrent(), what);
    QCoreApplication::processEvents();
    const NetworkScene fresh(document);
    QTRY_VERIFY2(differs(kept, fresh).isEmpty(),
                 qPrintable(QStringLiteral("%1: %2").arg(QLatin1String(what), differs(kept, fresh))));
  }
  document.discardRecovery();
}

// The scene's drag and the router below it: cards that move to and fro, one wire and many.
void SceneFollowingTest::waysAreThoseOfRoutingAnew() {
  ProjectDocument document;
  QVERIFY(document.openText(drawings::residual(12), "drawn"));
  NetworkScene scene(document);
  std::mt19937 random(3);
  for (int i = 0; i < 150; ++i) {
    std::map<std::string, QPointF> places;
    const auto& nodes = scene.network().nodes;
    for (std::size_t many = 1 + random() % 9; many > 0; --many) {
      const Node& node = nodes[random() % nodes.size()];
      places[node.id] = QPointF(node.x + 12.0 * (random() % 50) - 300, node.y + 12.0 * (random() % 50) - 300);
    }
    scene.preview(places);
    Network moved = scene.network();
    for (const auto& [id, at] : places) {
      moved.find(id)->x = at.x();
      moved.find(id)->y = at.y();
    }
    const Routing anew = routeWires(moved);
    for (std::size_t wire = 0; wire < moved.edges.size(); ++wire) {
      const std::vector<QPointF> kept = scene.wayOf(moved.edges[wire]);
      QVERIFY2(kept == anew.routes[wire].points,
               qPrintable(QStringLiteral("move %1: %2 to %3")
                              .arg(i)
                              .arg(QString::fromStdString(moved.edges[wire].from.node),
                                   QString::fromStdString(moved.edges[wire].to.node))));
    }
  }
}

void SceneFollowingTest::whatIsHiddenCatchesUp() {
  ProjectDocument document;
  QVERIFY(document.openText(drawings::kSmall, "drawn"));
  NetworkScene scene(document);
  scene.pickNode("relu");
  scene.setSeen(false);
  document.removeNodes("main", {"relu"}, true);
  document.setField("main", "conv", "channels", 9);
  QVERIFY(scene.card("relu") != nullptr);  // nothing was done meanwhile
  scene.setSeen(true);
  QVERIFY(scene.card("relu") == nullptr);
  QVERIFY(scene.picked().empty());
  const NetworkScene fresh(document);
  QCOMPARE(differs(scene, fresh), QString());
  document.discardRecovery();
}

void SceneFollowingTest::aLargeProjectIsLookedAtBesideTheWindow() {
  ProjectDocument document;
  QVERIFY(document.openText(drawings::residual(250), "large"));
  NetworkScene scene(document);
  QVERIFY(!document.checksAreCurrent());
  QVERIFY(document.analysis("main").nodes.empty());
  QTRY_VERIFY(document.checksAreCurrent() && !document.analysis("main").nodes.empty());
  const Shape before = document.analysis("main").nodes.at("b100_conv1").outputs.front();
  document.setField("main", "b100_conv1", "channels", 7);
  document.setField("main", "b100_conv2", "channels", "many");
  // What was known stays until there is better.
  QVERIFY(!document.checksAreCurrent());
  QCOMPARE(document.analysis("main").nodes.at("b100_conv1").outputs.front(), before);
  QTRY_VERIFY(document.checksAreCurrent());
  QCOMPARE(document.analysis("main").nodes.at("b100_conv1").outputs.front()[0], std::int64_t{7});
  QVERIFY(!document.problems().empty());
  QTRY_VERIFY(!scene.card("b100_conv2")->content().errors.isEmpty());
  document.undoStack().undo();
  document.undoStack().undo();
  QTRY_VERIFY(document.checksAreCurrent());
  QCOMPARE(document.analysis("main").nodes.at("b100_conv1").outputs.front(), before);
  QTRY_VERIFY(scene.card("b100_conv2")->content().errors.isEmpty());
  document.discardRecovery();
}

// A unit as its second use sees it: at once in a small project, in a large one when it has been looked at; the window
// never waits.
void SceneFollowingTest::aUseIsLookedAtBesideTheWindowToo() {
  for (const int more : {0, 1300}) {
    ProjectDocument document;
    QVERIFY(document.openText(drawings::kUnits, "units"));
    document.edit("more", [&](Project& project) {
      for (int i = 0; i < more; ++i)
        project.network("main")->nodes.push_back(
            {.id = "more" + std::to_string(i), .layer = "ReLU", .y = 1000 + 60.0 * i, .placed = true});
    });
    NetworkScene scene(document);
    scene.setUse({"main", "down3"});
    scene.setNetwork("ResidualDown");
    const auto channels = [&]() -> std::int64_t {
      const auto facts = scene.analysis().nodes.find("conv_a");
      return facts == scene.analysis().nodes.end() || facts->second.outputs.empty() ? 0
                                                                                    : facts->second.outputs.front()[0];
    };
    if (more == 0)
      QCOMPARE(channels(), std::int64_t{64});
    else
      QCOMPARE(channels(), std::int64_t{0});
    QTRY_COMPARE(channels(), std::int64_t{64});
    document.setField("main", "down3", "channels", 48);
    QTRY_COMPARE(channels(), std::int64_t{48});
    scene.setUse({});
    scene.setNetwork("ResidualDown");
    QTRY_COMPARE(channels(), std::int64_t{32});  // of its first use again
    document.discardRecovery();
  }
}

}  // namespace loom

QTEST_MAIN(loom::SceneFollowingTest)
#include "scene_following_test.moc"
