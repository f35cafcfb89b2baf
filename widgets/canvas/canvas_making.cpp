// NetworkView: units, groups, repeats and comments as they are made, named and taken apart.
#include <QCursor>
#include <algorithm>

#include "widgets/canvas/comment_editor.h"
#include "widgets/canvas/inline_name.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/overlays.h"
#include "widgets/document/argument_text.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/texts.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {

// The words of a repeat: a whole number, or an expression.
Json readRepeat(const QString& text) {
  bool whole = false;
  const qlonglong times = text.toLongLong(&whole);
  if (whole) return times;
  const std::string expression = text.trimmed().toStdString();
  return expression.starts_with('=') ? expression : "=" + expression;
}

QString whyNotTimes(const QString& text) {
  bool whole = false;
  const qlonglong times = text.toLongLong(&whole);
  if (text.trimmed().isEmpty()) return NetworkView::tr("Say how many times: a number, or an expression of arguments");
  return whole && times < 1 ? NetworkView::tr("%1 times is not at all: 1 is the least").arg(times) : QString();
}

}  // namespace

QRect NetworkView::nameRect(const QRectF& scene) const {
  const QRect there = mapFromScene(scene).boundingRect();
  return {there.left() + 4, there.top() - 14, 200, 28};
}

void NetworkView::makeUnit() {
  const std::vector<std::string> ids = m_scene.pickedNodes();
  ProjectDocument& document = m_scene.document();
  if (const Outcome may = document.mayMakeUnit(m_scene.networkName(), ids); !may) {
    const QRectF at = ids.empty() ? QRectF(middle(), QSizeF()) : m_scene.cardsRect(m_scene.picked().nodes);
    return m_hint->say(may.reason, mapFromScene(at.isNull() ? middle() : at.topRight()));
  }
  const QRectF around = m_scene.cardsRect(m_scene.picked().nodes).adjusted(-12, -12, 12, 12);
  m_asked = around;
  viewport()->update();
  // A group's title is a good name where it is one.
  std::string wanted = "Unit";
  if (m_scene.picked().groups.size() == 1)
    if (const Group* group = m_scene.network().group(*m_scene.picked().groups.begin());
        group != nullptr && validId(group->title))
      wanted = group->title;
  m_name->ask(
      nameRect(around),
      {.what = tr("Name of the unit"),
       .value = q(freeDrawingName(document.project(), wanted)),
       .whyNot = [&document](const QString& name) { return document.mayNameDrawing(name.toStdString()).reason; },
       .accept =
           [this, ids](const QString& name) {
             const std::string use = m_scene.document().makeUnit(m_scene.networkName(), ids, name.toStdString());
             if (!use.empty()) m_scene.pickNode(use);
           },
       .done =
           [this] {
             m_asked.reset();
             viewport()->update();
           }});
}

void NetworkView::makeGroup() {
  const std::vector<std::string> ids = m_scene.pickedNodes();
  if (ids.empty()) return m_hint->say(tr("Select the nodes that are to be grouped"), viewport()->rect().center());
  const QRectF around = m_scene.cardsRect(m_scene.picked().nodes).adjusted(-24, -40, 24, 20);
  m_asked = around;
  viewport()->update();
  m_name->ask(
      nameRect(around.translated(0, 20)),
      {.what = tr("Title of the group"),
       .value = tr("Group"),
       .whyNot = [](const QString& title) { return title.isEmpty() ? tr("A title cannot be empty") : QString(); },
       .accept =
           [this, ids](const QString& title) {
             const std::string made = m_scene.document().makeGroup(m_scene.networkName(), ids, title.toStdString());
             if (!made.empty()) m_scene.pickGroup(made);
           },
       .done =
           [this] {
             m_asked.reset();
             viewport()->update();
           }});
}

// A unit's use and a group are repeated as they are; other nodes become a group first.
void NetworkView::makeRepeat() {
  const std::string drawing = m_scene.networkName();
  const Picked& picked = m_scene.picked();
  const std::vector<std::string> ids = m_scene.pickedNodes();
  const Node* use = ids.size() == 1 ? m_scene.network().find(ids.front()) : nullptr;
  const bool isUnit = use != nullptr && !use->unit.empty() && picked.groups.empty();
  const Group* group = picked.groups.size() == 1 ? m_scene.network().group(*picked.groups.begin()) : nullptr;
  if (!isUnit)
    if (const Outcome may = m_scene.document().mayRepeat(drawing, ids); !may)
      return m_hint->say(may.reason, ids.empty() ? viewport()->rect().center()
                                                 : mapFromScene(m_scene.cardsRect(picked.nodes).topRight()));
  const Json before = isUnit ? use->repeat : group != nullptr ? group->repeat : Json();
  const QRectF around = m_scene.cardsRect(picked.nodes).adjusted(-12, -12, 12, 12);
  m_asked = around;
  viewport()->update();
  const QRect there = mapFromScene(around).boundingRect();
  m_name->ask(
      QRect(there.right() - 100, there.top() - 14, 120, 28),
      {.what = tr("How many times"),
       .value = before.is_null() ? QStringLiteral("2") : argumentText(before),
       .whyNot = whyNotTimes,
       .accept =
           [this, drawing, ids, isUnit, id = group == nullptr ? std::string() : group->id](const QString& text) {
             ProjectDocument& document = m_scene.document();
             const Json times = readRepeat(text);
             if (isUnit) {
               document.setRepeat(drawing, ids.front(), times);
             } else if (const Group* known = m_scene.network().group(id)) {
               Group changed = *known;
               changed.repeat = times;
               if (const Outcome outcome = document.setGroup(drawing, changed); !outcome)
                 m_hint->say(outcome.reason, viewport()->rect().center());
             } else if (const std::string made = document.makeGroup(drawing, ids, tr("Repeat").toStdString(), times);
                        !made.empty()) {
               m_scene.pickGroup(made);
             }
           },
       .done =
           [this] {
             m_asked.reset();
             viewport()->update();
           }});
}

