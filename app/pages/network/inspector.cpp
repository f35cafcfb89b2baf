#include "app/pages/network/inspector.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "app/pages/network/common_fields.h"
#include "app/pages/network/inspector_parts.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/form/property_form.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {

QString q(const std::string& text) { return QString::fromStdString(text); }

QLabel* labelOf(const char* kind, QWidget* parent) {
  auto* label = new QLabel(parent);
  setStyleProperty(label, "kind", QString::fromLatin1(kind));
  return label;
}

}  // namespace

Inspector::Inspector(NetworkScene& scene, QWidget* parent) : QWidget(parent), m_scene(scene) {
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
  m_name->setFont(Theme::of(this).font(FontRole::heading));
  m_subtitle = labelOf("hint", head);
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
  m_nameProblem = labelOf("error", body);
  m_nameProblem->setWordWrap(true);
  m_nameProblem->setContentsMargins(16, 0, 16, 8);
  m_nameProblem->hide();
  column->addWidget(m_nameProblem);
  m_help = labelOf("hint", body);
  m_help->setWordWrap(true);
  m_help->setContentsMargins(16, 0, 16, 12);
  m_help->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_help->hide();
  column->addWidget(m_help);
  m_problems = new ProblemLines(body);
  column->addWidget(m_problems);

  const auto hairline = [&](QVBoxLayout* into) {
    auto* line = new QFrame(body);
    setStyleProperty(line, "kind", QStringLiteral("hairline"));
    line->setFixedHeight(1);
    into->addWidget(line);
  };
  const auto makeSection = [&](QWidget*& section, QLabel** title, const QString& words, QWidget* content) {
    section = new QWidget(body);
    auto* stack = new QVBoxLayout(section);
    stack->setContentsMargins(0, 0, 0, 0);
    stack->setSpacing(0);
    hairline(stack);
    auto* inner = new QVBoxLayout;
    inner->setContentsMargins(16, 12, 16, 14);
    inner->setSpacing(8);
    if (title != nullptr) {
      *title = labelOf("section", section);
      (*title)->setText(words);
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
  m_shape->setFont(Theme::of(this).numberFont(FontRole::body));
  m_shape->setWordWrap(true);
  m_shape->setTextFormat(Qt::PlainText);
  makeSection(m_shapeSection, &m_shapeTitle, tr("Shape"), m_shape);
  m_costs = new CostTable(body);
  makeSection(m_costSection, &m_costTitle, tr("Cost of one sample"), m_costs);
  m_links = new LinkRows(body);
  QLabel* linkTitle = nullptr;
  makeSection(m_linkSection, &linkTitle, tr("Connections"), m_links);
  m_notes = labelOf("hint", body);
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
  connect(m_problems, &ProblemLines::remedyChosen, this, [this](const Problem& problem) { m_scene.document().applyRemedy(problem); });
  connect(m_links, &LinkRows::chosen, this, &Inspector::nodeWanted);
  connect(m_helpButton, &QAbstractButton::toggled, m_help, &QWidget::setVisible);
  connect(m_name, &QLineEdit::editingFinished, this, &Inspector::rename);
  connect(m_name, &QLineEdit::textEdited, this, [this] { m_nameProblem->hide(); });
  connect(m_shares, &QComboBox::activated, this, [this](int index) {
    m_scene.document().setShares(m_scene.networkName(), m_nodes.front(), m_shares->itemData(index).toString().toStdString());
  });
  connect(&m_scene, &NetworkScene::picksChanged, this, &Inspector::turn);
  connect(&m_scene, &NetworkScene::networkSwitched, this, &Inspector::turn);
  connect(&m_scene.document(), &ProjectDocument::changed, this, &Inspector::refresh);
  connect(&m_scene.document(), &ProjectDocument::analysisChanged, this, &Inspector::refresh);
  connect(&Theme::of(this), &Theme::changed, this, &Inspector::restyle);
  m_name->installEventFilter(this);
  turn();
}

Inspector::~Inspector() = default;

// After the stylesheet has had its say: it sets the fonts of fields.
void Inspector::restyle() {
  m_name->setFont(Theme::of(this).font(FontRole::heading));
  m_shape->setFont(Theme::of(this).numberFont(FontRole::body));
  update();
}

void Inspector::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  restyle();
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
    m_name->setText(m_nodes.size() == 1 ? q(m_nodes.front()) : QString());
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
  const Picked& picked = m_scene.picked();
  m_nodes = m_scene.pickedNodes();
  m_nameProblem->hide();
  const Subject before = m_subject;
  m_subject = m_nodes.size() == 1  ? Subject::node
              : m_nodes.size() > 1 ? Subject::nodes
              : picked.wires.size() == 1 ? Subject::wire : Subject::nothing;
  if (m_subject != before) m_scroll->ensureVisible(0, 0);
  m_entry = nullptr;
  refresh();
}

void Inspector::refresh() {
  const Network& network = m_scene.network();
  std::erase_if(m_nodes, [&](const std::string& id) { return network.find(id) == nullptr; });
  m_notes->hide();
  if (m_subject == Subject::node && m_nodes.size() == 1) return showNode(*network.find(m_nodes.front()));
  if (m_subject == Subject::nodes && m_nodes.size() > 1) return showNodes(m_nodes);
  if (m_subject == Subject::wire && m_scene.picked().wires.size() == 1) return showWire(*m_scene.picked().wires.begin());
  showNetwork();
}

void Inspector::showNode(const Node& node) {
  const LayerDefinition* layer = findLayer(node.layer);
  const QString name = q(m_scene.networkName());
  m_tile->setLayer(layer != nullptr ? q(layer->entry.icon) : QString(), layer != nullptr ? q(layer->entry.category) : QString());
  m_name->setReadOnly(false);
  if (!m_name->hasFocus() || !m_name->isModified()) m_name->setText(q(node.id));
  m_subtitle->setText(tr("%1 in %2").arg(layer != nullptr ? q(layer->entry.label) : tr("Unknown layer %1").arg(q(node.layer)), name));
  m_helpButton->setVisible(layer != nullptr);
  if (layer != nullptr) m_help->setText(q(layer->entry.summary + "\n\n" + layer->entry.help));
  m_help->setVisible(layer != nullptr && m_helpButton->isChecked());

  m_formSection->setVisible(layer != nullptr && !layer->entry.fields.empty());
  if (layer != nullptr) {
    if (m_entry != &layer->entry || m_form->entry() != m_entry) {
      m_entry = &layer->entry;
      m_form->setBaseFolder(m_scene.document().folder());
      m_form->setEntry(*m_entry, node.values, name + QLatin1Char('/') + q(node.id));
    } else {
      m_form->setGiven(node.values);
    }
  }
  refreshForm();
  refreshShares(node);

  const Analysis& analysis = m_scene.document().analysis(m_scene.networkName());
  const auto found = analysis.nodes.find(node.id);
  const NodeFacts facts = found == analysis.nodes.end() ? NodeFacts{} : found->second;
  const auto list = [](const std::vector<Shape>& shapes) {
    QStringList words;
    for (const Shape& shape : shapes) words += shapeText(shape);
    return words.join(QStringLiteral(", "));
  };
  m_shapeSection->show();
  m_shapeTitle->setText(tr("Shape"));
  const QString out = facts.known && !facts.outputs.empty() ? list(facts.outputs) : QStringLiteral("?");
  m_shape->setText(facts.inputs.empty() ? out : list(facts.inputs) + QStringLiteral("  →  ") + out);
  m_costSection->show();
  m_costTitle->setText(tr("Cost of one sample"));
  double values = 0;
  for (const auto& [id, each] : analysis.nodes) values += static_cast<double>(each.outputValues);
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  const auto row = [&](const QString& label, double value, double whole) {
    return CostRow{label, facts.known ? countText(value) : QStringLiteral("?"), facts.known ? share(value, whole) : -1};
  };
  m_costs->setRows({row(tr("Parameters"), static_cast<double>(facts.parameters), static_cast<double>(analysis.parameters)),
                    row(tr("Multiply-adds"), facts.multiplyAdds, analysis.multiplyAdds),
                    row(tr("Output values"), static_cast<double>(facts.outputValues), values)});
  LinkRows::Row from{tr("From"), {}}, to{tr("To"), {}};
  for (const Edge& edge : m_scene.network().edges) {
    if (edge.to.node == node.id) from.nodes.push_back(edge.from.node);
    if (edge.from.node == node.id) to.nodes.push_back(edge.to.node);
  }
  m_linkSection->show();
  m_links->setRows({from, to});
}

// Problems of fields go under their fields; what the form finds by itself is left to it. The rest stands on top.
void Inspector::refreshForm() {
  std::vector<FieldProblem> fields;
  std::vector<Problem> others;
  if (m_nodes.size() == 1) {
    const Node* node = m_scene.network().find(m_nodes.front());
    const LayerDefinition* layer = findLayer(node->layer);
    const std::vector<FieldProblem> own = layer == nullptr ? std::vector<FieldProblem>() : validate(layer->entry, node->values);
    for (const Problem& problem : m_scene.document().problems()) {
      if (problem.network != m_scene.networkName() || problem.node != node->id) continue;
      const bool atField = layer != nullptr && layer->entry.field(problem.field) != nullptr;
      const auto severity = problem.severity == Severity::error ? FieldProblem::Severity::error : FieldProblem::Severity::warning;
      if (!atField) {
        others.push_back(problem);
        continue;
      }
      const auto found = [&](const FieldProblem& each) { return each.key == problem.field && each.severity == severity; };
      if (std::any_of(own.begin(), own.end(), found)) continue;
      FieldProblem shown{severity, problem.field, problem.message, std::nullopt};
      if (problem.remedy.kind == Remedy::Kind::setField && problem.remedy.field == problem.field &&
          (problem.remedy.node.empty() || problem.remedy.node == problem.node)) shown.remedy = problem.remedy.value;
      // The form cannot carry this remedy out: it is offered on top.
      else if (problem.remedy.kind != Remedy::Kind::none) others.push_back(problem);
      fields.push_back(std::move(shown));
    }
  }
  m_form->setProblems(fields);
  m_problems->setProblems(others);
}

void Inspector::refreshShares(const Node& node) {
  const QSignalBlocker quiet(m_shares);
  m_shares->clear();
  m_shares->addItem(tr("Its own"), QString());
  const Analysis& analysis = m_scene.document().analysis(m_scene.networkName());
  const auto facts = analysis.nodes.find(node.id);
  const bool weighty = !node.shares.empty() || (facts != analysis.nodes.end() && facts->second.parameters > 0);
  for (const Network& network : m_scene.document().project().networks)
    for (const Node& other : network.nodes) {
      if (other.layer != node.layer || !other.shares.empty() || (other.id == node.id && network.name == m_scene.networkName())) continue;
      const QString where = network.name == m_scene.networkName() ? QString() : tr(" in %1").arg(q(network.name));
      m_shares->addItem(tr("Those of %1").arg(q(other.id)) + where, q(other.id));
    }
  const int at = m_shares->findData(q(node.shares));
  m_shares->setCurrentIndex(std::max(0, at));
  m_shareSection->setVisible(weighty && m_shares->count() > 1);
}

void Inspector::showNodes(const std::vector<std::string>& ids) {
  std::vector<const Node*> nodes;
  for (const std::string& id : ids) nodes.push_back(m_scene.network().find(id));
  m_tile->setLayer(QStringLiteral("group"), QStringLiteral("unit"));
  m_name->setReadOnly(true);
  m_name->setText(tr("%1 nodes").arg(ids.size()));
  m_subtitle->setText(tr("in %1").arg(q(m_scene.networkName())));
  m_helpButton->hide();
  m_help->hide();
  Entry common = commonEntry(nodes);
  QStringList identity;
  for (const std::string& id : ids) identity += q(id);
  const bool other = m_entry != &m_common;
  if (other) {
    m_form->clear();
    m_common = std::move(common);
    m_entry = &m_common;
    m_form->setEntry(m_common, commonValues(m_common, nodes), identity.join(QLatin1Char(' ')));
  } else {
    m_form->setGiven(commonValues(m_common, nodes));
  }
  for (const Field& field : m_common.fields) m_form->setHint(field.key, {});
  for (const std::string& key : differingKeys(m_common, nodes)) m_form->setHint(key, tr("differs"));
  m_form->setProblems({});
  m_problems->setProblems({});
  m_formSection->setVisible(!m_common.fields.empty());
  m_shareSection->hide();
  m_shapeSection->hide();
  m_linkSection->hide();
  m_costSection->show();
  m_costTitle->setText(tr("Cost of one sample, together"));
  const Analysis& analysis = m_scene.document().analysis(m_scene.networkName());
  double parameters = 0, work = 0;
  for (const std::string& id : ids) {
    const auto facts = analysis.nodes.find(id);
    if (facts == analysis.nodes.end()) continue;
    parameters += static_cast<double>(facts->second.parameters);
    work += facts->second.multiplyAdds;
  }
  const auto share = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  m_costs->setRows({{tr("Parameters"), countText(parameters), share(parameters, static_cast<double>(analysis.parameters))},
                    {tr("Multiply-adds"), countText(work), share(work, analysis.multiplyAdds)}});
  if (m_common.fields.empty()) {
    m_notes->setText(tr("These layers have no field in common."));
    m_notes->show();
  }
}

void Inspector::showWire(const Edge& edge) {
  m_tile->setLayer(QStringLiteral("wire"), QStringLiteral("inputOutput"));
  m_name->setReadOnly(true);
  m_name->setText(tr("Wire"));
  m_subtitle->setText(tr("%1 to %2").arg(q(edge.from.node), q(edge.to.node)));
  m_helpButton->hide();
  m_help->hide();
  m_formSection->hide();
  m_shareSection->hide();
  m_costSection->hide();
  m_problems->setProblems({});
  m_shapeSection->show();
  m_shapeTitle->setText(tr("Shape of one sample"));
  const Analysis& analysis = m_scene.document().analysis(m_scene.networkName());
  const auto facts = analysis.nodes.find(edge.from.node);
  m_shape->setText(facts == analysis.nodes.end() || facts->second.outputs.empty() ? QStringLiteral("?") : shapeText(facts->second.outputs.front()));
  m_linkSection->show();
  m_links->setRows({{tr("From"), {edge.from.node}}, {tr("To"), {edge.to.node}}});
}

void Inspector::showNetwork() {
  const Network& network = m_scene.network();
  const Analysis& analysis = m_scene.document().analysis(m_scene.networkName());
  m_tile->setLayer(QStringLiteral("network"), QStringLiteral("unit"));
  m_name->setReadOnly(true);
  m_name->setText(q(m_scene.networkName()));
  m_subtitle->setText(tr("Network, %n nodes", nullptr, static_cast<int>(network.nodes.size())));
  m_helpButton->hide();
  m_help->hide();
  m_formSection->hide();
  m_shareSection->hide();
  m_shapeSection->hide();
  m_linkSection->hide();
  std::vector<Problem> whole;
  for (const Problem& problem : m_scene.document().problems())
    if (problem.network == m_scene.networkName() && problem.node.empty()) whole.push_back(problem);
  m_problems->setProblems(network.nodes.empty() ? std::vector<Problem>() : whole);
  m_costSection->setVisible(!network.nodes.empty());
  m_costTitle->setText(tr("Cost of one sample"));
  m_costs->setRows({{tr("Parameters"), countText(static_cast<double>(analysis.parameters)), -1},
                    {tr("Multiply-adds"), countText(analysis.multiplyAdds), -1}});
  m_notes->setText(network.nodes.empty() ? tr("Select a node to see its fields here.") : tr("Click a node or a wire to see and change it here."));
  m_notes->show();
}

void Inspector::edited(const QString& key, const Json& value) {
  ProjectDocument& document = m_scene.document();
  const std::string field = key.toStdString();
  if (m_nodes.size() == 1) document.setField(m_scene.networkName(), m_nodes.front(), field, value);
  else if (m_nodes.size() > 1) document.setFieldOfMany(m_scene.networkName(), m_nodes, field, value);
}

void Inspector::rename() {
  if (m_subject != Subject::node || m_nodes.size() != 1) return;
  const std::string wanted = m_name->text().trimmed().toStdString(), before = m_nodes.front();
  if (wanted == before) return;
  m_name->setModified(false);
  // The selection follows the new name, so the scene is told before it looks for the old one.
  const Outcome outcome = m_scene.document().renameNode(m_scene.networkName(), before, wanted);
  m_nameProblem->setText(outcome.reason);
  m_nameProblem->setVisible(!outcome);
  if (outcome) m_scene.pickNode(wanted);
  else m_name->setModified(true);
}

void Inspector::focusFirstField() {
  if (m_entry != nullptr)
    for (const Field& field : m_entry->fields)
      if (m_form->focusField(field.key)) return;
  focusName();
}

bool Inspector::focusField(const std::string& key) { return m_form->focusField(key); }

void Inspector::focusName() {
  if (m_name->isReadOnly()) return;
  m_name->setFocus(Qt::ShortcutFocusReason);
  m_name->selectAll();
}

}  // namespace loom
