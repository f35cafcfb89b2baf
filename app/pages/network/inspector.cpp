#include "app/pages/network/inspector.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/network/inspector_parts.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/text.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/unit_entry.h"
#include "widgets/form/property_form.h"
#include "widgets/preview/tensor_face.h"
#include "widgets/preview/weights_line.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {

Inspector::Inspector(NetworkScene& scene, QWidget* parent) : QWidget(parent), m_scene(&scene) {
  setAccessibleName(tr("Inspector"));
  m_scroll = new QScrollArea(this);
  m_scroll->setFrameShape(QFrame::NoFrame);
  m_scroll->setWidgetResizable(true);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_scroll->setFocusPolicy(Qt::NoFocus);
  auto* body = new QWidget;
  body->setObjectName(QStringLiteral("inspectorBody"));
  auto* column = new QVBoxLayout(body);
  column->setContentsMargins(0, 0, 0, 16);
  column->setSpacing(0);

  auto* head = new QWidget(body);
  auto* headRow = new QHBoxLayout(head);
  headRow->setContentsMargins(16, 14, 12, 12);
  headRow->setSpacing(10);
  m_tile = new LayerTile(head);
  m_name = new QLineEdit(head);
  setStyleProperty(m_name, "kind", QStringLiteral("bare"));
  m_name->setAccessibleName(tr("Name"));
  keepFont(m_name, FontRole::heading);
  m_subtitle = makeLabel("hint", {}, head);
  auto* names = new QVBoxLayout;
  names->setSpacing(0);
  names->addWidget(m_name);
  names->addWidget(m_subtitle);
  m_helpButton = iconButton(QStringLiteral("help"), tr("What this layer computes"), head);
  m_helpButton->setCheckable(true);
  headRow->addWidget(m_tile, 0, Qt::AlignTop);
  headRow->addLayout(names, 1);
  headRow->addWidget(m_helpButton, 0, Qt::AlignTop);
  column->addWidget(head);
  m_nameProblem = makeLabel("error", {}, body);
  m_nameProblem->setWordWrap(true);
  m_nameProblem->setContentsMargins(16, 0, 16, 8);
  m_nameProblem->hide();
  column->addWidget(m_nameProblem);
  m_help = makeLabel("hint", {}, body);
  m_help->setWordWrap(true);
  m_help->setContentsMargins(16, 0, 16, 12);
  m_help->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_help->hide();
  column->addWidget(m_help);
  m_problems = new ProblemLines(body);
  column->addWidget(m_problems);

  const auto makeSection = [&](QWidget*& section, QLabel** title, const QString& words, QWidget* content) {
    section = new QWidget(body);
    auto* stack = new QVBoxLayout(section);
    stack->setContentsMargins(0, 0, 0, 0);
    stack->setSpacing(0);
    stack->addWidget(hairline());
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(16, 12, 16, 14);
    inner->setSpacing(8);
    if (title != nullptr) {
      *title = makeLabel("section", words, section);
      inner->addWidget(*title);
    }
    inner->addWidget(content);
    stack->addLayout(inner);
    column->addWidget(section);
  };
  m_form = new PropertyForm(FormStyle::inspector, body);
  m_form->setHeading(tr("Parameters"));
  makeSection(m_formSection, nullptr, {}, m_form);
  m_shares = new ChoiceField(body);
  m_shares->setAccessibleName(tr("Shared weights"));
  QLabel* shareTitle = nullptr;
  makeSection(m_shareSection, &shareTitle, tr("Shared weights"), m_shares);
  m_shape = new QLabel(body);
  keepFont(m_shape, FontRole::body, Face::numbers);
  m_shape->setWordWrap(true);
  m_shape->setTextFormat(Qt::PlainText);
  makeSection(m_shapeSection, &m_shapeTitle, tr("Shape"), m_shape);
  auto* flow = new QWidget(body);
  auto* flowColumn = new QVBoxLayout(flow);
  flowColumn->setContentsMargins(0, 0, 0, 0);
  flowColumn->setSpacing(8);
  m_weights = new WeightsLine(QStringLiteral("inspectorWeights"), flow);
  m_tensor = new TensorFace(flow);
  flowColumn->addWidget(m_weights);
  flowColumn->addWidget(m_tensor);
  QLabel* flowTitle = nullptr;
  makeSection(m_tensorSection, &flowTitle, tr("First sample here"), flow);
  connect(m_weights, &WeightsLine::othersWanted, this, &Inspector::otherWeightsWanted);
  m_costs = new CostTable(body);
  makeSection(m_costSection, &m_costTitle, tr("Cost of one sample"), m_costs);
  m_links = new LinkRows(body);
  QLabel* linkTitle = nullptr;
  makeSection(m_linkSection, &linkTitle, tr("Connections"), m_links);
  // What is made of a selection, and where a unit leads.
  auto* make = new QWidget(body);
  auto* makeRow = new QHBoxLayout(make);
  makeRow->setContentsMargins(0, 0, 0, 0);
  makeRow->setSpacing(6);
  m_makeUnit = new Button(tr("Make a unit"), ButtonKind::outlined, make);
  m_makeGroup = new Button(tr("Group"), ButtonKind::outlined, make);
  m_openUnit = new Button(QStringLiteral("unit"), tr("Open in place"), ButtonKind::outlined, make);
  for (Button* button : {m_makeUnit, m_makeGroup, m_openUnit}) makeRow->addWidget(button);
  makeRow->addStretch();
  makeSection(m_makeSection, nullptr, {}, make);
  m_makeUnit->setToolTip(tr("Make a unit of the selection (Ctrl+G)"));
  m_makeGroup->setToolTip(tr("Group the selection (Ctrl+Shift+G)"));
  m_openUnit->setToolTip(tr("Open the unit beside its use (Space)"));
  connect(m_makeUnit, &QAbstractButton::clicked, this, &Inspector::unitWanted);
  connect(m_makeGroup, &QAbstractButton::clicked, this, &Inspector::groupWanted);
  connect(m_openUnit, &QAbstractButton::clicked, this, &Inspector::inPlaceWanted);
  m_notes = makeLabel("hint", {}, body);
  m_notes->setWordWrap(true);
  m_notes->setContentsMargins(16, 4, 16, 12);
  column->addWidget(m_notes);
  column->addStretch();
  m_scroll->setWidget(body);
  m_scroll->viewport()->setAutoFillBackground(false);
  body->setAutoFillBackground(false);
  auto* outer = new QVBoxLayout(this);
  outer->setContentsMargins(1, 0, 0, 0);
  outer->addWidget(m_scroll);

  connect(m_form, &PropertyForm::edited, this, &Inspector::edited);
  connect(m_problems, &ProblemLines::remedyChosen, this, [this](const Problem& problem) {
    if (!m_scene->views().isEmpty()) m_problems->setOtherwise(m_scene->views().front());
    m_scene->document().applyRemedy(problem);
  });
  connect(m_links, &LinkRows::chosen, this, &Inspector::nodeWanted);
  connect(m_helpButton, &QAbstractButton::toggled, m_help, &QWidget::setVisible);
  connect(m_name, &QLineEdit::editingFinished, this, &Inspector::rename);
  connect(m_name, &QLineEdit::textEdited, this, [this] { m_nameProblem->hide(); });
  connect(m_shares, &QComboBox::activated, this, [this](int index) {
    m_scene->document().setShares(m_scene->networkName(), m_nodes.front(),
                                  m_shares->itemData(index).toString().toStdString());
  });
  follow();
  connect(&m_scene->document(), &ProjectDocument::changed, this, &Inspector::refresh);
  connect(&m_scene->document(), &ProjectDocument::analysisChanged, this, &Inspector::refresh);
  connect(&Theme::of(this), &Theme::changed, this, &Inspector::restyle);
  m_name->installEventFilter(this);
  turn();
}