void NetworkView::ungroup() {
  ProjectDocument& document = m_scene.document();
  const Picked picked = m_scene.picked();
  if (!picked.groups.empty()) {
    document.dissolveGroups(m_scene.networkName(), {picked.groups.begin(), picked.groups.end()});
    return m_scene.pick({picked.nodes, {}});
  }
  const std::vector<std::string> ids = m_scene.pickedNodes();
  const Node* use = ids.size() == 1 ? m_scene.network().find(ids.front()) : nullptr;
  if (use != nullptr && !use->unit.empty()) {
    std::vector<std::string> came;
    const Outcome outcome = document.dissolveUnit(m_scene.networkName(), use->id, &came);
    if (!outcome)
      m_hint->say(outcome.reason, mapFromScene(m_scene.card(ids.front())->pos()));
    else
      m_scene.pick({{came.begin(), came.end()}, {}});
    return;
  }
  // Nodes alone leave the group that they stand in.
  const bool grouped = std::any_of(ids.begin(), ids.end(),
                                   [&](const std::string& id) { return !m_scene.network().find(id)->group.empty(); });
  if (grouped)
    document.moveToGroup(m_scene.networkName(), ids, {});
  else
    m_hint->say(tr("Select a group to take apart, or a unit to dissolve"), viewport()->rect().center());
}

void NetworkView::toggleFold() {
  std::set<std::string> groups = m_scene.picked().groups;
  if (groups.empty())  // the group around what is selected
    if (const std::string around = groupAround(m_scene.network(), m_scene.picked().nodes); !around.empty())
      groups.insert(around);
  if (groups.empty()) return m_hint->say(tr("Select a group to fold it"), viewport()->rect().center());
  for (const std::string& id : groups)
    if (const Group* group = m_scene.network().group(id))
      m_scene.document().setFolded(m_scene.networkName(), id, !group->folded);
  m_scene.pick({{}, {}, groups, {}});
}

void NetworkView::nameGroup(const std::string& id) {
  const Group* group = m_scene.network().group(id);
  if (group == nullptr) return;
  const GroupItem* frame = m_scene.groups().group(id);
  const CardItem* card = m_scene.card(id);
  const QRectF at = frame != nullptr  ? frame->head()
                    : card != nullptr ? card->sceneCard()
                                      : QRectF(middle(), QSizeF(200, 28));
  const QRect there = mapFromScene(at).boundingRect();
  m_name->ask(
      QRect(there.left() + 28, there.top() + 1, 180, 28),
      {.what = tr("Title of the group"),
       .value = q(group->title.empty() ? group->id : group->title),
       .whyNot = [](const QString& title) { return title.isEmpty() ? tr("A title cannot be empty") : QString(); },
       .accept =
           [this, id](const QString& title) {
             m_scene.document().setGroupTitle(m_scene.networkName(), id, title.toStdString());
           }});
}

void NetworkView::addComment() {
  if (m_menuAt) return m_commentEditor->editNew(mapToScene(*m_menuAt));
  const QPoint pointer = viewport()->mapFromGlobal(QCursor::pos());
  const bool there = viewport()->rect().contains(pointer) && viewport()->underMouse();
  m_commentEditor->editNew(there ? mapToScene(pointer) : middle());
}

void NetworkView::editComment(const std::string& id) {
  m_commentEditor->edit(id);
}

void NetworkView::distributeSelection(Qt::Orientation along) {
  struct Card {
    std::string id;
    QRectF rect;
  };
  std::vector<Card> cards;
  for (const std::string& id : m_scene.pickedNodes())
    if (const CardItem* card = m_scene.card(id)) cards.push_back({id, card->sceneCard()});
  if (cards.size() < 3) return m_hint->say(tr("Three nodes at least can be distributed"), viewport()->rect().center());
  const bool across = along == Qt::Horizontal;
  const auto begin = [&](const QRectF& rect) { return across ? rect.left() : rect.top(); };
  const auto length = [&](const QRectF& rect) { return across ? rect.width() : rect.height(); };
  std::stable_sort(cards.begin(), cards.end(),
                   [&](const Card& a, const Card& b) { return begin(a.rect) < begin(b.rect); });
  double filled = 0;
  for (const Card& card : cards) filled += length(card.rect);
  // Equal gaps between the first and the last, which stay.
  const double room = begin(cards.back().rect) + length(cards.back().rect) - begin(cards.front().rect);
  const double gap = (room - filled) / static_cast<double>(cards.size() - 1);
  double at = begin(cards.front().rect);
  std::map<std::string, QPointF> places;
  for (Card& card : cards) {
    if (across)
      card.rect.moveLeft(at);
    else
      card.rect.moveTop(at);
    places[card.id] = card.rect.center();
    at += length(card.rect) + gap;
  }
  m_scene.document().moveNodes(m_scene.networkName(), places);
}

}  // namespace loom
