// What a hand does on the canvas and in the outline, by mouse and keys alone and in any order: undoing all of it gives
// the first file byte for byte, redoing it the last, and the canvas shows then what is drawn.
#include <QApplication>
#include <QLineEdit>
#include <QTest>
#include <functional>
#include <random>

#include "tests/widgets/document/unit_drawings.h"
#include "widgets/canvas/add_menu.h"
#include "widgets/canvas/argument_chips.h"
#include "widgets/canvas/comment_editor.h"
#include "widgets/canvas/inline_name.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/canvas/selection_bar.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/controls/button.h"
#include "widgets/controls/search_field.h"
#include "widgets/document/group_edits.h"
#include "widgets/outline/outline_panel.h"
#include "widgets/theme/theme.h"

namespace loom {

class RandomGesturesTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void initTestCase();
  void init();
  void cleanup();
  void twoHundredEditsByHandComeBackExactly_data();
  void twoHundredEditsByHandComeBackExactly();
  void everyGestureTookPart();

 private:
  void add(const char* what, std::function<void()> gesture) { m_gestures.emplace_back(what, std::move(gesture)); }
  void editing();
  void making();
  void opening();
  void outline();
  static void toFront(QWidget& window);
  void settle();  // whatever a gesture left open is closed

  std::size_t below(std::size_t count) { return count == 0 ? 0 : m_random() % count; }
  QPoint at(QPointF scene) const { return m_view->mapFromScene(scene); }
  CardItem* anyCard();
  QPoint anyPlace() { return {static_cast<int>(60 + below(800)), static_cast<int>(60 + below(600))}; }
  const GroupItem* anyFrame();
  const CommentItem* anyComment();
  void key(int which, Qt::KeyboardModifiers modifiers = {}) {
    QTest::keyClick(keyboard(), static_cast<Qt::Key>(which), modifiers);
  }
  void type(const QString& text) { QTest::keyClicks(keyboard(), text); }
  void typeInstead(const QString& text);
  QWidget* keyboard() const {
    return QApplication::focusWidget() != nullptr ? QApplication::focusWidget() : m_view.get();
  }
  void click(QPoint place, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(m_view->viewport(), Qt::LeftButton, modifiers, place);
  }
  void drag(QPoint from, QPoint to);
  void pick(std::size_t most);
  QString name(const char* stem) { return QString::fromLatin1(stem) + QString::number(below(100000)); }

  std::unique_ptr<Theme> m_theme;
  std::unique_ptr<ProjectDocument> m_document;
  std::unique_ptr<NetworkScene> m_scene;
  std::unique_ptr<NetworkView> m_view;
  std::unique_ptr<OutlinePanel> m_outline;
  std::mt19937 m_random;
  std::vector<std::pair<std::string, std::function<void()>>> m_gestures;
  std::map<std::string, int> m_done;
};

void RandomGesturesTest::initTestCase() {
  m_theme = std::make_unique<Theme>(*qApp, ThemeOptions{.mode = ThemeMode::light, .reducedMotion = true});
  editing();
  making();
  opening();
  outline();
  for (const auto& [what, gesture] : m_gestures) m_done[what];
}

void RandomGesturesTest::init() {
  m_document = std::make_unique<ProjectDocument>();
  QVERIFY(m_document->openText(drawings::kUnits, "drawing"));
  m_scene = std::make_unique<NetworkScene>(*m_document);
  m_view = std::make_unique<NetworkView>(*m_scene);
  m_outline = std::make_unique<OutlinePanel>(*m_document);
  m_outline->resize(240, 700);
  m_outline->show();
  m_view->resize(1000, 800);
  m_view->show();
  m_view->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(m_view.get()));
  m_view->setFocus();
  m_view->fit();
}

void RandomGesturesTest::cleanup() {
  m_outline.reset();
  m_view.reset();
  m_scene.reset();
  if (m_document) m_document->discardRecovery();
  m_document.reset();
}

void RandomGesturesTest::settle() {
  for (int i = 0;
       i < 3 && (m_view->nameField().isAsking() || m_view->commentEditor().isEditing() || m_view->addMenu().isOpen());
       ++i)
    key(Qt::Key_Escape);
  if (m_view->unitView() != nullptr && m_view->unitView()->isOpen()) m_view->unitView()->close();
  m_outline->search().clear();
  toFront(*m_view);
  m_view->setFocus();
  QCoreApplication::processEvents();
}

void RandomGesturesTest::toFront(QWidget& window) {
  if (window.isActiveWindow()) return;
  window.activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(&window));
}