Inspector::~Inspector() = default;

void Inspector::follow() {
  connect(m_scene, &NetworkScene::picksChanged, this, &Inspector::turn);
  connect(m_scene, &NetworkScene::networkSwitched, this, &Inspector::turn);
  connect(m_scene, &NetworkScene::costsChanged, this, &Inspector::refresh);
}

void Inspector::setScene(NetworkScene& scene) {
  if (&scene == m_scene) return;
  disconnect(m_scene, nullptr, this, nullptr);
  m_scene = &scene;
  follow();
  turn();
}

// After the stylesheet has had its say: it sets the fonts of fields.
void Inspector::restyle() {
  keepFont(m_name, FontRole::heading);
  keepFont(m_shape, FontRole::body, Face::numbers);
  update();
}

void Inspector::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  restyle();
  turn();
}

void Inspector::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.fillRect(rect(), theme.colour(Colour::surface));
  painter.setPen(theme.hairline(Colour::line));
  painter.drawLine(QPointF(0.5, 0), QPointF(0.5, height()));
}

void Inspector::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Escape) {
    Q_EMIT leaving();
    return;
  }
  QWidget::keyPressEvent(event);
}

bool Inspector::eventFilter(QObject* watched, QEvent* event) {
  if (watched != m_name || event->type() != QEvent::KeyPress) return false;
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key == Qt::Key_Escape) {
    m_nameProblem->hide();
    m_name->setText(m_nodes.size() == 1 ? QString::fromStdString(m_nodes.front()) : QString());
    Q_EMIT leaving();
    return true;
  }
  if (key == Qt::Key_Return || key == Qt::Key_Enter) {
    rename();
    if (!m_nameProblem->isVisible()) Q_EMIT leaving();
    return true;
  }
  return false;
}