CardItem* RandomGesturesTest::anyCard() {
  std::vector<CardItem*> seen =
      m_scene->cards().in(m_view->mapToScene(m_view->viewport()->rect().adjusted(20, 20, -20, -20)).boundingRect());
  // By name: the order in which cards are found is no property of the drawing.
  std::sort(seen.begin(), seen.end(), [](const CardItem* a, const CardItem* b) { return a->id() < b->id(); });
  return seen.empty() ? nullptr : seen[below(seen.size())];
}

const GroupItem* RandomGesturesTest::anyFrame() {
  std::vector<const GroupItem*> frames;
  for (const Group& group : m_scene->network().groups)
    if (const GroupItem* item = m_scene->groups().group(group.id); item != nullptr && item->isVisible())
      frames.push_back(item);
  return frames.empty() ? nullptr : frames[below(frames.size())];
}

const CommentItem* RandomGesturesTest::anyComment() {
  const auto& comments = m_scene->network().comments;
  return comments.empty() ? nullptr : m_scene->groups().comment(comments[below(comments.size())].id);
}

void RandomGesturesTest::typeInstead(const QString& text) {
  if (auto* line = qobject_cast<QLineEdit*>(keyboard())) line->selectAll();
  type(text);
}

void RandomGesturesTest::drag(QPoint from, QPoint to) {
  QTest::mousePress(m_view->viewport(), Qt::LeftButton, {}, from);
  QTest::mouseMove(m_view->viewport(), (from + to) / 2);
  QTest::mouseMove(m_view->viewport(), to);
  QTest::mouseRelease(m_view->viewport(), Qt::LeftButton, {}, to);
}

void RandomGesturesTest::pick(std::size_t most) {
  for (std::size_t i = 0, count = 1 + below(most); i < count; ++i)
    if (const CardItem* card = anyCard()) click(at(card->pos()), i == 0 ? Qt::NoModifier : Qt::ShiftModifier);
}

void RandomGesturesTest::editing() {
  add("drag cards", [this] {
    pick(2);
    if (const CardItem* card = anyCard()) drag(at(card->pos()), anyPlace());
  });
  add("draw a wire", [this] {
    const CardItem *from = anyCard(), *to = anyCard();
    if (from == nullptr || from->outputs().empty() || to->inputs().empty()) return;
    drag(at(from->pos() + from->outputs().front().at), at(to->pos() + to->inputs()[below(to->inputs().size())].at));
  });
  add("wire by keys", [this] {
    pick(1);
    key(Qt::Key_W);
    for (std::size_t i = below(3); i > 0; --i) key(Qt::Key_Tab);
    key(Qt::Key_Return);
    key(Qt::Key_Escape);
  });
  add("remove a wire", [this] {
    const auto& edges = m_scene->network().edges;
    if (edges.empty()) return;
    m_scene->pick({{}, {edges[below(edges.size())]}});
    key(Qt::Key_Delete);
  });
  add("remove and heal", [this] {
    pick(1);
    key(Qt::Key_Backspace);
  });
  add("remove", [this] {
    pick(1);
    key(Qt::Key_Delete);
  });
  add("arrows", [this] {
    pick(3);
    const int arrows[] = {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down};
    for (int i = 0; i < 3; ++i) key(arrows[below(4)], below(3) == 0 ? Qt::ShiftModifier : Qt::NoModifier);
  });
  add("duplicate", [this] {
    pick(2);
    key(Qt::Key_D, Qt::ControlModifier);
  });
  add("copy and paste", [this] {
    pick(3);
    key(Qt::Key_C, Qt::ControlModifier);
    key(Qt::Key_V, Qt::ControlModifier);
  });
  add("cut", [this] {
    pick(2);
    key(Qt::Key_X, Qt::ControlModifier);
  });
  add("add from the menu", [this] {
    pick(1);
    key(Qt::Key_A, Qt::ShiftModifier);
    if (!m_view->addMenu().isOpen()) return;
    const char* const layers[] = {"ReLU", "Dropout", "Residual", "Linear"};
    type(QString::fromLatin1(layers[below(4)]));
    key(Qt::Key_Return);
  });
  add("arrange", [this] { key(Qt::Key_L, Qt::ControlModifier); });
  add("align by a key", [this] {
    pick(3);
    key(below(2) == 0 ? Qt::Key_Right : Qt::Key_Up, Qt::AltModifier);
  });
  add("distribute by a key", [this] {
    pick(5);
    key(below(2) == 0 ? Qt::Key_Right : Qt::Key_Down, Qt::AltModifier | Qt::ShiftModifier);
  });
  add("align or distribute by the bar", [this] {
    pick(5);
    const auto& buttons = m_view->selectionBar().buttons();
    if (m_view->selectionBar().isVisible()) QTest::mouseClick(buttons[below(buttons.size())], Qt::LeftButton);
  });
}

void RandomGesturesTest::making() {
  add("make a unit", [this] {
    pick(2);
    key(Qt::Key_G, Qt::ControlModifier);
    if (!m_view->nameField().isAsking()) return;
    typeInstead(name("Unit"));
    key(Qt::Key_Return);
  });
  add("group", [this] {
    pick(4);
    key(Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
    if (!m_view->nameField().isAsking()) return;
    typeInstead(name("Group "));
    key(Qt::Key_Return);
  });
  add("repeat", [this] {
    pick(1);
    key(Qt::Key_R, Qt::ControlModifier);
    if (!m_view->nameField().isAsking()) return;
    typeInstead(QString::number(2 + below(4)));
    key(Qt::Key_Return);
  });
  add("take apart", [this] {
    if (const GroupItem* frame = anyFrame(); frame != nullptr && below(2) == 0)
      click(at(frame->head().center()));
    else
      pick(1);
    key(Qt::Key_G, Qt::ControlModifier | Qt::AltModifier);
  });
  add("fold by a key", [this] {
    if (const GroupItem* frame = anyFrame())
      click(at(frame->head().center()));
    else
      pick(1);
    key(Qt::Key_Space, Qt::ControlModifier | Qt::ShiftModifier);
  });
  add("fold by the chevron", [this] {
    if (const GroupItem* frame = anyFrame()) click(at(frame->chevron().center()));
  });
  add("open a folded group", [this] {
    for (const Group& group : m_scene->network().groups)
      if (const CardItem* card = m_scene->card(group.id))
        return QTest::mouseDClick(m_view->viewport(), Qt::LeftButton, {}, at(card->pos() + QPointF(20, 0)));
  });
  add("move a group by its head", [this] {
    if (const GroupItem* frame = anyFrame())
      drag(at(frame->head().center()),
           at(frame->head().center()) + QPoint(static_cast<int>(below(80)), static_cast<int>(below(80))));
  });
  add("title a group", [this] {
    if (const GroupItem* frame = anyFrame()) click(at(frame->head().center()));
    if (m_scene->picked().groups.size() != 1) return;
    key(Qt::Key_F2);
    if (!m_view->nameField().isAsking()) return;
    typeInstead(name("Title "));
    key(Qt::Key_Return);
  });
  add("write a comment", [this] {
    m_scene->pick({});
    key(Qt::Key_C);
    if (!m_view->commentEditor().isEditing()) return;
    type(name("words "));
    if (below(2) == 0)
      key(Qt::Key_Escape);
    else
      key(Qt::Key_Return, Qt::ControlModifier);
  });
  add("move or size a comment", [this] {
    const CommentItem* comment = anyComment();
    if (comment == nullptr) return;
    const QRectF rect = comment->rect();
    if (below(2) == 0)
      drag(at(rect.center()), anyPlace());
    else
      drag(at(rect.bottomRight() - QPointF(4, 4)), at(rect.bottomRight() + QPointF(48, 36)));
  });
  add("remove a comment", [this] {
    const CommentItem* comment = anyComment();
    if (comment == nullptr || below(3) != 0) return;
    click(at(comment->rect().center()));
    key(Qt::Key_Delete);
  });
}

void RandomGesturesTest::opening() {
  const auto open = [this] {
    std::vector<std::string> uses;
    for (const Node& node : m_scene->network().nodes)
      if (!node.unit.empty() && m_scene->card(node.id) != nullptr) uses.push_back(node.id);
    if (uses.empty()) return false;
    m_view->reveal(uses[below(uses.size())]);
    key(Qt::Key_Space);
    return m_view->unitView() != nullptr && m_view->unitView()->isOpen();
  };
  add("change a unit in place", [this, open] {
    if (!open()) return;
    NetworkView& inner = m_view->unitView()->view();
    const auto& nodes = inner.networkScene().network().nodes;
    const CardItem* card = nodes.empty() ? nullptr : inner.networkScene().card(nodes[below(nodes.size())].id);
    if (card == nullptr) return;
    QTest::mouseClick(inner.viewport(), Qt::LeftButton, {}, inner.mapFromScene(card->pos()));
    if (below(2) == 0)
      QTest::keyClick(&inner, Qt::Key_Right);
    else
      QTest::keyClick(&inner, Qt::Key_D, Qt::ControlModifier);
  });
  add("give a use its argument by a chip", [this, open] {
    if (!open()) return;
    ArgumentChips& chips = m_view->unitView()->chips();
    if (chips.chips().empty()) return;
    QTest::mouseClick(chips.chips().front(), Qt::LeftButton);
    auto* value = qobject_cast<QLineEdit*>(QApplication::focusWidget());
    if (chips.card() == nullptr || value == nullptr) return;
    value->selectAll();
    QTest::keyClicks(value, QString::number(8 + below(8)));
    QTest::keyClick(value, Qt::Key_Return);
  });
}

void RandomGesturesTest::outline() {
  const auto click = [this] {
    OutlineTree& tree = m_outline->tree();
    tree.expandToDepth(1);
    const QModelIndex root = tree.model()->index(0, 0);
    QModelIndex row =
        tree.model()->index(static_cast<int>(below(static_cast<std::size_t>(tree.model()->rowCount(root)))), 0, root);
    if (tree.model()->rowCount(row) > 0 && below(2) == 0)
      row = tree.model()->index(static_cast<int>(below(static_cast<std::size_t>(tree.model()->rowCount(row)))), 0, row);
    toFront(*m_outline);
    m_outline->focusTree();
    tree.scrollTo(row);
    QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, tree.visualRect(row).center());
    return row.isValid();
  };
  add("rename in the outline", [this, click] {
    if (!click()) return;
    QTest::keyClick(&m_outline->tree(), Qt::Key_F2);
    auto* line = m_outline->tree().findChild<QLineEdit*>();
    if (line == nullptr) return;
    line->selectAll();
    QTest::keyClicks(line, name("row"));
    QTest::keyClick(line, Qt::Key_Return);
    QCoreApplication::processEvents();
  });
}