void Inspector::turn() {
  const Picked& picked = m_scene->picked();
  m_nodes = m_scene->pickedNodes();
  m_nameProblem->hide();
  const Subject before = m_subject;
  m_group = picked.groups.size() == 1 ? *picked.groups.begin() : std::string();
  m_comment = picked.comments.size() == 1 ? *picked.comments.begin() : std::string();
  const Group* group = m_scene->network().group(m_group);
  // A group is what is selected when nothing beside it is.
  const bool wholeGroup = group != nullptr && membersOf(m_scene->network(), m_group).size() == m_nodes.size();
  m_subject = wholeGroup                 ? Subject::group
              : m_nodes.size() == 1      ? Subject::node
              : m_nodes.size() > 1       ? Subject::nodes
              : picked.wires.size() == 1 ? Subject::wire
              : !m_comment.empty()       ? Subject::comment
                                         : Subject::nothing;
  if (m_subject != before) m_scroll->ensureVisible(0, 0);
  m_entry = nullptr;
  refresh();
  Q_EMIT turned();
}

std::optional<std::pair<NetworkScene*, Edge>> Inspector::wire() const {
  if (!isVisible() || m_subject != Subject::wire || m_scene->picked().wires.size() != 1) return {};
  return std::pair(m_scene, *m_scene->picked().wires.begin());
}

void Inspector::setWeights(const QString& words, bool others) {
  m_weights->setWords(words, others);
}

void Inspector::refresh() {
  if (!isVisible()) return;  // turns to what is picked when it is shown
  const Network& network = m_scene->network();
  std::erase_if(m_nodes, [&](const std::string& id) { return m_scene->node(id) == nullptr; });
  m_notes->hide();
  m_makeSection->hide();
  m_tensorSection->hide();
  m_openUnit->hide();
  m_makeUnit->show();
  m_makeGroup->show();
  if (const Group* group = network.group(m_group); m_subject == Subject::group && group != nullptr)
    return showGroup(*group);
  if (const Comment* comment = network.comment(m_comment); m_subject == Subject::comment && comment != nullptr)
    return showComment(*comment);
  if (m_subject == Subject::node && m_nodes.size() == 1) return showNode(*m_scene->node(m_nodes.front()));
  if (m_subject == Subject::nodes && m_nodes.size() > 1) return showNodes(m_nodes);
  if (m_subject == Subject::wire && m_scene->picked().wires.size() == 1)
    return showWire(*m_scene->picked().wires.begin());
  showNetwork();
}

void Inspector::edited(const QString& key, const Json& value) {
  ProjectDocument& document = m_scene->document();
  const std::string field = key.toStdString();
  if (m_subject == Subject::group) {
    const Group* group = m_scene->network().group(m_group);
    if (group == nullptr) return;
    Group changed = *group;
    if (field == "title") changed.title = value.is_string() ? value.get<std::string>() : std::string();
    if (field == "colour") changed.colour = value.is_string() ? value.get<std::string>() : std::string();
    if (field == "repeat") changed.repeat = value;
    if (field == "counter") changed.counter = value.is_string() ? value.get<std::string>() : std::string("i");
    const Outcome outcome = document.setGroup(m_scene->networkName(), changed);
    m_nameProblem->setText(outcome.reason);
    m_nameProblem->setVisible(!outcome);
    return;
  }
  const Node* use = m_nodes.size() == 1 ? m_scene->network().find(m_nodes.front()) : nullptr;
  if (use != nullptr && !use->unit.empty() && field == kRepeatKey) {
    document.setRepeat(m_scene->networkName(), use->id, value);
    return;
  }
  if (m_nodes.size() == 1)
    document.setField(m_scene->networkName(), m_nodes.front(), field, value);
  else if (m_nodes.size() > 1)
    document.setFieldOfMany(m_scene->networkName(), m_nodes, field, value);
}

void Inspector::rename() {
  if (m_subject == Subject::group) {
    const Group* group = m_scene->network().group(m_group);
    const std::string title = m_name->text().trimmed().toStdString();
    if (group == nullptr || title == group->title || !m_name->isModified()) return;
    m_name->setModified(false);
    const Outcome outcome = m_scene->document().setGroupTitle(m_scene->networkName(), m_group, title);
    m_nameProblem->setText(outcome.reason);
    m_nameProblem->setVisible(!outcome);
    return;
  }
  if (m_subject != Subject::node || m_nodes.size() != 1) return;
  const std::string wanted = m_name->text().trimmed().toStdString(), before = m_nodes.front();
  if (wanted == before) return;
  m_name->setModified(false);
  // The selection follows the new name, so the scene is told before it looks for the old one.
  const Outcome outcome = m_scene->document().renameNode(m_scene->networkName(), before, wanted);
  m_nameProblem->setText(outcome.reason);
  m_nameProblem->setVisible(!outcome);
  if (outcome)
    m_scene->pickNode(wanted);
  else
    m_name->setModified(true);
}

void Inspector::focusFirstField() {
  if (m_entry != nullptr)
    for (const Field& field : m_entry->fields)
      if (m_form->focusField(field.key)) return;
  focusName();
}

bool Inspector::toggleHelp() {
  if (m_helpButton->isHidden()) return false;
  m_helpButton->toggle();
  return true;
}

bool Inspector::focusField(const std::string& key) {
  return m_form->focusField(key);
}

void Inspector::focusName() {
  if (m_name->isReadOnly()) return;
  m_name->setFocus(Qt::ShortcutFocusReason);
  m_name->selectAll();
}

}  // namespace loom