void RandomGesturesTest::twoHundredEditsByHandComeBackExactly_data() {
  QTest::addColumn<unsigned>("seed");
  for (unsigned seed = 1; seed <= 4; ++seed) QTest::addRow("seed %u", seed) << seed;
}

void RandomGesturesTest::twoHundredEditsByHandComeBackExactly() {
  QFETCH(unsigned, seed);
  m_random.seed(seed);
  QUndoStack& stack = m_document->undoStack();
  const std::string first = m_document->text();
  std::map<int, std::string> texts{{0, first}};
  int changes = 0;
  connect(m_document.get(), &ProjectDocument::changed, this, [&changes] { ++changes; });
  // A gesture may be several steps.
  const auto keeping =
      connect(&stack, &QUndoStack::indexChanged, this, [&](int index) { texts[index] = m_document->text(); });
  for (int done = 0; stack.index() < 200; ++done) {
    QVERIFY2(done < 2000, qPrintable(QStringLiteral("%1 steps alone came of it").arg(stack.index())));
    if (done % 8 == 0) m_view->fit();
    const auto& [what, gesture] = m_gestures[below(m_gestures.size())];
    const int before = changes;
    gesture();
    settle();
    m_done[what] += changes > before;
    texts[stack.index()] = m_document->text();
  }
  disconnect(keeping);
  const std::string last = m_document->text();
  const auto back = [&](const QString& step) {
    QVERIFY2(m_document->text() == texts.at(stack.index()),
             qPrintable(QStringLiteral("'%1', step %2").arg(step).arg(stack.index())));
  };
  while (stack.canUndo()) {
    const QString step = stack.undoText();
    stack.undo();
    back("undo of " + step);
    if (QTest::currentTestFailed()) return;
  }
  QCOMPARE(m_document->text(), first);
  for (const Node& node : m_scene->network().nodes) {
    const CardItem* card = m_scene->card(node.id);
    QVERIFY2(card != nullptr && card->pos() == QPointF(node.x, node.y), node.id.c_str());
  }
  QCOMPARE(m_scene->cards().count(), m_scene->network().nodes.size());
  while (stack.canRedo()) {
    const QString step = stack.redoText();
    stack.redo();
    back("redo of " + step);
    if (QTest::currentTestFailed()) return;
  }
  QCOMPARE(m_document->text(), last);
}

void RandomGesturesTest::everyGestureTookPart() {
  for (const auto& [what, times] : m_done) QVERIFY2(times > 0, what.c_str());
}

}  // namespace loom

QTEST_MAIN(loom::RandomGesturesTest)
#include "random_gestures_test.moc"
